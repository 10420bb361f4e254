//! One client of one page, as Chrome's own port has them: it speaks to the page and knows of no cdp session. When the
//! page or the browser goes, so does the connection.

use bytes::BytesMut;
use serde_json::{Value, json};
use tabwire_cdp::envelope::{BrowserFrameKind, peek_browser_frame, peek_client_frame};
use tabwire_cdp::{Farewell, FrameSink, FrameSource, Framed};
use tabwire_wire::Failure;

use super::link::Link;
use super::steward::Steward;
use crate::limits::CHROME_ASK_DEADLINE;

/// The id of the one request of our own, above what clients count to.
const OWN_ID: u64 = 9_000_000_000_000;

/// A page that is attached to, for a client that has not been let in yet.
#[derive(Debug)]
pub(super) struct PageLine {
    link: Link,
    /// The cdp session, which the client never learns of.
    session: String,
}

impl PageLine {
    /// Attaches to a page; none when there is no such page.
    ///
    /// # Errors
    /// When there is no browser.
    pub(super) async fn open(steward: &Steward, target: &str) -> Result<Option<Self>, Failure> {
        let mut link = steward.open_page_link().await?;
        let params = json!({"targetId": target, "flatten": true});
        let request = json!({"id": OWN_ID, "method": "Target.attachToTarget", "params": params}).to_string();
        let attaching = async {
            link.sink.send(BytesMut::from(request.as_bytes())).await.ok()?;
            loop {
                let Ok(Some(Framed::Frame(frame))) = link.source.next().await else { return None };
                let answer: Value = serde_json::from_slice(&frame).ok()?;
                if answer.get("id").and_then(Value::as_u64) == Some(OWN_ID) {
                    return answer.pointer("/result/sessionId")?.as_str().map(str::to_owned);
                }
            }
        };
        let session = tokio::time::timeout(CHROME_ASK_DEADLINE, attaching).await.ok().flatten();
        Ok(session.map(|session| Self { link, session }))
    }

    /// Serves a client until it, the page or the browser goes.
    pub(super) async fn serve(mut self, steward: &Steward, mut source: FrameSource, mut sink: FrameSink) {
        let frames = steward.client_frames();
        loop {
            let is_done = tokio::select! {
                read = source.next() => match read {
                    Ok(Some(Framed::Frame(frame))) => {
                        if let Some(frames) = &frames {
                            frames.asked(&frame);
                        }
                        self.link.sink.send(to_page(frame, &self.session)).await.is_err()
                    }
                    _ => return,
                },
                read = self.link.source.next() => match read {
                    Ok(Some(Framed::Frame(frame))) => match from_page(frame, &self.session) {
                        Passage::Through(frame) => {
                            if let Some(frames) = &frames {
                                frames.told(&frame);
                            }
                            sink.send(frame).await.is_err()
                        }
                        Passage::Nobodys => false,
                        Passage::End => true,
                    },
                    Ok(Some(Framed::Oversize(_))) => false,
                    Ok(None) | Err(_) => true,
                },
                _ = steward.finished() => true,
            };
            if is_done {
                return sink.say_goodbye(Farewell::Done);
            }
        }
    }
}

/// A client's frame as the browser gets it: for the page, unless it names a cdp session below it.
fn to_page(frame: BytesMut, session: &str) -> BytesMut {
    let is_for_page = peek_client_frame(&frame).is_ok_and(|envelope| envelope.session.is_none());
    // What cannot be read is for the browser to complain about.
    let end = frame.iter().rposition(|byte| *byte == b'}').filter(|_| is_for_page);
    let Some(end) = end else { return frame };
    let mut told = frame;
    told.truncate(end);
    told.extend_from_slice(br#","sessionId":""#);
    told.extend_from_slice(session.as_bytes());
    told.extend_from_slice(br#""}"#);
    told
}

/// What becomes of a browser's frame.
#[derive(Debug, PartialEq, Eq)]
enum Passage {
    /// The client gets it.
    Through(BytesMut),
    /// It is not about the page.
    Nobodys,
    /// The page is gone.
    End,
}

/// A browser's frame as the client gets it: what is said on the page's cdp session comes without it.
fn from_page(mut frame: BytesMut, session: &str) -> Passage {
    let Ok(envelope) = peek_browser_frame(&frame) else { return Passage::Nobodys };
    match (envelope.session, envelope.session_member) {
        (Some(own), Some(member)) if own == session => {
            let rest = frame.split_off(member.end);
            frame.truncate(member.start);
            frame.extend_from_slice(&rest);
            Passage::Through(frame)
        }
        (Some(_), _) => Passage::Through(frame),
        (None, _) => match envelope.kind {
            BrowserFrameKind::Event { method: "Target.detachedFromTarget" } if names(&frame, session) => {
                Passage::End
            }
            BrowserFrameKind::Event { .. } => Passage::Nobodys,
            BrowserFrameKind::Answer { .. } | BrowserFrameKind::Neither => Passage::Through(frame),
        },
    }
}

fn names(frame: &[u8], session: &str) -> bool {
    let event = serde_json::from_slice::<Value>(frame).ok();
    event.is_some_and(|event| event.pointer("/params/sessionId").and_then(Value::as_str) == Some(session))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(frame: &str) -> String {
        String::from_utf8_lossy(&to_page(BytesMut::from(frame), "S")).into_owned()
    }

    fn told(frame: &str) -> Passage {
        from_page(BytesMut::from(frame), "S")
    }

    fn through(frame: &str) -> Passage {
        Passage::Through(BytesMut::from(frame))
    }

    #[test]
    fn what_a_client_says_is_for_the_page_unless_it_names_a_session() {
        assert_eq!(sent(r#"{"id":1,"method":"A.b"}"#), r#"{"id":1,"method":"A.b","sessionId":"S"}"#);
        let spread = sent("{ \"id\": 1, \"method\": \"A.b\", \"params\": {} }\n");
        assert_eq!(serde_json::from_str::<Value>(&spread).unwrap()["sessionId"], "S");
        let below = r#"{"id":1,"method":"A.b","sessionId":"C"}"#;
        assert_eq!(sent(below), below);
        assert_eq!(sent("nonsense}"), "nonsense}");
    }

    #[test]
    fn what_the_page_says_comes_without_a_session_and_what_is_below_it_with_one() {
        assert_eq!(told(r#"{"id":1,"result":{},"sessionId":"S"}"#), through(r#"{"id":1,"result":{}}"#));
        let event = r#"{"method":"A.b","params":{"x":1},"sessionId":"S"}"#;
        assert_eq!(told(event), through(r#"{"method":"A.b","params":{"x":1}}"#));
        let below = r#"{"method":"A.b","params":{},"sessionId":"C"}"#;
        assert_eq!(told(below), through(below));
    }

    #[test]
    fn events_of_the_browser_are_nobodys_except_the_pages_end() {
        assert_eq!(
            told(r#"{"method":"Target.attachedToTarget","params":{"sessionId":"S"}}"#),
            Passage::Nobodys
        );
        assert_eq!(
            told(r#"{"method":"Target.detachedFromTarget","params":{"sessionId":"O"}}"#),
            Passage::Nobodys
        );
        assert_eq!(
            told(r#"{"method":"Target.detachedFromTarget","params":{"sessionId":"S"}}"#),
            Passage::End
        );
    }
}
