//! Downloads with all kinds of headers and file names.

use std::time::Duration;

use crate::limits as bounds;

use crate::site::http::incoming::Incoming;
use crate::site::http::response::Response;
use crate::site::limits;
use crate::site::route::{SiteResponse, SlowBody};

/// The response for a path of this family.
pub(crate) fn find(incoming: Incoming<'_>) -> Option<SiteResponse> {
    let response = match incoming.path() {
        "/download/report.txt" => Response::text("report content\n").attachment("report.txt"),
        "/download/plain.txt" => Response::text("plain content\n"),
        "/download/large.bin" => Response::text(vec![b'0'; 1024 * 1024]).attachment("large.bin"),
        "/download/named" => named(incoming),
        "/download/unknown" => Response::new("application/octet-stream", "unknown content\n"),
        "/download/redirect" => Response::redirect("302 Found", "/download/named?name=redirected.txt"),
        "/download/private" => private(incoming),
        "/download/posted" => {
            Response::text(incoming.field("text").unwrap_or_default()).attachment("posted.txt")
        }
        "/download/slow" => {
            let bytes = size(incoming);
            return Some(slow_body(incoming, "slow.bin", Some(bytes), bytes));
        }
        "/download/broken" => {
            let bytes = size(incoming);
            let after =
                incoming.request.number("after").map_or(bytes / 2, |after| (after as usize).min(bytes));
            return Some(slow_body(incoming, "broken.bin", Some(bytes), after));
        }
        "/download/unsized" => return Some(slow_body(incoming, "unsized.bin", None, size(incoming))),
        _ => return None,
    };
    Some(response.into())
}

fn size(incoming: Incoming<'_>) -> usize {
    incoming.number("bytes", limits::DOWNLOAD_DEFAULT_BYTES, limits::DOWNLOAD_BYTES) as usize
}

/// `?name=…&type=…&bytes=N`: a file with any percent-encoded name. Its content is the name, or has that length.
fn named(incoming: Incoming<'_>) -> Response {
    let name = incoming.text("name").unwrap_or_else(|| "named.txt".to_owned());
    let content = match incoming.request.number("bytes") {
        Some(_) => vec![b'0'; size(incoming)],
        None => format!("content of {name}\n").into_bytes(),
    };
    let content_type = incoming.text("type").unwrap_or_else(|| "application/octet-stream".to_owned());
    let response = Response::new(&content_type, content);
    if name.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()) {
        return response.attachment(&name);
    }
    let encoded: String = name.bytes().map(|byte| format!("%{byte:02X}")).collect();
    response.with("content-disposition", format!("attachment; filename*=UTF-8''{encoded}"))
}

/// Only with the login cookie.
fn private(incoming: Incoming<'_>) -> Response {
    match incoming.cookie("session") {
        Some(who) => Response::text(format!("secret of {who}\n")).attachment("private.txt"),
        None => Response::text("log in first").status("403 Forbidden"),
    }
}

/// `?milliseconds=N`: the duration, default one second.
fn slow_body(incoming: Incoming<'_>, name: &str, promised: Option<usize>, sent: usize) -> SiteResponse {
    let takes = Duration::from_millis(u64::from(incoming.number("milliseconds", 1_000, u32::MAX)));
    SiteResponse::SlowBody(SlowBody {
        response: Response::new("application/octet-stream", "").attachment(name),
        promised,
        sent,
        takes: takes.min(bounds::SITE_SLOWEST),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::route::tests::{ask, get, response};

    #[tokio::test]
    async fn download_has_the_requested_name() {
        let (head, body) = get("/download/named?name=..%2F..%2Fevil.sh").await;
        assert!(head.contains("content-disposition: attachment; filename=\"../../evil.sh\"\r\n"), "{head}");
        assert_eq!(body, "content of ../../evil.sh\n");
        let (head, _) = get("/download/named?name=%C3%A9").await;
        assert!(head.contains("filename*=UTF-8''%C3%A9\r\n"), "{head}");
        let (head, _) = get("/download/named?name=a%07").await;
        assert!(head.contains("filename*=UTF-8''%61%07\r\n"), "{head}");
        let (head, _) = get("/download/named?name=page.html&type=text/html&bytes=7").await;
        assert!(
            head.contains("content-length: 7\r\n") && head.contains("content-type: text/html\r\n"),
            "{head}"
        );
    }

    #[tokio::test]
    async fn download_can_be_slow_truncated_or_without_length() {
        let slow_body = async |address: &str| match ask(&format!("GET {address} HTTP/1.1\r\n\r\n")).await {
            SiteResponse::SlowBody(slow_body) => {
                (slow_body.promised, slow_body.sent, slow_body.takes.as_millis())
            }
            other => panic!("unexpected {other:?}"),
        };
        assert_eq!(slow_body("/download/slow?bytes=10&milliseconds=5").await, (Some(10), 10, 5));
        assert_eq!(slow_body("/download/broken?bytes=10&after=3").await, (Some(10), 3, 1_000));
        assert_eq!(slow_body("/download/broken?bytes=10&after=30").await, (Some(10), 10, 1_000));
        assert_eq!(slow_body("/download/unsized?bytes=10").await, (None, 10, 1_000));
    }

    #[tokio::test]
    async fn private_file_needs_the_cookie() {
        assert!(get("/download/private").await.0.starts_with("HTTP/1.1 403"));
        let known = response("GET /download/private HTTP/1.1\r\nCookie: session=alice\r\n\r\n").await;
        assert_eq!(known.1, "secret of alice\n");
    }
}
