//! One line of the pad: which one it is, and a row's values.

use serde::{Deserialize, Serialize};

use crate::columns::Columns;

/// Which jotting it is. Counts up over all pads a database ever had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Sequence(pub(crate) i64);

impl Sequence {
    pub(crate) const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

/// One line of the pad.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Jotting<'line> {
    #[serde(rename = "n")]
    pub(crate) sequence: Sequence,
    #[serde(rename = "row", borrow)]
    pub(crate) columns: Columns<'line>,
}

impl<'line> Jotting<'line> {
    pub(crate) fn to_line(&self) -> Option<Vec<u8>> {
        let mut line = serde_json::to_vec(self).ok()?;
        line.push(b'\n');
        Some(line)
    }

    /// Reads a line; none when it is not whole.
    pub(crate) fn read(line: &'line [u8]) -> Option<Self> {
        serde_json::from_slice(line).ok()
    }
}

/// The lines that have an end: what is written of one in part was never acknowledged.
pub(crate) fn whole_lines(lines: &[u8]) -> impl Iterator<Item = &[u8]> {
    lines.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"))
}

/// The last jotting among lines.
pub(crate) fn last_jotting(lines: &[u8]) -> Option<Sequence> {
    let whole = &lines[..lines.iter().rposition(|byte| *byte == b'\n')?];
    let numbers = whole.rsplit(|byte| *byte == b'\n').filter_map(Jotting::read);
    numbers.map(|found| found.sequence).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_line_and_lines_of_nonsense_are_passed_over() {
        let values = r#"[1,2,null,"default",null,41,"no\"de",null,null,null,null,null,null,null,null,null,null,null,"ü"]"#;
        let line = |number: i64| format!("{{\"n\":{number},\"row\":{values}}}\n");
        let lines = format!("{}nonsense\n{}{{\"n\":9,\"row\":[1", line(3), line(4));
        assert_eq!(last_jotting(lines.as_bytes()), Some(Sequence(4)));
        let read = whole_lines(lines.as_bytes()).filter_map(Jotting::read);
        assert_eq!(read.map(|found| found.sequence.0).collect::<Vec<_>>(), [3, 4]);
        assert_eq!(
            Jotting::read(line(3).as_bytes()).and_then(|found| found.to_line()),
            Some(line(3).into_bytes())
        );
        assert_eq!(last_jotting(b"{\"n\":1"), None);
        assert_eq!(last_jotting(b""), None);
    }
}
