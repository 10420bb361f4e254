//! Frames the mux writes itself: answers, errors and events.

use bytes::BytesMut;
use serde_json::{Value, json};
use tabwire_wire::{CdpSessionId, ErrorCode};

/// An error as the protocol carries it, with our code beside the protocol's number.
#[derive(Clone, Debug)]
pub(crate) struct ProtocolError {
    number: i32,
    message: String,
    code: Option<ErrorCode>,
}

impl ProtocolError {
    /// The words Chrome itself uses, so that clients recognise them.
    pub(crate) fn like_chrome(number: i32, message: &str) -> Self {
        Self { number, message: message.to_owned(), code: None }
    }

    /// Our own refusal or failure.
    pub(crate) fn ours(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { number: -32000, message: message.into(), code: Some(code) }
    }

    pub(crate) fn no_session() -> Self {
        Self::like_chrome(-32001, "Session with given id not found.")
    }

    pub(crate) fn no_target() -> Self {
        Self::like_chrome(-32602, "No target with given id found")
    }

    pub(crate) fn no_context(id: &str) -> Self {
        Self::like_chrome(-32602, &format!("Failed to find browser context with id {id}"))
    }

    pub(crate) fn bad_params(message: impl std::fmt::Display) -> Self {
        Self::like_chrome(-32602, &format!("Invalid parameters: {message}"))
    }
}

fn encode(mut frame: Value, session: Option<&CdpSessionId>) -> BytesMut {
    if let (Some(session), Some(members)) = (session, frame.as_object_mut()) {
        members.insert("sessionId".to_owned(), Value::from(session.as_str()));
    }
    BytesMut::from(frame.to_string().as_bytes())
}

/// An answer with a result.
pub(crate) fn result(id: i64, session: Option<&CdpSessionId>, result: Value) -> BytesMut {
    encode(json!({"id": id, "result": result}), session)
}

/// An answer with an error.
pub(crate) fn error(id: i64, session: Option<&CdpSessionId>, error: &ProtocolError) -> BytesMut {
    let mut body = json!({"code": error.number, "message": error.message});
    if let (Some(code), Some(members)) = (error.code, body.as_object_mut()) {
        members.insert("data".to_owned(), Value::from(code.as_str()));
    }
    encode(json!({"id": id, "error": body}), session)
}

/// An event.
pub(crate) fn event(method: &str, session: Option<&CdpSessionId>, params: Value) -> BytesMut {
    encode(json!({"method": method, "params": params}), session)
}

/// A command of our own.
pub(crate) fn command(id: u64, session: Option<&CdpSessionId>, method: &str, params: Value) -> BytesMut {
    encode(json!({"id": id, "method": method, "params": params}), session)
}

/// A client's command, written anew.
pub(crate) fn client_command(
    id: i64,
    session: Option<&CdpSessionId>,
    method: &str,
    params: &Value,
) -> BytesMut {
    encode(json!({"id": id, "method": method, "params": params}), session)
}

/// A command of our own whose parameters are JSON already.
pub(crate) fn raw_command(id: u64, session: &CdpSessionId, method: &str, params: &str) -> BytesMut {
    let session = Value::from(session.as_str());
    let frame = format!(r#"{{"id":{id},"method":"{method}","params":{params},"sessionId":{session}}}"#);
    BytesMut::from(frame.as_bytes())
}
