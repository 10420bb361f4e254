//! The policy where commands leave the process: below all actions and all clients.
//!
//! The engine's commands are checked for reading: what else an action may do was checked before it began. Those of
//! bare CDP clients need the capability `cdp` on the page they are for.

use std::net::IpAddr;
use std::sync::Arc;

use serde::Deserialize;
use tabwire_mux::{Guard, GuardedCommand, GuardedPlace};
use tabwire_policy::{Address, Capability, Decision, MethodClass, Profile, Question};

use crate::policy_desk::{PolicyDesk, now};

/// What the engine sets in every process of a page, so that a frame which may not be read does not fail the page.
const ENGINE_SETTINGS: &[&str] = &["Fetch.enable", "Network.setBlockedURLs"];

/// Whose commands are guarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GuardedClient {
    /// The session's own engine.
    Engine,
    /// Somebody who speaks CDP.
    Bare,
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
}

/// The address that a command names.
#[derive(Deserialize)]
struct Named {
    url: Option<String>,
}

impl CommandGuard {
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

    fn decide(&self, address: &Address) -> Decision {
        let rulebook = self.desk.rulebook();
        rulebook.decide(&Question {
            profile: self.profile,
            address,
            capability: self.capability(),
            session: Some(self.session.as_str()),
            now: now(),
        })
    }

    fn judge(&self, address: &Address) -> Result<(), String> {
        match self.decide(address) {
            Decision::Allow { .. } => Ok(()),
            Decision::Deny { why, remedy: None, .. } => Err(why),
            Decision::Deny { why, remedy: Some(remedy), .. } | Decision::Ask { why, remedy, .. } => {
                Err(format!("{why} A person can allow it: `{remedy}`."))
            }
        }
    }

    /// Judges the address that a command names, if it names one.
    fn judge_named(&self, params: Option<&str>) -> Result<(), String> {
        let Some(params) = params else { return Ok(()) };
        let named: Named =
            serde_json::from_str(params).map_err(|error| format!("It names no address: {error}."))?;
        named.url.map_or(Ok(()), |url| self.judge(&Address::read(&url)))
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
        if !MethodClass::is_destructive(command.method) || is_in_own || is_answer {
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

    fn judge_place(&self, place: &GuardedPlace<'_>) -> Result<(), String> {
        places(place).iter().try_for_each(|address| self.judge(address))
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
        let is_on_browser = matches!(command.place, GuardedPlace::Browser);
        let is_engine = self.client == GuardedClient::Engine;
        if !is_engine && !self.is_launched {
            self.judge_destruction(command)?;
        }
        if self.allows_everything() {
            return Ok(());
        }
        match MethodClass::of(command.method) {
            MethodClass::Housekeeping => Ok(()),
            MethodClass::Travel => self.judge_named(command.params),
            // What concerns every site, an action asked for as a whole, and was judged as a whole.
            MethodClass::Everywhere if is_engine => Ok(()),
            MethodClass::Everywhere => self.judge(&Address::Everywhere),
            MethodClass::Content if is_engine && is_on_browser => Ok(()),
            MethodClass::Content if is_engine && ENGINE_SETTINGS.contains(&command.method) => Ok(()),
            MethodClass::Content => self.judge_place(&command.place),
            MethodClass::Unknown if self.profile == Profile::Open => Ok(()),
            MethodClass::Unknown => Err(format!("{} is not known, so it is refused here.", command.method)),
        }?;
        // A request that is sent elsewhere brings another site's answer into the page.
        if command.method == "Fetch.continueRequest" { self.judge_named(command.params) } else { Ok(()) }
    }

    fn may_know(&self, url: &str, sources: &[IpAddr]) -> bool {
        let places = || with_sources(vec![Address::read(url)], sources);
        let is_free = self.client == GuardedClient::Engine || self.allows_everything();
        is_free || places().iter().all(|place| self.decide(place).is_allowed())
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

    fn may_hear(&self, method: &str, place: &GuardedPlace<'_>) -> bool {
        if self.allows_everything() {
            return true;
        }
        // The engine has to know of a dialog to go on; what it says is told by actions alone, and those are judged.
        if self.client == GuardedClient::Engine && method == "Page.javascriptDialogOpening" {
            return true;
        }
        let is_plain = matches!(place, GuardedPlace::Browser) || !MethodClass::is_content_event(method);
        is_plain || self.judge_place(place).is_ok()
    }
}
