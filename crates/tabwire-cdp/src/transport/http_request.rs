//! One HTTP/1.1 request and its response, over TCP or TLS. Dropping the future ends the connection.
//!
//! Grids and providers of browsers are reached so. Redirects are not followed: a redirect could lead a credential to
//! another host.

use std::fmt::{self, Write as _};
use std::time::Duration;

use http::HeaderMap;
use tabwire_api::HttpHead;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_websockets::Connector;
use url::{Host, Url};

use crate::deadline::Deadline;
use crate::transport::websocket::{ByteStream, choose_cryptography};

/// Timeout for connecting, with name lookup and TLS.
const CONNECT_DEADLINE: Duration = Duration::from_secs(10);

/// Bytes that are read at once.
const CHUNK: usize = 16 * 1024;

/// A request. Its URL, headers and body can hold credentials, so only scheme, host and port are shown.
#[derive(Clone)]
pub struct HttpRequest {
    /// `GET`, `POST` and so on.
    pub method: String,
    /// Where it goes. A user name and a password in it are not sent.
    pub url: Url,
    /// Further headers.
    pub headers: HeaderMap,
    /// The body, and its media type.
    pub body: Option<(&'static str, Vec<u8>)>,
    /// The longest response that is read.
    pub limit: usize,
}

/// A response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpResponse {
    /// The status.
    pub status: u16,
    /// The body.
    pub body: Vec<u8>,
}

/// Why there is no response.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// The server did not get the request.
    #[error("no connection: {0}")]
    NotSent(String),
    /// The server may have got the request, and may have acted on it.
    #[error("no response: {0}")]
    NoResponse(String),
}

impl HttpError {
    /// Whether the server may have got the request.
    #[must_use]
    pub const fn may_be_sent(&self) -> bool {
        matches!(self, Self::NoResponse(_))
    }
}

impl fmt::Debug for HttpRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let origin = self.url.origin().ascii_serialization();
        write!(formatter, "HttpRequest({} {origin})", self.method)
    }
}

impl HttpRequest {
    /// Sends the request on a connection of its own, and reads the response.
    ///
    /// # Errors
    /// When the server cannot be reached, or does not respond before the deadline.
    pub async fn send(&self, deadline: Deadline) -> Result<HttpResponse, HttpError> {
        let connecting = tokio::time::timeout(CONNECT_DEADLINE, self.connect());
        let mut stream = match tokio::time::timeout_at(deadline.instant(), connecting).await {
            Ok(Ok(connected)) => connected.map_err(|error| HttpError::NotSent(error.to_string()))?,
            _ => return Err(HttpError::NotSent("it did not accept the connection in time".to_owned())),
        };
        match tokio::time::timeout_at(deadline.instant(), self.exchange(&mut *stream)).await {
            Ok(responded) => responded.map_err(|error| HttpError::NoResponse(error.to_string())),
            Err(_) => Err(HttpError::NoResponse("the time is over".to_owned())),
        }
    }

    async fn connect(&self) -> std::io::Result<Box<dyn ByteStream>> {
        let host = match self.url.host().ok_or(std::io::ErrorKind::InvalidInput)? {
            Host::Domain(name) => name.to_owned(),
            Host::Ipv4(address) => address.to_string(),
            Host::Ipv6(address) => address.to_string(),
        };
        let port = self.url.port_or_known_default().unwrap_or(80);
        let stream = TcpStream::connect((host.as_str(), port)).await?;
        stream.set_nodelay(true)?;
        if self.url.scheme() != "https" {
            return Ok(Box::new(stream));
        }
        choose_cryptography();
        let connector = Connector::new().map_err(std::io::Error::other)?;
        Ok(Box::new(connector.wrap(&host, stream).await.map_err(std::io::Error::other)?))
    }

    /// The bytes of the request.
    fn encode(&self) -> Vec<u8> {
        let (host, port) = (self.url.host_str().unwrap_or_default(), self.url.port());
        let port = port.map(|port| format!(":{port}")).unwrap_or_default();
        let query = self.url.query().map(|query| format!("?{query}")).unwrap_or_default();
        let (method, path) = (&self.method, self.url.path());
        let mut head =
            format!("{method} {path}{query} HTTP/1.1\r\nhost: {host}{port}\r\nconnection: close\r\n");
        for (name, value) in &self.headers {
            // Writing to a string does not fail.
            let _ = write!(head, "{name}: {}\r\n", value.to_str().unwrap_or_default());
        }
        let (media_type, body) = self.body.as_ref().map_or(("", &[][..]), |(kind, body)| (*kind, body));
        if !media_type.is_empty() {
            let _ = write!(head, "content-type: {media_type}\r\n");
        }
        if !body.is_empty() || !matches!(method.as_str(), "GET" | "HEAD" | "DELETE") {
            let _ = write!(head, "content-length: {}\r\n", body.len());
        }
        head.push_str("accept: application/json\r\n\r\n");
        [head.as_bytes(), body].concat()
    }

    async fn exchange(&self, stream: &mut dyn ByteStream) -> std::io::Result<HttpResponse> {
        stream.write_all(&self.encode()).await?;
        stream.flush().await?;
        let mut received = Vec::new();
        let mut buffer = vec![0; CHUNK];
        loop {
            if let Some(response) = parse(&received, false)? {
                return Ok(response);
            }
            if received.len() > self.limit {
                return Err(std::io::Error::other("the response is too long"));
            }
            let read = match stream.read(&mut buffer).await {
                // Some servers close without the end mark of TLS; the length of the response shows whether it is whole.
                Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => 0,
                read => read?,
            };
            if read == 0 {
                let closed = || std::io::Error::other("it closed the connection without a whole response");
                return parse(&received, true)?.ok_or_else(closed);
            }
            received.extend_from_slice(buffer.get(..read).unwrap_or_default());
        }
    }
}

/// The response, once it is whole. `is_all`: the connection has ended.
fn parse(received: &[u8], is_all: bool) -> std::io::Result<Option<HttpResponse>> {
    let Some(head) = HttpHead::parse(received) else { return Ok(None) };
    let Some(status) = head.status() else {
        return Err(std::io::Error::other("it does not speak HTTP"));
    };
    let rest = received.get(head.length()..).unwrap_or_default();
    // RFC 9110, 15.2: any number of 1xx responses can come before the final one.
    if (100..200).contains(&status) {
        return parse(rest, is_all);
    }
    let is_chunked = head
        .header("transfer-encoding")
        .is_some_and(|coding| coding.to_ascii_lowercase().contains("chunked"));
    let body = if is_chunked {
        unchunk(rest)?
    } else if status == 204 {
        Some(Vec::new())
    } else {
        match head.message_length() {
            Some(length) => received.get(head.length()..length).map(<[u8]>::to_vec),
            None => is_all.then(|| rest.to_vec()),
        }
    };
    Ok(body.map(|body| HttpResponse { status, body }))
}

/// The content of a chunked body; `None` until its last chunk has arrived.
fn unchunk(mut rest: &[u8]) -> std::io::Result<Option<Vec<u8>>> {
    let bad = || std::io::Error::other("a chunk of the response is malformed");
    let mut body = Vec::new();
    loop {
        let Some(end) = rest.windows(2).position(|pair| pair == b"\r\n") else { return Ok(None) };
        let line = std::str::from_utf8(rest.get(..end).unwrap_or_default()).map_err(|_| bad())?;
        let digits = line.split(';').next().unwrap_or_default().trim();
        let length = usize::from_str_radix(digits, 16).map_err(|_| bad())?;
        rest = rest.get(end + 2..).unwrap_or_default();
        if length == 0 {
            return Ok(Some(body));
        }
        let whole = length.checked_add(2).ok_or_else(bad)?;
        let Some(chunk) = rest.get(..whole) else { return Ok(None) };
        body.extend_from_slice(chunk.get(..length).unwrap_or_default());
        rest = rest.get(whole..).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;
    use std::thread::JoinHandle;

    use super::*;

    /// Serves one connection with these bytes; returns the request that it got.
    fn serve(response: &'static str) -> (u16, JoinHandle<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a client");
            let mut received = vec![0; 64 * 1024];
            let read = stream.read(&mut received).expect("readable");
            stream.write_all(response.as_bytes()).expect("written");
            String::from_utf8_lossy(&received[..read]).into_owned()
        });
        (port, server)
    }

    fn request(port: u16, method: &str, body: Option<&str>) -> HttpRequest {
        HttpRequest {
            method: method.to_owned(),
            url: Url::parse(&format!("http://user:word@127.0.0.1:{port}/a%20b?c=d")).expect("a URL"),
            headers: HeaderMap::new(),
            body: body.map(|body| ("application/json; charset=utf-8", body.as_bytes().to_vec())),
            limit: 1024,
        }
    }

    fn soon() -> Deadline {
        Deadline::after(Duration::from_secs(5))
    }

    #[tokio::test]
    async fn responses_with_a_length_in_chunks_and_to_the_end_are_read() {
        for response in [
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\n\r\n",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\nhello",
        ] {
            let (port, server) = serve(response);
            let found = request(port, "POST", Some("{}")).send(soon()).await.expect("a response");
            assert_eq!((found.status, found.body.as_slice()), (200, &b"hello"[..]), "{response}");
            let received = server.join().expect("served");
            assert!(received.starts_with("POST /a%20b?c=d HTTP/1.1\r\nhost: 127.0.0.1:"), "{received}");
            assert!(
                received.contains("content-type: application/json; charset=utf-8\r\ncontent-length: 2\r\n")
            );
            assert!(!received.contains("user") && !received.contains("word"), "{received}");
        }
    }

    #[tokio::test]
    async fn an_error_says_whether_the_request_may_have_arrived() {
        let (port, _server) = serve("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf");
        let error = request(port, "DELETE", None).send(soon()).await.expect_err("half a response");
        assert!(error.may_be_sent(), "{error}");
        let closed = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = closed.local_addr().expect("an address").port();
        drop(closed);
        let error = request(port, "DELETE", None).send(soon()).await.expect_err("no server listens");
        assert!(!error.may_be_sent(), "{error}");
        let shown = format!("{:?}", request(port, "GET", None));
        assert!(!shown.contains("word") && !shown.contains("c=d"), "{shown}");
    }

    #[test]
    fn malformed_and_endless_responses_are_errors() {
        for bad in ["SSH-2.0\r\n\r\n", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"] {
            assert!(parse(bad.as_bytes(), true).is_err(), "{bad}");
        }
        assert!(parse(b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nab", true).expect("parsed").is_none());
    }
}
