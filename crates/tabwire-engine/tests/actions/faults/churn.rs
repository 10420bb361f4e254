//! Tabs that are opened, used and closed leave no state in the engine (F44).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::json;
use tabwire_engine::BrowserCounts;
use tabwire_testkit::by_size;
use tokio::time::Instant;

use crate::actions::support::stage::Stage;

/// Tabs that are opened and closed before the first measurement, so that one-time allocations are done.
const WARM_UP: usize = 40;

/// Tabs that are opened and closed between the measurements. Firefox takes four times as long for one.
fn churned_tabs(stage: &Stage) -> usize {
    if stage.is_chromium() { by_size(200, 500) } else { 50 }
}

/// Tabs that are open at the same time.
const AT_ONCE: usize = 10;

/// The permitted growth of the process: a constant for memory that the allocator keeps, and a fifth of the 40 KiB that
/// a tab with its events, listeners and tasks takes.
fn permitted_growth(tabs: usize) -> usize {
    1024 * 1024 + tabs * 8 * 1024
}

/// The state that the engine holds for tabs.
#[derive(Debug, PartialEq)]
struct Held {
    browser: BrowserCounts,
    commands: usize,
    sessions: usize,
    listeners: usize,
    tasks: BTreeMap<Arc<str>, usize>,
}

fn held(stage: &Stage) -> Held {
    let connection = stage.browser.connection().resource_counts();
    let mut tasks = BTreeMap::new();
    for name in stage.tasks.names() {
        *tasks.entry(name).or_default() += 1;
    }
    Held {
        browser: stage.browser.counts(),
        commands: connection.commands,
        sessions: connection.sessions,
        listeners: connection.listeners,
        tasks,
    }
}

/// The state when the only page is set up and no task runs.
async fn at_rest(stage: &Stage) -> Held {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let now = held(stage);
        if now.commands == 0 && !now.tasks.contains_key("page-setup") {
            return now;
        }
        assert!(Instant::now() < end, "still busy: {now:#?}");
        stage.act("tabs_list", json!({})).await;
    }
}

/// Waits until the state is the same as before; removal takes a moment.
async fn returns_to(stage: &Stage, before: &Held) {
    let end = Instant::now() + Duration::from_secs(20);
    while held(stage) != *before {
        assert!(Instant::now() < end, "before: {before:#?}\nafter: {:#?}", held(stage));
        // Listing the tabs removes closed ones.
        stage.act("tabs_list", json!({})).await;
    }
}

/// The resident size of this process in bytes.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/status").expect("of this process");
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a line");
    let kibibytes: usize = line.trim().trim_end_matches(" kB").parse().expect("a number");
    kibibytes * 1024
}

/// Opens a tab, reads its title and closes it. Some tabs show a page, and some pages have cross-site frames.
async fn live(stage: &Stage, number: usize) {
    let params = match number % 20 {
        0 => json!({"url": stage.site.url("b", "/frames")}),
        10 => json!({"url": stage.site.url("b", "/console")}),
        _ => json!({}),
    };
    let opened = stage.act("tab_new", params).await;
    let tab = Stage::tab(&opened);
    let seen = stage.try_act_in(Some(tab), "get", json!({"what": "title"}), Duration::from_secs(20)).await;
    seen.unwrap_or_else(|failure| panic!("tab {number}: {failure:?}"));
    stage.act("tab_close", json!({"id": tab})).await;
}

async fn churn(stage: &Stage, count: usize) {
    for round in 0..count / AT_ONCE {
        join_all((0..AT_ONCE).map(|place| live(stage, round * AT_ONCE + place))).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn f44_closed_tabs_leave_no_state() {
    let stage = Stage::at("/plain").await;
    let first = at_rest(&stage).await;
    churn(&stage, WARM_UP).await;
    returns_to(&stage, &first).await;
    let before = resident();
    let tabs = churned_tabs(&stage);
    churn(&stage, tabs).await;
    returns_to(&stage, &first).await;
    let growth = resident().saturating_sub(before);
    assert!(growth < permitted_growth(tabs), "{growth} bytes more after {tabs} tabs");
    assert_eq!(first.browser.tabs, 1);
}
