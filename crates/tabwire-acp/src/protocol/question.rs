//! Requests of an agent that the user answers: permissions and forms.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::limits::{DETAIL_BYTES, LIST_ENTRIES, NAME_BYTES};
use crate::protocol::text::{entries, find_id, find_text};
use crate::protocol::update::ToolFacts;

/// The id of a question, such as `q3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QuestionId(pub(crate) u64);

impl fmt::Display for QuestionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "q{}", self.0)
    }
}

impl std::str::FromStr for QuestionId {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        text.strip_prefix('q').and_then(|number| number.parse().ok()).map(Self).ok_or(())
    }
}

/// A question of the agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Its id.
    pub id: QuestionId,
    /// What it asks.
    pub kind: QuestionKind,
}

/// What a question asks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum QuestionKind {
    /// Whether a tool call may run.
    Permission {
        /// The call, with all that is known of it.
        tool: ToolFacts,
        /// Whether the adapter marks it as a call of an MCP tool.
        is_mcp: bool,
        /// The options.
        choices: Vec<PermissionChoice>,
    },
    /// A form.
    Form {
        /// The sentence above it.
        message: String,
        /// Its fields.
        fields: Vec<Field>,
    },
}

/// An option of a permission request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionChoice {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// `allow_once`, `allow_always`, `reject_once`, `reject_always`, or another word.
    pub kind: String,
}

/// A field of a form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// The member of the answer.
    pub name: String,
    /// Its label.
    pub title: String,
    /// What it takes.
    #[serde(flatten)]
    pub kind: FieldKind,
    /// Whether it must be filled.
    pub required: bool,
}

/// What a field takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FieldKind {
    /// Text.
    Text,
    /// One of several texts.
    Choice {
        /// The texts.
        choices: Vec<String>,
    },
    /// A number.
    Number,
    /// A whole number.
    Integer,
    /// Yes or no.
    Boolean,
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The id of an option of a permission request.
    Choose(String),
    /// The values of a form.
    Submit(BTreeMap<String, Value>),
    /// No.
    Decline,
    /// The user did not decide.
    Cancel,
}

impl QuestionKind {
    pub(crate) fn parse_permission(params: &Value) -> Option<Self> {
        let tool = ToolFacts::parse(params.get("toolCall")?)?;
        let choices: Vec<_> =
            entries(params, "options", LIST_ENTRIES).filter_map(PermissionChoice::parse).collect();
        let is_mcp = params["_meta"]["is_mcp_tool_approval"] == true;
        (!choices.is_empty()).then_some(Self::Permission { tool, is_mcp, choices })
    }

    pub(crate) fn parse_form(params: &Value) -> Option<Self> {
        let message = find_text(params, "message", DETAIL_BYTES)?;
        let schema = params.get("requestedSchema")?;
        let properties = schema.get("properties").and_then(Value::as_object)?;
        let required: Vec<&str> =
            entries(schema, "required", LIST_ENTRIES).filter_map(Value::as_str).collect();
        if properties.len() > LIST_ENTRIES {
            return None;
        }
        let fields = properties.iter().map(|(name, field)| {
            Some(Field {
                name: Some(name).filter(|name| name.len() <= NAME_BYTES)?.clone(),
                title: find_text(field, "title", NAME_BYTES).unwrap_or_else(|| name.clone()),
                kind: FieldKind::parse(field)?,
                required: required.contains(&name.as_str()),
            })
        });
        Some(Self::Form { message, fields: fields.collect::<Option<_>>()? })
    }

    /// The result that is sent for an answer. `None` when the answer does not fit the question.
    pub(crate) fn result(&self, answer: &Answer) -> Option<Value> {
        let cancelled = json!({"outcome": {"outcome": "cancelled"}});
        Some(match (self, answer) {
            (Self::Permission { choices, .. }, Answer::Choose(id)) => {
                choices.iter().find(|choice| choice.id == *id)?;
                json!({"outcome": {"outcome": "selected", "optionId": id}})
            }
            (Self::Permission { choices, .. }, Answer::Decline) => {
                match choices.iter().find(|choice| choice.kind == "reject_once") {
                    Some(no) => json!({"outcome": {"outcome": "selected", "optionId": no.id}}),
                    None => cancelled,
                }
            }
            (Self::Permission { .. }, Answer::Cancel) => cancelled,
            (Self::Form { fields, .. }, Answer::Submit(values)) => {
                let known = values.keys().all(|name| fields.iter().any(|field| field.name == *name));
                let fits = fields.iter().all(|field| match values.get(&field.name) {
                    Some(value) => field.kind.takes(value),
                    None => !field.required,
                });
                if !known || !fits {
                    return None;
                }
                let content: Map<String, Value> = values.clone().into_iter().collect();
                json!({"action": "accept", "content": content})
            }
            (Self::Form { .. }, Answer::Decline) => json!({"action": "decline"}),
            (Self::Form { .. }, Answer::Cancel) => json!({"action": "cancel"}),
            _ => return None,
        })
    }
}

impl PermissionChoice {
    fn parse(value: &Value) -> Option<Self> {
        let id = find_id(value, "optionId")?;
        Some(Self {
            name: find_text(value, "name", NAME_BYTES).unwrap_or_else(|| id.clone()),
            id,
            kind: find_id(value, "kind").unwrap_or_default(),
        })
    }
}

impl FieldKind {
    fn parse(field: &Value) -> Option<Self> {
        let titled = entries(field, "oneOf", LIST_ENTRIES).filter_map(|one| find_id(one, "const"));
        let plain = entries(field, "enum", LIST_ENTRIES).filter_map(Value::as_str).map(str::to_owned);
        let choices: Vec<String> = plain.chain(titled).collect();
        Some(match field.get("type").and_then(Value::as_str)? {
            "string" if choices.is_empty() => Self::Text,
            "string" => Self::Choice { choices },
            "number" => Self::Number,
            "integer" => Self::Integer,
            "boolean" => Self::Boolean,
            _ => return None,
        })
    }

    fn takes(&self, value: &Value) -> bool {
        match self {
            Self::Text => value.as_str().is_some_and(|text| text.len() <= DETAIL_BYTES),
            Self::Choice { choices } => {
                value.as_str().is_some_and(|text| choices.iter().any(|choice| choice == text))
            }
            Self::Number => value.is_number(),
            Self::Integer => value.is_i64() || value.is_u64(),
            Self::Boolean => value.is_boolean(),
        }
    }
}
