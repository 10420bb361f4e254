//! `/json/protocol`: fetches the protocol description from the browser's own port. A browser on a pipe has none: then
//! from a second run of the same program, cached per version.

mod cache;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::de::IgnoredAny;
use tabwire_api::{ErrorCode, Failure};

use self::cache::{POLL_INTERVAL, PROTOCOL_BYTES, ProtocolCache};
use crate::attach::{self, AttachTarget, WebsocketUrl};
use crate::files::random_name::{new_browser_id, new_instance_id};
use crate::keeper::KeepRequest;
use crate::keeper::client as keeper_client;
use crate::keeper::descriptor::BrowserDescriptor;
use crate::launch::spec::LaunchSpec;
use crate::profile::{ProfileChoice, ProfileHomes};

/// Time for the whole fetch: the start of a browser on a busy machine, and some.
const FETCH_TIMEOUT: Duration = Duration::from_secs(30);

/// How long the second browser lives after this process is killed.
const LINGER: Duration = Duration::from_secs(2);

/// How long the second browser may take to stop.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);

const PATH: &str = "/json/protocol";

/// The browser whose protocol is requested.
#[derive(Clone, Debug)]
pub struct ProtocolSource {
    /// Product and version, as in `Browser.getVersion`.
    pub product: String,
    /// Its program, if Tabwire started it.
    pub executable: Option<PathBuf>,
    /// Its own debugging port, if reachable on this machine.
    pub port: Option<u16>,
}

/// Where a second run of a browser is kept, and its description cached.
#[derive(Clone, Debug)]
pub struct ProtocolPlaces {
    /// The program that runs the keeper, with its arguments.
    pub keeper: (PathBuf, Vec<String>),
    /// Sockets and descriptors.
    pub runtime: PathBuf,
    /// Cached descriptions.
    pub state: PathBuf,
    /// Profiles.
    pub data: PathBuf,
}

/// The JSON of `/json/protocol`. Blocks up to 30 s.
///
/// # Errors
/// When neither the browser nor a second run of its program provides it.
pub fn describe(browser: &ProtocolSource, places: &ProtocolPlaces) -> Result<String, Failure> {
    let deadline = Instant::now() + FETCH_TIMEOUT;
    if let Some(port) = browser.port {
        return complete_json(attach::ask_port(port, PATH, PROTOCOL_BYTES, deadline)?);
    }
    let Some(executable) = &browser.executable else { return Err(no_protocol_source()) };
    let cache = ProtocolCache::open(&places.state)?;
    let _lock = cache.lock(deadline)?;
    if let Some(cached) =
        cache.find(executable, &browser.product).and_then(|cached| complete_json(cached).ok())
    {
        return Ok(cached);
    }
    let description = fetch_from_second_run(executable, &browser.product, places, deadline)?;
    if let Err(failure) = cache.store(executable, &browser.product, description.as_bytes()) {
        tracing::warn!(%failure, "protocol description not cached");
    }
    Ok(description)
}

/// Starts the program a second time on a temporary profile and fetches the description. The keeper ends it in any case.
fn fetch_from_second_run(
    executable: &Path,
    product: &str,
    places: &ProtocolPlaces,
    deadline: Instant,
) -> Result<String, Failure> {
    let started = start(executable, places, deadline)?;
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

fn start(
    executable: &Path,
    places: &ProtocolPlaces,
    deadline: Instant,
) -> Result<BrowserDescriptor, Failure> {
    let id = new_browser_id()?;
    let homes = ProfileHomes {
        runtime_dir: places.runtime.clone(),
        data_dir: places.data.clone(),
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
        runtime_dir: places.runtime.clone(),
        instance: new_instance_id()?,
        labels: [("purpose".to_owned(), "protocol".to_owned())].into(),
    };
    let (program, arguments) = &places.keeper;
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    Ok(keeper_client::spawn_keeper(program, &arguments, &request, deadline)?)
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
        let nowhere = PathBuf::from("/nonexistent");
        let places = ProtocolPlaces {
            keeper: (nowhere.clone(), Vec::new()),
            runtime: nowhere.clone(),
            state: nowhere.clone(),
            data: nowhere,
        };
        let failure = describe(&browser, &places).unwrap_err();
        assert_eq!((failure.code, failure.remedy.is_some()), (ErrorCode::NoBackend, true));
    }
}
