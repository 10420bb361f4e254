//! A stream gives the same frames in any segmentation, and never buffers more than its limit.
//!
//! The first byte is the limit, the second selects the start and the segmentation; the rest is the stream.

use tabwire_cdp::limits::OVERSIZE_EXCERPT;
use tabwire_cdp::{PipeFramer, ReceivedFrame};

/// Frames one stream as a whole and in pieces.
pub(crate) fn check(data: &[u8]) {
    let [ceiling, plan, stream @ ..] = data else { return };
    let ceiling = usize::from(*ceiling) * 4;
    let make = || if plan & 1 == 0 { PipeFramer::new(ceiling) } else { PipeFramer::resume(ceiling) };
    let whole = read(make(), stream, stream.len().max(1), ceiling);
    let in_pieces = read(make(), stream, usize::from(plan >> 1) + 1, ceiling);
    let in_bytes = read(make(), stream, 1, ceiling);
    assert_eq!(whole, in_pieces, "cut into pieces");
    assert_eq!(whole, in_bytes, "byte for byte");
    for framed in &whole.0 {
        match framed {
            ReceivedFrame::Frame(frame) => {
                assert!(!frame.is_empty() && frame.len() <= ceiling && !frame.contains(&0));
            }
            ReceivedFrame::Oversize(oversize) => {
                assert!(oversize.size > ceiling && oversize.limit == ceiling);
                let kept = oversize.size.min(OVERSIZE_EXCERPT);
                assert_eq!((oversize.head.len(), oversize.tail.len()), (kept, kept));
            }
        }
    }
    let ends = stream.iter().filter(|byte| **byte == 0).count();
    assert!(whole.0.len() + usize::from(whole.1 > 0) <= ends, "no frame without its end");
}

fn read(mut framer: PipeFramer, stream: &[u8], piece: usize, ceiling: usize) -> (Vec<ReceivedFrame>, u64) {
    let mut framed = Vec::new();
    for part in stream.chunks(piece) {
        framer.push(part);
        framed.extend(std::iter::from_fn(|| framer.next_frame()));
        assert!(framer.held() <= ceiling, "an incomplete frame is held up to the ceiling");
    }
    (framed, framer.partial_dropped())
}
