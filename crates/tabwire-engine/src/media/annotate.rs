//! The elements that are labelled with refs in a screenshot.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tabwire_api::{ErrorCode, Failure, FrameId};
use tabwire_cdp::Deadline;

use crate::frames::tree::Frame;
use crate::input::element::Rectangle;
use crate::page::Page;
use crate::snapshot::{DocumentName, ElementKey, PageText};

/// An element labelled in a screenshot.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Annotation {
    /// Its ref, which is the label.
    #[serde(rename = "ref")]
    pub label: String,
    /// Its role.
    pub role: String,
    /// Its name.
    pub name: String,
    /// Its box in the tab, in CSS pixels.
    #[serde(rename = "box")]
    pub rectangle: Rectangle,
}

#[derive(Deserialize)]
struct MarkedElements {
    document: DocumentName,
    marks: Vec<MarkedElement>,
}

#[derive(Deserialize)]
struct MarkedElement {
    key: ElementKey,
    role: PageText,
    name: PageText,
    #[serde(rename = "box")]
    rectangle: Rectangle,
}

/// Maps points of a frame to the tab.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Offset {
    x: f64,
    y: f64,
    scale_x: f64,
    scale_y: f64,
}

impl Offset {
    const NONE: Self = Self { x: 0.0, y: 0.0, scale_x: 1.0, scale_y: 1.0 };

    /// A rectangle of the frame in the tab.
    pub(crate) fn apply(self, inner: Rectangle) -> Rectangle {
        Rectangle {
            x: self.x + inner.x * self.scale_x,
            y: self.y + inner.y * self.scale_y,
            width: inner.width * self.scale_x,
            height: inner.height * self.scale_y,
        }
    }

    fn within(self, outer: Self) -> Self {
        Self {
            x: outer.x + self.x * outer.scale_x,
            y: outer.y + self.y * outer.scale_y,
            scale_x: self.scale_x * outer.scale_x,
            scale_y: self.scale_y * outer.scale_y,
        }
    }
}

impl Page {
    /// The interactive elements in the viewport, or in an area of it, in all frames.
    pub(crate) async fn annotations(
        &self,
        area: Option<Rectangle>,
        deadline: Deadline,
    ) -> Result<Vec<Annotation>, Failure> {
        let mut annotations = Vec::new();
        let argument = area.map_or(json!({}), |area| json!({"area": area}));
        let main: MarkedElements = self.call("marks", &argument, deadline).await?;
        let main_frame = self.main_frame().clone();
        self.add_annotations(&main_frame, main, Offset::NONE, &mut annotations);
        let frames = self.session().readable_roots();
        for frame in frames.iter().filter(|frame| frame.parent.is_some()) {
            match self.frame_annotations(frame, &frames, &mut annotations, deadline).await {
                Err(failure) if failure.code == ErrorCode::DialogOpen => return Err(failure),
                // A frame that went away or is not shown has nothing to label.
                _ => {}
            }
        }
        let bounds = area;
        annotations.retain(|one| bounds.is_none_or(|area| meets(&one.rectangle, &area)));
        Ok(annotations)
    }

    async fn frame_annotations(
        &self,
        frame: &Frame,
        frames: &[Frame],
        annotations: &mut Vec<Annotation>,
        deadline: Deadline,
    ) -> Result<(), Failure> {
        let offset = self.frame_offset(frame, frames, deadline).await?;
        let marked: MarkedElements = self.call_in(&frame.id, "marks", &json!({}), deadline).await?;
        self.add_annotations(&frame.id, marked, offset, annotations);
        Ok(())
    }

    /// The mapping of a frame's points to the tab.
    pub(crate) async fn frame_offset(
        &self,
        frame: &Frame,
        frames: &[Frame],
        deadline: Deadline,
    ) -> Result<Offset, Failure> {
        let mut offset = Offset::NONE;
        let mut at = Some(frame);
        while let Some((inner, parent)) = at.and_then(|inner| Some((inner, inner.parent.as_ref()?))) {
            self.unless_blocked(self.session().register_frame_owner(inner, deadline)).await?;
            let outer: Offset =
                self.call_in(parent, "frameBox", &json!({"frame": inner.id}), deadline).await?;
            offset = offset.within(outer);
            at = frames.iter().find(|frame| frame.id == *parent);
        }
        Ok(offset)
    }

    fn add_annotations(
        &self,
        frame: &FrameId,
        marked: MarkedElements,
        offset: Offset,
        annotations: &mut Vec<Annotation>,
    ) {
        annotations.extend(marked.marks.into_iter().map(|mark| Annotation {
            label: self.mint(frame, &marked.document, mark.key).to_string(),
            role: mark.role.as_str().to_owned(),
            name: mark.name.as_str().to_owned(),
            rectangle: offset.apply(mark.rectangle),
        }));
    }
}

fn meets(one: &Rectangle, other: &Rectangle) -> bool {
    one.x < other.x + other.width
        && other.x < one.x + one.width
        && one.y < other.y + other.height
        && other.y < one.y + one.height
}
