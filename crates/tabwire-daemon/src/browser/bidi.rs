//! The task of a browser behind WebDriver BiDi: a loop around its emulated browser, between a hub and the websocket of the
//! session. It does not matter who made the session: a keeper, or a Selenium Grid.

use std::net::IpAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_bidi::{BrowserFacts, EmulatedBrowser, Lookup, Output, RequestHold};
use tabwire_cdp::{
    CloseFrame, Flush, FrameSink, FrameSource, ReceivedFrame, TaskGroup, TransportError, channel_pair,
};
use tabwire_policy::PageUrl;
use tokio::sync::mpsc;

use crate::extension::browser::session_scope;

/// How often the emulated browser gets the time while a page's network may become idle.
const IDLE_TICK: Duration = Duration::from_millis(100);

/// The label of a Firefox that was launched for guarded sessions.
pub(crate) const GUARDED: &str = "guarded";

/// Its value when pages are judged by the addresses of their names, and when only by name.
const BY_ADDRESS: &str = "by-address";
const BY_NAME: &str = "by-name";

/// How long resolving a host name may take.
const RESOLVE: Duration = Duration::from_secs(5);

/// Resolved names that wait until the task reads them.
const RESOLVED: usize = 64;

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
    tasks: TaskGroup,
    /// Where lookups of host names report.
    resolved: (mpsc::Sender<Resolved>, mpsc::Receiver<Resolved>),
}

/// The number of a lookup, and the address that its host leads to.
type Resolved = (u64, Option<IpAddr>);

/// What the loop waits for.
enum WakeEvent {
    Browser(Result<Option<ReceivedFrame>, TransportError>),
    BrowserFlushed(Result<(), TransportError>),
    Hub(Result<Option<ReceivedFrame>, TransportError>),
    HubFlushed(Result<(), TransportError>),
    Resolved(Resolved),
    Tick,
}

/// Starts the task. Returns the hub's side, which ends with the browser's.
pub(crate) fn start(
    browser: (FrameSource, FrameSink),
    facts: BrowserFacts,
    containment: Option<RequestHold>,
    tasks: &TaskGroup,
) -> (FrameSource, FrameSink) {
    let (ours, theirs) = channel_pair();
    let scope = session_scope();
    let emulated = match containment {
        Some(containment) => EmulatedBrowser::contained(&scope, facts, containment),
        None => EmulatedBrowser::new(&scope, facts),
    };
    let task = BidiTask {
        emulated,
        browser: Side::new(browser),
        hub: Side::new(ours),
        tasks: tasks.clone(),
        resolved: mpsc::channel(RESOLVED),
    };
    tasks.start("bidi-browser", task.run());
    theirs
}

/// The label of a Firefox for guarded sessions.
pub(crate) fn containment_label(has_proxy: bool) -> String {
    if has_proxy { BY_NAME } else { BY_ADDRESS }.to_owned()
}

/// How a browser with this label was launched.
pub(crate) fn containment_of(label: &str) -> RequestHold {
    RequestHold { resolves_names: label == BY_ADDRESS }
}

/// A Firefox that was launched for open sessions sends requests that were not judged.
pub(crate) fn launched_open(profile: &Path) -> Failure {
    let message = format!(
        "The Firefox of the profile {} was launched for an open session, and cannot hold back requests for a guarded one.",
        profile.display()
    );
    Failure::new(ErrorCode::UnsupportedHere, message).with_remedy(Remedy::new(
        "Close its sessions with {} first, or use another profile.",
        [Step::command("tabwire close")],
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
                WakeEvent::Resolved((number, address)) => self.emulated.resolved(number, address),
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
            Some(resolved) = self.resolved.1.recv() => WakeEvent::Resolved(resolved),
            _ = tick.tick(), if ticks => WakeEvent::Tick,
        }
    }

    fn resolve(&self, lookup: Lookup) {
        let results = self.resolved.0.clone();
        self.tasks.start("resolve-host", async move {
            let address = address_of(&lookup.host).await;
            // The browser may be gone meanwhile.
            let _ = results.send((lookup.number, address)).await;
        });
    }

    async fn execute_outputs(&mut self) -> Result<(), TransportError> {
        loop {
            for lookup in self.emulated.take_lookups() {
                self.resolve(lookup);
            }
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

/// The address that a host name leads to; one that is not on the internet, if it has one. Firefox asks the same resolver,
/// because its own is off in guarded sessions.
async fn address_of(host: &str) -> Option<IpAddr> {
    // Firefox resolves these names itself, so that they always lead to this machine.
    if host == "localhost" || host.ends_with(".localhost") {
        return Some(IpAddr::from([127, 0, 0, 1]));
    }
    let found = tokio::time::timeout(RESOLVE, tokio::net::lookup_host((host, 0))).await.ok()?.ok()?;
    let addresses: Vec<IpAddr> = found.map(|address| address.ip()).collect();
    let page = PageUrl::parse(&format!("http://{host}/"));
    let private = addresses.iter().find(|address| page.reached_at(**address).is_some());
    private.or(addresses.first()).copied()
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
