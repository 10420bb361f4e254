//! `native-host`: gives a browser's extension the daemon's port and key. The browser starts it and speaks
//! over stdin and stdout: four bytes of length, then JSON. It handles one request and exits.

use std::io::{Read, Write};
use std::process::ExitCode;

use serde_json::{Value, json};
use tabwire_daemon::{Handshake, Paths, find_extension_key};
use tabwire_extension::package::extension_origin;

/// Largest request that is read.
const REQUEST_BYTES: u32 = 64 * 1024;

pub(crate) fn run(paths: &Paths, origin: Option<&str>) -> ExitCode {
    let is_request = read_request(&mut std::io::stdin().lock()).is_some();
    let response = if is_request {
        respond(paths, origin)
    } else {
        json!({"state": "refused", "message": "Invalid request."})
    };
    match write_response(&mut std::io::stdout().lock(), &response) {
        Some(()) => ExitCode::SUCCESS,
        None => ExitCode::FAILURE,
    }
}

fn respond(paths: &Paths, origin: Option<&str>) -> Value {
    // The browser starts this host only for the allowed extension and passes its origin. A user who starts it by hand can
    // read the same files anyway.
    if origin.map(|origin| origin.trim_end_matches('/')) != Some(extension_origin().as_str()) {
        return json!({"state": "refused", "message": "Only the Tabwire extension can use this host."});
    }
    match (Handshake::find(&paths.handshake()), find_extension_key(&paths.extension_key())) {
        (Some(daemon), Some(key)) => json!({"port": daemon.port, "key": key.expose()}),
        (None, _) => {
            json!({"state": "not_running", "message": "Tabwire is not running; it starts with the next command."})
        }
        (Some(_), None) => {
            json!({"state": "no_key", "message": "Tabwire has no key yet; run `tabwire extension install`."})
        }
    }
}

fn read_request(stdin: &mut impl Read) -> Option<Value> {
    let mut length = [0; 4];
    stdin.read_exact(&mut length).ok()?;
    let length = u32::from_ne_bytes(length);
    if length > REQUEST_BYTES {
        return None;
    }
    let mut request = vec![0; usize::try_from(length).ok()?];
    stdin.read_exact(&mut request).ok()?;
    serde_json::from_slice(&request).ok()
}

fn write_response(stdout: &mut impl Write, response: &Value) -> Option<()> {
    let text = response.to_string();
    stdout.write_all(&u32::try_from(text.len()).ok()?.to_ne_bytes()).ok()?;
    stdout.write_all(text.as_bytes()).ok()?;
    stdout.flush().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_bounded_and_responses_framed() {
        let framed = |text: &str| {
            let length = u32::try_from(text.len()).expect("short");
            [length.to_ne_bytes().as_slice(), text.as_bytes()].concat()
        };
        assert!(read_request(&mut framed("{}").as_slice()).is_some());
        assert!(read_request(&mut framed("{").as_slice()).is_none());
        assert!(read_request(&mut u32::MAX.to_ne_bytes().as_slice()).is_none());
        assert!(read_request(&mut [].as_slice()).is_none());
        let mut written = Vec::new();
        write_response(&mut written, &json!({"a": 1})).expect("written");
        assert_eq!(written, framed("{\"a\":1}"));
    }

    #[test]
    fn only_the_extension_gets_port_and_key() {
        let home = tempfile::tempdir().expect("a folder");
        let paths = Paths::below(home.path());
        for origin in [None, Some("chrome-extension://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/"), Some("")] {
            assert_eq!(respond(&paths, origin)["message"], "Only the Tabwire extension can use this host.");
        }
        let ours = format!("{}/", extension_origin());
        assert_eq!(
            respond(&paths, Some(&ours))["state"],
            "not_running",
            "the popup says this, not `not paired`"
        );
    }
}
