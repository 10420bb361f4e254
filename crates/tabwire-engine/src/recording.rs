//! A tab that is being recorded: pictures come as it changes, and are put on a reel. Knows nothing of their form.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::json;
use tabwire_cdp::{CdpError, CdpSession, Deadline, Event, EventFilter, EventStream, TaskGroup};
use tabwire_wire::{ErrorCode, Failure, TabId};
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::limits::{RECORDING_FIRST, RECORDING_GAP, RECORDING_SIDE, RECORDING_TIME, SETUP_DEADLINE};
use crate::picture_check::PictureCheck;
use crate::reel::Reel;

/// The tabs that are being recorded, one recording each.
#[derive(Debug, Default)]
pub(crate) struct Recordings {
    running: Mutex<HashMap<TabId, Recording>>,
}

/// One tab that is being recorded.
#[derive(Debug)]
pub(crate) struct Recording {
    since: Instant,
    stop: oneshot::Sender<()>,
    filmed: oneshot::Receiver<Filmed>,
    /// What the caller asked for and is told when it is over.
    pub(crate) note: Option<String>,
    pub(crate) output: Option<std::path::PathBuf>,
}

/// What was recorded.
#[derive(Debug)]
pub(crate) struct Filmed {
    pub(crate) reel: Reel,
    /// When it ended, in milliseconds since the start.
    pub(crate) moment: u64,
    /// Why it ended before it was stopped.
    pub(crate) cut: Option<&'static str>,
    /// Pictures that were left out, because a frame was in the page that may not be read.
    pub(crate) withheld: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Frame {
    data: String,
    session_id: i64,
}

impl Recordings {
    fn running(&self) -> MutexGuard<'_, HashMap<TabId, Recording>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a tab is being recorded.
    pub(crate) fn has(&self, tab: TabId) -> bool {
        self.running().contains_key(&tab)
    }

    /// The only tab that is being recorded.
    pub(crate) fn only(&self) -> Option<TabId> {
        let running = self.running();
        let mut tabs = running.keys().copied();
        tabs.next().filter(|_| tabs.next().is_none())
    }

    /// The tabs that are being recorded, and for how long.
    pub(crate) fn ages(&self) -> Vec<(TabId, std::time::Duration)> {
        self.running().iter().map(|(tab, recording)| (*tab, recording.age())).collect()
    }

    /// Keeps a recording until it is stopped.
    pub(crate) fn keep(&self, tab: TabId, recording: Recording) {
        self.running().insert(tab, recording);
    }

    /// Takes a recording to stop it.
    pub(crate) fn take(&self, tab: TabId) -> Option<Recording> {
        self.running().remove(&tab)
    }
}

impl Recording {
    /// Begins to record what a session of its own shows, and waits for the first picture.
    pub(crate) async fn start(
        session: CdpSession,
        reel: Reel,
        check: PictureCheck,
        tasks: &TaskGroup,
        deadline: Deadline,
    ) -> Result<Self, Failure> {
        let frames = session.events(EventFilter::methods(["Page.screencastFrame"]));
        let params = json!({"format": "png", "maxWidth": RECORDING_SIDE, "maxHeight": RECORDING_SIDE});
        let enabled = session.begin("Page.enable", &(), deadline);
        let started = session.send("Page.startScreencast", &params, deadline).await;
        enabled.map_err(CdpError::into_failure)?.answer().await.map_err(CdpError::into_failure)?;
        started.map_err(CdpError::into_failure)?;
        let (stop, stopped) = oneshot::channel();
        let (done, filmed) = oneshot::channel();
        let (seen, mut first) = watch::channel(false);
        let since = Instant::now();
        let camera = Camera { session, since, seen, check, withheld: 0 };
        tasks.start("recording", async move {
            // Nobody waits for it when the browser is gone.
            let _ = done.send(camera.film(frames, reel, stopped).await);
        });
        // A page that draws nothing at first is recorded from when it does.
        let _ = timeout_at(since + RECORDING_FIRST, first.wait_for(|seen| *seen)).await;
        Ok(Self { since, stop, filmed, note: None, output: None })
    }

    /// Ends it.
    pub(crate) async fn stop(self, deadline: Deadline) -> Result<Filmed, Failure> {
        // It may have ended by itself.
        let _ = self.stop.send(());
        let filmed = timeout_at(deadline.instant(), self.filmed).await.map_err(|_| {
            Failure::new(ErrorCode::Timeout, "The recording did not come to its end in time; it is lost.")
        })?;
        filmed.map_err(|_| Failure::new(ErrorCode::BrowserGone, "The recording went with its browser."))
    }

    /// For how long it has been running.
    pub(crate) fn age(&self) -> std::time::Duration {
        self.since.elapsed()
    }
}

struct Camera {
    session: CdpSession,
    since: Instant,
    seen: watch::Sender<bool>,
    check: PictureCheck,
    withheld: u32,
}

impl Camera {
    async fn film(
        mut self,
        mut frames: EventStream,
        mut reel: Reel,
        mut stopped: oneshot::Receiver<()>,
    ) -> Filmed {
        let end = self.since + RECORDING_TIME;
        let mut cut = None;
        loop {
            let event = tokio::select! {
                biased;
                _ = &mut stopped => break,
                () = sleep_until(end) => {
                    cut = Some("it reached the longest time a recording may take");
                    break;
                }
                event = frames.next() => event,
            };
            let event = match event {
                Ok(event) => event,
                Err(CdpError::Missed { .. }) => continue,
                Err(_) => {
                    cut = Some("the tab was closed");
                    break;
                }
            };
            let next = Instant::now() + RECORDING_GAP;
            match self.take(&event, reel).await {
                (taken, None) => reel = taken,
                (taken, Some(why)) => {
                    (reel, cut) = (taken, Some(why));
                    break;
                }
            }
            // The next picture comes when this one is acknowledged: not more often than is of use.
            tokio::select! {
                () = sleep_until(next) => {}
                _ = &mut stopped => break,
            }
            self.acknowledge(&event);
        }
        // The answers are of no interest.
        let _ = self.session.begin("Page.stopScreencast", &(), SETUP_DEADLINE);
        let moment = self.moment();
        let _ = self.session.detach(SETUP_DEADLINE).await;
        Filmed { reel, moment, cut, withheld: self.withheld }
    }

    fn moment(&self) -> u64 {
        u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Puts a picture on the reel; says why there can be no more.
    async fn take(&mut self, event: &Event, reel: Reel) -> (Reel, Option<&'static str>) {
        if !self.check.allows_next().await {
            self.withheld = self.withheld.saturating_add(1);
            return (reel, None);
        }
        let png = event.to::<Frame>().ok().and_then(|frame| STANDARD.decode(frame.data).ok());
        let Some(png) = png else { return (reel, None) };
        let moment = self.moment();
        let work = move || {
            let mut reel = reel;
            let taken = reel.take(png, moment);
            (reel, taken)
        };
        // Pixels are slow; everything else goes on meanwhile.
        let Ok((reel, taken)) = tokio::task::spawn_blocking(work).await else {
            return (Reel::animation(), Some("a picture could not be read"));
        };
        self.seen.send_replace(true);
        match taken {
            Err(_) => (reel, Some("a picture could not be kept")),
            Ok(()) if reel.is_full() => (reel, Some("it reached the largest size a recording may have")),
            Ok(()) => (reel, None),
        }
    }

    fn acknowledge(&self, event: &Event) {
        if let Ok(frame) = event.to::<Frame>() {
            let params = json!({"sessionId": frame.session_id});
            let _ = self.session.begin("Page.screencastFrameAck", &params, SETUP_DEADLINE);
        }
    }
}
