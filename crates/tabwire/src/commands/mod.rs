//! One file for each command; this one only says which is which.

mod action;
mod batch;
mod cdp_url;
mod completions;
mod config;
mod daemon;
mod demo;
mod doctor;
mod status;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::json;
use tabwire_wire::{Failure, SessionName};

use crate::cli::{Command, GlobalFlags};
use crate::environment::Environment;
use crate::invocation::{Invocation, Wanted};
use crate::printer::Printer;
use crate::project::Project;

/// What every command needs to know.
pub(crate) struct Context<'a> {
    pub(crate) environment: &'a Environment,
    pub(crate) printer: &'a Printer,
    pub(crate) session: SessionName,
    pub(crate) timeout: Option<Duration>,
    /// Directories that files may be read from and written to.
    pub(crate) roots: Vec<PathBuf>,
    /// The project the command is typed in.
    pub(crate) project: Option<Project>,
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
        let project = find_project(&wanted, globals.global, environment)?;
        let GlobalFlags { session, timeout, roots, .. } = globals;
        let session = session.unwrap_or_default();
        let context = Context { environment, printer, session, timeout, roots, project };
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

/// The project of the working directory; none for commands that are about all of them.
fn find_project(
    wanted: &Wanted,
    is_global: bool,
    environment: &Environment,
) -> Result<Option<Project>, Failure> {
    let about_all = matches!(
        wanted,
        Wanted::Command(Command::Daemon { .. } | Command::Completions { .. } | Command::Keep)
    );
    if is_global || about_all {
        return Ok(None);
    }
    Project::find_here(environment.home.as_deref())
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
        Command::Config { command } => config::run(context, &command),
        Command::Completions { shell } => {
            completions::run(shell);
            Ok(())
        }
        Command::Keep => return Ok(keep()),
    };
    done.map(|()| ExitCode::SUCCESS)
}
