//! A summary of parameters or a result: names from a table, and of each value the part that its class shows.

use serde_json::{Map, Value};
use tabwire_api::LogVisibility;

use crate::entry::visibility::{CUT, visible_part};

/// Longest summary of parameters or of a result in a row, in bytes.
const SUMMARY_BYTES: usize = 1_024;

/// The logged members of an object. Members that the table does not name are left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary(Map<String, Value>);

impl Summary {
    /// Summarises an object, in the order of the table.
    #[must_use]
    pub fn of<N: AsRef<str>>(object: &Value, table: &[(N, LogVisibility)]) -> Self {
        let Some(members) = object.as_object() else { return Self::default() };
        let mut logged = Map::new();
        let mut bytes = 2;
        for (name, visibility) in table {
            let name = name.as_ref();
            let shown = members.get(name).and_then(|value| visible_part(*visibility, value));
            let Some(value) = shown else { continue };
            bytes += name.len() + 4 + value.to_string().len();
            if bytes > SUMMARY_BYTES {
                break;
            }
            logged.insert(name.to_owned(), value);
        }
        Self(logged)
    }

    /// This summary and the members of another one.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// The same names without values, for parameters that the action rejected.
    #[must_use]
    pub fn without_values(self) -> Self {
        Self(self.0.into_iter().map(|(name, _)| (name, Value::from(CUT))).collect())
    }

    /// Whether there are no members.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A member that is text.
    #[must_use]
    pub fn find_text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }

    pub(crate) fn to_text(&self) -> Option<String> {
        (!self.0.is_empty()).then(|| serde_json::to_string(&self.0).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TABLE: &[(&str, LogVisibility)] = &[
        ("target", LogVisibility::Target),
        ("value", LogVisibility::Hidden),
        ("nth", LogVisibility::Keyword),
    ];

    #[test]
    fn t39_only_members_of_the_table_are_logged() {
        let given = json!({"value": "secret", "target": "#a", "secret": "secret", "nth": null});
        assert_eq!(Summary::of(&given, TABLE).to_text().as_deref(), Some(r##"{"target":"#a","value":"…"}"##));
        let names = Summary::of(&given, TABLE).without_values().to_text();
        assert_eq!(names.as_deref(), Some(r#"{"target":"…","value":"…"}"#));
        assert!(Summary::of(&json!("secret"), TABLE).is_empty());
        assert_eq!(Summary::default().to_text(), None);
    }

    #[test]
    fn a_summary_is_bounded() {
        let table: Vec<(&'static str, LogVisibility)> =
            ["a", "b", "c", "d", "e", "f", "g", "h"].map(|name| (name, LogVisibility::Path)).into();
        let long: Map<String, Value> =
            table.iter().map(|(name, _)| ((*name).to_owned(), json!("x".repeat(500)))).collect();
        let text = Summary::of(&Value::Object(long), &table).to_text().expect("something");
        assert!(text.len() <= SUMMARY_BYTES && text.len() > SUMMARY_BYTES / 2, "{}", text.len());
    }
}
