//! A file chooser that a page opened and that waits for files.

use serde::Deserialize;
use tabwire_cdp::CdpSession;
use tabwire_wire::FrameId;

/// An open file chooser.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FileChooser {
    /// The frame whose input it belongs to.
    pub(crate) frame_id: FrameId,
    /// `selectSingle` or `selectMultiple`.
    pub(crate) mode: String,
    /// The input, as the browser names it; absent for choosers without one.
    pub(crate) backend_node_id: Option<i64>,
    /// The process that told of it.
    #[serde(skip)]
    pub(crate) session: Option<CdpSession>,
}

impl FileChooser {
    pub(crate) fn on(mut self, session: &CdpSession) -> Self {
        self.session = Some(session.clone());
        self
    }

    /// Whether it takes several files.
    pub(crate) fn is_multiple(&self) -> bool {
        self.mode == "selectMultiple"
    }
}
