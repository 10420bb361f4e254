//! The JSON of commands, responses and events.

use std::borrow::Cow;

use bytes::{BufMut, Bytes, BytesMut};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tabwire_api::CdpSessionId;

use crate::connection::pending::CommandId;
use crate::error::{CdpError, Method};

/// A frame of the browser, with its payload unparsed.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Incoming<'a> {
    #[serde(default)]
    pub(crate) id: Option<CommandId>,
    /// Empty when absent; serde borrows a bare `Cow` but not one inside an `Option`.
    #[serde(borrow, default)]
    pub(crate) method: Cow<'a, str>,
    /// Empty when the frame concerns the browser itself.
    #[serde(borrow, default)]
    pub(crate) session_id: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(crate) params: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) error: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
struct ErrorBody {
    #[serde(default)]
    code: i64,
    #[serde(default)]
    message: String,
    #[serde(default)]
    data: Option<Box<RawValue>>,
}

/// Reads the error member of a response.
pub(crate) fn protocol_error(method: Method, body: &RawValue) -> CdpError {
    match serde_json::from_str::<ErrorBody>(body.get()) {
        Ok(body) => CdpError::Protocol {
            method,
            code: body.code,
            message: body.message,
            data: body.data.map(|data| data.get().to_owned()),
        },
        Err(error) => CdpError::Malformed { method, detail: error.to_string() },
    }
}

/// The part of the frame with the payload, without copying; a missing payload is an empty object.
pub(crate) fn payload(frame: &Bytes, raw: Option<&RawValue>) -> Bytes {
    raw.map_or(Bytes::from_static(b"{}"), |raw| frame.slice_ref(raw.get().as_bytes()))
}

/// Writes a command.
pub(crate) fn encode_command(
    id: CommandId,
    session: Option<&CdpSessionId>,
    method: &Method,
    params: &impl Serialize,
) -> Result<BytesMut, CdpError> {
    let bad = |error: serde_json::Error| CdpError::BadParameters {
        method: method.clone(),
        detail: error.to_string(),
    };
    let mut frame = BytesMut::with_capacity(256).writer();
    frame.get_mut().put_slice(b"{\"id\":");
    serde_json::to_writer(&mut frame, &id).map_err(bad)?;
    frame.get_mut().put_slice(b",\"method\":");
    serde_json::to_writer(&mut frame, method).map_err(bad)?;
    if let Some(session) = session {
        frame.get_mut().put_slice(b",\"sessionId\":");
        serde_json::to_writer(&mut frame, session).map_err(bad)?;
    }
    frame.get_mut().put_slice(b",\"params\":");
    let before = frame.get_ref().len();
    serde_json::to_writer(&mut frame, params).map_err(bad)?;
    let mut frame = frame.into_inner();
    if frame.get(before..) == Some(b"null".as_slice()) {
        frame.truncate(before);
        frame.put_slice(b"{}");
    }
    frame.put_slice(b"}");
    Ok(frame)
}

/// Finds the command id and session of an unreadable response from its two ends, in Chrome's member order.
pub(crate) fn recover_route(head: &[u8], tail: &[u8]) -> Option<(CommandId, Option<CdpSessionId>)> {
    let digits = head.strip_prefix(b"{\"id\":")?;
    let length = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let id = std::str::from_utf8(digits.get(..length)?).ok()?.parse().ok()?;
    Some((CommandId::new(id), recover_session(tail)))
}

fn recover_session(tail: &[u8]) -> Option<CdpSessionId> {
    let marker = b"\"sessionId\":\"";
    let start = memchr::memmem::rfind(tail, marker)? + marker.len();
    let session = tail.get(start..)?.strip_suffix(b"\"}")?;
    let plain = session.iter().all(u8::is_ascii_alphanumeric);
    let text = std::str::from_utf8(session).ok()?;
    (plain && !text.is_empty()).then(|| CdpSessionId::new(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encode(session: Option<&str>, params: &impl Serialize) -> String {
        let session = session.map(CdpSessionId::new);
        let method = Method::Borrowed("Page.navigate");
        let frame = encode_command(CommandId::new(7), session.as_ref(), &method, params).expect("encodes");
        String::from_utf8(frame.to_vec()).expect("is text")
    }

    #[test]
    fn commands_are_written_once() {
        assert_eq!(encode(None, &()), r#"{"id":7,"method":"Page.navigate","params":{}}"#);
        assert_eq!(
            encode(Some("S"), &serde_json::json!({"url": "a\"b"})),
            r#"{"id":7,"method":"Page.navigate","sessionId":"S","params":{"url":"a\"b"}}"#
        );
    }

    #[test]
    fn parameters_that_are_not_json_are_refused() {
        let keys: std::collections::HashMap<Vec<u8>, u8> = [(vec![1], 1)].into();
        let method = Method::Borrowed("A.b");
        let error = encode_command(CommandId::new(1), None, &method, &keys).expect_err("keys must be text");
        assert!(matches!(error, CdpError::BadParameters { .. }), "{error}");
    }

    #[test]
    fn command_of_an_unreadable_response_is_found() {
        let check = |head: &str, tail: &str, expected: Option<(u64, Option<&str>)>| {
            let expected = expected.map(|(id, session)| (CommandId::new(id), session.map(CdpSessionId::new)));
            assert_eq!(recover_route(head.as_bytes(), tail.as_bytes()), expected, "{head} .. {tail}");
        };
        check(r#"{"id":12,"result":{"#, r#"x"},"sessionId":"AB12"}"#, Some((12, Some("AB12"))));
        check(r#"{"id":12,"result":{"#, r#"xxxx"}}"#, Some((12, None)));
        check(r#"{"method":"A.b""#, r#"}"#, None);
        check(r#"{"id":99999999999999999999999,"#, "}", None);
        check(r#"{"id":"#, "", None);
    }
}
