//! `batch`: actions as lines of JSON, one answer a line.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;
use std::process::ExitCode;

use serde::Deserialize;
use serde_json::{Value, json};
use tabwire_wire::api::{ActionRequest, SessionOptions};
use tabwire_wire::{ErrorCode, Failure, SessionName, TabId};

use super::Context;
use super::action::ask_action;
use crate::printer::Reader;

/// One line of a batch.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    action: String,
    #[serde(default)]
    params: Value,
    session: Option<SessionName>,
    tab: Option<TabId>,
    timeout_ms: Option<u64>,
    #[serde(default)]
    snapshot: bool,
    #[serde(default)]
    capture: bool,
}

pub(super) fn run(
    context: &Context<'_>,
    file: Option<PathBuf>,
    bail: bool,
    options: &SessionOptions,
) -> Result<ExitCode, Failure> {
    let source: Box<dyn BufRead> = match file.filter(|file| file.as_os_str() != "-") {
        None => Box::new(io::stdin().lock()),
        Some(path) => Box::new(BufReader::new(File::open(&path).map_err(|error| {
            Failure::new(ErrorCode::BadArgs, format!("The file {} cannot be read: {error}.", path.display()))
        })?)),
    };
    let mut code = 0;
    for line in source.lines() {
        let line = line.map_err(|error| {
            Failure::new(ErrorCode::BadArgs, format!("The batch cannot be read: {error}."))
        })?;
        if line.trim().is_empty() {
            continue;
        }
        let outcome = run_line(context, &line, options);
        let reader = match &outcome {
            Ok(result) => context.printer.line(&json!({"ok": true, "result": result}).to_string()),
            Err(failure) => context.printer.line(&json!({"ok": false, "error": failure}).to_string()),
        };
        if reader == Reader::Gone {
            // Nobody learns what the rest comes to, so it is not done.
            return Ok(ExitCode::SUCCESS);
        }
        if let Err(failure) = outcome {
            code = failure.code.exit_code();
            if bail {
                break;
            }
        }
    }
    Ok(ExitCode::from(code))
}

fn run_line(context: &Context<'_>, line: &str, options: &SessionOptions) -> Result<Value, Failure> {
    let line: Line = serde_json::from_str(line).map_err(|error| {
        Failure::new(ErrorCode::BadArgs, format!("The line is not an action: {error}."))
            .with_hint("A line is {\"action\": \"click\", \"params\": {\"target\": \"e3\"}}.")
    })?;
    let context = Context {
        environment: context.environment,
        printer: context.printer,
        session: line.session.unwrap_or_else(|| context.session.clone()),
        timeout: line.timeout_ms.map(std::time::Duration::from_millis).or(context.timeout),
        roots: context.roots.clone(),
        configuration: context.configuration.clone(),
        is_global: context.is_global,
        base_url: context.base_url.clone(),
        client: context.client.clone(),
    };
    let request = ActionRequest {
        params: line.params,
        tab: line.tab,
        snapshot: line.snapshot,
        capture: line.capture,
        options: options.clone(),
        ..ActionRequest::default()
    };
    // The name becomes part of an address.
    if !line.action.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_' || byte == b'-') {
        return Err(Failure::new(ErrorCode::UnknownMethod, format!("There is no action `{}`.", line.action)));
    }
    Ok(ask_action(&context, &line.action, &line.action, request)?.result)
}
