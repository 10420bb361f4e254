//! Files to be saved, by every route and with every kind of name. Knows nothing of how fast they are sent.

use std::time::Duration;

use crate::limits as bounds;

use super::answer::{Answer, Trickle};
use super::limits;
use super::question::Question;
use super::reply::Reply;

/// Finds the answer to a path of this family.
pub(super) fn find(question: Question<'_>) -> Option<Answer> {
    let reply = match question.path() {
        "/download/report.txt" => Reply::text("report content\n").attachment("report.txt"),
        "/download/plain.txt" => Reply::text("plain content\n"),
        "/download/large.bin" => Reply::text(vec![b'0'; 1024 * 1024]).attachment("large.bin"),
        "/download/named" => named(question),
        "/download/unknown" => Reply::new("application/octet-stream", "unknown content\n"),
        "/download/redirect" => Reply::redirect("302 Found", "/download/named?name=redirected.txt"),
        "/download/private" => private(question),
        "/download/posted" => {
            Reply::text(question.field("text").unwrap_or_default()).attachment("posted.txt")
        }
        "/download/slow" => {
            let bytes = size(question);
            return Some(trickle(question, "slow.bin", Some(bytes), bytes));
        }
        "/download/broken" => {
            let bytes = size(question);
            let after =
                question.request.number("after").map_or(bytes / 2, |after| (after as usize).min(bytes));
            return Some(trickle(question, "broken.bin", Some(bytes), after));
        }
        "/download/unsized" => return Some(trickle(question, "unsized.bin", None, size(question))),
        _ => return None,
    };
    Some(reply.into())
}

fn size(question: Question<'_>) -> usize {
    question.number("bytes", limits::DOWNLOAD_DEFAULT_BYTES, limits::DOWNLOAD_BYTES) as usize
}

/// `?name=…&type=…&bytes=N`: any name at all, percent-encoded; the content names it, or is that long.
fn named(question: Question<'_>) -> Reply {
    let name = question.text("name").unwrap_or_else(|| "named.txt".to_owned());
    let content = match question.request.number("bytes") {
        Some(_) => vec![b'0'; size(question)],
        None => format!("content of {name}\n").into_bytes(),
    };
    let content_type = question.text("type").unwrap_or_else(|| "application/octet-stream".to_owned());
    let reply = Reply::new(&content_type, content);
    if name.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()) {
        return reply.attachment(&name);
    }
    let encoded: String = name.bytes().map(|byte| format!("%{byte:02X}")).collect();
    reply.with("content-disposition", format!("attachment; filename*=UTF-8''{encoded}"))
}

/// Only for who is logged in.
fn private(question: Question<'_>) -> Reply {
    match question.cookie("session") {
        Some(who) => Reply::text(format!("secret of {who}\n")).attachment("private.txt"),
        None => Reply::text("log in first").status("403 Forbidden"),
    }
}

/// `?milliseconds=N`: how long it takes, one second unless said.
fn trickle(question: Question<'_>, name: &str, promised: Option<usize>, sent: usize) -> Answer {
    let takes = Duration::from_millis(u64::from(question.number("milliseconds", 1_000, u32::MAX)));
    Answer::Trickle(Trickle {
        reply: Reply::new("application/octet-stream", "").attachment(name),
        promised,
        sent,
        takes: takes.min(bounds::SITE_SLOWEST),
    })
}

#[cfg(test)]
mod tests {
    use super::super::answer::tests::{ask, get, reply};
    use super::*;

    #[tokio::test]
    async fn any_name_can_be_asked_for() {
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
    async fn a_download_can_be_slow_break_off_or_hide_its_length() {
        let trickle = async |address: &str| match ask(&format!("GET {address} HTTP/1.1\r\n\r\n")).await {
            Answer::Trickle(trickle) => (trickle.promised, trickle.sent, trickle.takes.as_millis()),
            other => panic!("unexpected {other:?}"),
        };
        assert_eq!(trickle("/download/slow?bytes=10&milliseconds=5").await, (Some(10), 10, 5));
        assert_eq!(trickle("/download/broken?bytes=10&after=3").await, (Some(10), 3, 1_000));
        assert_eq!(trickle("/download/broken?bytes=10&after=30").await, (Some(10), 10, 1_000));
        assert_eq!(trickle("/download/unsized?bytes=10").await, (None, 10, 1_000));
    }

    #[tokio::test]
    async fn a_private_file_wants_the_cookie() {
        assert!(get("/download/private").await.0.starts_with("HTTP/1.1 403"));
        let known = reply("GET /download/private HTTP/1.1\r\nCookie: session=alice\r\n\r\n").await;
        assert_eq!(known.1, "secret of alice\n");
    }
}
