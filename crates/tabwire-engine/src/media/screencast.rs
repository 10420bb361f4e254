//! Records a tab: receives screencast frames as the page changes, and adds them to the recording.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::json;
use tabwire_api::{ErrorCode, Failure, TabId};
use tabwire_cdp::{CdpError, CdpSession, Deadline, Event, EventFilter, EventStream, TaskGroup};
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::action::output::OutputArguments;
use crate::files::NewFile;
use crate::limits::{RECORDING_TIME, SETUP_DEADLINE};
use crate::media::frames::ScreencastFrames;
use crate::media::screenshot_check::ScreenshotCheck;

/// How long the start of a recording waits for its first frame.
const RECORDING_FIRST: Duration = Duration::from_secs(3);

/// The shortest time between two frames of a recording.
const RECORDING_GAP: Duration = Duration::from_millis(66);

/// The longest side of a recording's frames, in pixels.
const RECORDING_SIDE: u32 = 1_280;

/// The recordings, one per tab.
#[derive(Debug, Default)]
pub(crate) struct Recordings {
    running: Mutex<HashMap<TabId, Recording>>,
}

/// One recording.
#[derive(Debug)]
pub(crate) struct Recording {
    since: Instant,
    stop: oneshot::Sender<()>,
    screencast: oneshot::Receiver<Screencast>,
    /// The caller's options, returned at the end.
    pub(crate) note: Option<String>,
    pub(crate) output: OutputArguments,
}

/// What was recorded.
#[derive(Debug)]
pub(crate) struct Screencast {
    pub(crate) recorded: ScreencastFrames,
    /// When it ended, in milliseconds since the start.
    pub(crate) moment: u64,
    /// Why it ended before it was stopped.
    pub(crate) cut: Option<&'static str>,
    /// Frames left out because the page contained a document that may not be read.
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

    /// The recorded tabs, with the time since the start.
    pub(crate) fn ages(&self) -> Vec<(TabId, Duration)> {
        self.running().iter().map(|(tab, recording)| (*tab, recording.age())).collect()
    }

    /// Stores a recording until it is stopped.
    pub(crate) fn keep(&self, tab: TabId, recording: Recording) {
        self.running().insert(tab, recording);
    }

    /// Takes a recording to stop it.
    pub(crate) fn take(&self, tab: TabId) -> Option<Recording> {
        self.running().remove(&tab)
    }
}

impl Recording {
    /// Starts to record in a CDP session of its own, and waits for the first frame.
    pub(crate) async fn start(
        session: CdpSession,
        recorded: ScreencastFrames,
        check: ScreenshotCheck,
        tasks: &TaskGroup,
        deadline: Deadline,
    ) -> Result<Self, Failure> {
        let frames = session.events(EventFilter::methods(["Page.screencastFrame"]));
        let params = json!({"format": "png", "maxWidth": RECORDING_SIDE, "maxHeight": RECORDING_SIDE});
        let enabled = session.begin("Page.enable", &(), deadline);
        let started = session.send("Page.startScreencast", &params, deadline).await;
        enabled.map_err(CdpError::into_failure)?.response().await.map_err(CdpError::into_failure)?;
        started.map_err(CdpError::into_failure)?;
        let (stop, stopped) = oneshot::channel();
        let (done, screencast) = oneshot::channel();
        let (seen, mut first) = watch::channel(false);
        let since = Instant::now();
        let task = ScreencastTask { session, since, seen, check, withheld: 0 };
        tasks.start("recording", async move {
            // When the browser is gone, no receiver is left.
            let _ = done.send(task.run(frames, recorded, stopped).await);
        });
        // A page that draws nothing at first is recorded from its first frame on.
        let _ = timeout_at(since + RECORDING_FIRST, first.wait_for(|seen| *seen)).await;
        Ok(Self { since, stop, screencast, note: None, output: OutputArguments::default() })
    }

    /// Stops the recording.
    pub(crate) async fn stop(self, deadline: Deadline) -> Result<Screencast, Failure> {
        // It may have ended by itself.
        let _ = self.stop.send(());
        let screencast = timeout_at(deadline.instant(), self.screencast).await.map_err(|_| {
            Failure::new(ErrorCode::Timeout, "The recording did not stop in time and is lost.")
        })?;
        screencast.map_err(|_| {
            Failure::new(ErrorCode::BrowserGone, "The browser is gone, and the recording with it.")
        })
    }

    /// Time since the start.
    pub(crate) fn age(&self) -> Duration {
        self.since.elapsed()
    }
}

struct ScreencastTask {
    session: CdpSession,
    since: Instant,
    seen: watch::Sender<bool>,
    check: ScreenshotCheck,
    withheld: u32,
}

impl ScreencastTask {
    async fn run(
        mut self,
        mut frames: EventStream,
        mut recorded: ScreencastFrames,
        mut stopped: oneshot::Receiver<()>,
    ) -> Screencast {
        let end = self.since + RECORDING_TIME;
        let mut cut = None;
        loop {
            let event = tokio::select! {
                biased;
                _ = &mut stopped => break,
                () = sleep_until(end) => {
                    cut = Some("it reached the longest duration of a recording");
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
            match self.take(&event, recorded).await {
                (taken, None) => recorded = taken,
                (taken, Some(why)) => {
                    (recorded, cut) = (taken, Some(why));
                    break;
                }
            }
            // Chrome sends the next frame after this acknowledgement, so delaying it limits the frame rate.
            tokio::select! {
                () = sleep_until(next) => {}
                _ = &mut stopped => break,
            }
            self.acknowledge(&event);
        }
        // The responses do not matter.
        self.session.post("Page.stopScreencast", &(), SETUP_DEADLINE);
        let moment = self.moment();
        let _ = self.session.detach(SETUP_DEADLINE).await;
        Screencast { recorded, moment, cut, withheld: self.withheld }
    }

    fn moment(&self) -> u64 {
        u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Adds a frame to the recording. Returns the reason when the recording must end.
    async fn take(
        &mut self,
        event: &Event,
        recorded: ScreencastFrames,
    ) -> (ScreencastFrames, Option<&'static str>) {
        if !self.check.allows_next().await {
            self.withheld = self.withheld.saturating_add(1);
            return (recorded, None);
        }
        let png = event.to::<Frame>().ok().and_then(|frame| STANDARD.decode(frame.data).ok());
        let Some(png) = png else { return (recorded, None) };
        let moment = self.moment();
        let work = move || {
            let mut recorded = recorded;
            let taken = recorded.take(png, moment);
            (recorded, taken)
        };
        // Runs on a blocking thread: image work is slow.
        let Ok((recorded, taken)) = tokio::task::spawn_blocking(work).await else {
            return (ScreencastFrames::animation(), Some("a frame could not be decoded"));
        };
        self.seen.send_replace(true);
        match taken {
            Err(_) => (recorded, Some("a frame could not be stored")),
            Ok(()) if recorded.is_full() => (recorded, Some("it reached the largest size of a recording")),
            Ok(()) => (recorded, None),
        }
    }

    fn acknowledge(&self, event: &Event) {
        if let Ok(frame) = event.to::<Frame>() {
            let params = json!({"sessionId": frame.session_id});
            self.session.post("Page.screencastFrameAck", &params, SETUP_DEADLINE);
        }
    }
}

/// Encodes videos with an external program.
pub trait VideoEncoder: Send + Sync + fmt::Debug {
    /// Starts a video with this frame rate; `None` when there is no encoder.
    fn begin(&self, frames_per_second: u32) -> Option<Box<dyn Video>>;
}

/// A video that is being made. Calls may block.
pub trait Video: Send + fmt::Debug {
    /// The file extension: `webm`.
    fn extension(&self) -> &'static str;

    /// The encoder: `ffmpeg`.
    fn encoder(&self) -> &str;

    /// Adds a PNG for one tick.
    ///
    /// # Errors
    /// When the encoder rejects it.
    fn add(&mut self, png: &[u8]) -> Result<(), Failure>;

    /// Ends the video, writes the file and returns its size.
    ///
    /// # Errors
    /// When the encoder failed.
    fn finish(&mut self, file: &mut NewFile) -> Result<u64, Failure>;
}
