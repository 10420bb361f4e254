//! Guards check commands, responses and events; a client without a guard notices no difference.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use tabwire_mux::{ClientOptions, Guard, GuardedCommand, GuardedEvent, GuardedScope, Share, SharedGuard};

use crate::support::fake_browser::DEFAULT_CONTEXT;
use crate::support::stage::Stage;

/// Allows reading pages of one site, and `Target.*` commands anywhere.
#[derive(Debug, Default)]
struct OneSite {
    is_off: AtomicBool,
}

const SITE: &str = "https://good.test/";

impl OneSite {
    fn is_good(place: &GuardedScope<'_>) -> bool {
        match place {
            GuardedScope::Browser => false,
            GuardedScope::Target { url, page_url, .. } => {
                url.is_some_and(|url| url.starts_with(SITE))
                    && page_url.is_none_or(|url| url.starts_with(SITE))
            }
        }
    }
}

impl Guard for OneSite {
    fn is_idle(&self) -> bool {
        self.is_off.load(Ordering::Relaxed)
    }

    fn check(&self, command: &GuardedCommand<'_>) -> Result<(), String> {
        let is_target_command = command.method.starts_with("Target.");
        let is_good = is_target_command || Self::is_good(&command.scope);
        if is_good { Ok(()) } else { Err("Not here.".to_owned()) }
    }

    fn may_know(&self, url: &str, _: &[std::net::IpAddr]) -> bool {
        url.starts_with(SITE)
    }

    fn pauses_documents(&self) -> bool {
        true
    }

    fn may_navigate(&self, url: &str, shown: Option<&str>) -> bool {
        url.starts_with(SITE) || shown.is_some_and(|shown| shown.ends_with("/files"))
    }

    fn event_allowed(&self, event: &GuardedEvent<'_>) -> bool {
        event.method.starts_with("Page.") || Self::is_good(&event.scope)
    }
}

struct Story {
    stage: Stage,
    guard: Arc<OneSite>,
    target: String,
    session: String,
}

impl Story {
    fn new() -> Self {
        let (mut stage, guard) = (Stage::new(), Arc::new(OneSite::default()));
        let shared = SharedGuard(Arc::<OneSite>::clone(&guard));
        stage.join_as(
            1,
            ClientOptions { share: Share::UserTabs, guard: Some(shared), ..ClientOptions::default() },
        );
        let target = stage.create(1);
        let session = stage.attach(1, &target);
        Self { stage, guard, target, session }
    }

    /// The browser reports the page's URL.
    fn is_at(&mut self, url: &str) {
        let info =
            json!({"targetId": self.target, "type": "page", "title": "secret", "url": url, "attached": true});
        let control = self.stage.control.clone();
        self.stage.browser.event(&control, "Target.targetInfoChanged", json!({"targetInfo": info}));
        self.stage.flow();
        self.stage.take_inbox(1);
    }

    fn read(&mut self) -> Value {
        let session = self.session.clone();
        let response = self.stage.ask(1, &session, "Fake.echo", json!({}));
        response.get("data").cloned().unwrap_or_else(|| json!("read"))
    }
}

#[test]
fn t22_commands_are_forwarded_only_to_allowed_pages() {
    let mut story = Story::new();
    story.is_at("https://good.test/a");
    assert_eq!(story.read(), "read");
    story.is_at("https://bad.test/");
    story.stage.take_methods();
    assert_eq!(story.read(), "POLICY_DENIED");
    assert_eq!(story.stage.take_methods(), [""; 0], "it was not forwarded");
    assert_eq!(story.stage.ask(1, "", "Fake.echo", json!({}))["data"], "POLICY_DENIED");
    story.guard.is_off.store(true, Ordering::Relaxed);
    assert_eq!(story.read(), "read");
    assert_eq!(story.stage.mux.counters().refused_by_guard, 2);
}

#[test]
fn t22_response_is_withheld_when_the_page_navigated_meanwhile() {
    let mut story = Story::new();
    story.is_at("https://good.test/a");
    story.stage.send(1, &story.session.clone(), 7, "Fake.echo", json!({}));
    story.stage.settle();
    let response = story.stage.browser.take_frame().expect("a response");
    // The page's own event arrives before the browser's `TargetInfo`.
    let moved = json!({"frame": {"id": story.target, "url": "https://bad.test/"}});
    let (session, control) = (story.session.clone(), story.stage.control.clone());
    story.stage.browser.event(&session, "Page.frameNavigated", moved);
    story.stage.flow();
    story.stage.deliver(&response);
    let inbox = story.stage.take_inbox(1);
    assert_eq!(
        inbox,
        [format!("Page.frameNavigated on {session}"), format!("7 error POLICY_DENIED on {session}")]
    );
    assert_eq!(story.read(), "POLICY_DENIED", "even though the browser still reports the old URL");
    assert_eq!((story.stage.mux.resource_counts().pending, control.is_empty()), (0, false));
}

#[test]
fn t22_events_of_unreadable_pages_are_withheld() {
    let mut story = Story::new();
    let session = story.session.clone();
    for (url, heard) in [("https://good.test/", 2), ("https://bad.test/", 1)] {
        story.is_at(url);
        for method in ["Page.loadEventFired", "Runtime.consoleAPICalled"] {
            story.stage.browser.event(&session, method, json!({"text": "secret"}));
        }
        story.stage.flow();
        assert_eq!(story.stage.take_inbox(1).len(), heard, "{url}");
    }
}

#[test]
fn t19_unreadable_page_has_no_title_or_url() {
    let mut story = Story::new();
    for (url, title) in [("https://good.test/", "secret"), ("https://bad.test/", "")] {
        story.is_at(url);
        story.stage.ask(1, "", "Target.setDiscoverTargets", json!({"discover": false}));
        story.stage.take_inbox(1);
        story.stage.ask(1, "", "Target.setDiscoverTargets", json!({"discover": true}));
        let frames = story.stage.take_frames(1);
        let own = frames.iter().find(|frame| frame["params"]["targetInfo"]["targetId"] == story.target);
        let info = &own.expect("its own target")["params"]["targetInfo"];
        assert_eq!(info["title"], title, "{info}");
    }
}

/// Pauses a document request on the mux's session on a page; returns the commands that the browser then
/// receives.
fn ask_for(stage: &mut Stage, page: &str, url: &str) -> Vec<String> {
    ask_as("Document", stage, page, url)
}

/// The same for another resource type.
fn ask_as(kind: &str, stage: &mut Stage, page: &str, url: &str) -> Vec<String> {
    let control = stage.control.clone();
    let is_it = |session: &&crate::support::fake_page::FakeSession| {
        session.target.as_deref() == Some(page) && session.parent.as_deref() == Some(&control)
    };
    let session =
        stage.browser.sessions.iter().find(|(_, session)| is_it(session)).expect("a session").0.clone();
    stage.take_methods();
    let asked = json!({"requestId": "r1", "resourceType": kind, "frameId": page, "request": {"url": url}});
    stage.browser.event(&session, "Fetch.requestPaused", asked);
    stage.flow();
    stage.take_methods()
}

#[test]
fn t22_pages_and_popups_request_no_forbidden_documents() {
    let mut story = Story::new();
    let (target, stage) = (story.target.clone(), &mut story.stage);
    stage.take_methods();
    let popup = stage.browser.open("page", DEFAULT_CONTEXT, Some(&target), None);
    stage.flow();
    let sent = stage.take_methods();
    let place = |method: &str| sent.iter().position(|sent| sent == method);
    assert!(
        place("Fetch.enable").expect("held") < place("Runtime.runIfWaitingForDebugger").expect("let run")
    );
    let (stop, go_on) = (["Fetch.failRequest"], ["Fetch.continueRequest"]);
    // The page from before the link, the client's own page, and its popup.
    for page in ["T-002.", &target, &popup] {
        assert_eq!(ask_for(stage, page, "https://bad.test/"), stop, "{page}");
        assert_eq!(ask_for(stage, page, "https://good.test/x"), go_on, "{page}");
        assert_eq!(ask_for(stage, page, "blob:https://bad.test/1"), go_on, "{page} needs no permission");
    }
    assert_eq!(stage.mux.counters().documents_stopped, 3);
    for (kind, expected) in [("Ping", stop), ("Fetch", stop), ("XHR", go_on), ("Image", go_on)] {
        assert_eq!(ask_as(kind, stage, &popup, "https://bad.test/"), expected, "{kind}");
    }
    // The user may navigate a tab that they opened in the window, until a client attaches to it.
    let by_hand = stage.browser.open("page", DEFAULT_CONTEXT, None, None);
    stage.flow();
    assert_eq!(ask_for(stage, &by_hand, "https://bad.test/"), go_on);
    stage.attach(1, &by_hand);
    assert_eq!(ask_for(stage, &by_hand, "https://bad.test/"), stop);
    // The opener's URL counts until the popup shows a document itself.
    story.is_at("https://good.test/files");
    story.stage.browser.targets.get_mut(&popup).expect("it is open").url = String::new();
    let empty = json!({"targetId": popup, "type": "page", "title": "", "url": "", "openerId": target, "attached": true});
    let control = story.stage.control.clone();
    story.stage.browser.event(&control, "Target.targetInfoChanged", json!({"targetInfo": empty}));
    story.stage.flow();
    assert_eq!(ask_for(&mut story.stage, &popup, "https://bad.test/"), go_on);
}

#[test]
fn documents_are_not_paused_without_a_guard() {
    let mut stage = Stage::new();
    let (open, careful) = (stage.reserve_context("open"), stage.reserve_context("careful"));
    stage.join_in(1, "open", Share::UserTabs);
    let guard = Some(SharedGuard(Arc::new(OneSite::default())));
    let partition = Some(tabwire_api::PartitionId::new("careful"));
    stage.join_as(2, ClientOptions { share: Share::UserTabs, guard, partition, ..ClientOptions::default() });
    stage.take_methods();
    for (context, is_held) in [(open, false), (careful, true)] {
        stage.browser.open("page", &context, None, None);
        stage.flow();
        assert_eq!(stage.take_methods().contains(&"Fetch.enable".to_owned()), is_held, "{context}");
    }
}
