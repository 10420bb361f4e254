//! Splits the output of an agent into lines.

use crate::limits::LINE_BYTES;

/// A line is longer than the limit. The stream cannot be used any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineTooLong;

/// Bytes that wait for the end of their line.
#[derive(Debug, Default)]
pub struct LineBuffer {
    bytes: Vec<u8>,
    /// Bytes that were searched for a line end.
    searched: usize,
}

impl LineBuffer {
    /// Adds bytes of the stream.
    ///
    /// # Errors
    /// When a line without an end is longer than the limit.
    pub fn extend(&mut self, bytes: &[u8]) -> Result<(), LineTooLong> {
        let unfinished = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
        if self.searched == self.bytes.len() && self.bytes.len() + unfinished > LINE_BYTES {
            return Err(LineTooLong);
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    /// Removes the first whole line, without its end.
    pub fn take_line(&mut self) -> Option<Vec<u8>> {
        let found = self.bytes[self.searched..].iter().position(|byte| *byte == b'\n');
        let Some(found) = found else {
            self.searched = self.bytes.len();
            return None;
        };
        let rest = self.bytes.split_off(self.searched + found + 1);
        let mut line = std::mem::replace(&mut self.bytes, rest);
        self.searched = 0;
        line.pop();
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        Some(line)
    }
}
