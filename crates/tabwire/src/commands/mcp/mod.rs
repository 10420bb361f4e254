//! `mcp`: connects an MCP client with the daemon, or serves it alone, or over HTTP. Knows no tool.

mod client_end;
mod client_program;
mod doctor;
mod flags;
mod handed_over;
mod install;
mod isolated;
mod json_members;
mod lines;
mod over_http;
mod pending_calls;
mod relay;
mod shim;
mod stream;
mod toml_table;
mod tool_listing;

use std::process::ExitCode;

use tabwire_wire::api::{ActionRequest, McpOpening, McpTransport, PolicyProfile, SessionOptions};
use tabwire_wire::{ErrorCode, Failure};

use super::Context;
use super::action::absolute_roots;
use crate::config::{Key, Origin};

use flags::McpCommand;
pub(crate) use flags::McpFlags;
use install::Deed;
pub(crate) use relay::{HANDED_OVER, is_relay, relay};

/// Serves an MCP client until it leaves, or sees to it that clients find us.
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
            let deed = if print { Deed::Print } else { Deed::Install };
            install::run(context, client, project, deed, &arguments)
        }
        McpCommand::Uninstall { client, project } => {
            install::run(context, client, project, Deed::Uninstall, &[])
        }
        McpCommand::Doctor { client, project } => doctor::run(context, client, project),
    }
}

/// What holds for all calls of the client, said once.
fn opening(context: &Context<'_>, flags: McpFlags) -> Result<McpOpening, Failure> {
    let restart = flags.options.restart;
    let options = flags.view.add_to(flags.options.into_options()?);
    let configured = context.configuration.session_defaults()?;
    // Whoever drives here is no person at a terminal: nothing is allowed that nobody has granted.
    let policy = configured.policy.or(Some(PolicyProfile::Guarded));
    let defaults = SessionOptions { policy, ..configured };
    if options.policy.or(defaults.policy) == Some(PolicyProfile::Open) {
        context
            .printer
            .warning("POLICY OPEN: this MCP client may read and do everything that was not denied.");
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
        answers: flags.answers.into(),
        transport: if flags.http { McpTransport::Http } else { McpTransport::Stdio },
        resumed: false,
    })
}
