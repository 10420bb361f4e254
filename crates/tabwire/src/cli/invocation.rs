//! The whole command line: own commands and the actions of the registry. One definition serves parsing, help,
//! completions, man pages and the reference.

use std::ffi::{OsStr, OsString};

use clap::error::ErrorKind;
use clap::{Args, FromArgMatches, Subcommand};
use serde_json::Value;
use tabwire_engine::{ACTIONS, Definition, Effect, find_page_action};

use crate::cli::argument_order::{options_first, with_plain_values};
use crate::cli::help::{with_full_help, with_short_help};
use crate::cli::session_command::SessionCommand;
use crate::cli::session_flags::SessionFlags;
use crate::cli::{Command, GlobalFlags};

/// Stands for the session's remembered value.
const LAST: &str = "_";

/// Separates actions in one command line.
const THEN: &str = "--then";

const SESSION: &str = "session";

/// The kind of command that a line probably contains, before it is parsed.
#[derive(Clone, Copy)]
enum Topic {
    Action(&'static Definition),
    Sessions,
    Other,
}

/// Options of every action.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ActionFlags {
    /// The tab: its id, its number, or a part of its title or URL (default: the current one).
    #[arg(long, value_name = "TAB")]
    pub(crate) tab: Option<String>,
    /// Save a capture: screenshot, Markdown, HTML, console messages and changes, as files.
    #[arg(long)]
    pub(crate) capture: bool,
    /// Lease the tab for 10 minutes: other clients are refused.
    #[arg(long)]
    pub(crate) pin_tab: bool,
}

/// Options of actions that change a page.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ChangeFlags {
    /// Also print what changed in the snapshot.
    #[arg(long)]
    pub(crate) snapshot: bool,
}

/// One command with its flags.
#[derive(Debug)]
pub(crate) struct Invocation {
    pub(crate) globals: GlobalFlags,
    pub(crate) wanted: Operation,
}

#[derive(Debug)]
pub(crate) enum Operation {
    Command(Command),
    Action {
        definition: &'static Definition,
        params: Value,
        flags: ActionFlags,
        snapshot: bool,
        options: SessionFlags,
    },
}

/// The definition of the whole command line: parsing, help, completions, man pages and the reference use it.
#[must_use]
pub fn command() -> clap::Command {
    with_short_help(all_commands())
}

fn all_commands() -> clap::Command {
    own_commands().subcommands(ACTIONS.iter().map(action_command))
}

/// The definition with own commands and no action.
fn own_commands() -> clap::Command {
    with_about(Command::augment_subcommands(bare()))
}

/// The definition with one action and nothing else.
fn only(action: &'static Definition) -> clap::Command {
    with_about(bare()).subcommand(action_command(action))
}

/// The definition with `session` and nothing else.
fn only_sessions() -> clap::Command {
    let sessions = clap::Command::new(SESSION).subcommand_required(true).arg_required_else_help(true);
    with_about(bare()).subcommand(SessionCommand::augment_subcommands(sessions))
}

/// The definition without commands.
fn bare() -> clap::Command {
    let base = clap::Command::new("tabwire")
        .version(tabwire_api::VERSION)
        .max_term_width(100)
        .arg_required_else_help(true)
        .subcommand_required(true)
        .after_help(
            "`--then` joins several actions in one command line.\n\nExample:\n  tabwire open https://example.org\n  tabwire snapshot\n  tabwire click e3\n  tabwire close",
        );
    GlobalFlags::augment_args(base)
}

/// Sets the description of the program. Call it last: `augment_*` of clap replaces the description.
fn with_about(command: clap::Command) -> clap::Command {
    let about = "Drives a browser for software agents: command line, MCP server, CDP endpoint";
    command.about(about).long_about(about)
}

fn action_command(definition: &'static Definition) -> clap::Command {
    let named = clap::Command::new(definition.command_name()).visible_aliases(definition.aliases);
    let named = if definition.name.contains('_') { named.alias(definition.name) } else { named };
    let own = (definition.arguments)(named);
    let (about, long_about) = (own.get_about().cloned(), own.get_long_about().cloned());
    let command = ActionFlags::augment_args(remembering(own));
    let command = if changes_page(definition) { ChangeFlags::augment_args(command) } else { command };
    let takes: Vec<clap::Id> = command.get_arguments().map(|argument| argument.get_id().clone()).collect();
    let command = SessionFlags::augment_args(command);
    // Every action has these options; only the help of `open` lists them.
    let flags: Vec<clap::Id> = command
        .get_arguments()
        .map(|argument| argument.get_id().clone())
        .filter(|id| !takes.contains(id))
        .collect();
    let command =
        flags.into_iter().fold(command, |command, id| command.mut_arg(id, |argument| argument.hide(true)));
    // `augment_args` has replaced the action's description by that of the flags.
    let long_about = long_about.or_else(|| about.clone()).unwrap_or_default();
    command.about(about.unwrap_or_default()).long_about(long_about).after_help(examples(definition))
}

fn examples(definition: &Definition) -> String {
    let lines =
        definition.examples.iter().map(|example| format!("  {}\n      {}", example.line, example.does));
    format!("Examples:\n{}", lines.collect::<Vec<_>>().join("\n"))
}

/// Makes the last positional argument optional where the session remembers a value: target or URL.
fn remembering(command: clap::Command) -> clap::Command {
    let last = command.get_positionals().last().filter(|word| word.is_required_set());
    let Some(last) = last.map(|word| word.get_id().clone()) else { return command };
    let what = match last.as_str() {
        "target" => "the last target",
        "url" => "the last URL",
        _ => return command,
    };
    command.mut_arg(last, |word| {
        let help = word.get_help().map(ToString::to_string).unwrap_or_default();
        let help = help.trim_end_matches('.');
        word.required(false)
            .default_value(LAST)
            .hide_default_value(true)
            .help(format!("{help} (default: {what}, as with `_`)"))
    })
}

fn changes_page(definition: &Definition) -> bool {
    matches!(definition.effect, Effect::Act | Effect::Navigate)
}

/// Parses one command, or several actions joined with `--then`.
pub(crate) fn parse(arguments: &[OsString]) -> Result<Vec<Invocation>, clap::Error> {
    let Some((program, rest)) = arguments.split_first() else {
        return parse_one(arguments).map(|one| vec![one]);
    };
    let parts = rest.split(|argument| argument == OsStr::new(THEN));
    let mut invocations: Vec<Invocation> = Vec::new();
    for part in parts {
        let line: Vec<OsString> = std::iter::once(program).chain(part).cloned().collect();
        let mut next = parse_one(&line)?;
        if let Some(first) = invocations.first() {
            inherit(&mut next.globals, &first.globals);
        }
        invocations.push(next);
    }
    if invocations.len() > 1 {
        let other = invocations.iter().any(|one| {
            !matches!(
                one.wanted,
                Operation::Action { .. } | Operation::Command(Command::Open { .. } | Command::Close { .. })
            )
        });
        if other {
            let message = "--then joins only actions, `open` and `close`\n";
            return Err(command().error(ErrorKind::ArgumentConflict, message));
        }
    }
    Ok(invocations)
}

/// Whether a line that clap refused has `--json`.
pub(crate) fn asks_for_json(arguments: &[OsString]) -> bool {
    arguments.iter().skip(1).take_while(|word| *word != "--").any(|word| word == "--json")
}

/// Options of the first action apply to later ones.
fn inherit(flags: &mut GlobalFlags, first: &GlobalFlags) {
    if flags.session.is_none() {
        flags.session.clone_from(&first.session);
    }
    flags.timeout = flags.timeout.or(first.timeout);
    if flags.roots.is_empty() {
        flags.roots.clone_from(&first.roots);
    }
    flags.global |= first.global;
    flags.base_url = flags.base_url.take().or_else(|| first.base_url.clone());
    flags.acting_as = flags.acting_as.take().or_else(|| first.acting_as.clone());
    flags.json |= first.json;
    flags.raw |= first.raw;
    flags.quiet |= first.quiet;
    flags.verbose |= first.verbose;
}

/// Endings of files that `screenshot` writes, with their formats.
const IMAGE_FILES: [(&str, &str); 4] =
    [(".png", "png"), (".jpg", "jpeg"), (".jpeg", "jpeg"), (".webp", "webp")];

/// Reads `screenshot out.png` as `screenshot --output out.png`: other tools take the file there. A CSS selector with such
/// an ending can be written as `css=out.png`.
fn with_image_file(definition: &Definition, mut params: Value) -> Value {
    let name = params.get("target").and_then(Value::as_str).map(str::to_owned);
    let Some(name) = name.filter(|_| definition.name == "screenshot") else { return params };
    let is_path = name.chars().all(|letter| letter.is_alphanumeric() || "./_-~ ".contains(letter));
    let format = IMAGE_FILES.iter().find(|(ending, _)| name.to_ascii_lowercase().ends_with(ending));
    let has_output = params.get("output").is_some_and(|output| !output.is_null());
    if let (Some((_, format)), true, false, Some(members)) =
        (format, is_path, has_output, params.as_object_mut())
    {
        members.remove("target");
        members.insert("output".to_owned(), Value::String(name));
        members.insert("format".to_owned(), Value::String((*format).to_owned()));
    }
    params
}

/// Rewrites `help click` to `click --help`, so that a misspelt name gets a suggestion.
fn without_help_command(arguments: &[OsString]) -> Option<Vec<OsString>> {
    let (program, rest) = arguments.split_first()?;
    let (first, names) = rest.split_first()?;
    let is_plain = |word: &OsString| !word.as_encoded_bytes().starts_with(b"-");
    let is_help = first == OsStr::new("help") && names.iter().all(is_plain);
    let help = OsString::from("--help");
    is_help.then(|| std::iter::once(program).chain(names).chain([&help]).cloned().collect())
}

/// Rewrites `tabwire -v` to `tabwire --version`; with a command, `-v` is `--verbose`.
fn short_version(arguments: &[OsString]) -> Option<Vec<OsString>> {
    let [program, flag] = arguments else { return None };
    (flag == "-v").then(|| vec![program.clone(), OsString::from("--version")])
}

/// The words of `tabwire help --all`.
const HELP_ALL: [&str; 2] = ["help", "--all"];

fn parse_one(arguments: &[OsString]) -> Result<Invocation, clap::Error> {
    if arguments.get(1..).is_some_and(|words| words.iter().eq(HELP_ALL.iter())) {
        let help = std::iter::once(OsString::from("tabwire")).chain([OsString::from("--help")]);
        // clap reports help as an error, which the caller prints.
        with_full_help(all_commands()).try_get_matches_from(help)?;
    }
    let rewritten = without_help_command(arguments).or_else(|| short_version(arguments));
    let arguments = rewritten.as_deref().unwrap_or(arguments);
    // Building every command's arguments takes longer than most commands run, so only the named one is built.
    let topic = Topic::guess(arguments);
    let definition = match topic {
        Topic::Action(action) => only(action),
        Topic::Sessions => only_sessions(),
        Topic::Other => own_commands(),
    };
    let name = topic.find_name(arguments);
    let reordered = name.and_then(|name| options_first(&definition, name, arguments));
    let (definition, line) = match (&reordered, name) {
        (Some(line), Some(name)) => (with_plain_values(definition, name), line.as_slice()),
        _ => (definition, arguments),
    };
    let matches = match definition.try_get_matches_from(line) {
        Ok(matches) => matches,
        Err(error) if topic.is_final(&error) => return Err(error),
        // Help lists every command, and a word that is an action's name may be the value of an option.
        Err(_) => command().try_get_matches_from(arguments)?,
    };
    let globals = GlobalFlags::from_arg_matches(&matches)?;
    let action = matches.subcommand().and_then(|(name, matched)| Some((find_page_action(name)?, matched)));
    let wanted = match action {
        None => Operation::Command(Command::from_arg_matches(&matches)?),
        Some((definition, matched)) => Operation::Action {
            definition,
            params: with_image_file(definition, (definition.read_arguments)(matched)?),
            flags: ActionFlags::from_arg_matches(matched)?,
            snapshot: changes_page(definition) && ChangeFlags::from_arg_matches(matched)?.snapshot,
            options: SessionFlags::from_arg_matches(matched)?,
        },
    };
    Ok(Invocation { globals, wanted })
}

impl Topic {
    /// Looks at the words only. A wrong guess fails to parse, and the full definition is tried next.
    fn guess(arguments: &[OsString]) -> Self {
        let words = || arguments.iter().skip(1).filter_map(|argument| argument.to_str());
        if words().find(|word| !word.starts_with('-')) == Some(SESSION) {
            return Self::Sessions;
        }
        words().find_map(find_page_action).map_or(Self::Other, Self::Action)
    }

    /// The word that names the action in a line.
    fn find_name(self, arguments: &[OsString]) -> Option<&str> {
        let Self::Action(action) = self else { return None };
        let words = arguments.iter().skip(1).filter_map(|argument| argument.to_str());
        words.into_iter().find(|word| find_page_action(word).is_some_and(|found| found.name == action.name))
    }

    /// Whether the full definition would give the same error.
    fn is_final(self, error: &clap::Error) -> bool {
        match error.kind() {
            ErrorKind::DisplayVersion => true,
            ErrorKind::InvalidSubcommand | ErrorKind::DisplayHelp => false,
            _ => matches!(self, Self::Action(_)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Vec<Invocation>, clap::Error> {
        parse(&line.split(' ').map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn the_definition_is_valid() {
        command().debug_assert();
    }

    #[test]
    fn actions_are_read_from_the_registry() {
        let read = read("tabwire --session a click e3 --nth 2 --json").expect("valid");
        let [Invocation { globals, wanted: Operation::Action { definition, params, .. } }] = &read[..] else {
            panic!("one action: {read:?}");
        };
        assert_eq!((definition.name, globals.json), ("click", true));
        assert_eq!((params["target"].as_str(), params["nth"].as_u64()), (Some("e3"), Some(2)));
    }

    fn read_action(line: &[&str]) -> (Value, bool, GlobalFlags) {
        let line: Vec<OsString> =
            std::iter::once("tabwire").chain(line.iter().copied()).map(OsString::from).collect();
        let mut read = parse(&line).unwrap_or_else(|error| panic!("{line:?}: {error}"));
        match read.remove(0) {
            Invocation { globals, wanted: Operation::Action { params, snapshot, .. } } => {
                (params, snapshot, globals)
            }
            other => panic!("{other:?} is no action"),
        }
    }

    #[test]
    fn b6_options_follow_values_that_may_start_with_a_hyphen() {
        let (params, snapshot, _) = read_action(&["press", "Escape", "--snapshot"]);
        assert_eq!((&params["keys"], snapshot), (&serde_json::json!(["Escape"]), true));
        let (params, _, globals) = read_action(&["select", "e8", "Low", "--timeout", "5s"]);
        assert_eq!(params["options"].as_array().map(Vec::len), Some(1), "{params}");
        assert_eq!(globals.timeout, Some(std::time::Duration::from_secs(5)));
        let (params, snapshot, _) = read_action(&["fill", "e3", "-5", "--snapshot", "--nth=2"]);
        assert_eq!((params["value"].as_str(), params["nth"].as_u64(), snapshot), (Some("-5"), Some(2), true));
        let (params, ..) = read_action(&["fill", "e3", "-- choose --"]);
        assert_eq!(params["value"], "-- choose --");
        let (params, snapshot, _) = read_action(&["type", "--", "--snapshot"]);
        assert_eq!((params["text"].as_str(), snapshot), (Some("--snapshot"), false));
        assert!(read("tabwire press Escape --snapshott").is_err());
        assert!(read("tabwire fill e3 text --no-such-option").is_err());
    }

    #[test]
    fn b12_connect_has_the_option_that_its_hint_names() {
        let connect = read("tabwire connect 9222 --restart").expect("an option");
        let is_restart = matches!(
            &connect[..],
            [Invocation { wanted: Operation::Command(Command::Connect { restart: true, .. }), .. }]
        );
        assert!(is_restart, "{connect:?}");
    }

    #[test]
    fn v_alone_is_the_version_and_verbose_with_a_command() {
        assert_eq!(read("tabwire -v").expect_err("no command").kind(), ErrorKind::DisplayVersion);
        let (.., globals) = read_action(&["click", "e3", "-v"]);
        assert!(globals.verbose);
    }

    #[test]
    fn a_file_after_screenshot_is_its_output() {
        let (params, ..) = read_action(&["screenshot", "a dir/out.JPG"]);
        assert_eq!(
            (params["output"].as_str(), params["format"].as_str()),
            (Some("a dir/out.JPG"), Some("jpeg"))
        );
        assert!(params.get("target").is_none_or(Value::is_null), "{params}");
        for target in ["e3", "css=img.png", "#x > img.png", "text=out.png"] {
            let (params, ..) = read_action(&["screenshot", target]);
            assert_eq!(params["target"], target);
        }
        let (params, ..) = read_action(&["screenshot", "img.png", "-o", "x.png"]);
        assert_eq!((params["target"].as_str(), params["output"].as_str()), (Some("img.png"), Some("x.png")));
    }

    #[test]
    fn several_actions_share_the_options_of_the_first() {
        let read = read("tabwire --session a click e3 --then tab-new --then fill e4 text").expect("valid");
        let sessions: Vec<_> =
            read.iter().map(|one| one.globals.session.as_ref().map(ToString::to_string)).collect();
        assert_eq!(sessions, vec![Some("a".to_owned()); 3]);
        assert!(self::read("tabwire click e3 --then status").is_err());
        assert!(self::read("tabwire click e3 --then").is_err());
    }

    /// Splits a line into words as a shell does.
    fn shell_words(line: &str) -> Vec<OsString> {
        let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
        for letter in line.chars() {
            match quote {
                Some(open) if letter == open => quote = None,
                Some(_) => word.get_or_insert_default().push(letter),
                None if letter == '"' || letter == '\'' => {
                    quote = Some(letter);
                    word.get_or_insert_default();
                }
                None if letter == ' ' => words.extend(word.take()),
                None => word.get_or_insert_default().push(letter),
            }
        }
        assert_eq!(quote, None, "an open quote: {line}");
        words.extend(word);
        words.into_iter().map(OsString::from).collect()
    }

    #[test]
    fn every_example_is_a_command_line_of_its_action() {
        for action in ACTIONS {
            assert!(!action.examples.is_empty(), "{} has no example", action.name);
            for example in action.examples {
                let read = parse(&shell_words(example.line))
                    .unwrap_or_else(|error| panic!("{}: {error}", example.line));
                assert!(example.line.starts_with("tabwire "), "{}", example.line);
                assert!(example.does.ends_with('.'), "{}: {}", example.line, example.does);
                let [Invocation { wanted: Operation::Action { definition, .. }, .. }] = &read[..] else {
                    panic!("{} is no action", example.line);
                };
                assert_eq!(definition.name, action.name, "{}", example.line);
            }
        }
    }

    #[test]
    fn aliases_are_parsed() {
        for line in ["tabwire tabs", "tabwire tabs-list", "tabwire tabs_list", "tabwire goto x.org"] {
            assert!(
                matches!(read(line).as_deref(), Ok([Invocation { wanted: Operation::Action { .. }, .. }])),
                "{line}"
            );
        }
    }

    #[test]
    fn commands_that_were_not_built_are_still_parsed() {
        let opened = read("tabwire open click").expect("an address may be any word");
        assert!(matches!(&opened[..], [Invocation { wanted: Operation::Command(Command::Open { .. }), .. }]));
        let listed = read("tabwire session list --all").expect("a command about sessions");
        assert!(matches!(
            &listed[..],
            [Invocation { wanted: Operation::Command(Command::Session { .. }), .. }]
        ));
        let clicked = read("tabwire --session session click e3").expect("a session may be called so");
        assert!(matches!(&clicked[..], [Invocation { wanted: Operation::Action { .. }, .. }]));
        let status = read("tabwire --session click status").expect("a session may have any name");
        assert!(matches!(&status[..], [Invocation { wanted: Operation::Command(Command::Status), .. }]));
        for (line, expected) in [
            ("tabwire --help", ["snapshot", "status"]),
            ("tabwire --help click", ["snapshot", "status"]),
            ("tabwire clik e3", ["clik", "click"]),
            ("tabwire statu", ["statu", "status"]),
            ("tabwire session", ["list", "rename"]),
            ("tabwire session lst", ["lst", "list"]),
            ("tabwire session --help", ["sessions", "rename"]),
        ] {
            let text = read(line).expect_err("not a command").to_string();
            assert!(expected.iter().all(|word| text.contains(word)), "{line}: {text}");
        }
    }
}
