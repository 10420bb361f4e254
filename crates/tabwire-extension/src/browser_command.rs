//! Commands about the browser as a whole, which Chrome offers no extension: answered here, or with what tabs can do.

use serde_json::{Value, json};
use tabwire_wire::{CdpSessionId, ErrorCode};

use crate::debuggee::DebuggeeId;
use crate::emulated_browser::{EmulatedBrowser, Pause};
use crate::link_message::{ChromeTab, WithTab};
use crate::page_command::Command;
use crate::pending::{Asker, Pending, Task};
use crate::reply::ProtocolError;
use crate::tab::{CONTEXT, End, Tab};
use crate::tab_target::page_in;
use crate::virtual_session::{Discovery, Place, VirtualSession};

impl EmulatedBrowser {
    pub(crate) fn browser_command(
        &mut self,
        session: Option<&CdpSessionId>,
        command: &Command,
        asker: Asker,
    ) {
        let params = match command.read_params() {
            Ok(params) => params,
            Err(error) => return self.fail(&asker, &error),
        };
        let flag = |name: &str| params.get(name).and_then(Value::as_bool).unwrap_or(false);
        match command.method.as_str() {
            "Browser.getVersion" => {
                if matches!(self.pause, Pause::Over(_)) && !self.is_house(session) {
                    self.pause = Pause::No;
                }
                self.answer(&asker, &self.version());
            }
            "Target.attachToBrowserTarget" => self.attach_to_browser(session, &asker),
            "Target.setDiscoverTargets" => {
                let wanted = match (flag("discover"), params.get("filter").is_some()) {
                    (false, _) => Discovery::Nothing,
                    (true, false) => Discovery::Pages,
                    (true, true) => Discovery::PagesAndTabs,
                };
                self.set_discover(session, wanted, &asker);
            }
            "Target.setAutoAttach" => self.set_auto_attach(session, flag("autoAttach"), &asker),
            "Target.getTargets" => self.answer(&asker, &json!({"targetInfos": self.target_infos()})),
            "Target.getTargetInfo" => self.target_info(&params, &asker),
            "Target.attachToTarget" => self.attach_to_target(session, &params, &asker),
            "Target.detachFromTarget" => self.detach_from_target(&params, &asker),
            "Target.createTarget" => self.create_target(session, &params, asker),
            "Target.closeTarget" => self.about_tab("close", &params, asker, Task::Close),
            "Target.activateTarget" => self.about_tab("activate", &params, asker, |_| Task::Done),
            "Target.getBrowserContexts" => {
                self.answer(&asker, &json!({"browserContextIds": [], "defaultBrowserContextId": CONTEXT}));
            }
            "Target.createBrowserContext" | "Target.disposeBrowserContext" => {
                let message = "The user's own browser has one cookie jar, and no other can be made in it.";
                self.fail(&asker, &ProtocolError::ours(ErrorCode::CdpError, message));
            }
            // Where files go is the user's choice in the user's own browser. Clients set this without being asked to.
            "Browser.setDownloadBehavior" => {
                if let Some(Place::Browser { downloads, .. }) = self.browser_place(session) {
                    *downloads = flag("eventsEnabled");
                }
                self.succeed(&asker, "{}");
            }
            "Browser.cancelDownload" => self.cancel_download(&params, asker),
            "Storage.getCookies" | "Storage.setCookies" | "Network.getCookies" | "Network.setCookie" => {
                self.through_any_tab(command, params, asker);
            }
            other => self.fail(&asker, &ProtocolError::not_here(other)),
        }
    }

    fn answer(&mut self, asker: &Asker, result: &Value) {
        self.succeed(asker, &result.to_string());
    }

    fn version(&self) -> Value {
        json!({
            "protocolVersion": "1.3", "product": self.facts.product, "revision": "",
            "userAgent": self.facts.agent, "jsVersion": "",
        })
    }

    fn attach_to_browser(&mut self, session: Option<&CdpSessionId>, asker: &Asker) {
        let made = self.add_session(VirtualSession::on_browser(session.cloned()));
        let event = json!({
            "sessionId": made.as_str(), "targetInfo": browser_info(), "waitingForDebugger": false,
        });
        self.tell(session, "Target.attachedToTarget", &event.to_string());
        self.answer(asker, &json!({"sessionId": made.as_str()}));
    }

    fn set_discover(&mut self, session: Option<&CdpSessionId>, wanted: Discovery, asker: &Asker) {
        if let Some(Place::Browser { discover, .. }) = self.browser_place(session) {
            *discover = wanted;
            let outer = self.tabs.keys().filter_map(|tab| self.outer_info(*tab));
            let outer: Vec<Value> = outer.filter(|_| wanted == Discovery::PagesAndTabs).collect();
            let pages = self.target_infos();
            for info in outer.into_iter().chain(pages).filter(|_| wanted != Discovery::Nothing) {
                let params = json!({"targetInfo": info}).to_string();
                self.tell(session, "Target.targetCreated", &params);
            }
        }
        self.succeed(asker, "{}");
    }

    fn set_auto_attach(&mut self, session: Option<&CdpSessionId>, on: bool, asker: &Asker) {
        let mut was = on;
        if let Some(Place::Browser { auto_attach, .. }) = self.browser_place(session) {
            was = std::mem::replace(auto_attach, on);
        }
        if on && !was {
            for tab in self.tabs.keys().copied().collect::<Vec<_>>() {
                self.attach_session(session, tab);
            }
        }
        self.succeed(asker, "{}");
    }

    fn browser_place(&mut self, session: Option<&CdpSessionId>) -> Option<&mut Place> {
        let place = &mut self.sessions.get_mut(session?)?.place;
        matches!(place, Place::Browser { .. }).then_some(place)
    }

    fn target_infos(&self) -> Vec<Value> {
        self.tabs.keys().filter_map(|tab| self.tab_info(*tab)).collect()
    }

    fn target_info(&mut self, params: &Value, asker: &Asker) {
        let info = match params.get("targetId").and_then(Value::as_str) {
            None | Some(BROWSER_TARGET) => Some(browser_info()),
            Some(target) => {
                let tab = self.find_tab(target).map(|tab| tab.description.tab);
                tab.and_then(|tab| match page_in(target) {
                    Some(_) => self.outer_info(tab),
                    None => self.tab_info(tab),
                })
            }
        };
        match info {
            Some(info) => self.answer(asker, &json!({"targetInfo": info})),
            None => self.fail(asker, &ProtocolError::no_target()),
        }
    }

    fn attach_to_target(&mut self, session: Option<&CdpSessionId>, params: &Value, asker: &Asker) {
        let target = params.get("targetId").and_then(Value::as_str).unwrap_or_default();
        if target == BROWSER_TARGET {
            return self.attach_to_browser(session, asker);
        }
        let Some(tab) = self.find_tab(target).map(|tab| tab.description.tab) else {
            return self.fail(asker, &ProtocolError::no_target());
        };
        if params.get("flatten").and_then(Value::as_bool) != Some(true) {
            let message = "Only flat sessions are served here: pass `flatten`.";
            return self.fail(asker, &ProtocolError::bad_params(message));
        }
        let made = match page_in(target) {
            Some(_) => self.attach_outer(session, tab),
            None => self.attach_session(session, tab),
        };
        if let Some(made) = made {
            self.answer(asker, &json!({"sessionId": made.as_str()}));
        }
    }

    /// Makes a cdp session on a tab, which costs the browser nothing until it is used.
    pub(crate) fn attach_session(
        &mut self,
        parent: Option<&CdpSessionId>,
        tab: ChromeTab,
    ) -> Option<CdpSessionId> {
        let mut info = self.tab_info(tab)?;
        if let Some(members) = info.as_object_mut() {
            members.insert("attached".to_owned(), Value::Bool(true));
        }
        let place = Place::Page(DebuggeeId { tab, child: None });
        let made = self.add_session(VirtualSession::new(parent.cloned(), place));
        let event = json!({"sessionId": made.as_str(), "targetInfo": info, "waitingForDebugger": false});
        self.tell(parent, "Target.attachedToTarget", &event.to_string());
        Some(made)
    }

    pub(crate) fn detach_from_target(&mut self, params: &Value, asker: &Asker) {
        let session = params.get("sessionId").and_then(Value::as_str).map(CdpSessionId::new);
        match session.filter(|session| self.sessions.contains_key(session)) {
            Some(session) => {
                self.succeed(asker, "{}");
                self.end_session(&session);
            }
            None => self.fail(asker, &ProtocolError::like_chrome(-32602, "No session with given id")),
        }
    }

    /// Opens a tab: empty first, so that everything is in place before its page loads.
    fn create_target(&mut self, session: Option<&CdpSessionId>, params: &Value, asker: Asker) {
        let context = params.get("browserContextId").and_then(Value::as_str);
        if let Some(context) = context.filter(|context| *context != CONTEXT) {
            let message = format!("Failed to find browser context with id {context}");
            return self.fail(&asker, &ProtocolError::like_chrome(-32602, message));
        }
        // Until it goes on and it is known which tabs there are: what seems to be missing is there. The house opens
        // tabs for who has none, and asks about that before.
        match &self.pause {
            Pause::No => {}
            Pause::Over(_) if !self.is_house(session) => {}
            Pause::On(why) | Pause::Over(why) => {
                let error = ProtocolError::ours(ErrorCode::PolicyDenied, why.clone());
                return self.fail(&asker, &error);
            }
        }
        let url = params.get("url").and_then(Value::as_str).unwrap_or_default().to_owned();
        self.ask("open", json!({}), Pending { asker, task: Task::Open { url } });
    }

    /// Whether a session is the hub's own, the one that hears of tabs.
    fn is_house(&self, session: Option<&CdpSessionId>) -> bool {
        let place = session.and_then(|session| self.sessions.get(session)).map(|found| &found.place);
        matches!(place, Some(Place::Browser { discover, .. }) if *discover != Discovery::Nothing)
    }

    fn about_tab(&mut self, name: &str, params: &Value, asker: Asker, task: fn(ChromeTab) -> Task) {
        let target = params.get("targetId").and_then(Value::as_str).unwrap_or_default();
        match self.find_tab(target).map(|tab| tab.description.tab) {
            Some(tab) => {
                let task = task(tab);
                if let (Task::Close(_), Some(entry)) = (&task, self.tabs.get_mut(&tab)) {
                    entry.end = End::Asked { unanswered: Vec::new() };
                }
                self.ask(name, WithTab { tab }, Pending { asker, task });
            }
            None => self.fail(&asker, &ProtocolError::no_target()),
        }
    }

    /// Cookies are the whole profile's, and any tab can be asked for them: one that is attached, else another.
    fn through_any_tab(&mut self, command: &Command, mut params: Value, asker: Asker) {
        let attached = self.tabs.values().find(|tab| tab.is_attached());
        let Some(place) = attached.or_else(|| self.tabs.values().next()).map(Tab::place) else {
            let message = "Cookies are read through a tab, and no tab is shared.";
            return self.fail(&asker, &ProtocolError::ours(ErrorCode::TabNotFound, message));
        };
        if let Some(members) = params.as_object_mut() {
            members.remove("browserContextId");
        }
        let command = Command { method: command.method.clone(), params: params.to_string() };
        self.run(&place, None, command, asker, Task::Pass);
    }
}

const BROWSER_TARGET: &str = "tabwire-own-browser";

fn browser_info() -> Value {
    json!({
        "targetId": BROWSER_TARGET, "type": "browser", "title": "", "url": "", "attached": true,
        "canAccessOpener": false,
    })
}
