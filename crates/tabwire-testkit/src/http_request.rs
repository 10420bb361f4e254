//! Parses one HTTP/1.1 request for the test servers.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt};

/// Largest request body the fixture site echoes.
const REQUEST_BODY_BYTES: usize = 8 * 1024 * 1024;

/// Largest request head the fixture site and the fake browser read.
const REQUEST_HEAD_BYTES: usize = 64 * 1024;

/// A request: its head, and its body if it has a length.
#[derive(Debug)]
pub(crate) struct HttpRequest {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) query: String,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl HttpRequest {
    /// Reads the next request; `None` when the peer closed between two.
    pub(crate) async fn read(stream: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<Self>> {
        let mut left = REQUEST_HEAD_BYTES;
        let Some(first) = read_line(stream, &mut left).await? else { return Ok(None) };
        let mut words = first.split(' ');
        let (Some(method), Some(target)) = (words.next(), words.next()) else {
            return Err(invalid("request line"));
        };
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let mut request = Self {
            method: method.to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
            headers: Vec::new(),
            body: Vec::new(),
        };
        loop {
            let line = read_line(stream, &mut left).await?.ok_or_else(|| invalid("head"))?;
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').ok_or_else(|| invalid("header"))?;
            request.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        if let Some(length) = request.header("content-length") {
            let length: usize = length.parse().map_err(|_| invalid("content-length"))?;
            if length > REQUEST_BODY_BYTES {
                return Err(invalid("body length"));
            }
            request.body.resize(length, 0);
            stream.read_exact(&mut request.body).await?;
        }
        Ok(Some(request))
    }

    /// Finds a header by its lower-case name.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Finds a query parameter, undecoded.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        self.query.split('&').find_map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            (key == name).then_some(value)
        })
    }

    /// Finds a query parameter that is a number.
    pub(crate) fn number(&self, name: &str) -> Option<u32> {
        self.parameter(name)?.parse().ok()
    }

    /// The websocket key, if the request is a websocket upgrade.
    pub(crate) fn websocket_key(&self) -> Option<&str> {
        let upgrade = self.header("upgrade")?;
        if upgrade.eq_ignore_ascii_case("websocket") { self.header("sec-websocket-key") } else { None }
    }
}

async fn read_line(stream: &mut (impl AsyncBufRead + Unpin), left: &mut usize) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    let limit = u64::try_from(*left).unwrap_or(u64::MAX);
    let read = (&mut *stream).take(limit).read_until(b'\n', &mut line).await?;
    if read == 0 {
        return if *left == 0 { Err(invalid("head length")) } else { Ok(None) };
    }
    *left -= read;
    if line.pop() != Some(b'\n') {
        return Err(invalid("line"));
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    String::from_utf8(line).map(Some).map_err(|_| invalid("encoding"))
}

fn invalid(part: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("request has a bad {part}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read(text: &str) -> io::Result<Option<HttpRequest>> {
        HttpRequest::read(&mut text.as_bytes()).await
    }

    #[tokio::test]
    async fn a_request_is_split_into_its_parts() {
        let text = "POST /form?count=5&x HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi";
        let request = read(text).await.expect("valid").expect("present");
        assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/form"));
        assert_eq!(request.number("count"), Some(5));
        assert_eq!(request.header("host"), Some("a"));
        assert_eq!(request.body, b"hi");
    }

    #[tokio::test]
    async fn closed_peer_is_none_and_invalid_request_is_an_error() {
        assert!(read("").await.expect("closed").is_none());
        assert!(read("GET\r\n\r\n").await.is_err());
        assert!(read("GET / HTTP/1.1\r\nunfinished").await.is_err());
        let endless = format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(REQUEST_HEAD_BYTES));
        assert!(read(&endless).await.is_err());
    }
}
