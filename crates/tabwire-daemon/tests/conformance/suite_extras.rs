//! What the suites expect of a server: resources, prompts, and the tools of `suite_tool.rs`.

use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, CompleteResult, ErrorData, GetPromptRequestParams,
    GetPromptResponse, GetPromptResult, InputRequests, InputRequiredResult, Prompt, ReadResourceResult,
    Resource, ResourceTemplate, ServerCapabilities, Tool,
};
use rmcp::service::RequestContext;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tabwire_api::CallNumber;
use tabwire_mcp::{Approver, BackendFuture, Extras, ListChange};
use tokio::sync::broadcast;

use crate::conformance::suite_question::{QuestionQueue, is_response};
use crate::conformance::suite_tool::{SuiteTool, tools};

/// An image of one red pixel.
pub(crate) const RED_PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/// Parses a JSON literal.
pub(crate) fn of<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("{error}: {value}"))
}

/// Parses a complete result, as the SDK returns it.
pub(crate) fn result_of<T: DeserializeOwned>(mut value: Value) -> T {
    value["resultType"] = json!("complete");
    of(value)
}

/// The additions for the suites.
#[derive(Debug)]
pub(crate) struct SuiteExtras {
    questions: Arc<QuestionQueue>,
    changes: broadcast::Sender<ListChange>,
}

impl Default for SuiteExtras {
    fn default() -> Self {
        Self { questions: Arc::default(), changes: broadcast::Sender::new(16) }
    }
}

impl Extras for SuiteExtras {
    fn capabilities(&self, own: ServerCapabilities) -> ServerCapabilities {
        let mut capabilities = own;
        capabilities.logging = Some(Default::default());
        capabilities.completions = Some(Default::default());
        capabilities.resources = of(json!({"subscribe": true}));
        capabilities.prompts = of(json!({"listChanged": true}));
        capabilities
    }

    fn tools(&self) -> Vec<Tool> {
        tools()
    }

    fn approver(&self) -> Box<dyn Approver> {
        self.questions.approver()
    }

    fn call(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
        call: Option<CallNumber>,
    ) -> BackendFuture<'_, Result<CallToolResult, ErrorData>> {
        let tool = SuiteTool { request, context, call, questions: &self.questions, changes: &self.changes };
        Box::pin(tool.call())
    }

    fn resources(&self) -> Vec<Resource> {
        of(json!([
            {"uri": "test://static-text", "name": "text", "description": "A text.", "mimeType": "text/plain"},
            {"uri": "test://static-binary", "name": "image", "description": "An image.", "mimeType": "image/png"},
            {"uri": "test://watched-resource", "name": "watched", "description": "Watched.", "mimeType": "text/plain"},
        ]))
    }

    fn templates(&self) -> Vec<ResourceTemplate> {
        of(json!([
            {"uriTemplate": "test://template/{id}/data", "name": "by id", "mimeType": "application/json"},
        ]))
    }

    fn read(&self, uri: &str) -> Option<ReadResourceResult> {
        let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
        let contents = match (uri, id) {
            ("test://static-text", _) => {
                json!({"mimeType": "text/plain", "text": "This is the content of the static text resource."})
            }
            ("test://watched-resource", _) => json!({"mimeType": "text/plain", "text": "Watched."}),
            ("test://static-binary", _) => json!({"mimeType": "image/png", "blob": RED_PIXEL}),
            (_, Some(id)) => {
                let data = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
                json!({"mimeType": "application/json", "text": data.to_string()})
            }
            _ => return None,
        };
        let mut contents = contents;
        contents["uri"] = json!(uri);
        Some(ReadResourceResult::new(vec![of(contents)]))
    }

    fn prompts(&self) -> Vec<Prompt> {
        let argument = |name: &str| json!({"name": name, "description": "A text.", "required": true});
        of(json!([
            {"name": "test_simple_prompt", "description": "Takes nothing."},
            {"name": "test_prompt_with_arguments", "description": "Takes two.",
             "arguments": [argument("arg1"), argument("arg2")]},
            {"name": "test_prompt_with_embedded_resource", "description": "Takes a URL.",
             "arguments": [argument("resourceUri")]},
            {"name": "test_prompt_with_image", "description": "Has an image."},
            {"name": "test_input_required_result_prompt", "description": "Asks."},
        ]))
    }

    fn prompt(&self, request: &GetPromptRequestParams) -> Option<Result<GetPromptResponse, ErrorData>> {
        let given = |name: &str| request.arguments.as_ref().and_then(|given| given.get(name)).cloned();
        let text = |text: &str| json!({"type": "text", "text": text});
        let contents = match request.name.as_str() {
            "test_simple_prompt" => vec![text("This is a simple prompt for testing.")],
            "test_prompt_with_arguments" => {
                let (first, second) = (plain(given("arg1")), plain(given("arg2")));
                vec![text(&format!("Prompt with arguments: arg1='{first}', arg2='{second}'"))]
            }
            "test_prompt_with_embedded_resource" => {
                let resource = json!({
                    "uri": plain(given("resourceUri")), "mimeType": "text/plain",
                    "text": "Embedded resource content for testing.",
                });
                let embedded = json!({"type": "resource", "resource": resource});
                vec![embedded, text("Please process the embedded resource above.")]
            }
            "test_prompt_with_image" => {
                let image = json!({"type": "image", "data": RED_PIXEL, "mimeType": "image/png"});
                vec![image, text("Please analyze the image above.")]
            }
            "test_input_required_result_prompt" => {
                let requests: InputRequests = of(json!({"user_context": {
                    "method": "elicitation/create",
                    "params": {"message": "What context should the prompt use?", "requestedSchema": {
                        "type": "object", "properties": {"context": {"type": "string"}}, "required": ["context"],
                    }},
                }}));
                if !request.input_responses.as_ref().is_some_and(|said| is_response(&requests, said)) {
                    return Some(Ok(InputRequiredResult::new(Some(requests), None).into()));
                }
                vec![text("A prompt in the context that was given.")]
            }
            _ => return None,
        };
        let messages: Vec<Value> =
            contents.into_iter().map(|content| json!({"role": "user", "content": content})).collect();
        Some(Ok(result_of::<GetPromptResult>(json!({"messages": messages})).into()))
    }

    fn complete(&self) -> CompleteResult {
        result_of(json!({"completion": {"values": ["paris", "park", "party"], "total": 3, "hasMore": false}}))
    }

    fn changes(&self) -> broadcast::Receiver<ListChange> {
        self.changes.subscribe()
    }
}

/// A string value without its quotes.
pub(crate) fn plain(value: Option<Value>) -> String {
    value.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned()
}
