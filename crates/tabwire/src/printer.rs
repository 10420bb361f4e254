//! What people and programs are shown. stdout is data; everything else goes to stderr.
//!
//! A terminal is given no character that steers it, hides or turns writing around, wherever the text comes from: such
//! characters are written as `\u{1b}`, in JSON as `\u001b`. Only `--raw` passes them on. What is no terminal gets every
//! byte as it is.

use std::borrow::Cow;
use std::io::{IsTerminal, Write};

use anstream::eprintln;
use anstyle::{AnsiColor, Style};
use serde::Serialize;
use serde_json::json;
use tabwire_engine::{plain_line, visible_json, visible_text};
use tabwire_wire::Failure;

pub(crate) use crate::table::table;

/// The form in which answers are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum OutputForm {
    /// For people and models.
    #[default]
    Text,
    /// For programs.
    Json,
    /// The bare value, for scripts.
    Raw,
}

/// How answers are printed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Printer {
    form: OutputForm,
    quiet: bool,
}

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const RED: Style = AnsiColor::Red.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default();

/// Characters of a note.
const NOTE_CHARACTERS: usize = 4_000;

/// Whether somebody still reads what is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    /// As far as is known.
    There,
    /// The pipe is closed: `| head -1` has seen enough.
    Gone,
}

impl Printer {
    pub(crate) const fn new(form: OutputForm, quiet: bool) -> Self {
        Self { form, quiet }
    }

    pub(crate) fn is_json(self) -> bool {
        self.form == OutputForm::Json
    }

    pub(crate) fn is_raw(self) -> bool {
        self.form == OutputForm::Raw
    }

    /// Whether a person sees the answers on a terminal, as they are made for people.
    pub(crate) fn is_for_people(self) -> bool {
        self.form == OutputForm::Text && std::io::stdout().is_terminal()
    }

    /// Whether a person wants to see how far things are.
    pub(crate) fn shows_progress(self) -> bool {
        !self.quiet && !self.is_json()
    }

    /// Prints an answer: as JSON when asked for, else as the given text.
    pub(crate) fn answer(self, value: &impl Serialize, text: impl FnOnce() -> String) {
        if self.is_json() {
            // What cannot be told as JSON has no fields to tell.
            self.print(&serde_json::to_string(value).unwrap_or_else(|_| "{}".to_owned()));
            return;
        }
        let text = text();
        if !text.is_empty() {
            self.print(&text);
        }
    }

    /// Prints plain text, JSON or not.
    pub(crate) fn plain(self, text: &str) {
        self.print(text);
    }

    /// Prints one of many lines, and tells whether it is worth going on.
    pub(crate) fn line(self, text: &str) -> Reader {
        self.print(text)
    }

    /// Tells the user something besides the answer.
    pub(crate) fn notice(self, text: &str) {
        if !self.quiet {
            // What it quotes of a page must not make lines of its own.
            eprintln!("{YELLOW}note:{YELLOW:#} {}", beside(&plain_line(text, NOTE_CHARACTERS)));
        }
    }

    /// Tells the user something that must not be missed, quiet or not.
    pub(crate) fn warning(self, text: &str) {
        eprintln!("{RED}warning:{RED:#} {}", beside(text));
    }

    /// Tells the user what is being done.
    pub(crate) fn progress(self, text: &str) {
        if self.shows_progress() {
            eprintln!("{DIM}{}{DIM:#}", beside(text));
        }
    }

    pub(crate) fn failure(self, failure: &Failure) {
        if self.is_json() {
            self.print(&json!({"error": failure}).to_string());
            return;
        }
        eprintln!("{RED}error:{RED:#} {} {DIM}[{}]{DIM:#}", beside(&failure.message), failure.code);
        if let Some(hint) = &failure.hint {
            eprintln!("{BOLD}hint:{BOLD:#} {}", beside(hint));
        }
    }

    /// Prints a line. A reader that is gone is no failure; a full disk behind stdout is one, told once.
    fn print(self, text: &str) -> Reader {
        match self.try_line(text) {
            Ok(reader) => reader,
            Err(error) => {
                eprintln!("{RED}error:{RED:#} The answer could not be printed: {error}.");
                Reader::Gone
            }
        }
    }

    /// Prints a line at once; fails when it cannot be written for another reason than a reader that is gone.
    pub(crate) fn try_line(self, text: &str) -> std::io::Result<Reader> {
        let mut stdout = std::io::stdout().lock();
        let text = if stdout.is_terminal() { self.shown(text) } else { Cow::Borrowed(text) };
        match writeln!(stdout, "{text}").and_then(|()| stdout.flush()) {
            Ok(()) => Ok(Reader::There),
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(Reader::Gone),
            Err(error) => Err(error),
        }
    }

    /// A text as a terminal is given it.
    fn shown(self, text: &str) -> Cow<'_, str> {
        match self.form {
            OutputForm::Text => visible_text(text),
            OutputForm::Json => visible_json(text),
            OutputForm::Raw => Cow::Borrowed(text),
        }
    }
}

/// A text as stderr is given it: errors and notes are never data, so nothing that steers a terminal is passed on there.
pub(crate) fn beside(text: &str) -> Cow<'_, str> {
    if std::io::stderr().is_terminal() { visible_text(text) } else { Cow::Borrowed(text) }
}
