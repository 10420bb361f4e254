//! The last snapshots, so that the next result can contain only changes.

use super::delta::{KeptLine, kept_lines, write_delta};
use crate::snapshot::model::page_snapshot::Snapshot;
use crate::snapshot::refs::{DocumentName, ElementRef, RefTable};
use crate::snapshot::request::SnapshotRequest;
use crate::snapshot::text::fence;

/// Snapshots that are kept for deltas, one per set of options.
const SNAPSHOTS_REMEMBERED: usize = 4;

/// The last snapshots of one client and tab, one per set of options.
#[derive(Debug, Default)]
pub(crate) struct SnapshotMemory {
    /// Latest last.
    kept: Vec<KeptSnapshot>,
}

#[derive(Debug)]
struct KeptSnapshot {
    request: SnapshotRequest,
    document: DocumentName,
    lines: Vec<KeptLine>,
    /// Whether the client saw it, or it was only taken to compare with.
    is_shown: bool,
}

/// What is kept of a snapshot.
#[derive(Debug)]
pub(crate) struct SnapshotLines(Vec<KeptLine>);

impl SnapshotLines {
    /// Reduces a snapshot to what is kept.
    pub(crate) fn of(snapshot: &Snapshot) -> Self {
        Self(kept_lines(&snapshot.nodes))
    }
}

/// The difference to the last snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    /// There is no earlier one of this document.
    Unknown,
    /// No change.
    Same,
    /// These lines; none when nearly everything changed.
    Different(Option<String>),
}

impl SnapshotMemory {
    /// Compares with the last snapshot of the same options, without replacing it.
    pub(crate) fn compare(
        &self,
        snapshot: &Snapshot,
        request: &SnapshotRequest,
        refs: &mut RefTable,
    ) -> Comparison {
        let is_before = |kept: &&KeptSnapshot| {
            kept.is_shown && kept.request == *request && kept.document == snapshot.document
        };
        let before = self.kept.iter().find(is_before);
        let Some(before) = before else { return Comparison::Unknown };
        let lines = kept_lines(&snapshot.nodes);
        match write_delta(&before.lines, &lines, &mut |handle| refs.mint(handle)) {
            Some(changes) if changes.is_empty() => Comparison::Same,
            changes => Comparison::Different(changes),
        }
    }

    /// The elements with refs in the latest snapshot, with their text.
    pub(crate) fn shown(&self, refs: &RefTable) -> Vec<(ElementRef, String)> {
        let lines = self.kept.last().into_iter().flat_map(|kept| &kept.lines);
        let blank = format!(" [{}]", ElementRef::BLANK_LETTER);
        let shown = lines.filter_map(|line| {
            let given = refs.find(line.handle()?)?;
            line.text().contains(&blank).then(|| (given, line.text().replace(&blank, "")))
        });
        shown.collect()
    }

    /// Stores a snapshot that was returned in full.
    pub(crate) fn remember(&mut self, snapshot: &Snapshot, request: &SnapshotRequest, lines: SnapshotLines) {
        self.replace(snapshot, request, lines.0, true);
    }

    /// Stores a snapshot that the client does not see, to compare the next one with.
    pub(crate) fn keep_baseline(&mut self, snapshot: &Snapshot, request: &SnapshotRequest) {
        self.replace(snapshot, request, kept_lines(&snapshot.nodes), false);
    }

    /// The document of the last snapshot with these options that the client saw.
    pub(crate) fn document_of(&self, request: &SnapshotRequest) -> Option<DocumentName> {
        let shown = self.kept.iter().find(|kept| kept.is_shown && kept.request == *request);
        shown.map(|kept| kept.document.clone())
    }

    /// The changes since the last snapshot that the client saw; see `delta`.
    pub(crate) fn delta_since_shown(
        &mut self,
        snapshot: &Snapshot,
        request: &SnapshotRequest,
        refs: &mut RefTable,
    ) -> String {
        self.kept.retain(|kept| kept.is_shown);
        self.delta(snapshot, request, refs)
    }

    /// The changes since the last snapshot with the same options, within a fence; the whole snapshot when there is
    /// none, when it shows another document, or when the changes would be longer.
    pub(crate) fn delta(
        &mut self,
        snapshot: &Snapshot,
        request: &SnapshotRequest,
        refs: &mut RefTable,
    ) -> String {
        let lines = kept_lines(&snapshot.nodes);
        let before =
            self.kept.iter().find(|kept| kept.request == *request && kept.document == snapshot.document);
        // Written first to measure it: refs are assigned only to what is shown in the end.
        let trial = before.and_then(|kept| write_delta(&kept.lines, &lines, &mut |_| ElementRef::SAMPLE));
        let is_short = trial.is_some_and(|changes| changes.len() <= snapshot.length(request));
        let changes = before
            .filter(|_| is_short)
            .and_then(|kept| write_delta(&kept.lines, &lines, &mut |handle| refs.mint(handle)));
        let since = match before {
            Some(kept) if !kept.is_shown => "during this action",
            _ => "since the last snapshot",
        };
        self.replace(snapshot, request, lines, true);
        match changes {
            None => snapshot.to_text(refs, request),
            Some(changes) if changes.is_empty() => {
                fence::enclose(&snapshot.heading(), &format!("(nothing changed {since})\n"))
            }
            Some(changes) => fence::enclose(&snapshot.heading(), &format!("(changes {since})\n{changes}")),
        }
    }

    fn replace(
        &mut self,
        snapshot: &Snapshot,
        request: &SnapshotRequest,
        lines: Vec<KeptLine>,
        is_shown: bool,
    ) {
        self.kept.retain(|kept| kept.request != *request && kept.document == snapshot.document);
        if self.kept.len() >= SNAPSHOTS_REMEMBERED {
            self.kept.remove(0);
        }
        let document = snapshot.document.clone();
        self.kept.push(KeptSnapshot { request: request.clone(), document, lines, is_shown });
    }
}
