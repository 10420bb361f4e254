//! Plain data in BiDi's serialisation, as JSON. The browser itself serialises it, so that the page notices nothing and cannot
//! change it.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::message::text;

/// Levels of objects that the browser is asked for. A message nests three times as deep, which JSON readers bound.
pub(crate) const LEVELS: usize = 20;

/// The JSON of a value of objects, arrays and primitives, as Chrome returns it by value: without members that are
/// functions, symbols or undefined. `None` for anything else, for cycles and for values with more than [`LEVELS`].
pub(crate) fn to_plain(value: &Value) -> Option<Value> {
    matches!(text(value, "type"), "object" | "array")
        .then(|| Reader::default().read(value))
        .flatten()
        .flatten()
}

/// What was read so far.
#[derive(Default)]
struct Reader {
    /// Values that occur again, by the id that BiDi gives them.
    known: BTreeMap<String, Value>,
}

impl Reader {
    /// `None` for a value that is not plain, `Some(None)` for one that is left out.
    fn read(&mut self, value: &Value) -> Option<Option<Value>> {
        let inner = value.get("value");
        Some(match (text(value, "type"), inner) {
            ("undefined" | "function" | "symbol" | "bigint", _) => None,
            ("null", _) => Some(Value::Null),
            ("string" | "boolean", Some(inner)) => Some(inner.clone()),
            // `NaN` and infinity come as text.
            ("number", Some(inner)) => match inner.as_str() {
                Some("-0") => Some(Value::from(0)),
                Some(_) => Some(Value::Null),
                None => Some(inner.clone()),
            },
            ("object" | "array", Some(Value::Array(members))) => {
                let read = match text(value, "type") {
                    "array" => self.read_array(members)?,
                    _ => self.read_object(members)?,
                };
                let id = text(value, "internalId");
                if !id.is_empty() {
                    self.known.insert(id.to_owned(), read.clone());
                }
                Some(read)
            }
            // It occurred before. Inside itself it is not known yet.
            ("object" | "array", None) => Some(self.known.get(text(value, "internalId"))?.clone()),
            _ => return None,
        })
    }

    fn read_array(&mut self, items: &[Value]) -> Option<Value> {
        items.iter().map(|item| Some(self.read(item)?.unwrap_or_default())).collect()
    }

    fn read_object(&mut self, entries: &[Value]) -> Option<Value> {
        let mut object = Map::new();
        for entry in entries {
            let key = entry.get(0)?.as_str()?;
            if let Some(member) = self.read(entry.get(1)?)? {
                object.insert(key.to_owned(), member);
            }
        }
        Some(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn plain_data_is_read_without_what_json_lacks() {
        let number = |value: Value| json!({"type": "number", "value": value});
        let value = json!({"type": "object", "value": [
            ["a", number(json!(1))],
            ["b", {"type": "array", "value": [number(json!("NaN")), {"type": "undefined"}, number(json!("-0"))]}],
            ["c", {"type": "function", "handle": "h"}],
            ["d", {"type": "null"}],
            ["e", {"type": "object", "value": []}],
        ]});
        assert_eq!(to_plain(&value), Some(json!({"a": 1, "b": [null, null, 0], "d": null, "e": {}})));
    }

    #[test]
    fn values_that_occur_twice_are_copied_and_cycles_are_not_plain() {
        let shared = json!({"type": "array", "internalId": "1", "value": [{"type": "string", "value": "x"}]});
        let again = json!({"type": "array", "internalId": "1"});
        let both = json!({"type": "object", "value": [["a", shared], ["b", again]]});
        assert_eq!(to_plain(&both), Some(json!({"a": ["x"], "b": ["x"]})));
        let inside = json!({"type": "object", "internalId": "2"});
        let cycle = json!({"type": "object", "internalId": "2", "value": [["self", inside]]});
        assert_eq!(to_plain(&cycle), None);
    }

    #[test]
    fn other_objects_are_not_plain() {
        for kind in ["date", "map", "node", "typedarray", "promise", "error"] {
            let inside = json!({"type": "array", "value": [{"type": kind, "value": []}]});
            assert_eq!((to_plain(&inside), to_plain(&json!({"type": kind}))), (None, None), "{kind}");
        }
        // Deeper than the browser was asked for.
        assert_eq!(to_plain(&json!({"type": "array", "value": [{"type": "object"}]})), None);
        assert_eq!(to_plain(&json!({"type": "string", "value": "x"})), None);
    }
}
