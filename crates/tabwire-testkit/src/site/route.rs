//! Routes a request of the fixture site to its response.

use std::time::Duration;

use crate::limits as bounds;

use super::http::incoming::Incoming;
use super::http::response::Response;
use super::page::{
    account, cors, download, echo, exfiltration, framed_pages, generated_pages, policy_pages,
    prompt_injection, redirects, static_pages,
};

/// Most events one `/events/stream` sends.
const SITE_STREAM_EVENTS: u32 = 1_000;

/// The reaction to one request.
#[derive(Debug)]
pub(super) enum SiteResponse {
    /// Send this after the delay.
    Response { after: Duration, response: Response },
    /// Send this when the gate is opened.
    Held { gate: String, response: Response },
    /// Send a head, then a body piece by piece.
    SlowBody(SlowBody),
    /// Send this many server-sent events, then end the connection.
    Stream { events: u32 },
    /// Upgrade to a websocket that echoes every message.
    Echo { key: String },
    /// Send this and then nothing more, for as long as the peer waits.
    Hang { first: Vec<u8> },
    /// Close the connection without a response.
    Close,
}

/// A body that is sent slowly and may end too early.
#[derive(Debug)]
pub(super) struct SlowBody {
    /// The head, without a body.
    pub(super) response: Response,
    /// The length in the head; `None` if the body ends with the connection.
    pub(super) promised: Option<usize>,
    /// The number of bytes that are sent.
    pub(super) sent: usize,
    /// The duration.
    pub(super) takes: Duration,
}

impl From<Response> for SiteResponse {
    fn from(response: Response) -> Self {
        Self::Response { after: Duration::ZERO, response }
    }
}

/// Decides the response to one request.
pub(super) fn respond(incoming: Incoming<'_>) -> SiteResponse {
    find_response(incoming).unwrap_or_else(|| {
        Response::html("<!doctype html><title>Not found</title><p>no such page</p>")
            .status("404 Not Found")
            .into()
    })
}

fn find_response(incoming: Incoming<'_>) -> Option<SiteResponse> {
    find_connection_response(incoming)
        .or_else(|| find_slow(incoming))
        .or_else(|| download::find(incoming))
        .or_else(|| account::find(incoming).map(SiteResponse::from))
        .or_else(|| cors::find(incoming).map(SiteResponse::from))
        .or_else(|| framed_pages::find(incoming).map(SiteResponse::from))
        .or_else(|| echo::find(incoming).map(SiteResponse::from))
        .or_else(|| redirects::find(incoming).map(SiteResponse::from))
        .or_else(|| prompt_injection::find(incoming).map(SiteResponse::from))
        .or_else(|| exfiltration::find(incoming).map(SiteResponse::from))
        .or_else(|| policy_pages::find(incoming).map(SiteResponse::from))
        .or_else(|| generated_pages::find(incoming).map(SiteResponse::from))
        .or_else(|| static_pages::find(incoming.path(), incoming.port).map(SiteResponse::from))
}

/// Streams, websockets, and connections without a response.
fn find_connection_response(incoming: Incoming<'_>) -> Option<SiteResponse> {
    let request = incoming.request;
    match incoming.path() {
        "/events/stream" => {
            Some(SiteResponse::Stream { events: incoming.number("count", 5, SITE_STREAM_EVENTS) })
        }
        "/websocket/echo" => request.websocket_key().map(|key| SiteResponse::Echo { key: key.to_owned() }),
        "/held" => {
            let response = static_pages::find("/moment", incoming.port)?;
            Some(SiteResponse::Held { gate: incoming.text("gate").unwrap_or_default(), response })
        }
        "/hang" => Some(SiteResponse::Hang { first: Vec::new() }),
        "/hang/body" => {
            let head = Response::html("").head_with_length(Some(1_000));
            let start = "<!doctype html><title>Unfinished</title><p id=\"text\">only the start</p>";
            Some(SiteResponse::Hang { first: [head, start.to_owned()].concat().into_bytes() })
        }
        "/hang/up" => Some(SiteResponse::Close),
        _ => None,
    }
}

/// Delayed responses: `?milliseconds=N`, default one second.
fn find_slow(incoming: Incoming<'_>) -> Option<SiteResponse> {
    let response = match incoming.path() {
        "/slow" => Response::html("<!doctype html><title>Slow</title><p id=\"text\">slow response</p>"),
        "/slow/data" => Response::text("slow data"),
        "/slow/image.svg" => static_pages::find("/image.svg", incoming.port)?,
        "/slow/script.js" => {
            Response::new("text/javascript", "window.slowScripts = (window.slowScripts ?? 0) + 1;\n")
        }
        "/slow/style.css" => Response::new("text/css", "#styled { color: rgb(0, 128, 0); }\n"),
        _ => return None,
    };
    let after = incoming.number("milliseconds", 1_000, u32::MAX);
    let after = Duration::from_millis(u64::from(after)).min(bounds::SITE_SLOWEST);
    Some(SiteResponse::Response { after, response })
}

#[cfg(test)]
pub(super) mod tests {
    use crate::http_request::HttpRequest;

    use super::super::request_counts::RequestCounts;
    use super::*;

    /// Sends a request to the site without a socket.
    pub(crate) async fn ask(text: &str) -> SiteResponse {
        let request = HttpRequest::read(&mut text.as_bytes()).await.expect("valid").expect("present");
        let request_counts = RequestCounts::default();
        request_counts.add(&request.path);
        respond(Incoming { request: &request, head: text, port: 4711, request_counts: &request_counts })
    }

    /// The head and the body of a single response.
    pub(crate) async fn response(text: &str) -> (String, String) {
        match ask(text).await {
            SiteResponse::Response { response, .. } => {
                (response.head(), String::from_utf8(response.body).expect("text"))
            }
            other => panic!("unexpected {other:?}"),
        }
    }

    /// The same for a GET of a URL.
    pub(crate) async fn get(address: &str) -> (String, String) {
        response(&format!("GET {address} HTTP/1.1\r\n\r\n")).await
    }

    #[tokio::test]
    async fn pages_contain_the_port_for_other_sites() {
        assert!(get("/frames").await.1.contains("http://b.localhost:4711/frames/middle"));
        assert!(get("/frames/middle").await.1.contains("http://c.localhost:4711/frames/inner"));
    }

    #[tokio::test]
    async fn the_bench_page_has_206_elements() {
        let (_, page) = get("/bench").await;
        let count =
            ["<h1", "<h2", "<a ", "<button"].iter().map(|tag| page.matches(tag).count()).sum::<usize>();
        assert_eq!(count, 206);
    }

    #[tokio::test]
    async fn an_unknown_path_is_not_found() {
        let (head, body) = get("/nowhere").await;
        assert!(head.starts_with("HTTP/1.1 404") && body.contains("no such page"), "{head}");
    }

    #[tokio::test]
    async fn slow_responses_wait_as_requested_up_to_a_limit() {
        let after = |reaction| match reaction {
            SiteResponse::Response { after, .. } => after,
            other => panic!("unexpected {other:?}"),
        };
        let asked = ask("GET /slow/data?milliseconds=250 HTTP/1.1\r\n\r\n").await;
        assert_eq!(after(asked), Duration::from_millis(250));
        let most = ask("GET /slow?milliseconds=4000000000 HTTP/1.1\r\n\r\n").await;
        assert_eq!(after(most), bounds::SITE_SLOWEST);
    }

    #[tokio::test]
    async fn some_requests_get_no_response() {
        assert!(
            matches!(ask("GET /hang HTTP/1.1\r\n\r\n").await, SiteResponse::Hang { first } if first.is_empty())
        );
        assert!(
            matches!(ask("GET /hang/body HTTP/1.1\r\n\r\n").await, SiteResponse::Hang { first } if !first.is_empty())
        );
        assert!(
            matches!(ask("GET /held?gate=one HTTP/1.1\r\n\r\n").await, SiteResponse::Held { gate, .. } if gate == "one")
        );
        assert!(matches!(ask("GET /hang/up HTTP/1.1\r\n\r\n").await, SiteResponse::Close));
    }
}
