//! Navigations: commands of clients, and events of documents.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tabwire_cdp::ProtocolError;

use crate::browser::network::requests::cache_behavior;
use crate::browser::{EmulatedBrowser, Reply};
use crate::protocol::message::{BidiError, CONTEXT_DESTROYED, flag, seconds, text};
use crate::state::context::{Context, NavigationEnd};

/// How long no request may be active until the network counts as idle.
const IDLE: Duration = Duration::from_millis(500);

/// Navigations that have started and not ended, per context.
const STARTED: usize = 16;

/// The URL of the page that Firefox shows when a content process has crashed.
const CRASHED: &str = "about:tabcrashed";

/// The pages that Firefox shows instead of a document that cannot be loaded.
const ERROR_PAGES: &[&str] = &["about:neterror", "about:certerror", "about:blocked", "about:httpsonlyerror"];

/// A command of a client that waits until its navigation has committed or failed.
#[derive(Debug)]
pub(crate) struct WaitingNavigation {
    number: u64,
    reply: Reply,
    context: String,
    /// BiDi's id, once the browser has responded.
    navigation: Option<String>,
}

impl EmulatedBrowser {
    pub(in crate::browser) fn navigate(&mut self, tab: &str, params: &Value, reply: Reply) {
        let frame = match text(params, "frameId") {
            "" => tab,
            frame => frame,
        };
        if self.contexts.tab_of(frame).is_none_or(|found| found.id != tab) {
            return self.fail(reply, &ProtocolError::chrome(-32000, "No frame for given id found"));
        }
        let command = json!({"context": frame, "url": text(params, "url"), "wait": "none"});
        self.begin_navigation(frame, "browsingContext.navigate", command, reply);
    }

    /// Sends a command that navigates, and responds when the document has committed.
    fn begin_navigation(&mut self, context: &str, method: &str, command: Value, reply: Reply) {
        let number = self.next_number();
        let waiting = WaitingNavigation { number, reply, context: context.to_owned(), navigation: None };
        self.navigations.push(waiting);
        let then = move |browser: &mut Self, outcome: Result<Value, BidiError>| {
            browser.navigation_responded(number, outcome);
        };
        self.send(method, command, Box::new(then));
    }

    fn navigation_responded(&mut self, number: u64, outcome: Result<Value, BidiError>) {
        let Some(at) = self.navigations.iter().position(|waiting| waiting.number == number) else { return };
        let result = match outcome {
            Ok(result) => result,
            Err(error) => {
                let waiting = self.navigations.remove(at);
                if error.name == "invalid argument" {
                    let message = "Cannot navigate to invalid URL";
                    return self.fail(waiting.reply, &ProtocolError::chrome(-32000, message));
                }
                let text = error_text(&error.message);
                let result = json!({"frameId": waiting.context, "loaderId": "failed", "errorText": text});
                return self.succeed(waiting.reply, result);
            }
        };
        let navigation = text(&result, "navigation").to_owned();
        let context = self.navigations[at].context.clone();
        let ended = self.contexts.find(&context).and_then(|found| found.find_end(&navigation).cloned());
        match ended {
            _ if navigation.is_empty() => {
                let waiting = self.navigations.remove(at);
                self.succeed(waiting.reply, json!({"frameId": context}));
            }
            Some(end) => {
                let waiting = self.navigations.remove(at);
                self.respond_navigated(waiting, &navigation, &end);
            }
            None => self.navigations[at].navigation = Some(navigation),
        }
    }

    fn respond_navigated(&mut self, waiting: WaitingNavigation, navigation: &str, end: &NavigationEnd) {
        let mut result = json!({"frameId": waiting.context, "loaderId": navigation});
        match end {
            NavigationEnd::Committed => {}
            NavigationEnd::SameDocument => result = json!({"frameId": waiting.context}),
            NavigationEnd::Failed(message) => result["errorText"] = json!(error_text(message)),
            NavigationEnd::Aborted => result["errorText"] = json!("net::ERR_ABORTED"),
            NavigationEnd::Download => {
                result["errorText"] = json!("net::ERR_ABORTED");
                result["isDownload"] = json!(true);
            }
        }
        self.succeed(waiting.reply, result);
    }

    /// A navigation has ended: records how, and responds to the command that waits for it.
    fn end_navigation(&mut self, context: &str, navigation: &str, end: &NavigationEnd) {
        if let Some(found) = self.contexts.find_mut(context) {
            found.end_navigation(navigation, end.clone());
        }
        let waits = |waiting: &WaitingNavigation| {
            waiting.context == context && waiting.navigation.as_deref() == Some(navigation)
        };
        while let Some(at) = self.navigations.iter().position(waits) {
            let waiting = self.navigations.remove(at);
            self.respond_navigated(waiting, navigation, end);
        }
    }

    /// A context is gone: the navigations in it end.
    pub(in crate::browser) fn fail_navigations_of(&mut self, context: &str) {
        while let Some(at) = self.navigations.iter().position(|waiting| waiting.context == context) {
            let waiting = self.navigations.remove(at);
            self.fail(waiting.reply, &ProtocolError::chrome(-32000, CONTEXT_DESTROYED));
        }
    }

    /// The browser is gone: what waits for an event gets no more.
    pub(in crate::browser) fn fail_waiting(&mut self) {
        while let Some(waiting) = self.navigations.pop() {
            self.fail(waiting.reply, &crate::browser::gone());
        }
        self.fail_input();
    }

    pub(in crate::browser) fn reload(&mut self, tab: &str, params: &Value, reply: Reply) {
        if let Some(context) = self.contexts.find_mut(tab) {
            context.history.replaces = true;
        }
        if flag(params, "ignoreCache") {
            // Firefox takes no such argument, so the cache is off until the page has loaded.
            if let Some(context) = self.contexts.find_mut(tab) {
                context.reloads_past_cache = true;
            }
            self.post("network.setCacheBehavior", cache_behavior(tab, true));
        }
        let command = json!({"context": tab, "wait": "none"});
        let then = move |browser: &mut Self, outcome: Result<Value, BidiError>| match outcome {
            // Another navigation took the place of this one. Chrome has responded before.
            Err(error) if error.message.contains("NS_BINDING_ABORTED") => browser.succeed(reply, "{}"),
            outcome => browser.acknowledge(reply, outcome),
        };
        self.send("browsingContext.reload", command, Box::new(then));
    }

    /// The cache is as clients want it, after a reload past it.
    pub(in crate::browser) fn restore_cache(&mut self, tab: &str) {
        let Some(context) = self.contexts.find_mut(tab) else { return };
        if std::mem::take(&mut context.reloads_past_cache) {
            let behavior = cache_behavior(tab, context.has_cache_off);
            self.post("network.setCacheBehavior", behavior);
        }
    }

    pub(in crate::browser) fn get_history(&mut self, tab: &str, reply: Reply) {
        let history = self.contexts.find(tab).map(|context| context.history.to_value());
        self.succeed(reply, history.unwrap_or_else(|| json!({"currentIndex": 0, "entries": []})));
    }

    pub(in crate::browser) fn traverse(&mut self, tab: &str, params: &Value, reply: Reply) {
        let wanted = params.get("entryId").and_then(Value::as_i64);
        let Some(context) = self.contexts.find_mut(tab) else {
            return self.fail(reply, &ProtocolError::no_target());
        };
        let position = context.history.entries.iter().position(|entry| Some(entry.id) == wanted);
        let Some(position) = position else {
            return self.fail(reply, &ProtocolError::invalid_params("No entry with passed id"));
        };
        let delta = i64::try_from(position).unwrap_or(0) - i64::try_from(context.history.index).unwrap_or(0);
        if delta == 0 {
            return self.reload(tab, &json!({}), reply);
        }
        context.history.target = Some(position);
        let command = json!({"context": tab, "delta": delta});
        let tab = tab.to_owned();
        self.send(
            "browsingContext.traverseHistory",
            command,
            Box::new(move |browser, outcome| {
                if outcome.is_err()
                    && let Some(context) = browser.contexts.find_mut(&tab)
                {
                    context.history.target = None;
                }
                browser.acknowledge(reply, outcome);
            }),
        );
    }

    pub(in crate::browser) fn navigation_started(&mut self, id: &str, params: &Value) {
        let (navigation, url) = (text(params, "navigation"), text(params, "url"));
        let Some(context) = self.contexts.find_mut(id) else { return };
        if context.started.len() >= STARTED {
            context.started.pop_front();
        }
        context.started.push_back((navigation.to_owned(), url.to_owned()));
        let Some(tab) = self.contexts.tab_of(id).map(|tab| tab.id.clone()) else { return };
        let event = json!({
            "frameId": id, "url": url, "loaderId": navigation, "navigationType": "differentDocument",
        });
        self.tab_event(&tab, "Page.frameStartedNavigating", &event);
        self.tab_event(&tab, "Page.frameStartedLoading", &json!({"frameId": id}));
    }

    pub(in crate::browser) fn navigation_committed(&mut self, id: &str, params: &Value) {
        let (navigation, url) = (text(params, "navigation"), text(params, "url"));
        if url.starts_with(CRASHED) {
            return self.tab_crashed(id);
        }
        let Some(context) = self.contexts.find_mut(id) else { return };
        let wanted = context.started.iter().rev().find(|(started, _)| started == navigation);
        let is_error = ERROR_PAGES.iter().any(|page| url.starts_with(page));
        let unreachable = wanted.filter(|_| is_error).map(|(_, wanted)| wanted.clone());
        // A background tab whose process has crashed becomes blank, and shows the crash when it is in front.
        let may_be_crash = wanted.is_none() && url == "about:blank" && context.url != url;
        // Chrome's name of its error page, which clients know.
        let url = if is_error { "chrome-error://chromewebdata/" } else { url };
        url.clone_into(&mut context.url);
        navigation.clone_into(&mut context.loader);
        context.lifecycle = vec!["init", "commit"];
        context.requests.clear();
        let was_crashed = std::mem::take(&mut context.is_crashed);
        context.history.committed(url);
        self.idle_since.remove(id);
        let Some(tab) = self.contexts.tab_of(id).map(|tab| tab.id.clone()) else { return };
        if was_crashed && !may_be_crash {
            for session in self.sessions.on_tab(&tab) {
                self.send_event(Some(&session), "Inspector.targetReloadedAfterCrash", &json!({}));
            }
        }
        if tab == id {
            self.forget_known_document(id);
        }
        self.send_lifecycle(&tab, id, navigation, "init", seconds(params));
        if let Some(mut frame) = self.describe_frame(id) {
            if let Some(unreachable) = unreachable {
                frame["unreachableUrl"] = json!(unreachable);
            }
            self.tab_event(&tab, "Page.frameNavigated", &json!({"frame": frame, "type": "Navigation"}));
        }
        self.send_lifecycle(&tab, id, navigation, "commit", seconds(params));
        self.end_navigation(id, navigation, &NavigationEnd::Committed);
        if tab == id {
            self.target_changed(id);
        }
        if tab == id && may_be_crash {
            self.look_for_crash(id);
        }
    }

    /// The clients of a tab do not know its new document yet.
    fn forget_known_document(&mut self, tab: &str) {
        for session in self.sessions.on_tab(tab) {
            if let Some(session) = self.sessions.find_mut(Some(&session)) {
                session.knows_document = false;
            }
        }
    }

    /// Firefox runs no scripts in the page that stands for a crashed one.
    fn look_for_crash(&mut self, tab: &str) {
        let id = tab.to_owned();
        self.call_own(tab, "() => 0", &json!([]), move |browser, outcome| {
            if outcome.is_err_and(|error| error.message.contains("parent process")) {
                browser.tab_crashed(&id);
            }
        });
    }

    pub(in crate::browser) fn navigation_ended(&mut self, id: &str, params: &Value, end: NavigationEnd) {
        let navigation = text(params, "navigation").to_owned();
        self.end_navigation(id, &navigation, &end);
        if let Some(context) = self.contexts.find_mut(id) {
            context.history.target = None;
        }
        self.restore_cache(id);
        if let Some(tab) = self.contexts.tab_of(id).map(|tab| tab.id.clone()) {
            self.tab_event(&tab, "Page.frameStoppedLoading", &json!({"frameId": id}));
        }
    }

    pub(in crate::browser) fn navigated_within(&mut self, id: &str, params: &Value) {
        let url = text(params, "url");
        let Some(context) = self.contexts.find_mut(id) else { return };
        url.clone_into(&mut context.url);
        context.history.committed(url);
        let navigation = text(params, "navigation").to_owned();
        if !navigation.is_empty() {
            self.end_navigation(id, &navigation, &NavigationEnd::SameDocument);
        }
        let Some(tab) = self.contexts.tab_of(id).map(|tab| tab.id.clone()) else { return };
        let event = json!({"frameId": id, "url": url, "navigationType": "other"});
        self.tab_event(&tab, "Page.navigatedWithinDocument", &event);
        if tab == id {
            self.target_changed(id);
        }
    }

    fn tab_crashed(&mut self, id: &str) {
        let Some(tab) = self.contexts.tab_of(id).map(|tab| tab.id.clone()) else { return };
        if let Some(context) = self.contexts.find_mut(&tab) {
            context.is_crashed = true;
        }
        self.fail_pending(&BidiError::destroyed(), |pending| pending.context.as_deref() == Some(id));
        for session in self.sessions.on_tab(&tab) {
            self.send_event(Some(&session), "Inspector.targetCrashed", &json!({}));
        }
        for session in self.sessions.browser_sessions(|session| session.discovers) {
            let params = json!({"targetId": tab, "status": "crashed", "errorCode": 0});
            self.send_event(session.as_ref(), "Target.targetCrashed", &params);
        }
    }

    /// CDP's `Frame`.
    pub(in crate::browser) fn describe_frame(&self, id: &str) -> Option<Value> {
        let context = self.contexts.find(id)?;
        let origin = self.origin_of(context);
        let mut frame = json!({
            "id": id, "loaderId": context.loader, "url": context.url, "domainAndRegistry": "",
            "securityOrigin": origin, "mimeType": "text/html", "name": context.name,
            "secureContextType": "Secure", "crossOriginIsolatedContextType": "NotIsolated",
            "gatedAPIFeatures": [],
        });
        if let Some(parent) = &context.parent {
            frame["parentId"] = json!(parent);
        }
        Some(frame)
    }

    /// The origin of a document. That of a realm is exact; the URL decides while no realm is known.
    fn origin_of(&self, context: &Context) -> String {
        if let Some(realm) = self.realms.main_of(&context.id) {
            return realm.origin.clone();
        }
        // An empty document has the origin of the frame above, unless its realm says otherwise.
        let above = context.parent.as_ref().and_then(|parent| self.contexts.find(parent));
        if let Some(above) = above.filter(|_| context.url.starts_with("about:")) {
            return self.origin_of(above);
        }
        let Some((scheme, rest)) = context.url.split_once("://") else { return "null".to_owned() };
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        format!("{scheme}://{host}")
    }

    pub(in crate::browser) fn frame_tree(&self, id: &str) -> Option<Value> {
        let frame = self.describe_frame(id)?;
        let below: Vec<String> = self.contexts.children_of(id).map(|child| child.id.clone()).collect();
        let children: Vec<Value> = below.iter().filter_map(|child| self.frame_tree(child)).collect();
        let mut tree = json!({"frame": frame});
        if !children.is_empty() {
            tree["childFrames"] = json!(children);
        }
        Some(tree)
    }

    pub(in crate::browser) fn has_unreported_idle(&self) -> bool {
        self.contexts.all().any(is_unreported)
    }

    pub(in crate::browser) fn report_idle_networks(&mut self, now: Instant) {
        let waiting: Vec<(String, bool)> = self
            .contexts
            .all()
            .filter(|context| is_unreported(context))
            .map(|context| (context.id.clone(), context.requests.is_empty()))
            .collect();
        for (id, is_quiet) in waiting {
            if !is_quiet {
                self.idle_since.remove(&id);
                continue;
            }
            let since = *self.idle_since.entry(id.clone()).or_insert(now);
            if now.saturating_duration_since(since) >= IDLE {
                self.idle_since.remove(&id);
                self.lifecycle(&id, "networkIdle", &json!({}));
            }
        }
    }
}

fn is_unreported(context: &Context) -> bool {
    context.lifecycle.contains(&"DOMContentLoaded") && !context.lifecycle.contains(&"networkIdle")
}

/// Chrome's error text for a reason of Firefox.
pub(in crate::browser) fn error_text(message: &str) -> String {
    const TEXTS: &[(&str, &str)] = &[
        ("NS_ERROR_UNKNOWN_HOST", "net::ERR_NAME_NOT_RESOLVED"),
        ("dnsNotFound", "net::ERR_NAME_NOT_RESOLVED"),
        ("NS_ERROR_CONNECTION_REFUSED", "net::ERR_CONNECTION_REFUSED"),
        ("connectionFailure", "net::ERR_CONNECTION_REFUSED"),
        ("NS_ERROR_NET_RESET", "net::ERR_CONNECTION_RESET"),
        ("netReset", "net::ERR_CONNECTION_RESET"),
        ("NS_ERROR_NET_TIMEOUT", "net::ERR_TIMED_OUT"),
        ("NS_ERROR_NET_INTERRUPT", "net::ERR_CONNECTION_CLOSED"),
        ("NS_ERROR_NET_EMPTY_RESPONSE", "net::ERR_EMPTY_RESPONSE"),
        ("NS_ERROR_OFFLINE", "net::ERR_INTERNET_DISCONNECTED"),
        ("netOffline", "net::ERR_INTERNET_DISCONNECTED"),
        ("NS_ERROR_REDIRECT_LOOP", "net::ERR_TOO_MANY_REDIRECTS"),
        ("NS_ERROR_UNKNOWN_PROTOCOL", "net::ERR_UNKNOWN_URL_SCHEME"),
        ("NS_ERROR_FILE_NOT_FOUND", "net::ERR_FILE_NOT_FOUND"),
        ("NS_ERROR_PROXY", "net::ERR_PROXY_CONNECTION_FAILED"),
        ("NS_BINDING_ABORTED", "net::ERR_ABORTED"),
        ("NS_ERROR_ABORT", "net::ERR_BLOCKED_BY_CLIENT"),
        ("deniedPortAccess", "net::ERR_UNSAFE_PORT"),
        ("NS_ERROR_MALFORMED_URI", "net::ERR_INVALID_URL"),
        ("CERT", "net::ERR_CERT_INVALID"),
        ("SEC_ERROR", "net::ERR_CERT_INVALID"),
        ("SSL_ERROR", "net::ERR_SSL_PROTOCOL_ERROR"),
    ];
    let found = TEXTS.iter().find(|(reason, _)| message.contains(reason));
    found.map_or_else(|| format!("net::ERR_FAILED ({message})"), |(_, text)| (*text).to_owned())
}
