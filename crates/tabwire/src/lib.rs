//! The command line: what is typed, what is printed, and the exit code.
//!
//! The work is done by the daemon; this side parses, asks, and prints.

mod chrome;
mod cli;
mod commands;
mod completion;
mod config;
mod contained_file;
mod daemon_client;
mod daemon_start;
mod environment;
mod exit;
mod extension_command;
mod interruption;
mod invocation;
pub mod limits;
mod native_host_place;
mod own_program;
mod policy_command;
mod printer;
mod progress_line;
mod project;
mod prompt;
mod result_table;
mod session_command;
mod session_flags;
mod skill_place;
mod spinner;
mod table;

use std::process::ExitCode;

pub use commands::skill_text;
pub use config::{configuration_page, configuration_schema};
pub use environment::{Variable, variables};
pub use invocation::command;

use crate::environment::Environment;
use crate::printer::{OutputForm, Printer};

/// Whether the daemon started this process to keep a browser. Seen before anything is parsed: a keeper stays for
/// as long as its browser does, and should be small.
fn is_keeper() -> bool {
    let mut arguments = std::env::args_os().skip(1);
    arguments.next().is_some_and(|first| first == "keep") && arguments.next().is_none()
}

/// Runs the command line of this process.
#[must_use]
pub fn main() -> ExitCode {
    if is_keeper() {
        return commands::keep();
    }
    if let Some(arguments) = chrome::find_arguments() {
        return chrome::run(&arguments);
    }
    if commands::mcp::is_relay() {
        return commands::mcp::relay();
    }
    if std::env::args_os().nth(1).is_some_and(|first| first == "complete") {
        // Seen before anything is parsed, too: what follows is not a command line of ours but one in the making.
        return commands::complete(std::env::args_os().skip(2));
    }
    let arguments: Vec<_> = std::env::args_os().collect();
    let invocations = match invocation::parse(&arguments) {
        Ok(invocations) => invocations,
        Err(error) => return exit::usage(&error),
    };
    let globals = invocations.first().map(|first| first.globals.clone()).unwrap_or_default();
    let form = match (globals.json, globals.raw) {
        (true, _) => OutputForm::Json,
        (false, true) => OutputForm::Raw,
        (false, false) => OutputForm::Text,
    };
    let printer = Printer::new(form, globals.quiet);
    let done = commands::run(invocations, &Environment::read(), &printer);
    match done {
        Ok(code) => code,
        Err(failure) => exit::failed(&failure, &printer),
    }
}
