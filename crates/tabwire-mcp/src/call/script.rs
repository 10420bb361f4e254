//! The tools `execute` and `reset`: a script with its console, result and images.

use std::path::Path;

use base64::Engine as _;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::Value;
use tabwire_api::api::{ActionRequest, ActionResponse, ExecuteLine, ExecuteRequest, ExecuteResult};
use tabwire_api::{ErrorCode, Failure};
use tokio::sync::mpsc;

use crate::connection::Connection;
use crate::limits::IMAGE_BYTES;
use crate::result::fence::{enclosed, harmless};
use crate::result::{error_result, part_result};
use crate::tools::arguments::CallArguments;

/// Images that one run of a script shows.
const SCRIPT_IMAGES: usize = 8;

/// Lines that may wait to be collected.
const QUEUED_LINES: usize = 64;

/// What a script printed.
#[derive(Default)]
struct ScriptOutput {
    console: String,
    images: Vec<String>,
}

impl Connection {
    /// Runs a script, and returns what it printed with its result or its error.
    pub(crate) async fn call_execute(&self, asked: CallArguments) -> Result<CallToolResult, Failure> {
        let code = asked.params.get("code").and_then(Value::as_str).ok_or_else(|| {
            Failure::new(ErrorCode::BadArgs, "`execute` needs `code`.")
                .with_remedy("Give JavaScript as `code`.")
        })?;
        let template = self.backend.request();
        let request = ActionRequest {
            tab: asked.tab,
            timeout_ms: asked.timeout_ms.or(template.timeout_ms),
            call: asked.call,
            ..template.clone()
        };
        let request = ExecuteRequest { request, code: code.to_owned(), ..ExecuteRequest::default() };
        let (lines, mut receiver) = mpsc::channel(QUEUED_LINES);
        let collecting = async {
            let mut printed = ScriptOutput::default();
            while let Some(line) = receiver.recv().await {
                printed.add(line);
            }
            printed
        };
        let running = self.backend.execute(request, lines);
        let (outcome, printed) = tokio::join!(running, collecting);
        match outcome {
            Ok(result) => self.script_result(&template, printed, result).await,
            Err(failure) => Ok(script_failure(&printed, &failure)),
        }
    }

    pub(crate) fn call_reset(&self) -> CallToolResult {
        let text = if self.backend.reset() {
            "Variables and state are gone; tabs stay."
        } else {
            "There was nothing to reset."
        };
        CallToolResult::success(vec![ContentBlock::text(text)])
    }

    async fn script_result(
        &self,
        template: &ActionRequest,
        printed: ScriptOutput,
        result: ExecuteResult,
    ) -> Result<CallToolResult, Failure> {
        let mut text = printed.console;
        text.push_str(&result.text.unwrap_or_default());
        if text.is_empty() {
            text.push_str("undefined");
        }
        let response = ActionResponse {
            session: template.session.clone(),
            project: template.project.clone(),
            tab: None,
            base_url: None,
            recovered: false,
            recovery: None,
            result: Value::Null,
            text: None,
            notices: result.notices,
        };
        let mut result = part_result(self.truncated_results().first(harmless(text)), "", &response);
        for path in printed.images {
            result.content.push(self.script_image(&path).await);
        }
        Ok(result)
    }

    async fn script_image(&self, path: &str) -> ContentBlock {
        let kind = Path::new(path).extension().and_then(|end| end.to_str()).unwrap_or("png");
        let kind = if kind == "jpg" { "jpeg" } else { kind };
        match self.backend.read_image(Path::new(path)).await {
            Ok(bytes) if bytes.len() <= IMAGE_BYTES => {
                let data = base64::engine::general_purpose::STANDARD.encode(bytes);
                ContentBlock::image(data, format!("image/{kind}"))
            }
            _ => ContentBlock::text(format!("image: {path}")),
        }
    }
}

impl ScriptOutput {
    fn add(&mut self, line: ExecuteLine) {
        match line {
            ExecuteLine::Console { level, text } => {
                if matches!(level.as_str(), "error" | "warn") {
                    self.console.push_str(&format!("[{level}] "));
                }
                self.console.push_str(&text);
                self.console.push('\n');
            }
            ExecuteLine::Image { path } if self.images.len() < SCRIPT_IMAGES => self.images.push(path),
            ExecuteLine::Image { .. } | ExecuteLine::Done(_) | ExecuteLine::Failed(_) => {}
        }
    }
}

/// The error of a script, after what it printed.
fn script_failure(printed: &ScriptOutput, failure: &Failure) -> CallToolResult {
    let mut result = error_result(failure);
    if !printed.console.is_empty() {
        let end = printed.console.floor_char_boundary(printed.console.len().min(CONSOLE_BYTES));
        result.content.insert(0, ContentBlock::text(enclosed(&harmless(printed.console[..end].to_owned()))));
    }
    result
}

/// Console output that is shown with an error.
const CONSOLE_BYTES: usize = 8_000;
