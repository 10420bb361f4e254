//! Replaces the default browser context for clients of a partition that has its own context.
//!
//! A command without a context means the default one. The mux adds the partition's context to such commands
//! of such a client; it changes no other frames.

use std::time::Instant;

use serde_json::{Value, json};
use tabwire_api::{BrowserContextId, ErrorCode};
use tabwire_cdp::envelope::peek_client_frame;
use tabwire_cdp::reply::{self, ProtocolError};

use crate::mux::Mux;
use crate::routing::from_client::Command;
use crate::routing::pending::ResponseHandling;
use crate::target::entry::Owner;

/// Every command that takes an optional `browserContextId`; a test compares it with the browser's own list.
pub const COMMANDS_IN_A_CONTEXT: &[&str] = &[
    "Browser.cancelDownload",
    "Browser.grantPermissions",
    "Browser.resetPermissions",
    "Browser.setDownloadBehavior",
    "Browser.setPermission",
    "Storage.clearCookies",
    "Storage.getCookies",
    "Storage.setCookies",
    "Target.createTarget",
];

impl Mux {
    /// Handles a browser-level command after adding the client's default context.
    pub(crate) fn command_in_partition(
        &mut self,
        command: &Command<'_>,
        params: Value,
        on_browser: bool,
        now: Instant,
    ) {
        let method = command.envelope.method;
        let in_partition =
            self.state.clients.get(command.client).is_some_and(|client| client.options.partition.is_some());
        if in_partition && on_browser && method == "Fetch.enable" {
            let sentence =
                "Fetch.enable on the browser would pause the requests of every session: send it to a page.";
            return self.refuse(command, &ProtocolError::tabwire(ErrorCode::PolicyDenied, sentence));
        }
        let Some(home) = self.state.default_context_of(command.client).cloned() else {
            return self.checked_command(command, &params, now);
        };
        let storage = method.starts_with("Storage.");
        let takes_context = COMMANDS_IN_A_CONTEXT.contains(&method);
        if storage && on_browser && !takes_context {
            let sentence = format!(
                "{method} would act on the default context, which is not this session's: send it to a page."
            );
            return self.refuse(command, &ProtocolError::tabwire(ErrorCode::PolicyDenied, sentence));
        }
        let named = params.get("browserContextId").is_some_and(|context| !context.is_null());
        // On a page, a storage command means that page's context.
        if named || !takes_context || (storage && !on_browser) {
            return self.checked_command(command, &params, now);
        }
        let params = in_context(params, &home);
        let session = (!command.on_root).then_some(&command.session);
        let frame = reply::command(command.envelope.id, session, method, &params);
        match peek_client_frame(&frame) {
            Ok(envelope) => {
                let (client, session) = (command.client, command.session.clone());
                let command = Command { client, envelope, frame: &frame, session, on_root: command.on_root };
                self.checked_command(&command, &params, now);
            }
            Err(error) => self.refuse(command, &ProtocolError::invalid_params(error)),
        }
    }

    /// A client that disposes of its default context closes its own pages in it; other clients' pages stay.
    pub(crate) fn command_dispose(&mut self, command: &Command<'_>, params: &Value, now: Instant) {
        let context = params.get("browserContextId").and_then(Value::as_str).unwrap_or_default();
        if self.state.default_context_of(command.client).is_none_or(|home| home.as_str() != context) {
            return self.forward(
                command,
                ResponseHandling::DisposeContext(BrowserContextId::new(context)),
                now,
            );
        }
        // To this client its partition is the default context, which Chromium refuses to dispose of.
        let owner = Owner::Client(command.client);
        let own: Vec<String> = self
            .state
            .targets
            .iter()
            .filter(|target| target.owner == owner && target.target_type() == "page")
            .filter(|target| target.context_text() == Some(context))
            .map(|target| target.id.as_str().to_owned())
            .collect();
        for page in own {
            self.control_command("Target.closeTarget", json!({"targetId": page}), now);
        }
        self.respond(command, json!({}));
    }
}

fn in_context(params: Value, context: &BrowserContextId) -> Value {
    let mut params = if params.is_object() { params } else { json!({}) };
    if let Some(members) = params.as_object_mut() {
        members.insert("browserContextId".to_owned(), Value::from(context.as_str()));
    }
    params
}
