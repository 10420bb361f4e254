//! The head of one HTTP request to the debugging port.

use tabwire_api::HttpHead;
use tokio::io::{AsyncRead, AsyncReadExt};

/// Longest head of a request.
const HEAD_BYTES: usize = 16 * 1024;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct HttpRequest {
    pub(super) method: String,
    pub(super) path: String,
    headers: Vec<(String, String)>,
}

impl HttpRequest {
    /// Reads a head, and no byte after it; `None` when it is not HTTP, or the connection ends.
    pub(super) async fn read(stream: &mut (impl AsyncRead + Unpin)) -> Option<Self> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            if head.len() >= HEAD_BYTES {
                return None;
            }
            head.push(stream.read_u8().await.ok()?);
        }
        Self::parse(&head)
    }

    fn parse(message: &[u8]) -> Option<Self> {
        let head = HttpHead::parse(message)?;
        let (method, path) = head.request()?;
        let headers = head.headers().map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()));
        Some(Self { method: method.to_owned(), path: path.to_owned(), headers: headers.collect() })
    }

    /// A header's value, by its name in lower case.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// Whether the `Host` header names this machine. DNS rebinding sends the name of a web site.
    pub(super) fn has_loopback_host(&self) -> bool {
        let Some(host) = self.header("host") else { return true };
        let name = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => host,
        };
        let address = name.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
        name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(head: &str) -> HttpRequest {
        HttpRequest::parse(head.as_bytes()).unwrap()
    }

    #[test]
    fn only_loopback_hosts_are_accepted() {
        let found = request("GET /json/version HTTP/1.1\r\nHost: localhost:9222\r\n\r\n");
        assert_eq!((found.method.as_str(), found.path.as_str()), ("GET", "/json/version"));
        for (host, passes) in [
            ("127.0.0.1:9222", true),
            ("[::1]:9222", true),
            ("LOCALHOST", true),
            ("evil.test:9222", false),
            ("10.0.0.1:9222", false),
            ("localhost.evil.test", false),
        ] {
            let found = request(&format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"));
            assert_eq!(found.has_loopback_host(), passes, "{host}");
        }
        assert!(HttpRequest::parse(b"nonsense\r\n\r\n").is_none());
        assert!(HttpRequest::parse(b"GET / SPDY/3\r\n\r\n").is_none());
    }
}
