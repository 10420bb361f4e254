//! `batch`: runs actions from JSON lines, and prints one result per line.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;
use std::process::ExitCode;

use serde::Deserialize;
use serde_json::{Value, json};
use tabwire_api::api::{ActionRequest, SessionOptions};
use tabwire_api::{ErrorCode, Failure, SessionName, TabId};

use super::run_action;
use crate::commands::Context;
use crate::output::printer::Reader;

/// One line of a batch.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BatchLine {
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

pub(in crate::commands) fn run(
    context: &Context<'_>,
    file: Option<PathBuf>,
    bail: bool,
    options: &SessionOptions,
) -> Result<ExitCode, Failure> {
    let source: Box<dyn BufRead> = match file.filter(|file| file.as_os_str() != "-") {
        None => Box::new(io::stdin().lock()),
        Some(path) => Box::new(BufReader::new(File::open(&path).map_err(|error| {
            Failure::new(ErrorCode::BadArgs, format!("Cannot read {}: {error}.", path.display()))
        })?)),
    };
    let mut code = 0;
    for line in source.lines() {
        let line = line
            .map_err(|error| Failure::new(ErrorCode::BadArgs, format!("Cannot read the batch: {error}.")))?;
        if line.trim().is_empty() {
            continue;
        }
        let outcome = run_line(context, &line, options);
        let reader = match &outcome {
            Ok(result) => context.printer.line(&json!({"ok": true, "result": result}).to_string()),
            Err(failure) => context.printer.line(&json!({"ok": false, "error": failure}).to_string()),
        };
        if reader == Reader::Gone {
            // The reader has closed the pipe: run no further action.
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
    let line: BatchLine = serde_json::from_str(line).map_err(|error| {
        Failure::new(ErrorCode::BadArgs, format!("Invalid line: {error}."))
            .with_remedy("A line is {\"action\": \"click\", \"params\": {\"target\": \"e3\"}}.")
    })?;
    let context = Context {
        environment: context.environment,
        printer: context.printer,
        session: line.session.unwrap_or_else(|| context.session.clone()),
        named_session: context.named_session.clone(),
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
    // The name becomes part of a URL path.
    if !line.action.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_' || byte == b'-') {
        return Err(Failure::new(ErrorCode::UnknownMethod, format!("Unknown action `{}`.", line.action)));
    }
    Ok(run_action(&context, &line.action, &line.action, request)?.result)
}
