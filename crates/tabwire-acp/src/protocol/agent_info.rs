//! What an agent says about itself in its response to `initialize`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::limits::{DETAIL_BYTES, LIST_ENTRIES, NAME_BYTES};
use crate::protocol::text::{entries, find_id, find_text};

/// An agent and what it offers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentInfo {
    /// Its name, as the program gives it.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Whether `session/load` is offered.
    pub loads: bool,
    /// Whether `session/resume` is offered.
    pub resumes: bool,
    /// Whether prompts can contain images.
    pub images: bool,
    /// Whether prompts can contain files.
    pub embeds: bool,
    /// Whether `_session/steering` is offered.
    pub steers: bool,
    /// The ways to sign in.
    pub auth_methods: Vec<AuthMethod>,
}

/// A way to sign in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuthMethod {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: Option<String>,
    /// Whether the agent does it by itself, when it is asked to. Other ways need a terminal or a key.
    pub is_protocol_driven: bool,
}

impl AgentInfo {
    /// Reads the result of `initialize`. `Err` with the version that the agent speaks, if it is not ours.
    pub(crate) fn parse(result: &Value) -> Result<Self, Option<i64>> {
        let version = result.get("protocolVersion").and_then(Value::as_i64);
        if version != Some(super::super::client::PROTOCOL_VERSION) {
            return Err(version);
        }
        let info = &result["agentInfo"];
        let offers = &result["agentCapabilities"];
        Ok(Self {
            name: find_text(info, "title", NAME_BYTES)
                .or_else(|| find_text(info, "name", NAME_BYTES))
                .unwrap_or_default(),
            version: find_text(info, "version", NAME_BYTES).unwrap_or_default(),
            loads: offers["loadSession"] == true,
            resumes: offers["sessionCapabilities"]["resume"].is_object(),
            images: offers["promptCapabilities"]["image"] == true,
            embeds: offers["promptCapabilities"]["embeddedContext"] == true,
            // The place differs between versions of the adapter.
            steers: result["_meta"]["steering"]["supported"] == true
                || offers["_meta"]["steering"]["supported"] == true,
            auth_methods: entries(result, "authMethods", LIST_ENTRIES)
                .filter_map(AuthMethod::parse)
                .collect(),
        })
    }
}

impl AuthMethod {
    fn parse(value: &Value) -> Option<Self> {
        let id = find_id(value, "id")?;
        let kind = value.get("type").and_then(Value::as_str);
        Some(Self {
            name: find_text(value, "name", NAME_BYTES).unwrap_or_else(|| id.clone()),
            id,
            description: find_text(value, "description", DETAIL_BYTES),
            is_protocol_driven: matches!(kind, None | Some("agent")),
        })
    }
}
