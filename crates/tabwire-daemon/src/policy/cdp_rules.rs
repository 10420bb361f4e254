//! The policy check of a CDP client's commands and events, by the frames, requests and sites that each method touches.

use serde::Deserialize;
use serde_json::Value;
use tabwire_mux::{
    GuardedCommand, GuardedEvent, GuardedParts, GuardedScope, NamedFrame, SeenFrames, SeenRequest,
};
use tabwire_policy::{Effect, EventReach, MethodRule, PageUrl, Profile, Reach};

use crate::policy::cdp_guard::CommandGuard;

/// Parameters that make a method touch more than its rule says.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ScopeParams {
    script_to_evaluate_on_load: Option<String>,
    /// As the protocol spells it.
    grant_univeral_access: Option<Value>,
    proxy_server: Option<Value>,
    origins_with_universal_network_access: Option<Value>,
    accept: Option<bool>,
    url: Option<Value>,
    method: Option<Value>,
    post_data: Option<Value>,
    headers: Option<Value>,
    response_code: Option<Value>,
    response_phrase: Option<Value>,
    response_headers: Option<Value>,
    binary_response_headers: Option<Value>,
    auth_challenge_response: Option<AuthResponse>,
    security_origin: Option<String>,
    storage_key: Option<String>,
    storage_id: Option<StorageName>,
}

#[derive(Deserialize)]
struct AuthResponse {
    response: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StorageName {
    security_origin: Option<String>,
    storage_key: Option<String>,
}

impl ScopeParams {
    /// Whether the command reaches documents or sites that it does not name.
    fn reaches_every_site(&self, method: &str) -> bool {
        let is_set = |value: &Option<Value>| {
            value.as_ref().is_some_and(|value| !matches!(value, Value::Null | Value::Bool(false)))
        };
        match method {
            "Page.reload" => self.script_to_evaluate_on_load.as_ref().is_some_and(|code| !code.is_empty()),
            // `grantUniveralAccess` is spelt so in CDP. With it, the world reads documents of every origin.
            "Page.createIsolatedWorld" => is_set(&self.grant_univeral_access),
            "Target.createBrowserContext" => {
                is_set(&self.proxy_server) || is_set(&self.origins_with_universal_network_access)
            }
            _ => false,
        }
    }

    /// Whether the command changes a paused request or response.
    fn rewrites(&self) -> bool {
        let changes = [
            &self.url,
            &self.method,
            &self.post_data,
            &self.headers,
            &self.response_code,
            &self.response_phrase,
            &self.response_headers,
            &self.binary_response_headers,
        ];
        let auth = self.auth_challenge_response.as_ref().and_then(|auth| auth.response.as_deref());
        changes.iter().any(|value| value.is_some()) || auth == Some("ProvideCredentials")
    }

    /// The sites whose storage the command names.
    fn storage_sites(&self) -> impl Iterator<Item = &str> {
        let named = self.storage_id.as_ref();
        let keys = [
            self.security_origin.as_deref(),
            self.storage_key.as_deref(),
            named.and_then(|named| named.security_origin.as_deref()),
            named.and_then(|named| named.storage_key.as_deref()),
        ];
        // The part after `^` in a storage key names the embedding sites.
        keys.into_iter().flatten().map(|key| key.split('^').next().unwrap_or_default())
    }
}

impl CommandGuard {
    /// Judges a command, or its response when there are no parameters.
    pub(crate) fn check_client(&self, command: &GuardedCommand<'_>) -> Result<(), String> {
        let rule = MethodRule::of(command.method);
        let params: ScopeParams = match command.params.map(serde_json::from_str) {
            None => ScopeParams::default(),
            Some(Ok(params)) => params,
            Some(Err(error)) => {
                return Err(format!("Its parameters do not match the protocol: {error}."));
            }
        };
        if params.reaches_every_site(command.method) {
            self.judge(&PageUrl::Everywhere, rule.effect)?;
        }
        if command.parts.names.is_some_and(|names| names.backend_node_id.is_some()) {
            self.judge_process(command, rule.effect)?;
        }
        match rule.reach {
            Reach::Refused if self.profile == Profile::Open => Ok(()),
            Reach::Refused => Err(format!("{} is refused in guarded sessions.", command.method)),
            Reach::Setting => Ok(()),
            Reach::EverySite => self.judge(&PageUrl::Everywhere, rule.effect),
            Reach::Navigation => self.judge_navigation(command),
            Reach::Frame => self.judge_named_frame(&command.scope, &command.parts, rule.effect),
            // A page is blocked while its dialog is open, and dismissing the dialog has no effect on it.
            Reach::Document
                if command.method == "Page.handleJavaScriptDialog" && params.accept != Some(true) =>
            {
                Ok(())
            }
            Reach::Document => self.judge_document(command, &params, rule.effect),
            Reach::Page => self.judge_frames(&command.scope, &command.parts, true, rule.effect),
            Reach::Request => self.judge_request(command, &params, rule.effect),
            Reach::Stream => self.judge_stream(&command.parts),
        }
    }

    /// Judges the destination, and the frame that embeds the navigated one.
    fn judge_navigation(&self, command: &GuardedCommand<'_>) -> Result<(), String> {
        if command.params.is_none() {
            return Ok(());
        }
        if command.method == "Page.navigateToHistoryEntry" {
            let Some(url) = command.parts.history_entry() else {
                return Err("The history entry is unknown. Call Page.getNavigationHistory first.".to_owned());
            };
            return self.judge(&PageUrl::parse(url), Effect::Reads);
        }
        self.judge_named(command.params)?;
        // The embedding page can navigate the frame itself, so the right to change it is needed.
        match command.parts.embedder() {
            None => Ok(()),
            Some(Some(url)) => self.judge_urls(&[url], Effect::Changes),
            Some(None) => Err("The named frame is unknown.".to_owned()),
        }
    }

    /// Judges the named frame, or the main one. An unknown frame may be any in the process.
    fn judge_named_frame(
        &self,
        place: &GuardedScope<'_>,
        parts: &GuardedParts<'_>,
        effect: Effect,
    ) -> Result<(), String> {
        match parts.named_frame() {
            NamedFrame::Main => self.judge_place(place, effect),
            NamedFrame::Known { urls, is_main } => {
                if is_main {
                    self.judge_place(place, effect)?;
                }
                self.judge_urls(&urls, effect)
            }
            NamedFrame::Unknown => self.judge_frames(place, parts, false, effect),
            NamedFrame::Missing => Err("The named frame is unknown or gone.".to_owned()),
        }
    }

    fn judge_document(
        &self,
        command: &GuardedCommand<'_>,
        params: &ScopeParams,
        effect: Effect,
    ) -> Result<(), String> {
        for site in params.storage_sites() {
            self.judge(&PageUrl::parse(site), effect)?;
        }
        // A loaded resource is judged like the body of its request.
        if matches!(command.method, "Page.getResourceContent" | "Page.searchInResource") {
            self.judge_named(command.params)?;
        }
        if let Some(url) = command.parts.source() {
            self.judge_source(url)?;
        }
        self.judge_frames(&command.scope, &command.parts, false, effect)
    }

    /// Judges the origin of a script or style sheet. One without a URL belongs to the document.
    fn judge_source(&self, url: Option<&str>) -> Result<(), String> {
        match url {
            Some(url) if url.starts_with("http") => self.judge(&PageUrl::parse(url), Effect::Reads),
            Some(_) => Ok(()),
            None => self.judge(&PageUrl::Everywhere, Effect::Reads),
        }
    }

    /// Judges every frame of the target's process, or of the whole page.
    fn judge_frames(
        &self,
        place: &GuardedScope<'_>,
        parts: &GuardedParts<'_>,
        is_all: bool,
        effect: Effect,
    ) -> Result<(), String> {
        self.judge_place(place, effect)?;
        if matches!(place, GuardedScope::Browser) {
            return Ok(());
        }
        let key = parts.target().zip(parts.version());
        if key.is_some_and(|(target, version)| self.is_remembered(target, is_all, version)) {
            return Ok(());
        }
        let rulebook = self.store.rulebook();
        let seen = if is_all { parts.all_frames() } else { parts.own_frames() };
        self.judge_seen(seen, effect)?;
        if let Some((target, version)) = key {
            self.remember(target, is_all, version, rulebook);
        }
        Ok(())
    }

    fn judge_seen(&self, seen: Option<SeenFrames<'_>>, effect: Effect) -> Result<(), String> {
        match seen {
            Some(seen) => {
                self.judge_urls(&seen.urls, effect)?;
                // A frame with an unknown URL may be of any site.
                if seen.has_unknown { self.judge(&PageUrl::Everywhere, effect) } else { Ok(()) }
            }
            None if self.profile == Profile::Open => Ok(()),
            None => Err("The frames of this page are unknown, so its content is withheld. Retry.".to_owned()),
        }
    }

    fn judge_urls(&self, urls: &[&str], effect: Effect) -> Result<(), String> {
        urls.iter().try_for_each(|url| {
            let verdict = self.judge(&PageUrl::parse(url), effect);
            verdict.map_err(|why| format!("It concerns a frame that is not granted. {why}"))
        })
    }

    /// Backend node ids are numbered per process, so an id may be an element of any document of the same site.
    fn judge_process(&self, command: &GuardedCommand<'_>, effect: Effect) -> Result<(), String> {
        self.judge_seen(command.parts.process_frames(), effect)
    }

    /// Judges the URLs of a request, with its redirects. Continuing it unchanged or failing it is always allowed.
    fn judge_request(
        &self,
        command: &GuardedCommand<'_>,
        params: &ScopeParams,
        effect: Effect,
    ) -> Result<(), String> {
        let is_unchanged = match command.method {
            "Fetch.failRequest" => true,
            "Fetch.continueRequest" | "Fetch.continueResponse" | "Fetch.continueWithAuth" => {
                !params.rewrites()
            }
            _ => false,
        };
        if is_unchanged {
            return Ok(());
        }
        if params.url.is_some() {
            self.judge_named(command.params)?;
        }
        let Some(request) = command.parts.request().filter(|request| !request.is_cut) else {
            return Err("The named request is unknown.".to_owned());
        };
        for url in hops(request) {
            self.judge(&PageUrl::parse(url), effect)?;
        }
        let changes = params.rewrites() || effect == Effect::Changes;
        let requester = request.frame.as_deref().filter(|_| changes && !request.is_document);
        match requester.map(|frame| command.parts.frame(frame)) {
            None => Ok(()),
            // The response runs or shows in the frame that sent the request.
            Some(Some(urls)) => self.judge_urls(&urls, effect),
            Some(None) => self.judge_frames(&command.scope, &command.parts, false, effect),
        }
    }

    fn judge_stream(&self, parts: &GuardedParts<'_>) -> Result<(), String> {
        let Some(urls) = parts.stream() else {
            return Err("The stream that it names did not come from a command of this session.".to_owned());
        };
        urls.iter().try_for_each(|url| match &**url {
            "*" => self.judge(&PageUrl::Everywhere, Effect::Reads),
            url => self.judge(&PageUrl::parse(url), Effect::Reads),
        })
    }

    /// Whether a client may receive an event.
    pub(crate) fn may_client_receive(&self, event: &GuardedEvent<'_>, reach: EventReach) -> bool {
        let frames =
            |is_all: bool| self.judge_frames(&event.scope, &event.parts, is_all, Effect::Reads).is_ok();
        let is_source_known = || event.parts.source().is_none_or(|url| self.judge_source(url).is_ok());
        // These events hold the URL of a file, which can be of another site than the frame that loads it.
        let is_source = matches!(
            event.method,
            "Debugger.scriptParsed" | "Debugger.scriptFailedToParse" | "CSS.styleSheetAdded"
        );
        if is_source && !is_source_known() {
            return false;
        }
        match reach {
            EventReach::Plain => true,
            EventReach::EverySite => self.judge(&PageUrl::Everywhere, Effect::Reads).is_ok(),
            EventReach::Document if event.method == "Log.entryAdded" => {
                self.may_receive_log(event) && frames(false)
            }
            EventReach::Document => frames(false),
            EventReach::Page => frames(true),
            EventReach::Frame if event.parts.named_frame() == NamedFrame::Main => frames(false),
            EventReach::Frame => self.judge_named_frame(&event.scope, &event.parts, Effect::Reads).is_ok(),
            EventReach::Request => event.parts.request().is_some_and(|request| {
                let may_know = |url: &&str| self.judge(&PageUrl::parse(url), Effect::Reads).is_ok();
                let frame = request.frame.as_deref().filter(|_| !request.is_document);
                let requester = frame.map(|frame| event.parts.frame(frame).unwrap_or_default());
                let is_requester_known =
                    requester.is_none_or(|urls| !urls.is_empty() && urls.iter().all(may_know));
                !request.is_cut && is_requester_known && hops(request).all(|url| may_know(&url))
            }),
        }
    }

    /// An entry of the log may be about a request, which it names by its URL.
    fn may_receive_log(&self, event: &GuardedEvent<'_>) -> bool {
        #[derive(Deserialize)]
        struct LogEntryAdded {
            params: Params,
        }
        #[derive(Deserialize)]
        struct Params {
            entry: Entry,
        }
        #[derive(Deserialize)]
        struct Entry {
            url: Option<String>,
        }
        let event = serde_json::from_slice::<LogEntryAdded>(event.frame);
        event.is_ok_and(|event| {
            event.params.entry.url.is_none_or(|url| self.judge(&PageUrl::parse(&url), Effect::Reads).is_ok())
        })
    }
}

/// The URLs of a request and its redirects. The content of a `data:` URL is in the page already.
fn hops(request: &SeenRequest) -> impl Iterator<Item = &str> {
    request.hops.iter().map(|url| &**url).filter(|url| *url != "data:")
}
