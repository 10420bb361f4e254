//! Writes CDP frames: responses, errors, events and commands, with the members in Chrome's order.

use std::fmt::Display;

use bytes::BytesMut;
use serde_json::{Value, json};
use tabwire_api::{CdpSessionId, ErrorCode};

/// A CDP error: the protocol's number and message, and Tabwire's error code as its `data`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProtocolError {
    number: i64,
    message: String,
    code: Option<String>,
}

impl ProtocolError {
    /// An error with Chrome's number and message, because clients match on both.
    pub fn chrome(number: i64, message: impl Into<String>) -> Self {
        Self { number, message: message.into(), code: None }
    }

    /// An error of Tabwire itself.
    pub fn tabwire(code: ErrorCode, message: impl Into<String>) -> Self {
        Self::with_code(code.as_str(), message)
    }

    /// An error with a code that another process sent.
    pub fn with_code(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self { number: -32000, message: message.into(), code: Some(code.into()) }
    }

    /// Chrome's error for an unknown `sessionId`.
    #[must_use]
    pub fn no_session() -> Self {
        Self::chrome(-32001, "Session with given id not found.")
    }

    /// Chrome's error for an unknown `targetId`.
    #[must_use]
    pub fn no_target() -> Self {
        Self::chrome(-32602, "No target with given id found")
    }

    /// Chrome's error for an unknown `browserContextId`.
    #[must_use]
    pub fn no_context(id: &str) -> Self {
        Self::chrome(-32602, format!("Failed to find browser context with id {id}"))
    }

    /// Chrome's error for parameters of the wrong shape.
    pub fn invalid_params(message: impl Display) -> Self {
        Self::chrome(-32602, format!("Invalid parameters: {message}"))
    }
}

/// A response; `result` is a `Value` or JSON text.
pub fn result(id: i64, session: Option<&CdpSessionId>, result: impl Display) -> BytesMut {
    finish(format!(r#"{{"id":{id},"result":{result}"#), session)
}

/// A response with an error.
#[must_use]
pub fn error(id: i64, session: Option<&CdpSessionId>, error: &ProtocolError) -> BytesMut {
    let mut body = json!({"code": error.number, "message": error.message});
    if let (Some(code), Some(members)) = (&error.code, body.as_object_mut()) {
        members.insert("data".to_owned(), Value::from(code.as_str()));
    }
    finish(format!(r#"{{"id":{id},"error":{body}"#), session)
}

/// An event; `params` is a `Value` or JSON text.
pub fn event(method: &str, session: Option<&CdpSessionId>, params: impl Display) -> BytesMut {
    let method = Value::from(method);
    finish(format!(r#"{{"method":{method},"params":{params}"#), session)
}

/// A command; `params` is a `Value` or JSON text.
pub fn command(
    id: impl Display,
    session: Option<&CdpSessionId>,
    method: &str,
    params: impl Display,
) -> BytesMut {
    let method = Value::from(method);
    finish(format!(r#"{{"id":{id},"method":{method},"params":{params}"#), session)
}

fn finish(mut frame: String, session: Option<&CdpSessionId>) -> BytesMut {
    if let Some(session) = session {
        frame.push_str(r#","sessionId":"#);
        frame.push_str(&Value::from(session.as_str()).to_string());
    }
    frame.push('}');
    BytesMut::from(frame.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_have_chromes_member_order() {
        let session = CdpSessionId::new("S\"1");
        let text = |frame: BytesMut| String::from_utf8(frame.to_vec()).expect("UTF-8");
        assert_eq!(
            text(result(7, Some(&session), json!({"a": 1}))),
            r#"{"id":7,"result":{"a":1},"sessionId":"S\"1"}"#
        );
        assert_eq!(text(event("A.b", None, "{}")), r#"{"method":"A.b","params":{}}"#);
        assert_eq!(text(command(1_u64, None, "A.b", "{}")), r#"{"id":1,"method":"A.b","params":{}}"#);
        let refused = ProtocolError::tabwire(ErrorCode::PolicyDenied, "no");
        let refused: Value = serde_json::from_slice(&error(7, None, &refused)).expect("JSON");
        assert_eq!(refused["error"], json!({"code": -32000, "message": "no", "data": "POLICY_DENIED"}));
    }
}
