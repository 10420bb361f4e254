//! The last snapshots given, so that the next answer can say only what changed. Knows nothing of pages.

use super::delta::{KeptLine, kept_lines, write_delta};
use super::fence;
use super::page_snapshot::Snapshot;
use super::ref_table::{DocumentName, ElementRef, RefTable};
use super::request::SnapshotRequest;
use crate::limits::SNAPSHOTS_REMEMBERED;

/// The last snapshots given to one client of one tab, one for each way of asking.
#[derive(Debug, Default)]
pub(crate) struct SnapshotMemory {
    /// The latest last.
    kept: Vec<Kept>,
}

#[derive(Debug)]
struct Kept {
    request: SnapshotRequest,
    document: DocumentName,
    lines: Vec<KeptLine>,
}

/// What is kept of a snapshot.
#[derive(Debug)]
pub(crate) struct SnapshotLines(Vec<KeptLine>);

impl SnapshotLines {
    /// Reduces a snapshot to what is kept of it.
    pub(crate) fn of(snapshot: &Snapshot) -> Self {
        Self(kept_lines(&snapshot.nodes))
    }
}

/// How a snapshot differs from the last one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    /// There was none of this document.
    Unknown,
    /// In nothing.
    Same,
    /// In these lines; none when it is nearly everything.
    Different(Option<String>),
}

impl SnapshotMemory {
    /// How a snapshot differs from the last one that was asked for in the same way, which stays the last one.
    pub(crate) fn compare(
        &self,
        snapshot: &Snapshot,
        request: &SnapshotRequest,
        refs: &mut RefTable,
    ) -> Comparison {
        let before =
            self.kept.iter().find(|kept| kept.request == *request && kept.document == snapshot.document);
        let Some(before) = before else { return Comparison::Unknown };
        let lines = kept_lines(&snapshot.nodes);
        match write_delta(&before.lines, &lines, &mut |handle| refs.mint(handle)) {
            Some(changes) if changes.is_empty() => Comparison::Same,
            changes => Comparison::Different(changes),
        }
    }

    /// The elements of the latest snapshot that have refs, each with what was said of it.
    pub(crate) fn shown(&self, refs: &RefTable) -> Vec<(ElementRef, String)> {
        let lines = self.kept.last().into_iter().flat_map(|kept| &kept.lines);
        let blank = format!(" [{}]", ElementRef::BLANK_LETTER);
        let shown = lines.filter_map(|line| {
            let given = refs.find(line.handle()?)?;
            line.text().contains(&blank).then(|| (given, line.text().replace(&blank, "")))
        });
        shown.collect()
    }

    /// Takes note of a snapshot that was given in full, by what it was reduced to.
    pub(crate) fn remember(&mut self, snapshot: &Snapshot, request: &SnapshotRequest, lines: SnapshotLines) {
        self.replace(snapshot, request, lines.0);
    }

    /// What changed since the last snapshot that was asked for in the same way, within a fence; all of the snapshot
    /// when there was none, when it was of another document, or when telling the changes would take longer.
    pub(crate) fn delta(
        &mut self,
        snapshot: &Snapshot,
        request: &SnapshotRequest,
        refs: &mut RefTable,
    ) -> String {
        let lines = kept_lines(&snapshot.nodes);
        let before =
            self.kept.iter().find(|kept| kept.request == *request && kept.document == snapshot.document);
        // Written for its length first: refs are only given to what is shown in the end.
        let trial = before.and_then(|kept| write_delta(&kept.lines, &lines, &mut |_| ElementRef::STAND_IN));
        let is_short = trial.is_some_and(|changes| changes.len() <= snapshot.length(request));
        let changes = before
            .filter(|_| is_short)
            .and_then(|kept| write_delta(&kept.lines, &lines, &mut |handle| refs.mint(handle)));
        self.replace(snapshot, request, lines);
        match changes {
            None => snapshot.to_text(refs, request),
            Some(changes) if changes.is_empty() => {
                fence::enclose(&snapshot.heading(), "(nothing changed since the last snapshot)\n")
            }
            Some(changes) => {
                fence::enclose(&snapshot.heading(), &format!("(changes since the last snapshot)\n{changes}"))
            }
        }
    }

    fn replace(&mut self, snapshot: &Snapshot, request: &SnapshotRequest, lines: Vec<KeptLine>) {
        self.kept.retain(|kept| kept.request != *request && kept.document == snapshot.document);
        if self.kept.len() >= SNAPSHOTS_REMEMBERED {
            self.kept.remove(0);
        }
        self.kept.push(Kept { request: request.clone(), document: snapshot.document.clone(), lines });
    }
}
