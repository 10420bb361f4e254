//! One call of a tool, from its arguments to its answer. Knows nothing of the protocol's lifecycle.

use std::path::Path;

use rmcp::model::{CallToolResult, ContentBlock, JsonObject};
use serde_json::{Value, json};
use tabwire_engine::Definition;
use tabwire_wire::api::{ActionAnswer, ActionRequest, AnswerForm};
use tabwire_wire::{CallNumber, ErrorCode, Failure};

use crate::answer::{AnswerText, failed, picture_answer, stretch_answer, structured_answer};
use crate::arguments::Asked;
use crate::connection::Connection;
use crate::limits::{CALLS_AT_ONCE, PICTURE_BYTES};
use crate::offered_tool::{Deed, LEASE_VERBS, OfferedTool};

/// The action whose answer is a picture.
const PICTURE: &str = "screenshot";

/// Told to a client that has as many calls under way as it may.
pub(crate) fn crowded() -> Failure {
    let message = format!("{CALLS_AT_ONCE} calls of this client are under way.");
    Failure::new(ErrorCode::Backpressure, message).with_hint("Wait for some of them to be answered.")
}

impl Connection {
    /// Calls a tool. Whatever fails is an answer too.
    ///
    /// `is_data` says whether the client is given data, or text; `call` by which number what it needs asked is asked.
    pub(crate) async fn call(
        &self,
        tool: &OfferedTool,
        arguments: Option<JsonObject>,
        is_data: bool,
        call: Option<CallNumber>,
    ) -> CallToolResult {
        let Ok(_place) = self.places.try_acquire() else { return failed(&crowded()) };
        let called = match Asked::read(tool, arguments) {
            Ok(asked) => self.try_call(tool, Asked { call, ..asked }, is_data).await,
            Err(failure) => Err(failure),
        };
        called.unwrap_or_else(|failure| failed(&failure))
    }

    async fn try_call(
        &self,
        tool: &OfferedTool,
        asked: Asked,
        is_data: bool,
    ) -> Result<CallToolResult, Failure> {
        match tool.deed {
            Deed::Action(action) => self.call_action(action, asked, is_data).await,
            Deed::Status => self.call_status(is_data).await,
            Deed::More => self.call_more(&asked),
            Deed::Lease => self.call_lease(asked, is_data).await,
        }
    }

    async fn call_action(
        &self,
        action: &Definition,
        asked: Asked,
        is_data: bool,
    ) -> Result<CallToolResult, Failure> {
        let is_picture = action.name == PICTURE;
        let template = self.backend.request();
        let request = ActionRequest {
            params: asked.params,
            tab: asked.tab,
            snapshot: asked.snapshot,
            timeout_ms: asked.timeout_ms.or(template.timeout_ms),
            call: asked.call,
            text: !is_data && !is_picture,
            ..template
        };
        let mut answer = self.backend.act(action.name, request).await?;
        answer.notices.extend(self.news.take());
        if is_picture {
            return self.show_picture(&answer, is_data).await;
        }
        Ok(if is_data { self.give(&answer) } else { self.tell(action, answer) })
    }

    /// An answer as data; what is too long for a model is cut, what is for a program is not.
    fn give(&self, answer: &ActionAnswer) -> CallToolResult {
        let shelf = (self.answers == AnswerForm::Auto).then(|| self.current_shelf());
        structured_answer(answer, shelf)
    }

    /// An answer as text, cut where it is too long.
    fn tell(&self, action: &Definition, mut answer: ActionAnswer) -> CallToolResult {
        let text = AnswerText::of_action(action, answer.text.take().unwrap_or_default());
        stretch_answer(self.current_shelf().first(text.body), &text.after, &answer)
    }

    async fn show_picture(&self, answer: &ActionAnswer, is_data: bool) -> Result<CallToolResult, Failure> {
        let path = answer.result.get("path").and_then(Value::as_str).unwrap_or_default();
        let size = answer.result.get("bytes").and_then(Value::as_u64).unwrap_or_default();
        let is_large = usize::try_from(size).is_ok_and(|size| size > PICTURE_BYTES);
        let bytes = if is_large { None } else { Some(self.backend.picture(Path::new(path)).await?) };
        Ok(picture_answer(answer, bytes.as_deref(), is_data))
    }

    async fn call_status(&self, is_data: bool) -> Result<CallToolResult, Failure> {
        let request = ActionRequest { params: json!({}), text: false, ..self.backend.request() };
        let answer = self.backend.act("session_status", request).await?;
        if is_data {
            return Ok(self.give(&answer));
        }
        if answer.result.get("active").and_then(Value::as_bool) != Some(true) {
            let text = "There is no browser yet; the first tool that needs one starts it.";
            return Ok(CallToolResult::success(vec![ContentBlock::text(text)]));
        }
        let lines =
            ["name", "state", "tabs", "browser_version", "headed", "isolation", "policy", "crashed_tabs"];
        let told = lines.into_iter().filter_map(|name| {
            let value = answer.result.get(name).filter(|value| **value != json!([]))?;
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            Some(format!("{name}: {value}"))
        });
        let text = told.collect::<Vec<_>>().join("\n");
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]))
    }

    async fn call_lease(&self, asked: Asked, is_data: bool) -> Result<CallToolResult, Failure> {
        let verb = asked.params.get("verb").and_then(Value::as_str).unwrap_or_default();
        let found = LEASE_VERBS.iter().find(|(known, _)| *known == verb);
        let (_, action) = found.ok_or_else(|| {
            Failure::new(ErrorCode::BadArgs, "`tab_lease` was told nothing that it knows.")
                .with_hint("Give it the verb `take`, `release` or `list`.")
        })?;
        let seconds = asked.params.get("seconds").filter(|_| verb == "take");
        let params = seconds.map_or_else(|| json!({}), |seconds| json!({"seconds": seconds}));
        let (tab, call) = (asked.tab, asked.call);
        let request = ActionRequest { params, tab, call, text: false, ..self.backend.request() };
        let answer = self.backend.act(action, request).await?;
        if is_data {
            return Ok(self.give(&answer));
        }
        Ok(CallToolResult::success(vec![ContentBlock::text(answer.result.to_string())]))
    }

    fn call_more(&self, asked: &Asked) -> Result<CallToolResult, Failure> {
        let handle = asked.params.get("handle").and_then(Value::as_str).ok_or_else(|| {
            Failure::new(ErrorCode::BadArgs, "`more` was given no handle.")
                .with_hint("Give the handle that a cut answer ends with.")
        })?;
        let stretch = self.current_shelf().next(handle)?;
        let answer = ActionAnswer {
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
        Ok(stretch_answer(stretch, "", &answer))
    }
}
