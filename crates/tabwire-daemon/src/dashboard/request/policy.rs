//! Grants, denials and checks of the user at the dashboard, and the text of the policy file.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure, SessionKey};
use tabwire_policy::{PolicyFile, Profile};

use super::blocking;
use crate::daemon::Daemon;
use crate::dashboard::line::PLACE;
use crate::policy::store::PolicyText;

/// Longest grant for a time.
const MOST_SECONDS: u64 = 366 * 24 * 3600;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::dashboard) struct AllowRequest {
    site: String,
    capabilities: Vec<String>,
    agent: Option<String>,
    /// A session's name, for a grant that ends with it.
    session: Option<String>,
    /// For a grant that ends after a time.
    seconds: Option<u64>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::dashboard) struct DenyRequest {
    site: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::dashboard) struct CheckRequest {
    url: String,
    /// An action, or an effect class.
    action: String,
    agent: Option<String>,
    session: Option<String>,
    #[schemars(with = "Option<String>")]
    policy: Option<Profile>,
}

fn session_key(name: &str) -> Result<SessionKey, Failure> {
    SessionKey::find(name).ok_or_else(|| {
        Failure::new(ErrorCode::BadArgs, format!("`{name}` is not a valid session name."))
            .with_remedy("Use NAME or PROJECT/NAME.")
    })
}

fn with_session(mut body: Value, name: Option<&str>) -> Result<Value, Failure> {
    if let (Some(name), Some(members)) = (name, body.as_object_mut()) {
        let key = session_key(name)?;
        members.insert("session".to_owned(), json!(key.name));
        members.insert("project".to_owned(), json!(key.project));
    }
    Ok(body)
}

pub(super) async fn allow(daemon: &Daemon, request: AllowRequest) -> Result<Value, Failure> {
    let AllowRequest { site, capabilities, agent, session, seconds } = request;
    let term = match (&session, seconds) {
        (Some(_), Some(_)) => {
            let message = "A grant ends with a session or after a time, not both.";
            return Err(Failure::new(ErrorCode::BadArgs, message));
        }
        (Some(_), None) => json!("session"),
        (None, Some(seconds)) => json!({"seconds": seconds.clamp(1, MOST_SECONDS)}),
        (None, None) => json!("always"),
    };
    let agent = agent.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
    let body = json!({"site": site.trim(), "capabilities": capabilities, "term": term, "agent": agent});
    let body = with_session(body, session.as_deref())?;
    daemon.policy_api.handle_at("policy_allow", body, PLACE).await
}

pub(super) async fn deny(daemon: &Daemon, request: DenyRequest) -> Result<Value, Failure> {
    daemon.policy_api.handle_at("policy_deny", json!({"site": request.site.trim()}), PLACE).await
}

pub(super) async fn check(daemon: &Daemon, request: CheckRequest) -> Result<Value, Failure> {
    let CheckRequest { url, action, agent, session, policy } = request;
    let agent = agent.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
    let body = json!({"url": url.trim(), "action": action.trim(), "agent": agent, "policy": policy});
    let body = with_session(body, session.as_deref())?;
    daemon.policy_api.handle_at("check", body, PLACE).await
}

/// The text of the policy file, its rules, and the line of its fault.
pub(super) async fn file(daemon: &Daemon) -> Result<Value, Failure> {
    let policy = std::sync::Arc::clone(&daemon.policy);
    blocking(move || {
        let path = policy.policy_file().display().to_string();
        let text = match policy.text() {
            PolicyText::None => return Ok(json!({"path": path, "text": null})),
            PolicyText::Unreadable(fault) => return Ok(json!({"path": path, "text": null, "fault": fault})),
            PolicyText::Text(text) => text,
        };
        let fault = PolicyFile::parse(&text).err();
        Ok(json!({
            "path": path, "text": text,
            "fault": fault.as_ref().map(|fault| fault.what.clone()), "fault_line": fault.map(|fault| fault.line),
        }))
    })
    .await
}
