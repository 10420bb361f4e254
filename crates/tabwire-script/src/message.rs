//! The messages between the daemon and the process of a script: JSON objects, one per line, of bounded length.
//!
//! The daemon trusts none of the lines that a process sends.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::limits::LINE_BYTES;

/// A message of the daemon.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToChild {
    /// Run code.
    Run(Box<Run>),
    /// The result of a call.
    Response(Response),
    /// A fact about the session's browser.
    Event(Event),
    /// End the current run.
    Cancel(Cancel),
}

/// Code to run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Run {
    /// The number of the run.
    pub id: u64,
    /// JavaScript or TypeScript.
    pub code: String,
    /// The file name in errors: `script.ts`.
    pub name: String,
    /// Whether the code is a file, with variables of its own and without a result.
    pub is_file: bool,
    /// The arguments of the command line.
    pub args: Vec<String>,
    /// The code of other files, by path.
    pub modules: BTreeMap<String, String>,
    /// The `state` of an earlier process, when this one is new.
    pub state: Option<Value>,
    /// The tab that `page` stands for.
    pub tab: Option<String>,
    /// The session's tabs: `[{"tab", "url", "opener", "current"}]`.
    pub tabs: Value,
    /// Names of the actions, for `tabwire.<action>()`.
    pub actions: Vec<String>,
    /// The user's skills, for `skills()` and `help()`.
    pub skills: Vec<Skill>,
}

/// Code of the user that scripts can import as `tabwire:NAME`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skill {
    /// Its name.
    pub name: String,
    /// What it does, in one line.
    pub description: String,
    /// Its explanation; empty if the code does not ask for help.
    #[serde(default)]
    pub text: String,
}

/// The result of a call.
#[derive(Debug, Serialize, Deserialize)]
pub struct Response {
    /// The number of the call.
    pub id: u64,
    /// Its result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Box<RawValue>>,
    /// Its failure, in the form of the API.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Box<RawValue>>,
}

/// A fact about the session's browser.
#[derive(Debug, Serialize, Deserialize)]
pub struct Event {
    /// Its name.
    pub name: String,
    /// Its data.
    pub data: Box<RawValue>,
}

/// Ends the current run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cancel {
    /// The number of the run.
    pub run: u64,
    /// The reason, as a sentence.
    pub reason: String,
}

/// A message of a script's process.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FromChild {
    /// The process is ready.
    Ready,
    /// Run an action.
    Call(Call),
    /// A line of the console.
    Console(Console),
    /// An image for the client.
    Image(Image),
    /// The events that the script listens to from now on.
    Listen(Listen),
    /// The run has ended.
    Done(Box<Done>),
}

/// A call of an action.
#[derive(Debug, Serialize, Deserialize)]
pub struct Call {
    /// Its number.
    pub id: u64,
    /// The action.
    pub action: String,
    /// Its parameters.
    #[serde(default)]
    pub params: Value,
    /// The tab.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab: Option<String>,
    /// Its timeout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Whether it waits until its effects are over, as actions do that are not part of a script.
    #[serde(default)]
    pub settles: bool,
    /// Whether the result is the bare text instead of data.
    #[serde(default)]
    pub text: bool,
}

/// A line of the console.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Console {
    /// `log`, `info`, `warn`, `error` or `debug`.
    pub level: String,
    /// The text.
    pub text: String,
}

/// An image that a script shows to its client, as the path of a file that an action wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// The path.
    pub path: String,
}

/// The events that a script listens to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Listen {
    /// Their names.
    pub events: Vec<String>,
    /// The tabs that must be watched even if the script does not use them.
    pub tabs: Vec<String>,
}

/// The end of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Done {
    /// The number of the run.
    pub run: u64,
    /// The result as text; none for `undefined`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The result as JSON, when it has that form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// Why the run failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ScriptError>,
    /// The part of `state` that is JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<Value>,
    /// Bytes of console output that were dropped.
    #[serde(skip_serializing_if = "is_zero")]
    pub dropped_console_bytes: u64,
    /// Whether the process ends now, because jobs or memory of the script are left.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ends: bool,
}

/// An error of a script.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ScriptError {
    /// Its class: `TypeError`, `TimeoutError`.
    pub name: String,
    /// What happened.
    pub message: String,
    /// Where, as `script.ts:3:7`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The line of code with a caret below the column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<String>,
    /// The failure of the action that the error came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<Value>,
}

impl ScriptError {
    /// The error as a terminal and a model read it: message, place and line of code.
    #[must_use]
    pub fn render(&self) -> String {
        let mut text = match self.name.as_str() {
            "" | "Error" => self.message.clone(),
            name => format!("{name}: {}", self.message),
        };
        if let Some(place) = &self.place {
            text.push_str(&format!("\n    at {place}"));
        }
        if let Some(excerpt) = &self.excerpt {
            text.push_str(&format!("\n{excerpt}"));
        }
        text
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A message that cannot be sent: it is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong {
    /// Its length in bytes.
    pub bytes: usize,
}

/// Writes a message as one line.
///
/// # Errors
/// When the line is longer than [`LINE_BYTES`].
pub fn to_line(message: &impl Serialize) -> Result<Vec<u8>, TooLong> {
    // Serialisation of our own types does not fail.
    let mut line = serde_json::to_vec(message).unwrap_or_default();
    line.push(b'\n');
    if line.len() > LINE_BYTES { Err(TooLong { bytes: line.len() }) } else { Ok(line) }
}

/// Splits bytes that arrive in pieces into lines of bounded length.
#[derive(Debug, Default)]
pub struct LineBuffer {
    bytes: Vec<u8>,
    /// How many bytes were searched for a line end.
    searched: usize,
}

impl LineBuffer {
    /// Adds bytes.
    ///
    /// # Errors
    /// When an unfinished line is longer than [`LINE_BYTES`].
    pub fn extend(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() > LINE_BYTES && !self.bytes.contains(&b'\n') {
            return Err(TooLong { bytes: self.bytes.len() });
        }
        Ok(())
    }

    /// Takes the next complete line, without its end.
    pub fn take_line(&mut self) -> Option<Vec<u8>> {
        let end = self.bytes[self.searched..].iter().position(|byte| *byte == b'\n');
        let Some(end) = end.map(|end| end + self.searched) else {
            self.searched = self.bytes.len();
            return None;
        };
        let rest = self.bytes.split_off(end + 1);
        let mut line = std::mem::replace(&mut self.bytes, rest);
        line.truncate(end);
        self.searched = 0;
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_survive_the_way_there_and_back() {
        let run = Run { id: 3, code: "1 + 1".to_owned(), ..Run::default() };
        let line = to_line(&ToChild::Run(Box::new(run.clone()))).expect("short");
        assert!(matches!(serde_json::from_slice(&line), Ok(ToChild::Run(read)) if *read == run));
        let response = r#"{"response":{"id":7,"result":{"a":[1,2]}}}"#;
        let Ok(ToChild::Response(read)) = serde_json::from_str(response) else { panic!("a response") };
        assert_eq!((read.id, read.result.expect("a result").get()), (7, r#"{"a":[1,2]}"#));
        let done = Done { run: 1, text: Some("2".to_owned()), ..Done::default() };
        let line = to_line(&FromChild::Done(Box::new(done))).expect("short");
        assert_eq!(line, b"{\"done\":{\"run\":1,\"text\":\"2\"}}\n");
    }

    #[test]
    fn forged_and_foreign_lines_are_refused() {
        for line in
            ["", "null", "{}", "[]", r#"{"call":{}}"#, r#"{"call":{"id":-1,"action":"x"}}"#, r#"{"x":1}"#]
        {
            assert!(serde_json::from_str::<FromChild>(line).is_err(), "{line}");
        }
    }

    #[test]
    fn lines_are_split_where_they_end() {
        let mut buffer = LineBuffer::default();
        buffer.extend(b"one\ntw").expect("short");
        assert_eq!(buffer.take_line().as_deref(), Some(&b"one"[..]));
        assert_eq!(buffer.take_line(), None);
        buffer.extend(b"o\n\n").expect("short");
        assert_eq!(buffer.take_line().as_deref(), Some(&b"two"[..]));
        assert_eq!(buffer.take_line().as_deref(), Some(&b""[..]));
        assert_eq!(buffer.take_line(), None);
    }

    #[test]
    fn a_line_without_an_end_is_refused() {
        let mut buffer = LineBuffer::default();
        let refused = buffer.extend(&vec![b'x'; LINE_BYTES + 1]);
        assert_eq!(refused, Err(TooLong { bytes: LINE_BYTES + 1 }));
        assert!(to_line(&"x".repeat(LINE_BYTES)).is_err());
    }
}
