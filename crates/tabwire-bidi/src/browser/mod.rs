//! The emulated browser: turns the hub's CDP frames into BiDi commands, and BiDi's messages into CDP frames.

mod containment;
mod documents;
mod input;
mod network;
mod page;
mod pictures;
mod start;
mod targets;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Instant;

use bytes::BytesMut;
use serde_json::Value;
use tabwire_api::{CdpSessionId, ErrorCode};
use tabwire_cdp::envelope::{PeekError, peek_client_frame};
use tabwire_cdp::{ProtocolError, lenient_json, reply};

use crate::browser::containment::Contained;
pub use crate::browser::containment::{Lookup, RequestHold};
use crate::browser::documents::navigation::WaitingNavigation;
use crate::browser::input::InputQueue;
use crate::browser::network::downloads::Downloads;
use crate::browser::network::intercept::PausedRequests;
use crate::browser::network::requests::RequestTable;
use crate::browser::pictures::PictureSeries;
use crate::gaps;
use crate::protocol::message::{self, BidiError, Incoming};
use crate::state::context::ContextTable;
use crate::state::node::NodeTable;
use crate::state::realm::RealmTable;
use crate::state::session::{SessionTable, SessionTarget};

/// Commands to the browser without a response.
const PENDING: usize = 20_000;

/// Commands of the hub that wait until the browser is ready.
const EARLY: usize = 10_000;

/// A message that the caller has to send, or a file to move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// A CDP frame for the hub.
    ToHub(BytesMut),
    /// A BiDi message for the browser.
    ToBrowser(String),
    /// Rename a downloaded file, then call [`EmulatedBrowser::file_moved`]. BiDi cannot choose a download's name.
    MoveFile {
        /// Names the request in the call.
        number: u64,
        /// The file that the browser wrote.
        from: PathBuf,
        /// Its name for CDP.
        to: PathBuf,
    },
}

/// What is known of a browser before its first message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BrowserFacts {
    /// `Firefox/153.0`.
    pub product: String,
    /// Its user agent.
    pub user_agent: String,
    /// A tab that keeps the browser open and is not shown to clients. The first tab that is found, if absent.
    pub anchor: Option<String>,
}

/// Runs when a command has its response.
type Then = Box<dyn FnOnce(&mut EmulatedBrowser, Result<Value, BidiError>) + Send>;

/// A command to the browser without a response yet.
struct Pending {
    then: Then,
    /// The realm that it runs in. It fails when the realm goes, because the browser then may not respond.
    realm: Option<String>,
    /// The context that it concerns.
    context: Option<String>,
}

/// Where a response to the hub goes. It is consumed by the response.
#[derive(Debug)]
pub(crate) struct Reply {
    id: i64,
    session: Option<CdpSessionId>,
}

/// A command of the hub.
#[derive(Clone, Debug)]
pub(crate) struct Command {
    pub(crate) method: String,
    pub(crate) params: Value,
}

/// Whether the browser can take commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Starting,
    Ready,
    Gone,
}

/// One browser behind a BiDi session.
pub struct EmulatedBrowser {
    facts: BrowserFacts,
    phase: Phase,
    early: Vec<BytesMut>,
    contexts: ContextTable,
    realms: RealmTable,
    nodes: NodeTable,
    sessions: SessionTable,
    user_contexts: BTreeSet<String>,
    pending: BTreeMap<u64, Pending>,
    last_command: u64,
    last_number: u64,
    navigations: Vec<WaitingNavigation>,
    requests: RequestTable,
    paused: PausedRequests,
    /// Set in a browser for guarded sessions.
    contained: Option<Contained>,
    pictures: Vec<PictureSeries>,
    downloads: Downloads,
    input: BTreeMap<String, InputQueue>,
    /// Permissions that clients have set.
    permissions: Vec<Value>,
    /// Tabs that are being opened for clients.
    creating: usize,
    /// The tab that has the focus.
    active: Option<String>,
    /// Commands that closed a dialog, by tab, until its script goes on.
    closed_prompts: BTreeMap<String, Reply>,
    /// Results that a client reads in parts.
    streams: BTreeMap<String, String>,
    idle_since: BTreeMap<String, Instant>,
    outputs: Vec<Output>,
}

impl std::fmt::Debug for EmulatedBrowser {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("EmulatedBrowser")
            .field("facts", &self.facts)
            .field("phase", &self.phase)
            .field("pending", &self.pending.len())
            .finish_non_exhaustive()
    }
}

impl EmulatedBrowser {
    /// A browser whose session exists. `scope` is the prefix of CDP session ids. The first outputs set up the session.
    #[must_use]
    pub fn new(scope: &str, facts: BrowserFacts) -> Self {
        Self::start_with(scope, facts, None)
    }

    /// The same for a browser that was launched for guarded sessions. No request is sent before clients allow it.
    #[must_use]
    pub fn contained(scope: &str, facts: BrowserFacts, containment: RequestHold) -> Self {
        Self::start_with(scope, facts, Some(Contained::new(containment)))
    }

    fn start_with(scope: &str, facts: BrowserFacts, contained: Option<Contained>) -> Self {
        let mut browser = Self {
            facts,
            phase: Phase::Starting,
            early: Vec::new(),
            contexts: ContextTable::default(),
            realms: RealmTable::default(),
            nodes: NodeTable::default(),
            sessions: SessionTable::new(scope),
            user_contexts: BTreeSet::new(),
            pending: BTreeMap::new(),
            last_command: 0,
            last_number: 0,
            navigations: Vec::new(),
            requests: RequestTable::default(),
            paused: PausedRequests::default(),
            contained,
            pictures: Vec::new(),
            downloads: Downloads::default(),
            input: BTreeMap::new(),
            permissions: Vec::new(),
            creating: 0,
            active: None,
            closed_prompts: BTreeMap::new(),
            streams: BTreeMap::new(),
            idle_since: BTreeMap::new(),
            outputs: Vec::new(),
        };
        browser.start();
        browser
    }

    /// Takes the outputs, in order.
    pub fn take_outputs(&mut self) -> Vec<Output> {
        std::mem::take(&mut self.outputs)
    }

    /// Commands to the browser without a response.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// Handles a CDP frame of the hub.
    pub fn from_hub(&mut self, frame: &[u8]) {
        if self.phase == Phase::Starting && self.early.len() < EARLY {
            return self.early.push(BytesMut::from(frame));
        }
        let envelope = match peek_client_frame(frame) {
            Ok(envelope) => envelope,
            Err(PeekError::NoMethod { id }) => {
                let reply = Reply { id, session: None };
                return self.fail(reply, &ProtocolError::invalid_params("there is no method"));
            }
            Err(_) => return,
        };
        let session = envelope.session.map(CdpSessionId::new);
        let reply = Reply { id: envelope.id, session: session.clone() };
        if self.phase != Phase::Ready {
            return self.fail(reply, &gone());
        }
        let params = match envelope.params {
            Some(params) => match lenient_json::read_as::<Value>(params.get().as_bytes()) {
                Ok(params) if params.is_object() => params,
                _ => return self.fail(reply, &ProtocolError::invalid_params("the parameters are no object")),
            },
            None => Value::Object(serde_json::Map::new()),
        };
        let command = Command { method: envelope.method.to_owned(), params };
        self.run(session.as_ref(), command, reply);
    }

    fn run(&mut self, session: Option<&CdpSessionId>, command: Command, reply: Reply) {
        match self.sessions.find(session).map(|session| session.target.clone()) {
            None => self.fail(reply, &ProtocolError::no_session()),
            Some(SessionTarget::Browser) => self.browser_command(session, &command, reply),
            Some(SessionTarget::Page(tab)) => match session {
                Some(session) => self.page_command(&tab, session, &command, reply),
                None => self.fail(reply, &ProtocolError::no_session()),
            },
        }
    }

    /// Handles a message of the browser.
    pub fn from_browser(&mut self, frame: &[u8]) {
        let Ok(mut incoming) = lenient_json::read_as::<Incoming>(frame) else { return };
        if let Some(id) = incoming.id {
            let Some(pending) = self.pending.remove(&id) else { return };
            return (pending.then)(self, incoming.into_outcome());
        }
        if let (Some(method), Some(params)) = (incoming.method.take(), incoming.params.take()) {
            self.browser_event(&method, &params);
        }
    }

    fn browser_event(&mut self, method: &str, params: &Value) {
        match method.split('.').next().unwrap_or_default() {
            "browsingContext" => self.context_event(method, params),
            "script" => self.script_event(method, params),
            "network" => self.network_event(method, params),
            "log" => self.log_event(params),
            "input" => self.chooser_opened(params),
            _ => {}
        }
    }

    /// The connection to the browser broke: every open command fails, and the browser takes no more.
    pub fn browser_disconnected(&mut self) {
        if self.phase == Phase::Gone {
            return;
        }
        self.phase = Phase::Gone;
        let message = "The connection to the browser broke before it responded.";
        while let Some((_, pending)) = self.pending.pop_first() {
            (pending.then)(self, Err(BidiError::own(ErrorCode::OutcomeUnknown, message)));
        }
        self.fail_waiting();
        for frame in std::mem::take(&mut self.early) {
            self.from_hub(&frame);
        }
        self.outputs.retain(|output| matches!(output, Output::ToHub(_)));
    }

    /// The time passed. `networkIdle` and the pictures of live views depend on it; call it a few times a second.
    pub fn tick(&mut self, now: Instant) {
        self.report_idle_networks(now);
        self.take_pictures(now);
    }

    /// Whether a page has loaded and its network is not reported idle yet, or a picture is due some time.
    #[must_use]
    pub fn needs_tick(&self) -> bool {
        self.has_unreported_idle() || self.has_due_pictures()
    }

    /// Sends a command to the browser.
    fn send(&mut self, method: &str, params: Value, then: Then) {
        self.send_for(None, None, method, params, then);
    }

    /// Sends a command that concerns a context, and runs in a realm of it if one is given.
    fn send_for(
        &mut self,
        context: Option<&str>,
        realm: Option<&str>,
        method: &str,
        params: Value,
        then: Then,
    ) {
        if self.phase == Phase::Gone {
            let message = "The browser is gone.";
            return then(self, Err(BidiError::own(ErrorCode::BrowserGone, message)));
        }
        if self.pending.len() >= PENDING {
            let message = "Too many commands wait for the browser.";
            return then(self, Err(BidiError::own(ErrorCode::Backpressure, message)));
        }
        self.last_command += 1;
        let pending = Pending { then, realm: realm.map(str::to_owned), context: context.map(str::to_owned) };
        self.pending.insert(self.last_command, pending);
        self.outputs.push(Output::ToBrowser(message::command(self.last_command, method, &params)));
    }

    /// Sends a command whose response does not matter.
    fn post(&mut self, method: &str, params: Value) {
        self.send(method, params, Box::new(|_, _| {}));
    }

    /// Sends a command whose response is an empty one for the hub.
    fn send_acknowledged(&mut self, method: &str, params: Value, reply: Reply) {
        self.send(method, params, Box::new(move |browser, outcome| browser.acknowledge(reply, outcome)));
    }

    /// The open commands that satisfy a test fail, because the browser may not respond to them any more.
    fn fail_pending(&mut self, error: &BidiError, test: impl Fn(&Pending) -> bool) {
        let lost: Vec<u64> =
            self.pending.iter().filter(|(_, pending)| test(pending)).map(|(id, _)| *id).collect();
        for id in lost {
            if let Some(pending) = self.pending.remove(&id) {
                (pending.then)(self, Err(error.clone()));
            }
        }
    }

    fn acknowledge(&mut self, reply: Reply, outcome: Result<Value, BidiError>) {
        match outcome {
            Ok(_) => self.succeed(reply, "{}"),
            Err(error) => self.fail(reply, &error.to_protocol()),
        }
    }

    fn succeed(&mut self, reply: Reply, result: impl std::fmt::Display) {
        self.note_response(&reply);
        self.outputs.push(Output::ToHub(reply::result(reply.id, reply.session.as_ref(), result)));
    }

    fn fail(&mut self, reply: Reply, error: &ProtocolError) {
        self.note_response(&reply);
        self.outputs.push(Output::ToHub(reply::error(reply.id, reply.session.as_ref(), error)));
    }

    /// A client that gets a response has got the events before it.
    fn note_response(&mut self, reply: &Reply) {
        if let Some(session) = self.sessions.find_mut(reply.session.as_ref()) {
            session.knows_document = true;
        }
    }

    /// Responds that Firefox cannot do this.
    fn refuse(&mut self, reply: Reply, method: &str) {
        let sentence = gaps::sentence_of(method);
        self.fail(
            reply,
            &ProtocolError::tabwire(ErrorCode::UnsupportedHere, format!("{sentence} ({method})")),
        );
    }

    fn send_event(&mut self, session: Option<&CdpSessionId>, method: &str, params: &Value) {
        self.outputs.push(Output::ToHub(reply::event(method, session, params)));
    }

    /// Sends an event of a tab to the sessions that enabled its domain.
    fn tab_event(&mut self, tab: &str, method: &str, params: &Value) {
        let domain = method.split('.').next().unwrap_or_default();
        for session in self.sessions.on_tab(tab) {
            let receives =
                self.sessions.find(Some(&session)).is_some_and(|found| found.domains.contains(domain));
            if receives {
                self.send_event(Some(&session), method, params);
            }
        }
    }

    fn next_number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }
}

fn gone() -> ProtocolError {
    ProtocolError::tabwire(ErrorCode::BrowserGone, "The browser is gone.")
}
