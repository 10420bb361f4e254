//! The options of a session: model, effort, mode and what else an agent offers.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::limits::{DETAIL_BYTES, LIST_ENTRIES, NAME_BYTES};
use crate::protocol::text::{entries, find_id, find_text};

/// The id of the option that stands for the modes of an agent without options.
pub(crate) const MODE: &str = "mode";

/// One option.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigOption {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its category, such as `model`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Its kind and value.
    #[serde(flatten)]
    pub kind: OptionKind,
    /// Whether it is set by `session/set_mode`.
    #[serde(skip)]
    pub(crate) is_mode: bool,
}

/// The kind of an option, and its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum OptionKind {
    /// One of several values.
    Select {
        /// The value.
        value: String,
        /// The values to choose from.
        choices: Vec<Choice>,
    },
    /// On or off.
    Boolean {
        /// The value.
        value: bool,
    },
}

/// A value to choose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// The value.
    pub value: String,
    /// Its name.
    pub name: String,
    /// What it means.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// A new value of an option.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum OptionValue {
    /// For a switch.
    Boolean(bool),
    /// For a selection.
    Text(String),
}

/// The options in a result or an update: `configOptions`, otherwise `modes`. `None` when it has neither.
pub(crate) fn parse_options(value: &Value) -> Option<Vec<ConfigOption>> {
    if value.get("configOptions").is_some_and(Value::is_array) {
        return Some(entries(value, "configOptions", LIST_ENTRIES).filter_map(ConfigOption::parse).collect());
    }
    ConfigOption::of_modes(value.get("modes")?).map(|option| vec![option])
}

impl ConfigOption {
    fn parse(value: &Value) -> Option<Self> {
        let id = find_id(value, "id")?;
        let kind = match value.get("type").and_then(Value::as_str)? {
            "select" => {
                OptionKind::Select { value: find_id(value, "currentValue")?, choices: choices(value) }
            }
            "boolean" => OptionKind::Boolean { value: value.get("currentValue")?.as_bool()? },
            _ => return None,
        };
        Some(Self {
            name: find_text(value, "name", NAME_BYTES).unwrap_or_else(|| id.clone()),
            id,
            category: find_id(value, "category"),
            kind,
            is_mode: false,
        })
    }

    fn of_modes(modes: &Value) -> Option<Self> {
        let value = find_id(modes, "currentModeId")?;
        let choices = entries(modes, "availableModes", LIST_ENTRIES);
        let choices = choices.filter_map(|mode| Choice::parse(mode, "id")).collect();
        Some(Self {
            id: MODE.to_owned(),
            name: "Mode".to_owned(),
            category: Some(MODE.to_owned()),
            kind: OptionKind::Select { value, choices },
            is_mode: true,
        })
    }

    /// Whether a value is one of this option's values.
    #[must_use]
    pub fn takes(&self, new: &OptionValue) -> bool {
        match (&self.kind, new) {
            (OptionKind::Select { choices, .. }, OptionValue::Text(text)) => {
                choices.iter().any(|choice| choice.value == *text)
            }
            (OptionKind::Boolean { .. }, OptionValue::Boolean(_)) => true,
            _ => false,
        }
    }

    /// Whether this is the value now.
    #[must_use]
    pub fn has(&self, wanted: &OptionValue) -> bool {
        match (&self.kind, wanted) {
            (OptionKind::Select { value, .. }, OptionValue::Text(text)) => value == text,
            (OptionKind::Boolean { value }, OptionValue::Boolean(on)) => value == on,
            _ => false,
        }
    }

    /// Changes the value.
    pub(crate) fn set(&mut self, new: &OptionValue) {
        match (&mut self.kind, new) {
            (OptionKind::Select { value, .. }, OptionValue::Text(text)) => value.clone_from(text),
            (OptionKind::Boolean { value }, OptionValue::Boolean(on)) => *value = *on,
            _ => {}
        }
    }

    /// The method and parameters that set a value.
    pub(crate) fn request(&self, session: &str, new: &OptionValue) -> (&'static str, Value) {
        if self.is_mode {
            return ("session/set_mode", json!({"sessionId": session, "modeId": new}));
        }
        let mut params = json!({"sessionId": session, "configId": self.id, "value": new});
        if matches!(new, OptionValue::Boolean(_)) {
            params["type"] = json!("boolean");
        }
        ("session/set_config_option", params)
    }
}

/// The values of a selection. They can be in groups, whose names are left out.
fn choices(option: &Value) -> Vec<Choice> {
    let mut found = Vec::new();
    for entry in entries(option, "options", LIST_ENTRIES) {
        if entry.get("options").is_some_and(Value::is_array) {
            found.extend(
                entries(entry, "options", LIST_ENTRIES).filter_map(|one| Choice::parse(one, "value")),
            );
        } else {
            found.extend(Choice::parse(entry, "value"));
        }
    }
    found.truncate(LIST_ENTRIES);
    found
}

impl Choice {
    fn parse(value: &Value, key: &str) -> Option<Self> {
        let id = find_id(value, key)?;
        Some(Self {
            name: find_text(value, "name", NAME_BYTES).unwrap_or_else(|| id.clone()),
            value: id,
            description: find_text(value, "description", DETAIL_BYTES),
        })
    }
}
