//! A guard stands where commands leave, answers come and events pass; nothing of it shows where there is none.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use tabwire_mux::{ClientOptions, Guard, GuardedCommand, GuardedPlace, Share, SharedGuard};

use crate::stage::Stage;

/// Lets pages of one site be read, and what is called housekeeping be done anywhere.
#[derive(Debug, Default)]
struct OneSite {
    is_off: AtomicBool,
}

const SITE: &str = "https://good.test/";

impl OneSite {
    fn is_good(place: &GuardedPlace<'_>) -> bool {
        match place {
            GuardedPlace::Browser => false,
            GuardedPlace::Target { url, page_url, .. } => {
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
        let is_housekeeping = command.method.starts_with("Target.");
        let is_good = is_housekeeping || Self::is_good(&command.place);
        if is_good { Ok(()) } else { Err("Not here.".to_owned()) }
    }

    fn may_know(&self, url: &str, _: &[std::net::IpAddr]) -> bool {
        url.starts_with(SITE)
    }

    fn may_hear(&self, method: &str, place: &GuardedPlace<'_>) -> bool {
        method.starts_with("Page.") || Self::is_good(place)
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
        stage
            .join_as(1, ClientOptions { share: Share::Own, guard: Some(shared), ..ClientOptions::default() });
        let target = stage.create(1);
        let session = stage.attach(1, &target);
        Self { stage, guard, target, session }
    }

    /// The browser tells where the page is.
    fn is_at(&mut self, url: &str) {
        let info =
            json!({"targetId": self.target, "type": "page", "title": "secret", "url": url, "attached": true});
        let house = self.stage.house.clone();
        self.stage.browser.event(&house, "Target.targetInfoChanged", json!({"targetInfo": info}));
        self.stage.flow();
        self.stage.take_inbox(1);
    }

    fn read(&mut self) -> Value {
        let session = self.session.clone();
        let answer = self.stage.ask(1, &session, "Fake.echo", json!({}));
        answer.get("data").cloned().unwrap_or_else(|| json!("read"))
    }
}

#[test]
fn t22_a_command_leaves_only_for_a_page_that_its_guard_lets_it_see() {
    let mut story = Story::new();
    story.is_at("https://good.test/a");
    assert_eq!(story.read(), "read");
    story.is_at("https://bad.test/");
    story.stage.take_methods();
    assert_eq!(story.read(), "POLICY_DENIED");
    assert_eq!(story.stage.take_methods(), [""; 0], "it never left");
    assert_eq!(story.stage.ask(1, "", "Fake.echo", json!({}))["data"], "POLICY_DENIED");
    story.guard.is_off.store(true, Ordering::Relaxed);
    assert_eq!(story.read(), "read");
    assert_eq!(story.stage.mux.counters().refused_by_guard, 2);
}

#[test]
fn t22_an_answer_is_withheld_when_the_page_moved_before_it_came() {
    let mut story = Story::new();
    story.is_at("https://good.test/a");
    story.stage.send(1, &story.session.clone(), 7, "Fake.echo", json!({}));
    story.stage.settle();
    let answer = story.stage.browser.take_frame().expect("an answer");
    // The page tells it sooner than the browser does.
    let moved = json!({"frame": {"id": story.target, "url": "https://bad.test/"}});
    let (session, house) = (story.session.clone(), story.stage.house.clone());
    story.stage.browser.event(&session, "Page.frameNavigated", moved);
    story.stage.flow();
    story.stage.deliver(&answer);
    let inbox = story.stage.take_inbox(1);
    assert_eq!(
        inbox,
        [format!("Page.frameNavigated on {session}"), format!("7 error POLICY_DENIED on {session}")]
    );
    assert_eq!(story.read(), "POLICY_DENIED", "though the browser still says that it is where it was");
    assert_eq!((story.stage.mux.leftovers().pending, house.is_empty()), (0, false));
}

#[test]
fn t22_events_of_a_page_that_may_not_be_read_are_not_heard() {
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
fn t19_a_page_that_may_not_be_known_has_neither_title_nor_address() {
    let mut story = Story::new();
    for (url, told) in [("https://good.test/", "secret"), ("https://bad.test/", "")] {
        story.is_at(url);
        story.stage.ask(1, "", "Target.setDiscoverTargets", json!({"discover": false}));
        story.stage.take_inbox(1);
        story.stage.ask(1, "", "Target.setDiscoverTargets", json!({"discover": true}));
        let frames = story.stage.take_frames(1);
        let own = frames.iter().find(|frame| frame["params"]["targetInfo"]["targetId"] == story.target);
        let info = &own.expect("its own target")["params"]["targetInfo"];
        assert_eq!(info["title"], told, "{info}");
    }
}
