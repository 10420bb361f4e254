//! The user's commands that concern agents: pause, stop, resume; and the audit rows of these and of take-overs.

use std::sync::Arc;

use serde_json::{Value, json};
use tabwire_api::{Failure, SessionKey, TabId};
use tabwire_audit::{ClientInfo, Transport};
use tabwire_engine::Browser;

use super::message::PageMessage;
use crate::audit::entry::AuditEntry;
use crate::control::{Hold, Scope};
use crate::daemon::Daemon;

/// How the audit log names the user.
const USER: &str = "you";

/// Writes the row of something that the user did. It has no text that the user typed.
pub(super) async fn write_row(
    daemon: &Daemon,
    session: &SessionKey,
    action: &'static str,
    place: Option<(&Browser, TabId)>,
    params: &Value,
) {
    let client =
        ClientInfo { name: Some(USER.to_owned()), transport: Transport::Port, ..ClientInfo::default() };
    let mut entry = AuditEntry::of_user(&daemon.audit, session.clone(), client, action, params);
    if let Some((browser, tab)) = place {
        entry.place(browser, Some(tab));
    }
    entry.finish(None).await;
}

/// What the user does to agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::dashboard) enum Command {
    Pause,
    Stop,
    Resume,
}

impl Command {
    const fn name(self) -> &'static str {
        match self {
            Self::Pause => "pause",
            Self::Stop => "stop",
            Self::Resume => "resume",
        }
    }

    /// Carries it out, and writes the row.
    pub(in crate::dashboard) async fn apply(
        self,
        daemon: &Arc<Daemon>,
        scope: &Scope,
    ) -> Result<(), Failure> {
        let control = &daemon.policy.control;
        let done = match self {
            Self::Pause => control.hold(scope.clone(), Hold::Paused),
            Self::Stop => control.hold(scope.clone(), Hold::Stopped),
            Self::Resume => {
                control.resume(scope);
                Ok(())
            }
        };
        if self == Self::Stop && done.is_ok() {
            disconnect(daemon, scope).await;
        }
        let (session, params) = match scope {
            Scope::All => (SessionKey::default(), json!({"scope": "all"})),
            Scope::Session(name) => (SessionKey::find(name).unwrap_or_default(), json!({"scope": "session"})),
            Scope::Agent(name) => (SessionKey::default(), json!({"scope": "agent", "agent": name})),
        };
        write_row(daemon, &session, self.name(), None, &params).await;
        done
    }
}

/// Carries out a command that concerns agents; `None` for other messages.
pub(super) async fn hold_agents(daemon: &Arc<Daemon>, message: &PageMessage) -> Option<Result<(), Failure>> {
    let (command, scope) = match message {
        PageMessage::Pause { scope } => (Command::Pause, scope),
        PageMessage::Stop { scope } => (Command::Stop, scope),
        PageMessage::Resume { scope } => (Command::Resume, scope),
        _ => return None,
    };
    Some(command.apply(daemon, scope).await)
}

/// Ends the scripts of stopped sessions, and disconnects their CDP clients.
async fn disconnect(daemon: &Daemon, scope: &Scope) {
    for session in daemon.sessions.all() {
        let is_meant = match scope {
            Scope::All => true,
            Scope::Session(name) => session.key.to_string() == *name,
            // A CDP client has no agent that is known here.
            Scope::Agent(_) => false,
        };
        if is_meant {
            daemon.scripts.end(&session.key, None);
            if let Ok(Some(live)) = session.peek_live() {
                live.browser.hub.dismiss_session(session.key.clone()).await;
            }
        }
    }
}
