//! Actions that only scripts call. They share policy, audit log and masking with all others, but are neither commands nor
//! MCP tools.

mod evaluate;
mod expect;
mod query;

use crate::action::Definition;

/// Every action that only scripts call.
pub static SCRIPT_ACTIONS: &[Definition] = &[
    Definition::of::<query::Query>(),
    Definition::of::<expect::Expect>(),
    Definition::of::<evaluate::Evaluate>(),
];
