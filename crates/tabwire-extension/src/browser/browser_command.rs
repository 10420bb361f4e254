//! Browser-level commands. Chrome gives extensions no browser session, so the emulated browser responds from
//! its state or maps them to tabs.

use serde_json::{Value, json};
use tabwire_api::{CdpSessionId, ErrorCode};
use tabwire_cdp::ProtocolError;

use crate::browser::extension_error::unsupported;
use crate::browser::page_command::Command;
use crate::browser::pending::{OnResponse, PendingRequest, Requester};
use crate::browser::tab_target::page_target_of;
use crate::browser::{EmulatedBrowser, Pause};
use crate::link::message::{ChromeTab, TabParams};
use crate::session::virtual_session::{Discovery, SessionTarget, VirtualSession};
use crate::target::debuggee::DebuggeeId;
use crate::target::tab::{CONTEXT, CloseState, Tab};

impl EmulatedBrowser {
    pub(super) fn browser_command(
        &mut self,
        session: Option<&CdpSessionId>,
        command: &Command,
        requester: Requester,
    ) {
        let params = match command.read_params() {
            Ok(params) => params,
            Err(error) => return self.fail(&requester, &error),
        };
        let flag = |name: &str| params.get(name).and_then(Value::as_bool).unwrap_or(false);
        match command.method.as_str() {
            "Browser.getVersion" => self.get_version(session, &requester),
            "Target.attachToBrowserTarget" => self.attach_to_browser(session, &requester),
            "Target.setDiscoverTargets" => {
                let wanted = match (flag("discover"), params.get("filter").is_some()) {
                    (false, _) => Discovery::Nothing,
                    (true, false) => Discovery::Pages,
                    (true, true) => Discovery::PagesAndTabs,
                };
                self.set_discover(session, wanted, &requester);
            }
            "Target.setAutoAttach" => self.set_auto_attach(session, flag("autoAttach"), &requester),
            "Target.getTargets" => self.respond(&requester, &json!({"targetInfos": self.target_infos()})),
            "Target.getTargetInfo" => self.target_info(&params, &requester),
            "Target.attachToTarget" => self.attach_to_target(session, &params, &requester),
            "Target.detachFromTarget" => self.detach_from_target(&params, &requester),
            "Target.createTarget" => self.create_target(session, &params, requester),
            "Target.closeTarget" => self.tab_request("close", &params, requester, OnResponse::Close),
            "Target.activateTarget" => {
                self.tab_request("activate", &params, requester, |_| OnResponse::Acknowledge);
            }
            "Target.getBrowserContexts" => {
                self.respond(
                    &requester,
                    &json!({"browserContextIds": [], "defaultBrowserContextId": CONTEXT}),
                );
            }
            "Target.createBrowserContext" | "Target.disposeBrowserContext" => {
                let message = "The user's own browser has one browser context; no other can be created.";
                self.fail(&requester, &ProtocolError::tabwire(ErrorCode::CdpError, message));
            }
            // The user chooses the download folder of their own browser. Clients send this on connect, so it must not fail.
            "Browser.setDownloadBehavior" => {
                self.set_download_events(session, flag("eventsEnabled"), &requester);
            }
            "Browser.cancelDownload" => self.cancel_download(&params, requester),
            "Storage.getCookies" | "Storage.setCookies" | "Network.getCookies" | "Network.setCookie" => {
                self.forward_to_any_tab(command, params, requester);
            }
            other => self.fail(&requester, &unsupported(other)),
        }
    }

    fn get_version(&mut self, session: Option<&CdpSessionId>, requester: &Requester) {
        if matches!(self.pause, Pause::Over(_)) && !self.sessions.is_control_session(session) {
            self.pause = Pause::No;
        }
        self.respond(requester, &self.version());
    }

    fn set_download_events(&mut self, session: Option<&CdpSessionId>, is_on: bool, requester: &Requester) {
        if let Some(SessionTarget::Browser { downloads, .. }) = self.sessions.browser_target_mut(session) {
            *downloads = is_on;
        }
        self.succeed(requester, "{}");
    }

    fn respond(&mut self, requester: &Requester, result: &Value) {
        self.succeed(requester, &result.to_string());
    }

    fn version(&self) -> Value {
        json!({
            "protocolVersion": "1.3", "product": self.info.product, "revision": "",
            "userAgent": self.info.agent, "jsVersion": "",
        })
    }

    fn attach_to_browser(&mut self, session: Option<&CdpSessionId>, requester: &Requester) {
        let made = self.sessions.add(VirtualSession::on_browser(session.cloned()));
        let event = json!({
            "sessionId": made.as_str(), "targetInfo": browser_info(), "waitingForDebugger": false,
        });
        self.send_event(session, "Target.attachedToTarget", &event.to_string());
        self.respond(requester, &json!({"sessionId": made.as_str()}));
    }

    fn set_discover(&mut self, session: Option<&CdpSessionId>, wanted: Discovery, requester: &Requester) {
        if let Some(SessionTarget::Browser { discover, .. }) = self.sessions.browser_target_mut(session) {
            *discover = wanted;
            // As in Chromium, only a filter that names tabs shows the tab targets.
            let tab_target = self.tabs.keys().filter_map(|tab| self.tab_target_info(*tab));
            let tab_target: Vec<Value> = tab_target.filter(|_| wanted == Discovery::PagesAndTabs).collect();
            let pages = self.target_infos();
            for info in tab_target.into_iter().chain(pages).filter(|_| wanted != Discovery::Nothing) {
                let params = json!({"targetInfo": info}).to_string();
                self.send_event(session, "Target.targetCreated", &params);
            }
        }
        self.succeed(requester, "{}");
    }

    fn set_auto_attach(&mut self, session: Option<&CdpSessionId>, on: bool, requester: &Requester) {
        let mut was = on;
        if let Some(SessionTarget::Browser { auto_attach, .. }) = self.sessions.browser_target_mut(session) {
            was = std::mem::replace(auto_attach, on);
        }
        if on && !was {
            for tab in self.tabs.keys().copied().collect::<Vec<_>>() {
                self.attach_session(session, tab);
            }
        }
        self.succeed(requester, "{}");
    }

    fn target_infos(&self) -> Vec<Value> {
        self.tabs.keys().filter_map(|tab| self.page_info(*tab)).collect()
    }

    fn target_info(&mut self, params: &Value, requester: &Requester) {
        let info = match params.get("targetId").and_then(Value::as_str) {
            None | Some(BROWSER_TARGET) => Some(browser_info()),
            Some(target) => {
                let tab = self.find_tab(target).map(|tab| tab.description.tab);
                tab.and_then(|tab| match page_target_of(target) {
                    Some(_) => self.tab_target_info(tab),
                    None => self.page_info(tab),
                })
            }
        };
        match info {
            Some(info) => self.respond(requester, &json!({"targetInfo": info})),
            None => self.fail(requester, &ProtocolError::no_target()),
        }
    }

    fn attach_to_target(&mut self, session: Option<&CdpSessionId>, params: &Value, requester: &Requester) {
        let target = params.get("targetId").and_then(Value::as_str).unwrap_or_default();
        if target == BROWSER_TARGET {
            return self.attach_to_browser(session, requester);
        }
        let Some(tab) = self.find_tab(target).map(|tab| tab.description.tab) else {
            return self.fail(requester, &ProtocolError::no_target());
        };
        if params.get("flatten").and_then(Value::as_bool) != Some(true) {
            let message = "Only flat sessions are supported: pass `flatten: true`.";
            return self.fail(requester, &ProtocolError::invalid_params(message));
        }
        let made = match page_target_of(target) {
            Some(_) => self.attach_tab_target(session, tab),
            None => self.attach_session(session, tab),
        };
        if let Some(made) = made {
            self.respond(requester, &json!({"sessionId": made.as_str()}));
        }
    }

    /// Creates a CDP session on a page. The debugger is attached with the first command that needs it.
    pub(super) fn attach_session(
        &mut self,
        parent: Option<&CdpSessionId>,
        tab: ChromeTab,
    ) -> Option<CdpSessionId> {
        let mut info = self.page_info(tab)?;
        if let Some(members) = info.as_object_mut() {
            members.insert("attached".to_owned(), Value::Bool(true));
        }
        let debuggee_id = SessionTarget::Page(DebuggeeId::page(tab));
        let made = self.sessions.add(VirtualSession::new(parent.cloned(), debuggee_id));
        let event = json!({"sessionId": made.as_str(), "targetInfo": info, "waitingForDebugger": false});
        self.send_event(parent, "Target.attachedToTarget", &event.to_string());
        Some(made)
    }

    pub(super) fn detach_from_target(&mut self, params: &Value, requester: &Requester) {
        let session = params.get("sessionId").and_then(Value::as_str).map(CdpSessionId::new);
        match session.filter(|session| self.sessions.contains(session)) {
            Some(session) => {
                self.succeed(requester, "{}");
                self.end_session(&session);
            }
            None => self.fail(requester, &ProtocolError::chrome(-32602, "No session with given id")),
        }
    }

    /// Opens a tab, empty at first, so that the setup is in place before its page loads.
    fn create_target(&mut self, session: Option<&CdpSessionId>, params: &Value, requester: Requester) {
        let context = params.get("browserContextId").and_then(Value::as_str);
        if let Some(context) = context.filter(|context| *context != CONTEXT) {
            let message = format!("Failed to find browser context with id {context}");
            return self.fail(&requester, &ProtocolError::chrome(-32602, message));
        }
        // While paused, no tabs are listed, so a client that misses its tab would open another one. The control session
        // opens tabs for clients without one; it may do so after its next `Browser.getVersion`, when it knows the tabs.
        match &self.pause {
            Pause::No => {}
            Pause::Over(_) if !self.sessions.is_control_session(session) => {}
            Pause::On(why) | Pause::Over(why) => {
                let error = ProtocolError::tabwire(ErrorCode::PolicyDenied, why.clone());
                return self.fail(&requester, &error);
            }
        }
        let url = params.get("url").and_then(Value::as_str).unwrap_or_default().to_owned();
        self.request("open", json!({}), PendingRequest { requester, on_response: OnResponse::Open { url } });
    }

    fn tab_request(
        &mut self,
        name: &str,
        params: &Value,
        requester: Requester,
        on_response: fn(ChromeTab) -> OnResponse,
    ) {
        let target = params.get("targetId").and_then(Value::as_str).unwrap_or_default();
        match self.find_tab(target).map(|tab| tab.description.tab) {
            Some(tab) => {
                let on_response = on_response(tab);
                if let (OnResponse::Close(_), Some(entry)) = (&on_response, self.tabs.get_mut(&tab)) {
                    entry.close_state = CloseState::Closing { failed: Vec::new() };
                }
                self.request(name, TabParams { tab }, PendingRequest { requester, on_response });
            }
            None => self.fail(&requester, &ProtocolError::no_target()),
        }
    }

    /// Sends a cookie command to any tab, preferably an attached one: cookies belong to the whole profile.
    fn forward_to_any_tab(&mut self, command: &Command, mut params: Value, requester: Requester) {
        let attached = self.tabs.values().find(|tab| tab.is_attached());
        let Some(debuggee_id) = attached.or_else(|| self.tabs.values().next()).map(Tab::debuggee_id) else {
            let message = "Cookies are read through a shared tab, and no tab is shared.";
            return self.fail(&requester, &ProtocolError::tabwire(ErrorCode::TabNotFound, message));
        };
        if let Some(members) = params.as_object_mut() {
            members.remove("browserContextId");
        }
        let command = Command { method: command.method.clone(), params: params.to_string() };
        self.execute_attached(&debuggee_id, None, command, requester, OnResponse::Forward);
    }
}

const BROWSER_TARGET: &str = "tabwire-own-browser";

fn browser_info() -> Value {
    json!({
        "targetId": BROWSER_TARGET, "type": "browser", "title": "", "url": "", "attached": true,
        "canAccessOpener": false,
    })
}
