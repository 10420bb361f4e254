//! Browser-level commands: the mux handles some itself, checks the ids in others and records what they
//! create.

use std::time::Instant;

use serde_json::{Value, json};
use tabwire_api::{ClientId, ErrorCode, TargetId};
use tabwire_cdp::TargetFilter;
use tabwire_cdp::reply::{self, ProtocolError};

use crate::mux::Mux;
use crate::output::{CloseReason, Output};
use crate::routing::from_client::Command;
use crate::routing::pending::ResponseHandling;
use crate::session::table::{AutoAttach, Session, SessionOwner};
use crate::target::entry::Owner;

impl Mux {
    pub(crate) fn browser_command(&mut self, command: &Command<'_>, now: Instant) {
        let params = match command.envelope.params.map(|raw| serde_json::from_str::<Value>(raw.get())) {
            None => Value::Null,
            Some(Ok(params)) => params,
            Some(Err(error)) => return self.refuse(command, &ProtocolError::invalid_params(error)),
        };
        if let Err(error) = self.check_names(command, &params) {
            self.counters.refused_foreign += 1;
            return self.refuse(command, &error);
        }
        let on_browser = self.state.sessions.find(command.session.as_str()).is_some_and(Session::is_browser);
        self.command_in_partition(command, params, on_browser, now);
    }

    /// Checks that a command names no target or context of another client, then handles it.
    pub(crate) fn checked_command(&mut self, command: &Command<'_>, params: &Value, now: Instant) {
        let on_browser = self.state.sessions.find(command.session.as_str()).is_some_and(Session::is_browser);
        match command.envelope.method {
            "Target.setAutoAttach" if on_browser => self.command_auto_attach(command, params, now),
            "Target.setAutoAttach" if is_on_without_flatten(params) => {
                self.attach_without_flatten(command, params, None, now);
            }
            "Target.sendMessageToTarget" => self.command_inside(command, params, now),
            "Target.setDiscoverTargets" => self.command_discover(command, params),
            "Target.attachToTarget" => self.command_attach(command, params, now),
            "Target.detachFromTarget" => self.command_detach(command, params, now),
            "Target.createTarget" => self.command_create(command, params, now),
            "Target.createBrowserContext" => {
                let ends = params.get("disposeOnDetach").and_then(Value::as_bool).unwrap_or(false);
                self.forward(command, ResponseHandling::CreateContext { ends }, now);
            }
            "Target.disposeBrowserContext" => self.command_dispose(command, params, now),
            "Target.getBrowserContexts" => self.forward(command, ResponseHandling::ContextList, now),
            "Target.getTargets" => self.forward(command, ResponseHandling::TargetList, now),
            "Target.exposeDevToolsProtocol" => self.command_expose(command, params, now),
            // It ends the browser of all clients.
            method @ "Browser.crash" => {
                let sentence =
                    format!("{method} is not available: it would bypass checks or affect other clients.");
                self.refuse(command, &ProtocolError::tabwire(ErrorCode::PolicyDenied, sentence));
            }
            "Browser.setDownloadBehavior" if on_browser && self.command_downloads(command, params, now) => {}
            "Browser.close" => self.command_close(command, now),
            _ => self.forward(command, ResponseHandling::PassThrough, now),
        }
    }

    /// Refuses commands that name another client's target, context or CDP session, with the error that the
    /// browser sends for an unknown id.
    fn check_names(&self, command: &Command<'_>, params: &Value) -> Result<(), ProtocolError> {
        let text = |field: &str| params.get(field).and_then(Value::as_str);
        if text("targetId").is_some_and(|target| !self.state.may_name_target(command.client, target)) {
            return Err(ProtocolError::no_target());
        }
        if let Some(context) = text("browserContextId")
            .filter(|id| !self.state.may_name_context(command.client, id, self.router.pending()))
        {
            return Err(ProtocolError::no_context(context));
        }
        if let Some(session) = text("sessionId").filter(|_| command.envelope.method.starts_with("Target.")) {
            let own = self
                .state
                .sessions
                .find(session)
                .is_some_and(|session| session.owner == SessionOwner::Client(command.client));
            if !own {
                return Err(ProtocolError::chrome(-32602, "No session with given id"));
            }
        }
        Ok(())
    }

    fn command_auto_attach(&mut self, command: &Command<'_>, params: &Value, now: Instant) {
        let flag = |field: &str| params.get(field).and_then(Value::as_bool).unwrap_or(false);
        let filter = match TargetFilter::read(params.get("filter")) {
            Ok(filter) => filter,
            Err(error) => return self.refuse(command, &ProtocolError::invalid_params(error)),
        };
        let on = flag("autoAttach");
        if on && !flag("flatten") {
            return self.refuse(command, &needs_flatten());
        }
        let wanted = on.then(|| AutoAttach { wait: flag("waitForDebuggerOnStart"), filter });
        let echo = (!command.on_root).then_some(&command.session);
        let response = reply::result(command.envelope.id, echo, json!({}));
        self.set_auto_attach(command.client, &command.session, wanted, response, now);
    }

    fn command_discover(&mut self, command: &Command<'_>, params: &Value) {
        let on = params.get("discover").and_then(Value::as_bool).unwrap_or(false);
        match TargetFilter::read(params.get("filter")) {
            Ok(filter) => {
                self.set_discover(&command.session, on.then_some(filter));
                self.respond(command, json!({}));
            }
            Err(error) => self.refuse(command, &ProtocolError::invalid_params(error)),
        }
    }

    fn command_attach(&mut self, command: &Command<'_>, params: &Value, now: Instant) {
        let flat = params.get("flatten").and_then(Value::as_bool) == Some(true);
        match params.get("targetId").and_then(Value::as_str) {
            Some(target) if flat => {
                self.forward(command, ResponseHandling::Attach(TargetId::new(target)), now);
            }
            Some(target) => {
                self.attach_without_flatten(command, params, Some(TargetId::new(target)), now);
            }
            None => self.forward(command, ResponseHandling::PassThrough, now),
        }
    }

    /// `Browser.close` closes the client's own pages and contexts; other clients stay connected.
    fn command_close(&mut self, command: &Command<'_>, now: Instant) {
        self.respond(command, json!({}));
        if let Some(client) = self.state.clients.get_mut(command.client) {
            client.has_closed = true;
        }
        let is_own = |owner: ClientId| self.state.clients.shares_view(owner, command.client);
        let contexts: Vec<String> = self
            .state
            .partitions
            .contexts()
            .created_by(is_own)
            .map(|context| context.as_str().to_owned())
            .collect();
        let pages: Vec<String> = self
            .state
            .targets
            .iter()
            .filter(|target| matches!(target.owner, Owner::Client(owner) if is_own(owner)))
            .filter(|target| target.target_type() == "page")
            .filter(|target| {
                // Disposing of a context closes the pages in it.
                !target.text("browserContextId").is_some_and(|id| contexts.iter().any(|own| own == id))
            })
            .map(|target| target.id.as_str().to_owned())
            .collect();
        for page in pages {
            self.control_command("Target.closeTarget", json!({"targetId": page}), now);
        }
        for context in contexts {
            self.control_command("Target.disposeBrowserContext", json!({"browserContextId": context}), now);
        }
        self.router.push(Output::CloseClient { client: command.client, reason: CloseReason::Requested });
    }
}

/// Whether a page's auto-attach is turned on for sessions that are not flat.
fn is_on_without_flatten(params: &Value) -> bool {
    let flag = |field: &str| params.get(field).and_then(Value::as_bool).unwrap_or(false);
    flag("autoAttach") && !flag("flatten")
}

fn needs_flatten() -> ProtocolError {
    let message = "Target.setAutoAttach on the browser needs `flatten: true`. Without it, attach to each target with \
                   Target.attachToTarget, which also works without `flatten`.";
    ProtocolError::tabwire(ErrorCode::BadArgs, message)
}
