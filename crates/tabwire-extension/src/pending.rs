//! What the extension was asked and has not answered.

use serde_json::Value;
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
    /// Input was given to a tab.
    Input(ChromeTab),
    /// A script for new documents: the browser's name of it is kept beside the one that was given.
    AddScript { session: CdpSessionId, place: DebuggeeId, given: String },
    /// A world was made that a client knows by a number of ours.
    MakeWorld { session: CdpSessionId, number: i64 },
    /// What was kept for a tab is in force.
    SetUp(ChromeTab),
    /// All that was in a tab when this was asked is told. Who takes it up is waited for so many times more; `was_quiet`
    /// when nobody seemed to.
    TakenUp { tab: ChromeTab, looks: u32, was_quiet: bool },
    /// The browser attaches to what is below a place; its client is answered when it was told of what is there.
    AutoAttach,
    /// Everything that was to be told before is told.
    Told,
    /// The worlds of a place were told; what waits for another waits in vain.
    WorldsTold(DebuggeeId),
    /// The debugger is on a tab.
    Attach(ChromeTab),
    /// A tab was opened, and is to go to an address.
    Open { url: String },
    /// A new tab has gone to its address; its target is the answer.
    Arrive { target: String },
    /// A picture was taken within a screencast of our own.
    Capture(DebuggeeId),
    /// The file of a finished download is looked for; this is what its client is to be told.
    Download(Value),
    /// A tab was closed.
    Close(ChromeTab),
    /// Done, with nothing to say.
    Done,
}

#[derive(Clone, Debug)]
pub(crate) struct Pending {
    pub(crate) asker: Asker,
    pub(crate) task: Task,
}
