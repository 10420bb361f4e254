//! Screenshots of a part of a page.
//!
//! Firefox cuts the part to the size of the root element. In a page without a doctype that element can be smaller than what
//! the page shows, down to no height at all, so such a part is taken from the viewport, which is made larger if needed.

use serde_json::{Value, json};

use crate::browser::{EmulatedBrowser, Reply};
use crate::protocol::message::{BidiError, number, text};
use crate::protocol::script_text::{LAYOUT, SCROLL_TO};

/// A part of a page, in CSS pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Clip {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

/// How a part is taken.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// As a part of the document.
    Document,
    /// As a part of what is in view, with this part of the viewport.
    View(Clip),
    /// As a part of a viewport with this size.
    Enlarged { width: u64, height: u64 },
}

impl Clip {
    pub(super) fn read(clip: &Value) -> Self {
        let part = |name: &str| number(clip, name).unwrap_or_default();
        Self { x: part("x"), y: part("y"), width: part("width"), height: part("height") }
    }

    pub(super) fn to_box(self) -> Value {
        json!({"type": "box", "x": self.x, "y": self.y, "width": self.width, "height": self.height})
    }

    /// Decides by the sizes of a page.
    fn way(self, sizes: &Value) -> Way {
        let part = |name: &str| number(sizes, name).unwrap_or_default();
        let (right, bottom) = (self.x + self.width, self.y + self.height);
        if right <= part("rootWidth") + 1.0 && bottom <= part("rootHeight") + 1.0 {
            return Way::Document;
        }
        let (left, top) = (self.x - part("x"), self.y - part("y"));
        let is_in_view = left >= 0.0
            && top >= 0.0
            && left + self.width <= part("outerWidth")
            && top + self.height <= part("outerHeight");
        if is_in_view {
            return Way::View(Self { x: left, y: top, ..self });
        }
        // Without a vertical scroll bar the page keeps its width.
        let width = whole(part("width").max(right));
        Way::Enlarged { width, height: whole(part("outerHeight").max(bottom)) }
    }
}

/// A size in whole pixels, upwards.
fn whole(size: f64) -> u64 {
    format!("{:.0}", size.ceil().max(1.0)).parse().unwrap_or(1)
}

impl EmulatedBrowser {
    pub(super) fn capture_clip(&mut self, tab: &str, clip: Clip, format: Value, reply: Reply) {
        let id = tab.to_owned();
        self.call_own(tab, LAYOUT, &json!([]), move |browser, outcome| {
            let sizes = outcome.unwrap_or_default();
            let sizes: Value = serde_json::from_str(text(&sizes, "value")).unwrap_or_default();
            let respond = |browser: &mut Self, outcome| browser.respond_captured(reply, outcome);
            // A page that runs no scripts has no sizes.
            let way = if sizes.is_object() { clip.way(&sizes) } else { Way::Document };
            match way {
                Way::Document => browser.capture(&id, "document", Some(clip), &format, respond),
                Way::View(part) => browser.capture(&id, "viewport", Some(part), &format, respond),
                Way::Enlarged { width, height } => {
                    let larger = json!({"width": width, "height": height});
                    browser.capture_enlarged(&id, larger, clip, format, &sizes, respond);
                }
            }
        });
    }

    /// Makes the viewport as large as the part, takes the picture, and restores size and position.
    fn capture_enlarged(
        &mut self,
        tab: &str,
        larger: Value,
        clip: Clip,
        format: Value,
        sizes: &Value,
        then: impl FnOnce(&mut Self, Result<Value, BidiError>) + Send + 'static,
    ) {
        let place = |name: &str| json!({"type": "number", "value": number(sizes, name).unwrap_or_default()});
        let back = json!([place("x"), place("y")]);
        let id = tab.to_owned();
        let restore = move |browser: &mut Self, outcome: Result<Value, BidiError>| {
            let former = browser.contexts.find(&id).and_then(|context| context.viewport.clone());
            let restored = json!({"context": id, "viewport": former});
            browser.post("browsingContext.setViewport", restored);
            browser.call_own(&id, SCROLL_TO, &back, move |browser, _| then(browser, outcome));
        };
        let id = tab.to_owned();
        let resized = move |browser: &mut Self, outcome: Result<Value, BidiError>| {
            if let Err(error) = outcome {
                return restore(browser, Err(error));
            }
            let start = json!([{"type": "number", "value": 0}, {"type": "number", "value": 0}]);
            let document = id.clone();
            browser.call_own(&id, SCROLL_TO, &start, move |browser, _| {
                browser.capture(&document, "viewport", Some(clip), &format, restore);
            });
        };
        let resize = json!({"context": tab, "viewport": larger});
        self.send_for(Some(tab), None, "browsingContext.setViewport", resize, Box::new(resized));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_outside_of_the_root_is_taken_from_the_viewport() {
        let sizes = json!({
            "rootWidth": 800, "rootHeight": 0, "x": 0, "y": 500, "width": 788, "outerWidth": 800,
            "outerHeight": 600,
        });
        let clip = |y: f64, height: f64| Clip { x: 20.0, y, width: 100.0, height };
        assert_eq!(clip(510.0, 50.0).way(&sizes), Way::View(clip(10.0, 50.0)));
        assert_eq!(clip(30.0, 50.0).way(&sizes), Way::Enlarged { width: 788, height: 600 });
        assert_eq!(clip(0.0, 3060.0).way(&sizes), Way::Enlarged { width: 788, height: 3060 });
        let sizes = json!({"rootWidth": 800, "rootHeight": 3060});
        assert_eq!(clip(0.0, 3060.0).way(&sizes), Way::Document);
    }
}
