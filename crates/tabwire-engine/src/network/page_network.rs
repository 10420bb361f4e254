//! The network state of one page: the request log and the settings that change requests.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tabwire_api::{Failure, FrameId};
use tabwire_cdp::{CdpError, CdpSession, Deadline, Event, TaskGroup};
use tabwire_policy::Capability;
use tokio::sync::oneshot;

use super::access::HeldAccess;
use super::conditions::Conditions;
use super::credentials::Credentials;
use super::egress::EgressPolicy;
use super::events::{AuthRequired, DocumentCame, RequestPaused};
use super::har::recording::Recording;
use super::har::replay::HarReplay;
use super::headers::HeaderList;
use super::interception;
use super::log::RequestLog;
use super::log::entry::Origin;
use super::route::table::RouteTable;
use super::route::{AbortReason, RouteEffect, Verdict, fulfil};
use crate::cdp::FrameUrls;
use crate::cdp::Setting;
use crate::feed::NetworkFeed;
use crate::frames::policy::FramePolicy;
use crate::page::Page;

/// How long a change of network settings waits for processes that are navigating.
const SETTING_TIMEOUT: Duration = Duration::from_secs(1);

/// The network of one page.
#[derive(Debug)]
pub(crate) struct PageNetwork {
    main: FrameId,
    log: Mutex<RequestLog>,
    settings: Mutex<Settings>,
    recording: Mutex<Option<Arc<Recording>>>,
    navigation_target: Mutex<NavigationTarget>,
    policy: FramePolicy,
    /// The URLs that the frames are judged by, once the page knows them.
    frame_urls: OnceLock<FrameUrls>,
    tasks: TaskGroup,
    feed: NetworkFeed,
}

/// The page's URL, and the last blocked navigation.
#[derive(Debug, Default)]
struct NavigationTarget {
    /// The URL of the last document.
    shown: Option<String>,
    /// The last blocked navigation.
    stopped: Option<String>,
}

/// Settings that change the requests of a page.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    pub(crate) routes: RouteTable,
    pub(crate) archive: Option<HarReplay>,
    pub(crate) credentials: Option<Credentials>,
    pub(crate) headers: HeaderList,
    /// Whether headers are added to requests one by one, as the policy allows, instead of by the browser.
    holds_headers: bool,
    pub(crate) conditions: Conditions,
    /// The egress policy, independent of other settings.
    pub(crate) egress: Option<EgressPolicy>,
}

impl Settings {
    /// What the browser has to pause; none for nothing.
    fn interception(&self, asked: &[String]) -> Option<Value> {
        let handles_auth = self.credentials.is_some();
        let adds_headers = self.holds_headers && !self.headers.is_empty();
        // The browser reports authentication challenges only for paused requests.
        let mut patterns: Vec<Value> = if handles_auth || self.archive.is_some() || adds_headers {
            // A pattern that matches all, because headers and archives concern every request.
            vec![json!({"urlPattern": "*"})]
        } else {
            self.routes.iter().flat_map(super::Route::browser_patterns).collect()
        };
        patterns.extend(asked.iter().map(|pattern| json!({"urlPattern": pattern})));
        patterns.extend(self.egress.iter().flat_map(|_| EgressPolicy::patterns()));
        (!patterns.is_empty()).then(|| json!({"patterns": patterns, "handleAuthRequests": handles_auth}))
    }

    /// The verdict for a paused request, and its source.
    fn decide(&mut self, paused: &RequestPaused, access: &HeldAccess<'_>) -> (Option<Origin>, Verdict) {
        let may_apply = |effect: &RouteEffect| match effect {
            RouteEffect::Abort(_) => true,
            RouteEffect::Fulfil(_) => access.may_change(paused),
            RouteEffect::Rewrite(change) => {
                let may_send = |url: &String| access.may_send_to(url);
                access.may_change(paused) && change.url.as_ref().is_none_or(may_send)
            }
        };
        let (origin, mut verdict) = match self.routes.judge(paused, may_apply) {
            Some((number, verdict)) => (number.map(Origin::Route), verdict),
            None => self.replay(paused, access),
        };
        if self.holds_headers && !self.headers.is_empty() && access.may_add_headers(paused) {
            verdict.add_headers(paused, &self.headers);
        }
        (origin, verdict)
    }

    /// Fulfils a request from the archive, if it contains it.
    fn replay(&mut self, paused: &RequestPaused, access: &HeldAccess<'_>) -> (Option<Origin>, Verdict) {
        let Some(archive) = &mut self.archive else { return (None, Verdict::proceed(&paused.request_id)) };
        let request = &paused.request;
        let found = if access.may_change(paused) {
            archive.find(&request.method, &request.url, request.post_data.as_deref())
        } else {
            archive.refused += 1;
            None
        };
        match found {
            Some(response) => (Some(Origin::HarReplay), fulfil(paused, &response)),
            None if archive.is_strict() => {
                (Some(Origin::HarReplay), Verdict::fail(&paused.request_id, AbortReason::Blocked))
            }
            None => (None, Verdict::proceed(&paused.request_id)),
        }
    }

    /// Whether requests are fulfilled or changed here. The browser's cache must be off then: a cached response is never
    /// paused.
    fn replaces_responses(&self) -> bool {
        !self.routes.is_empty() || self.archive.is_some()
    }
}

impl PageNetwork {
    pub(crate) fn new(
        main: &FrameId,
        tasks: &TaskGroup,
        egress: Option<EgressPolicy>,
        policy: FramePolicy,
        feed: NetworkFeed,
    ) -> Self {
        Self {
            main: main.clone(),
            log: Mutex::default(),
            settings: Mutex::new(Settings { egress, ..Settings::default() }),
            recording: Mutex::default(),
            navigation_target: Mutex::default(),
            policy,
            frame_urls: OnceLock::new(),
            tasks: tasks.clone(),
            feed,
        }
    }

    /// Sets the URLs that the frames are judged by.
    pub(crate) fn set_frame_urls(&self, frame_urls: FrameUrls) {
        // Set once: the page keeps its session for its lifetime.
        let _ = self.frame_urls.set(frame_urls);
    }

    /// The access rules for requests and console lines of the page.
    pub(crate) fn policy(&self) -> &FramePolicy {
        &self.policy
    }

    /// The URLs that the frames are judged by.
    pub(crate) fn frame_urls(&self) -> Option<&FrameUrls> {
        self.frame_urls.get()
    }

    /// The request log of the page.
    pub(crate) fn log(&self) -> MutexGuard<'_, RequestLog> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The settings that change the page's requests.
    pub(crate) fn settings(&self) -> MutexGuard<'_, Settings> {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The running recording.
    pub(crate) fn recording(&self) -> Option<Arc<Recording>> {
        self.recording.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Starts a recording; returns whether it is new.
    pub(crate) fn start_recording(&self) -> bool {
        let mut recording = self.recording.lock().unwrap_or_else(PoisonError::into_inner);
        if recording.is_some() {
            return false;
        }
        let mut log = self.log();
        log.keeps_more = true;
        *recording = Some(Arc::new(Recording::new(log.count())));
        true
    }

    /// Stops the recording.
    pub(crate) fn stop_recording(&self) -> Option<Arc<Recording>> {
        self.log().keeps_more = false;
        self.recording.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn navigation_target(&self) -> MutexGuard<'_, NavigationTarget> {
        self.navigation_target.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the last blocked navigation.
    pub(crate) fn take_stopped(&self) -> Option<String> {
        self.navigation_target().stopped.take()
    }

    /// Records the URL of the page's document.
    fn note_document(&self, event: &Event) {
        let came = event.to::<DocumentCame>().ok();
        let own = came.filter(|came| came.kind == "Document" && came.frame_id == self.main.as_str());
        if let Some(came) = own {
            self.navigation_target().shown = Some(came.response.url);
        }
    }

    /// Records an event.
    pub(crate) fn observe(&self, session: &CdpSession, event: &Event) {
        if event.method() == "Network.responseReceived" && self.is_contained() {
            self.note_document(event);
        }
        let mut log = self.log();
        let over = log.observe(session, event);
        let over = over.and_then(|number| log.find(number).cloned());
        if self.feed.is_wanted() {
            self.feed.observe(&log, event);
        }
        drop(log);
        if let (Some(entry), Some(recording)) = (over, self.recording()) {
            recording.fetch(entry, &self.tasks);
        }
    }

    /// A process joined the page: judges its paused requests from now on.
    pub(crate) fn joined(self: &Arc<Self>, session: &CdpSession) {
        interception::start(self, session, self.main.as_str(), &self.tasks);
    }

    /// What the browser has to pause; none for nothing.
    pub(crate) fn interception(&self) -> Option<Value> {
        self.settings().interception(&self.script_patterns())
    }

    /// The patterns of requests that scripts decide about.
    fn script_patterns(&self) -> Vec<String> {
        self.feed.feed().patterns(self.feed.target())
    }

    /// Whether unjudged requests must not continue.
    pub(crate) fn is_contained(&self) -> bool {
        self.settings().egress.is_some()
    }

    /// The commands for every process of the page before it starts.
    pub(crate) fn first_settings(&self) -> Vec<Setting> {
        let settings = self.settings();
        let hold = settings.interception(&self.script_patterns()).map(hold_setting);
        let contained = settings.egress.as_ref().map(|_| EgressPolicy::fence());
        hold.into_iter().chain(contained.into_iter().flatten()).collect()
    }

    /// Whether the egress policy blocks a paused request.
    pub(super) fn is_blocked(&self, paused: &RequestPaused) -> bool {
        let settings = self.settings();
        let Some(egress) = &settings.egress else { return false };
        if egress.stops(paused) {
            return true;
        }
        let mut navigation_target = self.navigation_target();
        let is_kept =
            egress.blocks_navigation(paused, self.main.as_str(), navigation_target.shown.as_deref());
        if is_kept {
            navigation_target.stopped = Some(paused.request.url.clone());
        }
        is_kept
    }

    /// The policy of a paused request.
    pub(super) fn access(&self, paused: &RequestPaused) -> HeldAccess<'_> {
        let frame_url = self.frame_urls.get().and_then(|frames| frames.find(&FrameId::new(&paused.frame_id)));
        HeldAccess { policy: &self.policy, frame_url }
    }

    pub(super) fn feed(&self) -> &NetworkFeed {
        &self.feed
    }

    pub(super) fn main(&self) -> &FrameId {
        &self.main
    }

    /// The verdict for a paused request, with the rule that decided, if any.
    pub(crate) fn judge(&self, paused: &RequestPaused) -> (Option<u32>, Verdict) {
        if self.is_blocked(paused) {
            return (None, Verdict::fail(&paused.request_id, AbortReason::Blocked));
        }
        let access = self.access(paused);
        let (origin, verdict) = self.settings().decide(paused, &access);
        if let (Some(origin), Some(id)) = (origin, &paused.network_id) {
            self.log().set_origin(id, origin);
        }
        let route = match origin {
            Some(Origin::Route(number)) => Some(number),
            _ => None,
        };
        (route, verdict)
    }

    /// The response to an authentication challenge. `asked_before` means that the first one was rejected.
    pub(crate) fn challenge_response(&self, asked: &AuthRequired, main: &str, asked_before: bool) -> Value {
        let by_default = json!({"response": "Default"});
        if asked.auth_challenge.source == "Proxy" {
            return by_default;
        }
        let is_page = asked.resource_type == "Document" && asked.frame_id == main;
        let origin =
            super::origin_of(&asked.auth_challenge.origin).or_else(|| super::origin_of(&asked.request.url));
        let mut settings = self.settings();
        let (Some(credentials), Some(origin)) = (&mut settings.credentials, origin) else {
            return by_default;
        };
        if !self.policy.allows(&origin, Capability::Act) {
            return by_default;
        }
        match credentials.admit(&origin, is_page) {
            true if asked_before => json!({"response": "CancelAuth"}),
            true => credentials.expose_response(),
            false => by_default,
        }
    }
}

fn hold_setting(params: Value) -> Setting {
    Setting { key: "network.interception".to_owned(), method: "Fetch.enable", params, persistent: true }
}

impl Page {
    /// Sends the interception patterns to every process of the page.
    pub(crate) async fn apply_interception(&self, deadline: Deadline) -> Result<(), Failure> {
        let (params, no_cache) = {
            let asked = self.network().script_patterns();
            let settings = self.network().settings();
            // A response from the cache sends no request that could be intercepted.
            (settings.interception(&asked), settings.replaces_responses() || !asked.is_empty())
        };
        let cache = Setting {
            key: "network.cache".to_owned(),
            method: "Network.setCacheDisabled",
            params: json!({"cacheDisabled": no_cache}),
            persistent: no_cache,
        };
        let hold = match params {
            Some(params) => hold_setting(params),
            None => Setting { method: "Fetch.disable", persistent: false, ..hold_setting(json!({})) },
        };
        self.set_all(&[cache, hold], deadline).await
    }

    /// Sends the network conditions to every process of the page.
    pub(crate) async fn apply_conditions(
        &self,
        conditions: Conditions,
        deadline: Deadline,
    ) -> Result<(), Failure> {
        let setting = Setting {
            key: "network.conditions".to_owned(),
            method: "Network.emulateNetworkConditions",
            params: conditions.to_params(),
            persistent: !conditions.is_default(),
        };
        self.set_all(&[setting], deadline).await?;
        self.network().settings().conditions = conditions;
        Ok(())
    }

    /// Adds headers to the page's requests: by the browser, or one by one where the policy does not allow every site.
    pub(crate) async fn apply_headers(&self, headers: HeaderList, deadline: Deadline) -> Result<(), Failure> {
        let holds = !self.session().policy().is_idle();
        let added = headers.iter().filter(|_| !holds);
        let pairs: serde_json::Map<String, Value> =
            added.map(|header| (header.name.clone(), json!(header.value))).collect();
        let setting = Setting {
            key: "network.headers".to_owned(),
            method: "Network.setExtraHTTPHeaders",
            persistent: !pairs.is_empty(),
            params: json!({"headers": pairs}),
        };
        self.set_all(&[setting], deadline).await?;
        let held = {
            let mut settings = self.network().settings();
            settings.headers = headers;
            std::mem::replace(&mut settings.holds_headers, holds)
        };
        if held || holds { self.apply_interception(deadline).await } else { Ok(()) }
    }

    /// Sends settings to every process. A process that is navigating responds only after it has arrived; the settings
    /// then hold for the new document, so this does not wait for it.
    async fn set_all(&self, settings: &[Setting], deadline: Deadline) -> Result<(), Failure> {
        let replies: Vec<_> =
            settings.iter().map(|setting| self.session().apply_setting(setting, deadline)).collect();
        let (done, finished) = oneshot::channel();
        self.network().tasks.start("network-settings", async move {
            let mut outcome = Ok(());
            for reply in replies {
                outcome = outcome.and(reply.await.map(drop));
            }
            // The caller stops waiting after the timeout.
            if let Err(Err(error)) = done.send(outcome) {
                tracing::warn!(%error, "a network setting failed");
            }
        });
        self.unless_blocked(async {
            match tokio::time::timeout(SETTING_TIMEOUT, finished).await {
                Ok(Ok(outcome)) => outcome.map_err(CdpError::into_failure),
                Ok(Err(_)) | Err(_) => Ok(()),
            }
        })
        .await
    }
}
