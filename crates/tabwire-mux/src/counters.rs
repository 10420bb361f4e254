//! Counters of the mux. Misrouted responses are a bug; the others explain unusual clients and browsers.

/// Running totals since the mux was created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Frames received from clients.
    pub from_clients: u64,
    /// Frames received from the browser.
    pub from_browser: u64,
    /// Responses to ids with no pending command: late, repeated or invented.
    pub responses_unknown: u64,
    /// Responses that arrived on another CDP session than their command was sent on.
    pub responses_misrouted: u64,
    /// Events on CDP sessions without an owner.
    pub events_unowned: u64,
    /// Frames that could not be parsed.
    pub malformed: u64,
    /// Commands refused because they named a target, context or session of another client.
    pub refused_foreign: u64,
    /// Commands that a client's guard refused.
    pub refused_by_guard: u64,
    /// Responses and events that a client's guard withheld.
    pub withheld_by_guard: u64,
    /// Document requests that a guard stopped.
    pub documents_stopped: u64,
    /// Paused targets resumed because their clients took too long.
    pub resumed_by_deadline: u64,
    /// Commands dropped because the browser never responded.
    pub expired: u64,
}
