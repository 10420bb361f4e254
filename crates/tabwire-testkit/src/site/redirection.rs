//! Statuses by number and ways to other addresses. Knows nothing of what waits there.

use super::limits;
use super::question::Question;
use super::reply::{Reply, escape};

/// Finds the answer to a path of this family.
pub(super) fn find(question: Question<'_>) -> Option<Reply> {
    let to = || question.text("to").unwrap_or_else(|| "/plain".to_owned());
    Some(match question.path() {
        "/status" => status(question),
        "/redirect" => Reply::redirect("302 Found", "/plain"),
        "/redirect/to" => Reply::redirect(status_line(question.number("status", 302, 399)), to()),
        "/redirect/chain" => chain(question),
        "/redirect/loop" => Reply::redirect("302 Found", "/redirect/loop"),
        "/redirect/meta" => Reply::html(format!(
            "<!doctype html><title>Going</title><meta http-equiv=\"refresh\" content=\"0; url={}\"><p>going</p>",
            escape(&to())
        )),
        "/redirect/script" => script(question, &to()),
        _ => return None,
    })
}

/// `?code=503`: a page with that status; those below 200 are not for pages.
fn status(question: Question<'_>) -> Reply {
    let code = question.number("code", 200, 999).max(200);
    let line = status_line(code);
    if matches!(code, 204 | 205 | 304) {
        return Reply::text("").status(line);
    }
    let text = escape(&line);
    Reply::page(&text, &format!("<h1 id=\"status\">{code}</h1>\n<p>{text}</p>")).status(line)
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

/// `?count=N&to=/plain`: that many redirects; with `across`, each one leads to another site.
fn chain(question: Question<'_>) -> Reply {
    let count = question.number("count", 3, limits::REDIRECTS);
    let to = question.request.parameter("to").unwrap_or("/plain");
    if count <= 1 {
        return Reply::redirect("302 Found", question.text("to").unwrap_or_else(|| to.to_owned()));
    }
    let left = count - 1;
    let next = format!("/redirect/chain?count={left}&to={to}");
    if question.text("across").is_none() {
        return Reply::redirect("302 Found", next);
    }
    let site = ["a", "b", "c"].get(left as usize % 3).copied().unwrap_or("a");
    Reply::redirect("302 Found", format!("http://{site}.localhost:{}{next}&across=yes", question.port))
}

/// `?to=/plain&milliseconds=N`: the page's own script leaves.
fn script(question: Question<'_>, to: &str) -> Reply {
    let delay = question.number("milliseconds", 0, u32::MAX);
    // As JSON and without the one letter that could end the script.
    let to = serde_json::Value::from(to).to_string().replace('<', "\\u003c");
    Reply::page(
        "Going",
        &format!("<p>going</p>\n<script>setTimeout(() => {{ location.href = {to}; }}, {delay});</script>"),
    )
}

#[cfg(test)]
mod tests {
    use super::super::answer::tests::get;

    async fn location(address: &str) -> String {
        let (head, _) = get(address).await;
        let line = head.lines().find_map(|line| line.strip_prefix("location: ")).map(str::to_owned);
        line.unwrap_or_else(|| panic!("no location: {head}"))
    }

    #[tokio::test]
    async fn a_status_is_what_was_asked_for() {
        assert!(get("/status?code=503").await.0.starts_with("HTTP/1.1 503 Service Unavailable\r\n"));
        let (head, body) = get("/status?code=204").await;
        assert!(head.starts_with("HTTP/1.1 204 No Content\r\n") && body.is_empty(), "{head}");
        assert!(get("/status?code=7").await.0.starts_with("HTTP/1.1 200"));
    }

    #[tokio::test]
    async fn a_chain_counts_down_to_its_end() {
        assert_eq!(location("/redirect/chain?count=2&to=/form").await, "/redirect/chain?count=1&to=/form");
        assert_eq!(location("/redirect/chain?count=1&to=%2Fform%3Fx").await, "/form?x");
        let next = location("/redirect/chain?count=3&across=yes").await;
        assert_eq!(next, "http://c.localhost:4711/redirect/chain?count=2&to=/plain&across=yes");
    }

    #[tokio::test]
    async fn redirects_lead_anywhere_with_any_status() {
        assert_eq!(location("/redirect/to?to=file%3A%2F%2F%2Fetc%2Fpasswd").await, "file:///etc/passwd");
        assert!(get("/redirect/to?status=308").await.0.starts_with("HTTP/1.1 308 Permanent Redirect"));
        assert!(get("/redirect/script?to=%3C/script%3E").await.1.contains("\"\\u003c/script>\""));
    }
}
