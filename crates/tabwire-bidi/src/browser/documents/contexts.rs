//! Events of browsing contexts: tabs and frames that come and go, and what their documents do.

use serde_json::{Value, json};

use crate::browser::EmulatedBrowser;
use crate::protocol::message::{BidiError, seconds, text};
use crate::protocol::script_text::{NAME, OWN_SANDBOX};
use crate::state::context::{Context, NavigationEnd};

impl EmulatedBrowser {
    pub(in crate::browser) fn context_event(&mut self, method: &str, params: &Value) {
        let context = text(params, "context").to_owned();
        match method {
            "browsingContext.contextCreated" => self.context_created(params),
            "browsingContext.contextDestroyed" => self.context_destroyed(&context),
            "browsingContext.navigationStarted" => self.navigation_started(&context, params),
            "browsingContext.navigationCommitted" => self.navigation_committed(&context, params),
            "browsingContext.navigationFailed" => {
                let message = text(params, "message").to_owned();
                self.navigation_ended(&context, params, NavigationEnd::Failed(message));
            }
            "browsingContext.navigationAborted" => {
                self.navigation_ended(&context, params, NavigationEnd::Aborted);
            }
            "browsingContext.fragmentNavigated" | "browsingContext.historyUpdated" => {
                self.navigated_within(&context, params);
            }
            "browsingContext.domContentLoaded" => self.document_parsed(&context, params),
            "browsingContext.load" => self.document_loaded(&context, params),
            "browsingContext.downloadWillBegin" => self.download_begins(&context, params),
            "browsingContext.downloadEnd" => self.download_ended(&context, params),
            "browsingContext.userPromptOpened" => self.prompt_opened(&context, params),
            "browsingContext.userPromptClosed" => self.prompt_closed(&context, params),
            _ => {}
        }
    }

    fn context_created(&mut self, info: &Value) {
        let Some(context) = Context::new(info) else { return };
        let (id, parent) = (context.id.clone(), context.parent.clone());
        let is_popup = context.opener.is_some();
        if !self.contexts.add(context) {
            return;
        }
        let Some(parent) = parent else {
            let is_ours = self.creating > 0 && !is_popup;
            if let Some(opener) = self.contexts.find(&id).and_then(|context| context.opener.clone()) {
                // It is in front now.
                self.active = None;
                self.window_opened(&opener, &id);
            }
            return self.announce(&id, is_ours || self.is_contained());
        };
        if let Some(tab) = self.contexts.tab_of(&id).map(|tab| tab.id.clone()) {
            self.tab_event(&tab, "Page.frameAttached", &json!({"frameId": id, "parentFrameId": parent}));
        }
        self.read_name(&id);
    }

    /// Reads the name of a frame, which BiDi does not report, so that it is known when the frame's document commits.
    fn read_name(&mut self, frame: &str) {
        let id = frame.to_owned();
        self.call_own(frame, NAME, &json!([]), move |browser, outcome| {
            let name = outcome.ok().and_then(|name| Some(name.get("value")?.as_str()?.to_owned()));
            if let (Some(name), Some(context)) = (name, browser.contexts.find_mut(&id)) {
                context.name = name;
            }
        });
    }

    /// A page opened a tab. Chrome announces that on the page.
    fn window_opened(&mut self, opener: &str, opened: &str) {
        let Some(tab) = self.contexts.tab_of(opener).map(|tab| tab.id.clone()) else { return };
        let url = self.contexts.find(opened).map(|context| context.url.clone()).unwrap_or_default();
        let params = json!({"url": url, "windowName": "", "windowFeatures": [], "userGesture": true});
        self.tab_event(&tab, "Page.windowOpen", &params);
    }

    fn context_destroyed(&mut self, id: &str) {
        let tab = self.contexts.tab_of(id).map(|tab| tab.id.clone());
        let mut below = self.contexts.subtree(id);
        below.reverse();
        for context in below {
            self.forget_context(&context);
        }
        let Some(tab) = tab else { return };
        if tab == id {
            self.close_input(id);
            if self.active.as_deref() == Some(id) {
                self.active = None;
            }
            return self.tab_gone(id);
        }
        self.tab_event(&tab, "Page.frameDetached", &json!({"frameId": id, "reason": "remove"}));
    }

    /// Removes a context and its realms, and fails what waits in them.
    fn forget_context(&mut self, id: &str) {
        let realms: Vec<String> = self.realms.in_context(id).map(|realm| realm.id.clone()).collect();
        for realm in realms {
            self.realm_destroyed(&realm);
        }
        self.fail_pending(&BidiError::destroyed(), |pending| pending.context.as_deref() == Some(id));
        self.fail_navigations_of(id);
        self.contexts.remove(id);
        self.idle_since.remove(id);
    }

    fn document_parsed(&mut self, id: &str, params: &Value) {
        let tab = self.lifecycle(id, "DOMContentLoaded", params);
        if let Some(tab) = tab.filter(|tab| tab == id) {
            self.tab_event(&tab, "Page.domContentEventFired", &json!({"timestamp": seconds(params)}));
            self.read_title(id);
        }
    }

    fn document_loaded(&mut self, id: &str, params: &Value) {
        let tab = self.lifecycle(id, "load", params);
        let Some(tab) = tab else { return };
        if tab == id {
            self.restore_cache(id);
            self.tab_event(&tab, "Page.loadEventFired", &json!({"timestamp": seconds(params)}));
            self.read_title(id);
        }
        if tab != id {
            self.read_name(id);
        }
        self.tab_event(&tab, "Page.frameStoppedLoading", &json!({"frameId": id}));
    }

    /// Records and sends a lifecycle event of the present document. Returns the tab.
    pub(in crate::browser) fn lifecycle(
        &mut self,
        id: &str,
        name: &'static str,
        params: &Value,
    ) -> Option<String> {
        let navigation = text(params, "navigation").to_owned();
        let context = self.contexts.find_mut(id)?;
        let is_present = navigation.is_empty() || navigation == context.loader;
        if !is_present || context.lifecycle.contains(&name) {
            return None;
        }
        context.lifecycle.push(name);
        let loader = context.loader.clone();
        let tab = self.contexts.tab_of(id)?.id.clone();
        self.send_lifecycle(&tab, id, &loader, name, seconds(params));
        Some(tab)
    }

    pub(in crate::browser) fn send_lifecycle(
        &mut self,
        tab: &str,
        frame: &str,
        loader: &str,
        name: &str,
        at: f64,
    ) {
        let params = json!({"frameId": frame, "loaderId": loader, "name": name, "timestamp": at});
        for session in self.sessions.on_tab(tab) {
            let receives = self
                .sessions
                .find(Some(&session))
                .is_some_and(|found| found.lifecycle && found.domains.contains("Page"));
            if receives {
                self.send_event(Some(&session), "Page.lifecycleEvent", &params);
            }
        }
    }

    /// Reads the title of a tab, which BiDi does not report.
    pub(in crate::browser) fn read_title(&mut self, tab: &str) {
        let has_prompt = self.contexts.find(tab).is_none_or(|context| context.has_prompt);
        if has_prompt || self.is_anchor(tab) {
            return;
        }
        let params = json!({
            "expression": "document.title", "target": {"context": tab, "sandbox": OWN_SANDBOX},
            "awaitPromise": false,
        });
        let id = tab.to_owned();
        let then = move |browser: &mut Self, outcome: Result<Value, BidiError>| {
            let value = outcome.unwrap_or_default();
            let title = value.pointer("/result/value").and_then(Value::as_str).unwrap_or_default();
            let Some(context) = browser.contexts.find_mut(&id) else { return };
            context.history.set_title(title);
            if context.title != title {
                title.clone_into(&mut context.title);
                browser.target_changed(&id);
            }
        };
        self.send_for(Some(tab), None, "script.evaluate", params, Box::new(then));
    }
}
