//! The state of a stage, as the page gets it.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use tabwire_api::TabId;
use tabwire_engine::{LiveDialog, PointerMark};

use super::Stage;
use crate::control::Hold;
use crate::dashboard::live::shown::{Judge, ShownDriver, ShownTab, find_used};

/// How long a mark is shown.
const MARK_TIME: Duration = Duration::from_secs(4);

/// What the stage shows.
pub(super) enum Shown {
    NoSession,
    NoTab,
    /// The page may not be shown; its site.
    Refused(TabId, String),
    /// Another dashboard drives the tab. What its user types is not shown here.
    Elsewhere(TabId),
    Tab(TabId),
}

impl Shown {
    /// The tab that has to be attached.
    pub(super) const fn attachable_tab(&self) -> Option<TabId> {
        match self {
            Self::Tab(tab) => Some(*tab),
            _ => None,
        }
    }

    /// Whether frames may be sent.
    pub(super) const fn is_open(&self) -> bool {
        matches!(self, Self::Tab(_))
    }

    const fn tab(&self) -> Option<TabId> {
        match self {
            Self::Tab(tab) | Self::Elsewhere(tab) | Self::Refused(tab, _) => Some(*tab),
            Self::NoSession | Self::NoTab => None,
        }
    }
}

/// An action that runs or waits.
#[derive(Serialize, JsonSchema)]
struct ShownAction {
    agent: String,
    action: &'static str,
    is_waiting: bool,
}

/// The message about a stage.
#[derive(Serialize, JsonSchema)]
pub(in crate::dashboard) struct ViewMessage<'a> {
    r#type: &'static str,
    state: &'static str,
    /// The site of a page that may not be shown.
    refused: Option<&'a str>,
    #[schemars(with = "Option<String>")]
    tab: Option<TabId>,
    tabs: Vec<ShownTab>,
    policy: Option<&'static str>,
    dialog: Option<LiveDialog>,
    /// Whether the open file chooser takes several files.
    chooser: Option<bool>,
    taken: Option<&'static str>,
    hold: Option<Hold>,
    running: Vec<ShownAction>,
    /// Who drives the tab now; absent while no client acts in it.
    driver: Option<ShownDriver>,
    mark: Option<PointerMark>,
}

impl Stage {
    /// Finds the tab to show: the one that the user chose or drives, else the one that an agent used last.
    pub(super) async fn find_shown(&self) -> Shown {
        let Some(followed) = &self.followed else { return Shown::NoSession };
        let engine = &followed.live.engine;
        let tabs = engine.list_tabs();
        let is_open = |tab: &TabId| tabs.iter().any(|info| info.tab == *tab);
        let driven = self.view.as_ref().map(|(tab, _)| *tab).filter(|_| self.is_mine());
        let daemon = &self.dashboard.daemon;
        let used = find_used(&daemon.policy.control, &self.session, &tabs);
        let wanted = [driven, self.wanted, used, engine.current_tab()].into_iter().flatten().find(is_open);
        let Some(tab) = wanted.or_else(|| tabs.last().map(|info| info.tab)) else { return Shown::NoTab };
        let Some(location) = engine.find_location(Some(tab)) else { return Shown::NoTab };
        let judge = Judge { policy: &daemon.policy, session: &self.session, live: &followed.live };
        if let Some(site) = judge.refused_site(&location).await {
            return Shown::Refused(tab, site);
        }
        match daemon.policy.control.holder_of(&location.target) {
            Some(holder) if holder != self.dashboard.holder => Shown::Elsewhere(tab),
            _ => Shown::Tab(tab),
        }
    }

    /// The message about the state.
    pub(super) async fn describe(&mut self, shown: Shown) -> String {
        let (tabs, policy) = self.list_tabs().await;
        let view = self.view.as_ref().map(|(_, view)| view);
        let is_mine = self.is_mine();
        let state = match &shown {
            Shown::NoSession => "no_session",
            Shown::NoTab => "no_tab",
            Shown::Refused(..) => "refused",
            Shown::Elsewhere(_) => "elsewhere",
            Shown::Tab(_) if view.is_some_and(tabwire_engine::LiveView::is_crashed) => "crashed",
            Shown::Tab(_) if !self.is_drawn => "hidden",
            Shown::Tab(_) => "shown",
        };
        let taken = match &shown {
            Shown::Elsewhere(_) => Some("other"),
            _ => is_mine.then_some("you"),
        };
        let control = &self.dashboard.daemon.policy.control;
        let running = control.running_in(&self.session).into_iter().map(|running| ShownAction {
            is_waiting: running.is_waiting(),
            agent: running.agent,
            action: running.action,
        });
        let message = ViewMessage {
            r#type: "view",
            state,
            refused: match &shown {
                Shown::Refused(_, site) => Some(site),
                _ => None,
            },
            tab: shown.tab(),
            tabs,
            policy,
            dialog: view.and_then(tabwire_engine::LiveView::dialog),
            chooser: view.and_then(tabwire_engine::LiveView::chooser).filter(|_| is_mine),
            taken,
            hold: control.hold_of_session(&self.session),
            running: running.collect(),
            driver: self.find_driver(&shown),
            mark: self.find_mark(&shown),
        };
        json!(message).to_string()
    }

    /// Where the latest action pointed, if it was lately and on the document that is shown.
    fn find_mark(&self, shown: &Shown) -> Option<PointerMark> {
        let followed = self.followed.as_ref().filter(|_| shown.is_open())?;
        let mark = followed.marks.borrow().clone()?;
        let is_here = Some(mark.tab) == shown.tab() && mark.since.elapsed() < MARK_TIME;
        (is_here && self.navigated.is_none_or(|navigated| navigated < mark.since)).then_some(mark)
    }

    fn find_driver(&self, shown: &Shown) -> Option<ShownDriver> {
        let engine = &self.followed.as_ref()?.live.engine;
        let target = engine.find_target_of(shown.tab()?)?;
        let control = &self.dashboard.daemon.policy.control;
        ShownDriver::find(control, &self.session, &target, self.dashboard.holder)
    }

    async fn list_tabs(&mut self) -> (Vec<ShownTab>, Option<&'static str>) {
        let Some(followed) = &self.followed else { return (Vec::new(), None) };
        let live = &followed.live;
        self.titles.request(live, &self.dashboard.daemon.tasks);
        let tabs = self.titles.complete(live.engine.list_tabs());
        let judge = Judge { policy: &self.dashboard.daemon.policy, session: &self.session, live };
        (judge.tabs(tabs).await, Some(live.options.policy().as_str()))
    }
}
