//! Every action during a navigation: it ends in time, acts on one of the two documents or fails clearly, and the tab
//! works afterwards.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure, TabId};

use crate::actions::registry::valid_parameters::{Fit, fit_actions};
use crate::actions::support::signalling_link::Signal;
use crate::actions::support::stage::Stage;
use crate::browser::whole_browser;

/// The timeout of an action when the next document loads.
const TIME: Duration = Duration::from_secs(10);

/// The timeout of an action when the next document does not load.
const SHORT_TIME: Duration = Duration::from_millis(2_500);

/// How long after its timeout an action must have ended, however busy the machine is.
const GRACE: Duration = Duration::from_secs(10);

/// Tabs in which actions run into their timeout at the same time.
const AT_ONCE: usize = 10;

/// Actions on the whole browser, which do not run in parallel with others.
const ALONE: &[&str] = &["capture", "trace", "tab_new", "tab_select", "tab_close"];

/// When the navigation starts and when the next document commits.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Moment {
    /// It has started, and commits after the action.
    LeftForLong,
    /// It has started, and commits when the action sends its first command.
    Arriving,
    /// It has just started, and commits as soon as possible.
    Leaving,
    /// It starts when the action sends its n-th command.
    LeavesAt(u32),
}

/// How the parameters name elements.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Naming {
    /// By selectors, which match in both documents.
    Selectors,
    /// By refs of the old document.
    Refs,
}

/// The names of the elements of `/moment` in a snapshot.
const NAMES: &[(&str, &str)] = &[
    ("#button", "Press"),
    ("#name", "Name"),
    ("#off", "Off"),
    ("#on", "On"),
    ("#colour", "Colour"),
    ("#file", "File"),
    ("#report", "Report"),
    ("#link", "Here"),
];

/// The parameters with refs in place of selectors.
async fn with_refs(stage: &Stage, params: &Value) -> Value {
    let seen = stage.text("snapshot", json!({})).await;
    let mut text = params.to_string();
    for (selector, name) in NAMES {
        let (_, after) =
            seen.split_once(&format!("\"{name}\" [")).unwrap_or_else(|| panic!("{name} in {seen}"));
        let (found, _) = after.split_once(']').expect("a ref");
        text = text.replace(&format!("\"{selector}\""), &format!("\"{found}\""));
        text = text.replace(&format!("\\\"{selector}\\\""), &format!("\\\"{found}\\\""));
    }
    serde_json::from_str(&text).expect("still JSON")
}

/// Actions whose timeout error must name the navigation. Others may name the command that did not finish.
const NAME_NAVIGATION: &[&str] =
    &["snapshot", "find", "click", "fill", "get_text", "get", "eval", "screenshot", "wait_for"];

/// Whether a timeout error names its cause. Chromium 156 may never respond to `Input.insertText` that it receives as
/// the navigation starts.
fn names_its_cause(name: &str, message: &str) -> bool {
    message.contains("is navigating to")
        || !NAME_NAVIGATION.contains(&name)
        || message.contains("Input.insertText")
}

/// One action in one tab that goes from `/moment` to `/held`.
struct Round<'a> {
    stage: &'a Stage,
    signal: &'a Signal,
    tab: TabId,
    fit: Fit,
    gate: String,
}

impl Round<'_> {
    /// Runs an action in the tab that must succeed.
    async fn ask(&self, action: &str, params: Value) -> Value {
        let done = self.stage.try_act_in(Some(self.tab), action, params, TIME).await;
        done.unwrap_or_else(|failure| panic!("{action} for {}: {failure:?}", self.fit.name))
    }

    /// Starts the navigation, or arms the signal that starts it.
    async fn leave(&self, moment: Moment) {
        let (site, gate) = (&self.stage.site, &self.gate);
        if matches!(moment, Moment::Leaving | Moment::LeavesAt(_)) {
            site.release_gate(gate);
        }
        let params = json!({"expression": format!("location.href = '/held?gate={gate}'; 0")});
        if let Moment::LeavesAt(nth) = moment {
            let page = self.stage.second_session(self.tab).await;
            let tasks = self.stage.tasks.clone();
            let leaving = async move { drop(page.send("Runtime.evaluate", &params, TIME).await) };
            return self.signal.arm(nth, move || tasks.start("leaving", leaving));
        }
        self.ask("eval", params).await;
        if moment != Moment::Leaving {
            assert!(site.is_held(gate).await, "{}: the page did not leave", self.fit.name);
        }
        if moment == Moment::Arriving {
            let (release_gate, gate) = (site.releaser(), gate.clone());
            self.signal.arm(1, move || release_gate(&gate));
        }
    }

    async fn run(&self, moment: Moment, naming: Naming) -> Result<Value, Failure> {
        let (stage, name) = (self.stage, self.fit.name);
        self.ask("navigate", json!({"url": stage.site.url("a", "/moment")})).await;
        let params = match naming {
            Naming::Selectors => self.fit.params.clone(),
            Naming::Refs => with_refs(stage, &self.fit.params).await,
        };
        self.leave(moment).await;
        let is_short = moment == Moment::LeftForLong && !ALONE.contains(&name);
        let time = if is_short { SHORT_TIME } else { TIME };
        let acting = stage.try_act_in(Some(self.tab), name, params, time);
        let outcome = tokio::time::timeout(time + GRACE, acting).await;
        stage.site.release_gate(&self.gate);
        let outcome = outcome.unwrap_or_else(|_| panic!("{name} did not end ({moment:?}, {naming:?})"));
        if let Err(failure) = &outcome {
            let is_clear = match failure.code {
                ErrorCode::Internal => false,
                // Page.printToPDF fails with a protocol error of its own during a navigation.
                ErrorCode::CdpError => name == "pdf",
                ErrorCode::Timeout => names_its_cause(name, &failure.message),
                _ => true,
            };
            assert!(is_clear, "{name} ({moment:?}, {naming:?}): {failure:?}");
        }
        outcome
    }

    /// Checks that the tab works and shows the next document, and that this document received no input for the old one.
    async fn check_after(&self, moment: Moment, naming: Naming) {
        let (name, travels) = (self.fit.name, self.fit.travels);
        // An action that sends fewer commands ended before the signal.
        let has_left = !matches!(moment, Moment::LeavesAt(_)) || self.signal.disarm();
        if has_left && !travels {
            self.ask("wait_for", json!({"url": format!("*/held?gate={}", self.gate)})).await;
        }
        self.ask("wait_for", json!({"load": "load"})).await;
        let url = self.ask("get", json!({"what": "url"})).await;
        let arrived = url["value"].as_str().is_some_and(|url| url.contains("/held?"));
        if naming == Naming::Refs && arrived {
            let felt = self.ask("eval", json!({"expression": "felt()"})).await["value"].clone();
            assert_eq!(felt, "", "{name} on a ref of the document before ({moment:?})");
        }
        if let Some(params) = &self.fit.undone_by {
            let (name, params) = match name {
                "route" => ("unroute", json!({"all": true})),
                _ => (name, params.clone()),
            };
            // The action may have failed without an effect, so undoing it may fail too.
            let _ = self.stage.try_act_in(Some(self.tab), name, params, TIME).await;
        }
    }

    /// Runs the action and the checks, and restores the tab if the action closed it.
    async fn check(&self, moment: Moment, naming: Naming) {
        let outcome = self.run(moment, naming).await;
        match (self.fit.name, outcome) {
            ("tab_close", closed) => {
                closed.expect("a navigation does not keep a tab open");
                return;
            }
            ("tab_new", opened) => {
                let opened = opened.expect("a page does not prevent a new tab");
                self.stage.act("tab_close", json!({"id": Stage::tab(&opened)})).await;
                self.stage.act("tab_select", json!({"id": self.tab})).await;
            }
            _ => {}
        }
        self.check_after(moment, naming).await;
    }
}

/// Chromium itself: a screenshot during a navigation can take its headless shell many seconds.
async fn in_chromium(signal: &Signal) -> Stage {
    Stage::start_program(&whole_browser(), |link, tasks| signal.link(link, tasks)).await
}

/// Runs all actions of the registry at one moment, one after the other.
async fn check_all(moment: Moment, naming: Naming) {
    let signal = Signal::default();
    let stage = in_chromium(&signal).await;
    let first = Stage::tab(&stage.act("tabs_list", json!({})).await["tabs"][0]);
    for (number, fit) in fit_actions(&stage, first).into_iter().enumerate() {
        check_alone(&stage, &signal, first, fit, moment, naming, number).await;
    }
}

/// Runs one action in the browser's first tab, or in a new tab that it may close.
async fn check_alone(
    stage: &Stage,
    signal: &Signal,
    first: TabId,
    mut fit: Fit,
    moment: Moment,
    naming: Naming,
    number: usize,
) {
    let mut tab = first;
    if fit.name == "tab_close" {
        tab = Stage::tab(&stage.act("tab_new", json!({})).await);
        fit.params = json!({"id": tab});
    }
    let round = Round { stage, signal, tab, fit, gate: number.to_string() };
    round.check(moment, naming).await;
    if tab != first {
        stage.act("tab_select", json!({"id": first})).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn actions_time_out_while_a_server_does_not_respond() {
    let signal = Signal::default();
    let stage = in_chromium(&signal).await;
    let first = Stage::tab(&stage.act("tabs_list", json!({})).await["tabs"][0]);
    let fits = fit_actions(&stage, first).into_iter().enumerate();
    let (alone, beside): (Vec<_>, Vec<_>) = fits.partition(|(_, fit)| ALONE.contains(&fit.name));
    for (number, fit) in alone {
        check_alone(&stage, &signal, first, fit, Moment::LeftForLong, Naming::Selectors, number).await;
    }
    let mut tabs = Vec::new();
    for _ in 0..AT_ONCE {
        tabs.push(Stage::tab(&stage.act("tab_new", json!({})).await));
    }
    for group in beside.chunks(AT_ONCE) {
        let rounds = group.iter().zip(&tabs).map(|((number, fit), tab)| Round {
            stage: &stage,
            signal: &signal,
            tab: *tab,
            fit: fit.clone(),
            gate: number.to_string(),
        });
        let rounds: Vec<Round<'_>> = rounds.collect();
        join_all(rounds.iter().map(|round| round.check(Moment::LeftForLong, Naming::Selectors))).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn actions_survive_a_navigation_that_has_just_started() {
    check_all(Moment::Leaving, Naming::Selectors).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn actions_survive_a_commit_at_their_first_command() {
    check_all(Moment::Arriving, Naming::Selectors).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refs_never_reach_the_next_document_after_a_commit_at_start() {
    check_all(Moment::Arriving, Naming::Refs).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refs_never_reach_the_next_document_after_leaving_at_start() {
    check_all(Moment::LeavesAt(1), Naming::Refs).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refs_never_reach_the_next_document_after_leaving_midway() {
    check_all(Moment::LeavesAt(2), Naming::Refs).await;
}
