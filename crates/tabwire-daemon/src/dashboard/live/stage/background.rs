//! What a stage requests of the browser beside its loop, so that a browser that does not respond delays no frame, input
//! or command of the user.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tabwire_api::TabId;
use tabwire_cdp::{Deadline, TaskGroup};
use tabwire_engine::{LiveFrame, LiveView, TabInfo};
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::session::live::LiveSession;

/// How long the browser may take to attach a tab or to list the titles.
const DEADLINE: Duration = Duration::from_secs(5);

/// How long a page has time to draw a frame before a screenshot is taken.
const STILL_AFTER: Duration = Duration::from_millis(700);

/// Titles are requested this often at most.
const TITLES_EVERY: Duration = Duration::from_secs(1);

/// The titles of tabs, which the browser reports on request only.
#[derive(Debug, Default)]
pub(super) struct Titles {
    /// The URL and title of each tab.
    known: HashMap<TabId, (String, String)>,
    requested: Option<oneshot::Receiver<Vec<TabInfo>>>,
    last: Option<Instant>,
}

impl Titles {
    /// Requests the titles, unless that was done a moment ago.
    pub(super) fn request(&mut self, live: &Arc<LiveSession>, tasks: &TaskGroup) {
        if self.requested.is_some() || self.last.is_some_and(|last| last.elapsed() < TITLES_EVERY) {
            return;
        }
        let (sender, receiver) = oneshot::channel();
        (self.requested, self.last) = (Some(receiver), Some(Instant::now()));
        let live = Arc::clone(live);
        tasks.start("dashboard-titles", async move {
            if let Ok(tabs) = live.engine.tabs(Deadline::after(DEADLINE)).await {
                // The stage may be closed.
                let _ = sender.send(tabs);
            }
        });
    }

    /// Waits until titles arrive; whether any has changed. Cancel safe.
    pub(super) async fn arrived(&mut self) -> bool {
        let Some(requested) = &mut self.requested else { return std::future::pending().await };
        let tabs = requested.await;
        self.requested = None;
        let Ok(tabs) = tabs else { return false };
        let known = tabs.into_iter().map(|info| (info.tab, (info.url, info.title))).collect();
        let is_changed = self.known != known;
        self.known = known;
        is_changed
    }

    /// Adds the known titles to tabs that still show the same page.
    pub(super) fn complete(&self, mut tabs: Vec<TabInfo>) -> Vec<TabInfo> {
        for info in &mut tabs {
            if let Some((_, title)) = self.known.get(&info.tab).filter(|(url, _)| *url == info.url) {
                info.title.clone_from(title);
            }
        }
        tabs
    }
}

/// The screenshot that stands for a first frame. A page that does not change may draw none.
#[derive(Debug, Default)]
pub(super) struct Still {
    requested: Option<oneshot::Receiver<Option<LiveFrame>>>,
    /// When the screencast has begun.
    since: Option<Instant>,
}

impl Still {
    /// A screencast begins: an earlier screenshot no longer counts.
    pub(super) fn restart(&mut self) {
        (self.requested, self.since) = (None, Some(Instant::now()));
    }

    /// Takes a screenshot, unless one is being taken or the screencast has just begun.
    pub(super) fn request(&mut self, view: &LiveView, tasks: &TaskGroup) {
        if self.requested.is_some() || self.since.is_none_or(|since| since.elapsed() < STILL_AFTER) {
            return;
        }
        let (sender, receiver) = oneshot::channel();
        self.requested = Some(receiver);
        let taken = view.still(Deadline::after(DEADLINE));
        tasks.start("dashboard-still", async move {
            // The stage may show another tab by now.
            let _ = sender.send(taken.await.ok());
        });
    }

    /// Waits until the screenshot is there; `None` if it failed. Cancel safe.
    pub(super) async fn taken(&mut self) -> Option<LiveFrame> {
        let Some(requested) = &mut self.requested else { return std::future::pending().await };
        let taken = requested.await;
        self.requested = None;
        taken.ok().flatten()
    }
}

/// A tab that is being attached.
#[derive(Debug)]
pub(super) struct Attaching {
    pub(super) tab: TabId,
    attached: oneshot::Receiver<Option<LiveView>>,
}

impl Attaching {
    pub(super) fn start(live: &Arc<LiveSession>, tab: TabId, tasks: &TaskGroup) -> Self {
        let (sender, attached) = oneshot::channel();
        let live = Arc::clone(live);
        tasks.start("dashboard-attach", async move {
            let view = live.engine.live_view(tab, Deadline::after(DEADLINE)).await.ok();
            // The stage shows another tab by now, or is closed.
            if let Err(Some(view)) = sender.send(view) {
                view.end().await;
            }
        });
        Self { tab, attached }
    }

    /// Waits until the tab is attached; `None` if that failed. Cancel safe.
    pub(super) async fn done(attaching: &mut Option<Self>) -> Option<(TabId, LiveView)> {
        let Some(Self { tab, attached }) = attaching else { return std::future::pending().await };
        let (tab, view) = (*tab, attached.await);
        *attaching = None;
        Some((tab, view.ok().flatten()?))
    }
}
