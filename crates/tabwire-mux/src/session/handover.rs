//! Gives the mux's own CDP session on a new target to the client that auto-attaches to it.
//!
//! Chromium 156 sends some events to the first CDP session on a target only: the response for the main script of
//! a shared or service worker, and `Page.frameNavigated` for the first document of a popup without an opener. The
//! control session is always attached first, so its session on the target becomes the client's.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tabwire_api::{CdpSessionId, ClientId, TargetId};
use tabwire_cdp::reply;

use crate::client::state::Client;
use crate::mux::Mux;
use crate::output::FrameClass;
use crate::routing::from_client::Command;
use crate::routing::pending::{InternalCommand, ResponseHandling};
use crate::session::table::{Session, SessionOwner};
use crate::target::entry::{Owner, PausedTarget, TargetEntry};

/// How long a new page may stay paused for its owner. Only the owner waits for it, and on a loaded machine a client has
/// taken longer than the deadline for other clients to set up a page.
const OWNER_RESUME_DEADLINE: Duration = Duration::from_secs(60);

impl Mux {
    /// Gives the mux's session on a paused target to a client; returns whether it did.
    pub(crate) fn hand_over(
        &mut self,
        id: &TargetId,
        browser_session: &CdpSessionId,
        client: ClientId,
        now: Instant,
    ) -> bool {
        let Some(child) = self.session_to_give(id, client) else { return false };
        if !self.state.wants_target(id, browser_session, client) {
            return false;
        }
        self.state.record_offer(id, browser_session, client);
        let entry = Session::handed_over(client, browser_session.clone(), id.clone());
        self.state.sessions.insert(child.clone(), entry);
        self.exposures.session_attached(browser_session, &child);
        if self.state.clients.guard(client).is_some_and(|guard| guard.wants_frames()) {
            self.follow_frames(id, now);
        }
        let Some(target) = self.state.targets.find_mut(id.as_str()) else { return true };
        // Pages of other clients may wait for a shared or service worker.
        let is_only_owners = target.owner == Owner::Client(client) && !target.is_frameless();
        let Some(PausedTarget { info, until, .. }) = target.paused.as_mut() else { return true };
        let params = json!({"sessionId": child.as_str(), "targetInfo": info, "waitingForDebugger": true});
        if is_only_owners {
            *until = now + OWNER_RESUME_DEADLINE;
        }
        self.send_attached(client, browser_session, &params);
        true
    }

    /// The mux's session on a paused target, unless the mux or a guard needs it.
    fn session_to_give(&self, id: &TargetId, client: ClientId) -> Option<CdpSessionId> {
        let target = self.state.targets.find(id.as_str())?;
        let session = &target.paused.as_ref()?.session;
        // Pages of several clients may share a worker. None of them may hold it for the others.
        let is_other = |(id, _): (ClientId, &Client)| {
            !self.state.clients.is_engine(id) && !self.state.clients.shares_view(id, client)
        };
        if target.is_shared_worker() && self.state.clients.iter().any(is_other) {
            return None;
        }
        let is_own = self.state.sessions.find(session.as_str())?.owner == SessionOwner::Control;
        (is_own && !self.needs_session(target, client)).then(|| session.clone())
    }

    /// Whether checks of a page rely on the mux being attached to it before every client.
    fn needs_session(&self, target: &TargetEntry, client: ClientId) -> bool {
        let wants_frames = || self.state.clients.guard(client).is_some_and(|guard| guard.wants_frames());
        !target.is_frameless()
            && (self.guard.follows_addresses() || target.paused_on.is_some() || wants_frames())
    }

    /// A guarded client joins: the mux attaches to the pages whose session it gave away.
    pub(crate) fn attach_to_pages(&mut self, now: Instant) {
        let attached: Vec<TargetId> = self
            .state
            .sessions
            .internal_target_sessions()
            .iter()
            .filter_map(|session| self.state.sessions.find(session.as_str())?.target().cloned())
            .collect();
        // A client without a guard got the first session on each page, because only that one receives every
        // event.
        let is_bare = |target: &&TargetEntry| {
            target.target_type() == "page" && target.is_resolved() && !attached.contains(&target.id)
        };
        let pages: Vec<TargetId> =
            self.state.targets.iter().filter(is_bare).map(|page| page.id.clone()).collect();
        for page in pages {
            let params = json!({"targetId": page.as_str(), "flatten": true});
            self.control_command("Target.attachToTarget", params, now);
        }
    }

    /// `Target.detachFromTarget`. The browser knows a session that the mux gave away as a child of the control
    /// session.
    pub(crate) fn command_detach(&mut self, command: &Command<'_>, params: &Value, now: Instant) {
        let text = |field: &str| params.get(field).and_then(Value::as_str);
        let is_named = |id: &CdpSessionId, session: &Session| match text("sessionId") {
            Some(named) => id.as_str() == named,
            None => session.target().map(TargetId::as_str) == text("targetId"),
        };
        // Chromium refuses to detach a child of another browser-level session: the id is unknown there
        // (-32602).
        let is_given = |(id, session): &(&CdpSessionId, &Session)| {
            session.is_handed_over
                && session.parent.as_ref() == Some(&command.session)
                && is_named(id, session)
        };
        let given = self.state.sessions.iter().find(is_given).map(|(id, _)| id.clone());
        let (Some(child), Some(control)) = (given, self.control.session()) else {
            return self.forward(command, ResponseHandling::PassThrough, now);
        };
        let internal = InternalCommand::DetachForClient {
            client: command.client,
            id: command.envelope.id,
            session: (!command.on_root).then(|| command.session.clone()),
        };
        let params = json!({"sessionId": child.as_str()});
        self.router.send(Some(&control), "Target.detachFromTarget", params, internal, now);
    }

    /// The browser has detached a session for a client. If the session was gone already, the client has
    /// received that event.
    pub(crate) fn detached_for_client(&mut self, client: ClientId, id: i64, session: Option<&CdpSessionId>) {
        if self.state.clients.contains(client) {
            let frame = reply::result(id, session, json!({}));
            self.router.deliver(client, frame, FrameClass::Response);
        }
    }

    /// Detaches an auto-attached session of a browser-level session.
    pub(crate) fn detach_child(&mut self, session: &CdpSessionId, child: &CdpSessionId, now: Instant) {
        let is_given = self.state.sessions.find(child.as_str()).is_some_and(|child| child.is_handed_over);
        // The browser accepts the command only from the session that the child was attached through.
        let parent = self.control.session().filter(|_| is_given).unwrap_or_else(|| session.clone());
        let params = json!({"sessionId": child.as_str()});
        self.router.send(
            Some(&parent),
            "Target.detachFromTarget",
            params,
            InternalCommand::FireAndForget,
            now,
        );
    }

    /// The browser detached a session from the control session: reports it to the client that has it.
    pub(crate) fn report_detached(&mut self, session: &CdpSessionId, params: &Value) {
        let Some(entry) = self.state.sessions.find(session.as_str()).filter(|entry| entry.is_handed_over)
        else {
            return;
        };
        if let (Some(client), Some(parent)) = (entry.client(), entry.parent.clone()) {
            self.send_event(client, &parent, "Target.detachedFromTarget", params.clone());
        }
    }
}
