//! The task of a browser behind WebDriver BiDi: a loop around its emulated browser, between a hub and the websocket of the
//! session. It does not matter who made the session: a keeper, or a Selenium Grid.

use std::path::Path;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_bidi::{BrowserFacts, EmulatedBrowser, Output};
use tabwire_cdp::{
    CloseFrame, Flush, FrameSink, FrameSource, ReceivedFrame, TaskGroup, TransportError, channel_pair,
};

use crate::extension::browser::session_scope;

/// How often the emulated browser gets the time while a page's network may become idle.
const IDLE_TICK: Duration = Duration::from_millis(100);

/// One side of the loop, and whether its sink still has data to flush.
struct Side {
    source: FrameSource,
    sink: FrameSink,
    is_full: bool,
}

impl Side {
    fn new((source, sink): (FrameSource, FrameSink)) -> Self {
        Self { source, sink, is_full: false }
    }

    fn flush(&mut self) -> Result<(), TransportError> {
        self.is_full = self.sink.try_flush()? == Flush::Waiting;
        Ok(())
    }
}

struct BidiTask {
    emulated: EmulatedBrowser,
    browser: Side,
    hub: Side,
}

/// What the loop waits for.
enum WakeEvent {
    Browser(Result<Option<ReceivedFrame>, TransportError>),
    BrowserFlushed(Result<(), TransportError>),
    Hub(Result<Option<ReceivedFrame>, TransportError>),
    HubFlushed(Result<(), TransportError>),
    Tick,
}

/// Starts the task. Returns the hub's side, which ends with the browser's.
pub(crate) fn start(
    browser: (FrameSource, FrameSink),
    facts: BrowserFacts,
    tasks: &TaskGroup,
) -> (FrameSource, FrameSink) {
    let (ours, theirs) = channel_pair();
    let task = BidiTask {
        emulated: EmulatedBrowser::new(&session_scope(), facts),
        browser: Side::new(browser),
        hub: Side::new(ours),
    };
    tasks.start("bidi-browser", task.run());
    theirs
}

/// A guarded session judges requests by their addresses too, and pauses new workers.
pub(crate) fn unguarded_firefox() -> Failure {
    Failure::new(ErrorCode::UnsupportedHere, tabwire_bidi::gaps::GUARDED).with_remedy(Remedy::new(
        "Use {} for guarded sessions.",
        [Step::command("tabwire open --browser chromium URL")],
    ))
}

impl BidiTask {
    async fn run(mut self) {
        let mut tick = tokio::time::interval(IDLE_TICK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            if self.execute_outputs().await.is_err() {
                break;
            }
            match self.wait(&mut tick).await {
                WakeEvent::Browser(Ok(Some(ReceivedFrame::Frame(frame)))) => {
                    self.emulated.from_browser(&frame);
                }
                WakeEvent::Hub(Ok(Some(ReceivedFrame::Frame(frame)))) => self.emulated.from_hub(&frame),
                WakeEvent::BrowserFlushed(Ok(())) => self.browser.is_full = false,
                WakeEvent::HubFlushed(Ok(())) => self.hub.is_full = false,
                WakeEvent::Tick => self.emulated.tick(Instant::now()),
                WakeEvent::Browser(_) | WakeEvent::BrowserFlushed(Err(_)) => break,
                WakeEvent::Hub(_) | WakeEvent::HubFlushed(Err(_)) => {
                    self.browser.sink.close_with(CloseFrame::Done);
                    return;
                }
            }
        }
        self.emulated.browser_disconnected();
        // The hub may be gone, too.
        let _ = self.execute_outputs().await;
        self.hub.sink.close_with(CloseFrame::Done);
        tracing::info!("the connection to a BiDi browser is gone");
    }

    async fn wait(&mut self, tick: &mut tokio::time::Interval) -> WakeEvent {
        // Backpressure: while one side cannot take more, the other side is not read.
        let (browser_full, hub_full) = (self.browser.is_full, self.hub.is_full);
        let ticks = self.emulated.needs_tick();
        let Side { source: from_browser, sink: to_browser, .. } = &mut self.browser;
        let Side { source: from_hub, sink: to_hub, .. } = &mut self.hub;
        tokio::select! {
            read = from_browser.next(), if !hub_full => WakeEvent::Browser(read),
            read = from_hub.next(), if !browser_full => WakeEvent::Hub(read),
            done = to_browser.flush(), if browser_full => WakeEvent::BrowserFlushed(done),
            done = to_hub.flush(), if hub_full => WakeEvent::HubFlushed(done),
            _ = tick.tick(), if ticks => WakeEvent::Tick,
        }
    }

    async fn execute_outputs(&mut self) -> Result<(), TransportError> {
        loop {
            let outputs = self.emulated.take_outputs();
            if outputs.is_empty() {
                break;
            }
            for output in outputs {
                match output {
                    Output::ToHub(frame) => self.hub.sink.enqueue(frame),
                    Output::ToBrowser(text) => self.browser.sink.enqueue(BytesMut::from(text.as_bytes())),
                    Output::MoveFile { number, from, to } => {
                        let size = move_file(&from, &to).await;
                        self.emulated.file_moved(number, size);
                    }
                }
            }
        }
        self.hub.flush()?;
        self.browser.flush()
    }
}

/// Gives a downloaded file its name for CDP; its size when that is done. Both are in the same directory.
async fn move_file(from: &Path, to: &Path) -> Option<u64> {
    let size = match tokio::fs::rename(from, to).await {
        Ok(()) => tokio::fs::metadata(to).await,
        Err(error) => Err(error),
    };
    match size {
        Ok(found) => Some(found.len()),
        Err(error) => {
            tracing::warn!(%error, "a downloaded file could not be renamed");
            None
        }
    }
}
