//! What a bare CDP client may send and hear, judged by the frames, requests and sites that each method touches.

use serde::Deserialize;
use serde_json::Value;
use tabwire_mux::{
    GuardedCommand, GuardedEvent, GuardedParts, GuardedPlace, NamedFrame, SeenFrames, SeenRequest,
};
use tabwire_policy::{Address, Effect, EventReach, MethodRule, Profile, Reach};

use crate::command_guard::CommandGuard;

/// Parameters that make a method touch more than its row says.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Weighty {
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
    auth_challenge_response: Option<AuthAnswer>,
    security_origin: Option<String>,
    storage_key: Option<String>,
    storage_id: Option<StorageName>,
}

#[derive(Deserialize)]
struct AuthAnswer {
    response: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StorageName {
    security_origin: Option<String>,
    storage_key: Option<String>,
}

impl Weighty {
    /// Whether it reaches documents or sites that nothing names.
    fn reaches_every_site(&self, method: &str) -> bool {
        let is_set = |value: &Option<Value>| {
            value.as_ref().is_some_and(|value| !matches!(value, Value::Null | Value::Bool(false)))
        };
        match method {
            "Page.reload" => self.script_to_evaluate_on_load.as_ref().is_some_and(|code| !code.is_empty()),
            "Page.createIsolatedWorld" => is_set(&self.grant_univeral_access),
            "Target.createBrowserContext" => {
                is_set(&self.proxy_server) || is_set(&self.origins_with_universal_network_access)
            }
            _ => false,
        }
    }

    /// Whether a held request or response goes on otherwise than it is.
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
        let answer = self.auth_challenge_response.as_ref().and_then(|answer| answer.response.as_deref());
        changes.iter().any(|value| value.is_some()) || answer == Some("ProvideCredentials")
    }

    /// Sites whose storage is named.
    fn storage_sites(&self) -> impl Iterator<Item = &str> {
        let named = self.storage_id.as_ref();
        let keys = [
            self.security_origin.as_deref(),
            self.storage_key.as_deref(),
            named.and_then(|named| named.security_origin.as_deref()),
            named.and_then(|named| named.storage_key.as_deref()),
        ];
        // What follows `^` in a storage key is about the sites it is embedded in.
        keys.into_iter().flatten().map(|key| key.split('^').next().unwrap_or_default())
    }
}

impl CommandGuard {
    /// Judges a command, or its answer when it has no parameters.
    pub(crate) fn check_bare(&self, command: &GuardedCommand<'_>) -> Result<(), String> {
        let rule = MethodRule::of(command.method);
        let weighty: Weighty = match command.params.map(serde_json::from_str) {
            None => Weighty::default(),
            Some(Ok(weighty)) => weighty,
            Some(Err(error)) => {
                return Err(format!("Its parameters are not as the protocol has them: {error}."));
            }
        };
        if weighty.reaches_every_site(command.method) {
            self.judge(&Address::Everywhere, rule.effect)?;
        }
        if command.parts.names.is_some_and(|names| names.backend_node_id.is_some()) {
            self.judge_process(command, rule.effect)?;
        }
        match rule.reach {
            Reach::Refused if self.profile == Profile::Open => Ok(()),
            Reach::Refused => Err(format!("{} is refused in guarded sessions.", command.method)),
            Reach::Setting => Ok(()),
            Reach::EverySite => self.judge(&Address::Everywhere, rule.effect),
            Reach::Navigation => self.judge_navigation(command),
            Reach::Frame => self.judge_named_frame(&command.place, &command.parts, rule.effect),
            // No page goes on while its dialog is open, and to say no to one is to do nothing.
            Reach::Document
                if command.method == "Page.handleJavaScriptDialog" && weighty.accept != Some(true) =>
            {
                Ok(())
            }
            Reach::Document => self.judge_document(command, &weighty, rule.effect),
            Reach::Page => self.judge_frames(&command.place, &command.parts, true, rule.effect),
            Reach::Request => self.judge_request(command, &weighty, rule.effect),
            Reach::Stream => self.judge_stream(&command.parts),
        }
    }

    /// Where it goes, and the frame around the one that goes there.
    fn judge_navigation(&self, command: &GuardedCommand<'_>) -> Result<(), String> {
        if command.params.is_none() {
            return Ok(());
        }
        if command.method == "Page.navigateToHistoryEntry" {
            let Some(url) = command.parts.history_entry() else {
                return Err("This entry of the history is not known; call Page.getNavigationHistory first."
                    .to_owned());
            };
            return self.judge(&Address::read(url), Effect::Reads);
        }
        self.judge_named(command.params)?;
        // Where a frame goes is up to the page around it, which could send it there itself.
        match command.parts.embedder() {
            None => Ok(()),
            Some(Some(url)) => self.judge_urls(&[url], Effect::Changes),
            Some(None) => Err("The frame that it names is not known.".to_owned()),
        }
    }

    /// The frame that is named, or the main one; one that is not known may be any in the process.
    fn judge_named_frame(
        &self,
        place: &GuardedPlace<'_>,
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
            NamedFrame::Missing => Err("The frame that it names is not known, or is gone.".to_owned()),
        }
    }

    fn judge_document(
        &self,
        command: &GuardedCommand<'_>,
        weighty: &Weighty,
        effect: Effect,
    ) -> Result<(), String> {
        for site in weighty.storage_sites() {
            self.judge(&Address::read(site), effect)?;
        }
        // What a page has loaded is judged as the body of its request is.
        if matches!(command.method, "Page.getResourceContent" | "Page.searchInResource") {
            self.judge_named(command.params)?;
        }
        if let Some(url) = command.parts.source() {
            self.judge_source(url)?;
        }
        self.judge_frames(&command.place, &command.parts, false, effect)
    }

    /// Where a script or style sheet came from; what has no URL is the document's own.
    fn judge_source(&self, url: Option<&str>) -> Result<(), String> {
        match url {
            Some(url) if url.starts_with("http") => self.judge(&Address::read(url), Effect::Reads),
            Some(_) => Ok(()),
            None => self.judge(&Address::Everywhere, Effect::Reads),
        }
    }

    /// Every frame of the target's process, or of the whole page.
    fn judge_frames(
        &self,
        place: &GuardedPlace<'_>,
        parts: &GuardedParts<'_>,
        is_all: bool,
        effect: Effect,
    ) -> Result<(), String> {
        self.judge_place(place, effect)?;
        if matches!(place, GuardedPlace::Browser) {
            return Ok(());
        }
        let key = parts.target().zip(parts.version());
        if key.is_some_and(|(target, version)| self.is_remembered(target, is_all, version)) {
            return Ok(());
        }
        let rulebook = self.desk.rulebook();
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
                // Frames that nobody has told the URL of may be of any site.
                if seen.has_unknown { self.judge(&Address::Everywhere, effect) } else { Ok(()) }
            }
            None if self.profile == Profile::Open => Ok(()),
            None => {
                Err("The frames of this page are not known, so what is on it is not told; try again."
                    .to_owned())
            }
        }
    }

    fn judge_urls(&self, urls: &[&str], effect: Effect) -> Result<(), String> {
        urls.iter().try_for_each(|url| {
            let verdict = self.judge(&Address::read(url), effect);
            verdict.map_err(|why| format!("It concerns a frame that was not granted. {why}"))
        })
    }

    /// Elements are numbered by process, so a number may be an element of any document of the same site.
    fn judge_process(&self, command: &GuardedCommand<'_>, effect: Effect) -> Result<(), String> {
        self.judge_seen(command.parts.process_frames(), effect)
    }

    /// The request's own URL, every one that it went to. To let it go on as it is, or to end it, is allowed always.
    fn judge_request(
        &self,
        command: &GuardedCommand<'_>,
        weighty: &Weighty,
        effect: Effect,
    ) -> Result<(), String> {
        let is_let_go = match command.method {
            "Fetch.failRequest" => true,
            "Fetch.continueRequest" | "Fetch.continueResponse" | "Fetch.continueWithAuth" => {
                !weighty.rewrites()
            }
            _ => false,
        };
        if is_let_go {
            return Ok(());
        }
        if weighty.url.is_some() {
            self.judge_named(command.params)?;
        }
        let Some(request) = command.parts.request().filter(|request| !request.is_cut) else {
            return Err("The request that it names is not known.".to_owned());
        };
        for url in hops(request) {
            self.judge(&Address::read(url), effect)?;
        }
        let changes = weighty.rewrites() || effect == Effect::Changes;
        let asker = request.frame.as_deref().filter(|_| changes && !request.is_document);
        match asker.map(|frame| command.parts.frame(frame)) {
            None => Ok(()),
            // What is answered runs or shows in the frame that asked.
            Some(Some(urls)) => self.judge_urls(&urls, effect),
            Some(None) => self.judge_frames(&command.place, &command.parts, false, effect),
        }
    }

    fn judge_stream(&self, parts: &GuardedParts<'_>) -> Result<(), String> {
        let Some(urls) = parts.stream() else {
            return Err("The stream that it names did not come from a command of this session.".to_owned());
        };
        urls.iter().try_for_each(|url| match &**url {
            "*" => self.judge(&Address::Everywhere, Effect::Reads),
            url => self.judge(&Address::read(url), Effect::Reads),
        })
    }

    /// Whether an event may be heard.
    pub(crate) fn may_bare_hear(&self, event: &GuardedEvent<'_>, reach: EventReach) -> bool {
        let frames =
            |is_all: bool| self.judge_frames(&event.place, &event.parts, is_all, Effect::Reads).is_ok();
        let is_source_known = || event.parts.source().is_none_or(|url| self.judge_source(url).is_ok());
        let is_source = matches!(
            event.method,
            "Debugger.scriptParsed" | "Debugger.scriptFailedToParse" | "CSS.styleSheetAdded"
        );
        if is_source && !is_source_known() {
            return false;
        }
        match reach {
            EventReach::Plain => true,
            EventReach::EverySite => self.judge(&Address::Everywhere, Effect::Reads).is_ok(),
            EventReach::Document if event.method == "Log.entryAdded" => {
                self.may_hear_log(event) && frames(false)
            }
            EventReach::Document => frames(false),
            EventReach::Page => frames(true),
            EventReach::Frame if event.parts.named_frame() == NamedFrame::Main => frames(false),
            EventReach::Frame => self.judge_named_frame(&event.place, &event.parts, Effect::Reads).is_ok(),
            EventReach::Request => event.parts.request().is_some_and(|request| {
                let may_know = |url: &&str| self.judge(&Address::read(url), Effect::Reads).is_ok();
                let frame = request.frame.as_deref().filter(|_| !request.is_document);
                let asker = frame.map(|frame| event.parts.frame(frame).unwrap_or_default());
                let is_asker_known = asker.is_none_or(|urls| !urls.is_empty() && urls.iter().all(may_know));
                !request.is_cut && is_asker_known && hops(request).all(|url| may_know(&url))
            }),
        }
    }

    /// An entry of the log may be about a request, which it names by its URL.
    fn may_hear_log(&self, event: &GuardedEvent<'_>) -> bool {
        #[derive(Deserialize)]
        struct Told {
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
        let told = serde_json::from_slice::<Told>(event.frame);
        told.is_ok_and(|told| {
            told.params.entry.url.is_none_or(|url| self.judge(&Address::read(&url), Effect::Reads).is_ok())
        })
    }
}

/// The places that a request went to. What is in a `data:` URL is in the page already.
fn hops(request: &SeenRequest) -> impl Iterator<Item = &str> {
    request.hops.iter().map(|url| &**url).filter(|url| *url != "data:")
}
