//! One file for each command; this one only says which is which.

mod action;
mod cdp_url;
mod completions;
mod daemon;
mod demo;
mod doctor;
mod status;

use std::process::ExitCode;
use std::time::Duration;

use serde_json::json;
use tabwire_wire::{Failure, SessionName};

use crate::cli::{Cli, Command};
use crate::environment::Environment;
use crate::printer::Printer;

/// What every command needs to know.
pub(crate) struct Context<'a> {
    pub(crate) environment: &'a Environment,
    pub(crate) printer: &'a Printer,
    pub(crate) session: SessionName,
    pub(crate) timeout: Option<Duration>,
}

/// Becomes the keeper of one browser.
pub(crate) fn keep() -> ExitCode {
    // The outcome has been written to whoever started us; there is nobody else to tell.
    let _ = tabwire_browser::keeper::run(std::io::stdin(), std::io::stdout());
    ExitCode::SUCCESS
}

pub(crate) fn run(cli: Cli, environment: &Environment, printer: &Printer) -> Result<ExitCode, Failure> {
    let session = cli.session.unwrap_or_default();
    let context = Context { environment, printer, session, timeout: cli.timeout };
    let done = match cli.command {
        Command::Open { url, new_tab, options } => {
            let params = json!({"url": url, "new_tab": new_tab});
            action::open(&context, params, options.into_options()?)
        }
        Command::Tabs { options } => action::tabs(&context, options.into_options()?),
        Command::Eval { expression, tab, options } => {
            let params = json!({"expression": expression, "tab": tab});
            action::eval(&context, params, options.into_options()?)
        }
        Command::Close { tab } => action::close(&context, json!({"tab": tab})),
        Command::Status => status::run(&context),
        Command::CdpUrl { http, share_all, options } => {
            cdp_url::run(&context, http, share_all, options.into_options()?)
        }
        Command::Doctor { fix } => return doctor::run(&context, fix),
        Command::Demo { yes } => demo::run(&context, yes),
        Command::Daemon { command } => daemon::run(&context, &command),
        Command::Completions { shell } => {
            completions::run(shell);
            Ok(())
        }
        Command::Keep => return Ok(keep()),
    };
    done.map(|()| ExitCode::SUCCESS)
}
