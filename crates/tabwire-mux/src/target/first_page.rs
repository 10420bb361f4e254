//! The first page of each client: opened when the client first requests targets, first in every list, and closed when
//! the client leaves without using it.
//!
//! A client that requests targets waits: until its page is open, and, for discovery, until the titles of targets are
//! current. The frames that follow wait as well, because the browser would handle them in order.

use std::time::Instant;

use bytes::BytesMut;
use serde_json::{Value, json};
use tabwire_api::{ClientId, ErrorCode, TargetId};
use tabwire_cdp::envelope::ClientEnvelope;
use tabwire_cdp::reply::ProtocolError;

use crate::client::backlog::Backlog;
use crate::client::state::{Client, FirstPage};
use crate::control::link::LinkState;
use crate::mux::Mux;
use crate::output::CloseReason;
use crate::partition::table::PartitionScope;
use crate::routing::from_client::Command;
use crate::routing::pending::InternalCommand;
use crate::session::table::Session;
use crate::state::BrowserState;
use crate::target::entry::{Owner, TargetEntry};

/// The URL of a page that shows nothing.
const BLANK: &str = "about:blank";

/// Commands on a page that mean that a client uses it, besides navigations: what attached clients send by themselves is
/// not among them.
const USES: &[&str] =
    &["Runtime.evaluate", "Runtime.callFunctionOn", "Page.setDocumentContent", "DOM.setOuterHTML"];

/// A command that requests targets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TargetQuery {
    List,
    Discover,
    Attach,
}

impl TargetQuery {
    fn read(envelope: &ClientEnvelope<'_>) -> Option<Self> {
        let (query, flag) = match envelope.method {
            // What Puppeteer (`setDiscoverTargets`), Playwright (`setAutoAttach`) and raw clients
            // (`getTargets`) send first.
            "Target.getTargets" => return Some(Self::List),
            "Target.setDiscoverTargets" => (Self::Discover, "discover"),
            "Target.setAutoAttach" => (Self::Attach, "autoAttach"),
            _ => return None,
        };
        let params: Value = serde_json::from_str(envelope.params?.get()).ok()?;
        (params.get(flag).and_then(Value::as_bool) == Some(true)).then_some(query)
    }
}

impl Mux {
    /// Queues a frame of a client that waits for targets.
    pub(crate) fn queued_behind_query(&mut self, client: ClientId, frame: &[u8]) -> bool {
        let Some(waiting) = self.state.clients.get_mut(client).and_then(|client| client.waiting.as_mut())
        else {
            return false;
        };
        if !waiting.try_push(BytesMut::from(frame)) {
            self.disconnect(client, CloseReason::BacklogFull);
        }
        true
    }

    /// Whether a command has to wait until the targets can be listed.
    pub(crate) fn waits_for_targets(&mut self, command: &Command<'_>, now: Instant) -> bool {
        let Some(query) = TargetQuery::read(&command.envelope) else { return false };
        let Some(client) = self.state.clients.get_mut(command.client) else { return false };
        let is_fresh = std::mem::take(&mut client.has_fresh_targets);
        let on_browser = self.state.sessions.find(command.session.as_str()).is_some_and(Session::is_browser);
        let waits = on_browser
            && (self.opens_first_page(command.client, now)
                || (query == TargetQuery::Discover
                    && !is_fresh
                    && self.requests_targets(command.client, now)));
        if let Some(client) = self.state.clients.get_mut(command.client).filter(|_| waits) {
            let mut waiting = Backlog::default();
            waiting.try_push(BytesMut::from(command.frame));
            client.waiting = Some(waiting);
        }
        waits
    }

    /// Starts to open the client's first page, unless it has a page already.
    fn opens_first_page(&mut self, client: ClientId, now: Instant) -> bool {
        if !self.state.clients.get(client).is_some_and(Client::lacks_first_page) {
            return false;
        }
        let existing = self.state.own_page(client).or_else(|| self.state.take_listed_page(client));
        let Some(control) = self.control.session().filter(|_| existing.is_none()) else {
            if let Some(entry) = self.state.clients.get_mut(client) {
                entry.first_page = existing;
            }
            return false;
        };
        let opens_window = self.state.clients.opens_windows(client);
        let mut params = json!({"url": BLANK, "background": !opens_window});
        let place =
            self.state.clients.partition(client).and_then(|partition| self.state.partitions.find(partition));
        if let (Some(PartitionScope::Context(context)), Some(members)) = (place, params.as_object_mut()) {
            members.insert("browserContextId".to_owned(), json!(context.as_str()));
        }
        // A page behind another one in the same window is not drawn (docs/cdp/background-tabs-and-
        // screenshots.md).
        if let (true, Some(members)) = (opens_window, params.as_object_mut()) {
            members.insert("newWindow".to_owned(), json!(true));
        }
        let internal = InternalCommand::OpenFirstPage(client);
        self.router.send(Some(&control), "Target.createTarget", params, internal, now);
        true
    }

    /// The client's first page is open, or could not be opened.
    pub(crate) fn first_page_opened(
        &mut self,
        id: u64,
        client: ClientId,
        target: Option<&str>,
        now: Instant,
    ) {
        let partition = self.state.clients.partition(client).cloned();
        let owner = self.state.owner_of_late_result(client, partition);
        let target = target.map(TargetId::new);
        match (self.state.clients.get_mut(client), &target) {
            (Some(entry), Some(target)) => entry.first_page = Some(target.clone()),
            (Some(entry), None) => entry.options.first_page = FirstPage::Any,
            (None, Some(target)) => {
                self.control_command("Target.closeTarget", json!({"targetId": target.as_str()}), now);
            }
            (None, None) => {}
        }
        self.target_created(id, target.as_ref().map(|target| (owner, target.as_str())), now);
        if let Some(entry) = target.and_then(|target| self.state.targets.find_mut(target.as_str())) {
            entry.is_unused = true;
        }
        self.stop_waiting(client, now);
    }

    /// Requests the current titles of all targets: the browser does not report every change.
    fn requests_targets(&mut self, client: ClientId, now: Instant) -> bool {
        let Some(control) = self.control.session() else { return false };
        // Without a filter the browser leaves out tab targets (docs/cdp/target-types-and-tab-targets.md).
        let internal = InternalCommand::RefreshTargets(client);
        self.router.send(Some(&control), "Target.getTargets", json!({"filter": [{}]}), internal, now);
        true
    }

    /// The titles of all targets have arrived; without a result, the known ones are used.
    pub(crate) fn targets_refreshed(&mut self, client: ClientId, result: Option<&Value>, now: Instant) {
        let infos = result.and_then(|result| result.get("targetInfos")?.as_array());
        for info in infos.into_iter().flatten() {
            self.state.title_received(info);
        }
        if let Some(client) = self.state.clients.get_mut(client) {
            client.has_fresh_targets = true;
        }
        self.stop_waiting(client, now);
    }

    /// Handles the frames that waited.
    fn stop_waiting(&mut self, client: ClientId, now: Instant) {
        let waiting = self.state.clients.get_mut(client).and_then(|client| client.waiting.take());
        let mut waiting = waiting.unwrap_or_default();
        if self.control.state() == LinkState::Lost {
            return self.refuse_backlog(client, waiting, &never_sent());
        }
        while let Some(frame) = waiting.take_next() {
            self.route_command(client, &frame, now);
        }
    }

    /// A client leaves: pages that were opened for it and that no client used are closed.
    pub(crate) fn close_unused_pages(&mut self, client: ClientId, now: Instant) {
        let is_unused = |target: &&TargetEntry| {
            target.is_unused && target.owner == Owner::Client(client) && target.text("url") == Some(BLANK)
        };
        let unused: Vec<TargetId> =
            self.state.targets.iter().filter(is_unused).map(|target| target.id.clone()).collect();
        for target in unused {
            self.control_command("Target.closeTarget", json!({"targetId": target.as_str()}), now);
        }
    }
}

impl BrowserState {
    /// A page that the client, or a connection that is one client with it, has opened.
    fn own_page(&self, client: ClientId) -> Option<TargetId> {
        let is_own = |target: &&TargetEntry| match target.owner {
            Owner::Client(owner) => self.clients.shares_view(owner, client),
            _ => false,
        };
        let is_page = |target: &&TargetEntry| target.target_type() == "page" && target.is_tab_content();
        self.targets.iter().filter(is_page).find(is_own).map(|target| target.id.clone())
    }

    /// The page that was opened when a client of the same process listed targets without a connection.
    fn take_listed_page(&mut self, client: ClientId) -> Option<TargetId> {
        let (lister, page) = self.clients.take_listed_page(client)?;
        let is_free = |entry: &&TargetEntry| entry.owner == Owner::Client(lister);
        let tab = self.targets.find(page.as_str()).filter(is_free)?.counterpart.clone();
        for id in [Some(page.clone()), tab].into_iter().flatten() {
            if let Some(entry) = self.targets.find_mut(id.as_str()) {
                entry.owner = Owner::Client(client);
            }
        }
        Some(page)
    }

    /// Records the title of a target whose document is the known one.
    pub(crate) fn title_received(&mut self, info: &Value) {
        let id = info.get("targetId").and_then(Value::as_str).unwrap_or_default();
        if let (Some(target), Some(title)) = (self.targets.find_mut(id), info.get("title"))
            // The list may be older than an event: its title belongs to its URL.
            && target.info.get("url") == info.get("url")
            && let Some(members) = target.info.as_object_mut()
        {
            members.insert("title".to_owned(), title.clone());
        }
    }

    /// Records that a client uses a page.
    pub(crate) fn note_use(&mut self, command: &Command<'_>) {
        let method = command.envelope.method;
        let uses =
            USES.contains(&method) || method.starts_with("Input.") || method.starts_with("Page.navigate");
        let session = self.sessions.find(command.session.as_str()).filter(|_| uses);
        if let Some(target) = session.and_then(Session::target).cloned()
            && let Some(entry) = self.targets.find_mut(target.as_str())
        {
            entry.is_unused = false;
        }
    }

    /// All targets, with the client's first page and its tab before the others.
    pub(crate) fn ids_for(&self, client: ClientId) -> Vec<TargetId> {
        let mut ids = self.targets.ids();
        ids.sort_by_key(|id| !self.is_first_for(client, id.as_str()));
        ids
    }

    /// Whether this is the client's first page, or its tab.
    pub(crate) fn is_first_for(&self, client: ClientId, id: &str) -> bool {
        let Some(first) = self.clients.get(client).and_then(|client| client.first_page.as_ref()) else {
            return false;
        };
        let is_its_tab = |entry: &TargetEntry| entry.counterpart.as_ref() == Some(first);
        first.as_str() == id || self.targets.find(id).is_some_and(is_its_tab)
    }
}

fn never_sent() -> ProtocolError {
    ProtocolError::tabwire(ErrorCode::BrowserGone, "The browser went away before this command was sent.")
}
