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
const PATIENCE: Duration = Duration::from_secs(60);

/// How long an answer may take before the user may want to call it off.
const PROMPT: Duration = Duration::from_millis(100);

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

/// Sends a request and reads the answer's body. The daemon is given more time than what it is asked for takes.
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

/// Sends a request and reads the answer's body, in this time or not at all.
pub(crate) fn ask_within(
    socket: &Path,
    method: &str,
    path: &str,
    body: Option<&Value>,
    patience: Duration,
) -> Result<Value, AskError> {
    let mut stream = connect(socket)?;
    let broken = |error: io::Error| AskError::Failed(broken_off(&error, patience));
    stream.set_read_timeout(Some(patience.min(PROMPT))).map_err(broken)?;
    stream.write_all(&request(method, path, body)).map_err(broken)?;
    let mut answer = Vec::with_capacity(1024);
    let mut stream = stream.take(ANSWER_BYTES);
    if let Err(error) = stream.read_to_end(&mut answer) {
        if !is_late(&error) || patience <= PROMPT {
            return Err(broken(error));
        }
        tell_of_interrupts();
        stream.get_ref().set_read_timeout(Some(patience)).map_err(broken)?;
        stream.read_to_end(&mut answer).map_err(broken)?;
    }
    read_answer(&answer)
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

fn read_answer(answer: &[u8]) -> Result<Value, AskError> {
    let cut = || {
        AskError::Failed(
            Failure::new(ErrorCode::OutcomeUnknown, "The daemon went away while it was working on this.")
                .with_hint("It may or may not have been done. Run the command again to start a new daemon."),
        )
    };
    let text = std::str::from_utf8(answer).map_err(|_| cut())?;
    let (head, body) = text.split_once("\r\n\r\n").ok_or_else(cut)?;
    let status = head.split(' ').nth(1).and_then(|status| status.parse::<u16>().ok()).ok_or_else(cut)?;
    let body: Value = serde_json::from_str(body).map_err(|_| cut())?;
    if status == 200 {
        return Ok(body);
    }
    let failure = serde_json::from_value::<ErrorAnswer>(body).map_err(|_| cut())?.error;
    Err(AskError::of(failure))
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
