//! Decides what the fixture site answers to a request. Knows nothing of sockets or time.

use std::time::Duration;

use crate::http_request::HttpRequest;
use crate::limits;

use super::page::PAGES;

/// What to do with one request.
#[derive(Debug)]
pub(crate) enum Answer {
    /// Send this after the delay.
    Reply { after: Duration, reply: Reply },
    /// Send this many server-sent events, then end the connection.
    Stream { events: u32 },
    /// Become a websocket that sends every message back.
    Echo { key: String },
}

/// A complete response.
#[derive(Debug)]
pub(crate) struct Reply {
    status: &'static str,
    headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    fn text(body: impl Into<Vec<u8>>) -> Self {
        Self { status: "200 OK", headers: Vec::new(), body: body.into() }
            .with("content-type", "text/plain; charset=utf-8")
    }

    fn html(body: impl Into<Vec<u8>>) -> Self {
        Self { status: "200 OK", headers: Vec::new(), body: body.into() }
            .with("content-type", "text/html; charset=utf-8")
    }

    fn status(mut self, status: &'static str) -> Self {
        self.status = status;
        self
    }

    fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    fn attachment(self, name: &str) -> Self {
        self.with("content-disposition", format!("attachment; filename=\"{name}\""))
    }

    /// Writes the response head; every answer is uncached and readable from every site.
    pub(crate) fn head(&self) -> String {
        let mut head = format!(
            "HTTP/1.1 {}\r\ncontent-length: {}\r\ncache-control: no-store\r\naccess-control-allow-origin: *\r\n",
            self.status,
            self.body.len()
        );
        for (name, value) in &self.headers {
            head.push_str(name);
            head.push_str(": ");
            head.push_str(value);
            head.push_str("\r\n");
        }
        head.push_str("\r\n");
        head
    }
}

/// Decides the answer to one request.
pub(crate) fn answer(request: &HttpRequest, port: u16) -> Answer {
    if request.path == "/events/stream" {
        return Answer::Stream {
            events: request.number("count").unwrap_or(5).min(limits::SITE_STREAM_EVENTS),
        };
    }
    if request.path == "/websocket/echo"
        && let Some(key) = request.websocket_key()
    {
        return Answer::Echo { key: key.to_owned() };
    }
    let after = match request.path.as_str() {
        "/slow" => Duration::from_millis(u64::from(request.number("milliseconds").unwrap_or(1_000))),
        _ => Duration::ZERO,
    };
    Answer::Reply { after: after.min(limits::SITE_SLOWEST), reply: reply(request, port) }
}

fn reply(request: &HttpRequest, port: u16) -> Reply {
    if let Some(page) = PAGES.iter().find(|page| page.path == request.path) {
        let body = page.text.replace("{{port}}", &port.to_string());
        let reply = Reply { status: "200 OK", headers: Vec::new(), body: body.into() };
        return reply.with("content-type", page.content_type).with("service-worker-allowed", "/");
    }
    match request.path.as_str() {
        "/slow" => Reply::html("<!doctype html><title>Slow</title><p id=\"text\">slow answer</p>"),
        "/api/echo" => Reply::text(format!("echo {}", request.parameter("value").unwrap_or_default()))
            .with("x-fixture", "real"),
        "/api/headers" => Reply::text(request.header("x-added").unwrap_or("absent")),
        "/redirect" => Reply::text("").status("302 Found").with("location", "/plain"),
        "/download/report.txt" => Reply::text("report content\n").attachment("report.txt"),
        "/download/plain.txt" => Reply::text("plain content\n"),
        "/download/large.bin" => Reply::text(vec![b'0'; 1024 * 1024]).attachment("large.bin"),
        "/form/submit" => Reply::html(form_page(&request.body)),
        "/cookie/show" => Reply::text(request.header("cookie").unwrap_or("none")),
        "/cookie/set" => cookie(request),
        _ => {
            Reply::html("<!doctype html><title>Not found</title><p>no such page</p>").status("404 Not Found")
        }
    }
}

fn cookie(request: &HttpRequest) -> Reply {
    let name = request.parameter("name").unwrap_or("name");
    let value = request.parameter("value").unwrap_or("value");
    Reply::html("<!doctype html><title>Cookie set</title>")
        .with("set-cookie", format!("{name}={value}; Path=/"))
}

fn form_page(body: &[u8]) -> String {
    let fields = String::from_utf8_lossy(body).replace('&', "&amp;").replace('<', "&lt;");
    format!("<!doctype html><title>Sent</title><h1>Sent</h1><pre id=\"fields\">{fields}</pre>")
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn body(path: &str) -> String {
        let text = format!("GET {path} HTTP/1.1\r\n\r\n");
        let request = HttpRequest::read(&mut text.as_bytes()).await.expect("valid").expect("present");
        match answer(&request, 4711) {
            Answer::Reply { reply, .. } => String::from_utf8(reply.body).expect("text"),
            other => panic!("unexpected {other:?}"),
        }
    }

    #[tokio::test]
    async fn pages_know_the_port_of_their_other_sites() {
        assert!(body("/frames").await.contains("http://b.localhost:4711/frames/middle"));
        assert!(body("/frames/middle").await.contains("http://c.localhost:4711/frames/inner"));
    }

    #[tokio::test]
    async fn the_bench_page_has_206_elements() {
        let page = body("/bench").await;
        let count =
            ["<h1", "<h2", "<a ", "<button"].iter().map(|tag| page.matches(tag).count()).sum::<usize>();
        assert_eq!(count, 206);
    }

    #[tokio::test]
    async fn an_unknown_path_is_not_found() {
        assert!(body("/nowhere").await.contains("no such page"));
    }
}
