//! Roles, and how each is written.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An ARIA role, or one of our own: `text`, `clickable`, `iframe`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Role {
    name: Cow<'static, str>,
    kind: RoleKind,
}

/// The most common roles, most common first.
const COMMON: &[&str] = &[
    "link",
    "button",
    "text",
    "listitem",
    "cell",
    "row",
    "heading",
    "list",
    "img",
    "clickable",
    "textbox",
    "checkbox",
    "combobox",
    "option",
    "tab",
    "radio",
    "navigation",
    "region",
    "table",
    "columnheader",
    "rowheader",
    "gridcell",
    "menuitem",
    "main",
    "article",
    "form",
    "iframe",
    "group",
    "dialog",
    "status",
    "searchbox",
    "banner",
    "contentinfo",
    "complementary",
    "",
];

/// How a role is treated in a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum RoleKind {
    /// Interactive.
    ActionResult,
    /// Part of a list or table: identified by its position.
    Part,
    /// Plain text.
    Text,
    /// Context or container.
    Structure,
}

impl Role {
    /// Takes the name of a role; invalid names become `unknown`.
    pub(crate) fn new(name: &str) -> Self {
        let valid = |byte: u8| byte.is_ascii_lowercase() || byte == b'-';
        let name = match COMMON.iter().find(|common| **common == name) {
            Some(common) => Cow::Borrowed(*common),
            None if name.len() <= 32 && name.bytes().all(valid) => Cow::Owned(name.to_owned()),
            None => Cow::Borrowed("unknown"),
        };
        let kind = RoleKind::of(&name);
        Self { name, kind }
    }

    /// The name of the role; empty for a note.
    pub(crate) fn as_str(&self) -> &str {
        &self.name
    }

    /// How it is treated.
    pub(crate) fn kind(&self) -> RoleKind {
        self.kind
    }

    /// Whether it is a cell of a row.
    pub(crate) fn is_cell(&self) -> bool {
        matches!(self.as_str(), "cell" | "columnheader" | "gridcell" | "rowheader")
    }
}

impl<'de> Deserialize<'de> for Role {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Name)
    }
}

struct Name;

impl Visitor<'_> for Name {
    type Value = Role;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a role's name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Role, E> {
        Ok(Role::new(name))
    }
}

impl Serialize for Role {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl RoleKind {
    fn of(role: &str) -> Self {
        match role {
            "button" | "checkbox" | "clickable" | "combobox" | "link" | "listbox" | "menuitem"
            | "menuitemcheckbox" | "menuitemradio" | "option" | "radio" | "scrollbar" | "searchbox"
            | "slider" | "spinbutton" | "switch" | "tab" | "textbox" | "treeitem" => Self::ActionResult,
            "cell" | "columnheader" | "gridcell" | "listitem" | "row" | "rowheader" => Self::Part,
            "text" => Self::Text,
            _ => Self::Structure,
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
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
