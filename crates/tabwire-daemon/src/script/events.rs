//! The events of a session's browser that a script gets: those it listens to, as far as the policy lets it see them.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use tabwire_api::TabId;
use tabwire_cdp::TaskGroup;
use tabwire_engine::{ActionOutput, Browser, EventKind, EventKinds, FeedEvent, Subscription, TabEvents};
use tabwire_policy::{Capability, PageUrl, Profile, Site};
use tabwire_script::limits::QUEUED_EVENTS;
use tabwire_script::message::{Event, Listen, ToChild};
use tokio::sync::mpsc;

use crate::script::cdp::{CdpEvent, CdpSessions};
use crate::script::run::RunRequest;

/// Replaces a text that the policy withholds.
const WITHHELD: &str = "(withheld by the policy)";

/// How long the end of a browser context may take.
const END_TIMEOUT: Duration = Duration::from_secs(5);

/// Tabs that are attached only because the script listens.
const WATCHED_TABS: usize = 100;

/// The events that a script listens to.
#[derive(Debug)]
pub(crate) struct Events {
    kinds: EventKinds,
    tabs: Vec<TabId>,
    has_routes: bool,
    source: Option<Source>,
    /// Questions that the script was shown and has not answered.
    questions: HashSet<u64>,
    /// Events that the script did not get.
    dropped: u64,
    withheld: u64,
    /// Browser contexts that the script has made, which end with it.
    contexts: ScriptContexts,
    cdp: CdpSessions,
    cdp_events: mpsc::Receiver<CdpEvent>,
    tasks: TaskGroup,
}

/// Ids of browser contexts that a script has made; clones share them.
pub(crate) type ScriptContexts = Arc<Mutex<HashSet<String>>>;

/// The browser that the events come from.
#[derive(Debug)]
struct Source {
    engine: Arc<Browser>,
    subscription: Subscription,
    tab_events: TabEvents,
    tab_events_ended: bool,
}

/// Something that happened.
pub(crate) enum Incoming {
    Event(Box<FeedEvent>),
    /// Tabs were opened, closed or navigated.
    Tabs,
    /// An event of a CDP session.
    Cdp(Box<CdpEvent>),
}

impl Events {
    pub(crate) fn new(tasks: &TaskGroup) -> Self {
        let (cdp, cdp_events) = CdpSessions::new(tasks);
        Self {
            kinds: EventKinds::default(),
            tabs: Vec::new(),
            has_routes: false,
            source: None,
            questions: HashSet::new(),
            dropped: 0,
            withheld: 0,
            contexts: ScriptContexts::default(),
            cdp,
            cdp_events,
            tasks: tasks.clone(),
        }
    }

    pub(crate) fn cdp(&self) -> CdpSessions {
        self.cdp.clone()
    }

    pub(crate) fn contexts(&self) -> ScriptContexts {
        Arc::clone(&self.contexts)
    }

    /// Whether the script listens to anything between its runs.
    pub(crate) fn listens(&self) -> bool {
        self.has_routes || !self.kinds.is_empty()
    }

    /// Takes what the script listens to from now on.
    pub(crate) fn set(&mut self, listen: &Listen) {
        let kinds = listen.events.iter().filter_map(|name| EventKind::find(name));
        self.kinds = kinds.fold(EventKinds::default(), EventKinds::with);
        self.tabs = listen.tabs.iter().filter_map(|tab| tab.parse().ok()).take(WATCHED_TABS).collect();
    }

    /// Listens to the session's present browser. During a run dialogs are always reported, because a script without a
    /// listener dismisses them.
    pub(crate) async fn attach(&mut self, request: &RunRequest<'_>) {
        let Some((_, live)) = request.find_live() else { return };
        let is_present = self.source.as_ref().is_some_and(|source| Arc::ptr_eq(&source.engine, &live.engine));
        if !is_present {
            let engine = Arc::clone(&live.engine);
            let (subscription, tab_events) = (engine.feed().subscribe(), engine.tab_events());
            self.questions.clear();
            self.source = Some(Source { engine, subscription, tab_events, tab_events_ended: false });
        }
        let Some(source) = &self.source else { return };
        let kinds = if request.is_idle { self.kinds } else { self.kinds.with(EventKind::Dialog) };
        source.subscription.listen(kinds);
        for tab in self.tabs.drain(..).filter(|tab| !request.is_leased_to_another(*tab)) {
            if let Some(target) = source.engine.target_of_tab(Some(tab)) {
                source.subscription.close_dialogs_of(target);
            }
            // The tab may be closed by now.
            let _ = source.engine.watch_tab(tab).await;
        }
    }

    /// Closes the dialogs of a tab that the script uses. Other clients close those of their own tabs.
    pub(crate) fn use_tab(&self, tab: TabId) {
        let Some(source) = &self.source else { return };
        let target = source.engine.target_of_tab(Some(tab));
        if let Some(target) = target.filter(|target| !source.subscription.closes_dialogs_of(target)) {
            source.subscription.close_dialogs_of(target);
            source.engine.report_open_dialog(tab);
        }
    }

    /// Listens only to what the script asked for, after the end of a run.
    pub(crate) fn rest(&self) {
        if let Some(source) = &self.source {
            source.subscription.listen(self.kinds);
        }
    }

    /// The next event. Cancel safe. Never returns without a browser.
    pub(crate) async fn next(&mut self) -> Incoming {
        let Some(source) = &mut self.source else { return std::future::pending().await };
        loop {
            tokio::select! {
                event = source.subscription.next() => return Incoming::Event(Box::new(event)),
                Some(event) = self.cdp_events.recv() => return Incoming::Cdp(Box::new(event)),
                is_open = source.tab_events.next(), if !source.tab_events_ended => {
                    if is_open {
                        return Incoming::Tabs;
                    }
                    source.tab_events_ended = true;
                }
            }
        }
    }

    /// Queues the message of something that happened.
    pub(crate) async fn deliver(
        &mut self,
        incoming: Incoming,
        request: &RunRequest<'_>,
        outgoing: &mut VecDeque<ToChild>,
    ) {
        let (question, is_dialog) = match &incoming {
            Incoming::Event(event) => (event.question, event.kind == EventKind::Dialog),
            _ => (None, false),
        };
        let message = match incoming {
            Incoming::Tabs => {
                self.watch_new_tabs(request);
                request.changed_tabs().await.and_then(|tabs| message("tabs", json!(tabs)))
            }
            Incoming::Event(event) => self.judge(*event, request).await,
            // The CDP guard has judged it.
            Incoming::Cdp(event) => {
                let CdpEvent { session, method, params } = *event;
                let params = redacted(request, params);
                message("cdp", json!({"session": session, "method": method, "params": params}))
            }
        };
        let Some(message) = message else { return };
        if queue(outgoing, message, is_dialog) {
            return;
        }
        self.dropped += 1;
        if let (Some(question), Some(source)) = (question, &self.source) {
            // It will have no answer.
            self.questions.remove(&question);
            source.engine.feed().pass(question);
        }
    }

    /// Queues the messages of all events that have arrived, so that they come before the result of a call.
    pub(crate) async fn flush(&mut self, request: &RunRequest<'_>, outgoing: &mut VecDeque<ToChild>) {
        while let Some(event) = self.source.as_mut().and_then(|source| source.subscription.take_next()) {
            self.deliver(Incoming::Event(Box::new(event)), request, outgoing).await;
        }
        let lost = self.source.as_ref().map_or(0, |source| source.subscription.take_dropped());
        self.dropped += lost;
    }

    /// Attaches to tabs that pages opened, so that their events arrive.
    fn watch_new_tabs(&self, request: &RunRequest<'_>) {
        let (Some(source), true) = (&self.source, self.listens()) else { return };
        let known = request.known_tab_ids();
        for info in source.engine.list_tabs() {
            if !known.contains(&info.tab.to_string()) {
                if info.opener.is_some_and(|opener| known.contains(&opener.to_string())) {
                    source.subscription.close_dialogs_of(info.target.clone());
                }
                let engine = Arc::clone(&source.engine);
                self.tasks.start("script-tab", async move {
                    // The tab may be closed by now.
                    let _ = engine.watch_tab(info.tab).await;
                });
            }
        }
    }

    /// The message of an event, if the script may see it.
    async fn judge(&mut self, mut event: FeedEvent, request: &RunRequest<'_>) -> Option<ToChild> {
        let (engine, tab) = {
            let source = self.source.as_ref()?;
            (Arc::clone(&source.engine), source.engine.tab_of_event(&event.target))
        };
        let is_shown = match tab {
            Some(tab) => is_shown(&mut event, tab, &engine, request).await,
            None => false,
        };
        if !is_shown {
            self.withheld += 1;
            if let Some(question) = event.question {
                engine.feed().pass(question);
            }
            return None;
        }
        self.questions.extend(event.question);
        let data = redacted(request, event.data);
        message(event.kind.as_str(), json!({"tab": tab, "question": event.question, "data": data}))
    }

    /// Whether the script was asked a question. A question is answered once.
    pub(crate) fn take_question(&mut self, question: u64) -> bool {
        self.questions.remove(&question)
    }

    /// Sets the patterns of the script's routes, in a tab or in all.
    pub(crate) fn set_patterns(&mut self, tab: Option<TabId>, patterns: Vec<String>, is_for_all: bool) {
        let Some(source) = &self.source else { return };
        let target = if is_for_all { None } else { source.engine.target_of_tab(tab) };
        if is_for_all || target.is_some() {
            self.has_routes |= !patterns.is_empty();
            source.subscription.set_patterns(target, patterns);
        }
    }

    /// What the script missed since the last call, as notices.
    pub(crate) fn take_notices(&mut self) -> Vec<String> {
        let (dropped, withheld) = (std::mem::take(&mut self.dropped), std::mem::take(&mut self.withheld));
        let mut notices = Vec::new();
        if dropped > 0 {
            notices.push(format!("{dropped} events were dropped: {QUEUED_EVENTS} can wait for a script."));
        }
        if withheld > 0 {
            notices.push(format!("{withheld} events were withheld: the policy does not allow reading them."));
        }
        notices
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        let Some(source) = self.source.take() else { return };
        let engine = Arc::clone(&source.engine);
        drop(source);
        let contexts = std::mem::take(&mut *self.contexts.lock().unwrap_or_else(PoisonError::into_inner));
        if contexts.is_empty() && !self.has_routes {
            return;
        }
        self.tasks.start("script-end", async move {
            for context in contexts {
                // It may have ended with its last tab.
                let _ = engine.end_context(&context, END_TIMEOUT).await;
            }
            engine.refresh_interception().await;
        });
    }
}

/// Queues a message unless too many wait. Dialogs always wait: their pages do too, so there are few. Whether it waits.
fn queue(outgoing: &mut VecDeque<ToChild>, message: ToChild, is_dialog: bool) -> bool {
    let has_room = is_dialog || outgoing.len() < QUEUED_EVENTS;
    if has_room {
        outgoing.push_back(message);
    }
    has_room
}

fn message(name: &str, data: Value) -> Option<ToChild> {
    let data = to_raw_value(&data).ok()?;
    Some(ToChild::Event(Event { name: name.to_owned(), data }))
}

/// The data without secrets of saved logins.
fn redacted(request: &RunRequest<'_>, value: Value) -> Value {
    let output = ActionOutput { value, text: String::new(), bare: None, notices: Vec::new() };
    request.daemon.redactor.redact(Ok(output)).map(|output| output.value).unwrap_or_default()
}

/// Whether the script may see an event: by its tab and by its own URLs. Masks what it may see only in part.
async fn is_shown(event: &mut FeedEvent, tab: TabId, engine: &Browser, request: &RunRequest<'_>) -> bool {
    let Some(check) = request.policy_check() else { return false };
    if request.is_leased_to_another(tab) {
        return false;
    }
    if check.profile == Profile::Open && check.policy.denies_nothing() {
        return true;
    }
    let rulebook = check.policy.rulebook();
    let allows = |capability: Capability| {
        let may = |url: &String| check.decide(&rulebook, &PageUrl::parse(url), capability).is_allowed();
        event.urls.iter().all(may)
    };
    let is_readable = check.label_if_hidden(&rulebook, engine, Some(tab)).await.is_none();
    let may_read = is_readable && allows(Capability::Read);
    let may_run = may_read && allows(Capability::Eval);
    if may_read {
        for site in event.urls.iter().filter_map(|url| Site::of(&PageUrl::parse(url))) {
            check.flows().record_read(&site);
        }
    }
    match event.kind {
        EventKind::Crash => true,
        EventKind::Dialog if !may_read => {
            // The page waits for its answer, so the script must know of it.
            event.data["message"] = json!(WITHHELD);
            event.data["default_value"] = Value::Null;
            true
        }
        EventKind::Route | EventKind::Binding => may_run,
        EventKind::Request | EventKind::Response | EventKind::WebSocket if may_read && !may_run => {
            event.mask();
            true
        }
        _ => may_read,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_takes_only_dialogs() {
        let event = || message("load", Value::Null).expect("a message");
        let mut outgoing = VecDeque::new();
        for _ in 0..QUEUED_EVENTS {
            assert!(queue(&mut outgoing, event(), false));
        }
        assert!(!queue(&mut outgoing, event(), false));
        assert!(queue(&mut outgoing, event(), true));
    }
}
