//! Prints results to stdout, and notes and errors to stderr.
//!
//! On a terminal, control and bidirectional characters are escaped as `\u{1b}`, in JSON as `\u001b`: pages must not
//! control the terminal. `--raw`, files and pipes get every byte unchanged.

use std::borrow::Cow;
use std::io::{IsTerminal, Write};

use anstream::eprintln;
use anstyle::{AnsiColor, Style};
use serde::Serialize;
use tabwire_api::Failure;
use tabwire_api::api::ErrorResponse;
use tabwire_engine::{plain_line, visible_json, visible_text};

pub(crate) use crate::output::table::table;

/// The form of printed results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum OutputForm {
    /// For users and models.
    #[default]
    Text,
    /// For programs.
    Json,
    /// The bare value, for scripts.
    Raw,
}

/// Prints results, notes and errors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Printer {
    form: OutputForm,
    quiet: bool,
    verbose: bool,
}

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const RED: Style = AnsiColor::Red.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default();

/// Characters of a note.
const NOTE_CHARACTERS: usize = 4_000;

/// Whether the reader of stdout is still there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    /// No sign that it has gone.
    There,
    /// The pipe is closed, as with `| head -1`.
    Gone,
}

impl Printer {
    pub(crate) const fn new(form: OutputForm, quiet: bool) -> Self {
        Self { form, quiet, verbose: false }
    }

    /// With details about each request on stderr.
    pub(crate) const fn verbose(self, verbose: bool) -> Self {
        Self { verbose, ..self }
    }

    /// Prints a detail to stderr, with `--verbose`.
    pub(crate) fn detail(self, text: impl FnOnce() -> String) {
        if self.verbose {
            eprintln!("{DIM}{}{DIM:#}", escape_stderr(&plain_line(&text(), NOTE_CHARACTERS)));
        }
    }

    pub(crate) fn is_json(self) -> bool {
        self.form == OutputForm::Json
    }

    pub(crate) fn is_raw(self) -> bool {
        self.form == OutputForm::Raw
    }

    /// Whether text results go to a terminal.
    pub(crate) fn is_terminal_text(self) -> bool {
        self.form == OutputForm::Text && std::io::stdout().is_terminal()
    }

    pub(crate) fn shows_progress(self) -> bool {
        !self.quiet && !self.is_json()
    }

    /// Prints a result: as JSON with `--json`, else as the given text.
    pub(crate) fn result(self, value: &impl Serialize, text: impl FnOnce() -> String) {
        if self.is_json() {
            // Serialization of our own types does not fail.
            self.print(&serde_json::to_string(value).unwrap_or_else(|_| "{}".to_owned()));
            return;
        }
        let text = text();
        if !text.is_empty() {
            self.print(&text);
        }
    }

    /// Prints text, also with `--json`.
    pub(crate) fn plain(self, text: &str) {
        self.print(text);
    }

    /// Prints one of many lines. Returns whether the reader is still there.
    pub(crate) fn line(self, text: &str) -> Reader {
        self.print(text)
    }

    /// Prints a note to stderr, unless quiet.
    pub(crate) fn notice(self, text: &str) {
        if !self.quiet {
            // Text of a page in it must not start a new line.
            eprintln!("{YELLOW}note:{YELLOW:#} {}", escape_stderr(&plain_line(text, NOTE_CHARACTERS)));
        }
    }

    /// Prints a warning to stderr, also when quiet.
    pub(crate) fn warning(self, text: &str) {
        eprintln!("{RED}warning:{RED:#} {}", escape_stderr(text));
    }

    /// Prints a line of a script's console to stderr.
    pub(crate) fn console_error(self, text: &str) {
        eprintln!("{}", escape_stderr(text));
    }

    /// Prints the current step to stderr.
    pub(crate) fn progress(self, text: &str) {
        if self.shows_progress() {
            eprintln!("{DIM}{}{DIM:#}", escape_stderr(text));
        }
    }

    pub(crate) fn failure(self, failure: &Failure) {
        if self.is_json() {
            // Not by way of `Value`, which sorts the members.
            let response = ErrorResponse { error: failure.clone() };
            self.print(&serde_json::to_string(&response).unwrap_or_default());
            return;
        }
        eprintln!("{RED}error:{RED:#} {} {DIM}[{}]{DIM:#}", escape_stderr(&failure.message), failure.code);
        if let Some(remedy) = &failure.remedy {
            eprintln!("{BOLD}hint:{BOLD:#} {}", escape_stderr(&remedy.for_terminal()));
        }
    }

    /// Prints a line. A closed pipe is no failure; a full disk is reported.
    fn print(self, text: &str) -> Reader {
        match self.try_line(text) {
            Ok(reader) => reader,
            Err(error) => {
                eprintln!("{RED}error:{RED:#} Printing the result failed: {error}.");
                Reader::Gone
            }
        }
    }

    /// Prints a line and flushes. A closed pipe is no error.
    pub(crate) fn try_line(self, text: &str) -> std::io::Result<Reader> {
        let mut stdout = std::io::stdout().lock();
        let text = if stdout.is_terminal() { self.escape(text) } else { Cow::Borrowed(text) };
        match writeln!(stdout, "{text}").and_then(|()| stdout.flush()) {
            Ok(()) => Ok(Reader::There),
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(Reader::Gone),
            Err(error) => Err(error),
        }
    }

    /// Escapes text for a terminal.
    fn escape(self, text: &str) -> Cow<'_, str> {
        match self.form {
            OutputForm::Text => visible_text(text),
            OutputForm::Json => visible_json(text),
            OutputForm::Raw => Cow::Borrowed(text),
        }
    }
}

/// Escapes text for stderr, if it is a terminal.
pub(crate) fn escape_stderr(text: &str) -> Cow<'_, str> {
    if std::io::stderr().is_terminal() { visible_text(text) } else { Cow::Borrowed(text) }
}
