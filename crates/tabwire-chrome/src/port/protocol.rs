//! `/json/protocol`: fetches the protocol description from the browser's own port. A browser on a pipe has none: then
//! from a second run of the same program, cached per version.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::de::IgnoredAny;
use tabwire_api::{ErrorCode, Failure};
use tabwire_browser::{
    AttachTarget, BrowserDescriptor, KeepRequest, LaunchSpec, ProfileChoice, ProfileHomes, WebsocketUrl,
    attach, keeper_client, new_browser_id, new_instance_id,
};
use tabwire_client::own_program;

use super::protocol_cache::{POLL_INTERVAL, PROTOCOL_BYTES, ProtocolCache};
use crate::ShimPaths;

/// Time for the whole fetch: the start of a browser on a busy machine, and some.
const FETCH_TIMEOUT: Duration = Duration::from_secs(30);

/// How long the second browser lives after this process is killed.
const LINGER: Duration = Duration::from_secs(2);

/// How long the second browser may take to stop.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);

const PATH: &str = "/json/protocol";

/// The browser whose protocol is requested.
#[derive(Clone, Debug)]
pub(super) struct ProtocolSource {
    /// Product and version, as in `Browser.getVersion`.
    pub(super) product: String,
    /// Its program, if the daemon started it.
    pub(super) executable: Option<PathBuf>,
    /// Its own debugging port, if reachable.
    pub(super) port: Option<u16>,
}

/// # Errors
/// When neither the browser nor a second run of its program provides it.
pub(super) fn describe(browser: &ProtocolSource, paths: &ShimPaths) -> Result<String, Failure> {
    let deadline = Instant::now() + FETCH_TIMEOUT;
    if let Some(port) = browser.port {
        return complete_json(attach::ask_port(port, PATH, PROTOCOL_BYTES, deadline)?);
    }
    let Some(executable) = &browser.executable else { return Err(no_protocol_source()) };
    let cache = ProtocolCache::open(paths)?;
    let _lock = cache.lock(deadline)?;
    if let Some(cached) =
        cache.find(executable, &browser.product).and_then(|cached| complete_json(cached).ok())
    {
        return Ok(cached);
    }
    let description = fetch_from_second_run(executable, &browser.product, paths, deadline)?;
    if let Err(failure) = cache.store(executable, &browser.product, description.as_bytes()) {
        tracing::warn!(%failure, "protocol description not cached");
    }
    Ok(description)
}

/// Starts the program a second time on a temporary profile and fetches the description. The keeper ends it in any case.
fn fetch_from_second_run(
    executable: &Path,
    product: &str,
    paths: &ShimPaths,
    deadline: Instant,
) -> Result<String, Failure> {
    let started = start(executable, paths, deadline)?;
    // The keeper ends the browser soon after this claim is dropped.
    let claim = keeper_client::claim(&started.socket, &new_instance_id()?, deadline);
    let description = claim
        .as_ref()
        .map_err(|error| Failure::new(ErrorCode::BrowserGone, error.to_string()))
        .and_then(|_claim| {
            let address = find_port(&started.profile, deadline)?;
            check_version(product, address.product().unwrap_or_default())?;
            let port = address.expose().port().unwrap_or_default();
            complete_json(attach::ask_port(port, PATH, PROTOCOL_BYTES, deadline)?)
        });
    let end = Instant::now() + STOP_TIMEOUT;
    if let Err(error) = keeper_client::stop(&started.socket, Some(Duration::from_secs(1)), end) {
        tracing::warn!(%error, "the second browser did not stop in time; its keeper ends it");
    }
    drop(claim);
    description
}

fn start(executable: &Path, paths: &ShimPaths, deadline: Instant) -> Result<BrowserDescriptor, Failure> {
    let id = new_browser_id()?;
    let homes = ProfileHomes {
        runtime_dir: paths.runtime.clone(),
        data_dir: paths.data.clone(),
        config_home: None,
        home: None,
    };
    let profile = ProfileChoice::Temporary.resolve(&id, &homes)?;
    let mut spec = LaunchSpec::new(id, executable.to_owned(), profile);
    spec.temporary = true;
    spec.start_window = false;
    spec.debugging_port = Some(0);
    spec.linger_ms = u64::try_from(LINGER.as_millis()).unwrap_or(u64::MAX);
    let request = KeepRequest {
        spec,
        runtime_dir: paths.runtime.clone(),
        instance: new_instance_id()?,
        labels: [("purpose".to_owned(), "protocol".to_owned())].into(),
    };
    let program = own_program().map_err(|error| {
        Failure::new(ErrorCode::Internal, format!("The path of this program is unknown: {error}."))
    })?;
    Ok(keeper_client::spawn_keeper(&program, &["keep"], &request, deadline)?)
}

/// Waits until the browser has written `DevToolsActivePort`.
fn find_port(profile: &Path, deadline: Instant) -> Result<WebsocketUrl, Failure> {
    loop {
        match attach::discover(&AttachTarget::Profile(profile.to_owned()), None, deadline) {
            Ok(address) => return Ok(address),
            Err(error) if Instant::now() >= deadline => return Err(error.into()),
            Err(_) => std::thread::sleep(POLL_INTERVAL),
        }
    }
}

/// Checks that both runs have the same version: an update may have replaced the program.
fn check_version(running: &str, second: &str) -> Result<(), Failure> {
    let number = |product: &str| product.rsplit('/').next().unwrap_or_default().to_owned();
    if number(running) == number(second) {
        return Ok(());
    }
    let message = format!("The browser is {running}, but its program is {second} now.");
    Err(Failure::new(ErrorCode::VersionMismatch, message)
        .with_remedy("Close the browser; the next one has the new version."))
}

fn complete_json(bytes: Vec<u8>) -> Result<String, Failure> {
    let is_json = serde_json::from_slice::<IgnoredAny>(&bytes).is_ok();
    match String::from_utf8(bytes) {
        Ok(text) if is_json => Ok(text),
        _ => {
            let message = "The browser's protocol description is incomplete or too long.";
            Err(Failure::new(ErrorCode::Internal, message))
        }
    }
}

fn no_protocol_source() -> Failure {
    let message = "The protocol description is unavailable: the browser has no reachable debugging port.";
    Failure::new(ErrorCode::NoBackend, message)
        .with_remedy("Request it from a browser of the same version that has a debugging port.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_paths;

    #[test]
    fn another_version_is_refused() {
        assert!(check_version("Chrome/156.0.1.2", "HeadlessChrome/156.0.1.2").is_ok());
        let refused = check_version("Chrome/156.0.1.2", "Chrome/157.0.0.1").unwrap_err();
        assert_eq!((refused.code, refused.remedy.is_some()), (ErrorCode::VersionMismatch, true));
    }

    #[test]
    fn incomplete_json_is_refused() {
        assert_eq!(complete_json(b"{\"domains\": []}".to_vec()).unwrap(), "{\"domains\": []}");
        for bad in [&b"{\"domains\": ["[..], b"", b"<html>", b"\xff\xfe"] {
            assert!(complete_json(bad.to_vec()).is_err());
        }
    }

    #[test]
    fn a_browser_without_port_and_program_is_an_error() {
        let browser = ProtocolSource { product: "Chrome/1".to_owned(), executable: None, port: None };
        let failure = describe(&browser, &test_paths(Path::new("/nonexistent"))).unwrap_err();
        assert_eq!((failure.code, failure.remedy.is_some()), (ErrorCode::NoBackend, true));
    }
}
