//! Checks a client's commands, responses and events against a policy that the daemon supplies as a [`Guard`].

pub(crate) mod address_watch;
pub(crate) mod document_hold;
pub(crate) mod events;
pub(crate) mod frame_filter;
pub(crate) mod frame_moves;
pub(crate) mod frame_watch;
pub(crate) mod page_frames;
pub(crate) mod parts;
pub(crate) mod remote_addresses;
pub(crate) mod session_watch;

use std::net::IpAddr;
use std::sync::Arc;

use serde_json::Value;
use tabwire_api::{CdpSessionId, ClientId, ErrorCode};

use crate::client::state::Client;
use crate::guard::frame_moves::FrameMoves;
use crate::guard::frame_watch::FrameWaits;
use crate::guard::parts::{GuardedParts, NamedParts};
use crate::mux::Mux;
use crate::output::FrameClass;
use crate::routing::from_client::Command;
use crate::routing::pending::{GuardedPending, Pending};
use crate::session::table::Session;
use crate::state::BrowserState;
use crate::target::entry::TargetEntry;
use tabwire_cdp::reply::{self, ProtocolError};

/// The URL scheme of Chromium's error pages.
const ERROR_PAGE: &str = "chrome-error:";

/// Commands that load the URL that they name.
const OPENING: &[&str] =
    &["Page.navigate", "Target.createTarget", "Fetch.continueRequest", "Network.loadNetworkResource"];

/// Why a command for a hidden page is refused.
const HIDDEN_PAGE: &str = "It is Tabwire's own page, which no client may open or use.";

/// Decides which commands a client may send and which events it receives. Called for every frame, so it must
/// be fast.
pub trait Guard: std::fmt::Debug + Send + Sync {
    /// Whether everything is allowed now, so that no check is needed.
    fn is_idle(&self) -> bool;

    /// Allows a command, or returns the reason for the refusal.
    ///
    /// # Errors
    /// With that reason, as one sentence.
    fn check(&self, command: &GuardedCommand<'_>) -> Result<(), String>;

    /// Whether the client may receive the title and URL of a page whose documents came from these addresses.
    fn may_know(&self, url: &str, sources: &[IpAddr]) -> bool;

    /// Whether pages with this URL are hidden from the client altogether, even if everything else is allowed. Called for
    /// every frame.
    fn hides(&self, _url: &str) -> bool {
        false
    }

    /// Whether checks need the remote addresses of documents. Costs a browser event per request.
    fn wants_addresses(&self) -> bool {
        false
    }

    /// Whether [`Guard::may_navigate`] is asked before a page loads a document. Costs a round trip per
    /// document.
    fn pauses_documents(&self) -> bool {
        false
    }

    /// Whether a page may navigate to an http or https URL, given the URL that it or its opener shows.
    fn may_navigate(&self, _url: &str, _shown: Option<&str>) -> bool {
        true
    }

    /// Whether checks need the frames and requests that commands and events name. Costs a browser event per
    /// frame.
    fn wants_frames(&self) -> bool {
        false
    }

    /// Which frames have to be known before a command can be checked.
    fn frame_need(&self, _method: &str) -> FrameNeed {
        FrameNeed::None
    }

    /// Whether the client may receive an event.
    fn event_allowed(&self, event: &GuardedEvent<'_>) -> bool;
}

/// Which frames have to be known before a command can be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameNeed {
    /// None.
    None,
    /// Those in the target's own process.
    Own,
    /// All frames of the page.
    All,
}

/// An event that is about to be sent to a client.
#[derive(Clone, Copy, Debug)]
pub struct GuardedEvent<'a> {
    /// Its method.
    pub method: &'a str,
    /// Its target.
    pub scope: GuardedScope<'a>,
    /// The frames and requests that it names.
    pub parts: GuardedParts<'a>,
    /// Its whole frame, as JSON.
    pub frame: &'a [u8],
}

/// A command that is about to be sent, or whose response has arrived.
#[derive(Clone, Copy, Debug)]
pub struct GuardedCommand<'a> {
    /// Its method.
    pub method: &'a str,
    /// Its target.
    pub scope: GuardedScope<'a>,
    /// The frames, requests and streams that it names.
    pub parts: GuardedParts<'a>,
    /// Its parameters, as JSON; none when its response is checked.
    pub params: Option<&'a str>,
}

/// The target of a command or event.
#[derive(Clone, Copy, Debug)]
pub enum GuardedScope<'a> {
    /// The browser as a whole.
    Browser,
    /// A page, frame or worker.
    Target {
        /// The page that it belongs to, as far as its parents are known; otherwise the target itself.
        page: &'a str,
        /// The URL in the browser's latest `TargetInfo`; none when the target is unknown.
        url: Option<&'a str>,
        /// The URL that the page itself reported, when it differs.
        page_url: Option<&'a str>,
        /// Addresses that its document came from, or may have come from.
        addresses: &'a [IpAddr],
        /// Whether another page opened it.
        is_opened_by_page: bool,
    },
}

/// State that the mux records so that guards can check frames.
#[derive(Debug, Default)]
pub(crate) struct GuardState {
    moves: FrameMoves,
    waits: FrameWaits,
    /// Whether the mux records the remote addresses of documents.
    follows_addresses: bool,
}

impl GuardState {
    pub(crate) fn moves(&self) -> &FrameMoves {
        &self.moves
    }

    pub(crate) fn moves_mut(&mut self) -> &mut FrameMoves {
        &mut self.moves
    }

    pub(crate) fn waits_mut(&mut self) -> &mut FrameWaits {
        &mut self.waits
    }

    pub(crate) fn follows_addresses(&self) -> bool {
        self.follows_addresses
    }

    /// Starts recording remote addresses; returns whether it was off.
    pub(crate) fn follow_addresses(&mut self) -> bool {
        !std::mem::replace(&mut self.follows_addresses, true)
    }
}

/// A guard that clients share.
#[derive(Clone, Debug)]
pub struct SharedGuard(pub Arc<dyn Guard>);

impl PartialEq for SharedGuard {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for SharedGuard {}

impl Mux {
    /// Refuses a command that its client's guard does not allow; returns whether it did.
    pub(crate) fn blocked_by_guard(&mut self, command: &Command<'_>) -> bool {
        if self.state.concerns_hidden_page(command) {
            self.counters.refused_by_guard += 1;
            self.refuse(command, &ProtocolError::tabwire(ErrorCode::PolicyDenied, HIDDEN_PAGE));
            return true;
        }
        let Some(guard) = self.state.clients.guard(command.client) else { return false };
        let params = command.envelope.params.map_or("{}", serde_json::value::RawValue::get);
        let names = NamedParts::read(params);
        let verdict = match &names {
            None if guard.wants_frames() => {
                Err("Its parameters contain a duplicate key or an id of the wrong type.".to_owned())
            }
            names => guard.check(&GuardedCommand {
                method: command.envelope.method,
                scope: self.state.scope_of(&command.session),
                parts: GuardedParts::new(
                    &self.state,
                    self.guard.moves(),
                    &command.session,
                    names.as_ref(),
                    None,
                ),
                params: Some(params),
            }),
        };
        let Err(sentence) = verdict else { return false };
        self.counters.refused_by_guard += 1;
        self.refuse(command, &ProtocolError::tabwire(ErrorCode::PolicyDenied, sentence));
        true
    }

    /// The facts about a command that the check of its response needs.
    pub(crate) fn guarded_pending(&self, command: &Command<'_>) -> Option<Box<GuardedPending>> {
        let guard = self.state.clients.guard(command.client)?;
        let params = command.envelope.params.map(serde_json::value::RawValue::get);
        let names = params.filter(|_| guard.wants_frames()).and_then(NamedParts::read);
        let (method, since) = (Box::from(command.envelope.method), self.guard.moves().clock());
        Some(Box::new(GuardedPending { method, names, since }))
    }

    /// Withholds a response when the page has meanwhile navigated to a site that its client may not read.
    pub(crate) fn response_blocked(&mut self, client: ClientId, client_id: i64, pending: &Pending) -> bool {
        let Some(session) = &pending.session else { return false };
        let verdict = match (self.state.shows_hidden_page(client, session), &pending.guarded) {
            (true, _) => Err(HIDDEN_PAGE.to_owned()),
            (false, None) => return false,
            (false, Some(asked)) => match self.state.clients.guard(client) {
                None => return false,
                Some(guard) => guard.check(&GuardedCommand {
                    method: &asked.method,
                    scope: self.state.scope_of(session),
                    parts: GuardedParts::new(
                        &self.state,
                        self.guard.moves(),
                        session,
                        asked.names.as_ref(),
                        Some(asked.since),
                    ),
                    params: None,
                }),
            },
        };
        let Err(sentence) = verdict else { return false };
        self.counters.withheld_by_guard += 1;
        let error = ProtocolError::tabwire(ErrorCode::PolicyDenied, sentence);
        let echo = self.state.clients.reply_session(client, Some(session));
        let frame = reply::error(client_id, echo.as_ref(), &error);
        self.router.deliver(client, frame, FrameClass::Response);
        true
    }

    /// Whether an event is withheld from the client that owns its session.
    pub(crate) fn blocks_event(
        &mut self,
        client: ClientId,
        session: &CdpSessionId,
        method: &str,
        frame: &[u8],
    ) -> bool {
        // The end of a session is reported in any case.
        let is_end = method.starts_with("Target.") || method.starts_with("Inspector.");
        if !is_end && self.state.shows_hidden_page(client, session) {
            self.counters.withheld_by_guard += 1;
            return true;
        }
        let Some(guard) = self.state.clients.guard(client) else { return false };
        let names = if guard.wants_frames() { names_of_event(method, frame) } else { None };
        let is_blocked = !guard.event_allowed(&GuardedEvent {
            method,
            scope: self.state.scope_of(session),
            parts: GuardedParts::new(&self.state, self.guard.moves(), session, names.as_ref(), None),
            frame,
        });
        self.counters.withheld_by_guard += u64::from(is_blocked);
        is_blocked
    }
}

impl BrowserState {
    /// Whether a client may receive a page's title and URL.
    pub(crate) fn may_read_page(&self, client: ClientId, target: &str, url: Option<&str>) -> bool {
        let sources = self.targets.find(target).map_or(&[][..], |entry| entry.addresses.addresses());
        self.clients.guard(client).is_none_or(|guard| guard.may_know(url.unwrap_or_default(), sources))
    }

    /// Whether a target shows a page that is hidden from a client.
    pub(crate) fn is_hidden(client: &Client, target: &TargetEntry) -> bool {
        let urls = [target.text("url"), target.page_url.as_deref()];
        let guard = client.options.guard.as_ref();
        guard.is_some_and(|guard| urls.into_iter().flatten().any(|url| guard.0.hides(url)))
    }

    /// Whether a CDP session of a client shows a page that is hidden from it.
    fn shows_hidden_page(&self, client: ClientId, session: &CdpSessionId) -> bool {
        let Some(client) = self.clients.get(client) else { return false };
        let target = self.sessions.find(session.as_str()).and_then(Session::target);
        let entry = target.and_then(|target| self.targets.find(target.as_str()));
        entry.is_some_and(|entry| Self::is_hidden(client, entry))
    }

    /// Whether a command is for a hidden page, or would open one.
    fn concerns_hidden_page(&self, command: &Command<'_>) -> bool {
        if self.shows_hidden_page(command.client, &command.session) {
            return true;
        }
        let guard = self.clients.get(command.client).and_then(|client| client.options.guard.as_ref());
        let (Some(guard), Some(params)) = (guard, command.envelope.params) else { return false };
        if !OPENING.contains(&command.envelope.method) {
            return false;
        }
        let params = tabwire_cdp::lenient_json::read(params.get().as_bytes());
        params.get("url").and_then(Value::as_str).is_some_and(|url| guard.0.hides(url))
    }

    fn scope_of(&self, session: &CdpSessionId) -> GuardedScope<'_> {
        let Some(target) = self.sessions.find(session.as_str()).and_then(|session| session.target()) else {
            return GuardedScope::Browser;
        };
        let entry = self.targets.find(target.as_str());
        let url = entry.map(|entry| entry.info.get("url").and_then(Value::as_str).unwrap_or_default());
        let reported = entry.and_then(|entry| entry.page_url.as_deref());
        let page = entry.and_then(|entry| entry.text("parentFrameId"));
        let page = page.and_then(|frame| self.targets.page_of_frame(frame));
        GuardedScope::Target {
            page: page.map_or(target.as_str(), |page| page.id.as_str()),
            url,
            page_url: reported.filter(|reported| Some(*reported) != url),
            addresses: entry.map_or(&[][..], |entry| entry.addresses.addresses()),
            is_opened_by_page: entry.is_some_and(|entry| entry.text("openerId").is_some()),
        }
    }

    /// Records a page's new URL from its own event, which comes sooner than the browser's `TargetInfo`.
    pub(crate) fn record_page_url(&mut self, session: &CdpSessionId, params: &Value) {
        let Some(frame) = params.get("frame").filter(|frame| frame.get("parentId").is_none()) else { return };
        let url = frame.get("url").and_then(Value::as_str).filter(|url| !url.starts_with(ERROR_PAGE));
        let target = self.sessions.find(session.as_str()).and_then(|session| session.target().cloned());
        if let Some(entry) = target.and_then(|target| self.targets.find_mut(target.as_str())) {
            entry.page_url = url.map(str::to_owned);
            if let Some(loader) = frame.get("loaderId").and_then(Value::as_str) {
                entry.addresses.shows(loader);
            }
        }
    }
}

/// The ids that an event names.
fn names_of_event(method: &str, frame: &[u8]) -> Option<NamedParts> {
    #[derive(serde::Deserialize)]
    struct Event {
        #[serde(default)]
        params: NamedParts,
    }
    #[derive(serde::Deserialize)]
    struct ExceptionThrown {
        params: Details,
    }
    #[derive(serde::Deserialize)]
    struct Details {
        #[serde(rename = "exceptionDetails")]
        details: NamedParts,
    }
    #[derive(serde::Deserialize)]
    struct StyleSheetAdded {
        params: Header,
    }
    #[derive(serde::Deserialize)]
    struct Header {
        header: NamedParts,
    }
    // Nearly all events name their frame, context or request directly in `params`; these two do so one
    // level below.
    if method == "CSS.styleSheetAdded" {
        return serde_json::from_slice::<StyleSheetAdded>(frame).ok().map(|added| added.params.header);
    }
    if method == "Runtime.exceptionThrown" {
        return serde_json::from_slice::<ExceptionThrown>(frame).ok().map(|thrown| thrown.params.details);
    }
    serde_json::from_slice::<Event>(frame).ok().map(|event| event.params)
}
