//! Extra tools, resources and prompts for the MCP conformance suite. The product has none. The server lists and calls
//! them with the same code as its own.

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, CompleteResult, ErrorData, GetPromptRequestParams,
    GetPromptResponse, Prompt, ReadResourceResult, Resource, ResourceTemplate, ServerCapabilities, Tool,
};
use rmcp::service::RequestContext;
use tabwire_api::CallNumber;
use tokio::sync::broadcast;

use crate::backend::{Approver, BackendFuture};

/// A list that has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListChange {
    /// The tools.
    Tools,
    /// The prompts.
    Prompts,
}

/// Tools, resources and prompts that are not part of the product.
pub trait Extras: std::fmt::Debug + Send + Sync + 'static {
    /// The server's capabilities with the extras, given its own.
    fn capabilities(&self, own: ServerCapabilities) -> ServerCapabilities;

    /// The tools.
    fn tools(&self) -> Vec<Tool>;

    /// Registers to receive the questions of one call for the client's user.
    fn approver(&self) -> Box<dyn Approver>;

    /// Calls one of the tools. Its questions carry the call's number.
    fn call(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
        call: Option<CallNumber>,
    ) -> BackendFuture<'_, Result<CallToolResult, ErrorData>>;

    /// The resources.
    fn resources(&self) -> Vec<Resource>;

    /// The resource templates.
    fn templates(&self) -> Vec<ResourceTemplate>;

    /// Reads a resource; `None` if there is none with this URI.
    fn read(&self, uri: &str) -> Option<ReadResourceResult>;

    /// The prompts.
    fn prompts(&self) -> Vec<Prompt>;

    /// Returns a prompt; `None` if there is none with this name.
    fn prompt(&self, request: &GetPromptRequestParams) -> Option<Result<GetPromptResponse, ErrorData>>;

    /// Completions of an argument.
    fn complete(&self) -> CompleteResult;

    /// Receives later list changes.
    fn changes(&self) -> broadcast::Receiver<ListChange>;
}
