//! Commands on a tab's cdp session: what is kept until the tab is needed, what is answered here because the browser has
//! one session for all clients, and what is passed on.

use serde_json::value::RawValue;
use serde_json::{Value, json};
use tabwire_cdp::lenient_json;
use tabwire_wire::{CdpSessionId, ErrorCode};

use crate::debuggee::DebuggeeId;
use crate::emulated_browser::{EmulatedBrowser, failure};
use crate::init_command::{can_wait, is_setup};
use crate::journal::Journal;
use crate::limits::WAITING_COMMANDS;
use crate::link_message::{WithCommand, WithPlace};
use crate::made_up_world::Exchanged;
use crate::override_undo::{is_undo_of, undo_of};
use crate::pending::{Asker, Pending, Task};
use crate::reply::ProtocolError;
use crate::tab::{Tab, TabState};
use crate::virtual_session::SCREENCAST;

/// A command as its client wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Command {
    pub(crate) method: String,
    /// JSON.
    pub(crate) params: String,
}

impl Command {
    pub(crate) fn new(method: &str, params: &str) -> Self {
        Self { method: method.to_owned(), params: params.to_owned() }
    }

    pub(crate) fn read_params(&self) -> Result<Value, ProtocolError> {
        lenient_json::read_as(self.params.as_bytes()).map_err(ProtocolError::bad_params)
    }

    fn domain(&self) -> &str {
        self.method.split('.').next().unwrap_or_default()
    }
}

/// A command that waits until its tab is attached.
#[derive(Debug)]
pub(crate) struct Waiting {
    /// The cdp session it came on; none for our own.
    pub(crate) session: Option<CdpSessionId>,
    pub(crate) command: Command,
    pub(crate) asker: Asker,
    pub(crate) task: Task,
}

/// What would change the user's whole profile rather than a page.
const NEVER: [&str; 5] = [
    "Network.clearBrowserCache",
    "Network.clearBrowserCookies",
    "Storage.clearCookies",
    "Storage.clearDataForOrigin",
    "Storage.clearDataForStorageKey",
];

/// Domains that have events and nothing to enable: who uses one hears of it.
const SELF_ENABLED: [&str; 3] = ["Emulation", "Input", "Tracing"];

impl EmulatedBrowser {
    pub(crate) fn page_command(
        &mut self,
        place: DebuggeeId,
        session: &CdpSessionId,
        command: Command,
        asker: Asker,
    ) {
        if NEVER.contains(&command.method.as_str()) {
            let message = format!("{} would change the user's whole profile.", command.method);
            return self.fail(&asker, &ProtocolError::ours(ErrorCode::PolicyDenied, message));
        }
        let about_browser = matches!(command.domain(), "Browser" | "SystemInfo")
            || (command.domain() == "Target"
                && !matches!(command.method.as_str(), "Target.setAutoAttach" | "Target.detachFromTarget"));
        if about_browser {
            return self.browser_command(Some(session), &command, asker);
        }
        let is_idle = self.tabs.get(&place.tab).is_some_and(Tab::is_idle);
        if is_idle && self.keep_for_later(&place, session, &command, &asker) {
            return;
        }
        if let Some(entry) = self.sessions.get_mut(session).filter(|_| is_idle || !is_setup(&command.method))
        {
            entry.touched = true;
        }
        self.run(&place, Some(session), command, asker, Task::Pass);
    }

    /// Has a command carried out, after the tab is attached.
    pub(crate) fn run(
        &mut self,
        place: &DebuggeeId,
        session: Option<&CdpSessionId>,
        command: Command,
        asker: Asker,
        task: Task,
    ) {
        let Some(tab) = self.tabs.get_mut(&place.tab) else {
            return self.fail(&asker, &ProtocolError::no_target());
        };
        let waiting = Waiting { session: session.cloned(), command, asker, task };
        match &mut tab.state {
            TabState::Attached => self.carry_out(place, waiting),
            // What is below a page is there only since the debugger is on.
            TabState::Attaching { .. } if place.child.is_some() => self.carry_out(place, waiting),
            TabState::Attaching { waiting: line } if line.len() < WAITING_COMMANDS => line.push(waiting),
            TabState::Attaching { .. } => {
                let error = ProtocolError::ours(ErrorCode::Backpressure, "Too much waits for this tab.");
                self.fail(&waiting.asker, &error);
            }
            TabState::Idle => {
                tab.state = TabState::Attaching { waiting: vec![waiting] };
                self.attach_tab(place.tab);
            }
        }
    }

    /// Carries out a command on a tab that is attached.
    pub(crate) fn carry_out(&mut self, place: &DebuggeeId, waiting: Waiting) {
        if waiting.session.is_none() {
            return self.pass_on(place, &waiting.command, waiting.asker, waiting.task);
        }
        let Some(Waiting { session: Some(session), command, asker, task }) = self.in_real_numbers(waiting)
        else {
            return;
        };
        let domain = command.domain().to_owned();
        match command.method.as_str() {
            "Target.setAutoAttach" => {
                self.note_setup(place, &session, &command, None);
                return self.auto_attach_below(place, &session, &command, asker);
            }
            "Target.detachFromTarget" => {
                return match command.read_params() {
                    Ok(params) => self.detach_from_target(&params, &asker),
                    Err(error) => self.fail(&asker, &error),
                };
            }
            "Runtime.runIfWaitingForDebugger" if self.still_held(place, &session) => {
                return self.succeed(&asker, "{}");
            }
            "Page.removeScriptToEvaluateOnNewDocument" => {
                return self.remove_script(place, &session, &command, asker);
            }
            "Page.captureScreenshot" => return self.capture(place, &command, asker),
            "Page.stopScreencast" if self.screencast_goes_on(place, &session) => {
                return self.succeed(&asker, "{}");
            }
            "Runtime.addBinding" => self.note_binding(&session, &command),
            method if method.ends_with(".enable") && self.enable(place, &session, &domain, &asker) => return,
            method if method.ends_with(".disable") && self.disable(place, &session, &domain, &asker) => {
                return;
            }
            _ => {}
        }
        self.note_use(&session, &command, &domain);
        let task = match task {
            Task::Pass if command.method == "Page.addScriptToEvaluateOnNewDocument" => {
                self.name_script(place, &session, &command)
            }
            // It is set up again, and was noted when it was named.
            task @ Task::AddScript { .. } => task,
            task => {
                self.note_setup(place, &session, &command, None);
                task
            }
        };
        self.pass_on(place, &command, asker, task);
    }

    /// A command with the browser's own numbers of worlds. One that has to wait for them, or comes after one that does,
    /// is held; one that names a world that is gone is answered.
    fn in_real_numbers(&mut self, mut waiting: Waiting) -> Option<Waiting> {
        let session = waiting.session.as_ref()?;
        let Some(entry) = self.sessions.get_mut(session) else {
            self.fail(&waiting.asker, &ProtocolError::no_session());
            return None;
        };
        let exchanged = match entry.held.is_empty() {
            true => entry.worlds.exchange(&waiting.command.params),
            false => Exchanged::NotYet,
        };
        match exchanged {
            Exchanged::AsItIs => {}
            Exchanged::Params(params) => waiting.command.params = params,
            Exchanged::NotYet if entry.held.len() < WAITING_COMMANDS => {
                entry.held.push(waiting);
                let first = entry.debuggee().cloned().filter(|_| entry.held.len() == 1);
                if let Some(place) = first {
                    self.settle(&place, Task::WorldsTold(place.clone()));
                }
                return None;
            }
            Exchanged::NotYet => {
                let error = ProtocolError::ours(ErrorCode::Backpressure, "Too much waits for this tab.");
                self.fail(&waiting.asker, &error);
                return None;
            }
            Exchanged::Gone => {
                let error = ProtocolError::like_chrome(-32000, "Cannot find context with specified id");
                self.fail(&waiting.asker, &error);
                return None;
            }
        }
        Some(waiting)
    }

    /// What was held may go on now, or is held anew.
    pub(crate) fn release_held(&mut self, session: &CdpSessionId) {
        let Some(entry) = self.sessions.get_mut(session) else { return };
        let Some(place) = entry.debuggee().cloned() else { return };
        for waiting in std::mem::take(&mut entry.held) {
            self.carry_out(&place, waiting);
        }
    }

    /// The browser has told of all worlds there are: what waits for another one waits in vain.
    pub(crate) fn worlds_told(&mut self, place: &DebuggeeId) {
        for session in self.sessions_on(place) {
            if let Some(entry) = self.sessions.get_mut(&session) {
                entry.worlds.forget_unreal();
            }
            self.release_held(&session);
        }
    }

    /// Asks for a sign that comes after everything that a place has to tell up to now.
    pub(crate) fn settle(&mut self, place: &DebuggeeId, task: Task) {
        let with = WithPlace { tab: place.tab, session: place.child.as_deref() };
        self.ask("settle", with, Pending { asker: Asker::Nobody, task });
    }

    /// Notes what a session has set up, so that it can be set up again.
    fn note_setup(
        &mut self,
        place: &DebuggeeId,
        session: &CdpSessionId,
        command: &Command,
        script: Option<&str>,
    ) {
        if place.child.is_some() || !Journal::concerns(&command.method) {
            return;
        }
        let Ok(params) = command.read_params() else { return };
        let target = self.tabs.get(&place.tab).map(|tab| tab.description.target.as_str());
        let is_kept = command.method != "Page.createIsolatedWorld"
            || target.is_some_and(|target| can_wait(&command.method, &params, target));
        if let Some(entry) = self.sessions.get_mut(session).filter(|_| is_kept) {
            entry.journal.note(command, &params, script);
        }
    }

    /// Names a script for new documents. The browser's own name changes when it is set up again, ours does not.
    fn name_script(&mut self, place: &DebuggeeId, session: &CdpSessionId, command: &Command) -> Task {
        self.next_script += 1;
        let given = format!("tabwire-{}", self.next_script);
        self.note_setup(place, session, command, Some(&given));
        if let Some(entry) = self.sessions.get_mut(session) {
            entry.scripts.insert(given.clone(), None);
        }
        Task::AddScript { session: session.clone(), place: place.clone(), given }
    }

    fn note_use(&mut self, session: &CdpSessionId, command: &Command, domain: &str) {
        let Some(entry) = self.sessions.get_mut(session) else { return };
        if SELF_ENABLED.contains(&domain) {
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

    fn note_binding(&mut self, session: &CdpSessionId, command: &Command) {
        let name = command.read_params().ok();
        let name = name.as_ref().and_then(|params| params.get("name")).and_then(Value::as_str);
        if let (Some(name), Some(entry)) = (name, self.sessions.get_mut(session)) {
            entry.bindings.insert(name.to_owned());
        }
    }

    /// Notes that a session hears of a domain; says whether it was answered here.
    fn enable(&mut self, place: &DebuggeeId, session: &CdpSessionId, domain: &str, asker: &Asker) -> bool {
        let others = self.others_hear(place, session, domain);
        if domain == "Fetch" && others {
            // A request that is paused is let go by one; who else waits for it would wait for ever.
            let message =
                "Another client intercepts this tab's requests, and the browser lets one do so at a time.";
            self.fail(asker, &ProtocolError::ours(ErrorCode::Busy, message));
            return true;
        }
        if let Some(entry) = self.sessions.get_mut(session) {
            entry.domains.insert(domain.to_owned());
        }
        let Some(debuggee) = self.debuggees.get_mut(place).filter(|_| domain == "Runtime") else {
            return false;
        };
        if !std::mem::replace(&mut debuggee.tells_worlds, true) {
            return false;
        }
        // The browser tells of worlds once; who comes later is told from what was kept.
        let contexts: Vec<String> = debuggee.contexts.values().cloned().collect();
        self.note_setup(place, session, &Command::new("Runtime.enable", "{}"), None);
        for params in contexts {
            self.tell_in_its_numbers(session, "Runtime.executionContextCreated", &params);
        }
        self.succeed(asker, "{}");
        true
    }

    /// Notes that a session hears of a domain no more; while others do, the browser is not told.
    fn disable(&mut self, place: &DebuggeeId, session: &CdpSessionId, domain: &str, asker: &Asker) -> bool {
        if let Some(entry) = self.sessions.get_mut(session) {
            entry.domains.remove(domain);
        }
        if self.others_hear(place, session, domain) {
            self.note_setup(place, session, &Command::new(&format!("{domain}.disable"), "{}"), None);
            self.succeed(asker, "{}");
            return true;
        }
        if let Some(debuggee) = self.debuggees.get_mut(place).filter(|_| domain == "Runtime") {
            debuggee.contexts.clear();
            debuggee.tells_worlds = false;
        }
        false
    }

    pub(crate) fn others_hear(&self, place: &DebuggeeId, session: &CdpSessionId, domain: &str) -> bool {
        self.sessions.iter().any(|(id, other)| {
            id != session && other.debuggee() == Some(place) && other.domains.contains(domain)
        })
    }

    fn remove_script(&mut self, place: &DebuggeeId, session: &CdpSessionId, command: &Command, asker: Asker) {
        let params = command.read_params().unwrap_or_default();
        let given = params.get("identifier").and_then(Value::as_str).unwrap_or_default();
        self.note_setup(place, session, command, None);
        let known = self.sessions.get_mut(session).and_then(|entry| entry.scripts.remove(given));
        let real = match known {
            // The browser has not named it yet; it is taken out as soon as it has.
            Some(None) => return self.succeed(&asker, "{}"),
            Some(Some(real)) => real,
            None => given.to_owned(),
        };
        let command = Command::new(&command.method, &json!({"identifier": real}).to_string());
        self.pass_on(place, &command, asker, Task::Pass);
    }

    /// Gives a command to the extension.
    pub(crate) fn pass_on(&mut self, place: &DebuggeeId, command: &Command, asker: Asker, task: Task) {
        let task = match task {
            Task::Pass if command.method.starts_with("Input.dispatch") => Task::Input(place.tab),
            task => task,
        };
        let pending = Pending { asker, task };
        match serde_json::from_str::<&RawValue>(&command.params) {
            Ok(params) => {
                let session = place.child.as_deref();
                let with = WithCommand { tab: place.tab, session, method: &command.method, params };
                self.ask("send", with, pending);
            }
            Err(error) => self.answered(pending, Err(failure(ErrorCode::BadArgs, &error.to_string()))),
        }
    }
}
