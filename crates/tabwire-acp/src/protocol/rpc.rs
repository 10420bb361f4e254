//! The JSON-RPC envelope.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::limits::{DETAIL_BYTES, NAME_BYTES};
use crate::protocol::text::find_text;

/// The agent needs the user to sign in.
pub const SIGN_IN_NEEDED: i64 = -32000;
/// The request is no request.
pub(crate) const INVALID_REQUEST: i64 = -32600;
/// The client has no such method.
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;
/// The parameters are wrong.
pub(crate) const INVALID_PARAMS: i64 = -32602;
/// The sender of a request has cancelled it.
pub(crate) const CANCELLED: i64 = -32800;

/// The failure of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RpcError {
    /// The code.
    pub code: i64,
    /// The agent's sentence.
    pub message: String,
}

/// One message of the agent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Incoming {
    Request {
        id: Value,
        method: String,
        params: Value,
    },
    Notification {
        method: String,
        params: Value,
    },
    Response {
        id: u64,
        result: Result<Value, RpcError>,
    },
    /// A response to no request of ours, because the id is none of ours.
    UnknownResponse,
}

/// Parses a line. `None` when it is no message.
pub(crate) fn parse(line: &[u8]) -> Option<Incoming> {
    let mut message: Value = serde_json::from_slice(line).ok()?;
    let members = message.as_object_mut()?;
    let params = members.remove("params").unwrap_or(Value::Null);
    let id = members.remove("id");
    if let Some(method) = members.get("method") {
        let method = method.as_str().filter(|name| name.len() <= NAME_BYTES)?.to_owned();
        return match id {
            Some(id) if is_request_id(&id) => Some(Incoming::Request { id, method, params }),
            Some(_) => None,
            None => Some(Incoming::Notification { method, params }),
        };
    }
    let result = match (members.remove("error"), members.remove("result")) {
        (Some(error), _) if !error.is_null() => Err(parse_error(&error)),
        (_, Some(result)) => Ok(result),
        _ => return None,
    };
    Some(match id.as_ref().and_then(Value::as_u64) {
        Some(id) => Incoming::Response { id, result },
        None => Incoming::UnknownResponse,
    })
}

fn is_request_id(id: &Value) -> bool {
    match id {
        Value::Number(_) => true,
        Value::String(text) => text.len() <= NAME_BYTES,
        _ => false,
    }
}

fn parse_error(error: &Value) -> RpcError {
    let code = error.get("code").and_then(Value::as_i64).unwrap_or_default();
    let mut message = find_text(error, "message", DETAIL_BYTES).unwrap_or_default();
    // Agents put the cause into the data and a general word into the message.
    let detail = error.get("data").and_then(|data| match data {
        Value::String(text) => Some(crate::protocol::text::cut(text, DETAIL_BYTES).to_owned()),
        data => find_text(data, "details", DETAIL_BYTES).or_else(|| find_text(data, "message", DETAIL_BYTES)),
    });
    if let Some(detail) = detail.filter(|detail| !detail.is_empty() && *detail != message) {
        message = if message.is_empty() { detail } else { format!("{message}: {detail}") };
    }
    RpcError { code, message }
}

pub(crate) fn request(id: u64, method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

pub(crate) fn notification(method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string()
}

pub(crate) fn response(id: &Value, result: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string()
}

pub(crate) fn error(id: &Value, code: i64, message: &str) -> String {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}).to_string()
}
