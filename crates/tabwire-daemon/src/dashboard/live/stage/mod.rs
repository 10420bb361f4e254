//! The stage: one tab of a session as frames, who drives it, and the user's own mouse and keyboard while it is taken over.

mod background;
mod flow;
mod state;

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tabwire_api::{ErrorCode, Failure, SessionKey, TabId};
use tabwire_cdp::{CloseFrame, FrameSource};
use tabwire_engine::{LiveEvent, LiveFrame, LiveView, PointerMark, TabEvents};
use tokio::sync::watch;
use tokio::time::Instant;

use self::background::{Attaching, Still, Titles};
use self::flow::FrameFlow;
use self::state::Shown;
pub(in crate::dashboard) use self::state::ViewMessage;
use super::message::PageMessage;
use super::upload::ChosenFiles;
use super::user_commands::{hold_agents, write_row};
use super::{Dashboard, read_message};
use crate::session::live::LiveSession;

/// The state is compared this often, for changes that no event reports.
const REFRESH: Duration = Duration::from_secs(1);

/// Shortest and longest side of frames, in device pixels.
const SIDES: (u32, u32) = (64, 2_560);

/// The size of frames until the page says what it needs.
const FIRST_SIZE: (u32, u32) = (704, 396);

/// The browser that a stage follows.
struct Followed {
    live: Arc<LiveSession>,
    tabs: TabEvents,
    marks: watch::Receiver<Option<PointerMark>>,
}

pub(super) struct Stage {
    dashboard: Dashboard,
    session: SessionKey,
    /// The tab that the user chose; none follows the agent.
    wanted: Option<TabId>,
    followed: Option<Followed>,
    view: Option<(TabId, LiveView)>,
    attaching: Option<Attaching>,
    titles: Titles,
    /// When the tab last showed another document. Marks from before are about the document before.
    navigated: Option<std::time::Instant>,
    flow: FrameFlow,
    still: Still,
    size: (u32, u32),
    is_visible: bool,
    /// Whether frames are requested.
    is_cast: bool,
    /// Whether the browser draws the tab.
    is_drawn: bool,
    chosen: ChosenFiles,
}

/// What woke the loop.
enum Woken {
    Message(Option<PageMessage>),
    Event(LiveEvent),
    Attached(Option<(TabId, LiveView)>),
    /// The screenshot that stands for a frame was taken, or failed.
    Still(Option<LiveFrame>),
    Due,
    State,
    End,
}

impl Stage {
    pub(super) fn new(dashboard: Dashboard, session: SessionKey, wanted: Option<TabId>) -> Self {
        Self {
            dashboard,
            session,
            wanted,
            followed: None,
            view: None,
            attaching: None,
            titles: Titles::default(),
            navigated: None,
            flow: FrameFlow::default(),
            still: Still::default(),
            size: FIRST_SIZE,
            is_visible: true,
            is_cast: false,
            is_drawn: true,
            chosen: ChosenFiles::default(),
        }
    }

    pub(super) async fn run(mut self, mut source: FrameSource) {
        let mut control = self.dashboard.daemon.policy.control.changes();
        let mut policy = self.dashboard.daemon.policy.changes();
        let mut refresh = Instant::now();
        let stopping = self.dashboard.daemon.tasks.clone();
        loop {
            if refresh <= Instant::now() {
                refresh = Instant::now() + REFRESH;
                if !self.dashboard.is_valid() || self.refresh().await.is_none() {
                    break;
                }
            }
            let due = self.flow.next_due();
            let woken = tokio::select! {
                message = read_message(&mut source) => Woken::Message(message),
                event = next_event(&mut self.view) => Woken::Event(event),
                () = tokio::time::sleep_until(due.unwrap_or(refresh)), if due.is_some() => Woken::Due,
                attached = Attaching::done(&mut self.attaching) => Woken::Attached(attached),
                still = self.still.taken() => Woken::Still(still),
                true = self.titles.arrived() => Woken::State,
                () = next_change(&mut self.followed) => Woken::State,
                _ = control.changed() => Woken::State,
                _ = policy.changed() => Woken::State,
                () = tokio::time::sleep_until(refresh) => Woken::State,
                () = stopping.stopping() => Woken::End,
            };
            match self.handle(woken).await {
                None => break,
                Some(true) => refresh = Instant::now(),
                Some(false) => {}
            }
        }
        self.end().await;
    }

    /// Returns whether the state has to be compared, or `None` at the end.
    async fn handle(&mut self, woken: Woken) -> Option<bool> {
        match woken {
            Woken::Message(message) => self.take_message(message?).await,
            Woken::Event(LiveEvent::Frame(event)) => {
                let Some((_, view)) = &mut self.view else { return Some(false) };
                let frame = view.judge(&event).await;
                if let Some(message) = self.flow.receive(frame) {
                    self.dashboard.send_image(message).await?;
                }
                Some(false)
            }
            Woken::Event(LiveEvent::Drawn(is_drawn)) => {
                self.is_drawn = is_drawn;
                Some(true)
            }
            Woken::Event(LiveEvent::Changed) => Some(true),
            Woken::Event(LiveEvent::Restored) => {
                self.is_cast = false;
                Some(true)
            }
            Woken::Still(still) => {
                if let Some(message) = still.and_then(|frame| self.flow.receive_still(&frame)) {
                    self.dashboard.send_image(message).await?;
                }
                Some(false)
            }
            Woken::Event(LiveEvent::Navigated) => {
                self.navigated = Some(std::time::Instant::now());
                Some(true)
            }
            Woken::Attached(attached) => {
                if let Some((tab, mut view)) = attached {
                    if self.dashboard.daemon.policy.control.rejoin(view.target(), self.dashboard.holder) {
                        view.take_input().await;
                    }
                    (self.is_drawn, self.navigated) = (true, None);
                    self.view = Some((tab, view));
                    return Some(true);
                }
                // Tried again with the next comparison.
                Some(false)
            }
            Woken::Event(LiveEvent::Gone) => {
                self.leave_view().await;
                Some(true)
            }
            Woken::Due => {
                for number in self.flow.take_due() {
                    if let Some((_, view)) = &self.view {
                        view.acknowledge(number);
                    }
                }
                Some(false)
            }
            Woken::State => Some(true),
            Woken::End => None,
        }
    }

    async fn take_message(&mut self, message: PageMessage) -> Option<bool> {
        let done = match message {
            PageMessage::Drawn { seq } => {
                if let Some(next) = self.flow.drawn(seq) {
                    self.dashboard.send_image(next).await?;
                }
                return Some(false);
            }
            PageMessage::Input { input } => {
                if let Some((_, view)) = self.view.as_ref().filter(|_| self.is_mine()) {
                    view.input(&input);
                }
                return Some(false);
            }
            PageMessage::Size { width, height } => {
                let size = (width.clamp(SIDES.0, SIDES.1), height.clamp(SIDES.0, SIDES.1));
                self.is_cast &= size == self.size;
                self.size = size;
                Ok(())
            }
            PageMessage::Visible { visible } => {
                self.is_visible = visible;
                Ok(())
            }
            PageMessage::Tab { tab } => {
                self.give().await;
                self.wanted = tab;
                Ok(())
            }
            PageMessage::Take => self.take().await,
            PageMessage::Give => {
                self.give().await;
                Ok(())
            }
            PageMessage::Dialog { .. }
            | PageMessage::File(_)
            | PageMessage::Choose
            | PageMessage::Go { .. } => self.drive(message).await,
            PageMessage::Pause { .. } | PageMessage::Stop { .. } | PageMessage::Resume { .. } => {
                hold_agents(&self.dashboard.daemon, &message).await.unwrap_or(Ok(()))
            }
        };
        if let Err(failure) = done {
            let text = json!({"type": "failed", "message": failure.message}).to_string();
            self.dashboard.send_once(&text).await?;
        }
        Some(true)
    }

    /// Carries out what only the user who drives the tab may do.
    async fn drive(&mut self, message: PageMessage) -> Result<(), Failure> {
        if !self.is_mine() {
            return Err(Failure::new(ErrorCode::Busy, "Take over the tab first."));
        }
        let Some((_, view)) = &mut self.view else { return Ok(()) };
        match message {
            PageMessage::Dialog { accept, text } => view.answer_dialog(accept, text).await,
            PageMessage::File(part) => self.chosen.add(part),
            PageMessage::Choose => {
                let files = self.chosen.write(&self.dashboard.daemon.files).await?;
                if files.is_empty() {
                    view.cancel_chooser();
                    return Ok(());
                }
                view.choose_files(&files).await
            }
            PageMessage::Go { to } => {
                view.steer(to).await;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Whether this dashboard drives the tab.
    fn is_mine(&self) -> bool {
        let holder = self
            .view
            .as_ref()
            .and_then(|(_, view)| self.dashboard.daemon.policy.control.holder_of(view.target()));
        holder == Some(self.dashboard.holder)
    }

    async fn take(&mut self) -> Result<(), Failure> {
        let Some((tab, view)) = &mut self.view else {
            return Err(Failure::new(ErrorCode::NotActionable, "There is no page to take over."));
        };
        let control = &self.dashboard.daemon.policy.control;
        control.take(view.target(), self.dashboard.holder)?;
        view.take_input().await;
        let (tab, daemon) = (*tab, Arc::clone(&self.dashboard.daemon));
        let browser = self.followed.as_ref().map(|followed| Arc::clone(&followed.live));
        let place = browser.as_ref().map(|live| (&*live.engine, tab));
        write_row(&daemon, &self.session, "take_over", place, &json!({})).await;
        Ok(())
    }

    async fn give(&mut self) {
        let Some((tab, view)) = &mut self.view else { return };
        if self.dashboard.daemon.policy.control.give(view.target(), self.dashboard.holder) {
            view.give_input();
            let place = self.followed.as_ref().map(|followed| (&*followed.live.engine, *tab));
            write_row(&self.dashboard.daemon, &self.session, "give_back", place, &json!({})).await;
        }
    }

    /// Compares the state with the one that was sent, and starts or stops the frames.
    async fn refresh(&mut self) -> Option<()> {
        self.follow();
        let shown = self.find_shown().await;
        self.show_tab(&shown).await;
        // A page that was loaded again after a crash has no screencast.
        let has_page = self.view.as_ref().is_some_and(|(_, view)| !view.is_crashed());
        let may_cast = self.is_visible && shown.is_open() && has_page;
        if may_cast != self.is_cast {
            self.flow.clear();
            if let Some((_, view)) = &mut self.view {
                if may_cast { view.cast(self.size) } else { view.stop_cast() }
            }
            self.still.restart();
            self.is_cast = may_cast;
        }
        if let Some((_, view)) = self.view.as_ref().filter(|_| self.is_cast && self.flow.is_blank()) {
            self.still.request(view, &self.dashboard.daemon.tasks);
        }
        let text = self.describe(shown).await;
        self.dashboard.send_text(text).await
    }

    /// Follows the session's browser, also after it was started again.
    fn follow(&mut self) {
        let found = self.dashboard.daemon.sessions.find(&self.session);
        let live =
            found.and_then(|session| session.peek_live().ok().flatten()).filter(|live| !live.is_gone());
        let is_same = match (&self.followed, &live) {
            (Some(followed), Some(live)) => Arc::ptr_eq(&followed.live, live),
            (None, None) => true,
            _ => false,
        };
        if !is_same {
            (self.view, self.attaching, self.titles) = (None, None, Titles::default());
            self.followed = live.map(|live| {
                let (tabs, marks) = (live.engine.tab_events(), live.engine.pointer_marks());
                Followed { live, tabs, marks }
            });
        }
    }

    /// Attaches to the tab that is shown.
    async fn show_tab(&mut self, shown: &Shown) {
        let wanted = shown.attachable_tab();
        if self.view.as_ref().map(|(tab, _)| *tab) == wanted {
            self.attaching = None;
            return;
        }
        self.leave_view().await;
        if self.attaching.as_ref().map(|attaching| attaching.tab) == wanted {
            return;
        }
        let Some((tab, followed)) = wanted.zip(self.followed.as_ref()) else { return self.attaching = None };
        self.attaching = Some(Attaching::start(&followed.live, tab, &self.dashboard.daemon.tasks));
    }

    async fn leave_view(&mut self) {
        self.is_cast = false;
        self.flow.clear();
        self.still = Still::default();
        let Some((tab, view)) = self.view.take() else { return };
        self.release_later(tab, &view);
        view.end().await;
    }

    /// The connection of a view that this dashboard drives has ended: the tab is given back after a bound.
    fn release_later(&self, tab: TabId, view: &LiveView) {
        let (daemon, session) = (Arc::clone(&self.dashboard.daemon), self.session.clone());
        let live = self.followed.as_ref().map(|followed| Arc::clone(&followed.live));
        let tasks = daemon.tasks.clone();
        let ended = move || {
            let tasks = daemon.tasks.clone();
            tasks.start("give-back-row", async move {
                let place = live.as_ref().map(|live| (&*live.engine, tab));
                write_row(&daemon, &session, "give_back", place, &json!({})).await;
            });
        };
        let control = &self.dashboard.daemon.policy.control;
        control.leave(view.target(), self.dashboard.holder, &tasks, ended);
    }

    async fn end(mut self) {
        self.leave_view().await;
        self.dashboard.sink.close_with(CloseFrame::Done);
    }
}

async fn next_event(view: &mut Option<(TabId, LiveView)>) -> LiveEvent {
    match view {
        Some((_, view)) => view.next().await,
        None => std::future::pending().await,
    }
}

/// Waits until the tabs change or an action points at an element.
async fn next_change(followed: &mut Option<Followed>) {
    let Some(Followed { tabs, marks, .. }) = followed else { return std::future::pending().await };
    tokio::select! {
        is_open = tabs.next() => {
            if !is_open {
                // The browser is gone, which the next comparison finds.
                std::future::pending::<()>().await;
            }
        }
        Ok(()) = marks.changed() => {}
    }
}
