//! Fetches the bodies of a request and its response from the browser.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use serde_json::json;
use tabwire_cdp::{CdpError, Deadline};

use super::entry::RequestEntry;

/// A body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// Text.
    Text(String),
    /// Bytes that are not text.
    Bytes(Vec<u8>),
}

impl Body {
    /// The bytes.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }
}

/// Fetches the body of a response; an error means that the browser discarded it.
pub(crate) async fn fetch_body(entry: &RequestEntry, deadline: Deadline) -> Result<Body, CdpError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct BodyResponse {
        body: String,
        base64_encoded: bool,
    }
    let params = json!({"requestId": entry.id});
    let response: BodyResponse =
        entry.session.send("Network.getResponseBody", &params, deadline).await?.to()?;
    if !response.base64_encoded {
        return Ok(Body::Text(response.body));
    }
    let bytes = BASE64_STANDARD.decode(&response.body).map_err(|error| CdpError::Malformed {
        method: "Network.getResponseBody".into(),
        detail: error.to_string(),
    })?;
    // CDP sends text without a charset as bytes.
    Ok(match String::from_utf8(bytes) {
        Ok(text) if is_plain(&text) => Body::Text(text),
        Ok(text) => Body::Bytes(text.into_bytes()),
        Err(error) => Body::Bytes(error.into_bytes()),
    })
}

fn is_plain(text: &str) -> bool {
    !text.chars().any(|letter| letter.is_control() && !matches!(letter, '\n' | '\r' | '\t'))
}

/// The body of a request; fetches it when the event did not contain it.
pub(crate) async fn fetch_sent(entry: &RequestEntry, deadline: Deadline) -> Result<Option<String>, CdpError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct BodyResponse {
        post_data: String,
    }
    if entry.post_data.is_some() || !entry.has_post_data {
        return Ok(entry.post_data.clone());
    }
    let params = json!({"requestId": entry.id});
    let response: BodyResponse =
        entry.session.send("Network.getRequestPostData", &params, deadline).await?.to()?;
    Ok(Some(response.post_data))
}
