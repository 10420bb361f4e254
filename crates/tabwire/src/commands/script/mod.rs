//! `execute`, `run` and `reset`: scripts in the session's browser.

mod files;

use std::io::Read;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::json;
use tabwire_api::api::{ActionRequest, ExecuteLine, ExecuteRequest, ExecuteResult, SessionOptions};
use tabwire_api::{ErrorCode, Failure};
use tabwire_client::{request_daemon, stream_lines};

use super::Context;
use super::action::{absolute_roots, print_notices, warn_of_open};
use crate::cli::script_command::{ExecuteFlags, RunFlags};
use crate::config::Key;
use crate::output::printer::Printer;

/// Largest code that is read from standard input.
const INPUT_BYTES: u64 = 1024 * 1024 + 1;

/// How long the daemon may take to respond besides the run itself.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(120);

/// Runs code in the session's browser.
pub(super) fn execute(context: &Context<'_>, flags: ExecuteFlags) -> Result<ExitCode, Failure> {
    let code = match flags.code.filter(|code| code != "-") {
        Some(code) => code,
        None => read_input()?,
    };
    let (restart, options) = (flags.options.restart, flags.options.into_options()?);
    let request = template(context, options, restart)?;
    stream(context, ExecuteRequest { request, code, ..ExecuteRequest::default() })
}

/// Runs a file in the session's browser.
pub(super) fn run(context: &Context<'_>, flags: RunFlags) -> Result<ExitCode, Failure> {
    let (restart, options) = (flags.options.restart, flags.options.into_options()?);
    let request = template(context, options, restart)?;
    let script = files::read(&flags.file)?;
    let name = Some(script.name);
    stream(
        context,
        ExecuteRequest {
            request,
            code: script.code,
            name,
            is_file: true,
            args: flags.args,
            modules: script.modules,
        },
    )
}

/// Ends the process of this client's scripts.
pub(super) fn reset(context: &Context<'_>) -> Result<(), Failure> {
    let request = template(context, SessionOptions::default(), false)?;
    let response =
        request_daemon(&context.socket(), "POST", "/v1/reset", Some(&json!(request)), RESPONSE_TIMEOUT)?;
    context.printer.result(&response, || {
        let text = if response["reset"] == true {
            "Variables and state are gone; tabs stay."
        } else {
            "There was nothing to reset."
        };
        text.to_owned()
    });
    Ok(())
}

fn template(context: &Context<'_>, options: SessionOptions, restart: bool) -> Result<ActionRequest, Failure> {
    let timeout_ms = context.timeout.map(|timeout| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX));
    let request = ActionRequest {
        session: context.session.clone(),
        project: context.project_key(),
        defaults: context.configuration.session_defaults()?,
        base_url: context.base_url.clone(),
        default_base_url: context.configuration.text(Key::BaseUrl).map(|set| set.value.to_owned()),
        client: context.client.clone(),
        timeout_ms,
        roots: absolute_roots(&context.roots)?,
        working_directory: std::env::current_dir().ok(),
        options,
        restart,
        ..ActionRequest::default()
    };
    warn_of_open(context, &request.options, &request.defaults);
    Ok(request)
}

/// Sends the request and prints the lines of its response as they arrive.
fn stream(context: &Context<'_>, request: ExecuteRequest) -> Result<ExitCode, Failure> {
    let mut end = None;
    let printer = *context.printer;
    let body = json!(request);
    stream_lines(&context.socket(), "/v1/execute", &body, None, |line: ExecuteLine| match line {
        ExecuteLine::Console { level, text } => print_console(printer, &level, &text),
        ExecuteLine::Image { path } => printer.notice(&format!("image: {path}")),
        ExecuteLine::Done(result) => end = Some(Ok(result)),
        ExecuteLine::Failed(failure) => end = Some(Err(failure)),
    })?;
    let result: ExecuteResult = end.unwrap_or_else(|| {
        Err(Failure::new(ErrorCode::OutcomeUnknown, "The daemon exited before the script ended.")
            .with_remedy("A part of the script may have run."))
    })?;
    print_notices(context, &result.notices);
    printer.result(&result, || result.text.clone().unwrap_or_default());
    Ok(ExitCode::SUCCESS)
}

/// Prints a line of the console: to stdout, errors and warnings to stderr.
fn print_console(printer: Printer, level: &str, text: &str) {
    if printer.is_json() {
        let line = json!({"console": {"level": level, "text": text}}).to_string();
        let _ = printer.line(&line);
    } else if matches!(level, "error" | "warn") {
        printer.console_error(text);
    } else {
        let _ = printer.line(text);
    }
}

fn read_input() -> Result<String, Failure> {
    let mut code = String::new();
    std::io::stdin().lock().take(INPUT_BYTES).read_to_string(&mut code).map_err(|error| {
        Failure::new(ErrorCode::BadArgs, format!("Cannot read the code from standard input: {error}."))
    })?;
    Ok(code)
}
