//! The list of actions. The command line, the API, the docs and the schemas are made from it.

use crate::action::Definition;
pub use crate::actions::ALL as ACTIONS;

/// The action with this name; the command line's spelling counts too.
#[must_use]
pub fn find_action(name: &str) -> Option<&'static Definition> {
    ACTIONS.iter().find(|action| action.name == name || action.command_name() == name)
}
