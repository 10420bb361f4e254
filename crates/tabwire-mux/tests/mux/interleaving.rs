//! Ten thousand generated stories against the reference model.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use bytes::BytesMut;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::json;
use tabwire_api::{BrowserContextId, CdpSessionId, ClientId, PartitionId, TargetId};
use tabwire_mux::{
    ClientOptions, FirstPage, LinkState, Mux, OnLoss, Output, PartitionScope, ResourceCounts, Share,
};
use tabwire_testkit::by_size;

use crate::support::fake_browser::{DEFAULT_CONTEXT, FakeBrowser, PARTITIONS};
use crate::support::model::{Life, Model};
use crate::support::step::{Ask, Step, step};

/// The length of a story in steps.
const STEPS: std::ops::Range<usize> = 1..80;

/// The most clients at once.
const CLIENTS: usize = 4;

/// The state of a running story.
struct Play {
    mux: Mux,
    browser: FakeBrowser,
    model: Model,
    now: Instant,
    /// Whether there is a browser to talk to.
    up: bool,
    here: Vec<u64>,
    next_client: u64,
    /// Responses to deliver once more.
    past_responses: VecDeque<String>,
    to_leave: BTreeSet<u64>,
    control: Option<CdpSessionId>,
    /// The contexts of partitions.
    homes: BTreeMap<&'static str, String>,
}

impl Play {
    fn new() -> Self {
        let mut play = Self {
            mux: Mux::new(),
            browser: FakeBrowser::default(),
            model: Model::default(),
            now: Instant::now(),
            up: false,
            here: Vec::new(),
            next_client: 0,
            past_responses: VecDeque::new(),
            to_leave: BTreeSet::new(),
            control: None,
            homes: BTreeMap::new(),
        };
        play.browser.open("page", DEFAULT_CONTEXT, None, None);
        play.start();
        play
    }

    fn start(&mut self) {
        if !self.up {
            self.up = true;
            // Every browser gets a new mux, as in the hub, without responses of the previous browser.
            self.past_responses.clear();
            self.mux = Mux::new();
            self.mux.start(None, self.now);
        }
    }

    /// The browser starts again, without the contexts of partitions.
    fn restart(&mut self) {
        self.browser.restart();
        self.homes.clear();
    }

    fn pick<'a>(from: impl Iterator<Item = &'a String>, number: u8) -> Option<String> {
        let all: Vec<&String> = from.collect();
        all.get(usize::from(number) % all.len().max(1)).map(|id| (*id).clone())
    }

    fn client(&self, number: u8) -> Option<u64> {
        self.here.get(usize::from(number) % self.here.len().max(1)).copied()
    }

    /// Carries out the mux's outputs.
    fn settle(&mut self) -> Result<(), String> {
        loop {
            let outputs = self.mux.take_outputs();
            if outputs.is_empty() {
                if self.up && self.mux.link() == LinkState::Lost {
                    // The start timed out, or the control session was detached.
                    self.up = false;
                    self.restart();
                }
                return Ok(());
            }
            for output in outputs {
                match output {
                    Output::ToBrowser(frame) if self.up => self.browser.hear(&frame),
                    Output::ToBrowser(frame) => return Err(format!("sent to no browser: {frame:?}")),
                    Output::ToClient { client, frame, .. } => self.model.delivered(client.0, &frame)?,
                    Output::CloseClient { client, .. } => {
                        self.to_leave.insert(client.0);
                    }
                    Output::ControlOpened(control) => self.control = Some(control),
                    Output::ContextCreated { ticket, context: Some(context) } => {
                        let partition = PARTITIONS[usize::try_from(ticket).unwrap() % PARTITIONS.len()];
                        self.browser.lives_in(partition, context.as_str());
                        self.homes.insert(partition, context.as_str().to_owned());
                        self.mux.reserve(
                            PartitionId::new(partition),
                            PartitionScope::Context(context),
                            self.now,
                        );
                    }
                    _ => {}
                }
            }
            for client in std::mem::take(&mut self.to_leave) {
                self.leave(client);
            }
        }
    }

    fn leave(&mut self, client: u64) {
        if let Some(at) = self.here.iter().position(|here| *here == client) {
            self.here.remove(at);
            self.model.lives.get_mut(&client).unwrap().left = Some(self.model.step);
            self.browser.client_left(client);
            self.mux.client_left(ClientId(client), self.now);
        }
    }

    fn deliver(&mut self, frame: Option<String>) -> Result<bool, String> {
        let Some(frame) = frame else { return Ok(false) };
        if frame.starts_with("{\"id\":") {
            self.past_responses.push_back(frame.clone());
            self.past_responses.truncate(32);
        }
        self.mux.from_browser(BytesMut::from(frame.as_bytes()), self.now);
        self.settle()?;
        Ok(true)
    }

    fn deliver_all(&mut self) -> Result<(), String> {
        self.settle()?;
        loop {
            let frame = self.browser.take_frame();
            if !self.deliver(frame)? {
                return Ok(());
            }
        }
    }

    fn ask(&mut self, client: u64, id: u8, session: Option<String>, method: &str, params: serde_json::Value) {
        let mut frame = json!({"id": id, "method": method, "params": params});
        frame["params"]["tag"] = json!(format!("c{client}-"));
        if let Some(session) = &session {
            frame["sessionId"] = json!(session);
        }
        self.model.asked(client, i64::from(id), &session.unwrap_or_default());
        let frame = BytesMut::from(frame.to_string().as_bytes());
        self.mux.from_client(ClientId(client), frame, self.now);
    }

    fn any_target(&self, number: u8) -> String {
        Self::pick(self.browser.targets.keys(), number).unwrap_or_else(|| "T-none".to_owned())
    }

    fn any_context(&self, number: u8) -> String {
        Self::pick(self.browser.contexts.keys(), number).unwrap_or_else(|| "X-none".to_owned())
    }

    fn play_ask(&mut self, client: u64, id: u8, session: u8, ask: &Ask) {
        // Half of the commands go to the root session, the others to a session of any client.
        let session = if session < 128 { None } else { Self::pick(self.browser.sessions.keys(), session) };
        let (method, params) = match ask {
            Ask::Echo => ("Fake.echo", json!({})),
            Ask::Discover { filter, on } => {
                ("Target.setDiscoverTargets", json!({"discover": on, "filter": filter_of(*filter)}))
            }
            Ask::AutoAttach { filter, on } => {
                let wait = filter % 2 == 0;
                let filter = filter_of(*filter);
                let params = json!({
                    "autoAttach": on, "waitForDebuggerOnStart": wait, "flatten": true, "filter": filter
                });
                ("Target.setAutoAttach", params)
            }
            Ask::Create { context } if context % 3 == 0 => {
                ("Target.createTarget", json!({"url": "", "browserContextId": self.any_context(*context)}))
            }
            Ask::Create { .. } => ("Target.createTarget", json!({"url": ""})),
            Ask::CreateContext { ends } => ("Target.createBrowserContext", json!({"disposeOnDetach": ends})),
            Ask::DisposeContext { context } => {
                ("Target.disposeBrowserContext", json!({"browserContextId": self.any_context(*context)}))
            }
            Ask::Close { target } => ("Target.closeTarget", json!({"targetId": self.any_target(*target)})),
            Ask::Attach { target } => {
                ("Target.attachToTarget", json!({"targetId": self.any_target(*target), "flatten": true}))
            }
            Ask::AttachBrowser => ("Target.attachToBrowserTarget", json!({})),
            Ask::Detach { session } => {
                let session = Self::pick(self.browser.sessions.keys(), *session);
                ("Target.detachFromTarget", json!({"sessionId": session}))
            }
            Ask::Info { target } => ("Target.getTargetInfo", json!({"targetId": self.any_target(*target)})),
            Ask::Targets => ("Target.getTargets", json!({})),
            Ask::Contexts => ("Target.getBrowserContexts", json!({})),
            Ask::Enable => ("Fake.enable", json!({})),
            Ask::Run => ("Runtime.runIfWaitingForDebugger", json!({})),
            Ask::Media => ("Emulation.setEmulatedMedia", json!({"media": "print"})),
            Ask::CloseBrowser => ("Browser.close", json!({})),
        };
        self.ask(client, id, session, method, params);
    }

    fn play(&mut self, step: &Step) -> Result<(), String> {
        match step {
            Step::Join { share, keeps, partition } if self.here.len() < CLIENTS => {
                self.join(*share, *keeps, *partition);
            }
            Step::Leave { client } => {
                if let Some(client) = self.client(*client) {
                    self.leave(client);
                }
            }
            Step::Ask { client, id, session, ask } => {
                if let Some(client) = self.client(*client) {
                    self.play_ask(client, *id, *session, ask);
                }
            }
            Step::Garbage { client, kind } => {
                if let Some(client) = self.client(*client) {
                    let frame = BytesMut::from(GARBAGE[usize::from(*kind) % GARBAGE.len()]);
                    self.mux.from_client(ClientId(client), frame.clone(), self.now);
                    self.mux.from_browser(frame, self.now);
                }
            }
            Step::Deliver { queue, count } => {
                for _ in 0..*count {
                    let queue = Self::pick(self.browser.queues.keys(), *queue);
                    let frame = queue.and_then(|queue| self.browser.take_from(&queue));
                    self.deliver(frame)?;
                }
            }
            Step::DeliverAll => self.deliver_all()?,
            Step::Double { response } if !self.past_responses.is_empty() => {
                let frame = self.past_responses[usize::from(*response) % self.past_responses.len()].clone();
                self.mux.from_browser(BytesMut::from(frame.as_bytes()), self.now);
            }
            Step::Misroute { queue, session } => self.misroute(*queue, *session),
            Step::Lose if self.up => {
                self.settle()?;
                self.up = false;
                self.restart();
                self.mux.browser_lost(self.now);
            }
            Step::Start => self.start(),
            Step::Tick { seconds } => {
                // The control session receives targets within the deadlines; clients' sessions may lag.
                self.settle()?;
                let mut queues: Vec<String> = self.browser.queues.keys().cloned().collect();
                queues.retain(|id| self.browser.lineage(id).len() == 1);
                for control in queues {
                    while let Some(frame) = self.browser.take_from(&control) {
                        self.deliver(Some(frame))?;
                    }
                }
                self.now += Duration::from_secs(u64::from(*seconds));
                self.mux.tick(self.now);
            }
            Step::LongTick => self.long_tick()?,
            Step::ControlOpens { .. } | Step::Reserve { .. } | Step::EndPartition { .. } => {
                self.play_partition(step);
            }
            Step::TakeOver if self.up && self.mux.link() == LinkState::Connected => self.take_over()?,
            page => self.play_page(page),
        }
        self.settle()
    }

    /// Actions of pages and of the user.
    fn play_page(&mut self, step: &Step) {
        if !self.up {
            return;
        }
        let pages = self.browser.targets.iter().filter(|(_, target)| target.kind == "page");
        let pages: Vec<String> = pages.map(|(id, _)| id.clone()).collect();
        match step {
            Step::UserOpens => {
                self.browser.open("page", DEFAULT_CONTEXT, None, None);
            }
            Step::Popup { opener } => {
                if let Some(opener) = Self::pick(pages.iter(), *opener) {
                    let context = self.browser.targets[&opener].context.clone();
                    self.browser.open("page", &context, Some(&opener), None);
                }
            }
            Step::UserCloses { target } => {
                if let Some(target) = Self::pick(pages.iter(), *target) {
                    self.browser.close(&target);
                }
            }
            Step::Emit { session } => {
                let enabled = self.browser.sessions.iter().filter(|(_, session)| session.enabled);
                let enabled: Vec<String> = enabled.map(|(id, _)| id.clone()).collect();
                if let Some(session) = Self::pick(enabled.iter(), *session) {
                    let lineage = self.browser.lineage(&session);
                    let root = &lineage[lineage.len() - 2];
                    let tag = self.browser.sessions[root].client.map(|client| format!("c{client}-"));
                    self.browser.event(&session, "Fake.event", json!({"tag": tag}));
                }
            }
            _ => {}
        }
    }

    /// Actions of the control session for partitions.
    fn play_partition(&mut self, step: &Step) {
        let one = |number: u8| usize::from(number) % PARTITIONS.len();
        match step {
            Step::ControlOpens { partition } => {
                // The URL names the partition, so that the fake browser can assign the tab to it.
                let named = PARTITIONS.get(usize::from(*partition) % (PARTITIONS.len() + 1)).copied();
                let lives =
                    named.is_none_or(|name| name.starts_with("tabs") || self.homes.contains_key(name));
                if lives {
                    self.mux.open_tab(0, named.unwrap_or_default(), named.map(PartitionId::new), self.now);
                }
            }
            Step::Reserve { partition } => match self.place_of(PARTITIONS[one(*partition)]) {
                Some(place) => {
                    self.mux.reserve(PartitionId::new(PARTITIONS[one(*partition)]), place, self.now);
                }
                None => self.mux.create_context(u64::try_from(one(*partition)).unwrap(), None, self.now),
            },
            Step::EndPartition { partition } => {
                let partition = PARTITIONS[one(*partition)];
                self.homes.remove(partition);
                self.mux.end_partition(9, &PartitionId::new(partition), Vec::new(), self.now);
            }
            _ => {}
        }
    }

    /// The scope of a partition: its context if it has one, else its pages in the fake browser.
    fn place_of(&self, partition: &'static str) -> Option<PartitionScope> {
        if partition.starts_with("context") {
            return self
                .homes
                .get(partition)
                .map(|home| PartitionScope::Context(BrowserContextId::new(home)));
        }
        let own = self.browser.targets.iter().filter(|(_, target)| target.partition == Some(partition));
        let pages = own.filter(|(_, target)| target.kind == "page");
        Some(PartitionScope::Tabs(pages.map(|(id, _)| TargetId::new(id)).collect()))
    }

    /// The daemon dies with its clients' connections; another daemon reserves the partitions and continues.
    fn take_over(&mut self) -> Result<(), String> {
        self.settle()?;
        for client in std::mem::take(&mut self.here) {
            self.model.lives.get_mut(&client).unwrap().left = Some(self.model.step);
            self.browser.client_left(client);
        }
        self.browser.drop_frames();
        self.past_responses.clear();
        self.mux = Mux::new();
        self.mux.start(self.control.take().as_ref().map(CdpSessionId::as_str), self.now);
        for partition in PARTITIONS {
            if let Some(place) = self.place_of(partition) {
                self.mux.reserve(PartitionId::new(partition), place, self.now);
            }
        }
        self.deliver_all()
    }

    fn join(&mut self, share: u8, keeps: bool, partition: u8) {
        self.next_client += 1;
        let client = self.next_client;
        let shares = [Share::Own, Share::UserTabs, Share::SessionTabs, Share::Released, Share::All];
        let share = shares[usize::from(share) % shares.len()];
        let on_loss = if keeps { OnLoss::SendDetachEvents } else { OnLoss::Close };
        // Half of the clients are in no partition; no client joins a partition that is not reserved.
        let partition = PARTITIONS.get(usize::from(partition) % (2 * PARTITIONS.len())).copied();
        let partition =
            partition.filter(|partition| partition.starts_with("tabs") || self.homes.contains_key(partition));
        // The fake browser cannot tell the partition of a tab that the mux opens in the default context.
        let is_partition_known = partition.is_none_or(|partition| !partition.starts_with("tabs"));
        let first_page =
            if share == Share::Own && is_partition_known { FirstPage::Opens } else { FirstPage::Any };
        self.model.lives.insert(client, Life { share, partition, left: None });
        self.browser.client_partitions.extend(partition.map(|partition| (client, partition)));
        self.here.push(client);
        self.mux.client_joined(
            ClientId(client),
            ClientOptions {
                share,
                on_loss,
                partition: partition.map(PartitionId::new),
                first_page,
                ..ClientOptions::default()
            },
            self.now,
        );
        self.ask(client, 0, None, "Fake.hello", json!({}));
    }

    /// Delivers a response on a wrong session; the right one follows later.
    fn misroute(&mut self, queue: u8, session: u8) {
        let queue = Self::pick(self.browser.queues.keys(), queue).unwrap_or_default();
        let other = Self::pick(self.browser.sessions.keys(), session).unwrap_or_default();
        let Some(frame) = self.browser.queues.get(&queue).and_then(|queue| queue.front()) else { return };
        if queue != other && !queue.is_empty() && !other.is_empty() && frame.starts_with("{\"id\":") {
            let frame = frame
                .replace(&format!("\"sessionId\":\"{queue}\"}}"), &format!("\"sessionId\":\"{other}\"}}"));
            let before = self.mux.counters();
            self.mux.from_browser(BytesMut::from(frame.as_bytes()), self.now);
            let after = self.mux.counters();
            assert_eq!(
                before.responses_misrouted + before.responses_unknown + 1,
                after.responses_misrouted + after.responses_unknown
            );
        }
    }

    /// Half an hour passes in which the browser responds to all commands except echoes; those come late.
    fn long_tick(&mut self) -> Result<(), String> {
        self.settle()?;
        let mut late = Vec::new();
        while let Some(frame) = self.browser.take_frame() {
            if frame.contains("\"result\":{\"echo\"") {
                late.push(frame);
            } else {
                self.deliver(Some(frame))?;
            }
        }
        self.now += Duration::from_secs(31 * 60);
        self.mux.tick(self.now);
        self.settle()?;
        for frame in late {
            self.deliver(Some(frame))?;
        }
        Ok(())
    }

    fn check_nothing_is_held(&self) -> Result<(), String> {
        match self.browser.targets.iter().find(|(_, target)| !target.held_by.is_empty()) {
            Some((id, target)) => Err(format!("{id} is held for ever: {target:?}")),
            None => Ok(()),
        }
    }

    /// The end of every story: checks that must hold for all of them.
    fn finish(mut self) -> Result<u64, String> {
        self.model.step += 1;
        self.browser.step = self.model.step;
        self.start();
        self.deliver_all()?;
        if self.mux.link() == LinkState::Connected {
            for client in self.here.clone() {
                self.ask(client, 9, None, "Fake.hello", json!({}));
            }
        }
        self.deliver_all()?;
        self.model.check_owed()?;
        if self.here.is_empty() {
            self.check_nothing_is_held()?;
        }
        self.now += Duration::from_secs(61);
        self.mux.tick(self.now);
        self.deliver_all()?;
        self.check_nothing_is_held()?;
        for client in self.here.clone() {
            self.leave(client);
        }
        self.deliver_all()?;
        self.model.check_crossings(&self.browser)?;
        let left = self.mux.resource_counts();
        if left != ResourceCounts::default() || self.mux.pending() != 0 {
            return Err(format!("left over: {left:?}, {} pending", self.mux.pending()));
        }
        let ours: BTreeMap<_, _> =
            self.browser.sessions.iter().filter(|(id, _)| self.browser.lineage(id).len() > 2).collect();
        let given = self.model.sessions_left(&self.browser);
        if !given.is_empty() {
            return Err(format!("clients' cdp sessions left in the browser: {given:?}"));
        }
        if !ours.is_empty() {
            return Err(format!("cdp sessions left in the browser: {ours:?}"));
        }
        Ok(self.mux.counters().from_browser)
    }
}

const GARBAGE: &[&str] = &[
    "",
    "{",
    "null",
    "[]",
    "{}",
    "\u{0}",
    r#"{"id":"x","method":"A.b"}"#,
    r#"{"method":"A.b"}"#,
    r#"{"id":1.5}"#,
];

fn filter_of(number: u8) -> serde_json::Value {
    match number % 5 {
        0 | 1 => serde_json::Value::Null,
        2 => json!([{}]),
        3 => json!([{"type": "page", "exclude": true}, {}]),
        _ => json!([{"type": "page"}]),
    }
}

fn play_story(steps: &[Step]) -> Result<u64, String> {
    let mut play = Play::new();
    for (number, step) in (1..).zip(steps) {
        play.model.step = number;
        play.browser.step = number;
        play.play(step)?;
    }
    play.finish()
}

fn play_stories(seed: u8, cases: u32) {
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 4_000, ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let outcome = runner.run(&prop::collection::vec(step(), STEPS), |steps| {
        play_story(&steps).map(|_| ()).map_err(TestCaseError::fail)
    });
    if let Err(error) = outcome {
        panic!("seed {seed}: {error}");
    }
}

macro_rules! stories {
    ($($name:ident: $seed:literal;)+) => {
        $(#[test] fn $name() { play_stories($seed, by_size(300, 1_000)); })+
    };
}

// 3,000 in all, 10,000 in full runs. Every part has a seed, which its failure message contains.
stories! {
    t18_nothing_crosses_1: 1;
    t18_nothing_crosses_2: 2;
    t18_nothing_crosses_3: 3;
    t18_nothing_crosses_4: 4;
    t18_nothing_crosses_5: 5;
    t18_nothing_crosses_6: 6;
    t18_nothing_crosses_7: 7;
    t18_nothing_crosses_8: 8;
    t18_nothing_crosses_9: 9;
    t18_nothing_crosses_10: 10;
}
