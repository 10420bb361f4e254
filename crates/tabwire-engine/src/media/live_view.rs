//! A tab as the user sees and drives it: screencast frames, dialogs, file choosers and input, in a CDP session of its
//! own. Frames of pages with a document that may not be read are withheld, as in recordings.

use std::path::PathBuf;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure, TargetId};
use tabwire_cdp::{CdpError, CdpSession, Deadline, Event, EventFilter, EventStream};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use crate::input::user_input::UserInput;
use crate::limits::SETUP_DEADLINE;
use crate::media::live_casts::OpenCast;
use crate::media::screenshot_check::ScreenshotCheck;
use crate::page::dialog::{Dialog, FileChooser};
use crate::page::{Page, TakenInput};

/// The quality of frames.
const QUALITY: u8 = 60;

/// The quality of thumbnails.
const THUMBNAIL_QUALITY: u8 = 50;

/// How long frames may still have the size that a capture gave the page.
const SETTLE: Duration = Duration::from_millis(250);

/// How long the user waits for an action that sends input.
const TAKE_DEADLINE: Duration = Duration::from_secs(2);

/// One frame of a screencast.
#[derive(Debug)]
pub struct LiveFrame {
    /// The JPEG.
    pub jpeg: Vec<u8>,
    /// Chrome's number, which acknowledges it; a screenshot has none.
    pub number: Option<i64>,
    /// The size of the viewport in CSS pixels.
    pub size: (u16, u16),
    /// How much the page is zoomed by pinching.
    pub scale: f32,
    /// When it was drawn, in seconds.
    pub time: f64,
}

/// An event of a live view.
#[derive(Debug)]
pub enum LiveEvent {
    /// A frame, which has yet to be judged.
    Frame(Event),
    /// Whether the browser draws the tab.
    Drawn(bool),
    /// A dialog, a file chooser or a crash: the state is to be read again.
    Changed,
    /// The tab shows another document.
    Navigated,
    /// A screenshot has changed the page's size for a moment. The screencast has to start again.
    Restored,
    /// The tab or its browser is gone.
    Gone,
}

/// An open dialog as the user sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LiveDialog {
    /// `alert`, `confirm`, `prompt` or `beforeunload`.
    pub kind: String,
    /// Its text.
    pub message: String,
    /// The default value of a prompt.
    pub default: Option<String>,
}

/// A step in a tab's history, or a reload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Steering {
    /// One page back.
    Back,
    /// One page forward.
    Forward,
    /// The same page again.
    Reload,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CastFrame {
    data: String,
    session_id: i64,
    metadata: Metadata,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    device_width: f64,
    device_height: f64,
    page_scale_factor: f32,
    #[serde(default)]
    timestamp: f64,
}

#[derive(Deserialize)]
struct FrameNavigated {
    frame: NavigatedFrame,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NavigatedFrame {
    parent_id: Option<String>,
}

/// A live view of one tab.
#[derive(Debug)]
pub struct LiveView {
    page: Page,
    session: CdpSession,
    events: EventStream,
    check: ScreenshotCheck,
    dialog: watch::Receiver<Option<Dialog>>,
    chooser: watch::Receiver<Option<FileChooser>>,
    crashed: watch::Receiver<bool>,
    taken: Option<TakenInput>,
    /// Since the screencast has started.
    cast: Option<OpenCast>,
    /// How many captures change the page's size.
    resizing: watch::Receiver<usize>,
    /// When the page has its own size again after a capture.
    settled_at: Option<Instant>,
    /// Chrome's number of the screencast that the last frame came from.
    seen: Option<i64>,
    /// The number of a screencast that has ended, whose late frames are not shown.
    ended: Option<i64>,
}

impl LiveView {
    pub(crate) async fn start(page: Page, session: CdpSession, deadline: Deadline) -> Result<Self, Failure> {
        let methods = ["Page.screencastFrame", "Page.screencastVisibilityChanged", "Page.frameNavigated"];
        let events = session.events(EventFilter::methods(methods));
        // CDP sends `Page.frameNavigated` only to sessions that enabled `Page`, each for itself.
        session.send("Page.enable", &(), deadline).await.map_err(CdpError::into_failure)?;
        let (dialog, chooser) = (page.state().dialog(), page.state().chooser());
        let (check, crashed) = (page.start_screenshot_check(), page.crash_changes());
        let resizing = page.state().casts().resizing();
        Ok(Self {
            page,
            session,
            events,
            check,
            dialog,
            chooser,
            crashed,
            taken: None,
            cast: None,
            resizing,
            settled_at: None,
            seen: None,
            ended: None,
        })
    }

    /// The tab's CDP target.
    #[must_use]
    pub fn target(&self) -> &TargetId {
        self.page.target()
    }

    /// Starts or restarts the frames, of at most this size.
    pub fn cast(&mut self, (width, height): (u32, u32)) {
        self.stop_cast();
        self.cast = Some(self.page.state().casts().enter());
        let params = json!({"format": "jpeg", "quality": QUALITY, "maxWidth": width, "maxHeight": height});
        self.session.post("Page.startScreencast", &params, SETUP_DEADLINE);
    }

    /// Stops the frames.
    pub fn stop_cast(&mut self) {
        (self.cast, self.ended) = (None, self.seen);
        self.session.post("Page.stopScreencast", &(), SETUP_DEADLINE);
    }

    /// Waits for the next event. Safe to cancel.
    pub async fn next(&mut self) -> LiveEvent {
        #[derive(Deserialize)]
        struct Visibility {
            visible: bool,
        }
        loop {
            let event = tokio::select! {
                event = self.events.next() => event,
                Ok(()) = self.dialog.changed() => return LiveEvent::Changed,
                Ok(()) = self.chooser.changed() => return LiveEvent::Changed,
                Ok(()) = self.crashed.changed() => return LiveEvent::Changed,
                Ok(()) = self.resizing.changed() => {
                    let is_over = *self.resizing.borrow_and_update() == 0;
                    self.settled_at = is_over.then(|| Instant::now() + SETTLE);
                    continue;
                }
                () = sleep_until(self.settled_at.unwrap_or_else(Instant::now)), if self.settled_at.is_some() => {
                    self.settled_at = None;
                    return LiveEvent::Restored;
                }
            };
            match event {
                Ok(event) if event.method() == "Page.screencastFrame" => return LiveEvent::Frame(event),
                Ok(event) if event.method() == "Page.frameNavigated" => {
                    if event
                        .to()
                        .is_ok_and(|FrameNavigated { frame }: FrameNavigated| frame.parent_id.is_none())
                    {
                        return LiveEvent::Navigated;
                    }
                }
                Ok(event) => {
                    if let Ok(Visibility { visible }) = event.to() {
                        return LiveEvent::Drawn(visible);
                    }
                }
                Err(CdpError::Missed { .. }) => {}
                Err(_) => return LiveEvent::Gone,
            }
        }
    }

    /// Decodes a frame; `Err` with Chrome's number for one that may not be shown.
    ///
    /// # Errors
    /// When the page has, or had a moment ago, a document that may not be read.
    pub async fn judge(&mut self, event: &Event) -> Result<LiveFrame, Option<i64>> {
        let frame: CastFrame = event.to().map_err(|_| None)?;
        let number = Some(frame.session_id);
        if self.ended == number {
            return Err(None);
        }
        self.seen = number;
        if !self.check.allows_next().await || self.is_resized() {
            return Err(number);
        }
        let jpeg = STANDARD.decode(&frame.data).map_err(|_| number)?;
        let metadata = frame.metadata;
        let size = (pixels(metadata.device_width), pixels(metadata.device_height));
        Ok(LiveFrame { jpeg, number, size, scale: metadata.page_scale_factor, time: metadata.timestamp })
    }

    /// Whether a capture changes the page's size, or did a moment ago.
    fn is_resized(&self) -> bool {
        self.settled_at.is_some()
            || *self.resizing.borrow() > 0
            || self.resizing.has_changed().unwrap_or_default()
    }

    /// Takes a screenshot as a frame, for a page that draws none. Fails when the page has a document that may not be read.
    pub fn still(
        &self,
        deadline: Deadline,
    ) -> impl Future<Output = Result<LiveFrame, Failure>> + Send + use<> {
        let page = self.page.clone();
        async move { page.still(deadline).await }
    }

    /// Tells Chrome that a frame was drawn. Chrome sends at most two frames that were not.
    pub fn acknowledge(&self, number: i64) {
        self.session.post("Page.screencastFrameAck", &json!({"sessionId": number}), SETUP_DEADLINE);
    }

    /// Whether the tab's process has crashed.
    #[must_use]
    pub fn is_crashed(&self) -> bool {
        self.page.is_crashed()
    }

    /// The open dialog.
    #[must_use]
    pub fn dialog(&self) -> Option<LiveDialog> {
        let open = self.dialog.borrow();
        let open = open.as_ref()?;
        let (kind, message) = (open.kind.clone(), open.message.clone());
        Some(LiveDialog { kind, message, default: open.default_prompt.clone() })
    }

    /// Whether the open file chooser takes several files; none if no chooser is open.
    #[must_use]
    pub fn chooser(&self) -> Option<bool> {
        self.chooser.borrow().as_ref().map(FileChooser::is_multiple)
    }

    /// Locks mouse and keyboard for the user. An action that sends input right now ends first, within a bound.
    pub async fn take_input(&mut self) {
        if self.taken.is_none() {
            self.taken = self.page.take_input(Deadline::after(TAKE_DEADLINE)).await;
        }
    }

    /// Gives mouse and keyboard back.
    pub fn give_input(&mut self) {
        self.taken = None;
        self.page.state().chooser_closed();
    }

    /// Passes on an input of the user.
    pub fn input(&self, input: &UserInput) {
        if let Some((method, params)) = input.command() {
            self.session.post(method, &params, SETUP_DEADLINE);
        }
    }

    /// Accepts or dismisses the open dialog.
    ///
    /// # Errors
    /// When the browser refuses.
    pub async fn answer_dialog(&mut self, accept: bool, text: Option<String>) -> Result<(), Failure> {
        let mut seen = self.page.state().dialog();
        let default = seen.borrow_and_update().as_ref().and_then(|open| open.default_prompt.clone());
        let mut params = json!({"accept": accept});
        if let Some(text) = text.or(default) {
            params["promptText"] = json!(text);
        }
        match self.session.send("Page.handleJavaScriptDialog", &params, SETUP_DEADLINE).await {
            // Another client closed the dialog first, which is the requested state.
            Ok(_) | Err(CdpError::Protocol { .. }) => {
                self.page.state().dialog_handled(&seen);
                Ok(())
            }
            Err(error) => Err(error.into_failure()),
        }
    }

    /// Gives files to the open file chooser. The user chose them, so no grant is needed.
    ///
    /// # Errors
    /// When no chooser of a file input is open, or the browser refuses.
    pub async fn choose_files(&mut self, files: &[PathBuf]) -> Result<(), Failure> {
        let open = self.chooser.borrow().clone();
        let node = open.as_ref().and_then(|open| open.backend_node_id);
        let session = open.as_ref().and_then(|open| open.session.clone());
        let (Some(node), Some(session)) = (node, session) else {
            return Err(Failure::new(ErrorCode::NotActionable, "The page has no open file chooser."));
        };
        self.page.state().chooser_closed();
        let params = json!({"files": files, "backendNodeId": node});
        let given = session.send("DOM.setFileInputFiles", &params, SETUP_DEADLINE).await;
        given.map(drop).map_err(CdpError::into_failure)
    }

    /// Closes the open file chooser without files.
    pub fn cancel_chooser(&self) {
        self.page.state().chooser_closed();
    }

    /// Goes back, forward, or loads the page again. Does not wait.
    pub async fn steer(&self, steering: Steering) {
        let step = match steering {
            Steering::Reload => return self.session.post("Page.reload", &(), SETUP_DEADLINE),
            Steering::Back => -1_i64,
            Steering::Forward => 1,
        };
        let history = self.session.send("Page.getNavigationHistory", &(), SETUP_DEADLINE).await;
        let Ok(history) = history.and_then(|response| response.to::<Value>()) else { return };
        // CDP has no command for back and forward, and a script with `history.back()` waits behind an open
        // dialog.
        let wanted = history["currentIndex"].as_i64().and_then(|now| usize::try_from(now + step).ok());
        if let Some(entry) = wanted.and_then(|wanted| history["entries"].get(wanted)) {
            let params = json!({"entryId": entry["id"]});
            self.session.post("Page.navigateToHistoryEntry", &params, SETUP_DEADLINE);
        }
    }

    /// Ends the view.
    pub async fn end(mut self) {
        self.taken = None;
        self.stop_cast();
        // The tab may be gone.
        let _ = self.session.detach(SETUP_DEADLINE).await;
    }
}

fn pixels(length: f64) -> u16 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the value is clamped")]
    let pixels = length.clamp(0.0, f64::from(u16::MAX)) as u16;
    pixels
}

impl Page {
    /// A JPEG of the viewport as a live view shows it.
    async fn still(&self, deadline: Deadline) -> Result<LiveFrame, Failure> {
        let view = self.layout(deadline).await?.view;
        let params = json!({"format": "jpeg", "quality": QUALITY, "optimizeForSpeed": true});
        let jpeg = self.checked_image(&params, deadline).await?;
        Ok(LiveFrame {
            jpeg,
            number: None,
            size: (pixels(view.width), pixels(view.height)),
            scale: 1.0,
            time: 0.0,
        })
    }

    /// A WebP of the viewport. `width` shrinks it in the browser, which headed windows show as a flicker. A page with a
    /// live view keeps its size.
    async fn thumbnail(&self, width: Option<f64>, deadline: Deadline) -> Result<Vec<u8>, Failure> {
        let mut params = json!({"format": "webp", "quality": THUMBNAIL_QUALITY, "optimizeForSpeed": true});
        let mut resizing = None;
        if let Some(width) = width.filter(|_| !self.state().casts().is_cast()) {
            let view = self.layout(deadline).await?.view;
            let scale = (width / view.width.max(1.0)).min(1.0);
            params["clip"] =
                json!({"x": view.x, "y": view.y, "width": view.width, "height": view.height, "scale": scale});
            resizing = Some(self.state().casts().resize());
        }
        let image = self.checked_image(&params, deadline).await;
        drop(resizing);
        image
    }

    /// A screenshot of the viewport; fails when a document of the page may not be read.
    async fn checked_image(&self, params: &Value, deadline: Deadline) -> Result<Vec<u8>, Failure> {
        self.check_documents()?;
        let watch = self.start_screenshot_check();
        // A background tab produces no frames: about every second capture would hang (Chromium 156,
        // docs/cdp/background-tabs-and-screenshots.md).
        let tiny = self.start_tiny_cast(deadline);
        let response = self.command("Page.captureScreenshot", params, deadline).await;
        self.end_tiny_cast(tiny);
        let response = response?;
        watch.finish(deadline).await?;
        STANDARD.decode(response["data"].as_str().unwrap_or_default()).map_err(|error| {
            Failure::new(ErrorCode::CdpError, format!("The browser's image could not be decoded: {error}."))
        })
    }
}

impl crate::browser::Browser {
    /// A small WebP of a tab for lists of sessions.
    ///
    /// # Errors
    /// When the tab is gone or blocked, or has a document that may not be read.
    pub async fn thumbnail(
        &self,
        tab: tabwire_api::TabId,
        width: Option<f64>,
        deadline: Deadline,
    ) -> Result<Vec<u8>, Failure> {
        self.page(Some(tab)).await?.thumbnail(width, deadline).await
    }
}
