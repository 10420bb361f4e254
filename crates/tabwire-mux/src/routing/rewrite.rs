//! Rewrites the routing bytes of a frame and nothing else.

use std::ops::Range;

use bytes::{BufMut, BytesMut};
use tabwire_api::CdpSessionId;

/// A client's command as the browser receives it: with the mux's id, and with the client's browser-level CDP
/// session if the client named none.
pub(crate) fn to_browser(
    frame: &[u8],
    id_span: &Range<usize>,
    id: u64,
    root: Option<&CdpSessionId>,
) -> BytesMut {
    let mut digits = [0; 20];
    let digits = write_digits(id, &mut digits);
    let extra = root.map_or(0, |session| session.as_str().len() + 16);
    let mut out = BytesMut::with_capacity(frame.len() + digits.len() + extra);
    let head = frame.get(..id_span.start).unwrap_or_default();
    let tail = frame.get(id_span.end..).unwrap_or_default();
    out.put_slice(head);
    out.put_slice(digits);
    match root {
        None => out.put_slice(tail),
        Some(session) => {
            let end = tail.iter().rposition(|byte| *byte == b'}').unwrap_or(tail.len());
            out.put_slice(tail.get(..end).unwrap_or_default());
            out.put_slice(br#","sessionId":""#);
            out.put_slice(session.as_str().as_bytes());
            out.put_slice(br#""}"#);
        }
    }
    out
}

/// A browser's response as the client receives it: with the client's id, and without the root session's id.
///
/// Edits in place, so that the bytes of a large response do not move: a shorter id is padded with spaces, and
/// a session id that is the last member is cut off the end.
pub(crate) fn to_client(
    mut frame: BytesMut,
    id_span: &Range<usize>,
    id: i64,
    cut: Option<&Range<usize>>,
) -> BytesMut {
    if let Some(member) = cut {
        cut_member(&mut frame, member);
    }
    let mut digits = [0; 20];
    let digits = write_signed(id, &mut digits);
    let room = id_span.len();
    if digits.len() <= room {
        if let Some(place) = frame.get_mut(id_span.clone()) {
            let pad = room - digits.len();
            place[..pad].fill(b' ');
            place[pad..].copy_from_slice(digits);
        }
        return frame;
    }
    let mut out = BytesMut::with_capacity(frame.len() + digits.len());
    out.put_slice(frame.get(..id_span.start).unwrap_or_default());
    out.put_slice(digits);
    out.put_slice(frame.get(id_span.end..).unwrap_or_default());
    out
}

/// An event on the client's root session as the client receives it.
pub(crate) fn event_to_root(mut frame: BytesMut, member: &Range<usize>) -> BytesMut {
    cut_member(&mut frame, member);
    frame
}

fn cut_member(frame: &mut BytesMut, member: &Range<usize>) {
    if member.end > frame.len() || member.start > member.end {
        return;
    }
    frame.copy_within(member.end.., member.start);
    frame.truncate(frame.len() - member.len());
}

fn write_digits(mut number: u64, buffer: &mut [u8; 20]) -> &[u8] {
    let mut at = buffer.len();
    loop {
        at -= 1;
        buffer[at] = b'0' + u8::try_from(number % 10).unwrap_or(0);
        number /= 10;
        if number == 0 {
            return &buffer[at..];
        }
    }
}

fn write_signed(number: i64, buffer: &mut [u8; 20]) -> &[u8] {
    let length = write_digits(number.unsigned_abs(), buffer).len();
    let mut start = buffer.len() - length;
    if number < 0 {
        start -= 1;
        buffer[start] = b'-';
    }
    &buffer[start..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use tabwire_cdp::envelope::{BrowserFrameKind, peek_browser_frame, peek_client_frame};

    fn forward(frame: &str, id: u64, root: Option<&str>) -> String {
        let envelope = peek_client_frame(frame.as_bytes()).expect("a command");
        let root = root.map(CdpSessionId::new);
        let out = to_browser(frame.as_bytes(), &envelope.id_span, id, root.as_ref());
        String::from_utf8(out.to_vec()).expect("text")
    }

    fn back(frame: &str, id: i64, strip: bool) -> String {
        let envelope = peek_browser_frame(frame.as_bytes()).expect("a response");
        let BrowserFrameKind::Response { id_span, .. } = envelope.kind else { panic!("not a response") };
        let cut = if strip { envelope.session_member } else { None };
        let out = to_client(BytesMut::from(frame.as_bytes()), &id_span, id, cut.as_ref());
        String::from_utf8(out.to_vec()).expect("text")
    }

    #[test]
    fn commands_get_our_id_and_the_clients_root() {
        assert_eq!(
            forward(r#"{"id":7,"method":"A.b","params":{"x":"}"}}"#, 123, Some("ROOT")),
            r#"{"id":123,"method":"A.b","params":{"x":"}"},"sessionId":"ROOT"}"#
        );
        assert_eq!(
            forward(r#"{ "sessionId":"S", "id" : -9999 ,"method":"A.b"} "#, 5, None),
            r#"{ "sessionId":"S", "id" : 5 ,"method":"A.b"} "#
        );
    }

    #[test]
    fn responses_get_the_clients_id_back() {
        let frame = r#"{"id":1234,"result":{},"sessionId":"ROOT"}"#;
        assert_eq!(back(frame, 7, true), r#"{"id":   7,"result":{}}"#);
        assert_eq!(back(frame, 7, false), r#"{"id":   7,"result":{},"sessionId":"ROOT"}"#);
        assert_eq!(back(frame, -9999, true), r#"{"id":-9999,"result":{}}"#);
        assert_eq!(
            back(r#"{"id":1,"result":{}}"#, i64::MIN, false),
            format!(r#"{{"id":{},"result":{{}}}}"#, i64::MIN)
        );
    }
}
