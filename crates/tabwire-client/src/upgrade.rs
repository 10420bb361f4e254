//! Requests that turn a connection to the daemon into a stream of another protocol.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use tabwire_api::api::{ErrorResponse, SOCKET_HOST, VERSION_HEADER};
use tabwire_api::{Failure, HttpHead, VERSION};

use crate::request::{RequestError, connect};

/// Longest response: a failure with the last output lines of a browser.
const RESPONSE_BYTES: usize = 256 * 1024;

/// The request for a stream.
#[derive(Clone, Copy, Debug)]
pub struct Upgrade<'a> {
    /// The route.
    pub route: &'a str,
    /// The name of the protocol.
    pub protocol: &'a str,
    /// The first bytes of the stream, sent with the request.
    pub opening: &'a str,
    /// The read timeout of the socket, which the stream keeps.
    pub timeout: Duration,
}

impl Upgrade<'_> {
    /// Connects, and upgrades the connection. `broken` makes the failure of a broken or invalid connection.
    ///
    /// # Errors
    /// When no daemon listens on the socket, or it refuses.
    pub fn open(
        &self,
        socket: &Path,
        broken: impl Fn(&io::Error) -> Failure,
    ) -> Result<UnixStream, RequestError> {
        let mut stream = connect(socket)?;
        let exchanged = stream.set_read_timeout(Some(self.timeout)).and_then(|()| self.exchange(&mut stream));
        match exchanged {
            Ok(None) => Ok(stream),
            Ok(Some(refusal)) => Err(RequestError::from_failure(refusal)),
            Err(error) => Err(RequestError::Failed(broken(&error))),
        }
    }

    /// Sends the request and reads the response; returns the daemon's failure if it refuses.
    fn exchange(&self, stream: &mut (impl Read + Write)) -> io::Result<Option<Failure>> {
        let Self { route, protocol, opening, .. } = self;
        let request = format!(
            "GET {route} HTTP/1.1\r\nHost: {SOCKET_HOST}\r\n{VERSION_HEADER}: {VERSION}\r\nConnection: Upgrade\r\n\
             Upgrade: {protocol}\r\n\r\n{opening}"
        );
        stream.write_all(request.as_bytes())?;
        let received = read_head(stream)?;
        let head = HttpHead::parse(&received).ok_or(io::ErrorKind::InvalidData)?;
        if head.status() == Some(101) {
            return Ok(None);
        }
        // The daemon keeps the connection open, so the end of its response is known by the length only.
        let length = head.message_length().and_then(|length| length.checked_sub(head.length()));
        let length = length.filter(|length| *length <= RESPONSE_BYTES).ok_or(io::ErrorKind::InvalidData)?;
        let mut body = vec![0; length];
        stream.read_exact(&mut body)?;
        let refusal: ErrorResponse = serde_json::from_slice(&body).map_err(|_| io::ErrorKind::InvalidData)?;
        Ok(Some(refusal.error))
    }
}

/// Reads the head of a response and no byte after it: the next bytes belong to the stream.
fn read_head(stream: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    let mut byte = [0_u8];
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() > RESPONSE_BYTES {
            return Err(io::ErrorKind::InvalidData.into());
        }
        stream.read_exact(&mut byte)?;
        head.extend(byte);
    }
    Ok(head)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tabwire_api::{ErrorCode, Remedy, Step};

    /// A connection whose peer has sent a response.
    struct Peer<'a>(&'a [u8], Vec<u8>);

    impl Read for Peer<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.0.read(buffer)
        }
    }

    impl Write for Peer<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.1.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn exchange(response: &[u8]) -> (io::Result<Option<Failure>>, usize) {
        let upgrade =
            Upgrade { route: "/v1/x", protocol: "x", opening: "hello\n", timeout: Duration::from_secs(1) };
        let mut peer = Peer(response, Vec::new());
        let exchanged = upgrade.exchange(&mut peer);
        assert!(peer.1.starts_with(b"GET /v1/x HTTP/1.1\r\n") && peer.1.ends_with(b"\r\n\r\nhello\n"));
        (exchanged, peer.0.len())
    }

    #[test]
    fn an_upgrade_leaves_the_bytes_of_the_stream() {
        let (exchanged, left) = exchange(b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\nfirst");
        assert_eq!((exchanged.expect("upgraded"), left), (None, 5));
    }

    #[test]
    fn a_refusal_is_read_whole_whatever_braces_it_has() {
        let remedy = Remedy::new("Run {}.", [Step::action("snapshot")]);
        let refusal = Failure::new(ErrorCode::BadArgs, "A }} in the text.").with_remedy(remedy);
        let body = serde_json::to_string(&ErrorResponse { error: refusal.clone() }).expect("JSON");
        let length = body.len();
        let (exchanged, left) = exchange(
            format!("HTTP/1.1 400 Bad Request\r\nContent-Length: {length}\r\n\r\n{body}").as_bytes(),
        );
        assert_eq!((exchanged.expect("a refusal"), left), (Some(refusal), 0));
    }

    #[test]
    fn invalid_responses_are_errors() {
        for response in [
            "",
            "HTTP/1.1 500 Oops\r\n\r\n",
            "HTTP/1.1 500 Oops\r\ncontent-length: 9\r\n\r\n{}",
            "SSH-2.0\r\n\r\n",
        ] {
            assert!(exchange(response.as_bytes()).0.is_err(), "{response}");
        }
    }
}
