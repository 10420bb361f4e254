//! `mcp`: connects an MCP client to the daemon, serves it in this process, or over HTTP.

pub(crate) mod clients;
mod flags;
mod isolated;
mod over_http;
mod relay;
mod tool_listing;

use std::process::ExitCode;
use std::time::Duration;

use tabwire_api::api::{ActionRequest, McpOpening, McpTransport, PolicyProfile, SessionOptions};
use tabwire_api::{ErrorCode, Failure};

use super::Context;
use super::action::absolute_roots;
use crate::config::{Key, Origin};

use clients::{doctor, install};
use flags::McpCommand;
pub(crate) use flags::McpFlags;
use install::InstallOperation;
pub(crate) use relay::{is_relay, relay};

/// How long the daemon or a server may take to respond to the first messages.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// Serves an MCP client until it disconnects, or runs a subcommand.
pub(super) fn run(context: &Context<'_>, mut flags: McpFlags) -> Result<ExitCode, Failure> {
    if let Some(command) = flags.command.take() {
        run_command(context, command)?;
        return Ok(ExitCode::SUCCESS);
    }
    if flags.list_tools {
        tool_listing::run(context, &flags.tools)?;
        return Ok(ExitCode::SUCCESS);
    }
    let (is_http, is_isolated) = (flags.http, flags.isolated);
    let opening = serde_json::to_string(&opening(context, flags)?).map_err(|error| {
        Failure::new(ErrorCode::Internal, format!("The connection's first line cannot be written: {error}."))
    })?;
    match (is_http, is_isolated) {
        (true, _) => over_http::run(context, &opening)?,
        (false, true) => isolated::run(context, &opening)?,
        (false, false) => return Err(relay::become_relay(&context.environment.paths.socket(), &opening)),
    }
    Ok(ExitCode::SUCCESS)
}

fn run_command(context: &Context<'_>, command: McpCommand) -> Result<(), Failure> {
    match command {
        McpCommand::Install { client, project, print, arguments } => {
            let operation = if print { InstallOperation::Print } else { InstallOperation::Install };
            install::run(context, client, project, operation, &arguments)
        }
        McpCommand::Uninstall { client, project } => {
            install::run(context, client, project, InstallOperation::Uninstall, &[])
        }
        McpCommand::Doctor { client, project } => doctor::run(context, client, project),
    }
}

/// Options that apply to all calls of the client.
fn opening(context: &Context<'_>, flags: McpFlags) -> Result<McpOpening, Failure> {
    let restart = flags.options.restart;
    let options = flags.view.add_to(flags.options.into_options()?);
    let configured = context.session_defaults()?;
    // The client is an agent, not a user at a terminal: only grants allow it anything.
    let policy = configured.policy.or(Some(PolicyProfile::Guarded));
    let defaults = SessionOptions { policy, ..configured };
    if options.policy.or(defaults.policy) == Some(PolicyProfile::Open) {
        context.printer.warning("POLICY OPEN: this MCP client may do everything that is not denied.");
    }
    let timeout_ms = context.timeout.map(|timeout| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX));
    let request = ActionRequest {
        session: context.session.clone(),
        project: context.project_key(),
        options,
        defaults,
        restart,
        base_url: context.base_url.clone(),
        default_base_url: context.configuration.text(Key::BaseUrl).map(|set| set.value.to_owned()),
        client: context.client.clone(),
        timeout_ms,
        roots: absolute_roots(&context.roots)?,
        working_directory: std::env::current_dir().ok(),
        ..ActionRequest::default()
    };
    Ok(McpOpening {
        request,
        // A session that the user names is kept. A project names none here: it would put a guarded client into a
        // session that the user runs with logins and without a guard.
        keeps_session: !matches!(
            context.configuration.session().origin,
            Origin::BuiltIn | Origin::ProjectFile { .. }
        ),
        tools: flags.tools,
        results: flags.results.into(),
        transport: if flags.http { McpTransport::Http } else { McpTransport::Stdio },
        resumed: false,
        chat: flags.chat,
    })
}
