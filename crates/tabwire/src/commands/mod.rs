//! One file for each command; this one only says which is which.

mod action;
mod batch;
mod cdp_url;
mod completions;
mod daemon;
mod demo;
mod doctor;
mod status;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::json;
use tabwire_wire::{Failure, SessionName};

use crate::cli::Command;
use crate::environment::Environment;
use crate::invocation::{Invocation, Wanted};
use crate::printer::Printer;

/// What every command needs to know.
pub(crate) struct Context<'a> {
    pub(crate) environment: &'a Environment,
    pub(crate) printer: &'a Printer,
    pub(crate) session: SessionName,
    pub(crate) timeout: Option<Duration>,
    /// Directories that files may be read from and written to.
    pub(crate) roots: Vec<PathBuf>,
}

/// Becomes the keeper of one browser.
pub(crate) fn keep() -> ExitCode {
    // The outcome has been written to whoever started us; there is nobody else to tell.
    let _ = tabwire_browser::keeper::run(std::io::stdin(), std::io::stdout());
    ExitCode::SUCCESS
}

/// Does what a caller wants, one thing after the other; the first failure ends it.
pub(crate) fn run(
    invocations: Vec<Invocation>,
    environment: &Environment,
    printer: &Printer,
) -> Result<ExitCode, Failure> {
    let mut code = ExitCode::SUCCESS;
    for Invocation { globals, wanted } in invocations {
        let session = globals.session.unwrap_or_default();
        let context =
            Context { environment, printer, session, timeout: globals.timeout, roots: globals.roots };
        code = match wanted {
            Wanted::Command(command) => run_command(&context, command)?,
            Wanted::Action { definition, params, flags, snapshot, options } => {
                let options = options.into_options()?;
                action::run(&context, definition, params, &flags, snapshot, options)?;
                ExitCode::SUCCESS
            }
        };
    }
    Ok(code)
}

fn run_command(context: &Context<'_>, command: Command) -> Result<ExitCode, Failure> {
    let done = match command {
        Command::Open { url, new_tab, options } => {
            let params = json!({"url": url, "new_tab": new_tab});
            action::open(context, params, options.into_options()?)
        }
        Command::Close { tab } => action::close(context, json!({"tab": tab})),
        Command::Batch { file, bail, options } => {
            return batch::run(context, file, bail, &options.into_options()?);
        }
        Command::Status => status::run(context),
        Command::CdpUrl { http, share_all, options } => {
            cdp_url::run(context, http, share_all, options.into_options()?)
        }
        Command::Doctor { fix } => return doctor::run(context, fix),
        Command::Demo { yes } => demo::run(context, yes),
        Command::Daemon { command } => daemon::run(context, &command),
        Command::Completions { shell } => {
            completions::run(shell);
            Ok(())
        }
        Command::Keep => return Ok(keep()),
    };
    done.map(|()| ExitCode::SUCCESS)
}
