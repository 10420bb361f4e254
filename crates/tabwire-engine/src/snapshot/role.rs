//! What a thing in a snapshot is, and what follows from that for its line. Knows nothing of pages.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

/// A role as ARIA names it, and some of our own: `text`, `clickable`, `iframe`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub(crate) struct Role(String);

/// How a role is treated in a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RoleKind {
    /// It can be acted on.
    Acted,
    /// It is a part of a list or table: told by where it stands.
    Part,
    /// It is plain text.
    Text,
    /// It says where one is or holds other things.
    Structure,
}

impl Role {
    /// Takes a role's name; what cannot be one becomes `unknown`.
    pub(crate) fn new(name: &str) -> Self {
        let valid = name.len() <= 32 && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
        Self(if valid { name } else { "unknown" }.to_owned())
    }

    /// The role's name; empty for a note of ours.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// How it is treated.
    pub(crate) fn kind(&self) -> RoleKind {
        match self.as_str() {
            "button" | "checkbox" | "clickable" | "combobox" | "link" | "listbox" | "menuitem"
            | "menuitemcheckbox" | "menuitemradio" | "option" | "radio" | "scrollbar" | "searchbox"
            | "slider" | "spinbutton" | "switch" | "tab" | "textbox" | "treeitem" => RoleKind::Acted,
            "cell" | "columnheader" | "gridcell" | "listitem" | "row" | "rowheader" => RoleKind::Part,
            "text" => RoleKind::Text,
            _ => RoleKind::Structure,
        }
    }

    /// Whether it is a cell of a row.
    pub(crate) fn is_cell(&self) -> bool {
        matches!(self.as_str(), "cell" | "columnheader" | "gridcell" | "rowheader")
    }
}

impl<'de> Deserialize<'de> for Role {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::new(&String::deserialize(deserializer)?))
    }
}

impl fmt::Display for Role {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_is_one_word() {
        assert_eq!(Role::new("menuitemradio").as_str(), "menuitemradio");
        assert_eq!(Role::new("button [e9]").as_str(), "unknown");
        assert_eq!(Role::new(&"a".repeat(33)).as_str(), "unknown");
    }
}
