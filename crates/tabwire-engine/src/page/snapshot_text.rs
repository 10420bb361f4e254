//! The snapshot of a page as text, for results of actions that show a new page.

use tabwire_api::Failure;
use tabwire_cdp::Deadline;

use crate::action::context::Context;
use crate::page::Page;
use crate::snapshot::{Snapshot, SnapshotLines, SnapshotRequest};

impl Page {
    /// The page's snapshot in its fence, with refs. Later changes are compared with it.
    ///
    /// # Errors
    /// When the page cannot be read, or not within the deadline.
    pub async fn snapshot_text(&self, deadline: Deadline) -> Result<String, Failure> {
        let render = |snapshot: &Snapshot, request: &SnapshotRequest| {
            let text = snapshot.to_text(&mut self.refs(), request);
            (SnapshotLines::of(snapshot), text)
        };
        let view = self.view_as(SnapshotRequest::default(), None, deadline, render).await?;
        let (lines, text) = view.made;
        self.memory().remember(&view.snapshot, &view.request, lines);
        Ok(text.trim_end().to_owned())
    }

    /// The snapshot after a navigation, if the client requested it.
    pub(crate) async fn requested_snapshot(&self, context: &Context) -> Result<Option<String>, Failure> {
        if !context.snapshot {
            return Ok(None);
        }
        if !context.is_filtered {
            let notice = "The snapshot is left out: the session's policy is weaker than the request's.";
            context.notices.add([notice.to_owned()]);
            return Ok(None);
        }
        self.snapshot_text(context.deadline).await.map(Some)
    }
}
