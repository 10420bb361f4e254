//! The bounded queue of frames towards one client. Responses are never dropped.

use std::collections::VecDeque;

use bytes::BytesMut;

use crate::limits::QUEUE_HARD_BYTES;
use crate::output::FrameClass;

/// Frames queued towards one client above which it is disconnected.
const QUEUE_HARD_FRAMES: usize = 262_144;

/// Frames queued towards one client above which droppable events are dropped.
const QUEUE_SOFT_FRAMES: usize = 8_192;

/// Bytes queued towards one client above which droppable events are dropped.
const QUEUE_SOFT_BYTES: usize = 8 * 1024 * 1024;

/// Frames waiting to be written to one client.
#[derive(Debug, Default)]
pub struct ClientQueue {
    frames: VecDeque<BytesMut>,
    bytes: usize,
    dropped: u64,
    unreported: u64,
}

/// The result of a push.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Push {
    /// The frame waits to be written.
    Queued,
    /// The frame was dropped and counted.
    Dropped,
}

/// The client reads too slowly and must be disconnected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("BACKPRESSURE: the client reads too slowly: {frames} frames, {bytes} bytes are waiting for it")]
pub struct Overflow {
    /// Frames waiting.
    pub frames: usize,
    /// Bytes waiting.
    pub bytes: usize,
}

impl ClientQueue {
    /// Queues a frame, or drops a droppable frame when the client lags.
    ///
    /// # Errors
    /// When the hard bound is reached. An empty queue accepts a frame of any size.
    pub fn push(&mut self, frame: BytesMut, class: FrameClass) -> Result<Push, Overflow> {
        let lags = self.bytes > QUEUE_SOFT_BYTES || self.frames.len() > QUEUE_SOFT_FRAMES;
        if lags && class == FrameClass::Droppable {
            self.dropped += 1;
            self.unreported += 1;
            return Ok(Push::Dropped);
        }
        let full = self.bytes + frame.len() > QUEUE_HARD_BYTES || self.frames.len() >= QUEUE_HARD_FRAMES;
        if full && !self.frames.is_empty() {
            return Err(Overflow { frames: self.frames.len(), bytes: self.bytes });
        }
        self.bytes += frame.len();
        self.frames.push_back(frame);
        Ok(Push::Queued)
    }

    /// Takes the next frame. After dropped events, the first frame is the notice with their count.
    pub fn pop(&mut self) -> Option<BytesMut> {
        if self.unreported > 0 && self.bytes <= QUEUE_SOFT_BYTES / 2 {
            let count = std::mem::take(&mut self.unreported);
            let notice = format!(r#"{{"method":"Tabwire.eventsDropped","params":{{"count":{count}}}}}"#);
            return Some(BytesMut::from(notice.as_bytes()));
        }
        let frame = self.frames.pop_front()?;
        self.bytes -= frame.len();
        Some(frame)
    }

    /// Whether no frame waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty() && self.unreported == 0
    }

    /// Bytes waiting.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Events dropped so far.
    #[must_use]
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(size: usize) -> BytesMut {
        BytesMut::zeroed(size)
    }

    #[test]
    fn f13_slow_consumer_loses_events_not_responses() {
        let mut queue = ClientQueue::default();
        let mut kept = 0;
        for _ in 0..20_000 {
            if queue.push(frame(1_000), FrameClass::Droppable) == Ok(Push::Queued) {
                kept += 1;
            }
            assert_eq!(queue.push(frame(10), FrameClass::Response), Ok(Push::Queued));
        }
        assert!(kept < 20_000 && kept > 0);
        assert_eq!(queue.dropped(), 20_000 - kept);
        let mut popped = 0;
        let mut reported = 0;
        while let Some(frame) = queue.pop() {
            match serde_json::from_slice::<serde_json::Value>(&frame) {
                Ok(notice) => reported += notice["params"]["count"].as_u64().expect("a count"),
                Err(_) => popped += 1,
            }
        }
        assert_eq!((popped, reported), (20_000 + kept, 20_000 - kept));
        assert!(queue.is_empty() && queue.bytes() == 0);
    }

    #[test]
    fn f13_client_that_never_reads_is_disconnected_at_hard_bound() {
        let mut queue = ClientQueue::default();
        let mut pushed = 0;
        while queue.push(frame(1_000_000), FrameClass::Event).is_ok() {
            pushed += 1;
            assert!(pushed < 1_000, "the bound was never reached");
        }
        assert!(queue.bytes() <= QUEUE_HARD_BYTES);
    }

    #[test]
    fn one_frame_of_any_size_fits_an_empty_queue() {
        let mut queue = ClientQueue::default();
        assert_eq!(queue.push(frame(QUEUE_HARD_BYTES + 1), FrameClass::Response), Ok(Push::Queued));
    }
}
