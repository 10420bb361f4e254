//! The frames in one target's own process, with their URLs. Bounded.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// Frames of one target whose URLs are known; a page with more cannot be checked, and its content is refused.
const FRAMES_PER_PAGE: usize = 4_096;

/// Characters of a frame's URL that are kept: longer than any path in a grant.
const FRAME_URL_LETTERS: usize = 2_048;

/// The URL scheme of Chromium's error pages.
const ERROR_PAGE: &str = "chrome-error:";

/// Whether the frames of a target are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum FramesState {
    /// The frame tree was not requested.
    #[default]
    NotRequested,
    /// The frame tree is requested.
    Requested,
    /// They are known.
    Known,
    /// There are more than the limit.
    TooMany,
    /// The browser returned no frame tree.
    Failed,
}

#[derive(Clone, Debug)]
struct FrameEntry {
    parent: Option<String>,
    url: Box<str>,
}

/// The frames of one target.
#[derive(Clone, Debug, Default)]
pub(crate) struct PageFrames {
    pub(crate) state: FramesState,
    frames: BTreeMap<String, FrameEntry>,
    /// Frames that moved to another process.
    remote: BTreeSet<String>,
}

impl PageFrames {
    /// Records the result of `Page.getFrameTree`.
    pub(crate) fn learn_tree(&mut self, tree: &Value) {
        self.frames.clear();
        self.state = FramesState::Known;
        let mut left = vec![tree];
        while let Some(tree) = left.pop() {
            if let Some(frame) = tree.get("frame") {
                self.put(frame);
            }
            left.extend(tree.get("childFrames").and_then(Value::as_array).into_iter().flatten());
        }
    }

    /// A frame was attached; until it navigates, its parent decides its content.
    pub(crate) fn attached(&mut self, frame: &str, parent: Option<&str>) {
        self.remote.remove(frame);
        self.insert(frame, FrameEntry { parent: parent.map(str::to_owned), url: "".into() });
    }

    /// A frame shows a new document, which has no frames yet. Returns the document's URL.
    pub(crate) fn navigated(&mut self, frame: &Value) -> Option<Box<str>> {
        let id = frame.get("id").and_then(Value::as_str)?;
        self.forget_below(id);
        self.put(frame)
    }

    /// A document has changed its URL without loading.
    pub(crate) fn moved(&mut self, frame: &str, url: &str) {
        if let Some(entry) = self.frames.get_mut(frame) {
            entry.url = kept_url(url);
        }
    }

    /// A frame was detached, or moved to another process.
    pub(crate) fn detached(&mut self, frame: &str, is_swap: bool) {
        self.forget_below(frame);
        self.frames.remove(frame);
        if is_swap && self.remote.len() < FRAMES_PER_PAGE {
            self.remote.insert(frame.to_owned());
        } else {
            self.remote.remove(frame);
        }
    }

    /// Frames that are in other processes.
    pub(crate) fn remote(&self) -> impl Iterator<Item = &str> {
        self.remote.iter().map(String::as_str)
    }

    /// The parent of a frame.
    pub(crate) fn parent(&self, frame: &str) -> Option<&str> {
        self.frames.get(frame)?.parent.as_deref()
    }

    /// The URL that a frame is checked by: its own, or its parent's if the frame has no document of its own.
    /// Empty when that is the target's own URL.
    pub(crate) fn address(&self, frame: &str) -> Option<&str> {
        let mut entry = self.frames.get(frame)?;
        // The bound ends a cycle, which a broken browser could announce.
        for _ in 0..self.frames.len() {
            if !is_blank(&entry.url) {
                return Some(&entry.url);
            }
            match entry.parent.as_ref().and_then(|parent| self.frames.get(parent)) {
                Some(parent) => entry = parent,
                None => return Some(""),
            }
        }
        Some("")
    }

    /// The URLs that the frames are checked by, without frames that have no document of their own.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = &str> {
        self.frames.values().map(|entry| &*entry.url).filter(|url| !is_blank(url))
    }

    fn put(&mut self, frame: &Value) -> Option<Box<str>> {
        let text = |field: &str| frame.get(field).and_then(Value::as_str);
        let id = text("id")?;
        let shown = text("url").unwrap_or_default();
        // An error page names the document that could not be loaded.
        let url = if shown.starts_with(ERROR_PAGE) { text("unreachableUrl").unwrap_or(shown) } else { shown };
        let url = kept_url(url);
        self.remote.remove(id);
        self.insert(id, FrameEntry { parent: text("parentId").map(str::to_owned), url: url.clone() });
        Some(url)
    }

    fn insert(&mut self, id: &str, entry: FrameEntry) {
        if self.frames.len() >= FRAMES_PER_PAGE && !self.frames.contains_key(id) {
            self.state = FramesState::TooMany;
            return;
        }
        self.frames.insert(id.to_owned(), entry);
    }

    fn forget_below(&mut self, frame: &str) {
        let mut above = vec![frame.to_owned()];
        while let Some(parent) = above.pop() {
            let is_child = |entry: &FrameEntry| entry.parent.as_deref() == Some(parent.as_str());
            let children: Vec<String> =
                self.frames.iter().filter(|(_, entry)| is_child(entry)).map(|(id, _)| id.clone()).collect();
            for child in children {
                self.frames.remove(&child);
                above.push(child);
            }
        }
    }
}

/// Whether a frame has no document of its own: its parent writes its content.
pub(crate) fn is_blank(url: &str) -> bool {
    url.is_empty() || url.starts_with("about:")
}

/// The part of a URL that is checked, bounded: without the query and without the text of `data:` URLs.
pub(crate) fn kept_url(url: &str) -> Box<str> {
    if url.starts_with("data:") {
        return "data:".into();
    }
    let end = url.find(['?', '#']).unwrap_or(url.len()).min(FRAME_URL_LETTERS);
    let end = (0..=end).rev().find(|end| url.is_char_boundary(*end)).unwrap_or(0);
    url.get(..end).unwrap_or_default().into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn frame(id: &str, parent: Option<&str>, url: &str) -> Value {
        json!({"id": id, "parentId": parent, "url": url})
    }

    fn page() -> PageFrames {
        let mut frames = PageFrames::default();
        frames.learn_tree(&json!({
            "frame": frame("p", None, "https://a.test/x?token"),
            "childFrames": [
                {"frame": frame("v", Some("p"), "https://v.a.test/"),
                 "childFrames": [{"frame": frame("s", Some("v"), "about:srcdoc")}]},
                {"frame": frame("e", Some("p"), "about:blank")},
            ],
        }));
        frames
    }

    #[test]
    fn frame_without_a_document_has_its_parents_url() {
        let frames = page();
        assert_eq!(frames.state, FramesState::Known);
        let url = |id: &str| frames.address(id).map(str::to_owned);
        assert_eq!(url("s").as_deref(), Some("https://v.a.test/"));
        assert_eq!(url("e").as_deref(), Some("https://a.test/x"));
        assert_eq!(url("?"), None);
        assert_eq!(frames.addresses().collect::<Vec<_>>(), ["https://a.test/x", "https://v.a.test/"]);
    }

    #[test]
    fn new_document_removes_frames_of_the_previous_one() {
        let mut frames = page();
        frames.attached("n", Some("p"));
        assert_eq!(frames.address("n"), Some("https://a.test/x"));
        frames.navigated(&frame("n", Some("p"), "https://n.test/"));
        frames.detached("n", true);
        assert_eq!(frames.remote().collect::<Vec<_>>(), ["n"]);
        frames.navigated(&frame("v", Some("p"), "https://a.test/y"));
        assert!(frames.address("s").is_none() && frames.address("v").is_some());
        frames.navigated(&frame("p", None, "https://a.test/z"));
        assert_eq!(frames.addresses().collect::<Vec<_>>(), ["https://a.test/z"]);
        frames.moved("p", "https://a.test/w#x");
        assert_eq!(frames.address("p"), Some("https://a.test/w"));
    }

    #[test]
    fn error_pages_use_the_unreachable_url_and_long_urls_are_cut() {
        let mut frames = PageFrames::default();
        let error =
            json!({"id": "p", "url": "chrome-error://chromewebdata/", "unreachableUrl": "https://b.test/x"});
        assert_eq!(frames.navigated(&error).as_deref(), Some("https://b.test/x"));
        assert_eq!(&*kept_url("data:text/html,secret"), "data:");
        assert!(kept_url(&format!("https://a.test/{}", "é".repeat(9_000))).len() <= FRAME_URL_LETTERS);
    }

    #[test]
    fn frames_past_the_limit_are_not_known() {
        let mut frames = page();
        for number in 0..2 * FRAMES_PER_PAGE {
            frames.attached(&number.to_string(), Some("p"));
        }
        assert_eq!(frames.state, FramesState::TooMany);
    }
}
