//! Settling: waiting until the effects of an action are over, from events and without fixed delays.
//!
//! An `InputAction` watches the page from before its input. After the input, the page agent reports whether the
//! document still changes, and events show requests, navigations and dialogs. Without activity the result is immediate.

mod activity;
mod input_action;
mod report;
mod watcher;

pub(crate) use input_action::InputAction;

use serde::Deserialize;

use crate::action::result::Changes;
use crate::snapshot::read_title;

/// How long typing and hovering wait for a list that the page opens with a delay, in milliseconds.
pub(crate) const DEBOUNCE: u64 = 400;

/// URL and title of a page.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct PageInfo {
    pub(crate) url: String,
    #[serde(deserialize_with = "read_title")]
    pub(crate) title: String,
}

/// What an action changed.
#[derive(Debug)]
pub(crate) struct SettleResult {
    pub(crate) changes: Changes,
    /// Whether the element has the expected value, if one was given.
    pub(crate) matches: Option<bool>,
}
