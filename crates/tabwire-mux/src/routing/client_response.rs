//! Forwards responses to clients, with their own ids.

use std::time::Instant;

use bytes::BytesMut;
use serde_json::{Value, json};
use tabwire_api::{CdpSessionId, ClientId};
use tabwire_cdp::lenient_json;
use tabwire_cdp::reply::{self};

use crate::mux::Mux;
use crate::output::FrameClass;
use crate::routing::from_browser::{Body, ReceivedResponse};
use crate::routing::pending::{PendingTable, ResponseHandling};
use crate::routing::rewrite;
use crate::state::BrowserState;
use crate::target::entry::Owner;

impl Mux {
    pub(super) fn client_response(
        &mut self,
        client: ClientId,
        client_id: i64,
        (id, handling): (u64, ResponseHandling),
        session: Option<&CdpSessionId>,
        arrived: ReceivedResponse,
        now: Instant,
    ) {
        match handling {
            ResponseHandling::PassThrough => self.pass_response(client, client_id, session, arrived),
            ResponseHandling::Attach(target) => {
                if let (Some(client), Some(session)) = (self.state.clients.get_mut(client), session) {
                    client.non_flat.responded(session, &target);
                }
                self.pass_response(client, client_id, session, arrived);
            }
            ResponseHandling::CreateContext { ends } => {
                let body = Body::read(&arrived.frame);
                self.context_created(id, body.text("browserContextId"), (client, ends), now);
                self.pass_response(client, client_id, session, arrived);
            }
            ResponseHandling::DisposeContext(context) => {
                if Body::read(&arrived.frame).result().is_some() {
                    self.state.partitions.contexts_mut().end(&context, now);
                }
                self.pass_response(client, client_id, session, arrived);
            }
            ResponseHandling::CreateTarget { then, .. } => {
                let body = Body::read(&arrived.frame);
                if let (Some(target), Some(url)) = (body.text("targetId"), then) {
                    self.navigate_new_target(target, &url, now);
                }
                let owner = Owner::Client(client);
                self.target_created(id, body.text("targetId").map(|target| (owner, target)), now);
                let frame = self.state.rewrite_response(client, client_id, session, arrived);
                match self.state.clients.root(client).cloned() {
                    Some(root) => self.router.reply_after_attachments(client, &root, frame),
                    None => self.router.deliver(client, frame, FrameClass::Response),
                }
            }
            ResponseHandling::TargetList => {
                self.pass_filtered(client, client_id, session, arrived, "targetInfos", |state, _, info| {
                    let id = info.get("targetId").and_then(Value::as_str).unwrap_or_default();
                    match info.get("type").and_then(Value::as_str) {
                        Some("browser") => return state.is_own_browser_target(client, id),
                        Some("browser_ui") => return false,
                        _ => {}
                    }
                    let shown = state.may_list_target(client, id);
                    if shown {
                        state.redact_target_info(client, info);
                    }
                    shown
                });
            }
            ResponseHandling::ContextList => self.pass_contexts(client, client_id, session, arrived),
        }
    }

    /// Forwards a list of contexts: those the client may name, without its default context.
    fn pass_contexts(
        &mut self,
        client: ClientId,
        client_id: i64,
        session: Option<&CdpSessionId>,
        mut arrived: ReceivedResponse,
    ) {
        let home = self.state.default_context_of(client).map(|home| home.as_str().to_owned());
        let mut body = lenient_json::read(&arrived.frame);
        let listed = body.pointer("/result/browserContextIds").is_some_and(Value::is_array);
        if let (Some(home), Some(default)) = (&home, body.pointer_mut("/result/defaultBrowserContextId"))
            && listed
        {
            *default = Value::from(home.as_str());
            arrived.frame = BytesMut::from(body.to_string().as_bytes());
        }
        self.pass_filtered(client, client_id, session, arrived, "browserContextIds", |state, pending, id| {
            let may_name = |id: &str| state.may_name_context(client, id, pending);
            id.as_str().is_some_and(|id| home.as_deref() != Some(id) && may_name(id))
        });
    }

    fn pass_filtered(
        &mut self,
        client: ClientId,
        client_id: i64,
        session: Option<&CdpSessionId>,
        arrived: ReceivedResponse,
        list: &str,
        keep: impl Fn(&BrowserState, &PendingTable, &mut Value) -> bool,
    ) {
        let Body(mut body) = Body::read(&arrived.frame);
        let Some(items) = body.pointer_mut(&format!("/result/{list}")).and_then(Value::as_array_mut) else {
            return self.pass_response(client, client_id, session, arrived);
        };
        items.retain_mut(|item| keep(&self.state, self.router.pending(), item));
        items.sort_by_key(|item| {
            let id = item.get("targetId").and_then(Value::as_str);
            !id.is_some_and(|id| self.state.is_first_for(client, id))
        });
        let result = body.get_mut("result").map_or(json!({}), Value::take);
        let echo = self.state.clients.reply_session(client, session);
        let frame = reply::result(client_id, echo.as_ref(), result);
        self.router.deliver(client, frame, FrameClass::Response);
    }

    fn pass_response(
        &mut self,
        client: ClientId,
        id: i64,
        session: Option<&CdpSessionId>,
        arrived: ReceivedResponse,
    ) {
        let frame = self.state.rewrite_response(client, id, session, arrived);
        self.router.deliver(client, frame, FrameClass::Response);
    }
}

impl BrowserState {
    /// Replaces the id with the client's, and removes the root session's id.
    fn rewrite_response(
        &self,
        client: ClientId,
        id: i64,
        session: Option<&CdpSessionId>,
        arrived: ReceivedResponse,
    ) -> BytesMut {
        let cut = if self.clients.reply_session(client, session).is_none() { arrived.cut } else { None };
        rewrite::to_client(arrived.frame, &arrived.id_span, id, cut.as_ref())
    }
}
