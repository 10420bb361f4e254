//! Touch input as CDP events, which pages see as trusted.

use serde_json::{Value, json};
use tabwire_cdp::{CdpError, Deadline};

use crate::cdp::ResponseFuture;
use crate::input::element::Point;
use crate::page::Page;

impl Page {
    /// Taps a point.
    pub(crate) fn begin_tap(
        &self,
        point: Point,
        modifiers: u8,
        deadline: Deadline,
    ) -> Vec<ResponseFuture<Value, CdpError>> {
        let event = |kind: &str, points: Value| {
            let params = json!({"type": kind, "touchPoints": points, "modifiers": modifiers});
            self.begin("Input.dispatchTouchEvent", &params, deadline)
        };
        let finger = json!([{"x": point.x, "y": point.y, "radiusX": 1, "radiusY": 1, "force": 1, "id": 0}]);
        // CDP lists the fingers that are still down, so the end of a tap has none.
        vec![event("touchStart", finger), event("touchEnd", json!([]))]
    }
}
