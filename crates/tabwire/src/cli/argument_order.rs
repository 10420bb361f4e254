//! Lets options follow values that may start with a hyphen: `press Escape --snapshot`, `fill e3 -5`.
//!
//! clap reads every word after such a value as a value. Here the options of the command move in front of its values,
//! and `--` separates both.

use std::ffi::{OsStr, OsString};

use clap::{Arg, ArgAction, Command};

/// The line with the options of `name` before its values; `None` if clap reads the line as it is.
pub(super) fn options_first(command: &Command, name: &str, arguments: &[OsString]) -> Option<Vec<OsString>> {
    let at = arguments.iter().position(|word| word == name)?;
    let (before, after) = arguments.split_at_checked(at + 1)?;
    let action = command.find_subcommand(name)?;
    let known: Vec<&Arg> = command.get_arguments().chain(action.get_arguments()).collect();
    if !after.iter().any(|word| is_hyphenated(word)) {
        return None;
    }
    let (mut options, mut values) = (Vec::new(), Vec::new());
    let mut words = after.iter();
    while let Some(word) = words.next() {
        if word == "--" {
            values.extend(words.by_ref().cloned());
        } else if let Some(takes_value) = find_option(&known, word)? {
            options.push(word.clone());
            options.extend(takes_value.then(|| words.next().cloned()).flatten());
        } else {
            values.push(word.clone());
        }
    }
    // clap fills in omitted values, and `--` without a value would be one.
    let separator = (!values.is_empty()).then(|| OsString::from("--"));
    Some(before.iter().cloned().chain(options).chain(separator).chain(values).collect())
}

/// The command for a line of [`options_first`], whose values follow `--`: a word with a hyphen before it is an option.
pub(super) fn with_plain_values(command: Command, name: &str) -> Command {
    let plain = |value: Arg| if value.is_positional() { value.allow_hyphen_values(false) } else { value };
    // `mut_subcommand` knows no aliases.
    let Some(name) = command.find_subcommand(name).map(|action| action.get_name().to_owned()) else {
        return command;
    };
    command.mut_subcommand(name, |action| action.mut_args(plain))
}

fn is_hyphenated(word: &OsStr) -> bool {
    let bytes = word.as_encoded_bytes();
    bytes.len() > 1 && bytes.starts_with(b"-")
}

/// Whether the next word belongs to this option; `Some(None)` for a value. `None` if only clap can say: an option whose
/// value is optional.
fn find_option(known: &[&Arg], word: &OsStr) -> Option<Option<bool>> {
    let Some(text) = word.to_str().filter(|_| is_hyphenated(word)) else { return Some(None) };
    let (found, has_value) = if let Some(long) = text.strip_prefix("--") {
        let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
        let found = known.iter().find(|option| has_long(option, name));
        if found.is_none() && (name == "help" || !name.contains(char::is_whitespace)) {
            // clap reports an unknown option, with the nearest known one.
            return Some(Some(false));
        }
        (found, value.is_some())
    } else {
        let letter = text.chars().nth(1).unwrap_or_default();
        if text == "-h" {
            return Some(Some(false));
        }
        let found = known.iter().find(|option| option.get_short() == Some(letter));
        // `-5` and `-qx` are values, `-oFILE` is an option with its value.
        let is_joined = text.chars().count() > 2;
        (found.filter(|option| !is_joined || takes_value(option)), is_joined)
    };
    let Some(option) = found else { return Some(None) };
    let is_optional =
        option.get_num_args().is_some_and(|count| count.min_values() == 0 && count.max_values() > 0);
    if is_optional && !has_value {
        return None;
    }
    Some(Some(takes_value(option) && !has_value))
}

fn has_long(option: &Arg, name: &str) -> bool {
    option.get_long() == Some(name) || option.get_all_aliases().is_some_and(|others| others.contains(&name))
}

fn takes_value(option: &Arg) -> bool {
    matches!(option.get_action(), ArgAction::Set | ArgAction::Append)
}
