//! The wall: a small image of every active session, about every two seconds while the user can see it.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use tabwire_api::{SessionKey, TabId};
use tabwire_browser::Display;
use tabwire_cdp::{CloseFrame, Deadline, FrameSource};
use tokio::sync::{Semaphore, mpsc};

use super::head::{Head, Kind};
use super::message::PageMessage;
use super::shown::{Judge, ShownDriver, find_used};
use super::user_commands::hold_agents;
use super::{Dashboard, read_message, time_now};
use crate::control::{Hold, Scope};
use crate::session::Session;
use crate::session::live::LiveSession;

/// Time between two images of a session.
const INTERVAL: Duration = Duration::from_secs(2);

/// How long an image may take. A full window without a graphics processor needs seconds on a busy machine.
const IMAGE_DEADLINE: Duration = Duration::from_secs(6);

/// The width of an image.
const WIDTH: f64 = 320.0;

/// Sessions on the wall.
const SESSIONS: usize = 32;

/// Images that are made at once.
const IMAGES: usize = 2;

/// One session on the wall.
#[derive(Serialize, JsonSchema)]
struct Card {
    session: String,
    /// The number in the heads of its images.
    view: u8,
    state: &'static str,
    /// The site of a page that may not be shown.
    refused: Option<String>,
    #[schemars(with = "Option<String>")]
    tab: Option<TabId>,
    hold: Option<Hold>,
    /// Whether the user drives the tab.
    is_taken: bool,
    /// The agent that acts now, and what it does.
    running: Option<(String, &'static str)>,
    /// Who drives the tab now; absent while no client acts in it.
    driver: Option<ShownDriver>,
}

/// The message about the wall.
#[derive(Serialize, JsonSchema)]
pub(in crate::dashboard) struct WallMessage {
    r#type: &'static str,
    sessions: Vec<Card>,
    /// Whose actions are paused or stopped.
    holds: Vec<(Scope, Hold)>,
}

pub(super) struct Wall {
    dashboard: Dashboard,
    /// The number of each session, and a digest of its last image.
    views: HashMap<SessionKey, (u8, u64)>,
    is_visible: bool,
    seq: u32,
    /// The sessions whose image is being made.
    making: HashSet<SessionKey>,
    images: mpsc::Sender<Made>,
    made: mpsc::Receiver<Made>,
    permits: Arc<Semaphore>,
}

/// An image that was made beside the loop; none if that failed.
struct Made(SessionKey, Option<Vec<u8>>);

impl Wall {
    pub(super) fn new(dashboard: Dashboard) -> Self {
        // Room for every session, so that no task waits for the loop.
        let (images, made) = mpsc::channel(SESSIONS);
        Self {
            dashboard,
            views: HashMap::new(),
            is_visible: true,
            seq: 0,
            making: HashSet::new(),
            images,
            made,
            permits: Arc::new(Semaphore::new(IMAGES)),
        }
    }

    pub(super) async fn run(mut self, mut source: FrameSource) {
        let mut changes = self.dashboard.daemon.policy.control.changes();
        let mut policy = self.dashboard.daemon.policy.changes();
        let mut images = tokio::time::interval(INTERVAL);
        images.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let stopping = self.dashboard.daemon.tasks.clone();
        loop {
            let is_image = tokio::select! {
                Some(made) = self.made.recv() => {
                    if self.send_image(made).await.is_none() {
                        break;
                    }
                    continue;
                }
                message = read_message(&mut source) => match message {
                    Some(message) => self.handle(message, &mut images).await,
                    None => break,
                },
                _ = changes.changed() => Some(false),
                _ = policy.changed() => Some(false),
                _ = images.tick() => Some(true),
                () = stopping.stopping() => None,
            };
            let Some(is_image) = is_image.filter(|_| self.dashboard.is_valid()) else { break };
            if self.is_visible && self.send(is_image).await.is_none() {
                break;
            }
        }
        self.dashboard.sink.close_with(CloseFrame::Done);
    }

    async fn handle(&mut self, message: PageMessage, images: &mut tokio::time::Interval) -> Option<bool> {
        if let PageMessage::Visible { visible } = message {
            self.is_visible = visible;
            images.reset_immediately();
        } else if let Some(Err(failure)) = hold_agents(&self.dashboard.daemon, &message).await {
            let text = json!({"type": "failed", "message": failure.message}).to_string();
            self.dashboard.send_once(&text).await?;
        }
        Some(false)
    }

    /// Sends the states of all sessions, and their images.
    async fn send(&mut self, is_image: bool) -> Option<()> {
        let running = |session: Arc<Session>| {
            let live = session.peek_live().ok().flatten().filter(|live| !live.is_gone())?;
            Some((session, live))
        };
        let mut sessions: Vec<_> =
            self.dashboard.daemon.sessions.all().into_iter().filter_map(running).collect();
        sessions.sort_by_key(|(session, _)| session.key.to_string());
        sessions.truncate(SESSIONS);
        self.views.retain(|key, _| sessions.iter().any(|(session, _)| session.key == *key));
        let mut cards = Vec::new();
        for (session, live) in sessions {
            let card = self.card(&session, &live).await;
            if let Some(tab) = card.tab.filter(|_| is_image && card.state == "shown") {
                self.make_image(&session.key, live, tab);
            }
            cards.push(card);
        }
        let holds = self.dashboard.daemon.policy.control.holds();
        let text = json!(WallMessage { r#type: "wall", sessions: cards, holds }).to_string();
        self.dashboard.send_text(text).await
    }

    async fn card(&mut self, session: &Session, live: &LiveSession) -> Card {
        let view = self.view_of(&session.key);
        let daemon = Arc::clone(&self.dashboard.daemon);
        let (policy, control) = (&*daemon.policy, &daemon.policy.control);
        let tabs = live.engine.list_tabs();
        let used = find_used(control, &session.key, &tabs);
        let tab = used.or_else(|| live.engine.current_tab()).or_else(|| tabs.last().map(|info| info.tab));
        let location = tab.and_then(|tab| live.engine.find_location(Some(tab)));
        let judge = Judge { policy, session: &session.key, live };
        let refused = match &location {
            Some(location) => judge.refused_site(location).await,
            None => None,
        };
        let holder = location.as_ref().and_then(|location| control.holder_of(&location.target));
        let is_crashed = tab.is_some_and(|tab| live.engine.crashed_tabs().contains(&tab));
        let state = match &location {
            None => "no_tab",
            Some(_) if refused.is_some() => "refused",
            Some(_) if is_crashed => "crashed",
            // What the user types in another dashboard is theirs.
            Some(_) if holder.is_some_and(|holder| holder != self.dashboard.holder) => "taken",
            Some(_) => "shown",
        };
        let driver = location.as_ref().and_then(|location| {
            ShownDriver::find(control, &session.key, &location.target, self.dashboard.holder)
        });
        let running = control.running_in(&session.key).pop();
        Card {
            session: session.key.to_string(),
            view,
            state,
            refused,
            tab,
            hold: control.hold_of_session(&session.key),
            is_taken: holder.is_some(),
            running: running.map(|running| (running.agent, running.action)),
            driver,
        }
    }

    fn view_of(&mut self, key: &SessionKey) -> u8 {
        if let Some((view, _)) = self.views.get(key) {
            return *view;
        }
        let free =
            (0..u8::MAX).find(|view| self.views.values().all(|(used, _)| used != view)).unwrap_or(u8::MAX);
        self.views.insert(key.clone(), (free, 0));
        free
    }

    /// Makes an image beside the loop: a page that does not respond delays neither others nor the user's commands.
    fn make_image(&mut self, key: &SessionKey, live: Arc<LiveSession>, tab: TabId) {
        if !self.making.insert(key.clone()) {
            return;
        }
        let (key, images, permits) = (key.clone(), self.images.clone(), Arc::clone(&self.permits));
        self.dashboard.daemon.tasks.start("dashboard-thumbnail", async move {
            // In a window the user would see the page shrink for a moment.
            let width = (live.browser.display() == Some(Display::Headless)).then_some(WIDTH);
            let image = match permits.acquire().await {
                // The policy judges again here: the page may have navigated.
                Ok(_permit) => live.engine.thumbnail(tab, width, Deadline::after(IMAGE_DEADLINE)).await.ok(),
                Err(_) => None,
            };
            // The wall may be closed.
            let _ = images.send(Made(key, image)).await;
        });
    }

    async fn send_image(&mut self, Made(key, image): Made) -> Option<()> {
        self.making.remove(&key);
        // A page that is blocked by a dialog, or that left the allowed sites meanwhile, keeps its last image or state.
        let (Some(image), Some((view, before))) = (image, self.views.get_mut(&key)) else { return Some(()) };
        let mut hasher = DefaultHasher::new();
        image.hash(&mut hasher);
        let digest = hasher.finish();
        if std::mem::replace(before, digest) == digest || !self.is_visible {
            return Some(());
        }
        let view = *view;
        self.seq = self.seq.wrapping_add(1);
        let head =
            Head { kind: Kind::Thumbnail, view, seq: self.seq, time: time_now(), size: (0, 0), scale: 1.0 };
        self.dashboard.send_image(head.message(&image)).await
    }
}
