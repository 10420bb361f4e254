//! Responses with a given status, and redirects of every kind.

use crate::site::http::incoming::Incoming;
use crate::site::http::response::{Response, escape};
use crate::site::limits;

/// The response for a path of this family.
pub(crate) fn find(incoming: Incoming<'_>) -> Option<Response> {
    let to = || incoming.text("to").unwrap_or_else(|| "/plain".to_owned());
    Some(match incoming.path() {
        "/status" => status(incoming),
        "/redirect" => Response::redirect("302 Found", "/plain"),
        "/redirect/to" => Response::redirect(status_line(incoming.number("status", 302, 399)), to()),
        "/redirect/chain" => chain(incoming),
        "/redirect/loop" => Response::redirect("302 Found", "/redirect/loop"),
        "/redirect/meta" => Response::html(format!(
            "<!doctype html><title>Going</title><meta http-equiv=\"refresh\" content=\"0; url={}\"><p>going</p>",
            escape(&to())
        )),
        "/redirect/script" => script(incoming, &to()),
        _ => return None,
    })
}

/// `?code=503`: a page with that status, at least 200.
fn status(incoming: Incoming<'_>) -> Response {
    let code = incoming.number("code", 200, 999).max(200);
    let line = status_line(code);
    if matches!(code, 204 | 205 | 304) {
        return Response::text("").status(line);
    }
    let text = escape(&line);
    Response::page(&text, &format!("<h1 id=\"status\">{code}</h1>\n<p>{text}</p>")).status(line)
}

fn status_line(code: u32) -> String {
    let words = match code {
        200 => "OK",
        201 => "Created",
        204 => "No Content",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        410 => "Gone",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Status",
    };
    format!("{code} {words}")
}

/// `?count=N&to=/plain`: that many redirects; with `across`, each leads to another site.
fn chain(incoming: Incoming<'_>) -> Response {
    let count = incoming.number("count", 3, limits::REDIRECTS);
    let to = incoming.request.parameter("to").unwrap_or("/plain");
    if count <= 1 {
        return Response::redirect("302 Found", incoming.text("to").unwrap_or_else(|| to.to_owned()));
    }
    let left = count - 1;
    let next = format!("/redirect/chain?count={left}&to={to}");
    if incoming.text("across").is_none() {
        return Response::redirect("302 Found", next);
    }
    let site = ["a", "b", "c"].get(left as usize % 3).copied().unwrap_or("a");
    Response::redirect("302 Found", format!("http://{site}.localhost:{}{next}&across=yes", incoming.port))
}

/// `?to=/plain&milliseconds=N`: a page whose script navigates.
fn script(incoming: Incoming<'_>, to: &str) -> Response {
    let delay = incoming.number("milliseconds", 0, u32::MAX);
    // As JSON, with `<` escaped, which could end the script.
    let to = serde_json::Value::from(to).to_string().replace('<', "\\u003c");
    Response::page(
        "Going",
        &format!("<p>going</p>\n<script>setTimeout(() => {{ location.href = {to}; }}, {delay});</script>"),
    )
}

#[cfg(test)]
mod tests {
    use crate::site::route::tests::get;

    async fn location(address: &str) -> String {
        let (head, _) = get(address).await;
        let line = head.lines().find_map(|line| line.strip_prefix("location: ")).map(str::to_owned);
        line.unwrap_or_else(|| panic!("no location: {head}"))
    }

    #[tokio::test]
    async fn status_is_the_requested_one() {
        assert!(get("/status?code=503").await.0.starts_with("HTTP/1.1 503 Service Unavailable\r\n"));
        let (head, body) = get("/status?code=204").await;
        assert!(head.starts_with("HTTP/1.1 204 No Content\r\n") && body.is_empty(), "{head}");
        assert!(get("/status?code=7").await.0.starts_with("HTTP/1.1 200"));
    }

    #[tokio::test]
    async fn redirect_chain_counts_down() {
        assert_eq!(location("/redirect/chain?count=2&to=/form").await, "/redirect/chain?count=1&to=/form");
        assert_eq!(location("/redirect/chain?count=1&to=%2Fform%3Fx").await, "/form?x");
        let next = location("/redirect/chain?count=3&across=yes").await;
        assert_eq!(next, "http://c.localhost:4711/redirect/chain?count=2&to=/plain&across=yes");
    }

    #[tokio::test]
    async fn redirects_have_any_target_and_status() {
        assert_eq!(location("/redirect/to?to=file%3A%2F%2F%2Fetc%2Fpasswd").await, "file:///etc/passwd");
        assert!(get("/redirect/to?status=308").await.0.starts_with("HTTP/1.1 308 Permanent Redirect"));
        assert!(get("/redirect/script?to=%3C/script%3E").await.1.contains("\"\\u003c/script>\""));
    }
}
