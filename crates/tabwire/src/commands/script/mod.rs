//! `execute`, `run`, `repl` and `reset`: scripts in the session's browser.

mod files;
mod names;
mod repl;
mod watch;

pub(super) use self::repl::run as repl;

use std::io::Read;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::json;
use tabwire_api::api::{ActionRequest, ExecuteLine, ExecuteRequest, ExecuteResult, SessionOptions};
use tabwire_api::{ErrorCode, Failure};
use tabwire_client::{request_daemon, stream_lines};

use self::files::ScriptFiles;
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
    let run_once = |script: ScriptFiles| {
        let request = ExecuteRequest {
            request: request.clone(),
            code: script.code,
            name: Some(script.name),
            is_file: true,
            args: flags.args.clone(),
            modules: script.modules,
        };
        stream(context, request)
    };
    if flags.watch {
        return watch::watch(&flags.file, *context.printer, run_once);
    }
    run_once(files::read(&flags.file)?)
}

/// Runs code of the program itself and prints only its console.
pub(super) fn execute_code(context: &Context<'_>, code: String) -> Result<(), Failure> {
    let request = template(context, SessionOptions::default(), false)?;
    let request = ExecuteRequest { request, code, ..ExecuteRequest::default() };
    let mut printed = RunPrinter::default();
    stream_lines(&context.socket(), "/v1/execute", &json!(request), None, |line: ExecuteLine| {
        print_line(*context.printer, line, &mut printed);
    })?;
    printed.into_result().map(drop)
}

/// Prints the TypeScript declarations of the API.
pub(super) fn types(context: &Context<'_>) -> Result<(), Failure> {
    context.printer.plain(tabwire_script::declarations::TYPES.trim_end());
    Ok(())
}

/// Ends the process of this client's scripts.
pub(super) fn reset(context: &Context<'_>) -> Result<(), Failure> {
    forget(context)
}

fn forget(context: &Context<'_>) -> Result<(), Failure> {
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
        defaults: context.session_defaults()?,
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
    let mut printed = RunPrinter::default();
    let body = json!(request);
    stream_lines(&context.socket(), "/v1/execute", &body, None, |line: ExecuteLine| {
        print_line(*context.printer, line, &mut printed);
    })?;
    printed.finish(context)
}

/// The end of a run, once its line has arrived.
#[derive(Default)]
struct RunPrinter {
    end: Option<Result<ExecuteResult, Failure>>,
}

impl RunPrinter {
    fn into_result(self) -> Result<ExecuteResult, Failure> {
        self.end.unwrap_or_else(|| {
            Err(Failure::new(ErrorCode::OutcomeUnknown, "The daemon exited before the script ended.")
                .with_remedy("A part of the script may have run."))
        })
    }

    /// Prints the result.
    fn finish(self, context: &Context<'_>) -> Result<ExitCode, Failure> {
        let result = self.into_result()?;
        print_notices(context, &result.notices);
        context.printer.result(&result, || result.text.clone().unwrap_or_default());
        Ok(ExitCode::SUCCESS)
    }
}

/// Prints a line of the response; the last one is kept.
fn print_line(printer: Printer, line: ExecuteLine, printed: &mut RunPrinter) {
    match line {
        ExecuteLine::Console { level, text } => print_console(printer, &level, &text),
        ExecuteLine::Image { path } => printer.notice(&format!("image: {path}")),
        ExecuteLine::Done(result) => printed.end = Some(Ok(result)),
        ExecuteLine::Failed(failure) => printed.end = Some(Err(failure)),
    }
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
