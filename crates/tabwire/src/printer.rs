//! What people and programs are shown. stdout is data; everything else goes to stderr.

use anstream::{eprintln, println};
use anstyle::{AnsiColor, Style};
use serde_json::{Value, json};
use tabwire_wire::Failure;

/// How answers are printed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Printer {
    json: bool,
    quiet: bool,
}

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const RED: Style = AnsiColor::Red.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default();

impl Printer {
    pub(crate) const fn new(json: bool, quiet: bool) -> Self {
        Self { json, quiet }
    }

    pub(crate) const fn is_json(self) -> bool {
        self.json
    }

    /// Prints an answer: as JSON when asked for, else as the given text.
    pub(crate) fn answer(self, value: &Value, text: impl FnOnce() -> String) {
        if self.json {
            println!("{value}");
            return;
        }
        let text = text();
        if !text.is_empty() {
            println!("{text}");
        }
    }

    /// Prints plain text, JSON or not.
    pub(crate) fn plain(self, text: &str) {
        println!("{text}");
    }

    /// Tells the user something besides the answer.
    pub(crate) fn notice(self, text: &str) {
        if !self.quiet {
            eprintln!("{YELLOW}note:{YELLOW:#} {text}");
        }
    }

    /// Tells the user what is being done.
    pub(crate) fn progress(self, text: &str) {
        if !self.quiet && !self.json {
            eprintln!("{DIM}{text}{DIM:#}");
        }
    }

    pub(crate) fn failure(self, failure: &Failure) {
        if self.json {
            println!("{}", json!({"error": failure}));
            return;
        }
        eprintln!("{RED}error:{RED:#} {} {DIM}[{}]{DIM:#}", failure.message, failure.code);
        if let Some(hint) = &failure.hint {
            eprintln!("{BOLD}hint:{BOLD:#} {hint}");
        }
    }
}

/// Lays out rows in columns; the first row is the heading.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        })
        .collect();
    let mut lines = Vec::new();
    for (number, row) in rows.iter().enumerate() {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}", width = *width)).collect();
        let line = cells.join("  ").trim_end().to_owned();
        lines.push(if number == 0 { format!("{BOLD}{line}{BOLD:#}") } else { line });
    }
    lines.join("\n")
}
