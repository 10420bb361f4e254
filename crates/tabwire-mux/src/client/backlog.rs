//! Frames that a client sent before its root session was open.

use std::collections::VecDeque;

use bytes::BytesMut;

/// Bytes queued for a client whose browser-level CDP session is being opened.
const JOINING_QUEUE_BYTES: usize = 64 * 1024 * 1024;

/// Frames queued for a client whose browser-level CDP session is being opened.
const JOINING_QUEUE: usize = 1_024;

/// Queued frames, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    frames: VecDeque<BytesMut>,
    bytes: usize,
}

impl Backlog {
    /// Queues a frame; returns false when the queue is full.
    pub(crate) fn try_push(&mut self, frame: BytesMut) -> bool {
        let bytes = self.bytes.saturating_add(frame.len());
        if self.frames.len() >= JOINING_QUEUE || bytes > JOINING_QUEUE_BYTES {
            return false;
        }
        self.bytes = bytes;
        self.frames.push_back(frame);
        true
    }

    /// Removes and returns the oldest frame.
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
    fn backlog_is_bounded_by_frames_and_bytes() {
        let mut small = Backlog::default();
        let kept = (0..2 * JOINING_QUEUE).filter(|_| small.try_push(BytesMut::from("{}"))).count();
        assert_eq!(kept, JOINING_QUEUE);
        let mut large = Backlog::default();
        assert!(large.try_push(BytesMut::zeroed(JOINING_QUEUE_BYTES)));
        assert!(!large.try_push(BytesMut::from("{}")));
        assert!(large.take_next().is_some() && large.take_next().is_none());
        assert!(large.try_push(BytesMut::from("{}")));
    }
}
