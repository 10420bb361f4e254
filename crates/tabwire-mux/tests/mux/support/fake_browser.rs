//! A fake browser that responds like Chromium 156, driven by steps: it never acts on its own or at random.
//!
//! Every command of a client carries `"tag": "c7-"` for client 7. The tags give the fake browser the owner of
//! each target, context and CDP session, which the mux has to infer without tags.

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Value, json};

use crate::support::fake_page::{FakeSession, FakeTarget};

/// The fake browser.
#[derive(Debug, Default)]
pub(crate) struct FakeBrowser {
    pub(crate) sessions: BTreeMap<String, FakeSession>,
    pub(crate) targets: BTreeMap<String, FakeTarget>,
    /// Browser contexts: their owner, and the session they are disposed with.
    pub(crate) contexts: BTreeMap<String, (Option<u64>, Option<String>)>,
    /// Frames to deliver, one queue for each CDP session ("" is the root).
    pub(crate) queues: BTreeMap<String, VecDeque<String>>,
    /// The order in which they were written.
    order: VecDeque<String>,
    /// Sessions and targets that are gone, for checks at the end.
    pub(crate) past_sessions: BTreeMap<String, FakeSession>,
    pub(crate) past_targets: BTreeMap<String, FakeTarget>,
    pub(crate) past_contexts: BTreeMap<String, Option<u64>>,
    /// Partitions of the clients, and of past and present contexts.
    pub(crate) client_partitions: BTreeMap<u64, &'static str>,
    pub(crate) context_partitions: BTreeMap<String, &'static str>,
    /// Received commands, with the step in which they arrived.
    pub(crate) heard: Vec<(usize, Heard)>,
    /// The URL of the next page, if it is not the usual one.
    next_url: Option<String>,
    /// The current step.
    pub(crate) step: usize,
    next: u64,
}

/// A received command.
#[derive(Clone, Debug)]
pub(crate) struct Heard {
    pub(crate) session: String,
    pub(crate) method: String,
    pub(crate) client: Option<u64>,
    pub(crate) params: Value,
}

/// The default context.
pub(crate) const DEFAULT_CONTEXT: &str = "X-0";

impl FakeBrowser {
    /// Starts again: all state is gone; ids are never used twice.
    pub(crate) fn restart(&mut self) {
        self.past_sessions.append(&mut self.sessions);
        self.past_targets.append(&mut self.targets);
        self.contexts.clear();
        self.queues.clear();
        self.order.clear();
    }

    /// Drops the frames that were not read.
    pub(crate) fn drop_frames(&mut self) {
        self.queues.clear();
        self.order.clear();
    }

    fn fresh(&mut self, kind: &str) -> String {
        self.next += 1;
        format!("{kind}-{:03}.", self.next)
    }

    fn write(&mut self, session: &str, mut frame: Value) {
        if !session.is_empty() {
            frame["sessionId"] = json!(session);
        }
        // Chromium's member order: id or method first, sessionId last.
        let members = frame.as_object().unwrap();
        let order = ["id", "method", "result", "error", "params", "sessionId"];
        let text: Vec<String> = order
            .iter()
            .filter_map(|key| members.get(*key).map(|value| format!("\"{key}\":{value}")))
            .collect();
        self.queues.entry(session.to_owned()).or_default().push_back(format!("{{{}}}", text.join(",")));
        self.order.push_back(session.to_owned());
    }

    pub(crate) fn event(&mut self, session: &str, method: &str, params: Value) {
        self.write(session, json!({"method": method, "params": params}));
    }

    /// Takes the next frame in the order they were written.
    pub(crate) fn take_frame(&mut self) -> Option<String> {
        loop {
            let session = self.order.pop_front()?;
            if let Some(frame) = self.take_from(&session) {
                return Some(frame);
            }
        }
    }

    /// Takes the next frame of one session, ahead of the others.
    pub(crate) fn take_from(&mut self, session: &str) -> Option<String> {
        let queue = self.queues.get_mut(session)?;
        let frame = queue.pop_front();
        if queue.is_empty() {
            self.queues.remove(session);
        }
        frame
    }

    /// Handles a command from the mux.
    pub(crate) fn hear(&mut self, frame: &[u8]) {
        let frame: Value = serde_json::from_slice(frame).unwrap();
        let id = frame["id"].clone();
        let session = frame["sessionId"].as_str().unwrap_or_default().to_owned();
        let method = frame["method"].as_str().unwrap().to_owned();
        let params = frame["params"].clone();
        let client = params["tag"].as_str().and_then(|tag| tag[1..tag.len() - 1].parse().ok());
        let heard =
            Heard { session: session.clone(), method: method.clone(), client, params: params.clone() };
        self.heard.push((self.step, heard));
        if !session.is_empty() {
            let Some(entry) = self.sessions.get_mut(&session) else {
                let error = json!({"code": -32001, "message": "Session with given id not found."});
                return self.write("", json!({"id": id, "error": error}));
            };
            if client.is_some() {
                entry.client = client;
            }
        }
        match self.respond_to(&session, &method, &params, client) {
            Ok(result) => self.write(&session, json!({"id": id, "result": result})),
            Err(message) => {
                let error = json!({"code": -32602, "message": message});
                self.write(&session, json!({"id": id, "error": error}));
            }
        }
    }

    fn respond_to(
        &mut self,
        session: &str,
        method: &str,
        params: &Value,
        client: Option<u64>,
    ) -> Result<Value, &'static str> {
        let text = |field: &str| params[field].as_str().unwrap_or_default().to_owned();
        match method {
            "Target.attachToBrowserTarget" => Ok(json!({"sessionId": self.attach(session, None, false)})),
            "Target.attachToTarget" => {
                let target = text("targetId");
                self.targets.get(&target).ok_or("No target with given id found")?;
                Ok(json!({"sessionId": self.attach(session, Some(target), false)}))
            }
            "Target.detachFromTarget" => {
                let child = text("sessionId");
                self.sessions.get(&child).ok_or("No session with given id")?;
                self.detach(&child);
                Ok(json!({}))
            }
            "Target.setDiscoverTargets" => {
                self.set_discover(session);
                Ok(json!({}))
            }
            "Target.setAutoAttach" => {
                self.set_auto_attach(session, params["autoAttach"] == true);
                Ok(json!({}))
            }
            "Target.closeTarget" => {
                let target = text("targetId");
                self.targets.get(&target).ok_or("No target with given id found")?;
                self.close(&target);
                Ok(json!({"success": true}))
            }
            "Target.getTargets" => {
                let known = self.targets.iter().filter(|(_, target)| target.kind != "tab");
                let infos: Vec<Value> = known.map(|(id, target)| target.info(id, true)).collect();
                Ok(json!({"targetInfos": infos}))
            }
            "Target.getTargetInfo" => {
                let target = text("targetId");
                let entry = self.targets.get(&target).ok_or("No target with given id found")?;
                Ok(json!({"targetInfo": entry.info(&target, true)}))
            }
            "Runtime.runIfWaitingForDebugger" => {
                self.let_run(session);
                Ok(json!({}))
            }
            "Fake.enable" => {
                self.sessions.get_mut(session).unwrap().enabled = true;
                Ok(json!({}))
            }
            _ => self.respond_creating(session, method, params, client),
        }
    }

    /// Commands that create contexts and pages; unknown commands are echoed.
    fn respond_creating(
        &mut self,
        session: &str,
        method: &str,
        params: &Value,
        client: Option<u64>,
    ) -> Result<Value, &'static str> {
        match method {
            "Target.createBrowserContext" => {
                let context = self.fresh("X");
                let ends_with = (params["disposeOnDetach"] == true).then(|| session.to_owned());
                self.contexts.insert(context.clone(), (client, ends_with));
                self.past_contexts.insert(context.clone(), client);
                if let Some(partition) = client.and_then(|client| self.client_partitions.get(&client)) {
                    self.context_partitions.insert(context.clone(), partition);
                }
                // The window's own UI target appears before the response.
                self.open("browser_ui", &context, None, client);
                Ok(json!({"browserContextId": context}))
            }
            "Target.disposeBrowserContext" => {
                let context = params["browserContextId"].as_str().unwrap_or_default().to_owned();
                self.contexts.get(&context).ok_or("Failed to find browser context with id")?;
                self.dispose(&context);
                Ok(json!({}))
            }
            "Target.getBrowserContexts" => {
                let contexts: Vec<&String> = self.contexts.keys().collect();
                Ok(json!({"browserContextIds": contexts, "defaultBrowserContextId": DEFAULT_CONTEXT}))
            }
            "Target.createTarget" => {
                let context = params["browserContextId"].as_str().unwrap_or(DEFAULT_CONTEXT).to_owned();
                if context != DEFAULT_CONTEXT && !self.contexts.contains_key(&context) {
                    return Err("Failed to find browser context with id");
                }
                self.next_url = params["url"].as_str().filter(|url| *url == "about:blank").map(str::to_owned);
                let page = self.open("page", &context, None, client);
                if let Some(partition) = params["url"].as_str().and_then(partition_named_by) {
                    self.put_in_partition(&page, partition);
                }
                Ok(json!({"targetId": page}))
            }
            _ => Ok(json!({"echo": params})),
        }
    }

    fn attach(&mut self, parent: &str, target: Option<String>, waits: bool) -> String {
        let id = self.fresh("S");
        let info = match &target {
            Some(target) => self.targets[target].info(target, true),
            None => json!({"targetId": "B-0", "type": "browser", "attached": true}),
        };
        let parent_id = (!parent.is_empty()).then(|| parent.to_owned());
        let session = FakeSession { parent: parent_id, target, ..FakeSession::default() };
        self.sessions.insert(id.clone(), session);
        let params = json!({"sessionId": id, "targetInfo": info, "waitingForDebugger": waits});
        self.event(parent, "Target.attachedToTarget", params);
        id
    }

    /// Detaches a session. Only its parent gets an event; its child sessions end silently.
    pub(crate) fn detach(&mut self, id: &str) {
        let Some(gone) = self.sessions.remove(id) else { return };
        let parent = gone.parent.clone().unwrap_or_default();
        let mut params = json!({"sessionId": id});
        if let Some(target) = &gone.target {
            params["targetId"] = json!(target);
        }
        self.past_sessions.insert(id.to_owned(), gone);
        self.event(&parent, "Target.detachedFromTarget", params);
        let mut below = vec![id.to_owned()];
        while let Some(parent) = below.pop() {
            for target in self.targets.values_mut() {
                target.held_by.remove(&parent);
            }
            let ending: Vec<String> = self
                .contexts
                .iter()
                .filter(|(_, (_, ends_with))| ends_with.as_deref() == Some(parent.as_str()))
                .map(|(context, _)| context.clone())
                .collect();
            for context in ending {
                self.dispose(&context);
            }
            let children: Vec<String> = self
                .sessions
                .iter()
                .filter(|(_, session)| session.parent.as_ref() == Some(&parent))
                .map(|(id, _)| id.clone())
                .collect();
            for child in children {
                let session = self.sessions.remove(&child).unwrap();
                self.past_sessions.insert(child.clone(), session);
                below.push(child);
            }
        }
    }

    fn set_discover(&mut self, session: &str) {
        self.sessions.get_mut(session).unwrap().discovers = true;
        let infos: Vec<Value> = self.targets.iter().map(|(id, target)| target.info(id, false)).collect();
        for info in infos {
            self.event(session, "Target.targetCreated", json!({"targetInfo": info}));
        }
    }

    fn set_auto_attach(&mut self, session: &str, on: bool) {
        let entry = self.sessions.get_mut(session).unwrap();
        entry.attaches = on;
        let tab = entry.target.clone();
        if !on {
            return;
        }
        let wanted: Vec<String> = self
            .targets
            .iter()
            .filter(|(_, target)| match &tab {
                Some(tab) => target.tab.as_ref() == Some(tab),
                None => target.kind != "tab",
            })
            .map(|(id, _)| id.clone())
            .collect();
        for target in wanted {
            self.attach(session, Some(target), false);
        }
    }

    /// Opens a page in a tab: the tab is announced right before the page.
    pub(crate) fn open(
        &mut self,
        kind: &'static str,
        context: &str,
        opener: Option<&str>,
        creator: Option<u64>,
    ) -> String {
        let of_context = self.contexts.get(context).and_then(|(client, _)| *client);
        let of_opener = opener.and_then(|opener| self.targets.get(opener)).and_then(|opener| opener.owner);
        let owner = of_context.or(if opener.is_some() { of_opener } else { creator });
        let of_opener =
            opener.and_then(|opener| self.targets.get(opener)).and_then(|opener| opener.partition);
        let of_creator = creator.and_then(|creator| self.client_partitions.get(&creator).copied());
        let partition = self.context_partitions.get(context).copied();
        let partition = partition.or(if opener.is_some() { of_opener } else { of_creator });
        let tab = self.fresh("T");
        let page = self.fresh("T");
        let blank = FakeTarget {
            kind: "tab",
            context: context.to_owned(),
            opener: None,
            tab: None,
            url: self.next_url.take().unwrap_or_else(|| "http://site.test/".to_owned()),
            title: String::new(),
            owner,
            partition,
            held_by: Default::default(),
        };
        self.announce(&tab, blank.clone());
        let opener = opener.map(str::to_owned);
        self.announce(&page, FakeTarget { kind, opener, tab: Some(tab), ..blank });
        self.hold(&page);
        page
    }

    /// Puts a page and its tab in a partition, because the control session opened them for it.
    fn put_in_partition(&mut self, page: &str, partition: &'static str) {
        let tab = self.targets[page].tab.clone().unwrap();
        for id in [page, &tab] {
            self.targets.get_mut(id).unwrap().partition = Some(partition);
        }
    }

    /// Gives a partition a context; its targets belong to the partition.
    pub(crate) fn lives_in(&mut self, partition: &'static str, context: &str) {
        self.context_partitions.insert(context.to_owned(), partition);
        for target in self.targets.values_mut().filter(|target| target.context == context) {
            target.partition = Some(partition);
        }
    }

    /// Attaches a page's session to a worker of the page.
    pub(crate) fn attach_worker(&mut self, page: &str) -> String {
        let worker = self.fresh("T");
        let (owner, parent) = (self.sessions[page].client, self.sessions[page].target.clone().unwrap());
        let entry = FakeTarget { kind: "worker", owner, tab: None, ..self.targets[&parent].clone() };
        self.targets.insert(worker.clone(), entry);
        self.attach(page, Some(worker), false)
    }

    /// Starts a worker that serves an origin.
    pub(crate) fn start_worker(&mut self, context: &str, url: &str) -> String {
        let worker = self.fresh("T");
        let entry = FakeTarget {
            kind: "service_worker",
            context: context.to_owned(),
            opener: None,
            tab: None,
            url: url.to_owned(),
            title: String::new(),
            owner: None,
            partition: self.context_partitions.get(context).copied(),
            held_by: Default::default(),
        };
        self.announce(&worker, entry);
        self.hold(&worker);
        worker
    }

    /// Announces a target to all discovering sessions.
    pub(crate) fn announce(&mut self, id: &str, target: FakeTarget) {
        let info = target.info(id, false);
        self.targets.insert(id.to_owned(), target);
        for session in self.sessions_where(|session| session.discovers) {
            self.event(&session, "Target.targetCreated", json!({"targetInfo": info}));
        }
    }

    /// Pauses a new target for auto-attaching sessions.
    fn hold(&mut self, id: &str) {
        for session in self.sessions_where(|session| session.attaches && session.target.is_none()) {
            let child = self.attach(&session, Some(id.to_owned()), true);
            self.targets.get_mut(id).unwrap().held_by.insert(child);
        }
    }

    fn let_run(&mut self, session: &str) {
        if let Some(target) = self.sessions[session].target.clone()
            && let Some(target) = self.targets.get_mut(&target)
        {
            target.held_by.remove(session);
        }
    }

    /// Changes a title.
    pub(crate) fn retitle(&mut self, id: &str, title: &str) {
        let target = self.targets.get_mut(id).unwrap();
        target.title = title.to_owned();
        let info = target.info(id, true);
        for session in self.sessions_where(|session| session.discovers) {
            self.event(&session, "Target.targetInfoChanged", json!({"targetInfo": info}));
        }
    }

    /// Closes a target, and the tab around a page.
    pub(crate) fn close(&mut self, id: &str) {
        for session in self.sessions_where(|session| session.target.as_deref() == Some(id)) {
            if self.sessions.get(&session).is_some_and(|session| session.enabled) {
                self.event(&session, "Inspector.detached", json!({"reason": "target_closed"}));
            }
            self.detach(&session);
        }
        let Some(gone) = self.targets.remove(id) else { return };
        for session in self.sessions_where(|session| session.discovers) {
            self.event(&session, "Target.targetDestroyed", json!({"targetId": id}));
        }
        let tab = gone.tab.clone();
        self.past_targets.insert(id.to_owned(), gone);
        if let Some(tab) = tab {
            self.close(&tab);
        }
    }

    fn dispose(&mut self, context: &str) {
        self.contexts.remove(context);
        let inside: Vec<String> = self
            .targets
            .iter()
            .filter(|(_, target)| target.context == context)
            .map(|(id, _)| id.clone())
            .collect();
        for target in inside {
            self.close(&target);
        }
    }

    fn sessions_where(&self, pick: impl Fn(&FakeSession) -> bool) -> Vec<String> {
        self.sessions.iter().filter(|(_, session)| pick(session)).map(|(id, _)| id.clone()).collect()
    }

    /// A client left: targets that it creates from now on have no owner.
    pub(crate) fn client_left(&mut self, client: u64) {
        for (owner, _) in self.contexts.values_mut() {
            owner.take_if(|owner| *owner == client);
        }
    }

    /// A session and its ancestors, up to the control session.
    pub(crate) fn lineage(&self, id: &str) -> Vec<String> {
        let parent = |id: &String| self.find_session(id)?.parent.clone();
        std::iter::successors(Some(id.to_owned()), parent).collect()
    }

    /// A present or past session; targets likewise.
    pub(crate) fn find_session(&self, id: &str) -> Option<&FakeSession> {
        self.sessions.get(id).or_else(|| self.past_sessions.get(id))
    }

    pub(crate) fn find_target(&self, id: &str) -> Option<&FakeTarget> {
        self.targets.get(id).or_else(|| self.past_targets.get(id))
    }
}

/// The partitions of generated stories: two with their own context, two with tabs.
pub(crate) const PARTITIONS: [&str; 4] = ["context-one", "context-two", "tabs-one", "tabs-two"];

/// The partition of a tab that the control session opened; its URL names it.
fn partition_named_by(url: &str) -> Option<&'static str> {
    PARTITIONS.into_iter().find(|partition| *partition == url)
}
