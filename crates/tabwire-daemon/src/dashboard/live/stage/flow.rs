//! The flow of frames to a page: two at a time, at most 24 a second, in order.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::BytesMut;
use tabwire_engine::LiveFrame;
use tokio::time::Instant;

use crate::dashboard::live::head::{Head, Kind};
use crate::dashboard::live::time_now;

/// Frames that the page has and has not drawn.
const IN_FLIGHT: usize = 2;

/// The shortest time between two frames: 24 a second.
const GAP: Duration = Duration::from_micros(41_667);

/// How long a frame that may not be shown holds back the next one.
const WITHHELD_GAP: Duration = Duration::from_millis(250);

/// Frames on their way. Chrome sends the next one after an acknowledgement, which follows when the page has drawn.
#[derive(Default)]
pub(super) struct FrameFlow {
    seq: u32,
    /// The time of the last frame.
    last: f64,
    /// Sent and not drawn: our number and Chrome's.
    sent: VecDeque<(u32, Option<i64>)>,
    /// A frame that the page is not ready for.
    waiting: Option<LiveFrame>,
    /// Acknowledgements and when they are due.
    due: VecDeque<(Instant, i64)>,
    /// When the next acknowledgement may be sent.
    free_at: Option<Instant>,
    /// Whether no frame of this screencast was sent since the last one that was withheld.
    is_blank: bool,
}

impl FrameFlow {
    /// Forgets all frames: a new screencast begins.
    pub(super) fn clear(&mut self) {
        *self = Self { seq: self.seq, is_blank: true, ..Self::default() };
    }

    /// Whether the page has no frame of what the tab shows. A page that does not change draws no further frame.
    pub(super) const fn is_blank(&self) -> bool {
        self.is_blank
    }

    /// Takes a screenshot, which stands for the first frame. Returns the message to send now.
    pub(super) fn receive_still(&mut self, frame: &LiveFrame) -> Option<BytesMut> {
        (self.is_blank && self.sent.len() < IN_FLIGHT).then(|| self.send(frame))
    }

    /// Takes a frame of Chrome, or its number if it may not be shown. Returns the message to send now.
    pub(super) fn receive(&mut self, frame: Result<LiveFrame, Option<i64>>) -> Option<BytesMut> {
        let frame = match frame {
            Ok(frame) if frame.time >= self.last => frame,
            // Frames can come out of order.
            Ok(frame) => {
                self.schedule(frame.number, Duration::ZERO);
                return None;
            }
            Err(number) => {
                self.is_blank = true;
                self.schedule(number, WITHHELD_GAP);
                return None;
            }
        };
        self.last = frame.time;
        if self.sent.len() >= IN_FLIGHT {
            if let Some(older) = self.waiting.replace(frame) {
                self.schedule(older.number, Duration::ZERO);
            }
            return None;
        }
        Some(self.send(&frame))
    }

    fn send(&mut self, frame: &LiveFrame) -> BytesMut {
        self.seq = self.seq.wrapping_add(1);
        self.is_blank = false;
        self.sent.push_back((self.seq, frame.number));
        let head = Head {
            kind: Kind::Frame,
            view: 0,
            seq: self.seq,
            time: time_now(),
            size: frame.size,
            scale: frame.scale,
        };
        head.message(&frame.jpeg)
    }

    /// The page has drawn a frame. Returns the message to send now.
    pub(super) fn drawn(&mut self, seq: u32) -> Option<BytesMut> {
        let at = self.sent.iter().position(|(sent, _)| *sent == seq)?;
        let drawn: Vec<_> = self.sent.drain(..=at).collect();
        for (_, number) in drawn {
            self.schedule(number, Duration::ZERO);
        }
        let next = self.waiting.take()?;
        Some(self.send(&next))
    }

    /// Plans the acknowledgement of a frame; a screenshot needs none.
    fn schedule(&mut self, number: Option<i64>, delay: Duration) {
        let Some(number) = number else { return };
        let now = Instant::now();
        let at = self.free_at.map_or(now, |free| free.max(now)) + delay;
        self.free_at = Some(at + GAP);
        self.due.push_back((at, number));
    }

    /// When the next acknowledgement is due.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.due.front().map(|(at, _)| *at)
    }

    /// Takes the acknowledgements that are due.
    pub(super) fn take_due(&mut self) -> Vec<i64> {
        let now = Instant::now();
        let count = self.due.iter().take_while(|(at, _)| *at <= now).count();
        self.due.drain(..count).map(|(_, number)| number).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(time: f64) -> Result<LiveFrame, Option<i64>> {
        Ok(LiveFrame { jpeg: vec![1], number: Some(7), size: (10, 10), scale: 1.0, time })
    }

    #[tokio::test(start_paused = true)]
    async fn two_frames_are_in_flight_and_acknowledged_when_drawn() {
        let mut flow = FrameFlow::default();
        assert!(flow.receive(frame(1.0)).is_some() && flow.receive(frame(2.0)).is_some());
        assert!(flow.receive(frame(3.0)).is_none(), "the page has two");
        assert_eq!(flow.next_due(), None, "nothing was drawn");
        assert!(flow.drawn(9).is_none(), "an unknown frame");
        assert!(flow.drawn(1).is_some(), "the third follows");
        assert_eq!(flow.take_due(), [7]);
        assert!(flow.drawn(3).is_none());
        assert!(flow.take_due().is_empty(), "too soon");
        tokio::time::advance(GAP * 2).await;
        assert_eq!(flow.take_due(), [7, 7]);
    }

    #[tokio::test(start_paused = true)]
    async fn late_and_withheld_frames_are_dropped_and_acknowledged() {
        let mut flow = FrameFlow::default();
        assert!(flow.receive(frame(5.0)).is_some());
        assert!(flow.receive(frame(4.0)).is_none(), "out of order");
        assert_eq!(flow.take_due().len(), 1);
        assert!(flow.receive(Err(Some(7))).is_none());
        assert!(flow.take_due().is_empty());
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(flow.take_due().len(), 1);
        flow.clear();
        assert!(flow.receive(frame(1.0)).is_some(), "a new screencast");
    }

    #[tokio::test(start_paused = true)]
    async fn a_screenshot_stands_for_a_frame_that_does_not_come() {
        let still = LiveFrame { number: None, ..frame(0.0).expect("a frame") };
        let mut flow = FrameFlow::default();
        flow.clear();
        assert!(flow.is_blank() && flow.receive_still(&still).is_some());
        assert!(!flow.is_blank() && flow.receive_still(&still).is_none(), "once");
        assert!(flow.drawn(1).is_none());
        assert_eq!(flow.next_due(), None, "Chrome did not send it");
        assert!(flow.receive(frame(5.0)).is_some(), "frames follow");
        assert!(flow.receive(Err(Some(7))).is_none());
        assert!(flow.is_blank(), "the tab shows something else by now");
        assert!(flow.receive_still(&still).is_some());
    }
}
