//! Where an action is held up against the policy: before it is done, and again before what it saw is told.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tabwire_engine::{Answered, Browser, STOPPED, TabInfo, Whereabouts};
use tabwire_journal::{Ruling, Verdict};
use tabwire_policy::limits::ADDRESS_FREE_CHARACTERS;
use tabwire_policy::{Address, Capability, Decision, Profile, Question, Rulebook};
use tabwire_policy::{Capabilities, FlowWatch, Site, Stance, Term};
use tabwire_policy::{Need, Needs, Scope};
use tabwire_wire::{CallNumber, ClientName, ErrorCode, Failure, TabId};

use crate::approval_desk::{ApprovalAnswer, ApprovalDesk, ApprovalQuestion, Outcome};
use crate::caller::Caller;
use crate::command_guard::with_sources;
use crate::hub::Hub;
use crate::note::Note;
use crate::policy_desk::{PassInHand, PolicyDesk, now};

/// Parameters that say which element is meant, and bring it nothing.
const AIMS: &[&str] = &["target", "from", "to", "within", "tab"];

/// What stands for a title that may not be told.
const WITHHELD: &str = "(withheld by the policy)";

/// One action, and under which policy it is done.
#[derive(Clone, Debug)]
pub(crate) struct Checkpoint {
    pub(crate) desk: Arc<PolicyDesk>,
    /// Knows which addresses pages came from.
    pub(crate) hub: Hub,
    pub(crate) approvals: Arc<ApprovalDesk>,
    /// Who asks.
    pub(crate) caller: Caller,
    /// What was decided while the action was done, for the journal.
    pub(crate) late_rulings: Arc<Mutex<Vec<Ruling>>>,
    /// The name the client gives itself.
    pub(crate) client: Option<ClientName>,
    /// The call it is, if somebody is there to be asked for that one.
    pub(crate) call: Option<CallNumber>,
    /// What somebody has allowed for this action alone.
    pub(crate) passes: Arc<Mutex<Vec<PassInHand>>>,
    /// What the session has read, and has brought elsewhere.
    pub(crate) flows: Arc<Mutex<FlowWatch>>,
    pub(crate) profile: Profile,
    /// Whether the session itself is as strict, so that its engine leaves out what may not be read.
    pub(crate) is_veiled: bool,
    /// The session, as grants name it.
    pub(crate) session: String,
    pub(crate) action: &'static str,
    /// What the action needs with its parameters.
    pub(crate) needs: Needs,
}

impl Checkpoint {
    /// Decides one question.
    pub(crate) fn decide(&self, rulebook: &Rulebook, address: &Address, capability: Capability) -> Decision {
        let session = Some(self.session.as_str());
        rulebook.decide(&Question { profile: self.profile, address, capability, session, now: now() })
    }

    /// Refuses what is not allowed, by rule or by somebody who is asked, while the action is done. Blocks its thread.
    pub(crate) fn require_blocking(&self, address: &Address, capability: Capability) -> Result<(), Failure> {
        let decision = self.decide(&self.desk.rulebook(), address, capability);
        let (ruling, answer) = match &decision {
            Decision::Ask { .. } => {
                let answer = tokio::runtime::Handle::current().block_on(self.ask(&decision));
                (ruling(Verdict::Ask, decision.source().as_str(), Some(capability.as_str())), answer)
            }
            _ => self.obeyed(&decision, capability),
        };
        self.late_rulings.lock().unwrap_or_else(PoisonError::into_inner).push(ruling);
        answer
    }

    /// What comes of a decision for which nobody is asked.
    fn obeyed(&self, decision: &Decision, capability: Capability) -> (Ruling, Result<(), Failure>) {
        let (verdict, answer) = match decision {
            Decision::Allow { .. } => (Verdict::Allow, Ok(())),
            Decision::Deny { .. } | Decision::Ask { .. } => (Verdict::Deny, Err(refusal(decision))),
        };
        (ruling(verdict, decision.source().as_str(), Some(capability.as_str())), answer)
    }

    /// Lets an action begin, or refuses it; gives the tab that was judged, to be the one that is used.
    pub(crate) async fn before(
        &self,
        browser: &Browser,
        tab: Option<TabId>,
        params: &Value,
        note: &mut Note,
    ) -> Result<Option<TabId>, Failure> {
        let place = browser.find_whereabouts(named_tab(self.action, params).or(tab));
        if place.is_none() && self.needs.touches_page() && self.profile == Profile::Guarded {
            return Err(Failure::new(
                ErrorCode::TabNotFound,
                "There is no such tab; it may have been closed.",
            )
            .with_hint("Run `tabwire tabs` to see the open ones."));
        }
        if !self.is_veiled && self.needs.shows_past() {
            self.require(&Address::Everywhere, Capability::Read, note).await?;
        }
        let here = self.addresses_of(place.as_ref()).await;
        for need in self.needs.iter() {
            for address in addresses_for(need, &here) {
                self.require(&address, need.capability, note).await?;
            }
        }
        for (address, characters) in self.brought(&here, params) {
            self.check_flow(&address, characters, note).await?;
        }
        let Some(place) = place.filter(|_| self.needs.touches_page()) else { return Ok(tab) };
        self.refuse_hidden_frames(&place)?;
        let is_fixed = self.profile == Profile::Guarded && named_tab(self.action, params).is_none();
        Ok(if is_fixed { Some(place.tab) } else { tab })
    }

    /// Where something goes with this action, and how much of it.
    fn brought(&self, here: &[Address], params: &Value) -> Vec<(Address, usize)> {
        let mut brought: Vec<_> =
            self.needs.urls().map(|url| (Address::read(url), letters_after_host(url))).collect();
        if self.needs.gives_to_page() {
            brought.extend(here.first().map(|here| (here.clone(), letters_in(params))));
        }
        brought
    }

    /// Has somebody asked before much of what may have been read on one site goes to another.
    async fn check_flow(&self, address: &Address, characters: usize, note: &mut Note) -> Result<(), Failure> {
        let Some(site) = Site::of(address) else { return Ok(()) };
        let Some(flow) = self.flows().flow_to(&site, characters) else { return Ok(()) };
        note.flow(&flow);
        if flow.is_long() {
            let mut decision = self.decide(&self.desk.rulebook(), address, Capability::Carry);
            decision.explain(&flow.sentence());
            self.obey(&decision, Capability::Carry, note).await?;
        }
        self.flows().is_brought(&flow);
        Ok(())
    }

    /// What was decided while the action was done.
    pub(crate) fn take_late_rulings(&self) -> Vec<Ruling> {
        std::mem::take(&mut *self.late_rulings.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn flows(&self) -> MutexGuard<'_, FlowWatch> {
        self.flows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Refuses what failed because the tab was kept from where it was sent; somebody may allow it for the next time.
    pub(crate) async fn judge_stopped(
        &self,
        answered: &Result<Answered, Failure>,
        note: &mut Note,
    ) -> Result<(), Failure> {
        let stopped = answered.as_ref().err().and_then(|failure| failure.details.get(STOPPED)?.as_str());
        let Some(stopped) = stopped else { return Ok(()) };
        self.require(&Address::read(stopped), Capability::Read, note).await?;
        Err(allowed_late())
    }

    /// A refusal from below all actions, with what would allow it when that is where the tab is.
    pub(crate) async fn explained(&self, browser: &Browser, tab: Option<TabId>, failure: Failure) -> Failure {
        if !failure.details.is_null() {
            return failure;
        }
        let place = browser.find_whereabouts(tab);
        let rulebook = self.desk.rulebook();
        let mut decisions = self
            .addresses_of(place.as_ref())
            .await
            .into_iter()
            .map(|address| self.decide(&rulebook, &address, Capability::Read));
        match decisions.find(|decision| !decision.is_allowed()) {
            Some(decision) => refusal(&decision),
            None => failure,
        }
    }

    /// Refuses unless something is allowed at an address, by rule or by somebody who is asked.
    pub(crate) async fn require(
        &self,
        address: &Address,
        capability: Capability,
        note: &mut Note,
    ) -> Result<(), Failure> {
        let decision = self.decide(&self.desk.rulebook(), address, capability);
        self.obey(&decision, capability, note).await
    }

    /// Does as was decided, which may be to ask somebody.
    async fn obey(
        &self,
        decision: &Decision,
        capability: Capability,
        note: &mut Note,
    ) -> Result<(), Failure> {
        let (ruling, answer) = match decision {
            Decision::Ask { .. } => {
                let by = decision.source().as_str();
                (ruling(Verdict::Ask, by, Some(capability.as_str())), self.ask(decision).await)
            }
            _ => self.obeyed(decision, capability),
        };
        note.ruled(ruling);
        answer
    }

    /// Asks somebody, and keeps what they say for as long as they say.
    async fn ask(&self, decision: &Decision) -> Result<(), Failure> {
        let Decision::Ask { why, site, capability, patience, .. } = decision else {
            return Err(refusal(decision));
        };
        let question = ApprovalQuestion {
            who: self.caller.told(self.client.as_ref().map(ClientName::as_str)),
            client: self.client.clone(),
            call: self.call,
            session: self.session.clone(),
            action: self.action.to_owned(),
            site: site.to_string(),
            capability: capability.as_str(),
            why: why.clone(),
        };
        let term = match self.approvals.ask(question, *patience).await {
            Outcome::Answered(ApprovalAnswer::Once) => {
                let pass = self.desk.pass(site.clone(), *capability, &self.session);
                self.passes.lock().unwrap_or_else(PoisonError::into_inner).push(pass);
                return Ok(());
            }
            Outcome::Answered(ApprovalAnswer::Session) => Term::Session(self.session.clone()),
            Outcome::Answered(ApprovalAnswer::Always) => Term::Always,
            Outcome::Answered(ApprovalAnswer::No) => {
                return Err(unapproved(decision, "Somebody was asked and said no."));
            }
            Outcome::Unanswered => {
                return Err(unapproved(decision, "Somebody was asked and did not answer in time."));
            }
            Outcome::NobodyThere => return Err(refusal(decision)),
        };
        let capabilities = Capabilities::NONE.with(*capability).with_reading();
        let stance = Stance::Grant { capabilities, term };
        self.desk.change(|ledger, time| ledger.add(site.clone(), stance, time, "an approval"))?;
        Ok(())
    }

    /// Where a tab is, as addresses to be judged: as it is called, and where that led if it is not the internet.
    pub(crate) async fn addresses_of(&self, place: Option<&Whereabouts>) -> Vec<Address> {
        let Some(place) = place else { return Vec::new() };
        let read = |text: &String| {
            let address = Address::read(text);
            if place.is_opened_by_page { address.opened_by_page() } else { address }
        };
        // Nobody notes them where nothing is judged by them.
        let sources = match self.profile {
            Profile::Guarded => self.hub.sources_of(&place.target).await,
            Profile::Open => Vec::new(),
        };
        with_sources(place.addresses.iter().map(read).collect(), &sources)
    }

    /// A list of tabs, those that may not be read without title and path.
    pub(crate) async fn veiled(&self, browser: &Browser, mut answered: Answered) -> Answered {
        let rulebook = self.desk.rulebook();
        let tabs: Vec<TabInfo> = browser.list_tabs();
        let Some(listed) = answered.value.get_mut("tabs").and_then(Value::as_array_mut) else {
            return answered;
        };
        let mut lines = Vec::new();
        for tab in listed {
            let id = tab.get("tab").and_then(Value::as_str).unwrap_or_default().to_owned();
            let known = tabs.iter().find(|known| known.tab.to_string() == id);
            let places = known.and_then(|known| browser.find_whereabouts(Some(known.tab)));
            let addresses = self.addresses_of(places.as_ref()).await;
            let may = |address: &Address| self.decide(&rulebook, address, Capability::Read).is_allowed();
            let is_open = !addresses.is_empty() && addresses.iter().all(may);
            if let Some(members) = tab.as_object_mut().filter(|_| !is_open) {
                members.insert("title".to_owned(), Value::from(WITHHELD));
                let told = addresses.first().map(Address::told).unwrap_or_default();
                members.insert("url".to_owned(), Value::from(told));
            }
            let text = |name: &str| tab.get(name).and_then(Value::as_str).unwrap_or_default();
            let mark = if tab.get("current") == Some(&Value::Bool(true)) { "*" } else { " " };
            let title: String = text("title").chars().take(60).collect();
            lines.push(format!("{mark} {id}  {title:?}  {}", text("url")));
        }
        answered.text = lines.join("\n");
        answered
    }
}

/// The addresses at which a need has to be allowed, with the tab where it is.
fn addresses_for(need: &Need, here: &[Address]) -> Vec<Address> {
    match &need.scope {
        Scope::Page => here.to_vec(),
        Scope::Tab => here.iter().filter(|address| **address != Address::Blank).cloned().collect(),
        Scope::Url(url) => vec![Address::read(url)],
        Scope::EverySite => vec![Address::Everywhere],
    }
}

/// Letters of an address behind its host, if it is longer than most: what going there can tell the site.
fn letters_after_host(address: &str) -> usize {
    let behind = address.split_once("://").and_then(|(_, rest)| rest.split_once('/'));
    let letters = behind.map_or(0, |(_, path)| path.chars().count());
    if letters > ADDRESS_FREE_CHARACTERS { letters } else { 0 }
}

/// Letters that an action is given for the page, its target aside.
fn letters_in(params: &Value) -> usize {
    match params {
        Value::String(text) => text.chars().count(),
        Value::Array(items) => items.iter().map(letters_in).sum(),
        Value::Object(members) => members
            .iter()
            .filter(|(name, _)| !AIMS.contains(&name.as_str()))
            .map(|(_, member)| letters_in(member))
            .sum(),
        _ => 0,
    }
}

/// The tab that is selected.
fn named_tab(action: &str, params: &Value) -> Option<TabId> {
    (action == "tab_select").then(|| params.get("id")?.as_str()?.parse().ok()).flatten()
}

/// The tab that a result tells of.
pub(crate) fn named_result(value: &Value) -> Option<TabId> {
    value.get("tab")?.as_str()?.parse().ok()
}

pub(crate) fn ruling(verdict: Verdict, by: &'static str, reason: Option<&'static str>) -> Ruling {
    Ruling { verdict, by, reason }
}

/// A decision as it is told to whoever asked.
pub(crate) fn refusal(decision: &Decision) -> Failure {
    let (why, remedy) = match decision {
        Decision::Deny { why, remedy, .. } => (why.clone(), remedy.clone()),
        Decision::Ask { why, remedy, .. } => (why.clone(), Some(remedy.clone())),
        Decision::Allow { .. } => ("The policy allows it.".to_owned(), None),
    };
    let hint = match &remedy {
        Some(remedy) => format!("A person can allow it in a terminal: `{remedy}`."),
        None => "Go to a page that is allowed; `tabwire policy show` tells what is.".to_owned(),
    };
    let details = serde_json::json!({"remedy": remedy, "decided_by": decision.source().to_string()});
    Failure::new(ErrorCode::PolicyDenied, why).with_hint(hint).with_details(details)
}

fn unapproved(decision: &Decision, what: &str) -> Failure {
    let refusal = refusal(decision);
    Failure { message: format!("{what} {}", refusal.message), ..refusal }
}

/// What is told when somebody allows a site that the tab was kept from on its way.
fn allowed_late() -> Failure {
    let message = "It leads to a site that was not allowed then and is now; nothing was asked of it yet.";
    Failure::new(ErrorCode::NotActionable, message).with_hint("Do it again.")
}

/// What is told when the page moved to where it may not be read.
pub(crate) fn moved(failure: Failure, answered: &Result<Answered, Failure>) -> Failure {
    let done = match answered {
        Ok(_) => "It was done, and what came of it is withheld",
        Err(_) => "It failed, and why is withheld",
    };
    Failure { message: format!("{done}, because of where the tab is now. {}", failure.message), ..failure }
}
