//! Keeps the end of a browser's stderr output.

use std::collections::VecDeque;

use crate::limits;

/// Longest quote of stderr in an error, whatever the number of lines.
const STDERR_QUOTE_BYTES: usize = 4096;

/// How many of the last lines of stderr a launch error quotes.
const STDERR_QUOTE_LINES: usize = 12;

/// A bounded buffer that drops the oldest bytes.
#[derive(Debug, Default)]
pub(super) struct StderrRing(VecDeque<u8>);

impl StderrRing {
    /// Adds bytes, and drops the oldest above the bound.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let kept = bytes.len().min(limits::STDERR_RING_BYTES);
        let bytes = bytes.get(bytes.len() - kept..).unwrap_or_default();
        let excess = (self.0.len() + kept).saturating_sub(limits::STDERR_RING_BYTES);
        self.0.drain(..excess);
        self.0.extend(bytes);
    }

    /// All buffered bytes as text.
    pub(super) fn text(&self) -> String {
        let (front, back) = self.0.as_slices();
        String::from_utf8_lossy(&[front, back].concat()).into_owned()
    }

    /// The last lines, for an error message.
    pub(super) fn last_lines(&self) -> String {
        let text = self.text();
        let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
        let quote =
            lines.get(lines.len().saturating_sub(STDERR_QUOTE_LINES)..).unwrap_or_default().join("\n");
        let from = quote.len().saturating_sub(STDERR_QUOTE_BYTES);
        let from = (from..quote.len()).find(|at| quote.is_char_boundary(*at)).unwrap_or(0);
        quote.get(from..).unwrap_or_default().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::{STDERR_QUOTE_BYTES, StderrRing};
    use crate::limits;

    #[test]
    fn the_ring_is_bounded_and_keeps_the_end() {
        let mut ring = StderrRing::default();
        for number in 0..50_000 {
            ring.push(format!("line {number}\n").as_bytes());
        }
        ring.push(&vec![b'x'; 3 * limits::STDERR_RING_BYTES]);
        assert_eq!(ring.text().len(), limits::STDERR_RING_BYTES);
        ring.push("ä\nlast\n\n".as_bytes());
        assert!(ring.last_lines().ends_with("ä\nlast"));
        assert!(ring.last_lines().len() <= STDERR_QUOTE_BYTES);
        assert_eq!(ring.text().len(), limits::STDERR_RING_BYTES);
    }

    #[test]
    fn quote_has_only_the_last_lines() {
        let mut ring = StderrRing::default();
        assert_eq!(ring.last_lines(), "");
        ring.push((0..100).map(|number| format!("{number}\n")).collect::<String>().as_bytes());
        let quote = ring.last_lines();
        assert!(quote.starts_with("88\n") && quote.ends_with("\n99"), "{quote}");
    }
}
