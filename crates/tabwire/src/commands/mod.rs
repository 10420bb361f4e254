//! One file for each command; this one only says which is which.

mod action;
mod auth;
mod batch;
mod cdp_url;
mod completions;
mod config;
mod daemon;
mod demo;
mod doctor;
mod install_skill;
pub(crate) mod log;
mod log_export;
mod log_follow;
mod log_lines;
mod passphrase;
mod profile;
mod skill;
mod status;
mod upgrade_check;

pub(crate) use completions::complete;
pub use skill::skill_text;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::json;
use tabwire_wire::api::SessionOptions;
use tabwire_wire::{Failure, SessionName};

pub(crate) use self::auth::SaveWish;
use self::install_skill::{Deed, Wish};
use crate::cli::{Command, ConfigCommand, DaemonCommand, GlobalFlags, SessionFlags};
use crate::config::{Configuration, Key};
use crate::environment::Environment;
use crate::invocation::{Invocation, Wanted};
use crate::printer::Printer;
use crate::skill_place::SkillScope;

/// What every command needs to know.
pub(crate) struct Context<'a> {
    pub(crate) environment: &'a Environment,
    pub(crate) printer: &'a Printer,
    pub(crate) session: SessionName,
    pub(crate) timeout: Option<Duration>,
    /// Directories that files may be read from and written to.
    pub(crate) roots: Vec<PathBuf>,
    /// What is set, and by whom.
    pub(crate) configuration: Configuration,
    /// Whether the command leaves its project.
    pub(crate) is_global: bool,
}

impl Context<'_> {
    /// How the session gets its browser: as flags say, then as it is set.
    fn options(&self, flags: SessionFlags) -> Result<SessionOptions, Failure> {
        self.configuration.complete(flags.into_options()?)
    }
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
        let named = globals.session.clone();
        let configuration = load(&wanted, &globals, environment)?;
        let context = Context {
            environment,
            printer,
            session: configuration.session().value,
            timeout: configuration.time(Key::Timeout).map(|set| set.value),
            roots: configuration
                .list(Key::Roots)
                .map(|set| set.value.iter().map(PathBuf::from).collect())
                .unwrap_or_default(),
            configuration,
            is_global: globals.global,
        };
        code = match wanted {
            Wanted::Command(Command::Log(flags)) => {
                log::run(&context, named, flags)?;
                ExitCode::SUCCESS
            }
            Wanted::Command(command) => run_command(&context, command)?,
            Wanted::Action { definition, params, flags, snapshot, options } => {
                let options = context.options(options)?;
                action::run(&context, definition, params, &flags, snapshot, options)?;
                ExitCode::SUCCESS
            }
        };
    }
    Ok(code)
}

/// What is set for a command. One that mends files, or ends what runs, needs no file that can be read.
fn load(wanted: &Wanted, flags: &GlobalFlags, environment: &Environment) -> Result<Configuration, Failure> {
    use ConfigCommand::{Check, Path, Schema, Set};
    use DaemonCommand::{Logs, Run, Start, Status, Stop};
    match wanted {
        Wanted::Command(
            Command::Completions { .. }
            | Command::Skill
            | Command::InstallSkill { .. }
            | Command::UpgradeCheck { .. }
            | Command::Keep
            | Command::Config { command: Check { .. } | Path | Schema | Set { .. } }
            | Command::Daemon { command: Stop | Status | Logs { .. } },
        ) => Ok(Configuration::without_files()),
        // One daemon serves all projects.
        Wanted::Command(Command::Daemon { command: Run { .. } | Start }) => {
            Configuration::load(environment, &GlobalFlags { global: true, ..flags.clone() })
        }
        _ => Configuration::load(environment, flags),
    }
}

fn run_command(context: &Context<'_>, command: Command) -> Result<ExitCode, Failure> {
    let done = match command {
        Command::Open { url, new_tab, options } => {
            let params = json!({"url": url, "new_tab": new_tab});
            action::open(context, params, context.options(options)?)
        }
        Command::Close { tab } => action::close(context, json!({"tab": tab})),
        Command::Batch { file, bail, options } => {
            return batch::run(context, file, bail, &context.options(options)?);
        }
        Command::Status => status::run(context),
        Command::CdpUrl { http, share_all, options } => {
            cdp_url::run(context, http, share_all, context.options(options)?)
        }
        Command::Doctor { fix } => return doctor::run(context, fix),
        Command::Demo { yes } => demo::run(context, yes),
        Command::Daemon { command } => daemon::run(context, &command),
        Command::Auth { command } => auth::run(context, command),
        Command::Profile { command } => profile::run(context, &command),
        Command::Config { command } => config::run(context, command),
        Command::Completions { shell } => {
            completions::run(*context.printer, shell);
            Ok(())
        }
        Command::Log(flags) => log::run(context, None, flags),
        Command::UpgradeCheck { online, url } => upgrade_check::run(context, online, url.as_deref()),
        Command::Skill => {
            skill::run(*context.printer);
            Ok(())
        }
        Command::InstallSkill { tools, project, user: _, print, uninstall } => {
            let scope = if project { SkillScope::Project } else { SkillScope::User };
            let deed = match (print, uninstall) {
                (true, _) => Deed::Print,
                (false, true) => Deed::Uninstall,
                (false, false) => Deed::Install,
            };
            install_skill::run(context, &Wish { tools, scope, deed })
        }
        Command::Keep => return Ok(keep()),
    };
    done.map(|()| ExitCode::SUCCESS)
}
