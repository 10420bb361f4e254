//! Splits a trace into its events while it is read.

/// Finds the events of a trace: the objects of its first list.
#[derive(Debug, Default)]
pub(crate) struct TraceEvents {
    depth: u32,
    /// Nesting depth of the event list; none before it starts.
    list: Option<u32>,
    quoted: StringState,
    /// The event under construction.
    open: Vec<u8>,
    is_open: bool,
    is_over: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum StringState {
    #[default]
    No,
    Yes,
    /// After a backslash.
    Escaped,
}

impl TraceEvents {
    /// Takes the next bytes. Passes each complete event to `take`; returns where the last one ended.
    pub(crate) fn feed(&mut self, bytes: &[u8], mut take: impl FnMut(&[u8])) -> Option<usize> {
        let mut ended = None;
        let mut start = 0;
        for (at, byte) in bytes.iter().enumerate() {
            if self.step(*byte) {
                self.open.extend_from_slice(&bytes[start..=at]);
                take(&self.open);
                self.open.clear();
                ended = Some(at + 1);
            } else if self.is_open && self.begins(*byte) {
                start = at;
            }
        }
        if self.is_open {
            self.open.extend_from_slice(&bytes[start..]);
        }
        ended
    }

    fn begins(&self, byte: u8) -> bool {
        byte == b'{' && self.quoted == StringState::No && self.list.is_some_and(|list| self.depth == list + 1)
    }

    /// Takes one byte; returns whether it ends an event.
    fn step(&mut self, byte: u8) -> bool {
        if self.is_over {
            return false;
        }
        match (self.quoted, byte) {
            (StringState::Escaped, _) => self.quoted = StringState::Yes,
            (StringState::Yes, b'\\') => self.quoted = StringState::Escaped,
            (StringState::Yes, b'"') => self.quoted = StringState::No,
            (StringState::Yes, _) => {}
            (StringState::No, b'"') => self.quoted = StringState::Yes,
            (StringState::No, b'[' | b'{') => {
                self.depth += 1;
                match self.list {
                    None if byte == b'[' => self.list = Some(self.depth),
                    Some(list) if byte == b'{' && self.depth == list + 1 => self.is_open = true,
                    _ => {}
                }
            }
            (StringState::No, b']' | b'}') => {
                self.depth = self.depth.saturating_sub(1);
                let ends = self.is_open && Some(self.depth) == self.list;
                if ends {
                    self.is_open = false;
                    return true;
                }
                // Ignore what follows the list.
                self.is_over = self.list.is_some_and(|list| self.depth < list);
            }
            (StringState::No, _) => {}
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = r#"{"traceEvents":[{"a":"}]\"{","b":{"c":[1]}},
{"d":2}],"metadata":{"e":[{"f":1}]}}"#;

    #[test]
    fn events_are_whole_for_every_split_of_the_bytes() {
        for size in 1..TRACE.len() {
            let mut events = TraceEvents::default();
            let mut found = Vec::new();
            for part in TRACE.as_bytes().chunks(size) {
                events.feed(part, |event| found.push(String::from_utf8(event.to_vec()).expect("text")));
            }
            assert_eq!(found, [r#"{"a":"}]\"{","b":{"c":[1]}}"#, r#"{"d":2}"#], "{size}");
        }
    }

    #[test]
    fn feed_returns_the_end_of_the_last_whole_event() {
        let mut events = TraceEvents::default();
        let end = events.feed(br#"{"traceEvents":[{"a":1},{"b":"#, |_| {});
        assert_eq!(end, Some(23));
        assert_eq!(events.feed(b"2", |_| {}), None);
        assert_eq!(TraceEvents::default().feed(b"[{}", |_| {}), Some(3), "a list alone is a trace too");
        assert_eq!(TraceEvents::default().feed(b"}}]]{\"", |_| {}), None);
    }
}
