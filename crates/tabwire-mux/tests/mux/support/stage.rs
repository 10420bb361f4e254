//! The stage for tests: a mux, the fake browser, and clients whose received frames print as short lines.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use serde_json::{Value, json};
use tabwire_api::{BrowserContextId, ClientId, PartitionId, TargetId};
use tabwire_mux::{ClientOptions, Mux, OnLoss, Output, PartitionScope, Share};

use crate::support::fake_browser::{DEFAULT_CONTEXT, FakeBrowser};

/// The stage.
pub(crate) struct Stage {
    pub(crate) mux: Mux,
    pub(crate) browser: FakeBrowser,
    pub(crate) now: Instant,
    pub(crate) inboxes: BTreeMap<u64, Vec<Value>>,
    /// Outputs besides frames: `connected`, `close 2: ...`.
    pub(crate) notices: Vec<String>,
    /// The control session.
    pub(crate) control: String,
    next_id: i64,
}

impl Stage {
    /// A connected mux over a browser with one existing page, `T-002.` in tab `T-001.`.
    pub(crate) fn new() -> Self {
        let mut stage = Self {
            mux: Mux::new(),
            browser: FakeBrowser::default(),
            now: Instant::now(),
            inboxes: BTreeMap::new(),
            notices: Vec::new(),
            control: String::new(),
            next_id: 100,
        };
        stage.browser.open("page", DEFAULT_CONTEXT, None, None);
        stage.mux.start(None, stage.now);
        stage.flow();
        assert_eq!(stage.take_notices(), ["connected"]);
        stage
    }

    pub(crate) fn join(&mut self, client: u64) {
        self.join_with(client, Share::UserTabs, OnLoss::Close);
    }

    pub(crate) fn join_with(&mut self, client: u64, share: Share, on_loss: OnLoss) {
        self.join_as(client, ClientOptions { share, on_loss, ..ClientOptions::default() });
    }

    /// Joins a client of a partition.
    pub(crate) fn join_in(&mut self, client: u64, partition: &str, share: Share) {
        let options =
            ClientOptions { share, partition: Some(PartitionId::new(partition)), ..ClientOptions::default() };
        self.join_as(client, options);
    }

    pub(crate) fn join_as(&mut self, client: u64, options: ClientOptions) {
        self.inboxes.insert(client, Vec::new());
        self.mux.client_joined(ClientId(client), options, self.now);
        self.flow();
    }

    /// Creates a context and reserves it for a partition; returns the context.
    pub(crate) fn reserve_context(&mut self, partition: &str) -> String {
        self.mux.create_context(1, None, self.now);
        self.flow();
        let notices = self.take_notices();
        let context = notices.iter().find_map(|notice| notice.strip_prefix("1: made ")).expect("a context");
        self.reserve(partition, PartitionScope::Context(BrowserContextId::new(context)));
        context.to_owned()
    }

    /// Reserves a partition of tabs in the default context.
    pub(crate) fn reserve_tabs(&mut self, partition: &str, tabs: &[&str]) {
        self.reserve(partition, PartitionScope::Tabs(tabs.iter().map(|tab| TargetId::new(tab)).collect()));
    }

    pub(crate) fn reserve(&mut self, partition: &str, place: PartitionScope) {
        self.mux.reserve(PartitionId::new(partition), place, self.now);
        self.flow();
    }

    /// Opens a tab without an owner in a partition.
    pub(crate) fn open_tab(&mut self, partition: Option<&str>) -> String {
        self.mux.open_tab(2, "", partition.map(PartitionId::new), self.now);
        self.flow();
        let notices = self.take_notices();
        notices.iter().find_map(|notice| notice.strip_prefix("2: opened ")).expect("a tab").to_owned()
    }

    /// Another daemon takes the browser over: the clients are gone, the pipe is empty.
    pub(crate) fn take_over(&mut self, reserve: impl FnOnce(&mut Mux, Instant)) {
        self.settle();
        for client in std::mem::take(&mut self.inboxes).into_keys() {
            self.browser.client_left(client);
        }
        self.browser.drop_frames();
        self.mux = Mux::new();
        let earlier = std::mem::take(&mut self.control);
        self.mux.start(Some(&earlier), self.now);
        reserve(&mut self.mux, self.now);
        self.flow();
    }

    /// The targets that a client sees, with tabs and without the browser target.
    pub(crate) fn shown(&mut self, client: u64) -> Vec<String> {
        self.ask(client, "", "Target.setDiscoverTargets", json!({"discover": false}));
        self.take_inbox(client);
        self.ask(client, "", "Target.setDiscoverTargets", json!({"discover": true, "filter": [{}]}));
        let infos = self.take_frames(client);
        let id = |frame: &Value| frame["params"]["targetInfo"]["targetId"].as_str().map(str::to_owned);
        infos.iter().filter_map(id).filter(|id| id.starts_with('T')).collect()
    }

    pub(crate) fn leave(&mut self, client: u64) {
        self.browser.client_left(client);
        self.mux.client_left(ClientId(client), self.now);
        self.flow();
    }

    /// Carries out the mux's outputs, without delivering frames of the browser.
    pub(crate) fn settle(&mut self) {
        for output in self.mux.take_outputs() {
            match output {
                Output::ToBrowser(frame) => self.browser.hear(&frame),
                Output::ToClient { client, frame, .. } => {
                    let frame = serde_json::from_slice(&frame).unwrap();
                    self.inboxes.get_mut(&client.0).unwrap().push(frame);
                }
                Output::CloseClient { client, reason } => {
                    self.notices.push(format!("close {}: {}", client.0, reason.message()));
                }
                Output::Connected => self.notices.push("connected".to_owned()),
                Output::ControlOpened(control) => self.control = control.as_str().to_owned(),
                Output::PlaceDownload { ticket, from, to, keep } => {
                    let verb = if keep { "copy" } else { "move" };
                    self.notices.push(format!("{ticket}: {verb} {} to {}", from.display(), to.display()));
                }
                Output::TabOpened { ticket, target } => {
                    let target = target.map_or_else(|_| "nothing".to_owned(), |target| target.to_string());
                    self.notices.push(format!("{ticket}: opened {target}"));
                }
                Output::ContextCreated { ticket, context } => {
                    let context = context.map_or_else(|| "nothing".to_owned(), |context| context.to_string());
                    self.notices.push(format!("{ticket}: made {context}"));
                }
                Output::PartitionEnded { ticket } => self.notices.push(format!("{ticket}: ended")),
                Output::DropDownload(path) => self.notices.push(format!("drop {}", path.display())),
            }
        }
    }

    /// Delivers frames until none are left.
    pub(crate) fn flow(&mut self) {
        self.settle();
        while let Some(frame) = self.browser.take_frame() {
            self.deliver(&frame);
        }
    }

    pub(crate) fn deliver(&mut self, frame: &str) {
        self.mux.from_browser(BytesMut::from(frame.as_bytes()), self.now);
        self.settle();
    }

    /// Sends a raw frame as a client.
    pub(crate) fn send_raw(&mut self, client: u64, frame: &str) {
        self.mux.from_client(ClientId(client), BytesMut::from(frame.as_bytes()), self.now);
        self.settle();
    }

    /// Sends a command as a client; the browser has not responded yet.
    pub(crate) fn send(&mut self, client: u64, session: &str, id: i64, method: &str, mut params: Value) {
        params["tag"] = json!(format!("c{client}-"));
        let mut frame = json!({"id": id, "method": method, "params": params});
        if !session.is_empty() {
            frame["sessionId"] = json!(session);
        }
        self.send_raw(client, &frame.to_string());
    }

    /// Sends a command and returns the response's result or error.
    pub(crate) fn ask(&mut self, client: u64, session: &str, method: &str, params: Value) -> Value {
        self.next_id += 1;
        let id = self.next_id;
        self.send(client, session, id, method, params);
        self.flow();
        let inbox = self.inboxes.get_mut(&client).unwrap();
        let at = inbox.iter().position(|frame| frame["id"] == id).expect("a response");
        let response = inbox.remove(at);
        assert_eq!(response["sessionId"].as_str().unwrap_or_default(), session, "{response}");
        response.get("result").or(response.get("error")).unwrap().clone()
    }

    /// Like `ask`, for a text in the result.
    pub(crate) fn ask_for(&mut self, client: u64, method: &str, params: Value, field: &str) -> String {
        let response = self.ask(client, "", method, params);
        response[field].as_str().unwrap_or_else(|| panic!("{method}: {response}")).to_owned()
    }

    pub(crate) fn create(&mut self, client: u64) -> String {
        self.ask_for(client, "Target.createTarget", json!({"url": ""}), "targetId")
    }

    pub(crate) fn attach(&mut self, client: u64, target: &str) -> String {
        let params = json!({"targetId": target, "flatten": true});
        self.ask_for(client, "Target.attachToTarget", params, "sessionId")
    }

    /// Turns auto-attach on, as Playwright does.
    pub(crate) fn auto_attach(&mut self, client: u64) {
        let params = json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true});
        self.ask(client, "", "Target.setAutoAttach", params);
    }

    pub(crate) fn discover(&mut self, client: u64) {
        self.ask(client, "", "Target.setDiscoverTargets", json!({"discover": true}));
    }

    pub(crate) fn advance(&mut self, seconds: u64) {
        self.now += Duration::from_secs(seconds);
        self.mux.tick(self.now);
        self.flow();
    }

    /// Takes the frames that a client received.
    pub(crate) fn take_frames(&mut self, client: u64) -> Vec<Value> {
        std::mem::take(self.inboxes.get_mut(&client).unwrap())
    }

    /// Takes the frames that a client received, one line for each.
    pub(crate) fn take_inbox(&mut self, client: u64) -> Vec<String> {
        self.take_frames(client).iter().map(line).collect()
    }

    pub(crate) fn take_notices(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notices)
    }

    /// Takes the commands that the browser received, as `method session`.
    pub(crate) fn take_heard(&mut self) -> Vec<String> {
        let heard = std::mem::take(&mut self.browser.heard);
        heard.into_iter().map(|(_, heard)| format!("{} {}", heard.method, heard.session)).collect()
    }

    /// Takes the methods that the browser received.
    pub(crate) fn take_methods(&mut self) -> Vec<String> {
        let heard = std::mem::take(&mut self.browser.heard);
        heard.into_iter().map(|(_, heard)| heard.method).collect()
    }

    pub(crate) fn is_held(&self, target: &str) -> bool {
        !self.browser.targets[target].held_by.is_empty()
    }
}

/// A frame in short: `3 ok`, `3 ok on S-9.`, `3 error -32602 ...`, `attachedToTarget page T-4. waiting`.
fn line(frame: &Value) -> String {
    let on = frame["sessionId"].as_str().map(|session| format!(" on {session}")).unwrap_or_default();
    if let Some(error) = frame.get("error") {
        let code = error["data"].as_str().map_or_else(|| error["code"].to_string(), str::to_owned);
        let id = frame.get("id").map_or_else(|| "?".to_owned(), Value::to_string);
        return format!("{id} error {code}{on}");
    }
    if let Some(id) = frame.get("id") {
        return format!("{id} ok{on}");
    }
    let method = frame["method"].as_str().unwrap();
    let method = method.strip_prefix("Target.").unwrap_or(method);
    let params = &frame["params"];
    let info = &params["targetInfo"];
    let mut words = vec![method.to_owned()];
    words.extend(info["type"].as_str().map(str::to_owned));
    words.extend(info["targetId"].as_str().or(params["targetId"].as_str()).map(str::to_owned));
    if params["waitingForDebugger"] == true {
        words.push("waiting".to_owned());
    }
    format!("{}{on}", words.join(" "))
}
