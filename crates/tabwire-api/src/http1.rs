//! Parses the head of an HTTP/1 message. Local sockets and debugging ports need no more of HTTP.

/// Ends the head of a message.
const HEAD_END: &[u8] = b"\r\n\r\n";

/// The head of a request or a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HttpHead<'a> {
    start_line: &'a str,
    headers: &'a str,
    length: usize,
}

impl<'a> HttpHead<'a> {
    /// Parses the start of a message; `None` until the head is complete, or when it is not UTF-8.
    #[must_use]
    pub fn parse(message: &'a [u8]) -> Option<Self> {
        let end = message.windows(HEAD_END.len()).position(|bytes| bytes == HEAD_END)?;
        let head = std::str::from_utf8(message.get(..end)?).ok()?;
        let (start_line, headers) = head.split_once("\r\n").unwrap_or((head, ""));
        Some(Self { start_line, headers, length: end + HEAD_END.len() })
    }

    /// The length of the head; the body follows.
    #[must_use]
    pub const fn length(&self) -> usize {
        self.length
    }

    /// The status of a response; `None` if this is no HTTP/1 response.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        self.start_line.strip_prefix("HTTP/1.")?.split(' ').nth(1)?.parse().ok()
    }

    /// Method and path of a request; `None` if this is no HTTP/1 request.
    #[must_use]
    pub fn request(&self) -> Option<(&'a str, &'a str)> {
        let mut words = self.start_line.split(' ');
        let (method, path) = (words.next()?, words.next()?);
        words.next()?.starts_with("HTTP/1.").then_some((method, path))
    }

    /// All headers, in order.
    pub fn headers(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let fields = self.headers.split("\r\n").filter_map(|line| line.split_once(':'));
        fields.map(|(name, value)| (name.trim(), value.trim()))
    }

    /// The value of a header; its name is case-insensitive.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&'a str> {
        self.headers().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// The length of head and body together; `None` without a valid `Content-Length`.
    #[must_use]
    pub fn message_length(&self) -> Option<usize> {
        self.length.checked_add(self.header("content-length")?.parse().ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_responses() {
        let message = b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\nX: a: b\r\n\r\ntrue";
        let head = HttpHead::parse(message).expect("a head");
        assert_eq!((head.status(), head.message_length()), (Some(200), Some(message.len())));
        assert_eq!((head.header("Content-Length"), head.header("x")), (Some("4"), Some("a: b")));
        assert_eq!(&message[head.length()..], b"true");
        assert_eq!(head.request(), None);
    }

    #[test]
    fn parses_requests() {
        let head =
            HttpHead::parse(b"GET /json/version HTTP/1.1\r\nHost: localhost:9222\r\n\r\n").expect("a head");
        assert_eq!((head.request(), head.status()), (Some(("GET", "/json/version")), None));
        assert_eq!((head.header("host"), head.message_length()), (Some("localhost:9222"), None));
        assert_eq!(HttpHead::parse(b"GET / SPDY/3\r\n\r\n").and_then(|head| head.request()), None);
    }

    #[test]
    fn incomplete_and_invalid_heads_are_refused() {
        for message in [&b"HTTP/1.1 200 OK\r\n"[..], b"", b"\xff\r\n\r\n"] {
            assert_eq!(HttpHead::parse(message), None);
        }
    }
}
