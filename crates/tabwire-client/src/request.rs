//! One blocking HTTP request to the daemon over its socket.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use tabwire_api::api::{ErrorResponse, SOCKET_HOST, VERSION_HEADER};
use tabwire_api::{ErrorCode, Failure, HttpHead, Remedy, Step, VERSION};
use tabwire_browser::limits::SOCKET_PATH_BYTES;

use crate::interrupt::report_interrupts;

/// Added to an action's own timeout before the daemon counts as stuck. Covers the start of a browser.
pub(crate) const DAEMON_SLACK: Duration = Duration::from_secs(60);

/// After this wait for a response, Ctrl-C prints a message.
const INTERRUPT_DELAY: Duration = Duration::from_millis(100);

/// Bytes per read at first, and at most once the length of the response is known.
const READ_BYTES: usize = 16 * 1024;
const LARGE_READ_BYTES: usize = 1024 * 1024;

/// Largest response.
const RESPONSE_BYTES: u64 = 64 * 1024 * 1024;

/// Remedy of a request that may or may not have taken effect.
const UNKNOWN: &str = "It may or may not have been done. Run the command again to start a new daemon.";

/// Why a request has no result.
#[derive(Debug)]
pub enum RequestError {
    /// The daemon does not run. Nothing was sent.
    NotRunning,
    /// The daemon is older than this program. It has done nothing.
    DaemonOlder,
    /// The daemon responded with a failure, or the connection broke.
    Failed(Failure),
}

/// Sends a request and reads the response. Waits for `timeout`, the time of the action itself, and a minute more.
///
/// # Errors
/// See [`RequestError`].
pub fn request(
    socket: &Path,
    method: &str,
    path: &str,
    body: Option<&Value>,
    timeout: Duration,
) -> Result<Value, RequestError> {
    request_within(socket, method, path, body, timeout.saturating_add(DAEMON_SLACK))
}

impl RequestError {
    /// Sorts a failure that the daemon reported.
    #[must_use]
    pub fn from_failure(failure: Failure) -> Self {
        if failure.code == ErrorCode::DaemonOlder { Self::DaemonOlder } else { Self::Failed(failure) }
    }
}

/// Connects to the daemon's socket.
///
/// # Errors
/// When no daemon listens there, or the path is too long.
pub fn connect(socket: &Path) -> Result<UnixStream, RequestError> {
    if socket.as_os_str().len() > SOCKET_PATH_BYTES {
        return Err(RequestError::Failed(path_too_long(socket)));
    }
    UnixStream::connect(socket).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => RequestError::NotRunning,
        _ => RequestError::Failed(unusable(socket, &error)),
    })
}

/// Sends a request and waits for the response at most `timeout`.
///
/// # Errors
/// See [`RequestError`].
pub fn request_within(
    socket: &Path,
    method: &str,
    path: &str,
    body: Option<&Value>,
    timeout: Duration,
) -> Result<Value, RequestError> {
    let text = request_text_within(socket, method, path, body, timeout)?;
    serde_json::from_str(&text).map_err(|_| incomplete())
}

/// Like [`request_within`], without parsing the JSON of the response.
pub(crate) fn request_text_within(
    socket: &Path,
    method: &str,
    path: &str,
    body: Option<&Value>,
    timeout: Duration,
) -> Result<String, RequestError> {
    let mut stream = connect(socket)?;
    let broken = |error: io::Error| RequestError::Failed(connection_failure(&error, timeout));
    stream.set_read_timeout(Some(timeout.min(INTERRUPT_DELAY))).map_err(broken)?;
    stream.write_all(&request_bytes(method, path, body)).map_err(broken)?;
    let mut response = Vec::with_capacity(READ_BYTES);
    let mut stream = stream.take(RESPONSE_BYTES);
    if let Err(error) = read_response(&mut stream, &mut response) {
        if !is_timeout(&error) || timeout <= INTERRUPT_DELAY {
            return Err(broken(error));
        }
        report_interrupts();
        stream.get_ref().set_read_timeout(Some(timeout)).map_err(broken)?;
        read_response(&mut stream, &mut response).map_err(broken)?;
    }
    parse_response(response)
}

/// Reads until the response is complete, without waiting for the daemon to close the connection.
fn read_response(stream: &mut impl Read, response: &mut Vec<u8>) -> io::Result<()> {
    let mut length = response_length(response);
    while length.is_none_or(|length| response.len() < length) {
        let start = response.len();
        let missing =
            length.map_or(READ_BYTES, |length| (length - start).clamp(READ_BYTES, LARGE_READ_BYTES));
        response.resize(start + missing, 0);
        let read = stream.read(&mut response[start..]);
        response.truncate(start + read.as_ref().copied().unwrap_or(0));
        match read {
            Ok(0) => return Ok(()),
            Ok(_) => length = length.or_else(|| response_length(response)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The length of head and body together; `None` until the head is complete, or without a `Content-Length`.
fn response_length(response: &[u8]) -> Option<usize> {
    HttpHead::parse(response)?.message_length()
}

/// Whether a read timed out.
fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

pub(crate) fn request_bytes(method: &str, path: &str, body: Option<&Value>) -> Vec<u8> {
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

/// The body of a response, checked for completeness.
fn parse_response(mut response: Vec<u8>) -> Result<String, RequestError> {
    let head = HttpHead::parse(&response).ok_or_else(incomplete)?;
    if head.message_length().is_some_and(|length| response.len() < length) {
        return Err(incomplete());
    }
    let status = head.status().ok_or_else(incomplete)?;
    let body = response.split_off(head.length());
    if status == 200 {
        return String::from_utf8(body).map_err(|_| incomplete());
    }
    let failure = serde_json::from_slice::<ErrorResponse>(&body).map_err(|_| incomplete())?.error;
    Err(RequestError::from_failure(failure))
}

fn incomplete() -> RequestError {
    RequestError::Failed(
        Failure::new(ErrorCode::OutcomeUnknown, "The daemon exited before it responded.")
            .with_remedy(UNKNOWN),
    )
}

fn path_too_long(socket: &Path) -> Failure {
    let message = format!(
        "The path of the daemon's socket is too long (limit {SOCKET_PATH_BYTES} bytes): {}.",
        socket.display()
    );
    Failure::new(ErrorCode::BadArgs, message)
        .with_remedy("Set TABWIRE_HOME or XDG_RUNTIME_DIR to a directory with a shorter path.")
}

fn unusable(socket: &Path, error: &io::Error) -> Failure {
    Failure::new(
        ErrorCode::Internal,
        format!("The daemon's socket {} cannot be used: {error}.", socket.display()),
    )
    .with_remedy(Remedy::new("Run {}.", [Step::command("tabwire doctor")]))
}

fn connection_failure(error: &io::Error, timeout: Duration) -> Failure {
    if is_timeout(error) {
        let seconds = timeout.as_secs();
        return Failure::new(ErrorCode::Timeout, format!("The daemon did not respond within {seconds} s."))
            .with_remedy(Remedy::new(
                "Run {} to see what it is doing.",
                [Step::command("tabwire daemon logs")],
            ));
    }
    Failure::new(ErrorCode::OutcomeUnknown, format!("The connection to the daemon broke: {error}."))
        .with_remedy(UNKNOWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Yields one byte per read, then a timeout.
    struct SlowReader<'a>(&'a [u8]);

    impl Read for SlowReader<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let (first, rest) =
                self.0.split_first().ok_or_else(|| io::Error::from(io::ErrorKind::TimedOut))?;
            self.0 = rest;
            buffer[0] = *first;
            Ok(1)
        }
    }

    #[test]
    fn a_response_with_a_length_is_not_read_past_its_end() {
        let text = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ntrue";
        let mut response = Vec::new();
        read_response(&mut SlowReader(text), &mut response).unwrap();
        assert_eq!(response, text);
        assert_eq!(parse_response(response).unwrap(), "true");
    }

    #[test]
    fn a_truncated_response_is_outcome_unknown() {
        for text in ["HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\n\"tru", "HTTP/1.1 200 OK\r\n"] {
            let failure = parse_response(text.as_bytes().to_vec()).unwrap_err();
            assert!(
                matches!(failure, RequestError::Failed(failure) if failure.code == ErrorCode::OutcomeUnknown)
            );
        }
    }

    #[test]
    fn bytes_read_before_a_timeout_are_kept() {
        let (first, second) = b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ntrue".split_at(30);
        let mut response = Vec::new();
        assert!(is_timeout(&read_response(&mut SlowReader(first), &mut response).unwrap_err()));
        read_response(&mut SlowReader(second), &mut response).unwrap();
        assert_eq!(parse_response(response).unwrap(), "true");
    }

    #[test]
    fn a_response_without_a_length_is_read_to_eof() {
        let mut response = Vec::new();
        read_response(&mut &b"HTTP/1.1 200 OK\r\n\r\n[1]"[..], &mut response).unwrap();
        assert_eq!(parse_response(response).unwrap(), "[1]");
    }
}
