//! The last snapshots given, so that the next answer can say only what changed. Knows nothing of pages.

use super::delta::{KeptLine, kept_lines, write_delta};
use super::fence;
use super::limits::REMEMBERED_SNAPSHOTS;
use super::page_snapshot::Snapshot;
use super::ref_table::{DocumentName, RefTable};
use super::request::SnapshotRequest;

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

impl SnapshotMemory {
    /// Takes note of a snapshot that was given in full.
    pub(crate) fn remember(&mut self, snapshot: &Snapshot, request: &SnapshotRequest, refs: &mut RefTable) {
        let lines = kept_lines(&snapshot.nodes, refs);
        self.replace(snapshot, request, lines);
    }

    /// What changed since the last snapshot that was asked for in the same way, within a fence; all of the snapshot when
    /// there was none, when it was of another document, or when telling the changes would take longer.
    pub(crate) fn delta(
        &mut self,
        snapshot: &Snapshot,
        request: &SnapshotRequest,
        refs: &mut RefTable,
    ) -> String {
        let lines = kept_lines(&snapshot.nodes, refs);
        let before =
            self.kept.iter().find(|kept| kept.request == *request && kept.document == snapshot.document);
        let changes = before.and_then(|kept| write_delta(&kept.lines, &lines));
        self.replace(snapshot, request, lines);
        let Some(changes) = changes else { return snapshot.to_text(refs, request) };
        if changes.is_empty() {
            return fence::enclose(&snapshot.heading(), "(nothing changed since the last snapshot)\n");
        }
        let text =
            fence::enclose(&snapshot.heading(), &format!("(changes since the last snapshot)\n{changes}"));
        let whole = snapshot.to_text(refs, request);
        if whole.len() < text.len() { whole } else { text }
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.kept.clear();
    }

    fn replace(&mut self, snapshot: &Snapshot, request: &SnapshotRequest, lines: Vec<KeptLine>) {
        self.kept.retain(|kept| kept.request != *request && kept.document == snapshot.document);
        if self.kept.len() >= REMEMBERED_SNAPSHOTS {
            self.kept.remove(0);
        }
        self.kept.push(Kept { request: request.clone(), document: snapshot.document.clone(), lines });
    }
}
