//! What is told of an action's parameters or result: names from a table, values as far as the table allows.

use serde_json::{Map, Value};

use crate::limits::SUMMARY_BYTES;
use crate::telling::{CUT, Telling};

/// Members of an object, told by a table. What the table does not name is not told.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary(Map<String, Value>);

impl Summary {
    /// Tells what a table allows of an object, in the table's order.
    #[must_use]
    pub fn of(object: &Value, table: &[(&'static str, Telling)]) -> Self {
        let Some(members) = object.as_object() else { return Self::default() };
        let mut told = Map::new();
        let mut bytes = 2;
        for (name, telling) in table {
            let Some(value) = members.get(*name).and_then(|value| telling.tell(value)) else { continue };
            bytes += name.len() + 4 + value.to_string().len();
            if bytes > SUMMARY_BYTES {
                break;
            }
            told.insert((*name).to_owned(), value);
        }
        Self(told)
    }

    /// This and what another one tells.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// The same names with no values: for parameters that are not the action's own.
    #[must_use]
    pub fn without_values(self) -> Self {
        Self(self.0.into_iter().map(|(name, _)| (name, Value::from(CUT))).collect())
    }

    /// Whether nothing is told.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn to_text(&self) -> Option<String> {
        (!self.0.is_empty()).then(|| serde_json::to_string(&self.0).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TABLE: &[(&str, Telling)] =
        &[("target", Telling::Target), ("value", Telling::Hidden), ("nth", Telling::Word)];

    #[test]
    fn t39_only_what_the_table_names_is_told() {
        let given = json!({"value": "secret", "target": "#a", "secret": "secret", "nth": null});
        assert_eq!(Summary::of(&given, TABLE).to_text().as_deref(), Some(r##"{"target":"#a","value":"…"}"##));
        let names = Summary::of(&given, TABLE).without_values().to_text();
        assert_eq!(names.as_deref(), Some(r#"{"target":"…","value":"…"}"#));
        assert!(Summary::of(&json!("secret"), TABLE).is_empty());
        assert_eq!(Summary::default().to_text(), None);
    }

    #[test]
    fn a_summary_is_bounded() {
        let table: Vec<(&'static str, Telling)> =
            ["a", "b", "c", "d", "e", "f", "g", "h"].map(|name| (name, Telling::Path)).into();
        let long: Map<String, Value> =
            table.iter().map(|(name, _)| ((*name).to_owned(), json!("x".repeat(500)))).collect();
        let text = Summary::of(&Value::Object(long), &table).to_text().expect("something");
        assert!(text.len() <= SUMMARY_BYTES && text.len() > SUMMARY_BYTES / 2, "{}", text.len());
    }
}
