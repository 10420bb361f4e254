//! Where the latest action of a browser pointed, for the user's live view.

use std::time::Instant;

use schemars::JsonSchema;
use serde::Serialize;
use tabwire_api::{TabId, TargetId};
use tokio::sync::watch;

use super::Browser;
use crate::input::element::{Element, Point};
use crate::page::Page;

/// Longest name of an element in a mark, in characters.
const NAME_LENGTH: usize = 80;

/// Where an action pointed: the box of its element and the point in it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PointerMark {
    /// The tab.
    #[schemars(with = "String")]
    pub tab: TabId,
    /// Its CDP target id.
    #[serde(skip)]
    pub target: TargetId,
    /// When the action pointed there.
    #[serde(skip)]
    pub since: Instant,
    /// The point, in CSS pixels of the viewport.
    pub x: f64,
    /// The same from the top.
    pub y: f64,
    /// Left, top, width and height of the element. A point without an element has no width and height.
    pub rectangle: [f64; 4],
    /// The role of the element, as snapshots have it; empty without an element.
    pub role: String,
    /// The name of the element, as snapshots have it.
    pub name: String,
}

impl Browser {
    /// Follows where the latest action pointed.
    #[must_use]
    pub fn pointer_marks(&self) -> watch::Receiver<Option<PointerMark>> {
        self.mark.subscribe()
    }

    /// Records the element that an action uses now.
    pub(crate) fn mark_element(&self, page: &Page, element: &Element) {
        let (point, place) = (element.info.point, element.info.rectangle);
        self.mark.send_replace(Some(PointerMark {
            tab: self.tab_id(page),
            target: page.target().clone(),
            since: Instant::now(),
            x: point.x,
            y: point.y,
            rectangle: [place.x, place.y, place.width, place.height],
            role: element.info.role.clone(),
            name: element.info.name.chars().take(NAME_LENGTH).collect(),
        }));
    }

    /// Records the point that an action without an element uses now.
    pub(crate) fn mark_point(&self, page: &Page, point: Point) {
        self.mark.send_replace(Some(PointerMark {
            tab: self.tab_id(page),
            target: page.target().clone(),
            since: Instant::now(),
            x: point.x,
            y: point.y,
            rectangle: [point.x, point.y, 0.0, 0.0],
            role: String::new(),
            name: String::new(),
        }));
    }
}
