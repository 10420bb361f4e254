//! Reads the words before the one to complete, as the parser does.

use clap::{Arg, Command};

/// Separates actions that are given in one command line.
const THEN: &str = "--then";

/// The position of the next word in the command line.
#[derive(Clone, Copy, Debug)]
pub(super) struct TypedLine<'a> {
    root: &'a Command,
    /// The innermost command that was named.
    pub(super) command: &'a Command,
    /// The option whose value comes next.
    pub(super) awaits_value: Option<&'a Arg>,
    /// Number of positional words of the command so far.
    pub(super) positionals: usize,
    /// Whether `--` was typed: no options follow.
    pub(super) is_literal: bool,
    pub(super) session: Option<&'a str>,
    pub(super) tab: Option<&'a str>,
}

impl<'a> TypedLine<'a> {
    /// Reads the words before the last one.
    pub(super) fn read(root: &'a Command, words: &'a [String]) -> Self {
        let mut line = Self {
            root,
            command: root,
            awaits_value: None,
            positionals: 0,
            is_literal: false,
            session: None,
            tab: None,
        };
        for word in words {
            line.take(word);
        }
        line
    }

    fn take(&mut self, word: &'a str) {
        if let Some(option) = self.awaits_value.take() {
            self.note(option, word);
            return;
        }
        if word == THEN && !self.is_literal {
            // Session and tab stay in effect; everything else starts over.
            *self = Self { session: self.session, tab: None, ..Self::read(self.root, &[]) };
            return;
        }
        match word.strip_prefix("--") {
            Some("") if !self.is_literal => self.is_literal = true,
            Some(named) if !self.is_literal => self.take_long(named),
            None if word.len() > 1 && word.starts_with('-') && !self.is_literal => {
                let last = word.chars().next_back();
                self.awaits_value =
                    self.options().find(|option| option.get_short() == last && takes_value(option));
            }
            _ => self.take_word(word),
        }
    }

    fn take_long(&mut self, named: &'a str) {
        let (name, value) = named.split_once('=').map_or((named, None), |(name, value)| (name, Some(value)));
        let Some(option) = self.find_option(name).filter(|option| takes_value(option)) else { return };
        match value {
            Some(value) => self.note(option, value),
            None => self.awaits_value = Some(option),
        }
    }

    fn take_word(&mut self, word: &str) {
        let inner = self.command.find_subcommand(word).filter(|_| self.positionals == 0);
        match inner {
            Some(inner) => self.command = inner,
            // `help` is added by clap and is in no definition; commands follow it.
            None if word == "help" && self.positionals == 0 && self.command.has_subcommands() => {}
            None => self.positionals += 1,
        }
    }

    fn note(&mut self, option: &Arg, value: &'a str) {
        match option.get_id().as_str() {
            "session" => self.session = Some(value),
            "tab" => self.tab = Some(value),
            _ => {}
        }
    }

    /// The options that are valid here, the command's own first.
    pub(super) fn options(&self) -> impl Iterator<Item = &'a Arg> + use<'a> {
        let is_root = std::ptr::eq(self.root, self.command);
        let globals = self.root.get_arguments().filter(move |option| !is_root && option.is_global_set());
        self.command.get_arguments().chain(globals).filter(|option| !option.is_positional())
    }

    /// The option with this long name.
    pub(super) fn find_option(&self, name: &str) -> Option<&'a Arg> {
        self.options().find(|option| {
            option.get_long() == Some(name)
                || option.get_all_aliases().is_some_and(|aliases| aliases.contains(&name))
        })
    }

    /// The argument that the next positional word is for.
    pub(super) fn positional(&self) -> Option<&'a Arg> {
        let mut positionals: Vec<&Arg> = self.command.get_positionals().collect();
        positionals.sort_by_key(|argument| argument.get_index());
        let takes_many = |argument: &&Arg| {
            argument.get_num_args().is_some_and(|count| count.max_values() > 1)
                || matches!(argument.get_action(), clap::ArgAction::Append)
        };
        positionals.get(self.positionals).copied().or_else(|| positionals.pop().filter(takes_many))
    }
}

/// Whether an option is followed by a value.
pub(super) fn takes_value(option: &Arg) -> bool {
    option.get_action().takes_values()
}
