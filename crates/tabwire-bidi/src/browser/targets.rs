//! Browser-level commands: targets, sessions, browser contexts.

use serde_json::{Value, json};
use tabwire_api::CdpSessionId;
use tabwire_cdp::ProtocolError;

use super::{Command, EmulatedBrowser, Reply};
use crate::protocol::message::{BidiError, flag, text};
use crate::state::context::{Context, DEFAULT_USER_CONTEXT};
use crate::state::session::{Session, SessionTarget};

const BROWSER_TARGET: &str = "tabwire-bidi-browser";

impl EmulatedBrowser {
    pub(super) fn browser_command(
        &mut self,
        session: Option<&CdpSessionId>,
        command: &Command,
        reply: Reply,
    ) {
        let params = &command.params;
        match command.method.as_str() {
            "Browser.getVersion" => self.get_version(reply),
            "Browser.close" => self.send_acknowledged("browser.close", json!({}), reply),
            "Target.attachToBrowserTarget" => self.attach_to_browser(session, reply),
            "Target.setDiscoverTargets" => self.set_discover(session, flag(params, "discover"), reply),
            "Target.setAutoAttach" => self.set_auto_attach(session, params, reply),
            "Target.getTargets" => {
                let infos: Vec<Value> =
                    self.visible_tabs().iter().filter_map(|tab| self.target_info(tab)).collect();
                self.succeed(reply, json!({"targetInfos": infos}));
            }
            "Target.getTargetInfo" => self.get_target_info(None, params, reply),
            "Target.attachToTarget" => self.attach_to_target(session, params, reply),
            "Target.detachFromTarget" => self.detach_from_target(params, reply),
            "Target.createTarget" => self.create_target(params, reply),
            "Target.closeTarget" => self.close_target(text(params, "targetId"), reply),
            "Target.activateTarget" => self.activate(text(params, "targetId"), reply),
            "Target.getBrowserContexts" => {
                let own = self.user_contexts.iter().filter(|context| *context != DEFAULT_USER_CONTEXT);
                let own: Vec<&String> = own.collect();
                let listed =
                    json!({"browserContextIds": own, "defaultBrowserContextId": DEFAULT_USER_CONTEXT});
                self.succeed(reply, listed);
            }
            "Target.createBrowserContext" => self.create_context(params, reply),
            "Target.disposeBrowserContext" => self.dispose_context(text(params, "browserContextId"), reply),
            "Browser.setDownloadBehavior" => self.set_download_behavior(session, params, reply),
            "Browser.setPermission" | "Browser.grantPermissions" | "Browser.resetPermissions" => {
                self.permission_command(&command.method, params, reply);
            }
            "Storage.getCookies" | "Storage.setCookies" | "Storage.clearCookies" => {
                self.cookie_command(&command.method, params, None, reply);
            }
            "IO.read" | "IO.close" => self.stream_command(command, reply),
            method => self.refuse(reply, method),
        }
    }

    fn get_version(&mut self, reply: Reply) {
        let version = json!({
            "protocolVersion": "1.3", "product": self.facts.product, "revision": "",
            "userAgent": self.facts.user_agent, "jsVersion": "",
        });
        // The response comes from the browser, so that it proves that the browser lives.
        self.send(
            "session.status",
            json!({}),
            Box::new(move |browser, outcome| match outcome {
                Ok(_) => browser.succeed(reply, version),
                Err(error) => browser.fail(reply, &error.to_protocol()),
            }),
        );
    }

    fn attach_to_browser(&mut self, session: Option<&CdpSessionId>, reply: Reply) {
        let made = self.sessions.add(Session::new(session.cloned(), SessionTarget::Browser));
        let event =
            json!({"sessionId": made.as_str(), "targetInfo": browser_info(), "waitingForDebugger": false});
        self.send_event(session, "Target.attachedToTarget", &event);
        self.succeed(reply, json!({"sessionId": made.as_str()}));
    }

    /// The tabs of clients: all but the one that keeps the browser open.
    pub(super) fn visible_tabs(&self) -> Vec<String> {
        let is_shown = |tab: &&Context| self.facts.anchor.as_deref() != Some(tab.id.as_str());
        self.contexts.tabs().filter(is_shown).map(|tab| tab.id.clone()).collect()
    }

    pub(super) fn is_anchor(&self, context: &str) -> bool {
        self.facts.anchor.as_deref() == Some(context)
    }

    /// CDP's `TargetInfo` of a tab.
    pub(super) fn target_info(&self, tab: &str) -> Option<Value> {
        let context = self.contexts.find(tab).filter(|context| context.is_tab())?;
        let attached = !self.sessions.on_tab(tab).is_empty();
        // As in Chrome, a new tab has the URL that it was created with.
        let url = context.created_for.as_ref().unwrap_or(&context.url);
        let title = if context.title.is_empty() { url } else { &context.title };
        let mut info = json!({
            "targetId": tab, "type": "page", "title": title, "url": url, "attached": attached,
            "canAccessOpener": context.opener.is_some(), "browserContextId": context.user_context,
        });
        if let Some(opener) = &context.opener {
            info["openerId"] = json!(opener);
        }
        Some(info)
    }

    fn set_discover(&mut self, session: Option<&CdpSessionId>, on: bool, reply: Reply) {
        let Some(entry) = self.sessions.find_mut(session) else {
            return self.fail(reply, &ProtocolError::no_session());
        };
        let was = std::mem::replace(&mut entry.discovers, on);
        if on && !was {
            for tab in self.visible_tabs() {
                if let Some(info) = self.target_info(&tab) {
                    self.send_event(session, "Target.targetCreated", &json!({"targetInfo": info}));
                }
            }
        }
        self.succeed(reply, "{}");
    }

    fn set_auto_attach(&mut self, session: Option<&CdpSessionId>, params: &Value, reply: Reply) {
        let wanted = flag(params, "autoAttach").then(|| flag(params, "waitForDebuggerOnStart"));
        let Some(entry) = self.sessions.find_mut(session) else {
            return self.fail(reply, &ProtocolError::no_session());
        };
        let before = std::mem::replace(&mut entry.auto_attach, wanted);
        if wanted.is_some() && before.is_none() {
            for tab in self.visible_tabs() {
                self.attach_session(session, &tab, false);
            }
        }
        self.succeed(reply, "{}");
    }

    pub(super) fn get_target_info(&mut self, own: Option<&str>, params: &Value, reply: Reply) {
        let wanted = match text(params, "targetId") {
            "" => own.unwrap_or(BROWSER_TARGET),
            target => target,
        };
        let info = if wanted == BROWSER_TARGET { Some(browser_info()) } else { self.target_info(wanted) };
        match info {
            Some(info) => self.succeed(reply, json!({"targetInfo": info})),
            None => self.fail(reply, &ProtocolError::no_target()),
        }
    }

    fn attach_to_target(&mut self, session: Option<&CdpSessionId>, params: &Value, reply: Reply) {
        let target = text(params, "targetId");
        if target == BROWSER_TARGET {
            return self.attach_to_browser(session, reply);
        }
        if self.target_info(target).is_none() || self.is_anchor(target) {
            return self.fail(reply, &ProtocolError::no_target());
        }
        let made = self.attach_session(session, target, false);
        self.succeed(reply, json!({"sessionId": made.as_str()}));
    }

    /// Creates a CDP session on a tab.
    fn attach_session(&mut self, parent: Option<&CdpSessionId>, tab: &str, waits: bool) -> CdpSessionId {
        let mut session = Session::new(parent.cloned(), SessionTarget::Page(tab.to_owned()));
        session.is_waiting = waits;
        let made = self.sessions.add(session);
        let mut info = self.target_info(tab).unwrap_or_default();
        info["attached"] = json!(true);
        let event = json!({"sessionId": made.as_str(), "targetInfo": info, "waitingForDebugger": waits});
        self.send_event(parent, "Target.attachedToTarget", &event);
        made
    }

    pub(super) fn detach_from_target(&mut self, params: &Value, reply: Reply) {
        let session = CdpSessionId::new(text(params, "sessionId"));
        if self.sessions.find(Some(&session)).is_none() {
            return self.fail(reply, &ProtocolError::chrome(-32602, "No session with given id"));
        }
        self.succeed(reply, "{}");
        self.end_session(&session);
    }

    /// Ends a session and those below it, and undoes what they set up in the page.
    pub(super) fn end_session(&mut self, session: &CdpSessionId) {
        for child in self.sessions.children_of(session) {
            self.end_session(&child);
        }
        let Some(gone) = self.sessions.remove(session) else { return };
        self.end_pictures(session);
        let tab = gone.tab().map(str::to_owned);
        let params = json!({"sessionId": session.as_str(), "targetId": tab});
        self.send_event(gone.parent.as_ref(), "Target.detachedFromTarget", &params);
        for script in gone.scripts.into_values().flatten() {
            self.post("script.removePreloadScript", json!({"script": script}));
        }
        if let Some(fetch) = gone.fetch {
            self.remove_intercepts(fetch.intercepts);
        }
        self.release_paused_of(session);
        if let Some(tab) = tab {
            self.navigate_first_if_ready(&tab);
            self.release_waiting(&tab);
        }
    }

    /// A new tab: reports it to discovering sessions and attaches auto-attaching ones.
    pub(super) fn announce(&mut self, tab: &str, waits: bool) {
        let Some(info) = self.target_info(tab) else { return };
        for session in self.sessions.browser_sessions(|session| session.discovers) {
            let params = json!({"targetInfo": info});
            self.send_event(session.as_ref(), "Target.targetCreated", &params);
        }
        for parent in self.sessions.browser_sessions(|session| session.auto_attach.is_some()) {
            let pauses = self.sessions.find(parent.as_ref()).and_then(|one| one.auto_attach) == Some(true);
            self.attach_session(parent.as_ref(), tab, waits && pauses);
        }
    }

    pub(super) fn target_changed(&mut self, tab: &str) {
        if self.is_anchor(tab) {
            return;
        }
        let Some(info) = self.target_info(tab) else { return };
        for session in self.sessions.browser_sessions(|session| session.discovers) {
            let params = json!({"targetInfo": info});
            self.send_event(session.as_ref(), "Target.targetInfoChanged", &params);
        }
    }

    /// A tab is gone: ends its sessions and reports it.
    pub(super) fn tab_gone(&mut self, tab: &str) {
        self.drop_waiting(tab);
        for session in self.sessions.on_tab(tab) {
            self.end_session(&session);
        }
        for session in self.sessions.browser_sessions(|session| session.discovers) {
            self.send_event(session.as_ref(), "Target.targetDestroyed", &json!({"targetId": tab}));
        }
    }

    /// Opens an empty tab. Its first navigation waits until every session that auto-attaches has set the tab up.
    fn create_target(&mut self, params: &Value, reply: Reply) {
        let user_context = match text(params, "browserContextId") {
            "" => DEFAULT_USER_CONTEXT,
            context => context,
        };
        if user_context != DEFAULT_USER_CONTEXT && !self.user_contexts.contains(user_context) {
            return self.fail(reply, &ProtocolError::no_context(user_context));
        }
        let kind = if flag(params, "newWindow") { "window" } else { "tab" };
        // A tab in the background is hidden: its timers are slow and it draws no frames.
        let is_behind = flag(params, "background") || flag(params, "hidden");
        let create = json!({"type": kind, "background": is_behind, "userContext": user_context});
        let url = text(params, "url").to_owned();
        self.creating += 1;
        if !is_behind {
            self.active = None;
        }
        self.send(
            "browsingContext.create",
            create,
            Box::new(move |browser, outcome| match outcome {
                Ok(created) => {
                    browser.creating = browser.creating.saturating_sub(1);
                    let tab = text(&created, "context").to_owned();
                    browser.tab_created(&tab, &url);
                    browser.succeed(reply, json!({"targetId": tab}));
                }
                Err(error) => {
                    browser.creating = browser.creating.saturating_sub(1);
                    browser.fail(reply, &error.to_protocol());
                }
            }),
        );
    }

    fn tab_created(&mut self, tab: &str, url: &str) {
        if let Some(context) = self.contexts.find_mut(tab)
            && !matches!(url, "" | "about:blank")
        {
            context.first_url = Some(url.to_owned());
            context.created_for = Some(url.to_owned());
            self.target_changed(tab);
        }
        self.navigate_first_if_ready(tab);
    }

    /// Whether a session has still to set up a new tab.
    pub(super) fn is_tab_waiting(&self, tab: &str) -> bool {
        let waits = |session| self.sessions.find(Some(session)).is_some_and(|found| found.is_waiting);
        self.sessions.on_tab(tab).iter().any(waits)
    }

    /// Starts the first navigation of a new tab once no session waits.
    pub(super) fn navigate_first_if_ready(&mut self, tab: &str) {
        let waits = self.is_tab_waiting(tab);
        let Some(context) = self.contexts.find_mut(tab).filter(|_| !waits) else { return };
        let Some(url) = context.first_url.take() else { return };
        let params = json!({"context": tab, "url": url, "wait": "none"});
        self.post("browsingContext.navigate", params);
    }

    pub(super) fn close_target(&mut self, tab: &str, reply: Reply) {
        if self.target_info(tab).is_none() || self.is_anchor(tab) {
            return self.fail(reply, &ProtocolError::no_target());
        }
        let params = json!({"context": tab, "promptUnload": false});
        self.send(
            "browsingContext.close",
            params,
            Box::new(move |browser, outcome| match outcome {
                Ok(_) => browser.succeed(reply, json!({"success": true})),
                // It closed by itself meanwhile.
                Err(error) if error.is_document_gone() => browser.succeed(reply, json!({"success": true})),
                Err(error) => browser.fail(reply, &error.to_protocol()),
            }),
        );
    }

    pub(super) fn activate(&mut self, tab: &str, reply: Reply) {
        if self.target_info(tab).is_none() {
            return self.fail(reply, &ProtocolError::no_target());
        }
        self.active = Some(tab.to_owned());
        self.send_acknowledged("browsingContext.activate", json!({"context": tab}), reply);
    }

    fn create_context(&mut self, params: &Value, reply: Reply) {
        let mut create = json!({});
        let proxy = text(params, "proxyServer");
        if !proxy.is_empty() {
            let address = proxy.rsplit("://").next().unwrap_or(proxy);
            create["proxy"] = match proxy.starts_with("socks5") {
                true => json!({"proxyType": "manual", "socksProxy": address, "socksVersion": 5}),
                false => json!({"proxyType": "manual", "httpProxy": address, "sslProxy": address}),
            };
        }
        let made = move |browser: &mut Self, outcome: Result<Value, BidiError>| match outcome {
            Ok(made) => {
                let context = text(&made, "userContext").to_owned();
                browser.user_contexts.insert(context.clone());
                browser.succeed(reply, json!({"browserContextId": context}));
            }
            Err(error) => browser.fail(reply, &error.to_protocol()),
        };
        self.send("browser.createUserContext", create, Box::new(made));
    }

    fn dispose_context(&mut self, context: &str, reply: Reply) {
        if !self.user_contexts.contains(context) || context == DEFAULT_USER_CONTEXT {
            return self.fail(reply, &ProtocolError::no_context(context));
        }
        let name = context.to_owned();
        self.send(
            "browser.removeUserContext",
            json!({"userContext": context}),
            Box::new(move |browser, outcome| {
                if outcome.is_ok() {
                    browser.user_contexts.remove(&name);
                }
                browser.acknowledge(reply, outcome);
            }),
        );
    }
}

fn browser_info() -> Value {
    json!({
        "targetId": BROWSER_TARGET, "type": "browser", "title": "", "url": "", "attached": true,
        "canAccessOpener": false,
    })
}
