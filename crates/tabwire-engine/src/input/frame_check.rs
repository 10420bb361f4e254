//! Checks input against the policy before it is sent: the frame under a point, and the frame that has the focus.
//!
//! Chrome sends input to whatever frame is under the point or has the focus, and the policy may not allow input there.
//! Pages in which all frames allow input need no commands for this.

use serde::Deserialize;
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure, FrameId, Remedy, Step};
use tabwire_cdp::{CdpError, Deadline};
use tabwire_policy::Capability;

use crate::cdp::CommandTarget;
use crate::frames::policy::site_of;
use crate::input::element::Point;
use crate::page::Page;
use crate::snapshot::ElementKey;

/// Levels of nested frames that are followed to find the one that receives input.
const NESTED_FRAMES: usize = 32;

/// Where keys go, as the agent of one document reports.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum KeyTarget {
    /// The document itself, or a frame below that it can read.
    Own,
    /// The frame in this element.
    Frame(ElementKey),
    /// Possibly a frame below, or an element in a closed shadow root.
    Unsure,
    /// Neither the document nor a frame below has the focus.
    Nowhere,
}

impl Page {
    /// Fails when the policy does not allow a capability in a frame.
    pub(crate) fn check_frame(&self, frame: &FrameId, capability: Capability) -> Result<(), Failure> {
        let session = self.session();
        let is_main = frame == self.main_frame();
        if session.policy().is_idle() {
            return Ok(());
        }
        match session.policy_url(frame) {
            // The action checks a page that is not http or https as a whole before it starts.
            Some(url) if is_main && !url.starts_with("http") => Ok(()),
            Some(url) => session.policy().check(&url, capability),
            None => Ok(()),
        }
    }

    /// Frames other than the main one in which a capability is not allowed.
    pub(crate) fn frames_without(&self, capability: Capability) -> Vec<(FrameId, String)> {
        let session = self.session();
        if session.policy().is_idle() {
            return Vec::new();
        }
        let mut frames = session.policy_urls();
        frames.retain(|(id, url)| id != self.main_frame() && !session.policy().allows(url, capability));
        frames
    }

    /// Frames other than the main one in which input is not allowed, once every frame of the page is known.
    async fn frames_without_input(&self, deadline: Deadline) -> Result<Vec<(FrameId, String)>, Failure> {
        if self.session().policy().is_idle() {
            return Ok(Vec::new());
        }
        // A page that was just attached does not know its frames yet, and a new frame's event may be unread.
        self.session().wait_ready(deadline).await?;
        self.sync_events().await;
        Ok(self.frames_without(Capability::Act))
    }

    /// Fails when the policy allows no input in the frame under a point of the tab. Call it right before the input.
    pub(crate) async fn check_point(&self, point: Point, deadline: Deadline) -> Result<(), Failure> {
        self.check_frame(self.main_frame(), Capability::Act)?;
        if self.frames_without_input(deadline).await?.is_empty() {
            return Ok(());
        }
        // `DOM.getNodeForLocation` takes integers, but input may have fractions: check the points on both sides.
        let whole = Point { x: point.x.floor(), y: point.y.floor() };
        self.check_whole_point(whole, deadline).await?;
        let next = Point { x: point.x.ceil(), y: point.y.ceil() };
        if next == whole { Ok(()) } else { self.check_whole_point(next, deadline).await }
    }

    async fn check_whole_point(&self, point: Point, deadline: Deadline) -> Result<(), Failure> {
        let (mut frame, mut point) = (self.main_frame().clone(), point);
        for _ in 0..NESTED_FRAMES {
            let hit = self.hit_frame(&frame, point, deadline).await?;
            self.check_frame(&hit.frame, Capability::Act)?;
            // Only a frame in another process needs a further query.
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

    /// The frame at a point of a frame's viewport. Chrome's hit test sees through closed shadow roots and frames of the
    /// same process.
    async fn hit_frame(
        &self,
        frame: &FrameId,
        point: Point,
        deadline: Deadline,
    ) -> Result<FrameAtPoint, Failure> {
        let place = if frame == self.main_frame() {
            CommandTarget::Page
        } else {
            CommandTarget::Frame(frame.clone())
        };
        // `DOM.getNodeForLocation` takes integers in coordinates of the document, input events take those of the
        // viewport.
        let layout: Layout = self.query(&place, "Page.getLayoutMetrics", &json!({}), deadline).await?;
        let view = layout.css_layout_viewport;
        let at = json!({
            "x": whole(point.x + view.page_x), "y": whole(point.y + view.page_y),
            "includeUserAgentShadowDOM": true,
        });
        let node: Result<Location, CdpError> =
            self.try_query(&place, "DOM.getNodeForLocation", &at, deadline).await?;
        let node = match node {
            Ok(node) => node,
            // The point is outside the viewport.
            Err(CdpError::Protocol { message, .. }) if message.contains("No node found") => {
                return Ok(FrameAtPoint { frame: frame.clone(), inner: None });
            }
            Err(error) => return Err(self.session().failure(error)),
        };
        let found = node.frame_id.unwrap_or_else(|| frame.clone());
        let named = json!({"backendNodeId": node.backend_node_id});
        let described: DescribeNodeResponse =
            self.query(&place, "DOM.describeNode", &named, deadline).await?;
        // An element that embeds a frame of another process has that frame's id; the hit test does not enter it.
        let Some(inner) = described.node.frame_id.filter(|inner| *inner != found) else {
            return Ok(FrameAtPoint { frame: found, inner: None });
        };
        let boxes: BoxModel = self.query(&place, "DOM.getBoxModel", &named, deadline).await?;
        Ok(FrameAtPoint { frame: found, inner: Some((inner, boxes.model.inside(point))) })
    }

    async fn query<T: serde::de::DeserializeOwned>(
        &self,
        place: &CommandTarget,
        method: &'static str,
        params: &Value,
        deadline: Deadline,
    ) -> Result<T, Failure> {
        let response = self.try_query(place, method, params, deadline).await?;
        response.map_err(|error| self.session().failure(error))
    }

    async fn try_query<T: serde::de::DeserializeOwned>(
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
                Failure::new(ErrorCode::CdpError, format!("Unexpected response to {method}: {error}."))
            })?),
            Err(error) => Err(error),
        })
    }

    /// Fails when the policy does not allow input in the focused frame. Call it right before keys are sent.
    pub(crate) async fn check_focus(&self, deadline: Deadline) -> Result<(), Failure> {
        self.check_frame(self.main_frame(), Capability::Act)?;
        let refused = self.frames_without_input(deadline).await?;
        if refused.is_empty() {
            return Ok(());
        }
        let mut frame = self.main_frame().clone();
        for _ in 0..NESTED_FRAMES {
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

    /// Checks the focus when the document above cannot determine which frame has it: queries each frame, and assumes
    /// that a frame that may not be queried has it.
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

/// The frame at a point.
struct FrameAtPoint {
    /// The frame of the element at the point.
    frame: FrameId,
    /// The frame in another process that the element embeds, and the point in its coordinates.
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
struct DescribeNodeResponse {
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

/// A `DOM.BoxModel`: corners clockwise from the top left, and the size without transformations.
#[derive(Deserialize)]
struct Boxes {
    content: [f64; 8],
    border: [f64; 8],
    width: f64,
    height: f64,
}

impl Boxes {
    /// A point of the viewport in coordinates of the embedded document.
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
        .with_remedy(Remedy::new(
            "Nothing was sent. Take a new {} and try again.",
            [Step::action("snapshot")],
        ))
}
