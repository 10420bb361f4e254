//! The list of actions. Command line, HTTP API, MCP tools, policy, audit log and reference pages are made from it.

use crate::action::Definition;
pub use crate::action::SESSION_ACTIONS;
pub use crate::actions::ALL as ACTIONS;
pub use crate::actions::script::SCRIPT_ACTIONS;

/// Finds an action on a page by its name, its command or an alias.
#[must_use]
pub fn find_page_action(name: &str) -> Option<&'static Definition> {
    let is_named = |action: &&Definition| {
        action.name == name || action.command_name() == name || action.aliases.contains(&name)
    };
    ACTIONS.iter().find(is_named)
}

/// Finds an action on a page or on a session by its name. The command line's spelling works too.
#[must_use]
pub fn find_action(name: &str) -> Option<&'static Definition> {
    let mut all = ACTIONS.iter().chain(SESSION_ACTIONS).chain(SCRIPT_ACTIONS);
    all.find(|action| action.name == name || action.command_name() == name)
}
