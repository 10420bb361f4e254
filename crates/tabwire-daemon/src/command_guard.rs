//! The policy where commands leave the process: below all actions and all clients.
//!
//! The engine's commands are checked for reading: what else an action may do was checked before it began. Those of
//! bare CDP clients need the capability `cdp` on the page they are for.

use std::sync::Arc;

use serde::Deserialize;
use tabwire_mux::{Guard, GuardedCommand, GuardedPlace};
use tabwire_policy::{Address, Capability, Decision, MethodClass, Profile, Question};

use crate::policy_desk::{PolicyDesk, now};

/// What the engine sets in every process of a page, so that a frame which may not be read does not fail the page.
const ENGINE_SETTING: &str = "Fetch.enable";

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
}

/// The address that a command names.
#[derive(Deserialize)]
struct Named {
    url: Option<String>,
}

impl CommandGuard {
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

    fn judge_place(&self, place: &GuardedPlace<'_>) -> Result<(), String> {
        places(place).iter().try_for_each(|address| self.judge(address))
    }
}

/// The addresses that have to be allowed for what is on a place to be seen.
fn places(place: &GuardedPlace<'_>) -> Vec<Address> {
    let GuardedPlace::Target { url, page_url, is_opened_by_page } = place else {
        return vec![Address::Everywhere];
    };
    let read = |url: &str| {
        let address = Address::read(url);
        if *is_opened_by_page { address.opened_by_page() } else { address }
    };
    // What nobody knows the address of may be anything.
    let known = url.map_or(Address::Wrong(tabwire_policy::AddressFault::Unreadable), read);
    [Some(known), page_url.map(read)].into_iter().flatten().collect()
}

impl Guard for CommandGuard {
    fn is_idle(&self) -> bool {
        self.profile == Profile::Open && self.desk.denies_nothing()
    }

    fn check(&self, command: &GuardedCommand<'_>) -> Result<(), String> {
        let is_on_browser = matches!(command.place, GuardedPlace::Browser);
        let is_engine = self.client == GuardedClient::Engine;
        match MethodClass::of(command.method) {
            MethodClass::Housekeeping => Ok(()),
            MethodClass::Travel => self.judge_named(command.params),
            // What concerns every site, an action asked for as a whole, and was judged as a whole.
            MethodClass::Everywhere if is_engine => Ok(()),
            MethodClass::Everywhere => self.judge(&Address::Everywhere),
            MethodClass::Content if is_engine && is_on_browser => Ok(()),
            MethodClass::Content if is_engine && command.method == ENGINE_SETTING => Ok(()),
            MethodClass::Content => self.judge_place(&command.place),
            MethodClass::Unknown if self.profile == Profile::Open => Ok(()),
            MethodClass::Unknown => Err(format!("{} is not known, so it is refused here.", command.method)),
        }?;
        // A request that is sent elsewhere brings another site's answer into the page.
        if command.method == "Fetch.continueRequest" { self.judge_named(command.params) } else { Ok(()) }
    }

    fn may_know(&self, url: &str) -> bool {
        self.client == GuardedClient::Engine || self.decide(&Address::read(url)).is_allowed()
    }

    fn may_hear(&self, method: &str, place: &GuardedPlace<'_>) -> bool {
        // The engine has to know of a dialog to go on; what it says is told by actions alone, and those are judged.
        if self.client == GuardedClient::Engine && method == "Page.javascriptDialogOpening" {
            return true;
        }
        let is_plain = matches!(place, GuardedPlace::Browser) || !MethodClass::is_content_event(method);
        is_plain || self.judge_place(place).is_ok()
    }
}
