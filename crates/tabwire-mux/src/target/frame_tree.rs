//! The parent of each frame, from the events of clients' own sessions. Bounded.

use std::collections::BTreeMap;

use serde_json::Value;

/// Frames whose parent is remembered, to find the owner of a download.
const FRAMES_REMEMBERED: usize = 16_384;

/// Parents of frames that are not targets themselves.
#[derive(Debug, Default)]
pub(crate) struct FrameTree {
    parents: BTreeMap<String, String>,
}

impl FrameTree {
    /// Records `Page.frameAttached` and `Page.frameDetached`.
    pub(crate) fn learn(&mut self, method: &str, params: &Value) {
        let text = |field: &str| params.get(field).and_then(Value::as_str).map(str::to_owned);
        match (method, text("frameId"), text("parentFrameId")) {
            ("Page.frameAttached", Some(frame), Some(parent)) if self.parents.len() < FRAMES_REMEMBERED => {
                self.parents.insert(frame, parent);
            }
            ("Page.frameDetached", Some(frame), _) => {
                self.parents.remove(&frame);
            }
            _ => {}
        }
    }

    /// The outermost known ancestor of a frame.
    pub(crate) fn outermost<'a>(&'a self, frame: &'a str) -> &'a str {
        let mut outer = frame;
        // The bound ends a cycle, which a broken browser could announce.
        for _ in 0..self.parents.len() {
            match self.parents.get(outer) {
                Some(parent) => outer = parent,
                None => break,
            }
        }
        outer
    }

    /// A page is gone, and its frames with it.
    pub(crate) fn forget_page(&mut self, page: &str) {
        let inside: Vec<String> =
            self.parents.keys().filter(|frame| self.outermost(frame) == page).cloned().collect();
        for frame in inside {
            self.parents.remove(&frame);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn frames_resolve_to_their_page_and_are_removed_with_it() {
        let mut tree = FrameTree::default();
        for (frame, parent) in [("a", "page"), ("b", "a"), ("x", "other"), ("loop", "pool"), ("pool", "loop")]
        {
            tree.learn("Page.frameAttached", &json!({"frameId": frame, "parentFrameId": parent}));
        }
        assert_eq!((tree.outermost("b"), tree.outermost("page"), tree.outermost("?")), ("page", "page", "?"));
        let _ = tree.outermost("loop");
        tree.forget_page("page");
        assert_eq!((tree.outermost("b"), tree.outermost("x")), ("b", "other"));
        tree.learn("Page.frameDetached", &json!({"frameId": "x", "reason": "remove"}));
        assert_eq!(tree.outermost("x"), "x");
    }
}
