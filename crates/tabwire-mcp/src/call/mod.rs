//! One call of a tool, from its arguments to its result.

pub(crate) mod approval;
pub(crate) mod callable;
pub(crate) mod progress;
pub(crate) mod rounds;
mod script;
mod status;

use std::path::Path;

use rmcp::model::{CallToolResult, ContentBlock, JsonObject};
use serde_json::{Value, json};
use tabwire_api::api::{ActionRequest, ActionResponse, ResultForm};
use tabwire_api::{CallNumber, ErrorCode, Failure};
use tabwire_engine::{Definition, ToolResult};

use crate::connection::Connection;
use crate::limits::{CALLS_AT_ONCE, IMAGE_BYTES};
use crate::result::{ResultText, error_result, harmless_data, image_result, part_result, structured_result};
use crate::tools::arguments::CallArguments;
use crate::tools::{LEASE_VERBS, OfferedTool, ToolKind};

/// The failure of a call above the limit of concurrent calls.
pub(crate) fn too_many_calls() -> Failure {
    let message = format!("{CALLS_AT_ONCE} calls of this client are running.");
    Failure::new(ErrorCode::Backpressure, message).with_remedy("Wait for some of them to finish.")
}

impl Connection {
    /// Calls a tool. A failure is returned as an error result.
    ///
    /// `is_data` selects structured content instead of text; `call` is the number that its questions carry.
    pub(crate) async fn call(
        &self,
        tool: &OfferedTool,
        arguments: Option<JsonObject>,
        is_data: bool,
        call: Option<CallNumber>,
    ) -> CallToolResult {
        let Ok(_place) = self.call_permits.try_acquire() else { return error_result(&too_many_calls()) };
        let called = match CallArguments::read(tool, arguments) {
            Ok(arguments) => self.try_call(tool, CallArguments { call, ..arguments }, is_data).await,
            Err(failure) => Err(failure),
        };
        called.unwrap_or_else(|failure| error_result(&failure))
    }

    async fn try_call(
        &self,
        tool: &OfferedTool,
        arguments: CallArguments,
        is_data: bool,
    ) -> Result<CallToolResult, Failure> {
        match tool.kind {
            ToolKind::Action(action) => {
                let is_image = tool.result == ToolResult::Image;
                self.call_action(action, arguments, is_data, is_image).await
            }
            ToolKind::Status => self.call_status(is_data).await,
            ToolKind::More => self.call_more(&arguments),
            ToolKind::Lease => self.call_lease(arguments, is_data).await,
            ToolKind::Execute => self.call_execute(arguments).await,
            ToolKind::Reset => Ok(self.call_reset()),
        }
    }

    async fn call_action(
        &self,
        action: &Definition,
        arguments: CallArguments,
        is_data: bool,
        is_image: bool,
    ) -> Result<CallToolResult, Failure> {
        let template = self.backend.request();
        let request = ActionRequest {
            params: arguments.params,
            tab: arguments.tab,
            tab_name: arguments.tab_name,
            snapshot: arguments.snapshot,
            timeout_ms: arguments.timeout_ms.or(template.timeout_ms),
            call: arguments.call,
            text: !is_data && !is_image,
            ..template
        };
        let mut response = self.backend.act(action.name, request).await?;
        response.notices.extend(self.pending_notice.take());
        if is_image {
            return self.image_content(&response, is_data).await;
        }
        Ok(if is_data { self.data_result(&response) } else { self.text_result(response) })
    }

    /// A response as structured content. Truncated for models, not for programs.
    pub(super) fn data_result(&self, response: &ActionResponse) -> CallToolResult {
        let truncated = (self.result_form == ResultForm::Auto).then(|| self.truncated_results());
        structured_result(response, truncated)
    }

    /// A response as text, truncated at the limit.
    fn text_result(&self, mut response: ActionResponse) -> CallToolResult {
        let text = ResultText::of_action(response.text.take().unwrap_or_default());
        part_result(self.truncated_results().first(text.body), &text.after, &response)
    }

    async fn image_content(
        &self,
        response: &ActionResponse,
        is_data: bool,
    ) -> Result<CallToolResult, Failure> {
        let path = response.result.get("path").and_then(Value::as_str).unwrap_or_default();
        let size = response.result.get("bytes").and_then(Value::as_u64).unwrap_or_default();
        let is_large = usize::try_from(size).is_ok_and(|size| size > IMAGE_BYTES);
        let bytes = if is_large { None } else { Some(self.backend.read_image(Path::new(path)).await?) };
        Ok(image_result(response, bytes.as_deref(), is_data))
    }

    async fn call_lease(&self, arguments: CallArguments, is_data: bool) -> Result<CallToolResult, Failure> {
        let verb = arguments.params.get("verb").and_then(Value::as_str).unwrap_or_default();
        let found = LEASE_VERBS.iter().find(|(known, _)| *known == verb);
        let (_, action) = found.ok_or_else(|| {
            Failure::new(ErrorCode::BadArgs, "`tab_lease` needs a verb.")
                .with_remedy("The verbs are `take`, `release` and `list`.")
        })?;
        let seconds = arguments.params.get("seconds").filter(|_| verb == "take");
        let params = seconds.map_or_else(|| json!({}), |seconds| json!({"seconds": seconds}));
        let CallArguments { tab, tab_name, call, .. } = arguments;
        let request = ActionRequest { params, tab, tab_name, call, text: false, ..self.backend.request() };
        let response = self.backend.act(action, request).await?;
        if is_data {
            return Ok(self.data_result(&response));
        }
        Ok(CallToolResult::success(vec![ContentBlock::text(harmless_data(&response.result).to_string())]))
    }

    fn call_more(&self, arguments: &CallArguments) -> Result<CallToolResult, Failure> {
        let handle = arguments.params.get("handle").and_then(Value::as_str).ok_or_else(|| {
            Failure::new(ErrorCode::BadArgs, "`more` needs a handle.")
                .with_remedy("Give the handle at the end of a truncated result.")
        })?;
        let stretch = self.truncated_results().next(handle)?;
        let response = ActionResponse {
            session: self.backend.request().session,
            project: self.backend.request().project,
            tab: None,
            base_url: None,
            recovered: false,
            recovery: None,
            result: Value::Null,
            text: None,
            notices: Vec::new(),
        };
        Ok(part_result(stretch, "", &response))
    }
}
