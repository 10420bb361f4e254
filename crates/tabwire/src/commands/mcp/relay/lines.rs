//! Splits a stream into lines.

/// Longest line that is buffered; longer ones are passed on in pieces.
const LINE_BYTES: usize = 256 * 1024;

/// A part of a stream, in the order of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// A whole line with its end.
    Line(&'a [u8]),
    /// The start of a line that is too long to buffer.
    Head(&'a [u8]),
    /// A later part of such a line.
    Rest(&'a [u8]),
}

impl<'a> Piece<'a> {
    /// The bytes of the piece.
    pub(crate) const fn bytes(self) -> &'a [u8] {
        match self {
            Self::Line(bytes) | Self::Head(bytes) | Self::Rest(bytes) => bytes,
        }
    }
}

/// Buffers lines. Passes on too long lines in pieces, as they arrive.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    line: Vec<u8>,
    is_long: bool,
}

impl Lines {
    /// Adds bytes of the stream, and calls `hand` with each line that ends in them.
    pub(crate) fn take(&mut self, bytes: &[u8], mut hand: impl FnMut(Piece<'_>)) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let is_end = part.ends_with(b"\n");
            if self.is_long {
                hand(Piece::Rest(part));
            } else {
                self.line.extend_from_slice(part);
                if is_end {
                    hand(Piece::Line(&self.line));
                } else if self.line.len() > LINE_BYTES {
                    self.is_long = true;
                    hand(Piece::Head(&self.line));
                    self.line = Vec::new();
                }
            }
            if is_end {
                self.line = Vec::new();
                self.is_long = false;
            }
        }
    }

    /// Whether the stream is between two lines.
    pub(crate) const fn is_between(&self) -> bool {
        self.line.is_empty() && !self.is_long
    }

    /// Whether the start of an unfinished line was passed on.
    pub(crate) const fn is_within_long_line(&self) -> bool {
        self.is_long
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pieces of a stream that arrives in chunks of this size.
    fn handed(stream: &[u8], size: usize) -> (Vec<u8>, Vec<String>) {
        let (mut lines, mut all, mut kinds) = (Lines::default(), Vec::new(), Vec::new());
        for piece in stream.chunks(size) {
            lines.take(piece, |piece| {
                all.extend_from_slice(piece.bytes());
                kinds.push(format!("{piece:?}").split('(').next().unwrap_or_default().to_owned());
            });
        }
        assert!(lines.is_between());
        (all, kinds)
    }

    #[test]
    fn every_byte_is_passed_on_once_and_in_order() {
        let mut stream = b"{\"a\":1}\n\n{\"b\":2}\n".to_vec();
        for size in [1, 3, 1000] {
            let (all, kinds) = handed(&stream, size);
            assert_eq!((all.as_slice(), kinds), (stream.as_slice(), vec!["Line".to_owned(); 3]));
        }
        stream.extend(vec![b'x'; LINE_BYTES + 5000]);
        stream.extend(b"\n{}\n");
        let (all, kinds) = handed(&stream, 4096);
        assert!(all == stream, "{} of {} bytes", all.len(), stream.len());
        assert!(kinds.contains(&"Head".to_owned()) && kinds.last() == Some(&"Line".to_owned()));
    }
}
