//! One complete response. Knows how it is written, not when it is given.

use std::borrow::Cow;

/// A complete response.
#[derive(Debug)]
pub(crate) struct Response {
    status: Cow<'static, str>,
    readers: Readers,
    headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
}

/// Which other origins may read a response.
#[derive(Debug)]
enum Readers {
    Everyone,
    Nobody,
    /// This origin, with its cookies.
    Trusted(String),
}

impl Response {
    /// A response of a content type.
    pub(crate) fn new(content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status: Cow::Borrowed("200 OK"),
            readers: Readers::Everyone,
            headers: Vec::new(),
            body: body.into(),
        }
        .with("content-type", content_type)
    }

    /// A plain text.
    pub(crate) fn text(body: impl Into<Vec<u8>>) -> Self {
        Self::new("text/plain; charset=utf-8", body)
    }

    /// A whole page.
    pub(crate) fn html(body: impl Into<Vec<u8>>) -> Self {
        Self::new("text/html; charset=utf-8", body)
    }

    /// A page with a title and a body, both already markup.
    pub(crate) fn page(title: &str, body: &str) -> Self {
        Self::html(format!(
            "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>{title}</title></head>\n<body>\n{body}\n</body>\n</html>\n"
        ))
    }

    /// A JSON value.
    pub(crate) fn json(value: &serde_json::Value) -> Self {
        Self::new("application/json; charset=utf-8", value.to_string())
    }

    /// A way to another address.
    pub(crate) fn redirect(status: impl Into<Cow<'static, str>>, location: impl Into<String>) -> Self {
        Self::text("").status(status).with("location", location)
    }

    /// Changes the status line.
    pub(crate) fn status(mut self, status: impl Into<Cow<'static, str>>) -> Self {
        self.status = status.into();
        self
    }

    /// Adds a header; what would break out of its line is left out.
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        let mut value = value.into();
        value.retain(|character| !character.is_control());
        self.headers.push((name, value));
        self
    }

    /// Makes it a file to be saved.
    pub(crate) fn attachment(self, name: &str) -> Self {
        let quoted = name.replace('\\', "\\\\").replace('"', "\\\"");
        self.with("content-disposition", format!("attachment; filename=\"{quoted}\""))
    }

    /// Lets no other origin read it.
    pub(crate) fn without_cors(mut self) -> Self {
        self.readers = Readers::Nobody;
        self
    }

    /// Lets one other origin read it with its cookies.
    pub(crate) fn for_origin(mut self, origin: &str) -> Self {
        self.readers = Readers::Trusted(origin.chars().filter(|character| !character.is_control()).collect());
        self
    }

    /// Writes the response head; every response is uncached and, unless said otherwise, readable from every site.
    pub(crate) fn head(&self) -> String {
        self.head_with_length(Some(self.body.len()))
    }

    /// Writes the head for a body of that many bytes, or for one that ends with the connection.
    pub(crate) fn head_with_length(&self, bytes: Option<usize>) -> String {
        let mut head = format!("HTTP/1.1 {}\r\ncache-control: no-store\r\n", self.status);
        match bytes {
            // These two must not say a length.
            Some(_) if self.status.starts_with("204") || self.status.starts_with("304") => {}
            Some(bytes) => head.push_str(&format!("content-length: {bytes}\r\n")),
            None => head.push_str("connection: close\r\n"),
        }
        match &self.readers {
            Readers::Everyone => head.push_str("access-control-allow-origin: *\r\n"),
            Readers::Nobody => {}
            Readers::Trusted(origin) => head.push_str(&format!(
                "access-control-allow-origin: {origin}\r\naccess-control-allow-credentials: true\r\nvary: origin\r\n"
            )),
        }
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        head
    }
}

/// Writes text so that it stays text inside of markup and of quoted attributes.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_cannot_break_out_of_its_line() {
        let head = Response::text("").attachment("a\"b\r\nset-cookie: c=d").head();
        assert!(head.contains("filename=\"a\\\"bset-cookie: c=d\"\r\n"), "{head}");
    }

    #[test]
    fn readers_are_everyone_nobody_or_one_with_cookies() {
        assert!(Response::text("").head().contains("access-control-allow-origin: *"));
        assert!(!Response::text("").without_cors().head().contains("access-control"));
        let head = Response::text("").for_origin("http://a.localhost:1").head();
        assert!(head.contains("access-control-allow-origin: http://a.localhost:1\r\n"), "{head}");
        assert!(head.contains("access-control-allow-credentials: true\r\n"), "{head}");
    }

    #[test]
    fn a_reply_without_body_says_no_length() {
        assert!(!Response::text("").status("204 No Content").head().contains("content-length"));
        assert!(Response::text("four").head().contains("content-length: 4\r\n"));
    }
}
