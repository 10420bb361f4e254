//! Runs the commands: one module per command.

mod action;
mod auth;
mod cdp_url;
mod chat;
mod chrome;
mod completions;
mod config;
mod daemon;
mod dashboard;
mod demo;
mod docs;
mod doctor;
mod extension;
pub(crate) mod log;
pub(crate) mod mcp;
mod opener;
mod policy;
mod profile;
mod provider;
mod script;
mod session;
pub(crate) mod skill;
mod status;
mod upgrade_check;
mod welcome;

pub(crate) use chrome::chrome;
pub(crate) use completions::complete;
pub(crate) use provider::provider_names;
pub use skill::skill_text;
pub(crate) use welcome::welcome;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::json;
use tabwire_api::{ClientName, Failure, ProjectKey, SessionKey, SessionName};

pub(crate) use self::auth::SaveOptions;
use self::doctor::DoctorOptions;
use self::policy::approvals;
use self::session::{connect, tab};
use self::skill::install::{InstallOptions, SkillOperation};
use crate::cli::invocation::{Invocation, Operation};
use crate::cli::session_flags::{SessionFlags, ViewFlags};
use crate::cli::{Command, ConfigCommand, DaemonCommand, GlobalFlags};
use crate::commands::skill::dirs::{SkillScope, SkillTool};
use crate::config::{Configuration, Key};
use crate::environment::Environment;
use crate::output::printer::Printer;

/// The inputs of every command.
pub(crate) struct Context<'a> {
    pub(crate) environment: &'a Environment,
    pub(crate) printer: &'a Printer,
    pub(crate) session: SessionName,
    pub(crate) timeout: Option<Duration>,
    /// The session of `--session`, if it is given.
    pub(crate) named_session: Option<SessionName>,
    /// Directories that files may be read from and written to.
    pub(crate) roots: Vec<PathBuf>,
    /// The settings, with the source of each.
    pub(crate) configuration: Configuration,
    /// Whether `--global` is set: ignore the project.
    pub(crate) is_global: bool,
    /// The base of relative URLs, from the flag.
    pub(crate) base_url: Option<String>,
    /// The client.
    pub(crate) client: Option<ClientName>,
}

impl Context<'_> {
    /// The session options of the configuration, with the display of this process: the daemon may have been started from
    /// another one.
    pub(crate) fn session_defaults(&self) -> Result<tabwire_api::api::SessionOptions, Failure> {
        let display = self.environment.display.clone();
        Ok(tabwire_api::api::SessionOptions { display, ..self.configuration.session_defaults()? })
    }

    /// The same context for another session, if one is named.
    pub(crate) fn in_session(&self, name: Option<SessionName>) -> Self {
        Self {
            session: name.unwrap_or_else(|| self.session.clone()),
            named_session: self.named_session.clone(),
            roots: self.roots.clone(),
            configuration: self.configuration.clone(),
            base_url: self.base_url.clone(),
            client: self.client.clone(),
            ..*self
        }
    }

    /// The key of the project's sessions.
    pub(crate) fn project_key(&self) -> ProjectKey {
        self.configuration.project_key()
    }

    /// The session's key among the sessions of all projects.
    pub(crate) fn key(&self) -> SessionKey {
        SessionKey::new(self.project_key(), self.session.clone())
    }

    /// The daemon's socket.
    pub(crate) fn socket(&self) -> PathBuf {
        self.environment.paths.socket()
    }

    /// Whether saved sessions exist.
    pub(crate) fn has_records(&self) -> bool {
        self.environment.paths.sessions().is_dir()
    }
}

/// Runs as the keeper of one browser.
pub(crate) fn keep() -> ExitCode {
    // The daemon has read the outcome from stdout.
    let _ = tabwire_browser::keeper::run(std::io::stdin(), std::io::stdout());
    ExitCode::SUCCESS
}

/// Runs the invocations in order; stops at the first failure.
pub(crate) fn run(
    invocations: Vec<Invocation>,
    environment: &Environment,
    printer: &Printer,
) -> Result<ExitCode, Failure> {
    let mut code = ExitCode::SUCCESS;
    for Invocation { globals, wanted } in invocations {
        let named_session = globals.session.clone();
        let configuration = load(&wanted, &globals, environment)?;
        let context = Context {
            environment,
            printer,
            session: configuration.session().value,
            named_session,
            timeout: configuration.time(Key::Timeout).map(|set| set.value),
            roots: configuration
                .list(Key::Roots)
                .map(|set| set.value.iter().map(PathBuf::from).collect())
                .unwrap_or_default(),
            configuration,
            is_global: globals.global,
            base_url: globals.base_url,
            client: globals.acting_as,
        };
        code = match wanted {
            Operation::Command(command) => run_command(&context, command)?,
            Operation::Action { definition, params, flags, snapshot, options } => {
                action::run(&context, definition, params, &flags, snapshot, options)?;
                ExitCode::SUCCESS
            }
        };
    }
    Ok(code)
}

/// Loads the settings of a command. Commands that repair files or stop processes work without readable files.
fn load(
    wanted: &Operation,
    flags: &GlobalFlags,
    environment: &Environment,
) -> Result<Configuration, Failure> {
    use ConfigCommand::{Check, Path, Schema, Set, Unset};
    use DaemonCommand::{Logs, Run, Start, Status, Stop};
    match wanted {
        Operation::Command(
            Command::Completions { .. }
            | Command::Docs { .. }
            | Command::Skill
            | Command::Types
            | Command::InstallSkill { .. }
            | Command::UpgradeCheck { .. }
            | Command::Keep
            | Command::Chrome { .. }
            | Command::NativeHost { .. }
            | Command::Extension { .. }
            | Command::Config { command: Check { .. } | Path | Schema | Set { .. } | Unset { .. } }
            | Command::Daemon { command: Stop | Status | Logs { .. } },
        ) => Ok(Configuration::without_files()),
        // An unreadable file is one of the findings.
        Operation::Command(Command::Doctor { .. }) => Ok(Configuration::load(environment, flags)
            .unwrap_or_else(|_| Configuration::of_environment(environment, flags))),
        // One daemon serves all projects.
        Operation::Command(Command::Daemon { command: Run { .. } | Start }) => {
            Configuration::load(environment, &GlobalFlags { global: true, ..flags.clone() })
        }
        _ => Configuration::load(environment, flags),
    }
}

fn run_command(context: &Context<'_>, command: Command) -> Result<ExitCode, Failure> {
    let done = match command {
        Command::Open { url, new_tab, capture, snapshot, options, view } => {
            open(context, json!({"url": url, "new_tab": new_tab}), (capture, snapshot), options, view)
        }
        Command::Close { tab } => action::close(context, json!({"tab": tab})),
        Command::Batch { file, bail, options } => {
            return action::batch::run(context, file, bail, &options.into_options()?);
        }
        Command::Execute(flags) => return script::execute(context, *flags),
        Command::Run(flags) => return script::run(context, *flags),
        Command::Reset => script::reset(context),
        Command::Repl(flags) => return script::repl(context, *flags),
        Command::Types => script::types(context),
        Command::Session { command } => session::run(context, command),
        Command::Context { command } => session::context::run(context, command),
        Command::Tab { command } => tab::run(context, &command),
        Command::Connect { address, headers, restart } => {
            connect::connect(context, address, headers, restart)
        }
        Command::Disconnect => connect::disconnect(context),
        Command::Status => status::run(context),
        Command::CdpUrl(flags) => cdp_url::run(context, *flags),
        Command::Mcp(flags) => return mcp::run(context, *flags),
        Command::Chat { command } => return chat::run(context, command),
        Command::Chrome { arguments } => return Ok(run_shim(arguments)),
        Command::Doctor { fix, launch } => return doctor::run(context, DoctorOptions { fix, launch }),
        Command::Dashboard { print, without_terminal } => dashboard::run(context, print, without_terminal),
        Command::Demo { yes } => demo::run(context, yes),
        Command::Docs { page, open } => docs::run(context, page.as_deref(), open),
        Command::Daemon { command } => daemon::run(context, &command),
        Command::Auth { command } => auth::run(context, command),
        Command::Profile { command } => profile::run(context, &command),
        Command::Provider { command } => provider::run(context, &command),
        Command::Allow(options) => policy::allow(context, &options),
        Command::Deny { site } => policy::deny(context, &site),
        Command::Grants { command } => policy::grants(context, command.as_ref()),
        Command::Policy { command } => policy::policy(context, &command),
        Command::Approvals { command } => approvals::run(context, command.as_ref()),
        Command::Config { command } => config::run(context, command),
        Command::Completions { shell } => {
            completions::run(*context.printer, shell);
            Ok(())
        }
        Command::Log(flags) => log::run(context, flags),
        Command::UpgradeCheck { online, url } => upgrade_check::run(context, online, url.as_deref()),
        Command::Skill => skill::run(*context.printer),
        Command::InstallSkill { tools, project, user: _, print, uninstall } => {
            skill::install::run(context, &install_options(tools, project, print, uninstall))
        }
        Command::Extension { command } => extension::run(context, &command),
        Command::Keep => return Ok(keep()),
        Command::NativeHost { origin, rest: _ } => {
            return Ok(extension::native_host::run(&context.environment.paths, origin.as_deref()));
        }
    };
    done.map(|()| ExitCode::SUCCESS)
}

fn open(
    context: &Context<'_>,
    params: serde_json::Value,
    shown: (bool, bool),
    options: SessionFlags,
    view: ViewFlags,
) -> Result<(), Failure> {
    let (auth, restart) = (view.auth.clone(), options.restart);
    let options = view.add_to(options.into_options()?);
    let restart = session::start_with_state(context, auth.as_deref(), &options, restart)?;
    action::open(context, params, shown, options, restart)
}

fn run_shim(arguments: Vec<String>) -> ExitCode {
    let arguments: Vec<_> = arguments.into_iter().map(Into::into).collect();
    chrome(&arguments)
}

fn install_options(tools: Vec<SkillTool>, project: bool, print: bool, uninstall: bool) -> InstallOptions {
    let scope = if project { SkillScope::Project } else { SkillScope::User };
    let operation = match (print, uninstall) {
        (true, _) => SkillOperation::Print,
        (false, true) => SkillOperation::Uninstall,
        (false, false) => SkillOperation::Install,
    };
    InstallOptions { tools, scope, operation }
}
