//! Responses of the extension, and what follows from each.

use serde_json::{Value, json};
use tabwire_api::{CdpSessionId, ErrorCode};
use tabwire_cdp::ProtocolError;
use tabwire_cdp::lenient_json;

use crate::browser::EmulatedBrowser;
use crate::browser::page_command::Command;
use crate::browser::pending::{OnResponse, PendingRequest, Requester};

use crate::link::message::{ChromeTab, ExtensionError, TabDescription};
use crate::session::virtual_session::VirtualSession;
use crate::target::debuggee::DebuggeeId;
use crate::target::tab::CloseState;

/// Chrome's error text for commands that were pending when the debugger was detached.
const DETACHED_MEANWHILE: &str = "Detached while handling command";

impl EmulatedBrowser {
    pub(super) fn handle_response(
        &mut self,
        pending: PendingRequest,
        response: Result<&str, ExtensionError>,
    ) {
        let PendingRequest { requester, on_response } = pending;
        if let OnResponse::Screenshot(debuggee_id) = &on_response {
            self.screenshot_done(debuggee_id);
        }
        if let (OnResponse::Close(tab), Err(_)) = (&on_response, &response) {
            self.close_failed(*tab);
        }
        let response = match (response, &on_response) {
            (Ok(response), _) => response,
            (Err(failure), OnResponse::Attach(tab)) => return self.tab_attach_failed(*tab, failure),
            // The tab exists although its page did not load. Chrome responds with the target id in that case, too.
            (Err(failure), OnResponse::Navigated { .. }) if failure.code == ErrorCode::CdpError.as_str() => {
                "{}"
            }
            (Err(_), OnResponse::Download(params)) => return self.download_located(params.clone(), None),
            // Input that closes its tab was delivered. A real browser responds before it detaches.
            (Err(failure), OnResponse::Input(_)) if failure.message.contains(DETACHED_MEANWHILE) => "{}",
            (Err(_), OnResponse::SetupApplied(tab)) => return self.setup_applied(*tab, "{}"),
            (Err(_), OnResponse::ChildSetupPolled { tab, .. }) => return self.run_queued(*tab),
            (Err(_), OnResponse::ContextsReported(debuggee_id)) => {
                return self.contexts_reported(debuggee_id);
            }
            (Err(_), OnResponse::EventsDelivered) => "{}",
            (Err(failure), _) => return self.fail_unless_closing(requester, ProtocolError::from(failure)),
        };
        self.handle_result(requester, on_response, response);
    }

    fn handle_result(&mut self, requester: Requester, on_response: OnResponse, response: &str) {
        match on_response {
            OnResponse::Forward | OnResponse::Input(_) | OnResponse::Screenshot(_) => {
                self.succeed(&requester, response);
            }
            OnResponse::Acknowledge | OnResponse::EventsDelivered => self.succeed(&requester, "{}"),
            OnResponse::AutoAttach => self.request(
                "settle",
                json!({}),
                PendingRequest { requester, on_response: OnResponse::EventsDelivered },
            ),
            OnResponse::Close(_) => self.succeed(&requester, r#"{"success":true}"#),
            OnResponse::Attach(tab) => self.tab_attached(tab, response),
            OnResponse::Navigated { target } => {
                self.succeed(&requester, &json!({"targetId": target}).to_string());
            }
            OnResponse::Open { url } => self.tab_opened(&url, requester, response),
            OnResponse::AddScript { session, debuggee_id, given } => {
                let result = lenient_json::read(response.as_bytes());
                let real = result.get("identifier").and_then(Value::as_str).unwrap_or_default().to_owned();
                let named = self.sessions.get_mut(&session).and_then(|entry| entry.scripts.get_mut(&given));
                if let Some(slot) = named {
                    *slot = Some(real);
                } else {
                    // The script was removed meanwhile, or its session ended.
                    let params = json!({"identifier": real}).to_string();
                    let command = Command::new("Page.removeScriptToEvaluateOnNewDocument", &params);
                    self.forward_internal(&debuggee_id, &command);
                }
                self.succeed(&requester, &json!({"identifier": given}).to_string());
            }
            OnResponse::CreateWorld { session, number } => self.world_created(&session, number, response),
            OnResponse::Download(params) => self.download_located(params, Some(response)),
            OnResponse::SetupApplied(tab) => self.setup_applied(tab, response),
            OnResponse::ChildSetupPolled { tab, polls_left, was_done } => {
                self.child_setup_polled(tab, polls_left, was_done);
            }
            OnResponse::ContextsReported(debuggee_id) => self.contexts_reported(&debuggee_id),
        }
    }

    fn world_created(&mut self, session: &CdpSessionId, number: i64, response: &str) {
        let result = lenient_json::read(response.as_bytes());
        let real = result.get("executionContextId").and_then(Value::as_i64);
        if let (Some(real), Some(entry)) = (real, self.sessions.get_mut(session)) {
            entry.contexts.set_real(number, real);
        }
        self.release_blocked(session);
    }

    /// Responds with an error. While the tab is closing, the error waits until it is known whether the tab closes.
    fn fail_unless_closing(&mut self, requester: Requester, error: ProtocolError) {
        let tab = match &requester {
            Requester::Hub { session: Some(session), .. } => {
                self.sessions.get(session).and_then(VirtualSession::tab)
            }
            _ => None,
        };
        match tab.and_then(|tab| self.tabs.get_mut(&tab)).map(|tab| &mut tab.close_state) {
            Some(CloseState::Closing { failed }) => failed.push((requester, error)),
            _ => self.fail(&requester, &error),
        }
    }

    /// The tab was not closed: sends the errors that waited.
    fn close_failed(&mut self, tab: ChromeTab) {
        let Some(tab) = self.tabs.get_mut(&tab) else { return };
        if let CloseState::Closing { failed } = std::mem::replace(&mut tab.close_state, CloseState::Open) {
            for (requester, error) in failed {
                self.fail(&requester, &error);
            }
        }
    }

    /// The new tab is open: navigates it, then responds to the client.
    fn tab_opened(&mut self, url: &str, requester: Requester, response: &str) {
        let Ok(tab) = lenient_json::read_as::<TabDescription>(response.as_bytes()) else {
            let error = ProtocolError::tabwire(
                ErrorCode::CdpError,
                "The extension's response does not describe the tab it opened.",
            );
            return self.fail(&requester, &error);
        };
        let (debuggee_id, target) = (DebuggeeId::page(tab.tab), tab.target.clone());
        self.update_tab(tab);
        if url.is_empty() || url == "about:blank" {
            return self.succeed(&requester, &json!({"targetId": target}).to_string());
        }
        // The tab opened blank: the debugger is attached before its first request, so that settings and
        // rules apply to it.
        let command = Command::new("Page.navigate", &json!({"url": url}).to_string());
        self.execute_attached(&debuggee_id, None, command, requester, OnResponse::Navigated { target });
    }
}
