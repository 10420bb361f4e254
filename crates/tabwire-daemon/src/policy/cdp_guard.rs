//! The policy check on every CDP command and event, below all actions and clients.
//!
//! Commands of the engine are checked for `read`: other capabilities were checked before the action began. Commands of
//! CDP clients are checked by what each method touches (`cdp_rules.rs`).

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Deserialize;
use tabwire_mux::{FrameNeed, Guard, GuardedCommand, GuardedEvent, GuardedScope};
use tabwire_policy::{
    AccessRequest, Capability, Decision, Effect, EventReach, MethodRule, PageUrl, Policy, Profile, Reach,
};

use crate::policy::store::{PolicyStore, now};

/// Settings that the engine applies to every process of a page, including those of frames that may not be read.
const ENGINE_SETTINGS: &[&str] = &["Fetch.enable", "Network.setBlockedURLs"];

/// Commands that the engine sends to any page. The action that needs them was checked.
const ENGINE_STEPS: &[&str] = &[
    "Fetch.continueRequest",
    "Fetch.failRequest",
    "Page.createIsolatedWorld",
    "Page.navigateToHistoryEntry",
];

/// Events that the engine needs from any page. Their content reaches a client only through actions, which are checked.
const ENGINE_EVENTS: &[&str] = &[
    "Fetch.authRequired",
    "Fetch.requestPaused",
    "Inspector.detached",
    "Inspector.targetCrashed",
    "Inspector.targetReloadedAfterCrash",
    "Network.loadingFailed",
    "Network.loadingFinished",
    "Page.domContentEventFired",
    "Page.frameAttached",
    "Page.frameDetached",
    "Page.frameNavigated",
    "Page.frameResized",
    "Page.frameStartedLoading",
    "Page.frameStartedNavigating",
    "Page.frameStoppedLoading",
    "Page.frameSubtreeWillBeDetached",
    "Page.javascriptDialogClosed",
    "Page.javascriptDialogOpening",
    "Page.lifecycleEvent",
    "Page.loadEventFired",
    "Page.navigatedWithinDocument",
    "Runtime.executionContextCreated",
    "Runtime.executionContextDestroyed",
    "Runtime.executionContextsCleared",
];

/// Cached verdicts. Each holds for a second at most.
const VERDICTS: usize = 256;

/// Whose commands are guarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GuardedClient {
    /// The session's own engine.
    Engine,
    /// A CDP client.
    CdpClient,
}

/// The conditions under which a verdict on all frames of a target holds.
#[derive(Debug)]
struct Verdict {
    version: u64,
    second: u64,
    rulebook: Arc<Policy>,
}

/// The policy of one session for the commands of one client.
#[derive(Debug)]
pub(crate) struct CommandGuard {
    pub(crate) store: Arc<PolicyStore>,
    pub(crate) client: GuardedClient,
    pub(crate) profile: Profile,
    /// The session, as grants name it.
    pub(crate) session: String,
    /// Whether the daemon launched the browser.
    pub(crate) is_launched: bool,
    /// Targets whose frames are all allowed, in their own process or in all processes.
    allowed: Mutex<HashMap<(String, bool), Verdict>>,
}

/// The URL that a command names.
#[derive(Deserialize)]
struct UrlParams {
    url: Option<String>,
}

impl CommandGuard {
    pub(crate) fn new(
        store: Arc<PolicyStore>,
        client: GuardedClient,
        profile: Profile,
        session: String,
        is_launched: bool,
    ) -> Self {
        Self { store, client, profile, session, is_launched, allowed: Mutex::default() }
    }

    /// Whether every URL is allowed.
    fn allows_everything(&self) -> bool {
        self.profile == Profile::Open && self.store.denies_nothing()
    }

    fn capability(&self) -> Capability {
        match self.client {
            GuardedClient::Engine => Capability::Read,
            GuardedClient::CdpClient => Capability::Cdp,
        }
    }

    fn decide(&self, address: &PageUrl, capability: Capability) -> Decision {
        let rulebook = self.store.rulebook();
        rulebook.decide(&AccessRequest {
            profile: self.profile,
            url: address,
            capability,
            session: Some(self.session.as_str()),
            now: now(),
        })
    }

    /// Judges an effect at an address. A blank page may be read, because it shows nothing. Changing it, or running code in
    /// it, concerns no site that a grant could name, so it needs a grant for all sites.
    pub(crate) fn judge(&self, address: &PageUrl, effect: Effect) -> Result<(), String> {
        let decision = match (self.client, address, effect) {
            (GuardedClient::CdpClient, PageUrl::Blank, Effect::Reads) => {
                self.decide(address, Capability::Read)
            }
            (GuardedClient::CdpClient, PageUrl::Blank, Effect::Changes) => {
                let mut decision = self.decide(&PageUrl::Everywhere, Capability::Cdp);
                decision
                    .explain("A blank page belongs to no site, so changing it needs a grant for all sites.");
                decision
            }
            _ => self.decide(address, self.capability()),
        };
        match decision {
            Decision::Allow { .. } => Ok(()),
            Decision::Deny { why, remedy: None, .. } => Err(why),
            Decision::Deny { why, remedy: Some(remedy), .. } | Decision::Ask { why, remedy, .. } => {
                Err(format!("{why} The user can allow it: `{remedy}`."))
            }
        }
    }

    /// Judges the URL that a command names, if it names one.
    pub(crate) fn judge_named(&self, params: Option<&str>) -> Result<(), String> {
        let Some(params) = params else { return Ok(()) };
        let named: UrlParams = serde_json::from_str(params)
            .map_err(|error| format!("Its parameters have no valid URL: {error}."))?;
        named.url.map_or(Ok(()), |url| self.judge(&PageUrl::parse(&url), Effect::Reads))
    }

    /// Refuses commands that would destroy data of the user in an attached browser (T40), unless `cdp` is granted for all
    /// sites. Holds in open sessions too.
    fn judge_destruction(&self, command: &GuardedCommand<'_>) -> Result<(), String> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct ContextParams {
            browser_context_id: Option<String>,
        }
        let contained = command.params.and_then(|params| serde_json::from_str::<ContextParams>(params).ok());
        let is_in_own = contained.is_some_and(|contained| contained.browser_context_id.is_some());
        // A response: its command was checked.
        let is_response = command.params.is_none();
        if !MethodRule::is_destructive(command.method) || is_in_own || is_response {
            return Ok(());
        }
        let profile = Profile::Guarded;
        let (address, session) = (&PageUrl::Everywhere, Some(self.session.as_str()));
        let capability = Capability::Cdp;
        let question = AccessRequest { profile, url: address, capability, session, now: now() };
        if self.store.rulebook().decide(&question).is_allowed() {
            return Ok(());
        }
        Err(format!(
            "{} would delete data of the browser's user. The user can allow it: `tabwire allow '*' --cdp`.",
            command.method
        ))
    }

    /// Refuses commands that act on a page which the user drives, or while the user has paused its clients.
    fn judge_control(&self, command: &GuardedCommand<'_>) -> Result<(), String> {
        let page = match &command.scope {
            GuardedScope::Target { page, .. } => Some(*page),
            GuardedScope::Browser => None,
        };
        // A response: its command was checked.
        let is_response = command.params.is_none();
        let refused = self.store.control.refuses(&self.session, page, command.method);
        refused.filter(|_| !is_response).map_or(Ok(()), |sentence| Err(sentence.to_owned()))
    }

    pub(crate) fn judge_place(&self, place: &GuardedScope<'_>, effect: Effect) -> Result<(), String> {
        places(place).iter().try_for_each(|address| self.judge(address, effect))
    }

    /// Checks a command of the engine, as a read of its page.
    fn check_engine(&self, command: &GuardedCommand<'_>) -> Result<(), String> {
        let is_on_browser = matches!(command.scope, GuardedScope::Browser);
        match MethodRule::of(command.method).reach {
            Reach::Refused if self.profile == Profile::Open => Ok(()),
            Reach::Refused => Err(format!("{} is refused in guarded sessions.", command.method)),
            // The action that needs every site was checked as a whole.
            Reach::Setting | Reach::EverySite => Ok(()),
            _ if ENGINE_STEPS.contains(&command.method) || ENGINE_SETTINGS.contains(&command.method) => {
                Ok(())
            }
            Reach::Navigation => self.judge_named(command.params),
            _ if is_on_browser => Ok(()),
            _ => self.judge_place(&command.scope, Effect::Reads),
        }?;
        // A redirected request brings the response of another site into the page.
        if command.method == "Fetch.continueRequest" { self.judge_named(command.params) } else { Ok(()) }
    }

    /// Whether all frames of a target were allowed within this second, under the same rules.
    pub(crate) fn is_remembered(&self, target: &str, is_all: bool, version: u64) -> bool {
        let known = self.allowed.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&(target.to_owned(), is_all)).is_some_and(|verdict| {
            verdict.version == version
                && verdict.second == now()
                && Arc::ptr_eq(&verdict.rulebook, &self.store.rulebook())
        })
    }

    /// Caches that all frames of a target are allowed under these rules.
    pub(crate) fn remember(&self, target: &str, is_all: bool, version: u64, rulebook: Arc<Policy>) {
        let mut known = self.allowed.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= VERDICTS {
            known.clear();
        }
        known.insert((target.to_owned(), is_all), Verdict { version, second: now(), rulebook });
    }
}

/// The addresses that must be allowed to see a target.
fn places(place: &GuardedScope<'_>) -> Vec<PageUrl> {
    let GuardedScope::Target { url, page_url, addresses, is_opened_by_page, .. } = place else {
        return vec![PageUrl::Everywhere];
    };
    let read = |url: &str| {
        let address = PageUrl::parse(url);
        if *is_opened_by_page { address.opened_by_page() } else { address }
    };
    // An unknown address may be anything.
    let known = url.map_or(PageUrl::Invalid(tabwire_policy::UrlError::Unreadable), read);
    with_sources([Some(known), page_url.map(read)].into_iter().flatten().collect(), addresses)
}

/// Addresses, and the private ones that their host names resolved to.
pub(crate) fn with_sources(mut addresses: Vec<PageUrl>, sources: &[IpAddr]) -> Vec<PageUrl> {
    let reached: Vec<PageUrl> = addresses
        .iter()
        .flat_map(|address| sources.iter().filter_map(|source| address.reached_at(*source)))
        .collect();
    addresses.extend(reached);
    addresses
}

impl Guard for CommandGuard {
    fn is_idle(&self) -> bool {
        // An attached browser has data of its user.
        let keeps_nothing = self.is_launched || self.client == GuardedClient::Engine;
        let is_held = self.client == GuardedClient::CdpClient && self.store.control.is_active();
        keeps_nothing && self.allows_everything() && !is_held
    }

    fn check(&self, command: &GuardedCommand<'_>) -> Result<(), String> {
        if self.client == GuardedClient::CdpClient {
            self.judge_control(command)?;
            if !self.is_launched {
                self.judge_destruction(command)?;
            }
        }
        if self.allows_everything() {
            return Ok(());
        }
        match self.client {
            GuardedClient::Engine => self.check_engine(command),
            GuardedClient::CdpClient => self.check_client(command),
        }
    }

    fn may_know(&self, url: &str, sources: &[IpAddr]) -> bool {
        let places = || with_sources(vec![PageUrl::parse(url)], sources);
        let is_free = self.client == GuardedClient::Engine || self.allows_everything();
        is_free || places().iter().all(|place| self.judge(place, Effect::Reads).is_ok())
    }

    fn hides(&self, url: &str) -> bool {
        self.store.is_own_page(url)
    }

    /// An attached browser may use a proxy or VPN that makes every address look private.
    fn wants_addresses(&self) -> bool {
        self.profile == Profile::Guarded && self.is_launched
    }

    /// The user navigates in an attached browser too, and events do not say who navigates.
    fn pauses_documents(&self) -> bool {
        self.profile == Profile::Guarded && self.is_launched
    }

    fn may_navigate(&self, url: &str, shown: Option<&str>) -> bool {
        self.store.may_navigate(self.profile, &self.session, url, shown)
    }

    /// The frames that the engine reads are checked by its frame policy.
    fn wants_frames(&self) -> bool {
        self.client == GuardedClient::CdpClient && !self.allows_everything()
    }

    fn frame_need(&self, method: &str) -> FrameNeed {
        if !self.wants_frames() {
            return FrameNeed::None;
        }
        match MethodRule::of(method).reach {
            Reach::Frame | Reach::Document => FrameNeed::Own,
            Reach::Page => FrameNeed::All,
            _ => FrameNeed::None,
        }
    }

    fn event_allowed(&self, event: &GuardedEvent<'_>) -> bool {
        if self.allows_everything() {
            return true;
        }
        if self.client == GuardedClient::CdpClient {
            return self.may_client_receive(event, EventReach::of(event.method));
        }
        let is_followed = ENGINE_EVENTS.contains(&event.method) || event.method.starts_with("Target.");
        let is_plain = matches!(event.scope, GuardedScope::Browser) || is_followed;
        is_plain || self.judge_place(&event.scope, Effect::Reads).is_ok()
    }
}
