//! Splits a byte stream into frames at NUL bytes, in bounded memory.

use bytes::{Buf, Bytes, BytesMut};
use serde::de::IgnoredAny;

use crate::limits::OVERSIZE_EXCERPT;

/// A frame that was received.
#[derive(Debug, PartialEq, Eq)]
pub enum ReceivedFrame {
    /// A complete frame, without its delimiter.
    Frame(BytesMut),
    /// A frame above the size limit, of which only the two ends are kept (F14).
    Oversize(Oversize),
}

/// The remains of a frame above the size limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Oversize {
    /// The frame's first bytes.
    pub head: Bytes,
    /// The frame's last bytes.
    pub tail: Bytes,
    /// The frame's full length.
    pub size: usize,
    /// The limit.
    pub limit: usize,
}

/// Cuts frames out of a byte stream without copying.
#[derive(Debug)]
pub struct PipeFramer {
    buffer: BytesMut,
    /// How much of the buffer was searched and contains no NUL.
    scanned: usize,
    ceiling: usize,
    state: State,
    partial_dropped: u64,
}

#[derive(Debug)]
enum State {
    /// An earlier process has read this stream: the first piece may be the end of a frame.
    Resuming,
    /// At the start of a frame, or inside one.
    Whole,
    /// Inside a frame above the size limit.
    Discarding { head: BytesMut, tail: BytesMut, size: usize, start: FrameStart },
}

/// Whether the start of a discarded frame was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FrameStart {
    Here,
    Earlier,
}

impl PipeFramer {
    /// A framer for a stream that is read from its beginning.
    #[must_use]
    pub fn new(ceiling: usize) -> Self {
        Self { buffer: BytesMut::new(), scanned: 0, ceiling, state: State::Whole, partial_dropped: 0 }
    }

    /// A framer for a stream that an earlier process has read.
    ///
    /// The first piece is returned only if it is a complete JSON object.
    #[must_use]
    pub fn resume(ceiling: usize) -> Self {
        Self { state: State::Resuming, ..Self::new(ceiling) }
    }

    /// Adds bytes that were read elsewhere.
    pub fn push(&mut self, chunk: &[u8]) {
        self.buffer.extend_from_slice(chunk);
    }

    /// The buffer to append read bytes to. After each read, call [`Self::next_frame`] until it returns none.
    pub fn buffer_mut(&mut self) -> &mut BytesMut {
        &mut self.buffer
    }

    /// Bytes held for an incomplete frame.
    #[must_use]
    pub fn held(&self) -> usize {
        self.buffer.len()
    }

    /// The number of partial frames that were dropped on resume.
    #[must_use]
    pub fn partial_dropped(&self) -> u64 {
        self.partial_dropped
    }

    /// Takes the next complete frame, if there is one.
    pub fn next_frame(&mut self) -> Option<ReceivedFrame> {
        loop {
            let unseen = self.buffer.get(self.scanned..).unwrap_or_default();
            let Some(offset) = memchr::memchr(0, unseen) else {
                self.keep_incomplete();
                return None;
            };
            let piece = self.buffer.split_to(self.scanned + offset);
            self.buffer.advance(1);
            self.scanned = 0;
            if let Some(framed) = self.complete(piece) {
                return Some(framed);
            }
        }
    }

    fn keep_incomplete(&mut self) {
        self.scanned = self.buffer.len();
        let discarding = matches!(self.state, State::Discarding { .. });
        if !discarding && self.buffer.len() <= self.ceiling {
            return;
        }
        let part = self.buffer.split();
        self.scanned = 0;
        self.discard(&part);
    }

    /// Adds a part of an oversize frame; keeps only the frame's two ends.
    fn discard(&mut self, part: &[u8]) {
        let start = match self.state {
            State::Resuming => Some(FrameStart::Earlier),
            State::Whole => Some(FrameStart::Here),
            State::Discarding { .. } => None,
        };
        if let Some(start) = start {
            self.state = State::Discarding { head: BytesMut::new(), tail: BytesMut::new(), size: 0, start };
        }
        if let State::Discarding { head, tail, size, .. } = &mut self.state {
            *size += part.len();
            let room = OVERSIZE_EXCERPT - head.len();
            head.extend_from_slice(part.get(..room).unwrap_or(part));
            let kept = part.get(part.len().saturating_sub(OVERSIZE_EXCERPT)..).unwrap_or(part);
            tail.extend_from_slice(kept);
            let excess = tail.len().saturating_sub(OVERSIZE_EXCERPT);
            tail.advance(excess);
        }
    }

    fn complete(&mut self, piece: BytesMut) -> Option<ReceivedFrame> {
        let discarding = matches!(self.state, State::Discarding { .. });
        if discarding || piece.len() > self.ceiling {
            self.discard(&piece);
        }
        match std::mem::replace(&mut self.state, State::Whole) {
            State::Discarding { start: FrameStart::Earlier, .. } => {
                self.partial_dropped += 1;
                None
            }
            State::Discarding { head, tail, size, start: FrameStart::Here } => {
                let (head, tail, limit) = (head.freeze(), tail.freeze(), self.ceiling);
                Some(ReceivedFrame::Oversize(Oversize { head, tail, size, limit }))
            }
            // A process that takes the pipe over writes an empty frame first; ignore it.
            _ if piece.is_empty() => None,
            State::Resuming if !is_json_object(&piece) => {
                self.partial_dropped += 1;
                None
            }
            State::Resuming | State::Whole => Some(ReceivedFrame::Frame(piece)),
        }
    }
}

fn is_json_object(piece: &[u8]) -> bool {
    piece.first() == Some(&b'{')
        && std::str::from_utf8(piece).is_ok_and(|text| serde_json::from_str::<IgnoredAny>(text).is_ok())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read_all(mut framer: PipeFramer, bytes: &[u8], cuts: &[usize]) -> (Vec<ReceivedFrame>, PipeFramer) {
        let mut framed = Vec::new();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
        cuts.push(bytes.len());
        cuts.sort_unstable();
        let mut start = 0;
        for cut in cuts {
            framer.push(&bytes[start..cut]);
            start = cut;
            framed.extend(std::iter::from_fn(|| framer.next_frame()));
        }
        (framed, framer)
    }

    fn show(framed: &[ReceivedFrame]) -> String {
        let lines = framed.iter().map(|framed| match framed {
            ReceivedFrame::Frame(frame) => String::from_utf8_lossy(frame).into_owned(),
            ReceivedFrame::Oversize(oversize) => format!("oversize of {}", oversize.size),
        });
        lines.collect::<Vec<_>>().join(" | ")
    }

    fn check(framer: PipeFramer, bytes: &str, expected: &str) -> PipeFramer {
        let (framed, framer) = read_all(framer, bytes.as_bytes(), &[]);
        assert_eq!(show(&framed), expected);
        framer
    }

    #[test]
    fn frames_end_at_nul() {
        let framer = check(PipeFramer::new(100), "{}\0{\"a\":1}\0\0\0half", "{} | {\"a\":1}");
        assert_eq!(framer.held(), 4);
    }

    #[test]
    fn resumed_framer_drops_a_partial_frame_and_keeps_a_whole_one() {
        let framer = check(PipeFramer::resume(100), "\"x\"}}\0{\"id\":1}\0", "{\"id\":1}");
        assert_eq!(framer.partial_dropped(), 1);
        let framer = check(PipeFramer::resume(100), "{\"id\":0}\0{\"id\":1}\0", "{\"id\":0} | {\"id\":1}");
        assert_eq!(framer.partial_dropped(), 0);
        let framer = check(PipeFramer::resume(100), "7\0{\"id\":1}\0", "{\"id\":1}");
        assert_eq!(framer.partial_dropped(), 1);
    }

    #[test]
    fn f14_oversize_frame_is_dropped_in_bounded_memory_next_one_arrives() {
        let mut framer = PipeFramer::new(1000);
        framer.push(b"{\"id\":7,\"result\":\"");
        let mut highest = 0;
        for _ in 0..10_000 {
            framer.push(&[b'x'; 100]);
            assert_eq!(framer.next_frame(), None);
            highest = highest.max(framer.held());
        }
        framer.push(b"\",\"sessionId\":\"S\"}\0{}\0");
        let Some(ReceivedFrame::Oversize(oversize)) = framer.next_frame() else {
            panic!("expected the excerpt")
        };
        assert!(highest <= 1100, "held {highest}");
        assert_eq!(oversize.size, 18 + 1_000_000 + 18);
        assert!(oversize.head.starts_with(b"{\"id\":7,") && oversize.head.len() == OVERSIZE_EXCERPT);
        assert!(oversize.tail.ends_with(b"\"sessionId\":\"S\"}") && oversize.tail.len() == OVERSIZE_EXCERPT);
        assert_eq!(framer.next_frame(), Some(ReceivedFrame::Frame(BytesMut::from("{}"))));
    }

    proptest! {
        #[test]
        fn any_split_of_any_frames_gives_the_same_frames(
            frames in prop::collection::vec(prop::collection::vec(1_u8..=255, 1..700), 0..12),
            cuts in prop::collection::vec(any::<usize>(), 0..20),
        ) {
            let mut bytes = Vec::new();
            for frame in &frames {
                bytes.extend_from_slice(frame);
                bytes.push(0);
            }
            let (framed, framer) = read_all(PipeFramer::new(600), &bytes, &cuts);
            prop_assert_eq!(framer.held(), 0);
            prop_assert_eq!(framed.len(), frames.len());
            for (framed, frame) in framed.iter().zip(&frames) {
                match framed {
                    ReceivedFrame::Frame(bytes) => prop_assert_eq!(bytes.as_ref(), frame.as_slice()),
                    ReceivedFrame::Oversize(oversize) => {
                        prop_assert!(frame.len() > 600);
                        prop_assert_eq!(oversize.size, frame.len());
                        prop_assert_eq!(oversize.head.as_ref(), &frame[..OVERSIZE_EXCERPT]);
                        prop_assert_eq!(oversize.tail.as_ref(), &frame[frame.len() - OVERSIZE_EXCERPT..]);
                    }
                }
            }
        }

        #[test]
        fn framer_accepts_any_bytes(
            bytes in prop::collection::vec(prop_oneof![Just(0_u8), any::<u8>()], 0..2000),
            cuts in prop::collection::vec(any::<usize>(), 0..20),
        ) {
            let (whole, _) = read_all(PipeFramer::resume(50), &bytes, &[]);
            let (pieces, _) = read_all(PipeFramer::resume(50), &bytes, &cuts);
            prop_assert_eq!(whole, pieces);
        }
    }
}
