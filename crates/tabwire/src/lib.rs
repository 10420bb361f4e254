//! The command line: parses arguments, sends requests to the daemon, prints results, and sets the exit code.

mod cli;
mod commands;
mod completion;
mod config;
mod contained_file;
mod environment;
mod output;
mod project;

use std::io::IsTerminal;
use std::process::ExitCode;

pub use cli::invocation::command;
pub use commands::skill_text;
pub use config::{configuration_page, configuration_schema};
pub use environment::{Variable, variables};

use crate::environment::Environment;
use crate::output::printer::{OutputForm, Printer};

/// Whether the daemon started this process as the keeper of a browser. Checked before any parsing, since a keeper lives
/// as long as its browser and should use little memory.
fn is_keeper() -> bool {
    let mut arguments = std::env::args_os().skip(1);
    arguments.next().is_some_and(|first| first == "keep") && arguments.next().is_none()
}

/// Whether the daemon started this process to run scripts. Checked before any parsing, for the same reason.
fn is_script_child() -> bool {
    let mut arguments = std::env::args_os().skip(1);
    arguments.next().is_some_and(|first| first == "script-child") && arguments.next().is_none()
}

/// Runs the command line of this process.
#[must_use]
pub fn main() -> ExitCode {
    if is_keeper() {
        return commands::keep();
    }
    if is_script_child() {
        return tabwire_script::child::run();
    }
    if let Some(arguments) = tabwire_chrome::find_arguments() {
        return commands::chrome(&arguments);
    }
    if commands::mcp::is_relay() {
        return commands::mcp::relay();
    }
    if std::env::args_os().nth(1).is_some_and(|first| first == "complete") {
        // Before any parsing: the arguments are an incomplete command line.
        return commands::complete(std::env::args_os().skip(2));
    }
    let arguments: Vec<_> = std::env::args_os().collect();
    if arguments.len() == 1 && std::io::stdout().is_terminal() {
        commands::welcome(&Environment::read());
        return ExitCode::SUCCESS;
    }
    let invocations = match cli::invocation::parse(&arguments) {
        Ok(invocations) => invocations,
        Err(error) => return output::exit::usage(&error, cli::invocation::asks_for_json(&arguments)),
    };
    let globals = invocations.first().map(|first| first.globals.clone()).unwrap_or_default();
    let form = match (globals.json, globals.raw) {
        (true, _) => OutputForm::Json,
        (false, true) => OutputForm::Raw,
        (false, false) => OutputForm::Text,
    };
    let printer = Printer::new(form, globals.quiet).verbose(globals.verbose);
    let result = commands::run(invocations, &Environment::read(), &printer);
    match result {
        Ok(code) => code,
        Err(failure) => output::exit::failed(&failure, &printer),
    }
}
