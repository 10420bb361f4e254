//! Frames of a client of one page (`/devtools/page/ID`): they have no session id, while the browser's frames do.

use bytes::BytesMut;
use serde_json::Value;

use super::envelope::{BrowserFrameKind, peek_browser_frame, peek_client_frame};

/// What to do with a frame of the browser.
#[derive(Debug, PartialEq, Eq)]
pub enum Delivery {
    /// Send it to the client.
    Forward(BytesMut),
    /// Ignore it: it does not concern the page.
    Drop,
    /// End the connection: the page is gone.
    End,
}

/// Adds the page's session id to a client's frame, unless the frame has the id of a child session.
#[must_use]
pub fn to_page(frame: BytesMut, session: &str) -> BytesMut {
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

/// Removes the page's session id from a frame of the browser.
#[must_use]
pub fn from_page(mut frame: BytesMut, session: &str) -> Delivery {
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
