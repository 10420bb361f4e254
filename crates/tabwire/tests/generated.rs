//! The pages of `docs/reference` that are generated from the command line's definitions are committed and
//! current.
//!
//! `cargo xtask gen` runs these tests with `TABWIRE_GEN=1`, which writes the pages.

#[path = "generated/wire_types.rs"]
mod wire_types;

use std::path::Path;

use clap::{Arg, Command};

/// Paths of the pages in the repository.
const CLI_PAGE: &str = "docs/reference/cli.md";
const ENVIRONMENT_PAGE: &str = "docs/reference/environment.md";
const CONFIGURATION_PAGE: &str = "docs/reference/configuration.md";
const CONFIGURATION_SCHEMA: &str = "docs/reference/config.schema.json";
const ACTIONS_PAGE: &str = "docs/reference/actions.md";
const SKILL_PAGE: &str = "docs/reference/skill.md";
const PLUGIN_SKILL: &str = "packaging/agents/claude-code/skills/tabwire/SKILL.md";
const ACTIONS_SCHEMA: &str = "docs/reference/actions.json";
const TYPES: &str = "crates/tabwire-script/types/tabwire.d.ts";
const TOOLS: &str = "docs/reference/mcp-tools.json";

#[test]
fn the_types_of_messages_are_current() {
    check_page("web/shared/wire.d.ts", &wire_types::text());
    check_page("web/dashboard/messages.d.ts", &wire_types::dashboard_text());
}

#[test]
fn the_command_line_page_is_current() {
    check_page(CLI_PAGE, &cli_page());
}

#[test]
fn the_actions_page_is_current() {
    check_page(ACTIONS_PAGE, &actions_page());
}

#[test]
fn the_actions_schemas_are_current() {
    check_page(ACTIONS_SCHEMA, &one_line_each(&tabwire_engine::catalogue()));
}

/// A list as JSON with one entry per line: a change of one action or tool is one line of a diff.
fn one_line_each(list: &serde_json::Value) -> String {
    let entries = list.as_array().expect("an array").iter().map(ToString::to_string);
    format!("[\n{}\n]\n", entries.collect::<Vec<_>>().join(",\n"))
}

/// Every client receives the whole tool list, so changes of it should be visible in a diff.
#[test]
fn the_list_of_mcp_tools_is_current() {
    let all = tabwire_mcp::offered_tools();
    let tools: Vec<_> = all.iter().map(|tool| tool.json()).collect();
    let usual = all.iter().filter(|tool| tool.group == tabwire_engine::ToolGroup::Default);
    let usual: Vec<&str> = usual.map(|tool| tool.name).collect();
    let usual = serde_json::json!(usual);
    let tools = one_line_each(&serde_json::Value::Array(tools));
    check_page(TOOLS, &format!("{{\"usual\":{usual},\"tools\":{}}}\n", tools.trim_end()));
}

/// The types of scripts: written by hand up to the marker, generated from the registry below.
#[test]
fn the_types_of_actions_in_scripts_are_current() {
    const MARKER: &str = "// Actions. The rest of this file is written by `cargo xtask gen`.\n";
    let (by_hand, _) = tabwire_script::declarations::TYPES.split_once(MARKER).expect("the marker");
    check_page(TYPES, &format!("{by_hand}{MARKER}{}", tabwire_engine::typescript_actions()));
}

#[test]
fn the_environment_page_is_current() {
    check_page(ENVIRONMENT_PAGE, &environment_page());
}

#[test]
fn the_settings_page_is_current() {
    check_page(CONFIGURATION_PAGE, &tabwire::configuration_page());
}

#[test]
fn the_settings_schema_is_current() {
    check_page(CONFIGURATION_SCHEMA, &format!("{:#}\n", tabwire::configuration_schema()));
}

#[test]
fn the_skill_text_is_current() {
    check_page(SKILL_PAGE, &tabwire::skill_text());
    check_page(PLUGIN_SKILL, &tabwire::skill_text());
}

/// `cargo xtask man --out DIR` sets `TABWIRE_MAN_DIR`; without it, the pages go to a temporary directory.
#[test]
fn every_visible_command_has_a_man_page() {
    let temporary = tempfile::tempdir().expect("a directory");
    let chosen = std::env::var_os("TABWIRE_MAN_DIR").map(std::path::PathBuf::from);
    let directory = chosen.unwrap_or_else(|| temporary.path().to_owned());
    std::fs::create_dir_all(&directory).expect("a directory");
    let pages = man_pages();
    for (name, text) in &pages {
        std::fs::write(directory.join(name), text).expect("a page");
        assert!(text.contains(".TH ") && text.contains(".SH NAME"), "{name}: {text}");
    }
    for name in ["tabwire.1", "tabwire-click.1", "tabwire-session-start.1"] {
        assert!(directory.join(name).is_file(), "{name}");
    }
    let commands = tabwire::command();
    for command in commands.get_subcommands().filter(|command| !command.is_hide_set()) {
        assert!(pages.contains_key(&format!("tabwire-{}.1", command.get_name())), "{}", command.get_name());
    }
}

/// The man pages of the program and of each visible command, by file name.
fn man_pages() -> std::collections::BTreeMap<String, String> {
    let mut root = tabwire::command().disable_help_subcommand(true);
    root.build();
    let mut pages = std::collections::BTreeMap::new();
    add_man_pages(&root, "tabwire", &mut pages);
    pages
}

fn add_man_pages(command: &Command, name: &str, pages: &mut std::collections::BTreeMap<String, String>) {
    let shown: Vec<&Command> = command.get_subcommands().filter(|inner| !inner.is_hide_set()).collect();
    for inner in &shown {
        add_man_pages(inner, &format!("{name}-{}", inner.get_name()), pages);
    }
    let version = env!("CARGO_PKG_VERSION");
    let page = clap_mangen::Man::new(command.clone())
        .title(name.to_uppercase())
        .section("1")
        .date("")
        .source(format!("tabwire {version}"))
        .manual("Tabwire");
    let mut bytes = Vec::new();
    page.render(&mut bytes).expect("memory takes all");
    let text = String::from_utf8(bytes).expect("text");
    // The tidy check forbids trailing spaces, and roff does not need them.
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    pages.insert(format!("{name}.1"), lines.join("\n") + "\n");
}

#[test]
fn hidden_commands_and_options_are_on_no_page() {
    let page = cli_page();
    assert!(!page.contains("tabwire keep") && !page.contains("--announce"), "{page}");
    assert!(page.contains("## `tabwire daemon logs`"), "{page}");
}

/// Options that a command shares with its subcommands are global in clap, as those of every command are.
#[test]
fn options_shared_with_subcommands_are_on_the_page() {
    let page = cli_page();
    let log =
        page.split("## `tabwire log`").nth(1).and_then(|rest| rest.split("\n## ").next()).expect("a section");
    assert!(log.contains("`--since <TIME>`") && !log.contains("`--json`"), "{log}");
}

/// Whether pages are written instead of compared.
fn is_writing() -> bool {
    std::env::var_os("TABWIRE_GEN").is_some_and(|value| value == "1")
}

/// Compares a page with the committed one, or writes it.
fn check_page(path: &str, text: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    if is_writing() {
        std::fs::create_dir_all(file.parent().expect("below the repository")).expect("a folder");
        std::fs::write(&file, text).unwrap_or_else(|error| panic!("{path} cannot be written: {error}"));
        return;
    }
    let current = std::fs::read_to_string(&file).unwrap_or_default();
    if current != text {
        let same = current.lines().zip(text.lines()).take_while(|(left, right)| left == right).count();
        panic!("{path} is stale from line {}: run `cargo xtask gen` and commit the result", same + 1);
    }
}

fn actions_page() -> String {
    let mut page = String::from(
        "# Actions\n\n\
         <!-- Written by `cargo xtask gen`. Do not edit: change crates/tabwire-engine/src/actions instead. -->\n\n\
         Every action can be run from the command line (`tabwire NAME`), in a `tabwire batch`, and as\n\
         `POST /v1/actions/NAME` with `{\"session\": …, \"params\": …}`. The schemas are in [actions.json](actions.json)\n\
         and at `GET /v1/actions`. Effects: read, act, navigate, eval, files.\n\n",
    );
    let catalogue = tabwire_engine::catalogue();
    for action in catalogue.as_array().into_iter().flatten() {
        let text = |member: &str| action[member].as_str().unwrap_or_default().to_owned();
        page.push_str(&format!(
            "## `{}`\n\n{}\n\nEffect: {}. ",
            text("name"),
            text("description"),
            text("effect")
        ));
        page.push_str(&format!("Command: `tabwire {}`.\n\n", text("command")));
        let required = action["parameters"]["required"].as_array().cloned().unwrap_or_default();
        let parameters = action["parameters"]["properties"].as_object().cloned().unwrap_or_default();
        if !parameters.is_empty() {
            page.push_str("| Parameter | Meaning |\n|---|---|\n");
        }
        for (name, schema) in &parameters {
            let needed = if required.iter().any(|required| required == name) { " (required)" } else { "" };
            let words = schema["description"].as_str().unwrap_or_default();
            let words = words.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|");
            page.push_str(&format!("| `{name}`{needed} | {words} |\n"));
        }
        if !parameters.is_empty() {
            page.push('\n');
        }
        for example in action["examples"].as_array().into_iter().flatten() {
            let text = |member: &str| example[member].as_str().unwrap_or_default();
            page.push_str(&format!("- `{}`: {}\n", text("line"), text("does")));
        }
        page.push('\n');
    }
    page.truncate(page.trim_end().len());
    page.push('\n');
    page
}

fn cli_page() -> String {
    let mut root = tabwire::command();
    root.build();
    let mut page = String::from(
        "# Command line\n\n\
         <!-- Written by `cargo xtask gen`. Do not edit: change crates/tabwire/src/cli/ or the actions instead. -->\n\n\
         Results go to stdout, everything else to stderr. Exit codes: 0 done, 1 failed, 2 wrong usage, 3 refused,\n\
         4 timed out, 130 interrupted; the [error reference](errors.md) has them by code.\n\n",
    );
    page.push_str("Options of every command:\n\n");
    let everywhere: Vec<&Arg> = root.get_arguments().filter(|option| option.is_global_set()).collect();
    page.push_str(&table("Option", everywhere.iter().copied()));
    let everywhere: Vec<&str> = everywhere.iter().map(|option| option.get_id().as_str()).collect();
    describe_all(&root, "tabwire", &everywhere, &mut page);
    page.truncate(page.trim_end().len());
    page.push('\n');
    page
}

/// Describes the visible subcommands, depth first. Options of every command are left out; those that a command shares
/// with its subcommands are at that command alone.
fn describe_all(command: &Command, path: &str, known: &[&str], page: &mut String) {
    for inner in command.get_subcommands() {
        if inner.is_hide_set() || inner.get_name() == "help" {
            continue;
        }
        let path = format!("{path} {}", inner.get_name());
        describe(inner, &path, known, page);
        let shared = inner.get_arguments().filter(|option| option.is_global_set());
        let known: Vec<&str> =
            known.iter().copied().chain(shared.map(|option| option.get_id().as_str())).collect();
        describe_all(inner, &path, &known, page);
    }
}

fn describe(command: &Command, path: &str, known: &[&str], page: &mut String) {
    let about = command.get_long_about().or(command.get_about()).map(ToString::to_string).unwrap_or_default();
    let about = about.trim_end().trim_end_matches('.');
    page.push_str(&format!("## `{path}`\n\n{about}.\n\n"));
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim().trim_start_matches("Usage:").trim();
    page.push_str(&format!("```text\n{usage}\n```\n\n"));
    if let Some(after) = command.get_after_help() {
        page.push_str(&format!("```text\n{}\n```\n\n", after.to_string().trim_end()));
    }
    page.push_str(&table("Argument", command.get_positionals()));
    let own = |option: &&Arg| !option.is_positional() && !known.contains(&option.get_id().as_str());
    let mut headings: Vec<Option<&str>> = Vec::new();
    for option in command.get_arguments().filter(own).filter(|option| is_shown(option)) {
        if !headings.contains(&option.get_help_heading()) {
            headings.push(option.get_help_heading());
        }
    }
    for heading in headings {
        let options = command.get_arguments().filter(own);
        let below = options.filter(|option| option.get_help_heading() == heading);
        page.push_str(&table(heading.unwrap_or("Option"), below));
    }
}

fn is_shown(argument: &Arg) -> bool {
    !argument.is_hide_set() && !matches!(argument.get_id().as_str(), "help" | "version")
}

/// A table of arguments; empty when none is visible.
fn table<'a>(heading: &str, arguments: impl Iterator<Item = &'a Arg>) -> String {
    let rows: Vec<String> = arguments.filter(|argument| is_shown(argument)).map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    format!("| {heading} | Meaning |\n|---|---|\n{}\n\n", rows.join("\n"))
}

fn row(argument: &Arg) -> String {
    let help = argument.get_long_help().or(argument.get_help()).map(ToString::to_string).unwrap_or_default();
    let mut meaning = help.split_whitespace().collect::<Vec<_>>().join(" ");
    if !meaning.ends_with('.') {
        meaning.push('.');
    }
    let takes_value = argument.is_positional() || argument.get_action().takes_values();
    if takes_value {
        let values: Vec<String> = argument
            .get_possible_values()
            .iter()
            .filter(|value| !value.is_hide_set())
            .map(|value| format!("`{}`", value.get_name()))
            .collect();
        if !values.is_empty() {
            meaning.push_str(&format!(" One of {}.", values.join(", ")));
        }
        let default = argument.get_default_values().first();
        if let Some(default) = default.filter(|_| !argument.is_hide_default_value_set()) {
            meaning.push_str(&format!(" Default `{}`.", default.to_string_lossy()));
        }
    }
    if let Some(variable) = argument.get_env() {
        meaning.push_str(&format!(" Also set by `{}`.", variable.to_string_lossy()));
    }
    format!("| `{}` | {} |", spelling(argument, takes_value), meaning.replace('|', "\\|"))
}

/// An argument as typed.
fn spelling(argument: &Arg, takes_value: bool) -> String {
    let named = argument.get_value_names().and_then(|names| names.first());
    let value = named.map_or_else(|| argument.get_id().as_str().to_uppercase(), ToString::to_string);
    if argument.is_positional() {
        return if argument.is_required_set() { format!("<{value}>") } else { format!("[{value}]") };
    }
    let short = argument.get_short().map(|short| format!("-{short}"));
    let long = argument.get_long().map(|long| format!("--{long}"));
    let names = short.into_iter().chain(long).collect::<Vec<_>>().join(", ");
    if takes_value { format!("{names} <{value}>") } else { names }
}

fn environment_page() -> String {
    let mut page = String::from(
        "# Environment variables\n\n\
         <!-- Written by `cargo xtask gen`. Do not edit: change crates/tabwire/src/environment.rs instead. -->\n\n\
         Every variable Tabwire reads. The daemon reads its own when it starts, so a change takes effect with\n\
         the next daemon; `tabwire daemon stop` ends the running one. A value that cannot be understood is an\n\
         error; an empty one counts as not set. Files and flags that set the same are in [Settings](configuration.md).\n\n\
         | Variable | Meaning | Since |\n|---|---|---|\n",
    );
    for variable in tabwire::variables() {
        let meaning = variable.meaning.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|");
        page.push_str(&format!("| `{}` | {meaning} | {} |\n", variable.name, variable.since));
    }
    page
}
