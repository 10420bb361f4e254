//! Frames for the hub: answers, errors and events, with the members in the order a browser writes them.

use bytes::BytesMut;
use serde_json::{Value, json};
use tabwire_wire::{CdpSessionId, ErrorCode};

use crate::link_message::LinkFailure;

/// An error as the protocol carries it, with our code beside the protocol's number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProtocolError {
    number: i64,
    message: String,
    code: Option<String>,
}

impl ProtocolError {
    /// The words Chrome itself uses, so that clients recognise them.
    pub(crate) fn like_chrome(number: i64, message: impl Into<String>) -> Self {
        Self { number, message: message.into(), code: None }
    }

    /// Our own refusal or failure.
    pub(crate) fn ours(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { number: -32000, message: message.into(), code: Some(code.as_str().to_owned()) }
    }

    pub(crate) fn no_session() -> Self {
        Self::like_chrome(-32001, "Session with given id not found.")
    }

    pub(crate) fn no_target() -> Self {
        Self::like_chrome(-32602, "No target with given id found")
    }

    pub(crate) fn bad_params(message: impl std::fmt::Display) -> Self {
        Self::like_chrome(-32602, format!("Invalid parameters: {message}"))
    }

    /// What cannot be had in the user's own browser.
    pub(crate) fn not_here(method: &str) -> Self {
        Self::like_chrome(
            -32601,
            format!("'{method}' wasn't found: the user's own browser does not offer it to extensions"),
        )
    }

    /// What the extension or its browser said.
    pub(crate) fn of(failure: LinkFailure) -> Self {
        match failure.number {
            Some(number) => Self::like_chrome(number, failure.message),
            None if failure.code == ErrorCode::CdpError.as_str() => {
                Self::like_chrome(-32000, failure.message)
            }
            None => Self { number: -32000, message: failure.message, code: Some(failure.code) },
        }
    }
}

fn ended(mut frame: String, session: Option<&CdpSessionId>) -> BytesMut {
    if let Some(session) = session {
        frame.push_str(r#","sessionId":"#);
        frame.push_str(&Value::from(session.as_str()).to_string());
    }
    frame.push('}');
    BytesMut::from(frame.as_bytes())
}

/// An answer whose result is JSON already.
pub(crate) fn raw_result(id: i64, session: Option<&CdpSessionId>, result: &str) -> BytesMut {
    ended(format!(r#"{{"id":{id},"result":{result}"#), session)
}

/// An answer with an error.
pub(crate) fn error(id: i64, session: Option<&CdpSessionId>, error: &ProtocolError) -> BytesMut {
    let mut body = json!({"code": error.number, "message": error.message});
    if let (Some(code), Some(members)) = (&error.code, body.as_object_mut()) {
        members.insert("data".to_owned(), Value::from(code.as_str()));
    }
    ended(format!(r#"{{"id":{id},"error":{body}"#), session)
}

/// An event whose parameters are JSON already.
pub(crate) fn raw_event(method: &str, session: Option<&CdpSessionId>, params: &str) -> BytesMut {
    let method = Value::from(method);
    ended(format!(r#"{{"method":{method},"params":{params}"#), session)
}
