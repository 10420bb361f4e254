//! Dispatches the requests of the MCP protocol.

use std::sync::{Arc, OnceLock};

#[expect(deprecated, reason = "clients of older revisions may set it, where it is offered")]
use rmcp::model::SetLevelRequestParams;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, ErrorData,
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, Implementation, InitializeRequestParams,
    InitializeResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, Prompt, PromptMessage, ReadResourceRequestParams, ReadResourceResponse, Role,
    ServerCapabilities, ServerConfig, SetLevelRequestMethod, SubscribeRequestMethod, SubscribeRequestParams,
    SubscriptionFilter, Tool, UnsubscribeRequestMethod, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::json;
use tabwire_api::{Failure, VERSION};
use tabwire_engine::bounded_failure;
use tokio::sync::broadcast;

use crate::call::callable::Callable;
use crate::call::progress::{call_with_progress, cancelled, connection_ended};
use crate::call::rounds::has_rounds;
use crate::call::too_many_calls;
use crate::connection::Connection;
use crate::extra_features::{Extras, ListChange};
use crate::guide::{GUIDE, INSTRUCTIONS};
use crate::http::HttpClients;
use crate::known_clients::shows_structured;
use crate::resources::{failure_data, resources, templates};

/// The name of the one prompt.
const PROMPT: &str = "drive";

/// Handles the requests of one client, or of all HTTP clients that skip `initialize`.
#[derive(Debug)]
pub(crate) struct Handler {
    connection: Arc<Connection>,
    /// Creates a connection for each client that sends `initialize`; `None` if there is only one client.
    http_clients: Option<Arc<HttpClients>>,
    own: OnceLock<Arc<Connection>>,
    /// Set once the name of a client without `initialize` is known.
    is_named: OnceLock<()>,
}

impl Handler {
    /// Serves the only client of a connection.
    pub(crate) const fn new(connection: Arc<Connection>) -> Self {
        Self { connection, http_clients: None, own: OnceLock::new(), is_named: OnceLock::new() }
    }

    /// Serves HTTP clients.
    pub(crate) const fn over_http(connection: Arc<Connection>, http_clients: Arc<HttpClients>) -> Self {
        Self { connection, http_clients: Some(http_clients), own: OnceLock::new(), is_named: OnceLock::new() }
    }

    fn connection(&self) -> &Arc<Connection> {
        self.own.get().unwrap_or(&self.connection)
    }

    /// Sets the name of a client without `initialize`, if it is the only client.
    fn note_client_name(&self, context: &RequestContext<RoleServer>) {
        if self.http_clients.is_none() && has_rounds(context) {
            self.is_named.get_or_init(|| {
                if let Some(client) = context.client_info() {
                    self.connection.set_client_name(&client.name);
                }
            });
        }
    }

    /// Creates a connection for a client that sends `initialize`, if there can be several clients.
    fn initialize_client(&self, name: &str) -> Result<(), ErrorData> {
        if let Some(http_clients) = self.http_clients.as_ref().filter(|_| self.own.get().is_none()) {
            let own = http_clients.add(&self.connection).map_err(|failure| refused(&failure))?;
            // A second `initialize` changes nothing.
            let _ = self.own.set(own);
        }
        self.connection().set_client_name(name);
        Ok(())
    }

    /// Extra tools for conformance tests; `None` in the product.
    fn extras(&self) -> Option<&Arc<dyn Extras>> {
        self.connection.extras.as_ref()
    }

    /// Accepts a request that only servers with extras support.
    fn require_extras(&self, refusal: impl FnOnce() -> ErrorData) -> Result<(), ErrorData> {
        self.extras().map(|_| ()).ok_or_else(refusal)
    }
}

impl Drop for Handler {
    fn drop(&mut self) {
        if let (Some(http_clients), Some(own)) = (&self.http_clients, self.own.take()) {
            http_clients.remove(own);
        }
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        // The list changes when a newer daemon takes over. `tabwire mcp` then sends the notification.
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_resources()
            .enable_prompts()
            .build();
        let capabilities = match self.extras() {
            Some(extras) => extras.capabilities(capabilities),
            None => capabilities,
        };
        let own = Implementation::new("tabwire", VERSION).with_title("Tabwire");
        InitializeResult::new(capabilities).with_server_info(own).with_instructions(INSTRUCTIONS)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        self.initialize_client(&request.client_info.name)?;
        context.peer.set_peer_info(request.clone());
        self.negotiate_initialize(&request)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut tools = self.connection().listed_tools(shows_structured(&context));
        tools.extend(self.extras().map(|extras| extras.tools()).into_iter().flatten());
        Ok(ListToolsResult::with_all_items(tools))
    }

    /// The SDK needs this for tools with arguments in headers. Tabwire has none.
    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.extras()?.tools().into_iter().find(|tool| tool.name == name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let connection = self.connection();
        let Some(called) = Callable::find(connection, &request.name) else {
            return Err(ErrorData::invalid_params(connection.tools.refuse(&request.name), None));
        };
        self.note_client_name(&context);
        call_with_progress(connection, &called, request, &context).await
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let mut listed = resources();
        listed.extend(self.extras().map(|extras| extras.resources()).into_iter().flatten());
        Ok(ListResourcesResult::with_all_items(listed))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let mut listed = templates();
        listed.extend(self.extras().map(|extras| extras.templates()).into_iter().flatten());
        Ok(ListResourceTemplatesResult::with_all_items(listed))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if let Some(read) = self.extras().and_then(|extras| extras.read(&request.uri)) {
            return Ok(read.into());
        }
        let connection = self.connection();
        let reading = tokio::select! {
            biased;
            read = connection.read(&request.uri) => read,
            () = context.ct.cancelled() => Some(Err(cancelled())),
            () = connection.ended() => Some(Err(connection_ended())),
        };
        match reading {
            Some(Ok(read)) => Ok(read.into()),
            Some(Err(failure)) => Err(refused(&failure)),
            None => {
                let message = format!("There is no resource {}.", request.uri);
                Err(ErrorData::resource_not_found(message, Some(json!({"uri": request.uri}))))
            }
        }
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.supported_by(&self.get_info().capabilities))
    }

    /// Keeps a subscription open until the client ends it. The lists do not change while a connection is served here.
    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let connection = self.connection();
        let _place = connection.call_permits.try_acquire().map_err(|_| refused(&too_many_calls()))?;
        let mut changes = self.extras().map(|extras| extras.changes());
        loop {
            let change = tokio::select! {
                () = context.cancelled() => return Ok(()),
                () = connection.ended() => return Ok(()),
                change = next_change(&mut changes) => change,
            };
            // The SDK drops notifications that the client did not subscribe to. Sending fails only when the client is
            // gone.
            let _ = match change {
                ListChange::Tools => context.sink().notify_tool_list_changed().await,
                ListChange::Prompts => context.sink().notify_prompt_list_changed().await,
            };
        }
    }

    async fn complete(
        &self,
        _request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Ok(self.extras().map(|extras| extras.complete()).unwrap_or_default())
    }

    #[expect(deprecated, reason = "as its parameters")]
    async fn set_level(
        &self,
        _request: SetLevelRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.require_extras(ErrorData::method_not_found::<SetLevelRequestMethod>)
    }

    async fn subscribe(
        &self,
        _request: SubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.require_extras(ErrorData::method_not_found::<SubscribeRequestMethod>)
    }

    async fn unsubscribe(
        &self,
        _request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.require_extras(ErrorData::method_not_found::<UnsubscribeRequestMethod>)
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let prompt = Prompt::new(PROMPT, Some("How to control a browser with these tools"), None);
        let require_extras = self.extras().map(|extras| extras.prompts()).into_iter().flatten();
        Ok(ListPromptsResult::with_all_items(std::iter::once(prompt).chain(require_extras).collect()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if let Some(given) = self.extras().and_then(|extras| extras.prompt(&request)) {
            return given;
        }
        if request.name != PROMPT {
            let message = format!("There is no prompt `{}`; there is `{PROMPT}`.", request.name);
            return Err(ErrorData::invalid_params(message, None));
        }
        Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, GUIDE)]).into())
    }
}

/// The next list change. Never without extras.
async fn next_change(changes: &mut Option<broadcast::Receiver<ListChange>>) -> ListChange {
    let Some(changes) = changes else { return std::future::pending().await };
    loop {
        match changes.recv().await {
            Ok(change) => return change,
            Err(broadcast::error::RecvError::Lagged(_)) => {}
            Err(broadcast::error::RecvError::Closed) => return std::future::pending().await,
        }
    }
}

fn refused(failure: &Failure) -> ErrorData {
    let failure = bounded_failure(failure.clone());
    let message = format!("{}: {}", failure.code, failure.message);
    ErrorData::internal_error(message, Some(failure_data(&failure)))
}
