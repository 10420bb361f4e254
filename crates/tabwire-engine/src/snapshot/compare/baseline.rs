//! A snapshot as a baseline file for later comparison: one element per line, without refs.

use super::delta::kept_lines;
use super::edit_script::{Step, steps};
use crate::limits::DELTA_STEPS;
use crate::snapshot::model::page_snapshot::Snapshot;
use crate::snapshot::refs::ElementRef;

/// The first line of the file.
const HEAD: &str = "# tabwire snapshot baseline 1";

/// A snapshot for comparison by content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Baseline {
    lines: Vec<String>,
}

impl Baseline {
    /// The content of a snapshot.
    pub(crate) fn of(snapshot: &Snapshot) -> Self {
        let blank = ElementRef::BLANK_LETTER;
        let marks = [format!(" [{blank}]"), format!("[{blank}] "), format!(" {blank}"), blank.to_string()];
        let lines = kept_lines(&snapshot.nodes).into_iter().map(|kept| {
            let text = marks.iter().fold(kept.text().to_owned(), |text, mark| text.replace(mark, ""));
            format!("{:indent$}{text}", "", indent = usize::from(kept.depth()) * 2)
        });
        Self { lines: lines.collect() }
    }

    /// Parses a file; none when it is not a baseline.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        (lines.next()? == HEAD).then(|| Self { lines: lines.map(str::to_owned).collect() })
    }

    /// The file content.
    pub(crate) fn to_text(&self) -> String {
        let mut text = format!("{HEAD}\n");
        for line in &self.lines {
            text.push_str(line);
            text.push('\n');
        }
        text
    }

    /// Number of lines.
    pub(crate) fn length(&self) -> usize {
        self.lines.len()
    }

    /// The difference to another one: `-` for removed, `+` for added lines; none when nearly everything differs.
    pub(crate) fn changes_to(&self, new: &Self) -> Option<Vec<String>> {
        let steps = steps(&self.lines, &new.lines, DELTA_STEPS)?;
        let changed = steps.into_iter().filter_map(|step| match step {
            Step::Keep { .. } => None,
            Step::Remove { old } => Some(format!("- {}", self.lines[old])),
            Step::Add { new: at } => Some(format!("+ {}", new.lines[at])),
        });
        Some(changed.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_baseline_survives_its_file() {
        let old = Baseline { lines: vec!["main".to_owned(), "  button \"A\"".to_owned()] };
        assert_eq!(Baseline::parse(&old.to_text()), Some(old.clone()));
        assert_eq!(Baseline::parse("main\n"), None);
        let new = Baseline { lines: vec!["main".to_owned(), "  button \"B\"".to_owned()] };
        assert_eq!(old.changes_to(&new).expect("few"), ["-   button \"A\"", "+   button \"B\""]);
        assert_eq!(old.changes_to(&old), Some(Vec::new()));
    }
}
