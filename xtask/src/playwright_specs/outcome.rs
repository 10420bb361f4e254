//! Results of tests, by their names.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// The result of one test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    /// `passed`, `failed`, `skipped` or `broken`.
    pub(super) status: String,
    /// The error.
    pub(super) error: String,
}

/// Results by the name of the test: `file › suite › title`.
#[derive(Clone, Debug, Default)]
pub(super) struct Outcomes(BTreeMap<String, Outcome>);

impl Outcomes {
    /// Adds the results in JSON lines.
    pub(super) fn read(&mut self, lines: &str) {
        for line in lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            self.add(&line);
        }
    }

    /// Adds one result.
    pub(super) fn add(&mut self, line: &Value) {
        let text = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
        self.0.insert(text("id"), Outcome { status: text("status"), error: text("error") });
    }

    /// Takes over other results.
    pub(super) fn update(&mut self, other: Outcomes) {
        self.0.extend(other.0);
    }

    /// Keeps the tests whose name contains a text.
    pub(super) fn retain_matching(&mut self, text: &str) {
        self.0.retain(|id, _| id.contains(text));
    }

    /// The names of all tests, in order.
    pub(super) fn ids(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The names of the tests that passed, in order.
    pub(super) fn passed(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter(|(_, outcome)| outcome.status == "passed").map(|(id, _)| id.as_str())
    }

    pub(super) fn has_passed(&self, id: &str) -> bool {
        self.0.get(id).is_some_and(|outcome| outcome.status == "passed")
    }

    /// Why a test did not pass.
    pub(super) fn error(&self, id: &str) -> &str {
        match self.0.get(id) {
            None => "no result",
            Some(outcome) if outcome.error.is_empty() => &outcome.status,
            Some(outcome) => &outcome.error,
        }
    }

    /// A result as a JSON line.
    pub(super) fn line(&self, id: &str) -> String {
        let error = if self.has_passed(id) { "" } else { self.error(id) };
        format!("{}\n", json!({"id": id, "passed": self.has_passed(id), "error": error}))
    }
}

/// The group of a test: its file.
pub(super) fn group(id: &str) -> &str {
    id.split(" › ").next().unwrap_or(id)
}
