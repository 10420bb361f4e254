//! Takes screenshots.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure};
use tabwire_cdp::{CdpError, Deadline};

use crate::cdp::ResponseFuture;
use crate::input::element::Rectangle;
use crate::limits::SETUP_DEADLINE;
use crate::page::Page;

/// Longest side of a screenshot in pixels: the limit of graphics cards and browsers.
const SCREENSHOT_PIXELS: f64 = 16_384.0;

/// Longest side in CSS pixels of a screenshot that is shrunk afterwards. A larger one would be unreadable.
const SCREENSHOT_SHRUNK: f64 = 8_192.0;

/// Position of the viewport and sizes of viewport and page, in CSS pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Layout {
    /// The part of the page in view, in page coordinates.
    pub(crate) view: Rectangle,
    pub(crate) page_width: f64,
    pub(crate) page_height: f64,
    /// Longest side of a screenshot in CSS pixels.
    longest: f64,
}

impl Page {
    /// The position of the viewport.
    pub(crate) async fn layout(&self, deadline: Deadline) -> Result<Layout, Failure> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Metrics {
            css_visual_viewport: Viewport,
            css_content_size: Rectangle,
            /// In device pixels.
            content_size: Rectangle,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Viewport {
            page_x: f64,
            page_y: f64,
            client_width: f64,
            client_height: f64,
        }
        let response = self.command("Page.getLayoutMetrics", &json!({}), deadline).await?;
        let metrics: Metrics = serde_json::from_value(response).map_err(unreadable)?;
        let view = metrics.css_visual_viewport;
        let density = metrics.content_size.width / metrics.css_content_size.width;
        let density = if density.is_finite() { density.max(1.0) } else { 1.0 };
        Ok(Layout {
            view: Rectangle {
                x: view.page_x,
                y: view.page_y,
                width: view.client_width,
                height: view.client_height,
            },
            page_width: metrics.css_content_size.width,
            page_height: metrics.css_content_size.height,
            longest: (SCREENSHOT_PIXELS / density).floor(),
        })
    }

    /// A PNG of the viewport, or of a part of the page in page coordinates.
    ///
    /// In Chromium 156 every second screenshot of a background tab fails. It works while a screencast runs, even one
    /// of 16 pixels.
    pub(crate) async fn capture(
        &self,
        part: Option<Rectangle>,
        deadline: Deadline,
    ) -> Result<Vec<u8>, Failure> {
        #[derive(Deserialize)]
        struct CaptureResponse {
            data: String,
        }
        self.check_documents()?;
        let watch = self.start_screenshot_check();
        let mut params = json!({"format": "png"});
        if let Some(part) = part {
            // Otherwise Chrome cuts a clip that reaches below the viewport.
            params["captureBeyondViewport"] = json!(true);
            params["clip"] =
                json!({"x": part.x, "y": part.y, "width": part.width, "height": part.height, "scale": 1});
        }
        let resizing = part.map(|_| self.state().casts().resize());
        let mut tiny = self.start_tiny_cast(deadline);
        let captured = self.begin("Page.captureScreenshot", &params, deadline);
        let response = self
            .unless_blocked(async {
                // A page without a screencast may still give a screenshot.
                if let Some(started) = tiny.as_mut() {
                    let _ = started.await;
                }
                captured.await.map_err(CdpError::into_failure)
            })
            .await;
        self.end_tiny_cast(tiny);
        drop(resizing);
        let captured: CaptureResponse = serde_json::from_value(response?).map_err(unreadable)?;
        watch.finish(deadline).await?;
        STANDARD.decode(captured.data).map_err(unreadable)
    }
}

impl Page {
    /// Starts a screencast of 16 pixels, unless a live view has one: a browser behind an extension has one for all.
    pub(crate) fn start_tiny_cast(&self, deadline: Deadline) -> Option<ResponseFuture<Value, CdpError>> {
        let params = json!({"format": "jpeg", "quality": 1, "maxWidth": 16, "maxHeight": 16});
        (!self.state().casts().is_cast()).then(|| self.begin("Page.startScreencast", &params, deadline))
    }

    /// Ends it. Sent now; the response does not matter.
    pub(crate) fn end_tiny_cast(&self, started: Option<ResponseFuture<Value, CdpError>>) {
        if started.is_some() {
            drop(self.begin("Page.stopScreencast", &json!({}), SETUP_DEADLINE.into()));
        }
    }
}

impl Layout {
    /// The same for a screenshot that is shrunk afterwards.
    pub(crate) fn for_shrinking(mut self) -> Self {
        self.longest = self.longest.min(SCREENSHOT_SHRUNK);
        self
    }

    /// The whole page up to the size limit, and whether it was cut.
    pub(crate) fn whole(&self) -> (Rectangle, bool) {
        let width = self.page_width.clamp(1.0, self.longest);
        let height = self.page_height.clamp(1.0, self.longest);
        let is_cut = width < self.page_width || height < self.page_height;
        (Rectangle { x: 0.0, y: 0.0, width, height }, is_cut)
    }

    /// A part of the viewport in page coordinates, rounded to whole pixels and cut to the size limit.
    pub(crate) fn on_page(&self, part: Rectangle) -> (Rectangle, bool) {
        let (left, top) = ((part.x + self.view.x).floor().max(0.0), (part.y + self.view.y).floor().max(0.0));
        let right = (part.x + part.width + self.view.x).ceil();
        let bottom = (part.y + part.height + self.view.y).ceil();
        let (width, height) = ((right - left).max(1.0), (bottom - top).max(1.0));
        let is_cut = width > self.longest || height > self.longest;
        let part =
            Rectangle { x: left, y: top, width: width.min(self.longest), height: height.min(self.longest) };
        (part, is_cut)
    }
}

fn unreadable(error: impl std::fmt::Display) -> Failure {
    Failure::new(ErrorCode::CdpError, format!("The browser's screenshot could not be decoded: {error}."))
}

/// Reads a CDP stream to its end, up to a number of bytes.
pub(crate) async fn read_stream(
    page: &Page,
    handle: &str,
    most: usize,
    deadline: Deadline,
) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = loop {
        // A large response blocks the one connection for all tabs, about 30 ms for each MiB (Chromium 156).
        let params = json!({"handle": handle, "size": 1024 * 1024});
        let part: Value = match page.command("IO.read", &params, deadline).await {
            Ok(part) => part,
            Err(failure) => break Err(failure),
        };
        let data = part.get("data").and_then(Value::as_str).unwrap_or_default();
        if part.get("base64Encoded") == Some(&Value::Bool(true)) {
            match STANDARD.decode(data) {
                Ok(decoded) => bytes.extend(decoded),
                Err(error) => break Err(unreadable(error)),
            }
        } else {
            bytes.extend_from_slice(data.as_bytes());
        }
        if bytes.len() > most {
            break Err(Failure::new(ErrorCode::BadArgs, format!("It has more than {most} bytes."))
                .with_remedy("Request a part of it."));
        }
        if part.get("eof") == Some(&Value::Bool(true)) {
            break Ok(());
        }
    };
    // Chromium keeps the data of a stream until it is closed.
    drop(page.begin("IO.close", &json!({"handle": handle}), SETUP_DEADLINE.into()));
    read.map(|()| bytes)
}
