//! The help of the whole program: commands under headings. The first screen is short; `tabwire help --all` lists every
//! command and option.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use tabwire_engine::{Effect, find_action};

/// Columns that the help fits into.
const WIDTH: usize = 80;

/// Columns of the names.
const NAME_WIDTH: usize = 20;

const HEADING: Style = Style::new().bold().underline();
const NAME: Style = AnsiColor::Cyan.on_default();

/// Commands under one heading.
struct Group {
    heading: &'static str,
    /// Commands that the first screen explains.
    main: &'static [&'static str],
    /// Commands that the first screen names.
    more: &'static [&'static str],
    /// An action that is in no list belongs to the group with its effect.
    effect: Option<Effect>,
}

const GROUPS: &[Group] = &[
    Group {
        heading: "Browsing",
        main: &["open", "wait-for", "close"],
        more: &["navigate", "back", "forward", "reload", "tabs-list", "tab-new", "tab-select", "tab-close"],
        effect: Some(Effect::Navigate),
    },
    Group {
        heading: "Reading",
        main: &["snapshot", "read-as-markdown", "screenshot"],
        more: &["find", "get", "get-text", "get-html", "extract-links", "inspect", "pdf", "diff", "frame"],
        effect: Some(Effect::Read),
    },
    Group {
        heading: "Acting",
        main: &["click", "fill"],
        more: &[
            "press",
            "type",
            "fill-form",
            "select",
            "select-text",
            "check",
            "uncheck",
            "hover",
            "dblclick",
            "tap",
            "drag",
            "focus",
            "scroll",
            "mouse",
            "clipboard",
            "dialog",
            "upload",
            "download-file",
            "downloads",
            "login",
        ],
        effect: Some(Effect::Act),
    },
    Group {
        heading: "Network and storage",
        main: &["requests"],
        more: &[
            "cookies",
            "request",
            "route",
            "unroute",
            "har",
            "headers",
            "http-auth",
            "offline",
            "throttle",
            "storage",
            "state",
        ],
        effect: None,
    },
    Group {
        heading: "Debugging and emulation",
        main: &["eval", "execute"],
        more: &[
            "run",
            "repl",
            "types",
            "cdp",
            "console",
            "errors",
            "vitals",
            "trace",
            "capture",
            "record",
            "emulate",
            "init-script",
        ],
        effect: None,
    },
    Group {
        heading: "Sessions",
        main: &["session"],
        more: &["status", "connect", "disconnect", "context", "tab", "batch", "profile", "provider", "reset"],
        effect: None,
    },
    Group {
        heading: "Policy",
        main: &["allow"],
        more: &["approvals", "dashboard", "deny", "grants", "policy", "log", "auth"],
        effect: None,
    },
    Group {
        heading: "Other clients",
        main: &["mcp"],
        more: &["chat", "cdp-url", "chrome", "extension", "skill", "install-skill"],
        effect: None,
    },
    Group {
        heading: "Setup",
        main: &["doctor"],
        more: &["config", "demo", "docs", "daemon", "completions", "upgrade-check"],
        effect: None,
    },
];

/// Below the first screen.
const FOOTER: &str = "\
Run `tabwire help COMMAND` for one command, `tabwire help --all` for everything.
`--then` joins several actions in one command line.";

/// Sets the short help of the program.
pub(super) fn with_short_help(command: clap::Command) -> clap::Command {
    let groups = short_text(&command);
    command.help_template(format!("{{about}}\n\n{{usage-heading}} {{usage}}\n\n{groups}\n{FOOTER}\n"))
}

/// Sets the help that lists everything.
pub(super) fn with_full_help(command: clap::Command) -> clap::Command {
    let groups = full_text(&command);
    // Hidden, so that `{all-args}` contains the options only.
    let command = command.mut_subcommands(|subcommand| subcommand.hide(true));
    command.help_template(format!(
        "{{about}}\n\n{{usage-heading}} {{usage}}\n\n{groups}{{all-args}}{{after-help}}\n"
    ))
}

fn short_text(command: &clap::Command) -> String {
    let mut text = String::new();
    for group in GROUPS {
        let _ = writeln!(text, "{HEADING}{}:{HEADING:#}", group.heading);
        for name in group.main {
            let about = find_about(command, name);
            write_row(&mut text, name, &[shorten(&about, WIDTH - NAME_WIDTH)]);
        }
        let names: Vec<String> = members(command, group).into_iter().skip(group.main.len()).collect();
        for line in wrap(&names.join(", "), WIDTH - 2) {
            let _ = writeln!(text, "  {NAME}{line}{NAME:#}");
        }
    }
    text
}

fn full_text(command: &clap::Command) -> String {
    let mut text = String::new();
    for group in GROUPS {
        let _ = writeln!(text, "{HEADING}{}:{HEADING:#}", group.heading);
        for name in members(command, group) {
            write_row(&mut text, &name, &wrap(&find_about(command, &name), WIDTH - NAME_WIDTH));
        }
        text.push('\n');
    }
    text
}

/// The commands of a group: those of its lists, then actions that are in no list.
fn members(command: &clap::Command, group: &Group) -> Vec<String> {
    let listed = group.main.iter().chain(group.more).map(|name| (*name).to_owned());
    let visible = command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set());
    let unlisted = visible.map(clap::Command::get_name).filter(|name| {
        let is_listed = |group: &Group| group.main.contains(name) || group.more.contains(name);
        let effect = find_action(name).map(|action| action.effect);
        !GROUPS.iter().any(is_listed) && effect.is_some() && effect == group.effect
    });
    listed.chain(unlisted.map(str::to_owned)).collect()
}

fn find_about(command: &clap::Command, name: &str) -> String {
    let about = command.find_subcommand(name).and_then(clap::Command::get_about);
    about.map(ToString::to_string).unwrap_or_default()
}

fn write_row(text: &mut String, name: &str, lines: &[String]) {
    let mut lines = lines.iter();
    let width = NAME_WIDTH - 2;
    let first = lines.next().map(String::as_str).unwrap_or_default();
    let _ = writeln!(text, "  {NAME}{name:<width$}{NAME:#}{first}");
    for line in lines {
        let _ = writeln!(text, "{:NAME_WIDTH$}{line}", "");
    }
}

/// A sentence that fits into one line: whole, else up to its last comma, colon or semicolon, else cut at a word.
fn shorten(sentence: &str, width: usize) -> String {
    if sentence.len() <= width {
        return sentence.to_owned();
    }
    let fits = |at: usize| at <= width;
    let clause = sentence.match_indices([',', ':', ';']).map(|(at, _)| at).rfind(|at| fits(*at));
    let word = sentence.match_indices(' ').map(|(at, _)| at).rfind(|at| fits(*at + 1));
    match (clause, word) {
        (Some(at), _) => sentence.get(..at).unwrap_or_default().to_owned(),
        (None, Some(at)) => format!("{}…", sentence.get(..at).unwrap_or_default()),
        (None, None) => String::new(),
    }
}

/// Breaks a text into lines between its words.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last().map_or(0, String::len);
        if line > 0 && line + 1 + word.len() > width {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            line.push_str(if line.is_empty() { "" } else { " " });
            line.push_str(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::cli::invocation;

    fn plain(styled: &str) -> String {
        anstream::adapter::strip_str(styled).to_string()
    }

    #[test]
    fn the_first_screen_has_at_most_45_lines_of_80_columns() {
        let text = plain(&invocation::command().render_help().to_string());
        assert!(text.lines().count() <= 45, "{} lines:\n{text}", text.lines().count());
        for line in text.lines() {
            assert!(line.chars().count() <= WIDTH, "{line}");
        }
    }

    #[test]
    fn every_visible_command_is_in_one_group() {
        let command = invocation::command();
        let listed: Vec<String> = GROUPS.iter().flat_map(|group| members(&command, group)).collect();
        let visible: BTreeSet<String> = command
            .get_subcommands()
            .filter(|subcommand| !subcommand.is_hide_set())
            .map(|subcommand| subcommand.get_name().to_owned())
            .collect();
        assert_eq!(listed.len(), visible.len(), "a command in two groups");
        assert_eq!(listed.into_iter().collect::<BTreeSet<_>>(), visible);
    }

    #[test]
    fn long_sentences_end_at_a_clause_or_a_word() {
        assert_eq!(shorten("Run it", 10), "Run it");
        assert_eq!(shorten("Run it, then stop it", 10), "Run it");
        assert_eq!(shorten("Run this program", 10), "Run this…");
    }
}
