//! Speaks to the daemon over its socket: one small blocking HTTP request. Knows nothing of what is asked.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use tabwire_browser::limits::SOCKET_PATH_BYTES;
use tabwire_wire::api::{ErrorAnswer, SOCKET_HOST, VERSION_HEADER};
use tabwire_wire::{ErrorCode, Failure, VERSION};

use crate::interruption::tell_of_interrupts;

/// Added to an action's own time before the daemon itself counts as stuck; starting a browser is part of it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// How long an answer may take before the user may want to call it off.
const PROMPT: Duration = Duration::from_millis(100);

/// Read at a time at first, and of an answer that is known to be long.
const READ_BYTES: usize = 16 * 1024;
const LARGE_READ_BYTES: usize = 1024 * 1024;

/// Largest answer that is read.
const ANSWER_BYTES: u64 = 64 * 1024 * 1024;

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum AskError {
    /// Nobody listens: the daemon is not running. Nothing was sent.
    NotRunning,
    /// The daemon is older than we are. Nothing was done.
    DaemonOlder,
    /// The daemon answered with a failure, or broke off.
    Failed(Failure),
}

/// Sends a request and reads the answer. The daemon is given more time than what it is asked for takes.
pub(crate) fn ask(
    socket: &Path,
    method: &str,
    path: &str,
    body: Option<&Value>,
    timeout: Duration,
) -> Result<Value, AskError> {
    ask_within(socket, method, path, body, timeout.saturating_add(PATIENCE))
}

impl AskError {
    /// What a failure of the daemon's means.
    pub(crate) fn of(failure: Failure) -> Self {
        let is_older = failure.code == ErrorCode::VersionMismatch
            && failure.hint.as_deref().is_some_and(|hint| hint.contains("makes room"));
        if is_older { Self::DaemonOlder } else { Self::Failed(failure) }
    }
}

/// Connects to the daemon that listens there.
pub(crate) fn connect(socket: &Path) -> Result<UnixStream, AskError> {
    if socket.as_os_str().len() > SOCKET_PATH_BYTES {
        return Err(AskError::Failed(too_long(socket)));
    }
    UnixStream::connect(socket).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => AskError::NotRunning,
        _ => AskError::Failed(unreachable(socket, &error)),
    })
}

/// Sends a request and reads the answer, in this time or not at all.
pub(crate) fn ask_within(
    socket: &Path,
    method: &str,
    path: &str,
    body: Option<&Value>,
    patience: Duration,
) -> Result<Value, AskError> {
    let text = fetch(socket, method, path, body, patience)?;
    serde_json::from_str(&text).map_err(|_| cut())
}

/// The same, with the answer as the text it came as.
pub(crate) fn fetch(
    socket: &Path,
    method: &str,
    path: &str,
    body: Option<&Value>,
    patience: Duration,
) -> Result<String, AskError> {
    let mut stream = connect(socket)?;
    let broken = |error: io::Error| AskError::Failed(broken_off(&error, patience));
    stream.set_read_timeout(Some(patience.min(PROMPT))).map_err(broken)?;
    stream.write_all(&request(method, path, body)).map_err(broken)?;
    let mut answer = Vec::with_capacity(READ_BYTES);
    let mut stream = stream.take(ANSWER_BYTES);
    if let Err(error) = read_whole(&mut stream, &mut answer) {
        if !is_late(&error) || patience <= PROMPT {
            return Err(broken(error));
        }
        tell_of_interrupts();
        stream.get_ref().set_read_timeout(Some(patience)).map_err(broken)?;
        read_whole(&mut stream, &mut answer).map_err(broken)?;
    }
    read_answer(answer)
}

/// Reads on until the answer is whole, without waiting for the daemon to hang up.
fn read_whole(stream: &mut impl Read, answer: &mut Vec<u8>) -> io::Result<()> {
    let mut whole = whole_length(answer);
    while whole.is_none_or(|whole| answer.len() < whole) {
        let start = answer.len();
        let missing = whole.map_or(READ_BYTES, |whole| (whole - start).clamp(READ_BYTES, LARGE_READ_BYTES));
        answer.resize(start + missing, 0);
        let read = stream.read(&mut answer[start..]);
        answer.truncate(start + read.as_ref().copied().unwrap_or(0));
        match read {
            Ok(0) => return Ok(()),
            Ok(_) => whole = whole.or_else(|| whole_length(answer)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// How many bytes head and body have together, once the head is there and tells it.
fn whole_length(answer: &[u8]) -> Option<usize> {
    let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&answer[..end]).ok()?;
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    })?;
    (end + 4).checked_add(length)
}

/// Whether a read took longer than it may.
fn is_late(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

fn request(method: &str, path: &str, body: Option<&Value>) -> Vec<u8> {
    let body = body.map(Value::to_string).unwrap_or_default();
    let mut request = format!(
        "{method} {path} HTTP/1.1\r\nHost: {SOCKET_HOST}\r\n{VERSION_HEADER}: {VERSION}\r\nConnection: close\r\n"
    );
    if method == "POST" {
        request.push_str(&format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len()));
    }
    request.push_str("\r\n");
    request.push_str(&body);
    request.into_bytes()
}

/// The body of an answer; it may have been cut off.
fn read_answer(answer: Vec<u8>) -> Result<String, AskError> {
    let whole = whole_length(&answer);
    let mut text = String::from_utf8(answer).map_err(|_| cut())?;
    let (head, body) = text.split_once("\r\n\r\n").ok_or_else(cut)?;
    if whole.is_some_and(|whole| text.len() < whole) {
        return Err(cut());
    }
    let status = head.split(' ').nth(1).and_then(|status| status.parse::<u16>().ok()).ok_or_else(cut)?;
    if status == 200 {
        text.drain(..head.len() + 4);
        return Ok(text);
    }
    let failure = serde_json::from_str::<ErrorAnswer>(body).map_err(|_| cut())?.error;
    Err(AskError::of(failure))
}

fn cut() -> AskError {
    AskError::Failed(
        Failure::new(ErrorCode::OutcomeUnknown, "The daemon went away while it was working on this.")
            .with_hint("It may or may not have been done. Run the command again to start a new daemon."),
    )
}

fn too_long(socket: &Path) -> Failure {
    let message =
        format!("The daemon's socket {} is too long: {SOCKET_PATH_BYTES} bytes at most.", socket.display());
    Failure::new(ErrorCode::BadArgs, message)
        .with_hint("Set TABWIRE_HOME or XDG_RUNTIME_DIR to a directory with a shorter path.")
}

fn unreachable(socket: &Path, error: &io::Error) -> Failure {
    Failure::new(
        ErrorCode::Internal,
        format!("The daemon's socket {} cannot be used: {error}.", socket.display()),
    )
    .with_hint("Run `tabwire doctor`.")
}

fn broken_off(error: &io::Error, patience: Duration) -> Failure {
    if is_late(error) {
        let seconds = patience.as_secs();
        return Failure::new(ErrorCode::Timeout, format!("The daemon did not answer within {seconds} s."))
            .with_hint("Run `tabwire daemon logs` to see what it is doing.");
    }
    Failure::new(ErrorCode::OutcomeUnknown, format!("The connection to the daemon broke: {error}."))
        .with_hint("It may or may not have been done. Run the command again to start a new daemon.")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one byte at a time, and fails when it is asked for more than there is.
    struct Dripping<'a>(&'a [u8]);

    impl Read for Dripping<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let (first, rest) =
                self.0.split_first().ok_or_else(|| io::Error::from(io::ErrorKind::TimedOut))?;
            self.0 = rest;
            buffer[0] = *first;
            Ok(1)
        }
    }

    #[test]
    fn an_answer_that_tells_its_length_is_read_no_further() {
        let text = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ntrue";
        let mut answer = Vec::new();
        read_whole(&mut Dripping(text), &mut answer).unwrap();
        assert_eq!(answer, text);
        assert_eq!(read_answer(answer).unwrap(), "true");
    }

    #[test]
    fn an_answer_that_was_cut_off_is_no_answer() {
        for text in ["HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\n\"tru", "HTTP/1.1 200 OK\r\n"] {
            let failure = read_answer(text.as_bytes().to_vec()).unwrap_err();
            assert!(
                matches!(failure, AskError::Failed(failure) if failure.code == ErrorCode::OutcomeUnknown)
            );
        }
    }

    #[test]
    fn what_was_read_before_time_was_up_is_kept() {
        let (first, second) = b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ntrue".split_at(30);
        let mut answer = Vec::new();
        assert!(is_late(&read_whole(&mut Dripping(first), &mut answer).unwrap_err()));
        read_whole(&mut Dripping(second), &mut answer).unwrap();
        assert_eq!(read_answer(answer).unwrap(), "true");
    }

    #[test]
    fn an_answer_without_a_length_is_read_to_its_end() {
        let mut answer = Vec::new();
        read_whole(&mut &b"HTTP/1.1 200 OK\r\n\r\n[1]"[..], &mut answer).unwrap();
        assert_eq!(read_answer(answer).unwrap(), "[1]");
    }
}
