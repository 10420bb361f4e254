//! `completions` prints a completion script; the scripts run the hidden command `complete`.

use std::ffi::OsString;
use std::fmt::Write;
use std::process::ExitCode;

use tabwire_engine::plain_line;

use crate::completion::{CompletionShell, Offer, RunningWorld, offer};
use crate::output::printer::{OutputForm, Printer};

/// Longest description of a word, in characters.
const MEANING_CHARACTERS: usize = 200;

pub(super) fn run(printer: Printer, shell: CompletionShell) {
    printer.plain(shell.script().trim_end());
}

/// `complete SHELL -- WORDS`: completes the last word. Prints no errors, since they would disturb the user's input.
pub(crate) fn complete(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let words: Vec<String> = arguments.map(|word| word.to_string_lossy().into_owned()).collect();
    if let [shell, separator, words @ ..] = &words[..]
        && separator == "--"
    {
        let text = completions(words, shell == "powershell", &RunningWorld::find());
        if !text.is_empty() {
            Printer::new(OutputForm::Text, true).plain(text.trim_end_matches('\n'));
        }
    }
    ExitCode::SUCCESS
}

fn completions(words: &[String], is_marked: bool, world: &RunningWorld) -> String {
    let mut words = words.to_vec();
    if let Some(last) = words.last_mut().filter(|_| is_marked) {
        last.pop();
    }
    let candidates = match offer(&crate::cli::invocation::command(), &words, world) {
        Offer::Files => return ":files".to_owned(),
        Offer::Words(candidates) => candidates,
    };
    let mut text = String::new();
    for candidate in candidates {
        // The shell prints both. A value that is more than one plain word could not be typed anyway.
        let meaning = plain_line(&candidate.meaning, MEANING_CHARACTERS);
        if plain_line(&candidate.value, usize::MAX) != candidate.value {
            continue;
        }
        let separator = if meaning.is_empty() { "" } else { "\t" };
        let _ = writeln!(text, "{}{separator}{meaning}", candidate.value);
    }
    text
}
