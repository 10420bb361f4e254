//! A chat in the terminal: streams answers, asks for approvals, takes messages while the agent works, stops at Ctrl-C.

use std::collections::BTreeSet;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure};
use tabwire_client::{DaemonEvent, RequestError, receive_events, watch_interrupts};
use tabwire_engine::plain_lines;

use super::attachments::Attachments;
use super::lines::{TypedLines, read_piped_line};
use super::questions::{LineMeaning, Questions};
use super::{chat_path, request, transcript};
use crate::commands::Context;

/// How often Ctrl-C and typed lines are looked for while the agent works.
const POLL: Duration = Duration::from_millis(50);

/// The commands of a line. Others are the agent's.
const HELP: &str = "/steer TEXT sends it into the turn, /attach FILE adds a file to the next message, /retry tries the last \
                    message again, /set NAME=VALUE sets an option of the agent.";

/// One chat.
struct Terminal<'a> {
    context: &'a Context<'a>,
    id: String,
    events: Receiver<DaemonEvent>,
    interrupted: Arc<AtomicBool>,
    is_terminal: bool,
    /// Lines typed during a turn.
    typed: Option<TypedLines>,
    questions: Questions,
    attachments: Attachments,
    /// Messages that wait for the end of the turn.
    waiting: BTreeSet<String>,
    usage: Value,
    /// Whether the cursor is behind a text of the agent.
    is_in_text: bool,
    /// The last notice of a failure.
    failed: Option<String>,
}

pub(super) fn run(
    context: &Context<'_>,
    chat: &Value,
    attachments: Attachments,
) -> Result<ExitCode, Failure> {
    let id = chat["id"].as_str().unwrap_or_default().to_owned();
    let events = receive_events(&context.socket(), &chat_path(&id, "/events")).map_err(no_events)?;
    let interrupted = watch_interrupts().map_err(|error| unreadable(&error))?;
    let is_terminal = std::io::stdin().is_terminal();
    let agent = chat["agent_name"].as_str().unwrap_or_default();
    context.printer.notice(&format!("Chat {id} with {agent}."));
    let typed = is_terminal.then(TypedLines::start);
    let mut terminal = Terminal {
        context,
        id,
        events,
        interrupted,
        is_terminal,
        typed,
        questions: Questions::default(),
        attachments,
        waiting: BTreeSet::new(),
        usage: chat["usage"].clone(),
        is_in_text: false,
        failed: None,
    };
    // The first event is the chat as it is.
    let first = terminal.events.recv_timeout(super::TIMEOUT).map_err(|_| lost())?;
    if is_terminal && chat["items"].as_array().is_some_and(|items| !items.is_empty()) {
        let whole: Value = serde_json::from_str(&first.data).unwrap_or_default();
        context.printer.plain(&transcript::text(&whole));
    }
    terminal.converse()
}

fn no_events(error: RequestError) -> Failure {
    match error {
        RequestError::Failed(failure) => failure,
        RequestError::NotRunning | RequestError::DaemonOlder => lost(),
    }
}

fn lost() -> Failure {
    Failure::new(ErrorCode::OutcomeUnknown, "The connection to the daemon broke.")
        .with_remedy("Run `tabwire chat list`, then `tabwire chat resume ID`.")
}

fn unreadable(error: &dyn std::fmt::Display) -> Failure {
    Failure::new(ErrorCode::BadArgs, format!("Cannot read a line: {error}."))
}

impl Terminal<'_> {
    fn converse(&mut self) -> Result<ExitCode, Failure> {
        let mut editor = match self.is_terminal {
            true => Some(DefaultEditor::new().map_err(|error| unreadable(&error))?),
            false => None,
        };
        let mut code = ExitCode::SUCCESS;
        loop {
            // A line that was typed before the turn ended is the next message.
            let left = self.typed.as_ref().and_then(TypedLines::take);
            let line = match (&mut editor, left) {
                (Some(_), Some(left)) => left,
                (Some(editor), None) => match editor.readline("> ") {
                    Ok(line) => Some(line),
                    Err(ReadlineError::Interrupted | ReadlineError::Eof) => None,
                    Err(error) => return Err(unreadable(&error)),
                },
                (None, _) => read_piped_line().map_err(|error| unreadable(&error))?,
            };
            let Some(line) = line else { return Ok(code) };
            if line.trim().is_empty() {
                continue;
            }
            self.failed = None;
            self.interrupted.store(false, Ordering::SeqCst);
            if !self.follow_line(&line, false)? {
                continue;
            }
            if !self.follow_turn()? {
                return Ok(ExitCode::FAILURE);
            }
            // Messages from a pipe are a script: the last one decides.
            code =
                if self.failed.is_none() || self.is_terminal { ExitCode::SUCCESS } else { ExitCode::FAILURE };
        }
    }

    fn post(&self, path: &str, body: &Value) -> Result<(), Failure> {
        request(self.context, "POST", &chat_path(&self.id, path), Some(body)).map(drop)
    }

    /// Sends a message, or follows a command. Returns whether a turn begins.
    fn follow_line(&mut self, line: &str, is_working: bool) -> Result<bool, Failure> {
        let (word, rest) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
        let done = match word {
            // Scripts send their lines as they are.
            _ if !self.is_terminal => self.say(line, false).map(|()| true),
            "/steer" if is_working => self.say(rest, true).map(|()| false),
            "/attach" => self.attachments.add(rest.trim()).map(|()| false),
            "/retry" => self.post("/retry", &json!({})).map(|()| true),
            "/set" => super::parse_option(rest.trim())
                .and_then(|(name, value)| self.post("/change", &json!({"options": {name: value}})))
                .map(|()| self.context.printer.notice("Set."))
                .map(|()| false),
            "/?" => {
                self.context.printer.notice(HELP);
                Ok(false)
            }
            _ => self.say(line, false).map(|()| true),
        };
        match done {
            Err(failure) if self.is_terminal => {
                self.end_text();
                self.context.printer.notice(&failure.message);
                Ok(false)
            }
            done => done,
        }
    }

    fn say(&mut self, text: &str, steer: bool) -> Result<(), Failure> {
        let mut body = json!({"text": text, "steer": steer});
        self.attachments.take_into(&mut body);
        self.post("/messages", &body)
    }

    /// Shows what happens until the agent waits for a message. False when the user leaves.
    fn follow_turn(&mut self) -> Result<bool, Failure> {
        if let Some(typed) = &self.typed {
            typed.resume();
        }
        let continues = self.follow_events();
        if let Some(typed) = &self.typed {
            typed.pause();
        }
        self.end_text();
        if self.is_terminal && matches!(continues, Ok(true)) {
            self.context.printer.progress(&transcript::usage(&self.usage));
        }
        continues
    }

    fn follow_events(&mut self) -> Result<bool, Failure> {
        let mut stops = 0;
        loop {
            if self.interrupted.swap(false, Ordering::SeqCst) {
                stops += 1;
                self.end_text();
                if stops > 1 {
                    return Ok(false);
                }
                self.context.printer.notice("Stopping; Ctrl-C again leaves.");
                self.post("/stop", &json!({}))?;
            }
            match self.typed.as_ref().and_then(TypedLines::take) {
                Some(Some(line)) => self.line_typed(&line)?,
                Some(None) => return Ok(false),
                None => {}
            }
            let event = match self.events.recv_timeout(POLL) {
                Ok(event) => event,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return Err(lost()),
            };
            let change: Value = serde_json::from_str(&event.data).unwrap_or_default();
            if event.kind == "change" && self.context.printer.is_json() {
                self.context.printer.plain(&event.data);
            }
            let is_over = if event.kind == "chat" { self.catch_up(&change)? } else { self.show(&change)? };
            if is_over {
                return Ok(true);
            }
        }
    }

    /// A line during the turn: the answer to a question, a command, or a message that waits.
    fn line_typed(&mut self, line: &str) -> Result<(), Failure> {
        match self.questions.typed(line) {
            Some(LineMeaning::Answer(body)) => {
                self.answer(&body)?;
                self.print_lines(&self.questions.current());
                Ok(())
            }
            Some(LineMeaning::Next(lines)) => {
                self.print_lines(&lines);
                Ok(())
            }
            None if line.trim().is_empty() => Ok(()),
            None => self.follow_line(line, true).map(drop),
        }
    }

    fn print_lines(&self, lines: &[String]) {
        for line in lines {
            self.context.printer.plain(line);
        }
    }

    /// Too many changes came to be sent one by one: the chat as it is.
    fn catch_up(&mut self, chat: &Value) -> Result<bool, Failure> {
        self.end_text();
        self.context.printer.notice("Some output was skipped. `tabwire chat show` has it.");
        self.usage = chat["usage"].clone();
        self.waiting.clear();
        for item in chat["items"].as_array().map(Vec::as_slice).unwrap_or_default() {
            self.note_waiting(item);
            if matches!(item["item"].as_str(), Some("question" | "approval")) && item["outcome"].is_null() {
                self.ask(item)?;
            }
        }
        Ok(self.is_over(&chat["state"]))
    }

    /// Whether nothing more comes in a state.
    fn is_over(&self, state: &Value) -> bool {
        match state.as_str() {
            // Messages that wait begin the next turn.
            Some("idle") => self.waiting.is_empty(),
            Some("offline" | "sign_in_needed") => true,
            _ => false,
        }
    }

    fn note_waiting(&mut self, item: &Value) {
        let id = item["id"].as_str().unwrap_or_default();
        if item["item"] == "user" && item["queued"] == true {
            self.waiting.insert(id.to_owned());
        } else {
            self.waiting.remove(id);
        }
    }

    /// Shows one change. Returns whether the turn is over.
    fn show(&mut self, change: &Value) -> Result<bool, Failure> {
        match change["type"].as_str() {
            Some("chunk") => self.print_text(change["text"].as_str().unwrap_or_default()),
            Some("item") => self.show_item(&change["item"])?,
            Some("removed") => drop(self.waiting.remove(change["id"].as_str().unwrap_or_default())),
            Some("usage") => self.usage = change["usage"].clone(),
            Some("state") => return Ok(self.is_over(&change["state"])),
            _ => {}
        }
        Ok(false)
    }

    fn show_item(&mut self, item: &Value) -> Result<(), Failure> {
        self.note_waiting(item);
        match item["item"].as_str() {
            Some("agent") if !self.context.printer.is_json() => {
                // An item arrives whole only when it begins, or when it was cut.
                if item["cut"] != true {
                    self.end_text();
                    self.print_text(item["text"].as_str().unwrap_or_default());
                }
            }
            Some("question" | "approval") if item["outcome"].is_null() => self.ask(item)?,
            Some("user" | "tool" | "thought") => {}
            kind => {
                if matches!(kind, Some("question" | "approval")) {
                    self.answered(item);
                }
                let is_failure =
                    matches!(item["notice"].as_str(), Some("failed" | "agent_ended" | "sign_in"));
                if kind == Some("notice") && is_failure {
                    self.failed = item["text"].as_str().map(str::to_owned);
                }
                if let Some(line) = transcript::line(item) {
                    self.end_text();
                    self.context.printer.progress(&line);
                }
            }
        }
        Ok(())
    }

    /// A question has ended, here or elsewhere.
    fn answered(&mut self, item: &Value) {
        let id = item["approval"].as_str().or(item["question"].as_str()).unwrap_or_default();
        if let Some(next) = self.questions.remove(id) {
            self.end_text();
            self.context.printer.notice("The question is answered elsewhere or withdrawn.");
            self.print_lines(&next);
        }
    }

    /// Asks the user. Without a terminal the answer is no.
    fn ask(&mut self, item: &Value) -> Result<(), Failure> {
        self.end_text();
        if self.is_terminal {
            let lines = self.questions.add(item);
            self.print_lines(&lines);
            return Ok(());
        }
        let is_approval = item["item"] == "approval";
        let id = if is_approval { &item["approval"] } else { &item["question"] };
        let text = if is_approval {
            tabwire_engine::plain_line(item["text"].as_str().unwrap_or_default(), 400)
        } else {
            transcript::question(item)
        };
        self.context.printer.notice(&format!("{text} Refused: there is no terminal to ask you on."));
        self.answer(&json!({"id": id, "decline": true}))
    }

    fn answer(&self, body: &Value) -> Result<(), Failure> {
        if let Err(failure) = self.post("/answer", body) {
            // It may have expired, or been answered elsewhere.
            self.context.printer.notice(&failure.message);
        }
        Ok(())
    }

    fn print_text(&mut self, text: &str) {
        if self.context.printer.is_json() || text.is_empty() {
            return;
        }
        let mut stdout = std::io::stdout().lock();
        // A closed pipe is noticed at the end of the turn.
        let _ = write!(stdout, "{}", plain_lines(text)).and_then(|()| stdout.flush());
        self.is_in_text = !text.ends_with('\n');
    }

    fn end_text(&mut self) {
        if std::mem::take(&mut self.is_in_text) {
            let mut stdout = std::io::stdout().lock();
            let _ = writeln!(stdout).and_then(|()| stdout.flush());
        }
    }
}
