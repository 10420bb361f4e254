//! Completion: which words could come next. One walk over the command line's definition serves every shell.
//!
//! Starts no daemon and no browser. Errors are not printed: they would disturb the user's input.

mod live_names;
mod offer;
mod script;
mod typed_line;

pub(crate) use live_names::RunningWorld;
pub(crate) use offer::{Offer, offer};
pub(crate) use script::CompletionShell;
