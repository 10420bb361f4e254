//! The connected clients, and the end of one of them.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabwire_api::{ClientName, ErrorCode, Failure, SessionKey};
use tabwire_audit::{ClientInfo, Transport};

use crate::audit::entry::AuditEntry;
use crate::control::{Hold, Scope};
use crate::daemon::Daemon;
use crate::dashboard::line::PLACE;
use crate::dashboard::live::Command;
use crate::endpoint::connections::{ClientKind, ListedClient};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::dashboard) struct DisconnectRequest {
    /// The id in the list.
    client: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::dashboard) struct HoldRequest {
    /// Whose actions.
    pub(super) scope: Scope,
}

/// A client in the list.
#[derive(Serialize, JsonSchema)]
pub(in crate::dashboard) struct ShownClient {
    #[serde(flatten)]
    client: ListedClient,
    /// The name of its agent, by which it can be paused and stopped.
    agent: Option<String>,
    /// Whether the user holds this agent.
    hold: Option<Hold>,
}

/// Pauses, stops or resumes agents, and writes the row.
pub(super) async fn hold(daemon: &Arc<Daemon>, scope: Scope, command: Command) -> Result<Value, Failure> {
    command.apply(daemon, &scope).await?;
    Ok(json!({"holds": daemon.policy.control.holds()}))
}

/// Every connected client.
pub(super) async fn list(daemon: &Arc<Daemon>) -> Value {
    let mut clients = daemon.clients.list().await;
    clients.extend(daemon.scripts.list());
    for browser in daemon.extensions.list().await {
        let text = |name: &str| browser.get(name).and_then(Value::as_str).map(str::to_owned);
        clients.push(ListedClient {
            id: format!("extension-{}", text("install").unwrap_or_default()),
            kind: ClientKind::Extension,
            name: text("browser"),
            program: text("product"),
            pid: None,
            since: None,
            session: String::new(),
            pending: 0,
            disconnects: false,
        });
    }
    let holds = daemon.policy.control.holds();
    let shown = clients.into_iter().map(|client| {
        let name = client.name.as_deref().and_then(|name| ClientName::new(name).ok());
        let acts = matches!(client.kind, ClientKind::Mcp | ClientKind::Script);
        let agent = name.filter(|_| acts).map(|name| name.display_name());
        let of_agent =
            |(scope, _): &&(Scope, Hold)| matches!(scope, Scope::Agent(held) if Some(held) == agent.as_ref());
        let hold = holds.iter().find(of_agent).map(|(_, hold)| *hold);
        ShownClient { client, agent, hold }
    });
    json!({"clients": shown.collect::<Vec<_>>()})
}

/// Disconnects a client, and writes the row.
pub(super) async fn disconnect(daemon: &Arc<Daemon>, request: DisconnectRequest) -> Result<Value, Failure> {
    let found = match daemon.clients.disconnect(&request.client).await {
        Some(found) => Some(found),
        None => daemon.scripts.disconnect(&request.client),
    };
    let (client, session) = found.ok_or_else(|| {
        Failure::new(ErrorCode::BadArgs, "The client has already disconnected.")
            .with_remedy("Look at the list again.")
    })?;
    write_row(daemon, session, &client).await;
    Ok(json!({"disconnected": client}))
}

async fn write_row(daemon: &Daemon, session: SessionKey, client: &ListedClient) {
    let ListedClient { kind, name, program, .. } = client;
    let params = json!({"kind": kind, "client": name, "program": program});
    let by = ClientInfo { name: Some(PLACE.to_owned()), transport: Transport::Port, ..ClientInfo::default() };
    AuditEntry::of_ruling(&daemon.audit, session, by, "client_disconnect", &params).finish(None).await;
}
