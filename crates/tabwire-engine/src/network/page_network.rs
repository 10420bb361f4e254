//! Everything of one page's network that is kept: the log, and what is changed on its way.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use serde_json::{Value, json};
use tabwire_cdp::{CdpError, CdpSession, Deadline, Event, TaskGroup};
use tabwire_policy::Capability;
use tabwire_wire::{Failure, FrameId};
use tokio::sync::oneshot;

use super::archive::Archive;
use super::conditions::Conditions;
use super::containment::Containment;
use super::credentials::Credentials;
use super::header_list::HeaderList;
use super::interception;
use super::network_event::{AuthRequired, DocumentCame, RequestPaused};
use super::recording::Recording;
use super::request_access::HeldAccess;
use super::request_entry::Origin;
use super::request_log::RequestLog;
use super::route::{AbortReason, RouteEffect, Verdict, fulfil};
use super::route_table::RouteTable;
use crate::cdp_driver::FrameUrls;
use crate::driver::Setting;
use crate::frame_policy::FramePolicy;
use crate::limits::SETTING_PATIENCE;
use crate::page::Page;

/// The network of one page.
#[derive(Debug)]
pub(crate) struct PageNetwork {
    main: FrameId,
    log: Mutex<RequestLog>,
    settings: Mutex<Settings>,
    recording: Mutex<Option<Arc<Recording>>>,
    whither: Mutex<Whither>,
    policy: FramePolicy,
    /// Which URLs the page's frames are judged by, once the page knows them.
    frame_urls: OnceLock<FrameUrls>,
    tasks: TaskGroup,
}

/// Where the page is, and where it was kept from going, as far as anything is kept in.
#[derive(Debug, Default)]
struct Whither {
    /// Where the last document came from.
    shown: Option<String>,
    /// The last document that was stopped on its way.
    stopped: Option<String>,
}

/// What is changed about a page's network.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    pub(crate) routes: RouteTable,
    pub(crate) archive: Option<Archive>,
    pub(crate) credentials: Option<Credentials>,
    pub(crate) headers: HeaderList,
    /// Whether headers are added to requests one by one, as the policy allows, and not by the browser.
    holds_headers: bool,
    pub(crate) conditions: Conditions,
    /// What is kept in, whatever else is set.
    pub(crate) containment: Option<Containment>,
}

impl Settings {
    /// What the browser is asked to hold for us; none when nothing is.
    fn interception(&self) -> Option<Value> {
        let handles_auth = self.credentials.is_some();
        let adds_headers = self.holds_headers && !self.headers.is_empty();
        // A server's question is only told for requests that are held.
        let mut patterns: Vec<Value> = if handles_auth || self.archive.is_some() || adds_headers {
            vec![json!({"urlPattern": "*"})]
        } else {
            self.routes.iter().flat_map(super::Route::browser_patterns).collect()
        };
        patterns.extend(self.containment.iter().flat_map(|_| Containment::patterns()));
        (!patterns.is_empty()).then(|| json!({"patterns": patterns, "handleAuthRequests": handles_auth}))
    }

    /// What becomes of a request that is held, and who answers it if it is not the server.
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

    /// Answers a request from the archive, if there is one.
    fn replay(&mut self, paused: &RequestPaused, access: &HeldAccess<'_>) -> (Option<Origin>, Verdict) {
        let Some(archive) = &mut self.archive else { return (None, Verdict::go_on(&paused.request_id)) };
        let request = &paused.request;
        let found = if access.may_change(paused) {
            archive.find(&request.method, &request.url, request.post_data.as_deref())
        } else {
            archive.refused += 1;
            None
        };
        match found {
            Some(answer) => (Some(Origin::Archive), fulfil(paused, &answer)),
            None if archive.is_strict() => {
                (Some(Origin::Archive), Verdict::fail(&paused.request_id, AbortReason::Blocked))
            }
            None => (None, Verdict::go_on(&paused.request_id)),
        }
    }

    /// Whether answers from the browser's own memory would get in the way.
    fn answers_requests(&self) -> bool {
        !self.routes.is_empty() || self.archive.is_some()
    }
}

impl PageNetwork {
    pub(crate) fn new(
        main: &FrameId,
        tasks: &TaskGroup,
        containment: Option<Containment>,
        policy: FramePolicy,
    ) -> Self {
        Self {
            main: main.clone(),
            log: Mutex::default(),
            settings: Mutex::new(Settings { containment, ..Settings::default() }),
            recording: Mutex::default(),
            whither: Mutex::default(),
            policy,
            frame_urls: OnceLock::new(),
            tasks: tasks.clone(),
        }
    }

    /// Learns which URLs the page's frames are judged by.
    pub(crate) fn set_frame_urls(&self, frame_urls: FrameUrls) {
        // The page has one driver for as long as it is there.
        let _ = self.frame_urls.set(frame_urls);
    }

    /// What may be done with requests and console lines of the page.
    pub(crate) fn policy(&self) -> &FramePolicy {
        &self.policy
    }

    /// Which URLs the page's frames are judged by.
    pub(crate) fn frame_urls(&self) -> Option<&FrameUrls> {
        self.frame_urls.get()
    }

    /// The requests the page made.
    pub(crate) fn log(&self) -> MutexGuard<'_, RequestLog> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is changed about the page's network.
    pub(crate) fn settings(&self) -> MutexGuard<'_, Settings> {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The recording that is under way.
    pub(crate) fn recording(&self) -> Option<Arc<Recording>> {
        self.recording.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Begins to record; says whether that is new.
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

    /// Ends the recording.
    pub(crate) fn stop_recording(&self) -> Option<Arc<Recording>> {
        self.log().keeps_more = false;
        self.recording.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn whither(&self) -> MutexGuard<'_, Whither> {
        self.whither.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The last document that was kept from being asked for, told once.
    pub(crate) fn take_stopped(&self) -> Option<String> {
        self.whither().stopped.take()
    }

    /// Takes note of where the page's own document came from.
    fn note_document(&self, event: &Event) {
        let came = event.to::<DocumentCame>().ok();
        let own = came.filter(|came| came.kind == "Document" && came.frame_id == self.main.as_str());
        if let Some(came) = own {
            self.whither().shown = Some(came.response.url);
        }
    }

    /// Takes note of an event.
    pub(crate) fn observe(&self, session: &CdpSession, event: &Event) {
        if event.method() == "Network.responseReceived" && self.is_contained() {
            self.note_document(event);
        }
        let mut log = self.log();
        let over = log.observe(session, event);
        let over = over.and_then(|number| log.find(number).cloned());
        drop(log);
        if let (Some(entry), Some(recording)) = (over, self.recording()) {
            recording.fetch(entry, &self.tasks);
        }
    }

    /// A process joined the page: from now on its held requests are judged.
    pub(crate) fn joined(self: &Arc<Self>, session: &CdpSession) {
        interception::start(self, session, self.main.as_str(), &self.tasks);
    }

    /// What the browser is asked to hold for us; none when nothing is.
    pub(super) fn interception(&self) -> Option<Value> {
        self.settings().interception()
    }

    /// Whether requests that nobody has judged must not go on.
    pub(super) fn is_contained(&self) -> bool {
        self.settings().containment.is_some()
    }

    /// What every process of the page is told before it begins.
    pub(crate) fn first_settings(&self) -> Vec<Setting> {
        let settings = self.settings();
        let hold = settings.interception().map(hold_setting);
        let contained = settings.containment.as_ref().map(|_| Containment::fence());
        hold.into_iter().chain(contained.into_iter().flatten()).collect()
    }

    /// What becomes of a request that is held.
    /// With the rule that decided, if it was one.
    pub(super) fn judge(&self, paused: &RequestPaused) -> (Option<u32>, Verdict) {
        let mut settings = self.settings();
        if settings.containment.as_ref().is_some_and(|containment| containment.stops(paused)) {
            return (None, Verdict::fail(&paused.request_id, AbortReason::Blocked));
        }
        if let Some(containment) = &settings.containment {
            let mut whither = self.whither();
            if containment.keeps_from(paused, self.main.as_str(), whither.shown.as_deref()) {
                whither.stopped = Some(paused.request.url.clone());
                return (None, Verdict::fail(&paused.request_id, AbortReason::Blocked));
            }
        }
        let frame_url = self.frame_urls.get().and_then(|frames| frames.find(&FrameId::new(&paused.frame_id)));
        let access = HeldAccess { policy: &self.policy, frame_url };
        let (origin, verdict) = settings.decide(paused, &access);
        drop(settings);
        if let (Some(origin), Some(id)) = (origin, &paused.network_id) {
            self.log().answered_by(id, origin);
        }
        let route = match origin {
            Some(Origin::Route(number)) => Some(number),
            _ => None,
        };
        (route, verdict)
    }

    /// What a server that asks who is there is told. `asked_before` means that the first answer was not good.
    pub(super) fn answer_challenge(&self, asked: &AuthRequired, main: &str, asked_before: bool) -> Value {
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
            true => credentials.expose_answer(),
            false => by_default,
        }
    }
}

fn hold_setting(params: Value) -> Setting {
    Setting { key: "network.interception".to_owned(), method: "Fetch.enable", params, lasts: true }
}

impl Page {
    /// Tells every process of the page what is to be held for us.
    pub(crate) async fn apply_interception(&self, deadline: Deadline) -> Result<(), Failure> {
        let (params, no_cache) = {
            let settings = self.network().settings();
            (settings.interception(), settings.answers_requests())
        };
        let cache = Setting {
            key: "network.cache".to_owned(),
            method: "Network.setCacheDisabled",
            params: json!({"cacheDisabled": no_cache}),
            lasts: no_cache,
        };
        let hold = match params {
            Some(params) => hold_setting(params),
            None => Setting { method: "Fetch.disable", lasts: false, ..hold_setting(json!({})) },
        };
        self.set_all(&[cache, hold], deadline).await
    }

    /// Tells every process of the page how good the network is.
    pub(crate) async fn apply_conditions(
        &self,
        conditions: Conditions,
        deadline: Deadline,
    ) -> Result<(), Failure> {
        let setting = Setting {
            key: "network.conditions".to_owned(),
            method: "Network.emulateNetworkConditions",
            params: conditions.to_params(),
            lasts: !conditions.is_default(),
        };
        self.set_all(&[setting], deadline).await?;
        self.network().settings().conditions = conditions;
        Ok(())
    }

    /// Adds headers to the page's requests: by the browser, or one by one where not every site may have them.
    pub(crate) async fn apply_headers(&self, headers: HeaderList, deadline: Deadline) -> Result<(), Failure> {
        let holds = !self.driver().policy().is_idle();
        let added = headers.iter().filter(|_| !holds);
        let pairs: serde_json::Map<String, Value> =
            added.map(|header| (header.name.clone(), json!(header.value))).collect();
        let setting = Setting {
            key: "network.headers".to_owned(),
            method: "Network.setExtraHTTPHeaders",
            lasts: !pairs.is_empty(),
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

    /// Sends settings to every process. One that is on its way to another document answers only when it is there;
    /// what it was asked for then holds for that document, so it is not waited for.
    async fn set_all(&self, settings: &[Setting], deadline: Deadline) -> Result<(), Failure> {
        let replies: Vec<_> =
            settings.iter().map(|setting| self.driver().set_everywhere(setting, deadline)).collect();
        let (done, told) = oneshot::channel();
        self.network().tasks.start("network-settings", async move {
            let mut outcome = Ok(());
            for reply in replies {
                outcome = outcome.and(reply.await.map(drop));
            }
            // Nobody waits any more when it took too long.
            if let Err(Err(error)) = done.send(outcome) {
                tracing::warn!(%error, "a network setting was not taken");
            }
        });
        self.unless_blocked(async {
            match tokio::time::timeout(SETTING_PATIENCE, told).await {
                Ok(Ok(outcome)) => outcome.map_err(CdpError::into_failure),
                Ok(Err(_)) | Err(_) => Ok(()),
            }
        })
        .await
    }
}
