//! One complete HTTP response.

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
    SameOrigin,
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

    /// A complete page.
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

    /// A redirect.
    pub(crate) fn redirect(status: impl Into<Cow<'static, str>>, location: impl Into<String>) -> Self {
        Self::text("").status(status).with("location", location)
    }

    /// Changes the status line.
    pub(crate) fn status(mut self, status: impl Into<Cow<'static, str>>) -> Self {
        self.status = status.into();
        self
    }

    /// Adds a header, without line breaks in its value.
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        let mut value = value.into();
        value.retain(|character| !character.is_control());
        self.headers.push((name, value));
        self
    }

    /// Makes it a download.
    pub(crate) fn attachment(self, name: &str) -> Self {
        let quoted = name.replace('\\', "\\\\").replace('"', "\\\"");
        self.with("content-disposition", format!("attachment; filename=\"{quoted}\""))
    }

    /// Prevents other origins from reading it.
    pub(crate) fn without_cors(mut self) -> Self {
        self.readers = Readers::SameOrigin;
        self
    }

    /// Allows one other origin to read it with cookies.
    pub(crate) fn for_origin(mut self, origin: &str) -> Self {
        self.readers = Readers::Trusted(origin.chars().filter(|character| !character.is_control()).collect());
        self
    }

    /// The response head. Every response is uncached and, by default, readable from every site.
    pub(crate) fn head(&self) -> String {
        self.head_with_length(Some(self.body.len()))
    }

    /// The head for a body of that many bytes, or for a body that ends with the connection.
    pub(crate) fn head_with_length(&self, bytes: Option<usize>) -> String {
        let mut head = format!("HTTP/1.1 {}\r\ncache-control: no-store\r\n", self.status);
        match bytes {
            // These two must not have a length.
            Some(_) if self.status.starts_with("204") || self.status.starts_with("304") => {}
            Some(bytes) => head.push_str(&format!("content-length: {bytes}\r\n")),
            None => head.push_str("connection: close\r\n"),
        }
        match &self.readers {
            Readers::Everyone => head.push_str("access-control-allow-origin: *\r\n"),
            Readers::SameOrigin => {}
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

/// Escapes text for markup and quoted attributes.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_values_have_no_line_breaks() {
        let head = Response::text("").attachment("a\"b\r\nset-cookie: c=d").head();
        assert!(head.contains("filename=\"a\\\"bset-cookie: c=d\"\r\n"), "{head}");
    }

    #[test]
    fn cors_headers_match_the_allowed_origins() {
        assert!(Response::text("").head().contains("access-control-allow-origin: *"));
        assert!(!Response::text("").without_cors().head().contains("access-control"));
        let head = Response::text("").for_origin("http://a.localhost:1").head();
        assert!(head.contains("access-control-allow-origin: http://a.localhost:1\r\n"), "{head}");
        assert!(head.contains("access-control-allow-credentials: true\r\n"), "{head}");
    }

    #[test]
    fn response_without_body_has_no_length() {
        assert!(!Response::text("").status("204 No Content").head().contains("content-length"));
        assert!(Response::text("four").head().contains("content-length: 4\r\n"));
    }
}
