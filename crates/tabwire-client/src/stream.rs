//! A request whose response is a stream of JSON lines.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use tabwire_api::api::{ErrorResponse, ExecuteLine};
use tabwire_api::{ErrorCode, Failure, HttpHead};

use crate::interrupt::{ClosedByInterrupt, report_interrupts};
use crate::request::{RequestError, connect, request_bytes};
use crate::start::with_daemon;

/// Longest line of a response.
const LINE_BYTES: u64 = 32 * 1024 * 1024;

/// Longest head of a response.
const HEAD_BYTES: usize = 64 * 1024;

/// Posts a request and calls `on_line` with each line of the response. Starts the daemon when it does not run.
///
/// # Errors
/// When the daemon responds with a failure, or the connection breaks before the stream ends.
pub fn stream_lines(
    socket: &Path,
    path: &str,
    body: &Value,
    timeout: Option<Duration>,
    on_line: impl FnMut(ExecuteLine),
) -> Result<(), Failure> {
    let reader = with_daemon(socket, || open(connect(socket)?, ("POST", path), Some(body), timeout))?;
    report_interrupts();
    read_lines(reader, on_line)
}

/// As [`stream_lines`], but SIGINT closes the connection, which cancels the request, and this process goes on. Returns
/// whether that happened.
///
/// # Errors
/// As [`stream_lines`].
pub fn stream_lines_until_interrupt(
    socket: &Path,
    path: &str,
    body: &Value,
    on_line: impl FnMut(ExecuteLine),
) -> Result<bool, Failure> {
    let mut interrupt = None;
    let streamed = with_daemon(socket, || {
        let stream = connect(socket)?;
        let failed = |error: std::io::Error| RequestError::Failed(broken(&error));
        // Before the request: the response begins when the script does.
        if let Some(before) = interrupt.take() {
            // Of an attempt that found no daemon.
            ClosedByInterrupt::end(before);
        }
        interrupt = Some(ClosedByInterrupt::watch(&stream).map_err(failed)?);
        open(stream, ("POST", path), Some(body), None)
    })
    .and_then(|reader| read_lines(reader, on_line));
    if interrupt.is_some_and(|interrupt| interrupt.end()) { Ok(true) } else { streamed.map(|()| false) }
}

fn read_lines(
    mut reader: BufReader<Chunks<impl Read>>,
    mut on_line: impl FnMut(ExecuteLine),
) -> Result<(), Failure> {
    let mut line = Vec::new();
    loop {
        line.clear();
        reader.by_ref().take(LINE_BYTES).read_until(b'\n', &mut line).map_err(|error| broken(&error))?;
        if line.is_empty() {
            return Ok(());
        }
        let read =
            serde_json::from_slice(&line).map_err(|_| broken(&std::io::ErrorKind::UnexpectedEof.into()))?;
        on_line(read);
    }
}

/// Sends a request and reads the head of the response; returns its body.
pub(crate) fn open(
    mut stream: UnixStream,
    (method, path): (&str, &str),
    body: Option<&Value>,
    timeout: Option<Duration>,
) -> Result<BufReader<Chunks<impl Read + use<>>>, RequestError> {
    let failed = |error: std::io::Error| RequestError::Failed(broken(&error));
    stream.set_read_timeout(timeout).map_err(failed)?;
    stream.write_all(&request_bytes(method, path, body)).map_err(failed)?;
    let mut reader = BufReader::new(stream);
    let mut head = Vec::new();
    while HttpHead::parse(&head).is_none() {
        let read = reader.read_until(b'\n', &mut head).map_err(failed)?;
        if read == 0 || head.len() > HEAD_BYTES {
            return Err(failed(std::io::ErrorKind::UnexpectedEof.into()));
        }
    }
    let status = HttpHead::parse(&head).and_then(|head| head.status());
    if status == Some(200) {
        return Ok(BufReader::new(Chunks { reader, left: 0, has_ended: false }));
    }
    let length = HttpHead::parse(&head).and_then(|head| head.header("content-length")?.parse().ok());
    let mut text = Vec::new();
    reader.take(length.unwrap_or(LINE_BYTES)).read_to_end(&mut text).map_err(failed)?;
    let response: ErrorResponse = serde_json::from_slice(&text).map_err(|error| failed(error.into()))?;
    Err(RequestError::from_failure(response.error))
}

fn broken(error: &std::io::Error) -> Failure {
    Failure::new(ErrorCode::OutcomeUnknown, format!("The connection to the daemon broke: {error}."))
        .with_remedy("A part may have been done. Look at the page before you run it again.")
}

/// The bytes of a body in chunks (RFC 9112, section 7.1).
pub(crate) struct Chunks<R> {
    reader: BufReader<R>,
    left: usize,
    has_ended: bool,
}

impl<R: Read> Chunks<R> {
    fn next_chunk(&mut self) -> std::io::Result<()> {
        let mut line = String::new();
        // The line after a chunk is empty.
        while line.trim().is_empty() {
            line.clear();
            if self.reader.by_ref().take(64).read_line(&mut line)? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
        }
        let size = line.trim().split(';').next().unwrap_or_default();
        self.left = usize::from_str_radix(size, 16).map_err(|_| std::io::ErrorKind::InvalidData)?;
        self.has_ended = self.left == 0;
        Ok(())
    }
}

impl<R: Read> Read for Chunks<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.left == 0 && !self.has_ended {
            self.next_chunk()?;
        }
        let most = buffer.len().min(self.left);
        let count = self.reader.read(&mut buffer[..most])?;
        if count == 0 && most > 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        self.left -= count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> std::io::Result<String> {
        let mut text = String::new();
        let reader = BufReader::new(body.as_bytes());
        Chunks { reader, left: 0, has_ended: false }.read_to_string(&mut text).map(|_| text)
    }

    #[test]
    fn chunks_are_joined() {
        assert_eq!(read("4\r\nabc\n\r\n2;x=y\r\nde\r\n0\r\n\r\n").expect("a body"), "abc\nde");
        assert!(read("4\r\nab").is_err());
        assert!(read("").is_err());
        assert!(read("zz\r\n").is_err());
    }
}
