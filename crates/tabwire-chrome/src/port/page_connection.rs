//! One client of one page (`/devtools/page/ID`): its frames have no session id. The connection ends with the page or the
//! browser.

use bytes::BytesMut;
use serde_json::{Value, json};
use tabwire_api::Failure;
use tabwire_cdp::envelope::{BrowserFrameKind, peek_browser_frame, peek_client_frame};
use tabwire_cdp::{CloseFrame, FrameSink, FrameSource, ReceivedFrame};

use super::BROWSER_TIMEOUT;
use super::link::Link;
use super::server::PortServer;

/// The id of the attach request, above the ids of clients.
const ATTACH_ID: u64 = 9_000_000_000_000;

/// An attached page, before its client is served.
#[derive(Debug)]
pub(super) struct PageLink {
    link: Link,
    /// The CDP session; the client does not see it.
    session: String,
}

impl PageLink {
    /// Attaches to a page; `None` when there is no such page.
    ///
    /// # Errors
    /// When the browser cannot be started.
    pub(super) async fn open(server: &PortServer, target: &str) -> Result<Option<Self>, Failure> {
        let mut link = server.open_page_link().await?;
        let params = json!({"targetId": target, "flatten": true});
        let request =
            json!({"id": ATTACH_ID, "method": "Target.attachToTarget", "params": params}).to_string();
        let attaching = async {
            link.sink.send(BytesMut::from(request.as_bytes())).await.ok()?;
            loop {
                let Ok(Some(ReceivedFrame::Frame(frame))) = link.source.next().await else { return None };
                let response: Value = serde_json::from_slice(&frame).ok()?;
                if response.get("id").and_then(Value::as_u64) == Some(ATTACH_ID) {
                    return response.pointer("/result/sessionId")?.as_str().map(str::to_owned);
                }
            }
        };
        let session = tokio::time::timeout(BROWSER_TIMEOUT, attaching).await.ok().flatten();
        Ok(session.map(|session| Self { link, session }))
    }

    /// Serves a client until it disconnects, or the page or the browser ends.
    pub(super) async fn serve(mut self, server: &PortServer, mut source: FrameSource, mut sink: FrameSink) {
        let frames = server.client_frames();
        loop {
            let is_done = tokio::select! {
                read = source.next() => match read {
                    Ok(Some(ReceivedFrame::Frame(frame))) => {
                        if let Some(frames) = &frames {
                            frames.log_client(&frame);
                        }
                        self.link.sink.send(to_page(frame, &self.session)).await.is_err()
                    }
                    _ => return,
                },
                read = self.link.source.next() => match read {
                    Ok(Some(ReceivedFrame::Frame(frame))) => match from_page(frame, &self.session) {
                        Delivery::Forward(frame) => {
                            if let Some(frames) = &frames {
                                frames.log_browser(&frame);
                            }
                            sink.send(frame).await.is_err()
                        }
                        Delivery::Drop => false,
                        Delivery::End => true,
                    },
                    Ok(Some(ReceivedFrame::Oversize(_))) => false,
                    Ok(None) | Err(_) => true,
                },
                _ = server.finished() => true,
            };
            if is_done {
                return sink.close_with(CloseFrame::Done);
            }
        }
    }
}

/// Adds the page's session id to a client's frame, unless the frame has the id of a child session.
fn to_page(frame: BytesMut, session: &str) -> BytesMut {
    let is_for_page = peek_client_frame(&frame).is_ok_and(|envelope| envelope.session.is_none());
    // The browser responds to a malformed frame with the right error.
    let end = frame.iter().rposition(|byte| *byte == b'}').filter(|_| is_for_page);
    let Some(end) = end else { return frame };
    let mut with_session = frame;
    with_session.truncate(end);
    with_session.extend_from_slice(br#","sessionId":""#);
    with_session.extend_from_slice(session.as_bytes());
    with_session.extend_from_slice(br#""}"#);
    with_session
}

/// What to do with a frame of the browser.
#[derive(Debug, PartialEq, Eq)]
enum Delivery {
    /// Send it to the client.
    Forward(BytesMut),
    /// Ignore it: it does not concern the page.
    Drop,
    /// End the connection: the page is gone.
    End,
}

/// Removes the page's session id from a frame of the browser.
fn from_page(mut frame: BytesMut, session: &str) -> Delivery {
    let Ok(envelope) = peek_browser_frame(&frame) else { return Delivery::Drop };
    match (envelope.session, envelope.session_member) {
        (Some(own), Some(member)) if own == session => {
            let rest = frame.split_off(member.end);
            frame.truncate(member.start);
            frame.extend_from_slice(&rest);
            Delivery::Forward(frame)
        }
        (Some(_), _) => Delivery::Forward(frame),
        (None, _) => match envelope.kind {
            BrowserFrameKind::Event { method: "Target.detachedFromTarget" }
                if is_detach_of(&frame, session) =>
            {
                Delivery::End
            }
            BrowserFrameKind::Event { .. } => Delivery::Drop,
            BrowserFrameKind::Response { .. } | BrowserFrameKind::Neither => Delivery::Forward(frame),
        },
    }
}

fn is_detach_of(frame: &[u8], session: &str) -> bool {
    let event = serde_json::from_slice::<Value>(frame).ok();
    event.is_some_and(|event| event.pointer("/params/sessionId").and_then(Value::as_str) == Some(session))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(frame: &str) -> String {
        String::from_utf8_lossy(&to_page(BytesMut::from(frame), "S")).into_owned()
    }

    fn received(frame: &str) -> Delivery {
        from_page(BytesMut::from(frame), "S")
    }

    fn forward(frame: &str) -> Delivery {
        Delivery::Forward(BytesMut::from(frame))
    }

    #[test]
    fn client_frames_get_the_pages_session_id() {
        assert_eq!(sent(r#"{"id":1,"method":"A.b"}"#), r#"{"id":1,"method":"A.b","sessionId":"S"}"#);
        let spread = sent("{ \"id\": 1, \"method\": \"A.b\", \"params\": {} }\n");
        assert_eq!(serde_json::from_str::<Value>(&spread).unwrap()["sessionId"], "S");
        let below = r#"{"id":1,"method":"A.b","sessionId":"C"}"#;
        assert_eq!(sent(below), below);
        assert_eq!(sent("nonsense}"), "nonsense}");
    }

    #[test]
    fn page_frames_lose_their_session_id_and_child_frames_keep_it() {
        assert_eq!(received(r#"{"id":1,"result":{},"sessionId":"S"}"#), forward(r#"{"id":1,"result":{}}"#));
        let event = r#"{"method":"A.b","params":{"x":1},"sessionId":"S"}"#;
        assert_eq!(received(event), forward(r#"{"method":"A.b","params":{"x":1}}"#));
        let below = r#"{"method":"A.b","params":{},"sessionId":"C"}"#;
        assert_eq!(received(below), forward(below));
    }

    #[test]
    fn browser_events_are_dropped_except_the_pages_detach() {
        assert_eq!(
            received(r#"{"method":"Target.attachedToTarget","params":{"sessionId":"S"}}"#),
            Delivery::Drop
        );
        assert_eq!(
            received(r#"{"method":"Target.detachedFromTarget","params":{"sessionId":"O"}}"#),
            Delivery::Drop
        );
        assert_eq!(
            received(r#"{"method":"Target.detachedFromTarget","params":{"sessionId":"S"}}"#),
            Delivery::End
        );
    }
}
