//! What a browser says of the protocol it speaks. Its own port is asked if it has one; else another run of the same
//! program, once for each version, whose answer is kept. Knows nothing of requests.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::de::IgnoredAny;
use tabwire_browser::{
    AttachAddress, BrowserDescriptor, KeepRequest, LaunchSpec, ProfileChoice, ProfileHomes, WebsocketAddress,
    attach, keeper_client, new_browser_id, new_instance_id,
};
use tabwire_daemon::Paths;
use tabwire_wire::{ErrorCode, Failure};

use super::protocol_cache::ProtocolCache;
use crate::limits::{
    CHROME_PROTOCOL_BYTES, CHROME_PROTOCOL_DEADLINE, CHROME_PROTOCOL_END, CHROME_PROTOCOL_LINGER,
    CHROME_PROTOCOL_LOOK,
};
use crate::own_program::own_program;

/// Where Chrome has it.
const PATH: &str = "/json/protocol";

/// A browser whose protocol is asked for.
#[derive(Clone, Debug)]
pub(super) struct Described {
    /// What it calls itself, version included.
    pub(super) product: String,
    /// Its program, when it was started by us.
    pub(super) executable: Option<PathBuf>,
    /// Its own port, when it can be reached from here.
    pub(super) port: Option<u16>,
}

/// The description, as Chrome words it.
///
/// # Errors
/// When neither the browser nor its program can be asked.
pub(super) fn describe(browser: &Described, paths: &Paths) -> Result<String, Failure> {
    let deadline = Instant::now() + CHROME_PROTOCOL_DEADLINE;
    if let Some(port) = browser.port {
        return readable(attach::ask_port(port, PATH, CHROME_PROTOCOL_BYTES, deadline)?);
    }
    let Some(executable) = &browser.executable else { return Err(nobody_to_ask()) };
    let cache = ProtocolCache::open(paths)?;
    let _turn = cache.take_turn(deadline)?;
    if let Some(kept) = cache.find(executable, &browser.product).and_then(|kept| readable(kept).ok()) {
        return Ok(kept);
    }
    let told = ask_program(executable, &browser.product, paths, deadline)?;
    if let Err(failure) = cache.keep(executable, &browser.product, told.as_bytes()) {
        tracing::warn!(%failure, "the protocol's description is not kept");
    }
    Ok(told)
}

/// Starts the program once more, on a profile of its own, and asks that one. Its keeper ends it, whatever happens.
fn ask_program(
    executable: &Path,
    product: &str,
    paths: &Paths,
    deadline: Instant,
) -> Result<String, Failure> {
    let started = start(executable, paths, deadline)?;
    // For as long as this is held the browser lives, and not much longer.
    let held = keeper_client::claim(&started.socket, &new_instance_id()?, deadline);
    let told = held
        .as_ref()
        .map_err(|error| Failure::new(ErrorCode::BrowserGone, error.to_string()))
        .and_then(|_held| {
            let address = find_port(&started.profile, deadline)?;
            check_version(product, address.product().unwrap_or_default())?;
            let port = address.expose().port().unwrap_or_default();
            readable(attach::ask_port(port, PATH, CHROME_PROTOCOL_BYTES, deadline)?)
        });
    let end = Instant::now() + CHROME_PROTOCOL_END;
    if let Err(error) = keeper_client::stop(&started.socket, Some(Duration::from_secs(1)), end) {
        tracing::warn!(%error, "the browser that was asked for the protocol did not end; its keeper will do that");
    }
    drop(held);
    told
}

fn start(executable: &Path, paths: &Paths, deadline: Instant) -> Result<BrowserDescriptor, Failure> {
    let id = new_browser_id()?;
    let homes = ProfileHomes {
        runtime_dir: paths.runtime.clone(),
        data_dir: paths.data.clone(),
        config_home: None,
        home: None,
    };
    let profile = ProfileChoice::ThrowAway.resolve(&id, &homes)?;
    let mut spec = LaunchSpec::new(id, executable.to_owned(), profile);
    spec.throw_away = true;
    spec.start_window = false;
    spec.debugging_port = Some(0);
    spec.linger_ms = u64::try_from(CHROME_PROTOCOL_LINGER.as_millis()).unwrap_or(u64::MAX);
    let request = KeepRequest {
        spec,
        runtime_dir: paths.runtime.clone(),
        instance: new_instance_id()?,
        labels: [("purpose".to_owned(), "protocol".to_owned())].into(),
    };
    let program = own_program()
        .map_err(|error| Failure::new(ErrorCode::Internal, format!("This program is not found: {error}.")))?;
    Ok(keeper_client::spawn_keeper(&program, &["keep"], &request, deadline)?)
}

/// Waits until the browser has written down where it listens.
fn find_port(profile: &Path, deadline: Instant) -> Result<WebsocketAddress, Failure> {
    loop {
        match attach::discover(&AttachAddress::Profile(profile.to_owned()), None, deadline) {
            Ok(address) => return Ok(address),
            Err(error) if Instant::now() >= deadline => return Err(error.into()),
            Err(_) => std::thread::sleep(CHROME_PROTOCOL_LOOK),
        }
    }
}

/// Refuses to tell one version's protocol for another's: a program may have been replaced while its browser ran.
fn check_version(running: &str, asked: &str) -> Result<(), Failure> {
    let number = |product: &str| product.rsplit('/').next().unwrap_or_default().to_owned();
    if number(running) == number(asked) {
        return Ok(());
    }
    let message = format!("The browser is {running}, and its program is {asked} by now.");
    Err(Failure::new(ErrorCode::VersionMismatch, message)
        .with_hint("Close the browser, so that the newer one is started."))
}

/// What is JSON, and whole.
fn readable(told: Vec<u8>) -> Result<String, Failure> {
    let is_whole = serde_json::from_slice::<IgnoredAny>(&told).is_ok();
    match String::from_utf8(told) {
        Ok(text) if is_whole => Ok(text),
        _ => {
            let message = "The browser's description of the protocol is not whole, or too long.";
            Err(Failure::new(ErrorCode::Internal, message))
        }
    }
}

fn nobody_to_ask() -> Failure {
    let message =
        "The browser cannot be asked which protocol it speaks: it has no port that is reached from here.";
    Failure::new(ErrorCode::NoBackend, message)
        .with_hint("Ask a browser of the same version on its own port, or read its published protocol.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_versions_protocol_is_not_told_for_anothers() {
        assert!(check_version("Chrome/156.0.1.2", "HeadlessChrome/156.0.1.2").is_ok());
        let refused = check_version("Chrome/156.0.1.2", "Chrome/157.0.0.1").unwrap_err();
        assert_eq!((refused.code, refused.hint.is_some()), (ErrorCode::VersionMismatch, true));
    }

    #[test]
    fn what_is_cut_or_no_json_is_no_description() {
        assert_eq!(readable(b"{\"domains\": []}".to_vec()).unwrap(), "{\"domains\": []}");
        for bad in [&b"{\"domains\": ["[..], b"", b"<html>", b"\xff\xfe"] {
            assert!(readable(bad.to_vec()).is_err());
        }
    }

    #[test]
    fn a_browser_without_port_and_program_is_said_to_be_out_of_reach() {
        let browser = Described { product: "Chrome/1".to_owned(), executable: None, port: None };
        let failure = describe(&browser, &Paths::below(Path::new("/nonexistent"))).unwrap_err();
        assert_eq!((failure.code, failure.hint.is_some()), (ErrorCode::NoBackend, true));
    }
}
