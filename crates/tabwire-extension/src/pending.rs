//! What the extension was asked and has not answered.

use tabwire_wire::CdpSessionId;

use crate::debuggee::DebuggeeId;
use crate::link_message::ChromeTab;

/// Who is to be answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Asker {
    /// The hub, on the cdp session it asked on.
    Hub { session: Option<CdpSessionId>, id: i64 },
    /// Nobody: the answer was given before, or is of no interest.
    Nobody,
}

/// What an answer means.
#[derive(Clone, Debug)]
pub(crate) enum Task {
    /// Passed on as it is.
    Pass,
    /// A script for new documents: its name is kept. `given` is one that was made up before the tab was attached.
    AddScript { session: CdpSessionId, place: DebuggeeId, given: Option<String> },
    /// The debugger is on a tab.
    Attach(ChromeTab),
    /// A tab was opened, and is to go to an address.
    Open { url: String },
    /// A new tab has gone to its address; its target is the answer.
    Arrive { target: String },
    /// A picture was taken within a screencast of our own.
    Capture(DebuggeeId),
    /// A tab was closed.
    Close,
    /// Done, with nothing to say.
    Done,
}

#[derive(Clone, Debug)]
pub(crate) struct Pending {
    pub(crate) asker: Asker,
    pub(crate) task: Task,
}
