//! Decides what the fixture site answers to a request. Knows nothing of sockets or time.

use std::time::Duration;

use crate::limits as bounds;

use super::question::Question;
use super::reply::Reply;
use super::{
    account, cross_origin, download, echo, framed, generated_page, lure, page, policy_page, redirection,
    ways_out,
};

/// What to do with one request.
#[derive(Debug)]
pub(super) enum Answer {
    /// Send this after the delay.
    Reply { after: Duration, reply: Reply },
    /// Send this when the gate is opened.
    Held { gate: String, reply: Reply },
    /// Send a head, then a body piece by piece.
    Trickle(Trickle),
    /// Send this many server-sent events, then end the connection.
    Stream { events: u32 },
    /// Become a websocket that sends every message back.
    Echo { key: String },
    /// Send this and then nothing more, for as long as the other side waits.
    Silence { first: Vec<u8> },
    /// End the connection without a word.
    HangUp,
}

/// A body that takes its time, and may end too early.
#[derive(Debug)]
pub(super) struct Trickle {
    /// The head, without a body.
    pub(super) reply: Reply,
    /// How many bytes the head promises; none when the connection's end is the body's end.
    pub(super) promised: Option<usize>,
    /// How many bytes are really sent.
    pub(super) sent: usize,
    /// How long all of it takes.
    pub(super) takes: Duration,
}

impl From<Reply> for Answer {
    fn from(reply: Reply) -> Self {
        Self::Reply { after: Duration::ZERO, reply }
    }
}

/// Decides the answer to one request.
pub(super) fn answer(question: Question<'_>) -> Answer {
    find_answer(question).unwrap_or_else(|| {
        Reply::html("<!doctype html><title>Not found</title><p>no such page</p>")
            .status("404 Not Found")
            .into()
    })
}

fn find_answer(question: Question<'_>) -> Option<Answer> {
    find_conversation(question)
        .or_else(|| find_slow(question))
        .or_else(|| download::find(question))
        .or_else(|| account::find(question).map(Answer::from))
        .or_else(|| cross_origin::find(question).map(Answer::from))
        .or_else(|| framed::find(question).map(Answer::from))
        .or_else(|| echo::find(question).map(Answer::from))
        .or_else(|| redirection::find(question).map(Answer::from))
        .or_else(|| lure::find(question).map(Answer::from))
        .or_else(|| ways_out::find(question).map(Answer::from))
        .or_else(|| policy_page::find(question).map(Answer::from))
        .or_else(|| generated_page::find(question).map(Answer::from))
        .or_else(|| page::find(question.path(), question.port).map(Answer::from))
}

/// Answers that are more, or less, than one response.
fn find_conversation(question: Question<'_>) -> Option<Answer> {
    let request = question.request;
    match question.path() {
        "/events/stream" => {
            Some(Answer::Stream { events: question.number("count", 5, bounds::SITE_STREAM_EVENTS) })
        }
        "/websocket/echo" => request.websocket_key().map(|key| Answer::Echo { key: key.to_owned() }),
        "/held" => {
            let reply = page::find("/moment", question.port)?;
            Some(Answer::Held { gate: question.text("gate").unwrap_or_default(), reply })
        }
        "/hang" => Some(Answer::Silence { first: Vec::new() }),
        "/hang/body" => {
            let head = Reply::html("").head_with_length(Some(1_000));
            let start = "<!doctype html><title>Unfinished</title><p id=\"text\">only the start</p>";
            Some(Answer::Silence { first: [head, start.to_owned()].concat().into_bytes() })
        }
        "/hang/up" => Some(Answer::HangUp),
        _ => None,
    }
}

/// Answers that come late: `?milliseconds=N`, one second unless said.
fn find_slow(question: Question<'_>) -> Option<Answer> {
    let reply = match question.path() {
        "/slow" => Reply::html("<!doctype html><title>Slow</title><p id=\"text\">slow answer</p>"),
        "/slow/data" => Reply::text("slow data"),
        "/slow/image.svg" => page::find("/image.svg", question.port)?,
        "/slow/script.js" => {
            Reply::new("text/javascript", "window.slowScripts = (window.slowScripts ?? 0) + 1;\n")
        }
        "/slow/style.css" => Reply::new("text/css", "#styled { color: rgb(0, 128, 0); }\n"),
        _ => return None,
    };
    let after = question.number("milliseconds", 1_000, u32::MAX);
    let after = Duration::from_millis(u64::from(after)).min(bounds::SITE_SLOWEST);
    Some(Answer::Reply { after, reply })
}

#[cfg(test)]
pub(super) mod tests {
    use crate::http_request::HttpRequest;

    use super::super::visits::Visits;
    use super::*;

    /// Asks the site without a socket.
    pub(crate) async fn ask(text: &str) -> Answer {
        let request = HttpRequest::read(&mut text.as_bytes()).await.expect("valid").expect("present");
        let visits = Visits::default();
        visits.add(&request.path);
        answer(Question { request: &request, head: text, port: 4711, visits: &visits })
    }

    /// The head and the body of an answer that is one response.
    pub(crate) async fn reply(text: &str) -> (String, String) {
        match ask(text).await {
            Answer::Reply { reply, .. } => (reply.head(), String::from_utf8(reply.body).expect("text")),
            other => panic!("unexpected {other:?}"),
        }
    }

    /// The same, for a request that is only an address.
    pub(crate) async fn get(address: &str) -> (String, String) {
        reply(&format!("GET {address} HTTP/1.1\r\n\r\n")).await
    }

    #[tokio::test]
    async fn pages_know_the_port_of_their_other_sites() {
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
    async fn slow_answers_wait_as_long_as_asked_but_not_for_ever() {
        let after = |answer| match answer {
            Answer::Reply { after, .. } => after,
            other => panic!("unexpected {other:?}"),
        };
        let asked = ask("GET /slow/data?milliseconds=250 HTTP/1.1\r\n\r\n").await;
        assert_eq!(after(asked), Duration::from_millis(250));
        let most = ask("GET /slow?milliseconds=4000000000 HTTP/1.1\r\n\r\n").await;
        assert_eq!(after(most), bounds::SITE_SLOWEST);
    }

    #[tokio::test]
    async fn some_questions_have_no_answer() {
        assert!(
            matches!(ask("GET /hang HTTP/1.1\r\n\r\n").await, Answer::Silence { first } if first.is_empty())
        );
        assert!(
            matches!(ask("GET /hang/body HTTP/1.1\r\n\r\n").await, Answer::Silence { first } if !first.is_empty())
        );
        assert!(
            matches!(ask("GET /held?gate=one HTTP/1.1\r\n\r\n").await, Answer::Held { gate, .. } if gate == "one")
        );
        assert!(matches!(ask("GET /hang/up HTTP/1.1\r\n\r\n").await, Answer::HangUp));
    }
}
