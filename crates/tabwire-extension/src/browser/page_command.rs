//! Commands on pages: recorded until the debugger is needed, handled here where clients share Chrome's one
//! session, or forwarded.

use serde_json::value::RawValue;
use serde_json::{Value, json};
use tabwire_api::{CdpSessionId, ErrorCode};
use tabwire_cdp::ProtocolError;
use tabwire_cdp::lenient_json;

use crate::browser::pending::{OnResponse, PendingRequest, Requester};

use crate::browser::{EmulatedBrowser, failure};
use crate::link::message::{SendParams, SettleParams};
use crate::session::init_command::{can_defer, is_setup};
use crate::session::override_undo::{is_undo_of, undo_of};
use crate::session::setup_replay::SetupReplay;
use crate::session::synthetic_context::Translation;
use crate::session::virtual_session::SCREENCAST;
use crate::target::debuggee::DebuggeeId;
use crate::target::tab::{Tab, TabState};

/// A CDP command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Command {
    pub(crate) method: String,
    /// JSON text.
    pub(crate) params: String,
}

impl Command {
    pub(crate) fn new(method: &str, params: &str) -> Self {
        Self { method: method.to_owned(), params: params.to_owned() }
    }

    pub(crate) fn read_params(&self) -> Result<Value, ProtocolError> {
        lenient_json::read_as(self.params.as_bytes()).map_err(ProtocolError::invalid_params)
    }

    fn domain(&self) -> &str {
        self.method.split('.').next().unwrap_or_default()
    }
}

/// A command that waits until the debugger is attached.
#[derive(Debug)]
pub(crate) struct QueuedCommand {
    /// The CDP session of the command; none for internal commands.
    pub(crate) session: Option<CdpSessionId>,
    pub(crate) command: Command,
    pub(crate) requester: Requester,
    pub(crate) on_response: OnResponse,
}

/// Commands that may wait for one tab; further ones fail with `BACKPRESSURE`.
const QUEUED_COMMANDS: usize = 1_024;

/// Commands that change the user's whole profile. They are refused.
const PROFILE_WIDE: [&str; 5] = [
    "Network.clearBrowserCache",
    "Network.clearBrowserCookies",
    "Storage.clearCookies",
    "Storage.clearDataForOrigin",
    "Storage.clearDataForStorageKey",
];

/// Domains with events and without `enable`: a session receives their events after its first command.
const ALWAYS_ENABLED: [&str; 3] = ["Emulation", "Input", "Tracing"];

impl EmulatedBrowser {
    pub(super) fn page_command(
        &mut self,
        debuggee_id: DebuggeeId,
        session: &CdpSessionId,
        command: Command,
        requester: Requester,
    ) {
        // `chrome.debugger` would run it: these commands reach beyond the tab.
        if PROFILE_WIDE.contains(&command.method.as_str()) {
            let message = format!("{} would change the user's whole profile.", command.method);
            return self.fail(&requester, &ProtocolError::tabwire(ErrorCode::PolicyDenied, message));
        }
        let about_browser = matches!(command.domain(), "Browser" | "SystemInfo")
            || (command.domain() == "Target"
                && !matches!(command.method.as_str(), "Target.setAutoAttach" | "Target.detachFromTarget"));
        if about_browser {
            return self.browser_command(Some(session), &command, requester);
        }
        let is_detached = self.tabs.get(&debuggee_id.tab).is_some_and(Tab::is_detached);
        if is_detached && self.respond_unattached(&debuggee_id, session, &command, &requester) {
            return;
        }
        if let Some(entry) =
            self.sessions.get_mut(session).filter(|_| is_detached || !is_setup(&command.method))
        {
            entry.used = true;
        }
        self.execute_attached(&debuggee_id, Some(session), command, requester, OnResponse::Forward);
    }

    /// Executes a command on an attached tab, or attaches the tab and queues the command.
    pub(super) fn execute_attached(
        &mut self,
        debuggee_id: &DebuggeeId,
        session: Option<&CdpSessionId>,
        command: Command,
        requester: Requester,
        on_response: OnResponse,
    ) {
        let Some(tab) = self.tabs.get_mut(&debuggee_id.tab) else {
            return self.fail(&requester, &ProtocolError::no_target());
        };
        let waiting = QueuedCommand { session: session.cloned(), command, requester, on_response };
        match &mut tab.state {
            TabState::Attached => self.execute(debuggee_id, waiting),
            // Child targets exist only while the debugger is attached.
            TabState::Attaching { .. } if debuggee_id.child.is_some() => self.execute(debuggee_id, waiting),
            TabState::Attaching { waiting: line } if line.len() < QUEUED_COMMANDS => line.push(waiting),
            TabState::Attaching { .. } => {
                let error =
                    ProtocolError::tabwire(ErrorCode::Backpressure, "Too many commands wait for this tab.");
                self.fail(&waiting.requester, &error);
            }
            TabState::Detached => {
                tab.state = TabState::Attaching { waiting: vec![waiting] };
                self.attach_tab(debuggee_id.tab);
            }
        }
    }

    /// Executes a command on an attached tab.
    pub(super) fn execute(&mut self, debuggee_id: &DebuggeeId, waiting: QueuedCommand) {
        if waiting.session.is_none() {
            return self.forward(debuggee_id, &waiting.command, waiting.requester, waiting.on_response);
        }
        let Some(QueuedCommand { session: Some(session), command, requester, on_response }) =
            self.with_real_context_ids(waiting)
        else {
            return;
        };
        let domain = command.domain().to_owned();
        match command.method.as_str() {
            "Target.setAutoAttach" => {
                self.record_setup(debuggee_id, &session, &command, None);
                return self.auto_attach_below(debuggee_id, &session, &command, requester);
            }
            "Target.detachFromTarget" => {
                return match command.read_params() {
                    Ok(params) => self.detach_from_target(&params, &requester),
                    Err(error) => self.fail(&requester, &error),
                };
            }
            "Runtime.runIfWaitingForDebugger" if self.is_still_paused(debuggee_id, &session) => {
                return self.succeed(&requester, "{}");
            }
            "Page.removeScriptToEvaluateOnNewDocument" => {
                return self.remove_script(debuggee_id, &session, &command, requester);
            }
            "Page.captureScreenshot" => return self.screenshot(debuggee_id, &command, requester),
            "Page.stopScreencast" if self.end_screencast(debuggee_id, &session) => {
                return self.succeed(&requester, "{}");
            }
            "Runtime.addBinding" => self.record_binding(&session, &command),
            method
                if method.ends_with(".enable") && self.enable(debuggee_id, &session, &domain, &requester) =>
            {
                return;
            }
            method
                if method.ends_with(".disable")
                    && self.disable(debuggee_id, &session, &domain, &requester) =>
            {
                return;
            }
            _ => {}
        }
        self.record_use(&session, &command, &domain);
        let on_response = match on_response {
            OnResponse::Forward if command.method == "Page.addScriptToEvaluateOnNewDocument" => {
                self.add_script(debuggee_id, &session, &command)
            }
            // A replayed command was recorded already.
            on_response @ OnResponse::AddScript { .. } => on_response,
            on_response => {
                self.record_setup(debuggee_id, &session, &command, None);
                on_response
            }
        };
        self.forward(debuggee_id, &command, requester, on_response);
    }

    /// Replaces synthetic context ids by Chrome's. A command whose context Chrome has not reported yet is held back, and so
    /// are all later ones of the session; a command whose context is gone fails.
    fn with_real_context_ids(&mut self, mut waiting: QueuedCommand) -> Option<QueuedCommand> {
        let session = waiting.session.as_ref()?;
        let Some(entry) = self.sessions.get_mut(session) else {
            self.fail(&waiting.requester, &ProtocolError::no_session());
            return None;
        };
        let translation = match entry.blocked.is_empty() {
            true => entry.contexts.translate_command(&waiting.command.params),
            false => Translation::Unmatched,
        };
        match translation {
            Translation::Unchanged => {}
            Translation::Params(params) => waiting.command.params = params,
            Translation::Unmatched if entry.blocked.len() < QUEUED_COMMANDS => {
                entry.blocked.push(waiting);
                let first = entry.debuggee().cloned().filter(|_| entry.blocked.len() == 1);
                if let Some(debuggee_id) = first {
                    self.settle(&debuggee_id, OnResponse::ContextsReported(debuggee_id.clone()));
                }
                return None;
            }
            Translation::Unmatched => {
                let error =
                    ProtocolError::tabwire(ErrorCode::Backpressure, "Too many commands wait for this tab.");
                self.fail(&waiting.requester, &error);
                return None;
            }
            Translation::Gone => {
                let error = ProtocolError::chrome(-32000, "Cannot find context with specified id");
                self.fail(&waiting.requester, &error);
                return None;
            }
        }
        Some(waiting)
    }

    /// Executes the commands that were held back, or holds them back again.
    pub(super) fn release_blocked(&mut self, session: &CdpSessionId) {
        let Some(entry) = self.sessions.get_mut(session) else { return };
        let Some(debuggee_id) = entry.debuggee().cloned() else { return };
        for waiting in std::mem::take(&mut entry.blocked) {
            self.execute(&debuggee_id, waiting);
        }
    }

    /// Chrome reported all contexts: removes synthetic ones without a match, so that commands on them fail.
    pub(super) fn contexts_reported(&mut self, debuggee_id: &DebuggeeId) {
        for session in self.sessions.on(debuggee_id) {
            if let Some(entry) = self.sessions.get_mut(&session) {
                entry.contexts.remove_unmatched();
            }
            self.release_blocked(&session);
        }
    }

    /// Requests a response that arrives after all earlier events of a debuggee. Chrome delivers debugger events to extensions
    /// later than command results, so the result of a command alone proves nothing about events.
    pub(super) fn settle(&mut self, debuggee_id: &DebuggeeId, on_response: OnResponse) {
        let with = SettleParams { tab: debuggee_id.tab, session: debuggee_id.child.as_deref() };
        self.request("settle", with, PendingRequest::internal(on_response));
    }

    /// Records a setup command, to replay it when the debugger attaches again.
    fn record_setup(
        &mut self,
        debuggee_id: &DebuggeeId,
        session: &CdpSessionId,
        command: &Command,
        script: Option<&str>,
    ) {
        if debuggee_id.child.is_some() || !SetupReplay::is_setup_change(&command.method) {
            return;
        }
        let Ok(params) = command.read_params() else { return };
        let target = self.tabs.get(&debuggee_id.tab).map(|tab| tab.description.target.as_str());
        let is_kept = command.method != "Page.createIsolatedWorld"
            || target.is_some_and(|target| can_defer(&command.method, &params, target));
        if let Some(entry) = self.sessions.get_mut(session).filter(|_| is_kept) {
            entry.setup_replay.record(command, &params, script);
        }
    }

    /// Gives a script for new documents a stable id: Chrome's id changes when the script is replayed.
    fn add_script(
        &mut self,
        debuggee_id: &DebuggeeId,
        session: &CdpSessionId,
        command: &Command,
    ) -> OnResponse {
        self.last_script += 1;
        // The client gets an id at once; Chrome's id follows when the debugger is attached, and differs for
        // each attachment.
        let given = format!("tabwire-{}", self.last_script);
        self.record_setup(debuggee_id, session, command, Some(&given));
        if let Some(entry) = self.sessions.get_mut(session) {
            entry.scripts.insert(given.clone(), None);
        }
        OnResponse::AddScript { session: session.clone(), debuggee_id: debuggee_id.clone(), given }
    }

    fn record_use(&mut self, session: &CdpSessionId, command: &Command, domain: &str) {
        let Some(entry) = self.sessions.get_mut(session) else { return };
        if ALWAYS_ENABLED.contains(&domain) {
            entry.domains.insert(domain.to_owned());
        }
        if command.method == "Page.startScreencast" {
            entry.domains.insert(SCREENCAST.to_owned());
        }
        entry.overrides.retain(|done| !is_undo_of(&command.method, done));
        if undo_of(&command.method).is_some() {
            entry.overrides.insert(command.method.clone());
        }
    }

    fn record_binding(&mut self, session: &CdpSessionId, command: &Command) {
        let name = command.read_params().ok();
        let name = name.as_ref().and_then(|params| params.get("name")).and_then(Value::as_str);
        if let (Some(name), Some(entry)) = (name, self.sessions.get_mut(session)) {
            // Chrome keeps a binding of the shared session until it is removed, so it is removed with the
            // virtual one.
            entry.bindings.insert(name.to_owned());
        }
    }

    /// Enables a domain for a session; says whether it has responded.
    fn enable(
        &mut self,
        debuggee_id: &DebuggeeId,
        session: &CdpSessionId,
        domain: &str,
        requester: &Requester,
    ) -> bool {
        // Chrome has one session for each tab: a domain stays enabled while one of the virtual sessions needs
        // it.
        let others = self.sessions.others_enabled(debuggee_id, session, domain);
        if domain == "Fetch" && others {
            // One client continues a paused request; another one would wait for it forever.
            let message = "Another client intercepts requests of this tab; Chrome allows one at a time.";
            self.fail(requester, &ProtocolError::tabwire(ErrorCode::Busy, message));
            return true;
        }
        if let Some(entry) = self.sessions.get_mut(session) {
            entry.domains.insert(domain.to_owned());
        }
        let Some(debuggee) = self.debuggees.get_mut(debuggee_id).filter(|_| domain == "Runtime") else {
            return false;
        };
        if !std::mem::replace(&mut debuggee.reports_contexts, true) {
            return false;
        }
        // Chrome reports contexts once; later sessions get the stored reports.
        let contexts: Vec<String> = debuggee.contexts.values().cloned().collect();
        self.record_setup(debuggee_id, session, &Command::new("Runtime.enable", "{}"), None);
        for params in contexts {
            self.send_translated_event(session, "Runtime.executionContextCreated", &params);
        }
        self.succeed(requester, "{}");
        true
    }

    /// Disables a domain for a session; responds itself while other sessions have it enabled.
    fn disable(
        &mut self,
        debuggee_id: &DebuggeeId,
        session: &CdpSessionId,
        domain: &str,
        requester: &Requester,
    ) -> bool {
        if let Some(entry) = self.sessions.get_mut(session) {
            entry.domains.remove(domain);
        }
        if self.sessions.others_enabled(debuggee_id, session, domain) {
            self.record_setup(debuggee_id, session, &Command::new(&format!("{domain}.disable"), "{}"), None);
            self.succeed(requester, "{}");
            return true;
        }
        if let Some(debuggee) = self.debuggees.get_mut(debuggee_id).filter(|_| domain == "Runtime") {
            debuggee.contexts.clear();
            debuggee.reports_contexts = false;
        }
        false
    }

    fn remove_script(
        &mut self,
        debuggee_id: &DebuggeeId,
        session: &CdpSessionId,
        command: &Command,
        requester: Requester,
    ) {
        let params = command.read_params().unwrap_or_default();
        let given = params.get("identifier").and_then(Value::as_str).unwrap_or_default();
        self.record_setup(debuggee_id, session, command, None);
        let known = self.sessions.get_mut(session).and_then(|entry| entry.scripts.remove(given));
        let real = match known {
            // Chrome's id is not known yet; the script is removed when it arrives.
            Some(None) => return self.succeed(&requester, "{}"),
            Some(Some(real)) => real,
            None => given.to_owned(),
        };
        let command = Command::new(&command.method, &json!({"identifier": real}).to_string());
        self.forward(debuggee_id, &command, requester, OnResponse::Forward);
    }

    /// Forwards a command without a requester.
    pub(super) fn forward_internal(&mut self, debuggee_id: &DebuggeeId, command: &Command) {
        self.forward(debuggee_id, command, Requester::Internal, OnResponse::Forward);
    }

    /// Forwards a command to the extension.
    pub(super) fn forward(
        &mut self,
        debuggee_id: &DebuggeeId,
        command: &Command,
        requester: Requester,
        on_response: OnResponse,
    ) {
        let on_response = match on_response {
            OnResponse::Forward if command.method.starts_with("Input.dispatch") => {
                OnResponse::Input(debuggee_id.tab)
            }
            on_response => on_response,
        };
        let pending = PendingRequest { requester, on_response };
        match serde_json::from_str::<&RawValue>(&command.params) {
            Ok(params) => {
                let session = debuggee_id.child.as_deref();
                let with = SendParams { tab: debuggee_id.tab, session, method: &command.method, params };
                self.request("send", with, pending);
            }
            Err(error) => self.handle_response(pending, Err(failure(ErrorCode::BadArgs, &error.to_string()))),
        }
    }
}
