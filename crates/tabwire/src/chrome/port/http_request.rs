//! The head of one HTTP request, as far as a debugging port needs it. Knows nothing of what the paths mean.

use tokio::io::{AsyncRead, AsyncReadExt};

use crate::limits::CHROME_HEAD_BYTES;

/// A request's head.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct HttpRequest {
    pub(super) method: String,
    pub(super) path: String,
    headers: Vec<(String, String)>,
}

impl HttpRequest {
    /// Reads a head and not a byte further; none when the other end says something else, or nothing.
    pub(super) async fn read(stream: &mut (impl AsyncRead + Unpin)) -> Option<Self> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            if head.len() >= CHROME_HEAD_BYTES {
                return None;
            }
            head.push(stream.read_u8().await.ok()?);
        }
        Self::parse(std::str::from_utf8(&head).ok()?)
    }

    fn parse(head: &str) -> Option<Self> {
        let mut lines = head.split("\r\n");
        let mut words = lines.next()?.split(' ');
        let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
        if !words.next()?.starts_with("HTTP/1.") {
            return None;
        }
        let headers = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        Some(Self { method, path, headers })
    }

    /// A header's value, by its name in lower case.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// Whether the sender names this machine: a web page that had its own name point here does not.
    pub(super) fn names_this_machine(&self) -> bool {
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
        HttpRequest::parse(head).unwrap()
    }

    #[test]
    fn a_head_is_read_and_only_loopback_names_pass() {
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
            assert_eq!(found.names_this_machine(), passes, "{host}");
        }
        assert!(HttpRequest::parse("nonsense\r\n\r\n").is_none());
        assert!(HttpRequest::parse("GET / SPDY/3\r\n\r\n").is_none());
    }
}
