//! Applies the faults of a chaos proxy to one direction. Does no I/O and uses no clock.

use std::time::Duration;

/// Most bytes that a merging direction holds.
const CHAOS_MERGE_BYTES: usize = 16 * 1024 * 1024;

/// A fault in one direction of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Delays every chunk by this time.
    Delay(Duration),
    /// Writes pieces of at most this many bytes.
    Split {
        /// Length of a piece.
        bytes: usize,
    },
    /// Joins chunks until they have this many bytes or the time is over.
    Merge {
        /// Length at which the joined bytes are sent.
        bytes: usize,
        /// Longest delay.
        within: Duration,
    },
    /// Writes one chunk twice.
    Duplicate {
        /// The number of the chunk, from zero.
        chunk: u64,
    },
    /// Ends this direction normally after this many bytes.
    Truncate {
        /// Bytes that are forwarded before.
        after: u64,
    },
    /// Forwards nothing after this many bytes and keeps the sockets open: a half-open connection.
    Stall {
        /// Bytes that are forwarded before.
        after: u64,
    },
    /// Closes the whole connection after this many bytes.
    Drop {
        /// Bytes that are forwarded before.
        after: u64,
    },
}

/// An action of the proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Wait(Duration),
    Write(Vec<u8>),
    /// Ends this direction.
    Finish,
    /// Keeps everything open and does nothing more.
    Stall,
    /// Closes the connection.
    Drop,
}

/// The state of one direction of one connection.
#[derive(Debug)]
pub(crate) struct Pipeline {
    faults: Vec<Fault>,
    passed: u64,
    chunks: u64,
    held: Vec<u8>,
}

impl Pipeline {
    pub(crate) fn new(faults: Vec<Fault>) -> Self {
        Self { faults, passed: 0, chunks: 0, held: Vec::new() }
    }

    /// Adds one chunk and returns the actions.
    pub(crate) fn push(&mut self, mut chunk: Vec<u8>) -> Vec<Action> {
        let end = self.cut(&mut chunk);
        if self.faults.contains(&Fault::Duplicate { chunk: self.chunks }) {
            chunk.extend_from_within(..);
        }
        self.chunks += 1;
        self.held.append(&mut chunk);
        let mut actions = Vec::new();
        if end.is_some() || self.held.len() >= self.merge_length() {
            actions = self.release();
        }
        actions.extend(end);
        actions
    }

    /// How long held bytes may wait, if there are any.
    pub(crate) fn hold(&self) -> Option<Duration> {
        let within = self.faults.iter().find_map(|fault| match fault {
            Fault::Merge { within, .. } => Some(*within),
            _ => None,
        })?;
        (!self.held.is_empty()).then_some(within)
    }

    /// Sends the held bytes.
    pub(crate) fn release(&mut self) -> Vec<Action> {
        let held = std::mem::take(&mut self.held);
        let mut actions = Vec::new();
        if held.is_empty() {
            return actions;
        }
        for fault in &self.faults {
            if let Fault::Delay(time) = fault {
                actions.push(Action::Wait(*time));
            }
        }
        actions.extend(held.chunks(self.piece_length()).map(|piece| Action::Write(piece.to_vec())));
        actions
    }

    /// The action before the first byte, for faults with `after: 0`.
    pub(crate) fn open(&mut self) -> Option<Action> {
        self.cut(&mut Vec::new())
    }

    /// Shortens a chunk at the first limit it reaches and returns the action there.
    fn cut(&mut self, chunk: &mut Vec<u8>) -> Option<Action> {
        let limit = self.faults.iter().filter_map(|fault| match fault {
            Fault::Truncate { after } => Some((*after, Action::Finish)),
            Fault::Stall { after } => Some((*after, Action::Stall)),
            Fault::Drop { after } => Some((*after, Action::Drop)),
            _ => None,
        });
        let limit = limit.min_by_key(|(after, _)| *after);
        let length = u64::try_from(chunk.len()).unwrap_or(u64::MAX);
        let Some((after, action)) = limit.filter(|(after, _)| self.passed + length >= *after) else {
            self.passed += length;
            return None;
        };
        let left = after.saturating_sub(self.passed);
        chunk.truncate(usize::try_from(left).unwrap_or(usize::MAX));
        self.passed = after;
        Some(action)
    }

    fn merge_length(&self) -> usize {
        let merge = self.faults.iter().find_map(|fault| match fault {
            Fault::Merge { bytes, .. } => Some(*bytes),
            _ => None,
        });
        merge.unwrap_or(0).min(CHAOS_MERGE_BYTES)
    }

    fn piece_length(&self) -> usize {
        let split = self.faults.iter().find_map(|fault| match fault {
            Fault::Split { bytes } => Some(*bytes),
            _ => None,
        });
        split.unwrap_or(usize::MAX).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pushes chunks and compares the actions, written as one line.
    fn check(faults: &[Fault], chunks: &[&str], expected: &str) {
        let mut pipeline = Pipeline::new(faults.to_vec());
        let mut words = Vec::new();
        for chunk in chunks {
            words.extend(pipeline.push(chunk.as_bytes().to_vec()));
        }
        let words: Vec<String> = words
            .into_iter()
            .map(|action| match action {
                Action::Write(bytes) => String::from_utf8(bytes).expect("text"),
                other => format!("{other:?}"),
            })
            .collect();
        assert_eq!(words.join(" "), expected);
    }

    #[test]
    fn each_fault_does_what_its_name_says() {
        check(&[], &["ab", "cd"], "ab cd");
        check(&[Fault::Split { bytes: 1 }], &["abc"], "a b c");
        check(&[Fault::Split { bytes: 0 }], &["ab"], "a b");
        check(&[Fault::Merge { bytes: 4, within: Duration::ZERO }], &["ab", "cd", "e"], "abcd");
        check(&[Fault::Duplicate { chunk: 1 }], &["ab", "cd", "ef"], "ab cdcd ef");
        check(&[Fault::Truncate { after: 3 }], &["ab", "cd"], "ab c Finish");
        check(&[Fault::Stall { after: 2 }], &["ab"], "ab Stall");
        check(&[Fault::Drop { after: 1 }], &["ab"], "a Drop");
        check(&[Fault::Delay(Duration::from_millis(5))], &["ab"], "Wait(5ms) ab");
    }

    #[test]
    fn earliest_limit_applies_after_held_bytes() {
        let merge = Fault::Merge { bytes: 100, within: Duration::ZERO };
        check(&[Fault::Drop { after: 9 }, Fault::Truncate { after: 3 }, merge], &["ab", "cd"], "abc Finish");
    }

    #[test]
    fn limit_of_zero_applies_before_the_first_byte() {
        assert_eq!(Pipeline::new(vec![Fault::Stall { after: 0 }]).open(), Some(Action::Stall));
        assert_eq!(Pipeline::new(vec![Fault::Stall { after: 1 }]).open(), None);
    }
}
