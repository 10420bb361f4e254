//! Discovery for clients: `Target.targetCreated`, `targetInfoChanged` and `targetDestroyed`.

use std::time::Instant;

use serde_json::{Value, json};
use tabwire_api::{CdpSessionId, ClientId, TargetId};
use tabwire_cdp::TargetFilter;

use crate::mux::Mux;
use crate::session::table::Session;
use crate::state::BrowserState;
use crate::target::entry::TargetEntry;

/// The member of `TargetInfo` that marks a tab of the user for clients with tabs of their own.
const USER_TAB: &str = "tabwireUserTab";

impl Mux {
    /// `Target.setDiscoverTargets` on a client's CDP session.
    pub(crate) fn set_discover(&mut self, session: &CdpSessionId, wanted: Option<TargetFilter>) {
        let on = wanted.is_some();
        let client = self.state.sessions.find(session.as_str()).and_then(Session::client);
        if let (Some(filter), Some(client)) = (&wanted, client) {
            self.send_browser_target(client, session, filter);
        }
        if let Some(entry) = self.state.sessions.find_mut(session.as_str()) {
            entry.discover = wanted;
        }
        if !on {
            for target in self.state.targets.iter_mut() {
                target.discoverers.remove(session);
            }
            return;
        }
        let ids = client.map(|client| self.state.ids_for(client)).unwrap_or_default();
        for id in ids {
            self.send_target_created(&id);
        }
    }

    /// Announces a target to every discovering client that may see it and has not received it yet.
    pub(crate) fn send_target_created(&mut self, id: &TargetId) {
        let Some(target) = self.state.targets.find(id.as_str()) else { return };
        let mut receivers: Vec<(CdpSessionId, ClientId)> = Vec::new();
        for (session, entry) in self.state.sessions.iter() {
            let (Some(client), Some(filter)) = (entry.client(), &entry.discover) else { continue };
            let shown = self
                .state
                .clients
                .get(client)
                .is_some_and(|entry| self.state.is_visible(entry, client, target));
            if shown && self.state.admits(filter, target) && !target.discoverers.contains(session) {
                receivers.push((session.clone(), client));
            }
        }
        for (session, client) in receivers {
            let params = json!({"targetInfo": self.state.info_for(client, id.as_str())});
            self.send_event(client, &session, "Target.targetCreated", params);
            if let Some(target) = self.state.targets.find_mut(id.as_str()) {
                target.discoverers.insert(session);
            }
        }
    }

    pub(crate) fn target_changed(&mut self, info: &Value, now: Instant) {
        let Some(id) = info.get("targetId").and_then(Value::as_str) else { return };
        let Some(target) = self.state.targets.find_mut(id) else { return };
        if !differs_visibly(&target.info, info) {
            target.info.clone_from(info);
            return;
        }
        let has_moved = target.info.get("url") != info.get("url");
        if has_moved {
            target.page_url = None;
        }
        target.info.clone_from(info);
        if has_moved {
            self.guard.moves_mut().tick();
            self.frame_target_seen(id, None);
        }
        for (session, client) in self.state.discoverers(id) {
            let params = json!({"targetInfo": self.state.info_for(client, id)});
            self.send_event(client, &session, "Target.targetInfoChanged", params);
        }
        if has_moved {
            self.announce_workers_of(id, now);
        }
    }

    /// A client attached to a target or detached from it: like the browser, reports the change to that client.
    pub(crate) fn attached_changed(&mut self, client: ClientId, id: &str) {
        for (session, _) in self.state.discoverers(id).into_iter().filter(|(_, receiver)| *receiver == client)
        {
            let params = json!({"targetInfo": self.state.info_for(client, id)});
            self.send_event(client, &session, "Target.targetInfoChanged", params);
        }
    }

    pub(crate) fn target_destroyed(&mut self, id: &str, now: Instant) {
        let receivers = self.state.discoverers(id);
        self.state.keep_partition(id);
        if self.state.targets.take(id).is_none() {
            return;
        }
        for (session, client) in receivers {
            self.send_event(client, &session, "Target.targetDestroyed", json!({"targetId": id}));
        }
        self.finish_endings(now);
    }
}

impl BrowserState {
    /// Whether a filter includes a target. A tab of the browser's own UI counts as `browser_ui`.
    pub(crate) fn admits(&self, filter: &TargetFilter, target: &TargetEntry) -> bool {
        let surface = target.is_tab()
            && self
                .targets
                .counterpart_of(target.id.as_str())
                .is_some_and(|page| page.target_type() == "browser_ui");
        filter.admits(if surface { "browser_ui" } else { target.target_type() })
    }

    /// `TargetInfo` for one client: `attached` means attached by this client.
    pub(crate) fn info_for(&self, client: ClientId, id: &str) -> Value {
        let Some(target) = self.targets.find(id) else { return Value::Null };
        let mut info = target.info.clone();
        self.redact_target_info(client, &mut info);
        info
    }

    /// Rewrites `attached` to mean this client only, and removes a title and URL that the client may not
    /// read.
    pub(crate) fn redact_target_info(&self, client: ClientId, info: &mut Value) {
        let Some(members) = info.as_object_mut() else { return };
        let id = members.get("targetId").and_then(Value::as_str).unwrap_or_default();
        let attached = self.sessions.is_attached(client, id);
        let is_known = self.may_read_page(client, id, members.get("url").and_then(Value::as_str));
        let target = self.targets.find(id);
        let is_users = |client| target.is_some_and(|target| self.is_user_tab(client, target));
        if self.clients.get(client).is_some_and(is_users) {
            members.insert(USER_TAB.to_owned(), Value::Bool(true));
        }
        members.insert("attached".to_owned(), Value::Bool(attached));
        let is_hidden = |client| target.is_some_and(|target| Self::is_hidden(client, target));
        if !is_known || self.clients.get(client).is_some_and(is_hidden) {
            members.insert("title".to_owned(), Value::from(""));
            members.insert("url".to_owned(), Value::from(""));
        }
    }

    /// The clients' CDP sessions that have received a target by discovery.
    pub(crate) fn discoverers(&self, id: &str) -> Vec<(CdpSessionId, ClientId)> {
        let Some(target) = self.targets.find(id) else { return Vec::new() };
        let owner =
            |session: &CdpSessionId| Some((session.clone(), self.sessions.find(session.as_str())?.client()?));
        target.discoverers.iter().filter_map(owner).collect()
    }
}

/// Whether two descriptions differ in more than `attached`, which the mux computes per client.
fn differs_visibly(before: &Value, after: &Value) -> bool {
    let (Some(before), Some(after)) = (before.as_object(), after.as_object()) else { return true };
    // The browser sets `attached` for any session, of any client; `info_for` sets it for each client.
    let visible = |key: &&String| key.as_str() != "attached";
    before.keys().filter(visible).count() != after.keys().filter(visible).count()
        || after.iter().filter(|(key, _)| visible(key)).any(|(key, value)| before.get(key) != Some(value))
}
