//! States of a node, such as checked or disabled.

use std::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::snapshot::text::page_text::PageText;

/// The states of one node, in the agent's order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct States(Vec<(StateName, StateValue)>);

/// The name of a state: one word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
struct StateName(String);

/// The value of a state.
#[derive(Clone, Debug, PartialEq, Eq)]
enum StateValue {
    Flag(bool),
    Word(PageText),
}

/// Most states of one node.
const STATES: usize = 24;

impl States {
    /// Whether there is nothing to write.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The states on a line, each after a space: ` checked expanded=false`.
impl fmt::Display for States {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in &self.0 {
            match value {
                StateValue::Flag(true) => write!(formatter, " {}", name.0)?,
                StateValue::Flag(false) => write!(formatter, " {}=false", name.0)?,
                StateValue::Word(word) if is_plain(word.as_str()) => {
                    write!(formatter, " {}={}", name.0, word.as_str())?;
                }
                StateValue::Word(word) => write!(formatter, " {}={}", name.0, word.quoted())?,
            }
        }
        Ok(())
    }
}

/// Whether a word needs no quotes.
fn is_plain(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-./".contains(&byte))
}

impl Serialize for States {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            match value {
                StateValue::Flag(flag) => map.serialize_entry(name, flag)?,
                StateValue::Word(word) => map.serialize_entry(name, word)?,
            }
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for States {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(StatesVisitor)
    }
}

struct StatesVisitor;

impl<'de> Visitor<'de> for StatesVisitor {
    type Value = States;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("states by name")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<States, A::Error> {
        let mut states = Vec::new();
        while let Some((name, value)) = map.next_entry::<String, Value>()? {
            let is_word =
                !name.is_empty() && name.len() <= 24 && name.bytes().all(|byte| byte.is_ascii_alphabetic());
            let value = match value {
                Value::Bool(flag) => StateValue::Flag(flag),
                Value::String(word) => StateValue::Word(PageText::cut(&word, 40)),
                Value::Number(number) => StateValue::Word(PageText::new(&number.to_string())),
                _ => continue,
            };
            if is_word && states.len() < STATES {
                states.push((StateName(name), value));
            }
        }
        Ok(States(states))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str, expected: &str) {
        let states: States = serde_json::from_str(json).expect("states");
        assert_eq!(states.to_string(), expected);
    }

    #[test]
    fn states_are_written_on_one_line() {
        check(r#"{}"#, "");
        check(
            r#"{"checked":true,"expanded":false,"haspopup":"menu"}"#,
            " checked expanded=false haspopup=menu",
        );
        check(r#"{"checked":"mixed","posinset":3}"#, " checked=mixed posinset=3");
    }

    #[test]
    fn t28_a_state_cannot_look_like_another_part_of_the_line() {
        check(
            r#"{"current":"page [e9]\n- button","a b":true,"":true,"x":{}}"#,
            " current=\"page [e9] - button\"",
        );
    }
}
