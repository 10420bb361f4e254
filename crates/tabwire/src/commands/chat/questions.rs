//! The questions that wait for the user of a terminal, and what a line answers.

use std::collections::VecDeque;

use serde_json::{Map, Value, json};
use tabwire_engine::plain_line;

use super::transcript;

/// Characters of a name in a question.
const NAME: usize = 200;

/// One question.
#[derive(Debug)]
struct Question {
    id: String,
    text: String,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// The ids and names of the choices.
    Choices(Vec<(String, String)>),
    /// The fields of a form, and the values so far.
    Form { fields: Vec<Value>, values: Map<String, Value> },
}

/// What a line means.
#[derive(Debug, PartialEq)]
pub(super) enum LineMeaning {
    /// The body of the answer.
    Answer(Value),
    /// What the user sees next.
    Next(Vec<String>),
}

/// The questions that wait, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Questions(VecDeque<Question>);

impl Questions {
    /// Adds the question of an item. Returns the lines to show, if it is the first.
    pub(super) fn add(&mut self, item: &Value) -> Vec<String> {
        let is_approval = item["item"] == "approval";
        let id = item[if is_approval { "approval" } else { "question" }].as_str().unwrap_or_default();
        if self.0.iter().any(|question| question.id == id) {
            return Vec::new();
        }
        let text = if is_approval {
            plain_line(item["text"].as_str().unwrap_or_default(), 400)
        } else {
            transcript::question(item)
        };
        self.0.push_back(Question { id: id.to_owned(), text, kind: Kind::of(item, is_approval) });
        if self.0.len() == 1 { self.show() } else { Vec::new() }
    }

    /// Removes a question that was answered elsewhere or withdrawn. Returns whether it was shown, and the next one.
    pub(super) fn remove(&mut self, id: &str) -> Option<Vec<String>> {
        let is_first = self.0.front().is_some_and(|question| question.id == id);
        self.0.retain(|question| question.id != id);
        is_first.then(|| self.show())
    }

    fn show(&self) -> Vec<String> {
        let Some(question) = self.0.front() else { return Vec::new() };
        let mut lines = vec![question.text.clone()];
        match &question.kind {
            Kind::Choices(choices) => {
                lines.extend(
                    choices.iter().enumerate().map(|(at, (_, name))| format!("  {}  {name}", at + 1)),
                );
                lines.push("  n  No".to_owned());
            }
            Kind::Form { fields, values } => {
                lines.push("  n  No".to_owned());
                lines.extend(next_field(fields, values).map(field_text));
            }
        }
        lines
    }

    /// Takes a line as the answer to the first question.
    pub(super) fn typed(&mut self, line: &str) -> Option<LineMeaning> {
        let question = self.0.front_mut()?;
        let word = line.trim();
        if matches!(word, "n" | "N" | "no") {
            let id = self.0.pop_front()?.id;
            return Some(LineMeaning::Answer(json!({"id": id, "decline": true})));
        }
        match &mut question.kind {
            Kind::Choices(choices) => {
                let number = word.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
                let Some((choice, _)) = number.and_then(|number| choices.get(number)) else {
                    return Some(LineMeaning::Next(vec!["  A number, or n.".to_owned()]));
                };
                let body = json!({"id": question.id, "choice": choice});
                self.0.pop_front();
                Some(LineMeaning::Answer(body))
            }
            Kind::Form { fields, values } => {
                if let Some(field) = next_field(fields, values) {
                    let name = field["name"].as_str().unwrap_or_default().to_owned();
                    match field_value(field, word) {
                        Some(value) => drop(values.insert(name, value)),
                        None => return Some(LineMeaning::Next(vec![field_text(field)])),
                    }
                }
                if let Some(field) = next_field(fields, values) {
                    return Some(LineMeaning::Next(vec![field_text(field)]));
                }
                // A field that was left out is null here.
                let given: Map<String, Value> = values
                    .iter()
                    .filter(|(_, value)| !value.is_null())
                    .map(|(n, v)| (n.clone(), v.clone()))
                    .collect();
                let body = json!({"id": question.id, "values": given});
                self.0.pop_front();
                Some(LineMeaning::Answer(body))
            }
        }
    }

    /// The lines of the question that is first now.
    pub(super) fn current(&self) -> Vec<String> {
        self.show()
    }
}

impl Kind {
    fn of(item: &Value, is_approval: bool) -> Self {
        if is_approval {
            let words = ["once", "session", "agent", "always"];
            return Self::Choices(
                words.iter().map(|word| ((*word).to_owned(), (*word).to_owned())).collect(),
            );
        }
        if item["kind"] == "form" {
            let fields = item["fields"].as_array().cloned().unwrap_or_default();
            return Self::Form { fields, values: Map::new() };
        }
        let offered = item["choices"].as_array().map(Vec::as_slice).unwrap_or_default();
        let text = |choice: &Value, name: &str| plain_line(choice[name].as_str().unwrap_or_default(), NAME);
        let allows = offered
            .iter()
            .filter(|choice| choice["kind"].as_str().is_some_and(|kind| kind.starts_with("allow")));
        let choices =
            allows.map(|choice| (choice["id"].as_str().unwrap_or_default().to_owned(), text(choice, "name")));
        Self::Choices(choices.collect())
    }
}

fn next_field<'a>(fields: &'a [Value], values: &Map<String, Value>) -> Option<&'a Value> {
    fields.iter().find(|field| !values.contains_key(field["name"].as_str().unwrap_or_default()))
}

fn field_text(field: &Value) -> String {
    let text = |name: &str| plain_line(field[name].as_str().unwrap_or_default(), NAME);
    let kind = match field["type"].as_str() {
        Some("choice") => {
            let choices = field["choices"].as_array().map(Vec::as_slice).unwrap_or_default();
            let names = choices.iter().filter_map(Value::as_str).map(|one| plain_line(one, NAME));
            names.collect::<Vec<_>>().join(" | ")
        }
        Some("boolean") => "true | false".to_owned(),
        Some(other) => plain_line(other, NAME),
        None => String::new(),
    };
    let optional = if field["required"] == true { "" } else { ", empty: leave out" };
    format!("  {} ({kind}{optional}):", text("title"))
}

/// The value of a field; null when it is left out; none when the text does not fit.
fn field_value(field: &Value, text: &str) -> Option<Value> {
    if text.is_empty() {
        return (field["required"] != true).then_some(Value::Null);
    }
    match field["type"].as_str() {
        Some("boolean") => text.parse::<bool>().ok().map(Value::from),
        Some("integer") => text.parse::<i64>().ok().map(Value::from),
        Some("number") => text.parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::from),
        Some("choice") => {
            let known = field["choices"].as_array()?.iter().any(|choice| choice == text);
            known.then(|| Value::from(text))
        }
        _ => Some(Value::from(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_asked_field_by_field() {
        let item = json!({"item": "question", "question": "q1", "kind": "form", "message": "Order?", "fields": [
            {"name": "size", "title": "Size", "type": "choice", "choices": ["S", "L"], "required": true},
            {"name": "count", "title": "Count", "type": "integer", "required": false},
            {"name": "gift", "title": "Gift", "type": "boolean", "required": true},
        ]});
        let mut questions = Questions::default();
        assert!(questions.add(&item).iter().any(|line| line.contains("Size (S | L)")));
        assert!(questions.add(&item).is_empty(), "it is shown once");
        assert!(matches!(questions.typed("XL"), Some(LineMeaning::Next(lines)) if lines[0].contains("Size")));
        assert!(matches!(questions.typed("L"), Some(LineMeaning::Next(lines)) if lines[0].contains("Count")));
        assert!(matches!(questions.typed(""), Some(LineMeaning::Next(lines)) if lines[0].contains("Gift")));
        let answer = json!({"id": "q1", "values": {"size": "L", "gift": true}});
        assert_eq!(questions.typed("true"), Some(LineMeaning::Answer(answer)));
        assert_eq!(questions.typed("1"), None);
    }

    #[test]
    fn an_answer_elsewhere_shows_the_next_question() {
        let question = |id: &str| {
            json!({"item": "question", "question": id, "kind": "permission", "tool": {"title": id},
                "choices": [{"id": "once", "name": "Allow", "kind": "allow_once"}]})
        };
        let mut questions = Questions::default();
        assert!(questions.add(&question("q1")).iter().any(|line| line == "  1  Allow"));
        assert!(questions.add(&question("q2")).is_empty());
        assert_eq!(questions.remove("q2"), None);
        questions.add(&question("q3"));
        assert!(questions.remove("q1").expect("it was shown")[0].contains("q3"));
        assert_eq!(questions.typed("7"), Some(LineMeaning::Next(vec!["  A number, or n.".to_owned()])));
        assert_eq!(questions.typed("n"), Some(LineMeaning::Answer(json!({"id": "q3", "decline": true}))));
    }
}
