//! What a caller wants of a session's browser. Knows nothing of how it is got.

use tabwire_wire::api::SessionOptions;

/// What a caller wants of a session's browser.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wish<'a> {
    /// Asked for: must fit a browser that runs.
    pub(crate) options: &'a SessionOptions,
    /// Where nothing was asked for.
    pub(crate) defaults: &'a SessionOptions,
    /// Whether a browser that runs otherwise is started anew.
    pub(crate) restart: bool,
    /// Whether another browser may stand in for one that was attached to and is gone.
    pub(crate) newcomer: Newcomer,
}

/// What becomes of another browser at the address of one that was attached to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Newcomer {
    /// It is left alone, and the caller is told.
    Refused,
    /// It is used: the caller asked for whatever is there.
    Taken,
}

impl<'a> Wish<'a> {
    /// What a request wants; who asks to start anew takes what is there.
    pub(crate) const fn new(
        options: &'a SessionOptions,
        defaults: &'a SessionOptions,
        restart: bool,
    ) -> Self {
        let newcomer = if restart { Newcomer::Taken } else { Newcomer::Refused };
        Self { options, defaults, restart, newcomer }
    }
}
