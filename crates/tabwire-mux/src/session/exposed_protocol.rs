//! `Target.exposeDevToolsProtocol`: a page of a client speaks the protocol through a binding, as the BiDi mapper
//! of chromedriver does.
//!
//! The browser's own command would give the page the whole browser. The mux therefore serves the page itself. Its
//! commands run on a browser-level CDP session that belongs to the page's client, so the page reaches what the
//! client reaches, behind the same guard, partition and limits. Only the document that the protocol was exposed to
//! may use it: other frames and later documents cannot.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use serde_json::{Value, json};
use tabwire_api::{CdpSessionId, ClientId, ErrorCode, TargetId};
use tabwire_cdp::envelope::peek_browser_frame;
use tabwire_cdp::reply::{self, ProtocolError};

use crate::mux::Mux;
use crate::output::{FrameClass, Output};
use crate::routing::from_browser::read_params;
use crate::routing::from_client::Command;
use crate::routing::pending::InternalCommand;
use crate::routing::rewrite;
use crate::session::table::{Session, SessionOwner};
use crate::state::BrowserState;
use crate::target::entry::Owner;

/// Pages to which the protocol is exposed at once; a WebDriver BiDi session needs one.
const EXPOSED_PAGES: usize = 64;

/// The longest accepted name of a binding.
const BINDING_NAME_LETTERS: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ExposureId(u64);

/// The commands that expose the protocol to a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExposureStep {
    /// Attaches the mux to the page.
    AttachPage,
    /// Opens the browser-level session for the page's commands.
    AttachBrowser,
    /// Installs the binding's object in the page.
    Install,
}

/// A page to which its client has exposed the protocol.
#[derive(Debug)]
struct Exposure {
    client: ClientId,
    target: TargetId,
    /// The name of the binding.
    name: String,
    /// The client's command, until it has its response: its id and its session.
    command: Option<(i64, Option<CdpSessionId>)>,
    /// The mux's session on the page.
    page: Option<CdpSessionId>,
    /// The execution context of the page's main frame that may use the binding.
    context: Option<i64>,
    /// The browser-level session of the page's commands.
    browser: Option<CdpSessionId>,
    /// That session, and all that were attached through it.
    sessions: BTreeSet<CdpSessionId>,
}

/// All pages to which the protocol is exposed.
#[derive(Debug, Default)]
pub(crate) struct Exposures {
    next: u64,
    entries: BTreeMap<ExposureId, Exposure>,
}

impl Exposures {
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.entries.clear();
    }

    /// A session was attached through another one.
    pub(crate) fn session_attached(&mut self, parent: &CdpSessionId, child: &CdpSessionId) {
        for exposure in self.entries.values_mut().filter(|exposure| exposure.sessions.contains(parent)) {
            exposure.sessions.insert(child.clone());
        }
    }

    fn of_page_session(&self, session: &CdpSessionId) -> Option<(ExposureId, &Exposure)> {
        let is_it = |exposure: &Exposure| exposure.page.as_ref() == Some(session);
        self.entries.iter().find(|(_, exposure)| is_it(exposure)).map(|(id, exposure)| (*id, exposure))
    }

    fn of_session(&self, session: &str) -> Option<&Exposure> {
        self.entries.values().find(|exposure| exposure.sessions.contains(session))
    }
}

impl Mux {
    /// `Target.exposeDevToolsProtocol`, for a page that the client owns.
    pub(crate) fn command_expose(&mut self, command: &Command<'_>, params: &Value, now: Instant) {
        let text = |field: &str| params.get(field).and_then(Value::as_str);
        let name = text("bindingName").unwrap_or("cdp");
        let Some(target) = text("targetId").and_then(|target| self.state.targets.find(target)) else {
            return self.refuse(command, &ProtocolError::no_target());
        };
        if target.owner != Owner::Client(command.client) || !target.is_tab_content() {
            let sentence = "Target.exposeDevToolsProtocol needs a page that this client created.";
            return self.refuse(command, &ProtocolError::tabwire(ErrorCode::PolicyDenied, sentence));
        }
        if !is_binding_name(name) {
            return self.refuse(command, &ProtocolError::chrome(-32602, "Invalid bindingName"));
        }
        let Some(control) = self.control.session().filter(|_| self.exposures.entries.len() < EXPOSED_PAGES)
        else {
            let sentence = "The protocol is exposed to too many pages; close some of them.";
            return self.refuse(command, &ProtocolError::tabwire(ErrorCode::Backpressure, sentence));
        };
        let target = target.id.clone();
        self.exposures.next += 1;
        let id = ExposureId(self.exposures.next);
        let exposure = Exposure {
            client: command.client,
            target: target.clone(),
            name: name.to_owned(),
            command: Some((command.envelope.id, (!command.on_root).then(|| command.session.clone()))),
            page: None,
            context: None,
            browser: None,
            sessions: BTreeSet::new(),
        };
        self.exposures.entries.insert(id, exposure);
        let params = json!({"targetId": target.as_str(), "flatten": true});
        let step = |step| InternalCommand::Expose(id, step);
        self.router.send(
            Some(&control),
            "Target.attachToTarget",
            params,
            step(ExposureStep::AttachPage),
            now,
        );
        self.router.send(
            Some(&control),
            "Target.attachToBrowserTarget",
            json!({}),
            step(ExposureStep::AttachBrowser),
            now,
        );
    }

    pub(crate) fn exposure_step_done(
        &mut self,
        id: ExposureId,
        step: ExposureStep,
        result: &Value,
        now: Instant,
    ) {
        let session = result.get("sessionId").and_then(Value::as_str).map(CdpSessionId::new);
        let Some(exposure) = self.exposures.entries.get_mut(&id) else {
            // The client left, or the page is gone.
            if let Some(session) = session {
                self.control_command("Target.detachFromTarget", json!({"sessionId": session.as_str()}), now);
            }
            return;
        };
        match (step, session) {
            (ExposureStep::AttachPage, Some(session)) => exposure.page = Some(session),
            (ExposureStep::AttachBrowser, Some(session)) => {
                exposure.browser = Some(session.clone());
                exposure.sessions.insert(session.clone());
                let client = exposure.client;
                let root = self.state.clients.root(client).cloned();
                let entry = Session::on_browser(SessionOwner::Client(client), root);
                self.state.sessions.insert(session, Session { is_handed_over: true, ..entry });
            }
            (ExposureStep::Install, _) if result.get("exceptionDetails").is_none() => {
                return self.exposure_ready(id, now);
            }
            _ => return self.exposure_failed(id, now),
        }
        self.install_binding(id, now);
    }

    /// Installs the binding once both sessions are open.
    fn install_binding(&mut self, id: ExposureId, now: Instant) {
        let Some(exposure) = self.exposures.entries.get(&id) else { return };
        let (Some(page), Some(_)) = (exposure.page.clone(), &exposure.browser) else { return };
        let name = exposure.name.clone();
        let expression = format!(
            // Chromium's own command gives the page an object with `send` and `onmessage`; the BiDi mapper of
            // chromedriver uses both.
            "(() => {{ const send = window[{0}]; window[{0}] = {{ onmessage: null, send: (message) => send(message) }}; }})()",
            json!(name)
        );
        let ignored = InternalCommand::FireAndForget;
        self.router.send(Some(&page), "Runtime.enable", json!({}), ignored.clone(), now);
        self.router.send(Some(&page), "Runtime.addBinding", json!({"name": name}), ignored, now);
        let install = InternalCommand::Expose(id, ExposureStep::Install);
        self.router.send(Some(&page), "Runtime.evaluate", json!({"expression": expression}), install, now);
    }

    fn exposure_ready(&mut self, id: ExposureId, now: Instant) {
        let Some(exposure) = self.exposures.entries.get_mut(&id) else { return };
        if let Some((command, session)) = exposure.command.take() {
            let client = exposure.client;
            let frame = reply::result(command, session.as_ref(), json!({}));
            self.router.deliver(client, frame, FrameClass::Response);
        }
        self.release_waiting(now);
    }

    /// Whether a command has to wait until the protocol is exposed to its page: chromedriver starts its mapper there
    /// without waiting for the response.
    pub(crate) fn awaits_exposure(&self, command: &Command<'_>) -> bool {
        if self.exposures.is_empty() {
            return false;
        }
        let target = self.state.sessions.find(command.session.as_str()).and_then(Session::target);
        let is_it = |exposure: &Exposure| {
            exposure.command.is_some()
                && exposure.client == command.client
                && target == Some(&exposure.target)
        };
        self.exposures.entries.values().any(is_it)
    }

    pub(crate) fn exposure_failed(&mut self, id: ExposureId, now: Instant) {
        let Some(exposure) = self.exposures.entries.get_mut(&id) else { return };
        let client = exposure.client;
        if let Some((command, session)) = exposure.command.take()
            && self.state.clients.contains(client)
        {
            let sentence = "The protocol could not be exposed to this page.";
            let error = ProtocolError::tabwire(ErrorCode::CdpError, sentence);
            let frame = reply::error(command, session.as_ref(), &error);
            self.router.deliver(client, frame, FrameClass::Response);
        }
        self.end_exposure(id, now);
        self.release_waiting(now);
    }

    /// An event of the mux's session on a page to which the protocol is exposed.
    pub(crate) fn on_exposed_page_event(
        &mut self,
        session: &CdpSessionId,
        method: &str,
        frame: &[u8],
        now: Instant,
    ) {
        let Some((id, exposure)) = self.exposures.of_page_session(session) else { return };
        let params = read_params(frame);
        let context = params.get("executionContextId").and_then(Value::as_i64);
        match method {
            "Runtime.executionContextCreated" => {
                let aux = |field: &str| params.pointer(&format!("/context/auxData/{field}"));
                let is_main = aux("isDefault").and_then(Value::as_bool) == Some(true)
                    && aux("frameId").and_then(Value::as_str) == Some(exposure.target.as_str());
                let created = params.pointer("/context/id").and_then(Value::as_i64);
                if let Some(exposure) = self.exposures.entries.get_mut(&id).filter(|_| is_main) {
                    exposure.context = exposure.context.or(created);
                }
            }
            "Runtime.bindingCalled" => {
                let is_it = context.is_some() && context == exposure.context;
                let named = params.get("name").and_then(Value::as_str) == Some(exposure.name.as_str());
                if let Some(payload) =
                    params.get("payload").and_then(Value::as_str).filter(|_| is_it && named)
                {
                    self.exposed_command(id, payload, now);
                }
            }
            // The page shows another document.
            "Runtime.executionContextsCleared" if exposure.context.is_some() => self.end_exposure(id, now),
            "Runtime.executionContextDestroyed" if context.is_some() && context == exposure.context => {
                self.end_exposure(id, now);
            }
            _ => {}
        }
    }

    /// A page sends a command: it runs on the page's browser-level session, or on one attached through that.
    fn exposed_command(&mut self, id: ExposureId, payload: &str, now: Instant) {
        let Some(exposure) = self.exposures.entries.get(&id) else { return };
        let (client, Some(browser)) = (exposure.client, exposure.browser.clone()) else { return };
        let command = serde_json::from_str::<Value>(payload).ok();
        let Some(mut command) = command.filter(|command| command.get("id").is_some_and(Value::is_u64)) else {
            self.counters.malformed += 1;
            return;
        };
        let number = command.get("id").and_then(Value::as_i64).unwrap_or_default();
        let named = command.get("sessionId").cloned();
        let session = match named {
            None => browser.clone(),
            Some(named) => {
                let known = named.as_str().and_then(|named| exposure.sessions.get(named)).cloned();
                let Some(session) = known.filter(|known| *known != browser) else {
                    let error = reply::error(number, None, &ProtocolError::no_session());
                    return self.send_to_page(id, &error, now);
                };
                session
            }
        };
        if let Some(members) = command.as_object_mut() {
            members.insert("sessionId".to_owned(), json!(session.as_str()));
        }
        self.route_command(client, command.to_string().as_bytes(), now);
    }

    /// Calls the page's `onmessage` with a frame.
    fn send_to_page(&mut self, id: ExposureId, frame: &[u8], now: Instant) {
        let Some(exposure) = self.exposures.entries.get(&id) else { return };
        let (Some(page), Some(context)) = (exposure.page.clone(), exposure.context) else { return };
        let message = json!(String::from_utf8_lossy(frame));
        // As Chromium delivers messages: to the property `onmessage` of the binding object, if the page has
        // set it.
        let expression = format!("window[{}]?.onmessage?.({message})", json!(exposure.name));
        let params = json!({"expression": expression, "contextId": context});
        self.router.send(Some(&page), "Runtime.evaluate", params, InternalCommand::FireAndForget, now);
    }

    /// The pending outputs, with the frames of exposed sessions sent to their pages instead of their client.
    pub(crate) fn outputs_with_pages(&mut self) -> Vec<Output> {
        let mut outputs = Vec::new();
        for output in self.router.take_outputs() {
            let Output::ToClient { client, frame, class } = output else {
                outputs.push(output);
                continue;
            };
            let found = peek_browser_frame(&frame).ok().and_then(|envelope| {
                let session = envelope.session?;
                let exposure = self.exposures.of_session(session)?;
                let on_browser = exposure.browser.as_ref().is_some_and(|own| own.as_str() == session);
                let page = exposure.page.clone()?;
                Some((
                    self.exposures.of_page_session(&page)?.0,
                    envelope.session_member.filter(|_| on_browser),
                ))
            });
            match (found, self.router.clock()) {
                (Some((id, cut)), Some(now)) => {
                    let frame = match cut {
                        Some(member) => rewrite::event_to_root(frame, &member),
                        None => frame,
                    };
                    self.send_to_page(id, &frame, now);
                    outputs.append(&mut self.router.take_outputs());
                }
                _ => outputs.push(Output::ToClient { client, frame, class }),
            }
        }
        for exposure in self.exposures.entries.values_mut() {
            exposure.sessions.retain(|session| self.state.sessions.find(session.as_str()).is_some());
        }
        outputs
    }

    /// The page no longer speaks the protocol: its sessions are detached.
    fn end_exposure(&mut self, id: ExposureId, now: Instant) {
        let Some(exposure) = self.exposures.entries.remove(&id) else { return };
        for session in [exposure.page, exposure.browser].into_iter().flatten() {
            self.control_command("Target.detachFromTarget", json!({"sessionId": session.as_str()}), now);
            self.session_gone(&session, now);
        }
    }

    /// A client left.
    pub(crate) fn end_exposures_of(&mut self, client: ClientId, now: Instant) {
        self.end_exposures(|_, exposure| exposure.client == client, now);
    }

    /// Ends the exposures whose page or browser-level session is gone.
    pub(crate) fn end_exposures_without_session(&mut self, now: Instant) {
        self.end_exposures(
            |state, exposure| {
                let is_gone = |session: &CdpSessionId| state.sessions.find(session.as_str()).is_none();
                exposure.page.as_ref().is_some_and(is_gone) || exposure.browser.as_ref().is_some_and(is_gone)
            },
            now,
        );
    }

    fn end_exposures(&mut self, is_over: impl Fn(&BrowserState, &Exposure) -> bool, now: Instant) {
        let entries = self.exposures.entries.iter();
        let over: Vec<ExposureId> =
            entries.filter(|(_, exposure)| is_over(&self.state, exposure)).map(|(id, _)| *id).collect();
        for id in over {
            self.exposure_failed(id, now);
        }
    }
}

/// Whether a text can be the name of a binding: a plain JavaScript identifier.
fn is_binding_name(name: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphabetic() || matches!(letter, '_' | '$');
    name.len() <= BINDING_NAME_LETTERS
        && name.starts_with(is_letter)
        && name.chars().all(|letter| is_letter(letter) || letter.is_ascii_digit())
}
