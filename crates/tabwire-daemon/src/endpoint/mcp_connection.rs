//! One MCP client. Its calls run as actions; its session, tabs and leases end with it.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use serde_json::json;
use tabwire_api::api::{
    ActionRequest, ActionResponse, ExecuteLine, ExecuteRequest, ExecuteResult, McpOpening, McpTransport,
};
use tabwire_api::{CallNumber, ClientName, ErrorCode, Failure, Progress, SessionName};
use tabwire_audit::{Filter, Reader};
use tabwire_mcp::{ApprovalQuestion, Approver, Backend, BackendFuture, Permission};
use tokio::sync::mpsc;

use crate::audit::entry::AuditEntry;
use crate::audit::event::Event;
use crate::chat::Chat;
use crate::chat::steps::StepFacts;
use crate::daemon::Daemon;
use crate::endpoint::connections::{ClientKind, DisconnectSignal, Registration};
use crate::http::caller::Caller;
use crate::limits::APPROVAL_DEADLINE;
use crate::policy::approvals::{
    ApprovalDecision, ApprovalQueue, ApprovalRequest, ApprovalWatcher, PendingApproval,
};
use crate::session::Session;

/// Largest image that is sent to an MCP client.
const MCP_IMAGE_BYTES: u64 = 32 * 1024 * 1024;

/// Longest part of the name of an MCP client before its number.
const MCP_CLIENT_NAME_BYTES: usize = 40;

/// How long each tab of a disconnected MCP client may take to close.
const TAB_CLOSE_DEADLINE: Duration = Duration::from_millis(1_500);

/// One MCP client.
#[derive(Debug)]
pub(crate) struct McpConnection {
    daemon: Arc<Daemon>,
    caller: Caller,
    /// The request that every call starts from.
    template: ActionRequest,
    /// Whether the session outlives the client.
    keeps_session: bool,
    /// What tells it apart from other connections of the same program.
    number: String,
    /// Its name, for leases and the audit log.
    name: Mutex<ClientName>,
    /// Lists it while it is connected.
    registration: Registration,
    /// The chat whose agent it is.
    chat: Option<Arc<Chat>>,
    /// Writes the disconnect row when it is dropped. There is none before the client has introduced itself.
    disconnect: OnceLock<AuditEntry>,
}

impl McpConnection {
    /// A client with a session of its own, unless the user named one.
    pub(crate) fn new(daemon: Arc<Daemon>, caller: Caller, opening: &McpOpening) -> Result<Self, Failure> {
        // The process of a client on stdio stays the same when it connects to the next daemon, and so do its tabs.
        let number = match caller.pid().filter(|_| opening.transport == McpTransport::Stdio) {
            Some(pid) => pid.to_string(),
            None => format!("h{}", daemon.mcp_clients.number()),
        };
        let mut template = opening.request.clone();
        if !opening.keeps_session {
            template.session = temporary_name()?;
        }
        let chat = opening.chat.as_deref().map(|id| find_chat(&daemon, id)).transpose()?;
        if let Some(chat) = &chat {
            // Names the chat: its policy questions are shown there.
            template.client = Some(chat.client_name()?);
            template.chat = Some(chat.id.to_string());
            chat.connected(&template.project);
        }
        let name = template.client.clone().map_or_else(|| client_name("mcp", &number), Ok)?;
        let info = caller.named(template.client.as_ref().map(ClientName::as_str), None);
        let registration = daemon.clients.enter(ClientKind::Mcp, info, template.key());
        Ok(Self {
            registration,
            daemon,
            caller,
            template,
            keeps_session: opening.keeps_session,
            number,
            name: Mutex::new(name),
            chat,
            disconnect: OnceLock::new(),
        })
    }

    /// The signal that the user wants it to be disconnected.
    pub(crate) fn disconnect_signal(&self) -> DisconnectSignal {
        self.registration.signal()
    }

    fn name(&self) -> MutexGuard<'_, ClientName> {
        self.name.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs an action until the user stops the turn of the chat, if the client is the agent of one.
    async fn in_chat<T>(&self, running: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
        let Some(chat) = &self.chat else { return running.await };
        tokio::select! {
            // First, so that no action begins in a turn that is being stopped.
            biased;
            failure = chat.stopped() => Err(failure),
            result = running => result,
        }
    }

    /// Whether the session has a Firefox, or its first call will start one.
    fn uses_firefox(&self) -> bool {
        let options = &self.template.options;
        let is_remote = options.address().is_some() || options.grid.is_some();
        let key = self.request().key();
        let live = self.daemon.sessions.find(&key).and_then(|session| session.peek_live().ok().flatten());
        match live {
            Some(live) => live.browser.is_firefox(),
            None => !is_remote && self.daemon.browsers.would_launch_firefox(options),
        }
    }

    /// Closes the client's tabs, ends its leases, and releases the tabs of the user that it used. The session goes on.
    async fn leave_session(&self, session: &Session) {
        let name = self.name().clone();
        let Some(live) = session.find_live().await else { return session.leases.forget(&name) };
        session.update_tabs(&live, &live.engine.list_tabs());
        for tab in session.leases.owned_by(&name) {
            if let Err(failure) = live.engine.close_tab(tab, TAB_CLOSE_DEADLINE).await {
                tracing::info!(%failure, %tab, "a tab of an MCP client did not close");
            }
        }
        session.leases.forget(&name);
        session.release_shared_tabs(&live).await;
    }

    /// Ends the session that was created for the client, with its browser.
    async fn end_session(&self) {
        let request = ActionRequest { params: json!({}), ..self.request() };
        let key = request.key();
        let Some(session) = self.daemon.sessions.find(&key) else { return };
        // Waits for a browser that is starting, so that it is ended too.
        if session.find_live().await.is_some()
            && let Err(failure) = self.daemon.act("close", request, &self.caller).await
        {
            tracing::warn!(%failure, session = %key, "the browser of an MCP client did not end");
        }
        self.daemon.sessions.forget(&key);
        self.daemon.sessions.store().forget_record(&key);
    }
}

impl Backend for McpConnection {
    fn act<'a>(
        &'a self,
        name: &'a str,
        request: ActionRequest,
    ) -> BackendFuture<'a, Result<ActionResponse, Failure>> {
        let done = self.daemon.act(name, request, &self.caller);
        Box::pin(async move {
            let _call = self.registration.begin_call();
            self.in_chat(done).await
        })
    }

    fn execute<'a>(
        &'a self,
        request: ExecuteRequest,
        lines: mpsc::Sender<ExecuteLine>,
    ) -> BackendFuture<'a, Result<ExecuteResult, Failure>> {
        let step = self.daemon.begin_step("execute", &request.request);
        let done = self.daemon.execute(request, &self.caller, lines);
        Box::pin(async move {
            let _call = self.registration.begin_call();
            let result = self.in_chat(done).await;
            if let Some(step) = step {
                step.end(StepFacts::default(), result.as_ref().err());
            }
            result
        })
    }

    fn reset(&self) -> bool {
        self.daemon.reset_script(&self.request())
    }

    fn gap_of(&self, action: &str) -> String {
        if !self.uses_firefox() {
            return String::new();
        }
        tabwire_bidi::gaps::of_action(action).map(|gap| gap.sentence).collect::<Vec<_>>().join(" ")
    }

    fn policy_revision(&self) -> u64 {
        self.daemon.policy.revision()
    }

    fn read_image<'a>(&'a self, path: &'a Path) -> BackendFuture<'a, Result<Vec<u8>, Failure>> {
        Box::pin(async move {
            let unreadable = |error: std::io::Error| {
                let message = format!("The image {} cannot be read: {error}.", path.display());
                Failure::new(ErrorCode::Internal, message)
            };
            let size = tokio::fs::metadata(path).await.map_err(unreadable)?.len();
            if size > MCP_IMAGE_BYTES {
                return Err(unreadable(std::io::ErrorKind::FileTooLarge.into()));
            }
            tokio::fs::read(path).await.map_err(unreadable)
        })
    }

    fn audit_rows<'a>(
        &'a self,
        request: &'a ActionRequest,
        rows: usize,
    ) -> BackendFuture<'a, Result<String, Failure>> {
        let path = self.daemon.config.paths.audit_log();
        let filter = Filter { session: Some(request.session.clone()), ..Filter::default() };
        Box::pin(async move {
            let count = u32::try_from(rows).unwrap_or(u32::MAX);
            let read = tokio::task::spawn_blocking(move || Reader::open(&path)?.last(&filter, count)).await;
            let rows = match read {
                Ok(Ok(rows)) => rows,
                Ok(Err(error)) => {
                    let message = format!("The audit log cannot be read: {error}.");
                    return Err(Failure::new(ErrorCode::Internal, message));
                }
                Err(_) => return Err(Failure::new(ErrorCode::Internal, "The audit log was not read.")),
            };
            let lines = rows.iter().map(|row| {
                let origin = row.origin.as_deref().unwrap_or_default();
                format!("{} {} {} {} {origin}", row.number, row.time, row.action, row.result)
            });
            Ok(lines.collect::<Vec<_>>().join("\n"))
        })
    }

    fn extension_state(&self) -> BackendFuture<'_, Option<String>> {
        Box::pin(async move {
            let (options, defaults) = (&self.template.options, &self.template.defaults);
            let given = if options.cdp.is_some() { options } else { defaults };
            if given.extension().is_none() && !given.is_auto() {
                return None;
            }
            Some(self.daemon.extensions.state_text(given.extension().flatten()).await)
        })
    }

    fn progress(&self, request: &ActionRequest) -> Progress {
        self.daemon.sessions.progress_of(&request.key())
    }

    fn request(&self) -> ActionRequest {
        ActionRequest { client: Some(self.name().clone()), ..self.template.clone() }
    }

    fn approver(&self) -> Box<dyn Approver> {
        if self.chat.is_some() {
            // The chat asks its user. An agent must not answer for them.
            return Box::new(NoApprover);
        }
        let queue = Arc::clone(&self.daemon.approvals);
        let watcher = queue.watch_call();
        Box::new(McpApprover { queue, watcher })
    }

    fn set_client_name(&self, name: &ClientName) {
        if self.template.client.is_none() {
            self.registration.set_name(name.as_str());
        }
        self.disconnect.get_or_init(|| {
            let given = self.template.client.as_ref().unwrap_or(name);
            let (audit, key) = (&self.daemon.audit, self.template.key());
            let info = self.caller.named(Some(given.as_str()), None);
            Event::McpConnected.record(audit, key.clone(), info.clone(), None);
            AuditEntry::of_event(audit, key, info, &Event::McpDisconnected)
        });
        // A name that the user gave is kept.
        if self.template.client.is_none()
            && let Ok(name) = client_name(name.as_str(), &self.number)
        {
            *self.name() = name;
        }
    }

    fn another(&self) -> Result<Arc<dyn Backend>, Failure> {
        let opening = McpOpening {
            request: self.template.clone(),
            keeps_session: self.keeps_session,
            transport: McpTransport::Http,
            ..McpOpening::default()
        };
        let daemon = Arc::clone(&self.daemon);
        Ok(Arc::new(Self::new(daemon, self.caller.clone(), &opening)?))
    }

    fn leave(&self) -> BackendFuture<'_, ()> {
        let client = self.name().clone();
        self.daemon.scripts.end(&self.template.key(), Some(&client));
        Box::pin(async move {
            if !self.keeps_session {
                return self.end_session().await;
            }
            if let Some(session) = self.daemon.sessions.find(&self.template.key()) {
                self.leave_session(&session).await;
            }
        })
    }
}

/// Asks nothing: the questions are shown elsewhere.
struct NoApprover;

impl Approver for NoApprover {
    fn call(&self) -> Option<CallNumber> {
        None
    }

    fn next(&self) -> BackendFuture<'_, ApprovalQuestion> {
        Box::pin(std::future::pending())
    }

    fn answer(&self, _: &str, _: Permission) {}
}

/// The chat that a connection names. Only one whose agent runs.
fn find_chat(daemon: &Daemon, id: &str) -> Result<Arc<Chat>, Failure> {
    daemon.chats.find_running(id).ok_or_else(|| {
        Failure::new(ErrorCode::BadArgs, "No running chat has that id.")
            .with_remedy("`--chat` is for agents that a chat starts.")
    })
}

/// Forwards the approval requests of one call to the MCP client, whose user answers them.
struct McpApprover {
    queue: Arc<ApprovalQueue>,
    watcher: ApprovalWatcher,
}

impl Approver for McpApprover {
    fn call(&self) -> Option<CallNumber> {
        self.watcher.call()
    }

    fn next(&self) -> BackendFuture<'_, ApprovalQuestion> {
        Box::pin(async move {
            loop {
                let pending = self.watcher.next(APPROVAL_DEADLINE).await;
                if let Some(PendingApproval { id, request, .. }) = pending.into_iter().next() {
                    let ApprovalRequest { who, session, action, site, capability, why, .. } = request;
                    // The client chooses its name. In quotes it cannot pass for a part of the question.
                    let message = format!(
                        "{who:?} wants to use `{action}` on {site} in session {session}, which needs `{capability}`: {why}"
                    );
                    return ApprovalQuestion { id: id.to_string(), message };
                }
            }
        })
    }

    fn answer(&self, id: &str, permission: Permission) {
        let answer = match permission {
            Permission::Once => ApprovalDecision::Once,
            Permission::Session => ApprovalDecision::Session,
            Permission::Agent => ApprovalDecision::Agent,
            Permission::Always => ApprovalDecision::Always,
            Permission::No => ApprovalDecision::No,
        };
        // Another watcher may have answered.
        let _ = self.queue.answer(id, answer, "the MCP client");
    }
}

/// Prefix of the names of temporary sessions. Twelve hexadecimal digits follow.
const TEMPORARY: &str = "mcp-";

/// Whether a session was created for an MCP client.
pub(crate) fn is_temporary(name: &SessionName) -> bool {
    let word = name.as_str().strip_prefix(TEMPORARY);
    word.is_some_and(|word| word.len() == 12 && word.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// A random name for a temporary session.
fn temporary_name() -> Result<SessionName, Failure> {
    let unusable = |what: String| Failure::new(ErrorCode::Internal, what);
    let mut bytes = [0_u8; 6];
    getrandom::fill(&mut bytes).map_err(Failure::no_random_bytes)?;
    let word: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    SessionName::new(&format!("{TEMPORARY}{word}")).map_err(|error| unusable(format!("{error}.")))
}

/// The name of a client: the name it gives itself, and a number.
fn client_name(name: &str, number: &str) -> Result<ClientName, Failure> {
    let end = name.floor_char_boundary(name.len().min(MCP_CLIENT_NAME_BYTES));
    ClientName::new(&format!("{}:{number}", &name[..end]))
        .map_err(|error| Failure::new(ErrorCode::Internal, format!("{error}.")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_temporary_session_is_recognised_by_its_name() {
        let name = temporary_name().expect("randomness");
        assert!(is_temporary(&name), "{}", name.as_str());
        for users in ["mcp-work", "mcp-0123456789ax", "mcp-0123456789abc", "default"] {
            assert!(!is_temporary(&SessionName::new(users).expect("a name")), "{users}");
        }
        assert_eq!(client_name("claude-code", "3").expect("a name").as_str(), "claude-code:3");
        assert!(client_name(&"x".repeat(500), "3").is_ok());
    }
}
