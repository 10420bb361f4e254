//! Frames a client sent before it could be served.

use std::collections::VecDeque;

use bytes::BytesMut;

use crate::limits::{JOINING_QUEUE, JOINING_QUEUE_BYTES};

/// Kept frames, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    frames: VecDeque<BytesMut>,
    bytes: usize,
}

impl Backlog {
    /// Keeps a frame; says whether there was room for it.
    pub(crate) fn try_keep(&mut self, frame: BytesMut) -> bool {
        let bytes = self.bytes.saturating_add(frame.len());
        if self.frames.len() >= JOINING_QUEUE || bytes > JOINING_QUEUE_BYTES {
            return false;
        }
        self.bytes = bytes;
        self.frames.push_back(frame);
        true
    }

    /// Takes the oldest frame.
    pub(crate) fn take_next(&mut self) -> Option<BytesMut> {
        let frame = self.frames.pop_front()?;
        self.bytes -= frame.len();
        Some(frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_bounded_by_frames_and_by_bytes() {
        let mut small = Backlog::default();
        let kept = (0..2 * JOINING_QUEUE).filter(|_| small.try_keep(BytesMut::from("{}"))).count();
        assert_eq!(kept, JOINING_QUEUE);
        let mut large = Backlog::default();
        assert!(large.try_keep(BytesMut::zeroed(JOINING_QUEUE_BYTES)));
        assert!(!large.try_keep(BytesMut::from("{}")));
        assert!(large.take_next().is_some() && large.take_next().is_none());
        assert!(large.try_keep(BytesMut::from("{}")));
    }
}
