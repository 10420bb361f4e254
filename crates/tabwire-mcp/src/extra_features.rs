//! What a server offers besides the actions. The product offers nothing besides: this is for servers that show the
//! protocol, as the conformance suite wants it shown. Everything here is listed, called and asked by the same code.

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, CompleteResult, ErrorData, GetPromptRequestParams,
    GetPromptResponse, Prompt, ReadResourceResult, Resource, ResourceTemplate, ServerCapabilities, Tool,
};
use rmcp::service::RequestContext;
use tabwire_api::CallNumber;
use tokio::sync::broadcast;

use crate::backend::{Answering, Attendant};

/// A list that is another one now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListChange {
    /// The tools.
    Tools,
    /// The prompts.
    Prompts,
}

/// Tools, resources and prompts that are no part of the product.
pub trait Extras: std::fmt::Debug + Send + Sync + 'static {
    /// What the server says it can do, given what it can do without these.
    fn capabilities(&self, own: ServerCapabilities) -> ServerCapabilities;

    /// The tools.
    fn tools(&self) -> Vec<Tool>;

    /// Has what one call needs asked of whoever sits at the client.
    fn attend(&self) -> Box<dyn Attendant>;

    /// Calls one of the tools; what it needs asked goes by the call's number.
    fn call(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
        call: Option<CallNumber>,
    ) -> Answering<'_, Result<CallToolResult, ErrorData>>;

    /// The resources.
    fn resources(&self) -> Vec<Resource>;

    /// The resources that have a part of their address to be filled in.
    fn templates(&self) -> Vec<ResourceTemplate>;

    /// Reads one of them, if it is one.
    fn read(&self, uri: &str) -> Option<ReadResourceResult>;

    /// The prompts.
    fn prompts(&self) -> Vec<Prompt>;

    /// Gives one of the prompts, if it is one.
    fn prompt(&self, request: &GetPromptRequestParams) -> Option<Result<GetPromptResponse, ErrorData>>;

    /// What an argument may go on with.
    fn complete(&self) -> CompleteResult;

    /// Tells of lists that change from now on.
    fn changes(&self) -> broadcast::Receiver<ListChange>;
}
