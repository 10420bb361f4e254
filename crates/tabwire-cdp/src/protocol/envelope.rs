//! Peeks at `id`, `method` and `sessionId` of a raw frame without parsing the rest.
//!
//! Frames that a browser wrote take a constant-time path, because Chrome puts `id` or `method` first and
//! `sessionId` last. serde reads all other frames and skips the fields that are not needed.

use std::ops::Range;

use serde::Deserialize;
use serde_json::value::RawValue;

/// Longest session id that the constant-time path searches for; Chrome's have 32 characters.
const LONGEST_SESSION: usize = 128;

/// The routing fields of a browser's frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrowserEnvelope<'a> {
    /// Response or event.
    pub kind: BrowserFrameKind<'a>,
    /// Its CDP session; `None` is the root.
    pub session: Option<&'a str>,
    /// The bytes to remove so that the frame is on the root session.
    pub session_member: Option<Range<usize>>,
}

/// A response to a command, or an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BrowserFrameKind<'a> {
    /// The response to the command with this id.
    Response {
        /// The command's id.
        id: u64,
        /// The position of the id's digits.
        id_span: Range<usize>,
    },
    /// An event.
    Event {
        /// The event's name.
        method: &'a str,
    },
    /// Neither: the browser's error for a frame that it could not read.
    Neither,
}

/// The routing fields of a client's command.
#[derive(Debug)]
pub struct ClientEnvelope<'a> {
    /// The id the client chose.
    pub id: i64,
    /// The position of the id.
    pub id_span: Range<usize>,
    /// The method.
    pub method: &'a str,
    /// Its CDP session; `None` is the root.
    pub session: Option<&'a str>,
    /// Its parameters, unchanged.
    pub params: Option<&'a RawValue>,
}

/// Why a frame cannot be routed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PeekError {
    /// Not a JSON object with the protocol's fields.
    #[error("the frame is not a protocol message: {0}")]
    Malformed(String),
    /// The client's id is missing or not an integer, so there is no id to respond to.
    #[error("the command has no integer `id`")]
    NoId,
    /// The command's `sessionId` is not a string.
    #[error("the command's `sessionId` is not a text")]
    BadSession {
        /// The id to respond to.
        id: i64,
    },
    /// The command names no method.
    #[error("the command names no `method`")]
    NoMethod {
        /// The id to respond to.
        id: i64,
    },
}

/// Reads the routing fields of a frame that a browser wrote.
///
/// # Errors
/// When the frame is not a JSON object with fields of the right types.
pub fn peek_browser_frame(frame: &[u8]) -> Result<BrowserEnvelope<'_>, PeekError> {
    match peek_chrome_order(frame) {
        Some(envelope) => Ok(envelope),
        None => peek_any_order(frame),
    }
}

/// The constant-time path; `None` when the frame is not in Chrome's order.
fn peek_chrome_order(frame: &[u8]) -> Option<BrowserEnvelope<'_>> {
    let (kind, rest) = if let Some(after) = frame.strip_prefix(br#"{"id":"#) {
        let digits = after.iter().take(20).take_while(|byte| byte.is_ascii_digit()).count();
        let id = std::str::from_utf8(after.get(..digits)?).ok()?.parse().ok()?;
        let rest = after.get(digits..)?;
        if !(rest.starts_with(br#","result":"#) || rest.starts_with(br#","error":"#)) {
            return None;
        }
        (BrowserFrameKind::Response { id, id_span: 6..6 + digits }, rest)
    } else {
        let after = frame.strip_prefix(br#"{"method":""#)?;
        let length = after.iter().take(128).position(|byte| *byte == b'"')?;
        let name = after.get(..length)?;
        if !name.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_')) {
            return None;
        }
        let rest = after.get(length + 1..)?;
        if !rest.starts_with(br#","params":"#) {
            return None;
        }
        (BrowserFrameKind::Event { method: std::str::from_utf8(name).ok()? }, rest)
    };
    // An object as the last member means that no session follows it.
    if rest.ends_with(b"}}") {
        return Some(BrowserEnvelope { kind, session: None, session_member: None });
    }
    let (session, session_member) = trailing_session(frame)?;
    Some(BrowserEnvelope { kind, session: Some(session), session_member: Some(session_member) })
}

/// Finds `,"sessionId":"X"}` at the very end. On valid JSON it can only be a top-level member there: inside
/// a string its quotes would be escaped, inside an object another brace would follow.
fn trailing_session(frame: &[u8]) -> Option<(&str, Range<usize>)> {
    const KEY: &[u8] = br#","sessionId":""#;
    let body = frame.strip_suffix(br#""}"#)?;
    let length = body.iter().rev().take(LONGEST_SESSION).take_while(|byte| is_session_byte(**byte)).count();
    let start = body.len().checked_sub(length)?;
    let key_start = start.checked_sub(KEY.len())?;
    if length == 0 || body.get(key_start..start)? != KEY {
        return None;
    }
    Some((std::str::from_utf8(body.get(start..)?).ok()?, key_start..frame.len() - 1))
}

fn is_session_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':')
}

#[derive(Deserialize)]
struct BrowserFields<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<&'a str>,
    #[serde(borrow, rename = "sessionId")]
    session: Option<&'a str>,
}

fn peek_any_order(frame: &[u8]) -> Result<BrowserEnvelope<'_>, PeekError> {
    let fields: BrowserFields<'_> = parse_object(frame)?;
    let kind = match (fields.id, fields.method) {
        (Some(raw), _) => {
            let id = raw
                .get()
                .parse()
                .map_err(|_| PeekError::Malformed("the response id is not a number".to_owned()))?;
            BrowserFrameKind::Response { id, id_span: span_of(frame, raw.get()) }
        }
        (None, Some(method)) => BrowserFrameKind::Event { method },
        (None, None) => BrowserFrameKind::Neither,
    };
    let session = fields.session.filter(|session| !session.is_empty());
    let session_member = session.map(|text| member_around(frame, span_of(frame, text)));
    Ok(BrowserEnvelope { kind, session, session_member })
}

#[derive(Deserialize)]
struct ClientFields<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<&'a str>,
    #[serde(borrow, default, rename = "sessionId", deserialize_with = "read_present")]
    session: Option<&'a RawValue>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

/// Reads a present member, even null: browsers treat a missing member and null differently.
fn read_present<'de: 'a, 'a, D: serde::Deserializer<'de>>(
    reader: D,
) -> Result<Option<&'a RawValue>, D::Error> {
    <&RawValue>::deserialize(reader).map(Some)
}

/// Reads the routing fields of a frame that a client wrote, in any order; rejects a duplicate key.
///
/// # Errors
/// When the frame is not a command: not an object, without an integer id, or without a method.
pub fn peek_client_frame(frame: &[u8]) -> Result<ClientEnvelope<'_>, PeekError> {
    let fields: ClientFields<'_> = parse_object(frame)?;
    let raw = fields.id.ok_or(PeekError::NoId)?.get();
    let id = raw.parse().map_err(|_| PeekError::NoId)?;
    let method = fields.method.ok_or(PeekError::NoMethod { id })?;
    let session = fields.session.map(|raw| serde_json::from_str::<&str>(raw.get())).transpose();
    // Chromium takes an empty `sessionId` for the root.
    let session = session.map_err(|_| PeekError::BadSession { id })?.filter(|session| !session.is_empty());
    Ok(ClientEnvelope { id, id_span: span_of(frame, raw), method, session, params: fields.params })
}

/// Reads an object's members. serde alone would accept an array too, which browsers never send.
fn parse_object<'a, T: Deserialize<'a>>(frame: &'a [u8]) -> Result<T, PeekError> {
    if frame.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'{') {
        return Err(PeekError::Malformed("it is not an object".to_owned()));
    }
    serde_json::from_slice(frame).map_err(|error| PeekError::Malformed(error.to_string()))
}

/// The position of `part`, a slice of `whole`, in it.
fn span_of(whole: &[u8], part: &str) -> Range<usize> {
    let start = (part.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize);
    start..start + part.len()
}

/// Widens a string value's span to its whole member and one neighbouring comma.
fn member_around(frame: &[u8], value: Range<usize>) -> Range<usize> {
    let before = |at: usize, wanted: fn(u8) -> bool| {
        frame.get(..at).and_then(|head| head.iter().rposition(|byte| wanted(*byte))).unwrap_or(0)
    };
    let value_quote = value.start.saturating_sub(1);
    let key_end = before(value_quote, |byte| byte == b'"');
    let key_start = before(key_end, |byte| byte == b'"');
    let previous = before(key_start, |byte| !byte.is_ascii_whitespace());
    let mut end = value.end + 1;
    if frame.get(previous) == Some(&b',') {
        return previous..end;
    }
    while frame.get(end).is_some_and(u8::is_ascii_whitespace) {
        end += 1;
    }
    if frame.get(end) == Some(&b',') {
        end += 1;
    }
    key_start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(frame: &str) -> String {
        let envelope = peek_browser_frame(frame.as_bytes()).expect("a protocol frame");
        let member = envelope.session_member.expect("a session");
        format!("{}{}", &frame[..member.start], &frame[member.end..])
    }

    #[test]
    fn chrome_frames_take_the_short_path() {
        let response = br#"{"id":42,"result":{"a":1},"sessionId":"AB12"}"#;
        let envelope = peek_chrome_order(response).expect("short path");
        assert_eq!(envelope.kind, BrowserFrameKind::Response { id: 42, id_span: 6..8 });
        assert_eq!(envelope.session, Some("AB12"));
        let event = br#"{"method":"Page.loadEventFired","params":{"t":1}}"#;
        let envelope = peek_chrome_order(event).expect("short path");
        assert_eq!(envelope.kind, BrowserFrameKind::Event { method: "Page.loadEventFired" });
        assert_eq!(envelope.session, None);
    }

    #[test]
    fn a_session_inside_the_result_is_not_the_frames_session() {
        let frame = br#"{"id":1,"result":{"sessionId":"AB12"}}"#;
        assert_eq!(peek_browser_frame(frame).expect("frame").session, None);
        let frame = br#"{"id":1,"result":{"text":",\"sessionId\":\"EVIL\"}"},"sessionId":"GOOD"}"#;
        assert_eq!(peek_browser_frame(frame).expect("frame").session, Some("GOOD"));
    }

    #[test]
    fn any_member_order_and_spacing_is_accepted() {
        for frame in [
            r#"{"sessionId":"S1","id":7,"result":{}}"#,
            r#"{ "id" : 7 , "sessionId" : "S1" , "result" : {} }"#,
            r#"{"id":7,"sessionId":"S1","result":{}}"#,
            r#"{"id":7,"result":{},"sessionId":"S1"}"#,
        ] {
            let envelope = peek_browser_frame(frame.as_bytes()).expect(frame);
            assert_eq!(envelope.session, Some("S1"), "{frame}");
            assert!(matches!(envelope.kind, BrowserFrameKind::Response { id: 7, .. }), "{frame}");
            let rest: serde_json::Value = serde_json::from_str(&cut(frame)).expect(frame);
            assert_eq!(rest, serde_json::json!({"id": 7, "result": {}}), "{frame}");
        }
    }

    #[test]
    fn client_frames_may_have_any_order_but_no_duplicate_key() {
        let envelope =
            peek_client_frame(br#"{"method":"A.b","sessionId":"S","id":-9,"params":{}}"#).expect("frame");
        assert_eq!((envelope.id, envelope.method, envelope.session), (-9, "A.b", Some("S")));
        let doubled = br#"{"id":1,"method":"A.b","method":"C.d"}"#;
        assert!(matches!(peek_client_frame(doubled), Err(PeekError::Malformed(_))));
        assert!(matches!(peek_client_frame(br#"{"method":"A.b"}"#), Err(PeekError::NoId)));
        assert!(matches!(peek_client_frame(br#"{"id":3}"#), Err(PeekError::NoMethod { id: 3 })));
        assert!(matches!(peek_client_frame(br#"{"id":1.5,"method":"A.b"}"#), Err(PeekError::NoId)));
    }

    #[test]
    fn l6_session_that_is_not_a_string_differs_from_none() {
        for session in ["null", "1", "true", "{}", r#"["S"]"#] {
            let frame = format!(r#"{{"id":4,"method":"A.b","sessionId":{session}}}"#);
            let read = peek_client_frame(frame.as_bytes());
            assert!(matches!(read, Err(PeekError::BadSession { id: 4 })), "{session}: {read:?}");
        }
        assert_eq!(peek_client_frame(br#"{"id":4,"method":"A.b"}"#).expect("a command").session, None);
    }

    #[test]
    fn array_is_not_a_frame() {
        assert!(matches!(peek_client_frame(br#"[1,"A.b","S",{}]"#), Err(PeekError::Malformed(_))));
        assert!(matches!(peek_browser_frame(br#" [1,"A.b","S"]"#), Err(PeekError::Malformed(_))));
    }

    #[test]
    fn f16_deep_or_broken_frames_are_refused_without_a_panic() {
        let deep =
            format!(r#"{{"id":1,"method":"A.b","params":{}{}}}"#, "[".repeat(10_000), "]".repeat(10_000));
        let _ = peek_client_frame(deep.as_bytes());
        let _ = peek_browser_frame(deep.as_bytes());
        for bytes in
            [&b""[..], b"{", b"null", b"\xff\xfe", br#"{"id":}"#, br#""}"#, br#"{"id":1,"result":{}"#]
        {
            assert!(peek_client_frame(bytes).is_err());
            let _ = peek_browser_frame(bytes);
        }
    }
}
