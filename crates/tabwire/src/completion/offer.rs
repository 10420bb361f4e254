//! Which words could come next in a command line, independent of the shell.

use clap::{Arg, Command};

use super::live_names::LiveNames;
use super::typed_line::{TypedLine, takes_value};

/// A word that could come next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    /// The word.
    pub(crate) value: String,
    /// Its description, in one line.
    pub(crate) meaning: String,
}

impl Candidate {
    fn new(value: impl Into<String>, meaning: impl Into<String>) -> Self {
        Self { value: value.into(), meaning: meaning.into() }
    }
}

/// The candidates for the last word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Offer {
    /// These words.
    Words(Vec<Candidate>),
    /// File names, which the shell completes itself.
    Files,
}

/// Completes the last word, which may be empty.
pub(crate) fn offer(root: &Command, words: &[String], live: &dyn LiveNames) -> Offer {
    let Some((last, before)) = words.split_last() else { return Offer::Words(Vec::new()) };
    let line = TypedLine::read(root, before);
    // A quote that is still open is not part of the word.
    let last = last.trim_start_matches(['"', '\'']);
    let offered = if let Some(option) = line.awaits_value {
        values(&line, option, live)
    } else if line.is_literal || !last.starts_with('-') {
        match line.positional() {
            _ if line.command.has_subcommands() && line.positionals == 0 => {
                Offer::Words(commands(line.command))
            }
            Some(argument) => values(&line, argument, live),
            None => Offer::Words(Vec::new()),
        }
    } else if let Some((name, _)) = last.strip_prefix("--").and_then(|named| named.split_once('=')) {
        option_values(&line, name, live)
    } else {
        Offer::Words(flags(&line))
    };
    match offered {
        Offer::Words(mut found) => {
            found.retain(|candidate| candidate.value.starts_with(last));
            Offer::Words(found)
        }
        Offer::Files => Offer::Files,
    }
}

/// Values of an option that is written `--name=value`.
fn option_values(line: &TypedLine<'_>, name: &str, live: &dyn LiveNames) -> Offer {
    let Some(option) = line.find_option(name).filter(|option| takes_value(option)) else {
        return Offer::Words(Vec::new());
    };
    match values(line, option, live) {
        Offer::Words(found) => Offer::Words(
            found
                .into_iter()
                .map(|Candidate { value, meaning }| Candidate::new(format!("--{name}={value}"), meaning))
                .collect(),
        ),
        Offer::Files => Offer::Files,
    }
}

fn commands(command: &Command) -> Vec<Candidate> {
    let shown = command.get_subcommands().filter(|inner| !inner.is_hide_set());
    let mut found: Vec<Candidate> = shown
        .flat_map(|inner| {
            let meaning = first_line(inner.get_about().map(ToString::to_string));
            let names = std::iter::once(inner.get_name()).chain(inner.get_visible_aliases());
            names.map(|name| Candidate::new(name, meaning.clone())).collect::<Vec<_>>()
        })
        .collect();
    if !found.iter().any(|candidate| candidate.value == "help") {
        found.push(Candidate::new("help", "Explain a command"));
    }
    found
}

fn flags(line: &TypedLine<'_>) -> Vec<Candidate> {
    let shown = line.options().filter(|option| !option.is_hide_set());
    let mut found: Vec<Candidate> = shown
        .filter_map(|option| {
            let meaning = first_line(option.get_help().map(ToString::to_string));
            Some(Candidate::new(format!("--{}", option.get_long()?), meaning))
        })
        .collect();
    found.push(Candidate::new("--help", "Explain the command"));
    found
}

fn values(line: &TypedLine<'_>, argument: &Arg, live: &dyn LiveNames) -> Offer {
    let possible = argument.get_possible_values();
    if !possible.is_empty() {
        let shown = possible.iter().filter(|value| !value.is_hide_set());
        let found = shown.map(|value| {
            Candidate::new(value.get_name(), first_line(value.get_help().map(ToString::to_string)))
        });
        return Offer::Words(found.collect());
    }
    let known = || live.known(line.session, line.tab);
    let found = match Kind::of(argument) {
        Kind::Session => {
            let count = |tabs: usize| format!("{tabs} {}", if tabs == 1 { "tab" } else { "tabs" });
            known()
                .sessions
                .into_iter()
                .map(|one| Candidate::new(one.name.to_string(), count(one.tabs)))
                .collect()
        }
        Kind::Tab => {
            known().tabs.into_iter().map(|one| Candidate::new(one.tab.to_string(), one.title)).collect()
        }
        Kind::Target => known().refs.into_iter().map(|one| Candidate::new(one.name, one.element)).collect(),
        Kind::Profile => live.profiles().into_iter().map(|name| Candidate::new(name, "profile")).collect(),
        Kind::Provider => live.providers().into_iter().map(|name| Candidate::new(name, "provider")).collect(),
        Kind::File => return Offer::Files,
        Kind::Other => Vec::new(),
    };
    Offer::Words(found)
}

/// The kind of value that an argument takes.
enum Kind {
    Session,
    Tab,
    Target,
    Profile,
    Provider,
    File,
    Other,
}

impl Kind {
    fn of(argument: &Arg) -> Self {
        let id = argument.get_id().as_str();
        let named = argument.get_value_names().and_then(|names| names.first());
        let value = named.map_or_else(|| id.to_uppercase(), ToString::to_string);
        match (id, value.as_str()) {
            ("session", _) => Self::Session,
            ("profile", _) => Self::Profile,
            (_, "PROVIDER") => Self::Provider,
            (_, "TAB") => Self::Tab,
            (_, "TARGET" | "TO") => Self::Target,
            (_, "PATH" | "FILE" | "DIR" | "BASELINE") => Self::File,
            _ => Self::Other,
        }
    }
}

fn first_line(text: Option<String>) -> String {
    text.unwrap_or_default().lines().next().unwrap_or_default().trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use tabwire_api::{KnownNames, KnownRef, KnownSession, KnownTab, SessionName};

    use super::*;

    struct Fixed;

    impl LiveNames for Fixed {
        fn known(&self, session: Option<&str>, tab: Option<&str>) -> KnownNames {
            let session = session.unwrap_or("default");
            KnownNames {
                sessions: vec![KnownSession { name: SessionName::default(), tabs: 2 }],
                tabs: vec![KnownTab { tab: "pipe:7f:3".parse().expect("an id"), title: session.to_owned() }],
                refs: vec![KnownRef { name: "e12".to_owned(), element: format!("{session} {tab:?}") }],
            }
        }

        fn profiles(&self) -> Vec<String> {
            vec!["work".to_owned()]
        }

        fn providers(&self) -> Vec<String> {
            vec!["fleet".to_owned()]
        }
    }

    /// The candidates at the end of a line, as `value|meaning`.
    fn offered(line: &str) -> Vec<String> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        match offer(&crate::cli::invocation::command(), &words, &Fixed) {
            Offer::Words(found) => found.iter().map(|one| format!("{}|{}", one.value, one.meaning)).collect(),
            Offer::Files => vec![":files".to_owned()],
        }
    }

    #[test]
    fn commands_and_actions_are_offered_with_descriptions() {
        let all = offered("");
        for word in ["open|", "click|", "tabs|", "tab-new|", "help|"] {
            assert!(all.iter().any(|one| one.starts_with(word)), "{word} in {all:?}");
        }
        assert!(!all.iter().any(|one| one.starts_with("keep|")), "{all:?}");
        assert_eq!(offered("daemon sta").len(), 2, "{:?}", offered("daemon sta"));
        assert!(offered("help cli").iter().any(|one| one.starts_with("click|")));
        assert!(offered("click e1 --then sna").iter().any(|one| one.starts_with("snapshot|")));
    }

    #[test]
    fn existing_names_are_offered_by_kind() {
        assert_eq!(offered("click "), ["e12|default None"]);
        assert_eq!(offered("--session other click e"), ["e12|other None"]);
        assert_eq!(offered("click --tab pipe:7f:3 e1"), ["e12|default Some(\"pipe:7f:3\")"]);
        assert_eq!(offered("--session=other click e"), ["e12|other None"]);
        assert_eq!(offered("snapshot --within "), ["e12|default None"]);
        assert_eq!(offered("drag e12 "), ["e12|default None"]);
        assert_eq!(offered("click --tab pipe:"), ["pipe:7f:3|default"]);
        assert_eq!(offered("tab-select "), ["pipe:7f:3|default"]);
        assert_eq!(offered("click e1 --session "), ["default|2 tabs"]);
        assert_eq!(offered("--session=de"), ["--session=default|2 tabs"]);
        assert_eq!(offered("open --profile "), ["work|profile"]);
        assert_eq!(offered("open --provider "), ["fleet|provider"]);
        assert_eq!(offered("provider test "), ["fleet|provider"]);
    }

    #[test]
    fn options_values_and_files_are_offered() {
        let flags = offered("click e1 --n");
        assert!(flags.iter().any(|one| one.starts_with("--new-tab|")), "{flags:?}");
        assert!(offered("click --js").iter().any(|one| one.starts_with("--json|")));
        assert_eq!(offered("dialog acc").len(), 1);
        assert_eq!(offered("upload "), [":files"]);
        assert_eq!(offered("screenshot -o "), [":files"]);
        assert_eq!(offered("eval "), Vec::<String>::new());
        assert_eq!(offered("no-such-command x "), Vec::<String>::new());
    }
}
