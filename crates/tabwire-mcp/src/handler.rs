//! The protocol's requests, each handed to who answers it. Knows nothing of transports.

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::{Arc, OnceLock};

use futures_util::FutureExt;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorData, GetPromptRequestParams, GetPromptResponse,
    GetPromptResult, Implementation, InitializeRequestParams, InitializeResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, Prompt, PromptMessage, ProtocolVersion, ReadResourceRequestParams,
    ReadResourceResponse, Role, ServerCapabilities, ServerConfig, SubscriptionFilter,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::json;
use tabwire_wire::{ErrorCode, Failure, Progress, VERSION};
use tokio::time::{Instant, interval_at};

use crate::answer::failed;
use crate::approval::{ask_client, shows_questions};
use crate::call::crowded;
use crate::connection::Connection;
use crate::guide::{GUIDE, INSTRUCTIONS};
use crate::http_door::Lobby;
use crate::limits::PROGRESS_EVERY;
use crate::offered_tool::OfferedTool;
use crate::resource::{failure_data, resources, templates};
use crate::waiting_call::{asks_between, call_in_rounds};

/// The name of the one prompt.
const PROMPT: &str = "drive";

/// Answers one client, or all that came in through a door without greeting.
#[derive(Debug)]
pub(crate) struct Handler {
    connection: Arc<Connection>,
    /// Where clients that greet get a connection of their own; none when there is only one client.
    lobby: Option<Arc<Lobby>>,
    own: OnceLock<Arc<Connection>>,
    /// Set once a client that does not greet has been told by its name.
    is_named: OnceLock<()>,
}

impl Handler {
    /// Answers the one client of a connection.
    pub(crate) const fn new(connection: Arc<Connection>) -> Self {
        Self { connection, lobby: None, own: OnceLock::new(), is_named: OnceLock::new() }
    }

    /// Answers clients that come in through a door.
    pub(crate) const fn at_door(connection: Arc<Connection>, lobby: Arc<Lobby>) -> Self {
        Self { connection, lobby: Some(lobby), own: OnceLock::new(), is_named: OnceLock::new() }
    }

    fn connection(&self) -> &Arc<Connection> {
        self.own.get().unwrap_or(&self.connection)
    }

    /// Takes note of what a client is called that does not greet, when it is the only one.
    fn recognise(&self, context: &RequestContext<RoleServer>) {
        if self.lobby.is_none() && asks_between(context) {
            self.is_named.get_or_init(|| {
                if let Some(client) = context.client_info() {
                    self.connection.introduce(&client.name);
                }
            });
        }
    }

    /// Gives a client that greets a connection of its own, when there are several.
    fn greet(&self, name: &str) -> Result<(), ErrorData> {
        if let Some(lobby) = self.lobby.as_ref().filter(|_| self.own.get().is_none()) {
            let own = lobby.admit(&self.connection).map_err(|failure| refused(&failure))?;
            // Greeting twice changes nothing.
            let _ = self.own.set(own);
        }
        self.connection().introduce(name);
        Ok(())
    }
}

impl Drop for Handler {
    fn drop(&mut self) {
        if let (Some(lobby), Some(own)) = (&self.lobby, self.own.take()) {
            lobby.dismiss(own);
        }
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        // The list changes when a newer daemon takes over; whoever carries the connection on tells of it.
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_resources()
            .enable_prompts()
            .build();
        let own = Implementation::new("tabwire", VERSION).with_title("Tabwire");
        InitializeResult::new(capabilities).with_server_info(own).with_instructions(INSTRUCTIONS)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        self.greet(&request.client_info.name)?;
        context.peer.set_peer_info(request.clone());
        self.negotiate_initialize(&request)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.connection().listed_tools(knows_data(&context));
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let connection = self.connection();
        let Some(tool) = connection.tools.find(&request.name) else {
            return Err(ErrorData::invalid_params(connection.tools.refuse(&request.name), None));
        };
        self.recognise(&context);
        watched(connection, tool, request, &context).await
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(resources()))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let connection = self.connection();
        let reading = tokio::select! {
            biased;
            read = connection.read(&request.uri) => read,
            () = context.ct.cancelled() => Some(Err(cancelled())),
            () = connection.ended() => Some(Err(cut_off())),
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

    /// Lets a client listen until it has had enough. The list is the same for as long as a connection is served here.
    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let connection = self.connection();
        let _place = connection.places.try_acquire().map_err(|_| refused(&crowded()))?;
        tokio::select! {
            () = context.cancelled() => {}
            () = connection.ended() => {}
        }
        Ok(())
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let prompt = Prompt::new(PROMPT, Some("How to drive a browser well with these tools"), None);
        Ok(ListPromptsResult::with_all_items(vec![prompt]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if request.name != PROMPT {
            let message = format!("There is no prompt `{}`; there is `{PROMPT}`.", request.name);
            return Err(ErrorData::invalid_params(message, None));
        }
        Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, GUIDE)]).into())
    }
}

/// Calls a tool until it is answered, cancelled, or nobody is there any more; tells how far it is meanwhile.
async fn watched(
    connection: &Arc<Connection>,
    tool: &'static OfferedTool,
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let token = context.meta.get_progress_token();
    let (can_ask, is_late) = (shows_questions(context), asks_between(context));
    // There before the call begins, so that nothing is refused because nobody is.
    let attendant = (can_ask && !is_late).then(|| connection.backend.attend());
    let mut asking = pin!(ask_client(connection, context, attendant.as_deref()));
    let is_data = tool.answers_data(connection.answers, knows_data(context));
    let number = attendant.as_ref().and_then(|attendant| attendant.call());
    let work = async {
        if is_late && (can_ask || request.request_state.is_some()) {
            return call_in_rounds(connection, tool, request, context.client_info(), is_data).await;
        }
        Ok(connection.call(tool, request.arguments, is_data, number).await.into())
    };
    // A panic costs this one call (F43).
    let mut work = pin!(AssertUnwindSafe(work).catch_unwind());
    let begun = Instant::now();
    let mut ticks = interval_at(begun + PROGRESS_EVERY, PROGRESS_EVERY);
    loop {
        tokio::select! {
            biased;
            answer = &mut work => return answer.unwrap_or_else(|_| Ok(failed(&broken(tool.name)).into())),
            () = context.ct.cancelled() => return Ok(failed(&cancelled()).into()),
            () = connection.ended() => return Ok(failed(&cut_off()).into()),
            never = &mut asking => match never {},
            _ = ticks.tick(), if token.is_some() => {
                let Some(token) = token.clone() else { continue };
                let seconds = begun.elapsed().as_secs();
                let busy = connection.backend.progress(&connection.backend.request());
                let told = ProgressNotificationParam::new(token, begun.elapsed().as_secs_f64())
                    .with_message(progress_words(tool.name, seconds, &busy));
                // Whoever is gone misses nothing.
                let _ = context.peer.notify_progress(told).await;
            }
        }
    }
}

/// Whether the client speaks a revision of the protocol that has structured content.
fn knows_data(context: &RequestContext<RoleServer>) -> bool {
    let since = ProtocolVersion::V_2025_06_18;
    context.protocol_version().is_some_and(|version| version.as_str() >= since.as_str())
}

/// How far a call is, in words.
fn progress_words(tool: &str, seconds: u64, busy: &Progress) -> String {
    let what = if busy.starting {
        "starting the browser".to_owned()
    } else if let Some(download) = busy.downloads.first() {
        format!("downloading, {} bytes so far", download.bytes)
    } else {
        format!("{tool} is under way")
    };
    format!("{what} ({seconds} s)")
}

fn cancelled() -> Failure {
    Failure::new(ErrorCode::OutcomeUnknown, "The call was cancelled; what it had begun may have been done.")
        .with_hint("Look at the page with `snapshot` before doing it again.")
}

fn cut_off() -> Failure {
    Failure::new(
        ErrorCode::OutcomeUnknown,
        "The connection ended during the call; it may or may not have been done.",
    )
    .with_hint("Look at the page with `snapshot` before doing it again.")
}

pub(crate) fn broken(tool: &str) -> Failure {
    tracing::error!(tool, "a call panicked");
    Failure::new(ErrorCode::Internal, format!("Tabwire failed in {tool}; this is a bug."))
        .with_hint("The session goes on. The user can run `tabwire daemon logs` for details.")
}

fn refused(failure: &Failure) -> ErrorData {
    let message = format!("{}: {}", failure.code, failure.message);
    ErrorData::internal_error(message, Some(failure_data(failure)))
}
