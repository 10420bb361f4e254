//! Frames of a page that are not looked into, though they are there. Who decides which is not known here.

use std::fmt;
use std::sync::Arc;

use tabwire_wire::FrameId;

use crate::driver::Frame;

/// Says of an address whether a frame that shows it may be looked into.
type Rule = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// Which frames are looked into; all, unless somebody says otherwise.
#[derive(Clone, Default)]
pub struct FrameVeil(Option<Rule>);

impl FrameVeil {
    /// A veil over frames whose address does not pass.
    pub fn new(may_look: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(may_look)))
    }

    /// The frames that may be looked into. The main one is always among them: whoever asks for a page has its reasons.
    pub(crate) fn over(&self, frames: Vec<Frame>) -> Vec<Frame> {
        let Some(may_look) = &self.0 else { return frames };
        if frames.len() < 2 {
            return frames;
        }
        // Parents come before children: what is in a frame that is not looked into is not looked into either.
        let mut seen: Vec<Frame> = Vec::new();
        for frame in &frames {
            let is_reached = |parent: &FrameId| seen.iter().any(|known| known.id == *parent);
            let is_open = |parent: &FrameId| is_reached(parent) && may_look(address_of(frame, &frames));
            if frame.parent.as_ref().is_none_or(is_open) {
                seen.push(frame.clone());
            }
        }
        seen
    }
}

impl fmt::Debug for FrameVeil {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.0.is_some() { "FrameVeil" } else { "no veil" })
    }
}

/// A frame's address, or that of the frame above when it has none of its own.
pub(crate) fn address_of<'a>(frame: &'a Frame, frames: &'a [Frame]) -> &'a str {
    let above = |id: &FrameId| frames.iter().find(|frame| frame.id == *id);
    let mut place = frame;
    // A tree of frames is not deeper than it has frames, whatever was told.
    for _ in 0..frames.len() {
        let is_empty = place.url.is_empty() || place.url.starts_with("about:");
        match place.parent.as_ref().and_then(above).filter(|_| is_empty) {
            Some(parent) => place = parent,
            None => break,
        }
    }
    &place.url
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(id: &str, parent: Option<&str>, url: &str) -> Frame {
        let parent = parent.map(FrameId::new);
        Frame { id: FrameId::new(id), holder: parent.clone(), parent, url: url.to_owned() }
    }

    #[test]
    fn an_empty_frame_is_veiled_as_the_one_it_is_in() {
        let frames = vec![
            frame("main", None, "https://bad.test/"),
            frame("a", Some("main"), "https://good.test/"),
            frame("b", Some("main"), "https://bad.test/x"),
            frame("c", Some("b"), "about:srcdoc"),
            frame("d", Some("a"), "about:blank"),
        ];
        let veil = FrameVeil::new(|url| url.starts_with("https://good.test/"));
        let seen: Vec<String> =
            veil.over(frames.clone()).into_iter().map(|frame| frame.id.to_string()).collect();
        assert_eq!(seen, ["main", "a", "d"]);
        assert_eq!(FrameVeil::default().over(frames).len(), 5);
    }
}
