//! The tools that the suites call, each exactly as the suites define it.

use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ErrorCode, ErrorData, InputRequests, InputResponses,
    ProgressNotificationParam, ProtocolVersion, Tool,
};
use rmcp::service::RequestContext;
use serde_json::{Value, json};
use tabwire_api::CallNumber;
use tabwire_mcp::ListChange;
use tokio::sync::broadcast;

use crate::conformance::suite_extras::{RED_PIXEL, of, plain, result_of};
use crate::conformance::suite_question::{QuestionQueue, is_response};

/// An empty sound.
const SOUND: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";

/// Tools without parameters.
const PLAIN_TOOLS: [&str; 24] = [
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_tool_with_logging",
    "test_error_handling",
    "test_tool_with_progress",
    "test_elicitation_sep1034_defaults",
    "test_elicitation_sep1330_enums",
    "test_reconnection",
    "test_missing_capability",
    "test_streaming_elicitation",
    "test_logging_tool",
    "test_trigger_tool_change",
    "test_trigger_prompt_change",
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
    "test_input_required_result_request_state",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_multi_round",
    "test_input_required_result_tampered_state",
    "test_input_required_result_capabilities",
];

/// Every tool.
pub(crate) fn tools() -> Vec<Tool> {
    let text = json!({"type": "string"});
    let schemas = [
        ("test_sampling", json!({"type": "object", "properties": {"prompt": text}, "required": ["prompt"]})),
        (
            "test_elicitation",
            json!({"type": "object", "properties": {"message": text}, "required": ["message"]}),
        ),
        (
            "test_custom_header",
            json!({"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}),
        ),
        ("json_schema_2020_12_tool", every_keyword()),
    ];
    let plain = PLAIN_TOOLS.into_iter().map(|name| (name, json!({"type": "object", "properties": {}})));
    let listed = plain.chain(schemas).map(|(name, schema)| {
        of(json!({"name": name, "description": "A tool of the suites.", "inputSchema": schema}))
    });
    listed.collect()
}

/// A schema with the keywords of JSON Schema 2020-12.
fn every_keyword() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"address": {
            "$anchor": "addressDef", "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }},
        "properties": {
            "name": {"type": "string"}, "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"}, "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    })
}

/// A question with a form to fill in.
fn form(message: &str, properties: &Value, required: &[&str]) -> Value {
    let schema = json!({"type": "object", "properties": properties, "required": required});
    json!({"method": "elicitation/create", "params": {"message": message, "requestedSchema": schema}})
}

/// A question to the client's model.
fn sample(text: &str, tokens: u32) -> Value {
    let message = json!({"role": "user", "content": {"type": "text", "text": text}});
    json!({"method": "sampling/createMessage", "params": {"messages": [message], "maxTokens": tokens}})
}

fn name_form() -> Value {
    form("What is your name?", &json!({"name": {"type": "string"}}), &["name"])
}

fn confirm_form() -> Value {
    form("Please confirm", &json!({"ok": {"type": "boolean"}}), &["ok"])
}

fn text_result(text: &str) -> CallToolResult {
    result_of(json!({"content": [{"type": "text", "text": text}]}))
}

/// One call of a tool.
pub(crate) struct SuiteTool<'a> {
    pub(crate) request: CallToolRequestParams,
    pub(crate) context: RequestContext<RoleServer>,
    pub(crate) call: Option<CallNumber>,
    pub(crate) questions: &'a Arc<QuestionQueue>,
    pub(crate) changes: &'a broadcast::Sender<ListChange>,
}

impl SuiteTool<'_> {
    /// Runs the tool.
    pub(crate) async fn call(self) -> Result<CallToolResult, ErrorData> {
        let image = json!({"type": "image", "data": RED_PIXEL, "mimeType": "image/png"});
        let sound = json!({"type": "audio", "data": SOUND, "mimeType": "audio/wav"});
        Ok(match self.request.name.as_ref() {
            "test_simple_text" => text_result("This is a simple text response for testing."),
            "test_image_content" => result_of(json!({"content": [image]})),
            "test_audio_content" => result_of(json!({"content": [sound]})),
            "test_embedded_resource" => result_of(json!({"content": [{"type": "resource", "resource": {
                "uri": "test://embedded-resource", "mimeType": "text/plain",
                "text": "This is an embedded resource content.",
            }}]})),
            "test_multiple_content_types" => {
                let text = json!({"type": "text", "text": "Multiple content types test:"});
                let resource = json!({
                    "uri": "test://mixed-content-resource", "mimeType": "application/json",
                    "text": json!({"test": "data", "value": 123}).to_string(),
                });
                result_of(json!({"content": [text, image, {"type": "resource", "resource": resource}]}))
            }
            "test_error_handling" => result_of(json!({"isError": true, "content": [
                {"type": "text", "text": "This tool intentionally returns an error for testing"},
            ]})),
            "test_trigger_tool_change" => self.change(ListChange::Tools),
            "test_trigger_prompt_change" => self.change(ListChange::Prompts),
            "test_tool_with_logging" | "test_logging_tool" => self.log().await,
            "test_tool_with_progress" => self.progress().await,
            "test_missing_capability" => return self.need_sampling(),
            _ => return Ok(self.ask_about().await),
        })
    }

    fn change(&self, change: ListChange) -> CallToolResult {
        // Fails when no client listens.
        let _ = self.changes.send(change);
        text_result("Changed.")
    }

    /// Logs. From the newest revision on, a client gets log lines only if its request sets a level.
    #[expect(deprecated, reason = "the suites require it")]
    async fn log(&self) -> CallToolResult {
        let newest = ProtocolVersion::V_2026_07_28;
        let is_newest =
            self.context.protocol_version().is_some_and(|version| version.as_str() >= newest.as_str());
        if !is_newest || self.context.meta.log_level().is_some() {
            for line in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
                let message = of(json!({"level": "info", "data": line}));
                self.context.peer.notify_logging_message(message).await.expect("the client is there");
            }
        }
        text_result("Logged.")
    }

    async fn progress(&self) -> CallToolResult {
        if let Some(token) = self.context.meta.get_progress_token() {
            for step in [0.0, 50.0, 100.0] {
                let step = ProgressNotificationParam::new(token.clone(), step).with_total(100.0);
                self.context.peer.notify_progress(step).await.expect("the client is there");
            }
        }
        text_result("Done.")
    }

    fn need_sampling(&self) -> Result<CallToolResult, ErrorData> {
        if self.context.client_capabilities().is_some_and(|client| client.sampling.is_some()) {
            return Ok(text_result("It is there."));
        }
        let needed = json!({"requiredCapabilities": {"sampling": {}}});
        let code = ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY;
        Err(ErrorData::new(code, "This needs a client that samples.", Some(needed)))
    }

    /// The tools that ask the client questions.
    async fn ask_about(&self) -> CallToolResult {
        let arguments = self.request.arguments.clone().unwrap_or_default();
        let given = |name: &str| plain(arguments.get(name).cloned());
        let can_elicit =
            self.context.client_capabilities().is_some_and(|client| client.elicitation.is_some());
        let questions = match self.request.name.as_ref() {
            "test_sampling" => return self.sample_at_once(&given("prompt")).await,
            "test_elicitation" => {
                let text = json!({"type": "string", "description": "A text."});
                json!({"form": form(&given("message"), &json!({"username": text, "email": text}), &["username", "email"])})
            }
            "test_elicitation_sep1034_defaults" => json!({"form": form("All of them?", &defaults(), &[])}),
            "test_elicitation_sep1330_enums" => json!({"form": form("Which?", &choices(), &[])}),
            "test_streaming_elicitation"
            | "test_input_required_result_elicitation"
            | "test_input_required_result_multi_round" => json!({"user_name": name_form()}),
            "test_input_required_result_sampling" => {
                json!({"capital_question": sample("What is the capital of France?", 100)})
            }
            "test_input_required_result_list_roots" => json!({"client_roots": {"method": "roots/list"}}),
            "test_input_required_result_request_state" | "test_input_required_result_tampered_state" => {
                json!({"confirm": confirm_form()})
            }
            "test_input_required_result_multiple_inputs" => json!({
                "user_name": name_form(), "greeting": sample("Generate a greeting", 50),
                "client_roots": {"method": "roots/list"},
            }),
            "test_input_required_result_capabilities" if can_elicit => json!({"user_name": name_form()}),
            "test_input_required_result_capabilities" => json!({"question": sample("Who are you?", 50)}),
            _ => return text_result("Nothing to do."),
        };
        let said = self.ask(of(questions)).await;
        let Some(said) = said else { return result_of(json!({"isError": true, "content": []})) };
        if self.request.name == "test_input_required_result_multi_round" {
            let color =
                form("What is your favorite color?", &json!({"color": {"type": "string"}}), &["color"]);
            let more = self.ask(of(json!({"step2": color}))).await;
            return text_result(&format!("Heard {said:?} and {more:?}."));
        }
        text_result(&match said.get("form") {
            Some(response) => {
                format!("User response: action={}, content={}", response["action"], response["content"])
            }
            None => format!("state-ok: {}", json!(said)),
        })
    }

    /// Asks, unless the request already has the responses.
    async fn ask(&self, questions: InputRequests) -> Option<InputResponses> {
        let early = self.request.input_responses.as_ref().filter(|said| is_response(&questions, said));
        match early {
            Some(said) => Some(said.clone()),
            None => self.questions.ask(self.call, questions).await,
        }
    }

    /// Sends a sampling request during the call, as revisions before input-required results do.
    #[expect(deprecated, reason = "the suites require it")]
    async fn sample_at_once(&self, prompt: &str) -> CallToolResult {
        let asked = of(sample(prompt, 100)["params"].clone());
        match self.context.peer.create_message(asked).await {
            Ok(response) => text_result(&format!("LLM response: {}", json!(response)["content"])),
            Err(error) => {
                result_of(json!({"isError": true, "content": [{"type": "text", "text": error.to_string()}]}))
            }
        }
    }
}

/// Fields with defaults.
fn defaults() -> Value {
    json!({
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": true},
    })
}

/// Fields with choices, in every form.
fn choices() -> Value {
    let plain = json!(["option1", "option2", "option3"]);
    let titled = json!([
        {"const": "value1", "title": "First"}, {"const": "value2", "title": "Second"},
        {"const": "value3", "title": "Third"},
    ]);
    json!({
        "untitledSingle": {"type": "string", "enum": plain},
        "titledSingle": {"type": "string", "oneOf": titled},
        "legacyEnum": {
            "type": "string", "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": plain}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled}},
    })
}
