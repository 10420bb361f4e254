//! `native-host`: tells the extension of a browser where the daemon is and the key they share. Started by the browser,
//! which speaks to it over stdin and stdout: four bytes of length, then JSON. One question, one response, then it ends.

use std::io::{Read, Write};
use std::process::ExitCode;

use serde_json::{Value, json};
use tabwire_daemon::{Handshake, Paths, find_extension_key};
use tabwire_extension::package::extension_origin;

/// Largest question that is read.
const QUESTION_BYTES: u32 = 64 * 1024;

pub(crate) fn run(paths: &Paths, origin: Option<&str>) -> ExitCode {
    let asked = read_question(&mut std::io::stdin().lock()).is_some();
    let answer = if asked { answer(paths, origin) } else { json!({"message": "Nothing was asked."}) };
    match write_answer(&mut std::io::stdout().lock(), &answer) {
        Some(()) => ExitCode::SUCCESS,
        None => ExitCode::FAILURE,
    }
}

fn answer(paths: &Paths, origin: Option<&str>) -> Value {
    // The browser starts this host only for the allowed extension and passes its origin. A user who starts it by hand can
    // read the same files anyway.
    if origin.map(|origin| origin.trim_end_matches('/')) != Some(extension_origin().as_str()) {
        return json!({"message": "Only the Tabwire extension is answered."});
    }
    match (Handshake::find(&paths.handshake()), find_extension_key(&paths.extension_key())) {
        (Some(daemon), Some(key)) => json!({"port": daemon.port, "key": key.expose()}),
        (None, _) => json!({"message": "Tabwire is not running; it starts with the next command."}),
        (Some(_), None) => {
            json!({"message": "Tabwire has no key yet; `tabwire extension install` draws one."})
        }
    }
}

fn read_question(stdin: &mut impl Read) -> Option<Value> {
    let mut length = [0; 4];
    stdin.read_exact(&mut length).ok()?;
    let length = u32::from_ne_bytes(length);
    if length > QUESTION_BYTES {
        return None;
    }
    let mut question = vec![0; usize::try_from(length).ok()?];
    stdin.read_exact(&mut question).ok()?;
    serde_json::from_slice(&question).ok()
}

fn write_answer(stdout: &mut impl Write, answer: &Value) -> Option<()> {
    let text = answer.to_string();
    stdout.write_all(&u32::try_from(text.len()).ok()?.to_ne_bytes()).ok()?;
    stdout.write_all(text.as_bytes()).ok()?;
    stdout.flush().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_bounded_and_answers_framed() {
        let framed = |text: &str| {
            let length = u32::try_from(text.len()).expect("short");
            [length.to_ne_bytes().as_slice(), text.as_bytes()].concat()
        };
        assert!(read_question(&mut framed("{}").as_slice()).is_some());
        assert!(read_question(&mut framed("{").as_slice()).is_none());
        assert!(read_question(&mut u32::MAX.to_ne_bytes().as_slice()).is_none());
        assert!(read_question(&mut [].as_slice()).is_none());
        let mut written = Vec::new();
        write_answer(&mut written, &json!({"a": 1})).expect("written");
        assert_eq!(written, framed("{\"a\":1}"));
    }

    #[test]
    fn nobody_but_the_extension_is_told_anything() {
        let home = tempfile::tempdir().expect("a folder");
        let paths = Paths::below(home.path());
        for origin in [None, Some("chrome-extension://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/"), Some("")] {
            assert_eq!(answer(&paths, origin)["message"], "Only the Tabwire extension is answered.");
        }
        let ours = format!("{}/", extension_origin());
        assert!(
            answer(&paths, Some(&ours))["message"].as_str().is_some_and(|said| said.contains("not running"))
        );
    }
}
