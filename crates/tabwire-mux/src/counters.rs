//! What the mux counts. A crossing is a bug; the rest explains odd peers.

/// Running totals since the mux was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Frames taken from clients.
    pub from_clients: u64,
    /// Frames taken from the browser.
    pub from_browser: u64,
    /// Answers to ids nobody waits for: late, doubled or made up.
    pub responses_unknown: u64,
    /// Answers that came back on another CDP session than they were asked on.
    pub responses_misrouted: u64,
    /// Events on CDP sessions nobody owns.
    pub events_unowned: u64,
    /// Frames that could not be read.
    pub malformed: u64,
    /// Commands refused because they named what belongs to another client.
    pub refused_foreign: u64,
    /// Commands that a client's guard did not let out.
    pub refused_by_guard: u64,
    /// Answers and events that a client's guard kept from it.
    pub withheld_by_guard: u64,
    /// Documents that pages were kept from asking for.
    pub documents_stopped: u64,
    /// Paused targets let run because their clients took too long.
    pub resumed_by_deadline: u64,
    /// Commands forgotten because the browser never answered.
    pub expired: u64,
}
