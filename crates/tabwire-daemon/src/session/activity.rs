//! Rows of the audit log about what happens in a session's browser by itself: tabs that pages or the user
//! open and close, navigations, downloads, crashes, and the loss of the browser. What an action causes is in its own row.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use tabwire_api::{SessionKey, TabId, TargetId};
use tabwire_audit::{ClientInfo, safe_address};
use tabwire_engine::{EventKind, EventKinds, FeedEvent};

use crate::audit::event::Event;
use crate::session::Session;
use crate::session::live::LiveSession;

/// What happens so shortly after an action is its effect.
const EFFECT: Duration = Duration::from_secs(1);

/// How long the loss of a browser takes to be known.
const LOSS: Duration = Duration::from_secs(5);

/// Counters of dropped events are read this often.
const COUNTERS: Duration = Duration::from_secs(30);

/// Rows that a session's pages can cause at once, and one more for each [`REFILL`]. The log has room for what matters.
const BURST: u32 = 40;
const REFILL: Duration = Duration::from_secs(2);

/// Bounds the rows of one session.
#[derive(Debug)]
struct Budget {
    left: u32,
    since: Instant,
    /// Events without a row.
    dropped: u64,
}

impl Budget {
    fn new(now: Instant) -> Self {
        Self { left: BURST, since: now, dropped: 0 }
    }

    /// Whether there may be one more row.
    fn take(&mut self, now: Instant) -> bool {
        while self.left < BURST && now.duration_since(self.since) >= REFILL {
            (self.left, self.since) = (self.left + 1, self.since + REFILL);
        }
        if self.left == BURST {
            self.since = now;
        }
        if self.left == 0 {
            self.dropped += 1;
            return false;
        }
        self.left -= 1;
        true
    }
}

/// A tab as it was last seen.
#[derive(Debug, PartialEq, Eq)]
struct SeenTab {
    target: TargetId,
    /// Without query and fragment.
    url: String,
}

/// The activity in one session's browser.
pub(super) struct Activity {
    session: Weak<Session>,
    live: Weak<LiveSession>,
    key: SessionKey,
    tabs: HashMap<TabId, SeenTab>,
    budget: Budget,
    /// Events that the session's clients did not get, as last counted.
    undelivered: u64,
}

impl Activity {
    /// Follows a browser until it is gone.
    pub(super) fn start(session: &Arc<Session>, live: &Arc<LiveSession>) {
        let tasks = session.tasks.clone();
        let (mut changes, mut events) = (live.engine.tab_events(), live.engine.feed().subscribe());
        events.listen(EventKinds::default().with(EventKind::Crash).with(EventKind::Download));
        let hub = live.browser.hub.clone();
        let mut activity = Self {
            session: Arc::downgrade(session),
            live: Arc::downgrade(live),
            key: session.key.clone(),
            tabs: HashMap::new(),
            budget: Budget::new(Instant::now()),
            undelivered: 0,
        };
        // Tabs of a browser that was there before are not new.
        activity.tabs = seen_tabs(live);
        let mut counters = tokio::time::interval_at(tokio::time::Instant::now() + COUNTERS, COUNTERS);
        counters.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        session.tasks.start("activity", async move {
            loop {
                let done = tokio::select! {
                    is_open = changes.next() => if is_open { activity.compare() } else { break },
                    event = events.next() => activity.report(&event),
                    _ = counters.tick() => match tokio::time::timeout(LOSS, hub.facts()).await {
                        Ok(Ok(facts)) => activity.count(facts.events_dropped + events.take_dropped()),
                        _ => Some(()),
                    },
                    () = tasks.stopping() => return,
                };
                if done.is_none() {
                    return;
                }
            }
            if tokio::time::timeout(LOSS, hub.gone()).await.is_ok() {
                activity.report_loss();
            }
        });
    }

    /// The session and its browser; `None` when the session has ended.
    fn parts(&self) -> Option<(Arc<Session>, Arc<LiveSession>)> {
        let (session, live) = (self.session.upgrade()?, self.live.upgrade()?);
        (!live.is_ended.load(Ordering::Acquire)).then_some((session, live))
    }

    /// Compares the tabs with those that were seen last.
    fn compare(&mut self) -> Option<()> {
        let (session, live) = self.parts()?;
        let now = seen_tabs(&live);
        let before = std::mem::take(&mut self.tabs);
        let is_acting = session.policy.control.has_acted(&self.key, None, EFFECT);
        for (tab, seen) in &before {
            if !now.contains_key(tab) && !is_acting {
                self.record(&session, &Event::TabClosed, Some((*tab, &seen.url)));
            }
        }
        for (tab, seen) in &now {
            let url = seen.url.clone();
            match before.get(tab) {
                None if !is_acting => {
                    self.record(&session, &Event::TabOpened { url }, Some((*tab, &seen.url)));
                }
                // Chromium's headless shell reports a new tab before its URL.
                Some(known) if known.url.is_empty() => {}
                Some(known)
                    if known.url != seen.url
                        && !session.policy.control.has_acted(&self.key, Some(&seen.target), EFFECT) =>
                {
                    self.record(&session, &Event::Navigated { url }, Some((*tab, &seen.url)));
                }
                _ => {}
            }
        }
        self.tabs = now;
        Some(())
    }

    fn report(&mut self, event: &FeedEvent) -> Option<()> {
        let (session, live) = self.parts()?;
        let tabs = live.engine.list_tabs();
        let info = tabs.iter().find(|info| info.target == event.target);
        if info.is_some_and(|info| info.shared) {
            return Some(());
        }
        let place = info.map(|info| (info.tab, info.url.as_str()));
        let text = |name: &str| event.data[name].as_str().unwrap_or_default().to_owned();
        match event.kind {
            EventKind::Crash if info.is_some() => self.record(&session, &Event::TabCrashed, place),
            EventKind::Download => {
                let event = Event::DownloadBegan { url: text("url"), name: text("name") };
                self.record(&session, &event, place);
            }
            _ => {}
        }
        Some(())
    }

    /// Reports events that were not delivered since the last time, and those without a row.
    fn count(&mut self, undelivered: u64) -> Option<()> {
        let (session, _) = self.parts()?;
        let new = undelivered.saturating_sub(self.undelivered);
        self.undelivered = self.undelivered.max(undelivered);
        self.report_dropped(&session, new);
        Some(())
    }

    fn report_dropped(&mut self, session: &Session, more: u64) {
        let count = more + std::mem::take(&mut self.budget.dropped);
        if count > 0 {
            let event = Event::EventsDropped { count };
            event.record(&session.audit, self.key.clone(), ClientInfo::default(), None);
        }
    }

    fn record(&mut self, session: &Session, event: &Event, place: Option<(TabId, &str)>) {
        if self.budget.take(Instant::now()) {
            event.record(&session.audit, self.key.clone(), ClientInfo::default(), place);
        }
    }

    fn report_loss(&mut self) {
        let Some((session, live)) = self.parts() else { return };
        if !live.is_stopped.load(Ordering::Acquire) {
            self.report_dropped(&session, 0);
            Event::BrowserLost.record(&session.audit, self.key.clone(), ClientInfo::default(), None);
        }
    }
}

/// The tabs of a session. Tabs that the user has opened are theirs: where the user goes is not recorded.
fn seen_tabs(live: &LiveSession) -> HashMap<TabId, SeenTab> {
    let tabs = live.engine.list_tabs().into_iter().filter(|info| !info.shared);
    let shown = |url: &str| if url.is_empty() { String::new() } else { safe_address(url) };
    tabs.map(|info| (info.tab, SeenTab { target: info.target, url: shown(&info.url) })).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_busy_page_are_bounded_and_counted() {
        let start = Instant::now();
        let mut budget = Budget::new(start);
        assert_eq!((0..100).filter(|_| budget.take(start)).count(), BURST as usize);
        assert_eq!(budget.dropped, 60);
        let later = start + REFILL * 3;
        assert_eq!((0..100).filter(|_| budget.take(later)).count(), 3);
        assert!(budget.take(start + REFILL * 1_000));
    }
}
