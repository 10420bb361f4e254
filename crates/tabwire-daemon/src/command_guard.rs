//! The policy where commands leave the process: below all actions and all clients.
//!
//! The engine's commands are checked for reading: what else an action may do was checked before it began. Those of
//! bare CDP clients are judged by what each method touches (`cdp_judgement.rs`).

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Deserialize;
use tabwire_mux::{FrameNeed, Guard, GuardedCommand, GuardedEvent, GuardedPlace};
use tabwire_policy::{
    Address, Capability, Decision, Effect, EventReach, MethodRule, Profile, Question, Reach, Rulebook,
};

use crate::policy_desk::{PolicyDesk, now};

/// What the engine sets in every process of a page, so that a frame which may not be read does not fail the page.
const ENGINE_SETTINGS: &[&str] = &["Fetch.enable", "Network.setBlockedURLs"];

/// What the engine does on any page: what it is for was judged as an action.
const ENGINE_STEPS: &[&str] = &[
    "Fetch.continueRequest",
    "Fetch.failRequest",
    "Page.createIsolatedWorld",
    "Page.navigateToHistoryEntry",
];

/// Events that the engine follows on any page, because it could not go on otherwise. What they say is told by actions
/// alone, and those are judged.
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

/// Verdicts on frames that are remembered; each holds for a second at most.
const VERDICTS: usize = 256;

/// Whose commands are guarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GuardedClient {
    /// The session's own engine.
    Engine,
    /// Somebody who speaks CDP.
    Bare,
}

/// Under what a verdict on all frames of a target holds.
#[derive(Debug)]
struct Verdict {
    version: u64,
    second: u64,
    rulebook: Arc<Rulebook>,
}

/// The policy of one session, for one client's commands.
#[derive(Debug)]
pub(crate) struct CommandGuard {
    pub(crate) desk: Arc<PolicyDesk>,
    pub(crate) client: GuardedClient,
    pub(crate) profile: Profile,
    /// The session, as grants name it.
    pub(crate) session: String,
    /// Whether the browser is one that we launched.
    pub(crate) is_launched: bool,
    /// Targets all of whose frames were found to be allowed, in their own process or in every one.
    allowed: Mutex<HashMap<(String, bool), Verdict>>,
}

/// The address that a command names.
#[derive(Deserialize)]
struct Named {
    url: Option<String>,
}

impl CommandGuard {
    pub(crate) fn new(
        desk: Arc<PolicyDesk>,
        client: GuardedClient,
        profile: Profile,
        session: String,
        is_launched: bool,
    ) -> Self {
        Self { desk, client, profile, session, is_launched, allowed: Mutex::default() }
    }

    /// Whether nothing is to be judged by its address.
    fn allows_everything(&self) -> bool {
        self.profile == Profile::Open && self.desk.denies_nothing()
    }

    fn capability(&self) -> Capability {
        match self.client {
            GuardedClient::Engine => Capability::Read,
            GuardedClient::Bare => Capability::Cdp,
        }
    }

    fn decide(&self, address: &Address, capability: Capability) -> Decision {
        let rulebook = self.desk.rulebook();
        rulebook.decide(&Question {
            profile: self.profile,
            address,
            capability,
            session: Some(self.session.as_str()),
            now: now(),
        })
    }

    /// Judges something at an address. A blank page has nothing to show, so it may be read; to change it or to run code
    /// there concerns no site that could be named, so it needs a grant for all.
    pub(crate) fn judge(&self, address: &Address, effect: Effect) -> Result<(), String> {
        let decision = match (self.client, address, effect) {
            (GuardedClient::Bare, Address::Blank, Effect::Reads) => self.decide(address, Capability::Read),
            (GuardedClient::Bare, Address::Blank, Effect::Changes) => {
                let mut decision = self.decide(&Address::Everywhere, Capability::Cdp);
                decision.explain(
                    "A blank page is no site's, so to run code in it or to change it concerns them all.",
                );
                decision
            }
            _ => self.decide(address, self.capability()),
        };
        match decision {
            Decision::Allow { .. } => Ok(()),
            Decision::Deny { why, remedy: None, .. } => Err(why),
            Decision::Deny { why, remedy: Some(remedy), .. } | Decision::Ask { why, remedy, .. } => {
                Err(format!("{why} A person can allow it: `{remedy}`."))
            }
        }
    }

    /// Judges the address that a command names, if it names one.
    pub(crate) fn judge_named(&self, params: Option<&str>) -> Result<(), String> {
        let Some(params) = params else { return Ok(()) };
        let named: Named =
            serde_json::from_str(params).map_err(|error| format!("It names no address: {error}."))?;
        named.url.map_or(Ok(()), |url| self.judge(&Address::read(&url), Effect::Reads))
    }

    /// Refuses what would take away something of the user's in a browser that is not ours (T40), unless everything was
    /// granted there, open session or not.
    fn judge_destruction(&self, command: &GuardedCommand<'_>) -> Result<(), String> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Contained {
            browser_context_id: Option<String>,
        }
        let contained = command.params.and_then(|params| serde_json::from_str::<Contained>(params).ok());
        let is_in_own = contained.is_some_and(|contained| contained.browser_context_id.is_some());
        // Its answer tells nothing that was not allowed when it was sent.
        let is_answer = command.params.is_none();
        if !MethodRule::is_destructive(command.method) || is_in_own || is_answer {
            return Ok(());
        }
        let profile = Profile::Guarded;
        let (address, session) = (&Address::Everywhere, Some(self.session.as_str()));
        let capability = Capability::Cdp;
        let question = Question { profile, address, capability, session, now: now() };
        if self.desk.rulebook().decide(&question).is_allowed() {
            return Ok(());
        }
        Err(format!(
            "{} would take away what its user keeps in this browser. A person can allow it: `tabwire allow '*' --cdp`.",
            command.method
        ))
    }

    pub(crate) fn judge_place(&self, place: &GuardedPlace<'_>, effect: Effect) -> Result<(), String> {
        places(place).iter().try_for_each(|address| self.judge(address, effect))
    }

    /// What the engine sends: judged by the page it is for, as reading.
    fn check_engine(&self, command: &GuardedCommand<'_>) -> Result<(), String> {
        let is_on_browser = matches!(command.place, GuardedPlace::Browser);
        match MethodRule::of(command.method).reach {
            Reach::Refused if self.profile == Profile::Open => Ok(()),
            Reach::Refused => Err(format!("{} is refused in guarded sessions.", command.method)),
            // What concerns every site, an action asked for as a whole, and was judged as a whole.
            Reach::Setting | Reach::EverySite => Ok(()),
            _ if ENGINE_STEPS.contains(&command.method) || ENGINE_SETTINGS.contains(&command.method) => {
                Ok(())
            }
            Reach::Navigation => self.judge_named(command.params),
            _ if is_on_browser => Ok(()),
            _ => self.judge_place(&command.place, Effect::Reads),
        }?;
        // A request that is sent elsewhere brings another site's answer into the page.
        if command.method == "Fetch.continueRequest" { self.judge_named(command.params) } else { Ok(()) }
    }

    /// Whether all frames of a target were found to be allowed a moment ago, and nothing has changed since.
    pub(crate) fn is_remembered(&self, target: &str, is_all: bool, version: u64) -> bool {
        let known = self.allowed.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&(target.to_owned(), is_all)).is_some_and(|verdict| {
            verdict.version == version
                && verdict.second == now()
                && Arc::ptr_eq(&verdict.rulebook, &self.desk.rulebook())
        })
    }

    /// Remembers that all frames of a target are allowed under what was ruled then.
    pub(crate) fn remember(&self, target: &str, is_all: bool, version: u64, rulebook: Arc<Rulebook>) {
        let mut known = self.allowed.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= VERDICTS {
            known.clear();
        }
        known.insert((target.to_owned(), is_all), Verdict { version, second: now(), rulebook });
    }
}

/// The addresses that have to be allowed for what is on a place to be seen.
fn places(place: &GuardedPlace<'_>) -> Vec<Address> {
    let GuardedPlace::Target { url, page_url, sources, is_opened_by_page } = place else {
        return vec![Address::Everywhere];
    };
    let read = |url: &str| {
        let address = Address::read(url);
        if *is_opened_by_page { address.opened_by_page() } else { address }
    };
    // What nobody knows the address of may be anything.
    let known = url.map_or(Address::Wrong(tabwire_policy::AddressFault::Unreadable), read);
    with_sources([Some(known), page_url.map(read)].into_iter().flatten().collect(), sources)
}

/// Addresses, and those that their names led to if that is somewhere else than the internet.
pub(crate) fn with_sources(mut addresses: Vec<Address>, sources: &[IpAddr]) -> Vec<Address> {
    let reached: Vec<Address> = addresses
        .iter()
        .flat_map(|address| sources.iter().filter_map(|source| address.reached_at(*source)))
        .collect();
    addresses.extend(reached);
    addresses
}

impl Guard for CommandGuard {
    fn is_idle(&self) -> bool {
        // A browser of somebody else's has what its user would miss.
        let keeps_nothing = self.is_launched || self.client == GuardedClient::Engine;
        keeps_nothing && self.allows_everything()
    }

    fn check(&self, command: &GuardedCommand<'_>) -> Result<(), String> {
        if self.client == GuardedClient::Bare && !self.is_launched {
            self.judge_destruction(command)?;
        }
        if self.allows_everything() {
            return Ok(());
        }
        match self.client {
            GuardedClient::Engine => self.check_engine(command),
            GuardedClient::Bare => self.check_bare(command),
        }
    }

    fn may_know(&self, url: &str, sources: &[IpAddr]) -> bool {
        let places = || with_sources(vec![Address::read(url)], sources);
        let is_free = self.client == GuardedClient::Engine || self.allows_everything();
        is_free || places().iter().all(|place| self.judge(place, Effect::Reads).is_ok())
    }

    /// A browser of somebody else's may reach the web by ways that make every address look private.
    fn wants_sources(&self) -> bool {
        self.profile == Profile::Guarded && self.is_launched
    }

    /// A browser of somebody else's is used by its user too, and nothing tells who sends a tab somewhere.
    fn holds_documents(&self) -> bool {
        self.profile == Profile::Guarded && self.is_launched
    }

    fn may_go(&self, url: &str, shown: Option<&str>) -> bool {
        self.desk.may_be_sent(self.profile, &self.session, url, shown)
    }

    /// What the engine may look into is judged above it, frame by frame.
    fn wants_frames(&self) -> bool {
        self.client == GuardedClient::Bare && !self.allows_everything()
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

    fn may_hear(&self, event: &GuardedEvent<'_>) -> bool {
        if self.allows_everything() {
            return true;
        }
        if self.client == GuardedClient::Bare {
            return self.may_bare_hear(event, EventReach::of(event.method));
        }
        let is_followed = ENGINE_EVENTS.contains(&event.method) || event.method.starts_with("Target.");
        let is_plain = matches!(event.place, GuardedPlace::Browser) || is_followed;
        is_plain || self.judge_place(&event.place, Effect::Reads).is_ok()
    }
}
