//! Judges input before it is sent: the frame under a point, and the frame that has the focus.
//!
//! The browser sends input to whatever is there. A frame that the policy does not allow to act on may lie under a
//! point of the page, or hold the focus. Pages in which every frame may be acted on are not asked anything.

use serde::Deserialize;
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure, FrameId};
use tabwire_cdp::{CdpError, Deadline};
use tabwire_policy::Capability;

use crate::cdp::CommandTarget;
use crate::frames::policy::site_of;
use crate::input::element::Point;
use crate::limits::FRAMES_DEEP;
use crate::page::Page;
use crate::snapshot::ElementKey;

/// Where keys go, as one document's agent tells.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum KeyTarget {
    /// That document, or one below it that it can read.
    Own,
    /// The frame in this element.
    Frame(ElementKey),
    /// One of the frames below, or an element that the agent cannot see.
    Unsure,
    /// Neither the document nor one below it has the focus.
    Nowhere,
}

impl Page {
    /// Fails when a capability is not allowed in a frame.
    pub(crate) fn check_frame(&self, frame: &FrameId, capability: Capability) -> Result<(), Failure> {
        let driver = self.session();
        let is_main = frame == self.main_frame();
        if driver.policy().is_idle() {
            return Ok(());
        }
        match driver.policy_url(frame) {
            // A page without a URL of the web is judged as a whole, before the action begins.
            Some(url) if is_main && !url.starts_with("http") => Ok(()),
            Some(url) => driver.policy().check(&url, capability),
            None => Ok(()),
        }
    }

    /// Frames other than the main one in which a capability is not allowed.
    pub(crate) fn frames_without(&self, capability: Capability) -> Vec<(FrameId, String)> {
        let driver = self.session();
        if driver.policy().is_idle() {
            return Vec::new();
        }
        let mut frames = driver.policy_urls();
        frames.retain(|(id, url)| id != self.main_frame() && !driver.policy().allows(url, capability));
        frames
    }

    /// Frames other than the main one in which input is not allowed, once every frame of the page is known.
    async fn frames_without_input(&self, deadline: Deadline) -> Result<Vec<(FrameId, String)>, Failure> {
        if self.session().policy().is_idle() {
            return Ok(Vec::new());
        }
        // A page that was just taken up does not know its frames yet, and one may just have come.
        self.session().wait_ready(deadline).await?;
        self.sync_events().await;
        Ok(self.frames_without(Capability::Act))
    }

    /// Fails when the frame under a point of the tab may not be acted on. To be asked right before input is sent.
    pub(crate) async fn check_point(&self, point: Point, deadline: Deadline) -> Result<(), Failure> {
        self.check_frame(self.main_frame(), Capability::Act)?;
        if self.frames_without_input(deadline).await?.is_empty() {
            return Ok(());
        }
        // The browser takes whole numbers here; input goes to fractions too.
        let whole = Point { x: point.x.floor(), y: point.y.floor() };
        self.check_whole_point(whole, deadline).await?;
        let next = Point { x: point.x.ceil(), y: point.y.ceil() };
        if next == whole { Ok(()) } else { self.check_whole_point(next, deadline).await }
    }

    async fn check_whole_point(&self, point: Point, deadline: Deadline) -> Result<(), Failure> {
        let (mut frame, mut point) = (self.main_frame().clone(), point);
        for _ in 0..FRAMES_DEEP {
            let hit = self.hit_frame(&frame, point, deadline).await?;
            self.check_frame(&hit.frame, Capability::Act)?;
            // Only a frame in a process of its own has to be asked further.
            let Some((inner, inside)) = hit.inner else { return Ok(()) };
            if !self.session().has_frame(&inner) {
                self.sync_events().await;
            }
            let url = self.session().policy_url(&inner).ok_or_else(changing)?;
            if !self.session().policy().allows(&url, Capability::Read) {
                return self.session().policy().check(&url, Capability::Act);
            }
            (frame, point) = (inner, inside);
        }
        Err(changing())
    }

    /// What is at a point of a frame's view, as the browser finds it: through shadow roots that are closed, and through
    /// frames in the same process.
    async fn hit_frame(&self, frame: &FrameId, point: Point, deadline: Deadline) -> Result<Hit, Failure> {
        let place = if frame == self.main_frame() {
            CommandTarget::Page
        } else {
            CommandTarget::Frame(frame.clone())
        };
        let layout: Layout = self.ask(&place, "Page.getLayoutMetrics", &json!({}), deadline).await?;
        let view = layout.css_layout_viewport;
        let at = json!({
            "x": whole(point.x + view.page_x), "y": whole(point.y + view.page_y),
            "includeUserAgentShadowDOM": true,
        });
        let node: Result<Location, CdpError> =
            self.try_ask(&place, "DOM.getNodeForLocation", &at, deadline).await?;
        let node = match node {
            Ok(node) => node,
            // Outside of the view.
            Err(CdpError::Protocol { message, .. }) if message.contains("No node found") => {
                return Ok(Hit { frame: frame.clone(), inner: None });
            }
            Err(error) => return Err(self.session().failure(error)),
        };
        let found = node.frame_id.unwrap_or_else(|| frame.clone());
        let named = json!({"backendNodeId": node.backend_node_id});
        let described: Described = self.ask(&place, "DOM.describeNode", &named, deadline).await?;
        let Some(inner) = described.node.frame_id.filter(|inner| *inner != found) else {
            return Ok(Hit { frame: found, inner: None });
        };
        let boxes: BoxModel = self.ask(&place, "DOM.getBoxModel", &named, deadline).await?;
        Ok(Hit { frame: found, inner: Some((inner, boxes.model.inside(point))) })
    }

    async fn ask<T: serde::de::DeserializeOwned>(
        &self,
        place: &CommandTarget,
        method: &'static str,
        params: &Value,
        deadline: Deadline,
    ) -> Result<T, Failure> {
        let response = self.try_ask(place, method, params, deadline).await?;
        response.map_err(|error| self.session().failure(error))
    }

    async fn try_ask<T: serde::de::DeserializeOwned>(
        &self,
        place: &CommandTarget,
        method: &'static str,
        params: &Value,
        deadline: Deadline,
    ) -> Result<Result<T, CdpError>, Failure> {
        let response = self.begin_on(place, method, params, deadline);
        let response = self.unless_blocked(async { Ok(response.await) }).await?;
        Ok(match response {
            Ok(value) => Ok(serde_json::from_value(value).map_err(|error| {
                Failure::new(ErrorCode::CdpError, format!("The browser's answer to {method}: {error}."))
            })?),
            Err(error) => Err(error),
        })
    }

    /// Fails when the frame that has the focus may not be acted on. To be asked right before keys are sent.
    pub(crate) async fn check_focus(&self, deadline: Deadline) -> Result<(), Failure> {
        self.check_frame(self.main_frame(), Capability::Act)?;
        let refused = self.frames_without_input(deadline).await?;
        if refused.is_empty() {
            return Ok(());
        }
        let mut frame = self.main_frame().clone();
        for _ in 0..FRAMES_DEEP {
            match self.call_in(&frame, "keyboardFrame", &json!({}), deadline).await? {
                KeyTarget::Own => return self.check_frame(&frame, Capability::Act),
                KeyTarget::Unsure | KeyTarget::Nowhere => {
                    return self.check_focus_below(&frame, &refused, deadline).await;
                }
                KeyTarget::Frame(key) => {
                    let held = self.session().content_frame(&frame, key, deadline);
                    let held = self.unless_blocked(held).await?.ok_or_else(changing)?;
                    let url = self.session().policy_url(&held).ok_or_else(changing)?;
                    if !self.session().policy().allows(&url, Capability::Read) {
                        return self.session().policy().check(&url, Capability::Act);
                    }
                    frame = held;
                }
            }
        }
        Err(changing())
    }

    /// Judges the focus where the document above cannot tell which frame has it: a frame that has it says so, and one
    /// that may not be asked counts as having it.
    async fn check_focus_below(
        &self,
        above: &FrameId,
        refused: &[(FrameId, String)],
        deadline: Deadline,
    ) -> Result<(), Failure> {
        for frame in self.frames_below(above) {
            let has_focus = self.call_in::<bool>(&frame.id, "hasFocus", &json!({}), deadline).await;
            if has_focus.unwrap_or(false) {
                return Box::pin(self.check_focus_in(&frame.id, refused, deadline)).await;
            }
        }
        match refused.first() {
            Some((_, url)) => {
                let mut failure = match self.session().policy().check(url, Capability::Act) {
                    Ok(()) => return Ok(()),
                    Err(failure) => failure,
                };
                let site = site_of(url);
                failure.message = format!(
                    "A frame of {site} may have the focus, and keys would go to it. {}",
                    failure.message
                );
                Err(failure)
            }
            None => self.check_frame(above, Capability::Act),
        }
    }

    async fn check_focus_in(
        &self,
        frame: &FrameId,
        refused: &[(FrameId, String)],
        deadline: Deadline,
    ) -> Result<(), Failure> {
        match self.call_in(frame, "keyboardFrame", &json!({}), deadline).await? {
            KeyTarget::Own | KeyTarget::Nowhere => self.check_frame(frame, Capability::Act),
            KeyTarget::Frame(_) | KeyTarget::Unsure => self.check_focus_below(frame, refused, deadline).await,
        }
    }
}

/// What is at a point.
struct Hit {
    /// The frame whose document it is in.
    frame: FrameId,
    /// The frame in another process that it holds, and the point inside of that.
    inner: Option<(FrameId, Point)>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Layout {
    css_layout_viewport: View,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct View {
    page_x: f64,
    page_y: f64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    backend_node_id: i64,
    frame_id: Option<FrameId>,
}

#[derive(Deserialize)]
struct Described {
    node: DescribedNode,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DescribedNode {
    frame_id: Option<FrameId>,
}

#[derive(Deserialize)]
struct BoxModel {
    model: Boxes,
}

/// The corners of an element, inside and outside of its border, clockwise from the top left; and its size as it would
/// be without transformations.
#[derive(Deserialize)]
struct Boxes {
    content: [f64; 8],
    border: [f64; 8],
    width: f64,
    height: f64,
}

impl Boxes {
    /// A point of the view, as the document inside counts it.
    fn inside(&self, point: Point) -> Point {
        let [left, top, ..] = self.content;
        let [x0, y0, x1, y1, _, _, x3, y3] = self.border;
        let scale = |shown: f64, whole: f64| if shown > 0.0 && whole > 0.0 { shown / whole } else { 1.0 };
        let across = scale((x1 - x0).hypot(y1 - y0), self.width);
        let down = scale((x3 - x0).hypot(y3 - y0), self.height);
        Point { x: ((point.x - left) / across).max(0.0), y: ((point.y - top) / down).max(0.0) }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "clamped to what fits")]
fn whole(length: f64) -> i64 {
    length.round().clamp(0.0, 1e9) as i64
}

fn changing() -> Failure {
    Failure::new(ErrorCode::NotActionable, "The page's frames changed before the input was sent.")
        .with_remedy("Nothing was sent. Take a new `tabwire snapshot` and try again.")
}
