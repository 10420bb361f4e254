//! Every action during a navigation: it ends in time, on one of the two documents or with a clear failure, and the tab
//! works afterwards.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure, TabId};

use crate::actions::registry::valid_parameters::{Fit, fit_actions};
use crate::actions::support::signalling_link::Signal;
use crate::actions::support::stage::Stage;

/// How long an action may take when the other document comes.
const TIME: Duration = Duration::from_secs(10);

/// How long an action may take when the other document does not come.
const SHORT_TIME: Duration = Duration::from_millis(2_500);

/// How long after its time it must have answered, however busy the machine is.
const GRACE: Duration = Duration::from_secs(10);

/// Tabs in which actions wait for nothing at the same time.
const AT_ONCE: usize = 10;

/// Actions that concern the whole browser and are not run beside others.
const ALONE: &[&str] = &["capture", "trace", "tab_new", "tab_select", "tab_close"];

/// When the page leaves and when it arrives elsewhere.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Moment {
    /// It has left, and arrives when the action is over.
    LeftForLong,
    /// It has left, and arrives as the first command of the action is sent.
    Arriving,
    /// It has just left, and arrives as soon as it can.
    Leaving,
    /// It leaves as the n-th command of the action is sent.
    LeavesAt(u32),
}

/// How elements are named to the action.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Naming {
    /// By selectors, which fit both documents.
    Selectors,
    /// By refs of the document that is left.
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

/// Actions that must say that it is the journey that takes the time; others may name what did not finish.
const SAY_SO: &[&str] =
    &["snapshot", "find", "click", "fill", "get_text", "get", "eval", "screenshot", "wait_for"];

/// Whether a failure for lack of time says what took it. Chromium 156 may never respond text that it is given in the
/// moment in which the page leaves.
fn is_told_timeout(name: &str, message: &str) -> bool {
    message.contains("is navigating to") || !SAY_SO.contains(&name) || message.contains("Input.insertText")
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

    /// Has the page leave, or sees to it that it will.
    async fn leave(&self, moment: Moment) {
        let (site, gate) = (&self.stage.site, &self.gate);
        if matches!(moment, Moment::Leaving | Moment::LeavesAt(_)) {
            site.let_go(gate);
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
            let (let_go, gate) = (site.releaser(), gate.clone());
            self.signal.arm(1, move || let_go(&gate));
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
        stage.site.let_go(&self.gate);
        let outcome = outcome.unwrap_or_else(|_| panic!("{name} never answered ({moment:?}, {naming:?})"));
        if let Err(failure) = &outcome {
            let is_told = match failure.code {
                ErrorCode::Internal => false,
                // It says so itself when it cannot print.
                ErrorCode::CdpError => name == "pdf",
                ErrorCode::Timeout => is_told_timeout(name, &failure.message),
                _ => true,
            };
            assert!(is_told, "{name} ({moment:?}, {naming:?}): {failure:?}");
        }
        outcome
    }

    /// The tab works, and shows the document that it was on its way to, which has felt only what was meant for it.
    async fn check_after(&self, moment: Moment, naming: Naming) {
        let (name, travels) = (self.fit.name, self.fit.travels);
        // What sends fewer commands was over before.
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
            // It may not have been done at all.
            let _ = self.stage.try_act_in(Some(self.tab), name, params, TIME).await;
        }
    }

    /// All of it, in a tab that is still there afterwards.
    async fn check(&self, moment: Moment, naming: Naming) {
        let outcome = self.run(moment, naming).await;
        match (self.fit.name, outcome) {
            ("tab_close", closed) => {
                closed.expect("no journey keeps a tab open");
                return;
            }
            ("tab_new", opened) => {
                let opened = opened.expect("no page keeps a tab from opening");
                self.stage.act("tab_close", json!({"id": Stage::tab(&opened)})).await;
                self.stage.act("tab_select", json!({"id": self.tab})).await;
            }
            _ => {}
        }
        self.check_after(moment, naming).await;
    }
}

/// Runs all actions of the registry at one moment, one after the other.
async fn check_all(moment: Moment, naming: Naming) {
    let signal = Signal::default();
    let stage = Stage::start_over(|link, tasks| signal.link(link, tasks)).await;
    let first = Stage::tab(&stage.act("tabs_list", json!({})).await["tabs"][0]);
    for (number, fit) in fit_actions(&stage, first).into_iter().enumerate() {
        check_alone(&stage, &signal, first, fit, moment, naming, number).await;
    }
}

/// Runs one action in the browser's first tab, or in one that it may close.
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
async fn actions_do_not_wait_forever_for_a_server_that_does_not_answer() {
    let signal = Signal::default();
    let stage = Stage::start_over(|link, tasks| signal.link(link, tasks)).await;
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
async fn actions_survive_a_page_that_has_just_left() {
    check_all(Moment::Leaving, Naming::Selectors).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn actions_survive_a_page_that_arrives_as_they_begin() {
    check_all(Moment::Arriving, Naming::Selectors).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refs_of_a_page_that_is_replaced_as_an_action_begins_reach_no_other_document() {
    check_all(Moment::Arriving, Naming::Refs).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refs_of_a_page_that_leaves_as_an_action_begins_reach_no_other_document() {
    check_all(Moment::LeavesAt(1), Naming::Refs).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refs_of_a_page_that_leaves_in_the_middle_of_an_action_reach_no_other_document() {
    check_all(Moment::LeavesAt(2), Naming::Refs).await;
}
