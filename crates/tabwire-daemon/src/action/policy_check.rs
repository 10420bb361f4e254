//! The policy check of an action: before it runs, and again before its result is returned.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use serde_json::Value;
use tabwire_api::{CallNumber, ClientName, ErrorCode, Failure, Remedy, Step, TabId};
use tabwire_audit::{Ruling, Verdict};
use tabwire_cdp::Deadline;
use tabwire_engine::{
    ActionOutput, Browser, CheckedParams, Definition, PageLocation, SHARED_TAB, STOPPED, TabInfo, TabUse,
};
use tabwire_policy::limits::URL_FREE_CHARACTERS;
use tabwire_policy::{AccessRequest, Capability, Decision, PageUrl, Policy, Profile};
use tabwire_policy::{FlowTracker, Site};
use tabwire_policy::{Need, Needs, Scope};

use crate::audit::entry::AuditEntry;
use crate::http::agent_name::agent_name;
use crate::http::caller::Caller;
use crate::hub::Hub;
use crate::limits::ACTION_DEADLINE;
use crate::policy::approvals::{ApprovalQueue, ApprovalRequest};
use crate::policy::asking::ask_user;
use crate::policy::cdp_guard::with_sources;
use crate::policy::store::{OneTimeGrant, PolicyStore, now};
use crate::session::live::LiveSession;

/// Replaces a title that may not be read.
const WITHHELD: &str = "(withheld by the policy)";

/// One action and its policy.
#[derive(Clone, Debug)]
pub(crate) struct PolicyCheck {
    pub(crate) policy: Arc<PolicyStore>,
    /// Knows the remote IP addresses of pages.
    pub(crate) hub: Hub,
    pub(crate) approvals: Arc<ApprovalQueue>,
    /// The client.
    pub(crate) caller: Caller,
    /// Decisions during the action, for the audit log.
    pub(crate) late_decisions: Arc<Mutex<Vec<Ruling>>>,
    /// The name the client gives itself.
    pub(crate) client: Option<ClientName>,
    /// The agent's name, once it is needed: to find it can take several reads of `/proc`.
    pub(crate) agent: Arc<OnceLock<String>>,
    /// The MCP call, if its client can ask its user.
    pub(crate) call: Option<CallNumber>,
    /// One-time grants of this action.
    pub(crate) one_time_grants: Arc<Mutex<Vec<OneTimeGrant>>>,
    /// The sites that the session has read, and the data it took to other sites.
    pub(crate) flows: Arc<Mutex<FlowTracker>>,
    pub(crate) profile: Profile,
    /// Whether the session's engine filters with the same profile, and so leaves out frames that may not be read.
    pub(crate) is_engine_filtered: bool,
    /// The session, as grants name it.
    pub(crate) session: String,
    pub(crate) action: &'static Definition,
    /// The capabilities that the action needs with its parameters.
    pub(crate) needs: Needs,
}

impl PolicyCheck {
    /// Decides on one address and capability.
    pub(crate) fn decide(&self, rulebook: &Policy, address: &PageUrl, capability: Capability) -> Decision {
        let session = Some(self.session.as_str());
        let request = AccessRequest { profile: self.profile, url: address, capability, session, now: now() };
        if !rulebook.grants.names_agents() || self.profile == Profile::Open {
            return rulebook.decide(&request);
        }
        // The guard on the session's pages judges by the agents that use the session.
        self.policy.add_agent(&self.session, self.agent());
        rulebook.decide_for(&request, self.agent())
    }

    /// The agent's name, as its user knows it.
    fn agent(&self) -> &str {
        self.agent.get_or_init(|| agent_name(self.client.as_ref(), &self.caller))
    }

    /// Like [`Self::require`], on a blocking thread while the action runs.
    pub(crate) fn require_blocking(&self, address: &PageUrl, capability: Capability) -> Result<(), Failure> {
        let decision = self.decide(&self.policy.rulebook(), address, capability);
        let (ruling, response) = match &decision {
            Decision::Ask { .. } => {
                let response = tokio::runtime::Handle::current().block_on(self.ask(&decision));
                (ruling(Verdict::Ask, decision.source().as_str(), Some(capability.as_str())), response)
            }
            _ => self.apply_without_asking(&decision, capability),
        };
        self.late_decisions.lock().unwrap_or_else(PoisonError::into_inner).push(ruling);
        response
    }

    /// The result of a decision that does not ask the user.
    fn apply_without_asking(
        &self,
        decision: &Decision,
        capability: Capability,
    ) -> (Ruling, Result<(), Failure>) {
        let (verdict, response) = match decision {
            Decision::Allow { .. } => (Verdict::Allow, Ok(())),
            Decision::Deny { .. } | Decision::Ask { .. } => (Verdict::Deny, Err(refusal(decision))),
        };
        (ruling(verdict, decision.source().as_str(), Some(capability.as_str())), response)
    }

    /// Allows or refuses an action before it runs. Returns the tab that was checked, which the action must use.
    pub(crate) async fn before(
        &self,
        browser: &Browser,
        tab: Option<TabId>,
        params: &Value,
        entry: &mut AuditEntry,
    ) -> Result<Option<TabId>, Failure> {
        let place = browser.find_location(selected_tab(self.action, params).or(tab));
        if place.is_none() && self.needs.touches_page() && self.profile == Profile::Guarded {
            return Err(Failure::new(
                ErrorCode::TabNotFound,
                "There is no such tab. It may have been closed.",
            )
            .with_remedy(Remedy::new("Run {} to list the open tabs.", [Step::action("tabs")])));
        }
        if !self.is_engine_filtered && self.needs.shows_past() {
            self.require(&PageUrl::Everywhere, Capability::Read, entry).await?;
        }
        let here = self.addresses_of(place.as_ref()).await;
        for need in self.needs.iter() {
            for address in addresses_for(need, &here) {
                self.require(&address, need.capability, entry).await?;
            }
        }
        for (address, characters) in self.brought(&here, params) {
            self.check_flow(&address, characters, entry).await?;
        }
        let Some(place) = place.filter(|_| self.needs.touches_page()) else { return Ok(tab) };
        self.refuse_hidden_frames(&place)?;
        let is_fixed = self.profile == Profile::Guarded && selected_tab(self.action, params).is_none();
        Ok(if is_fixed { Some(place.tab) } else { tab })
    }

    /// Whether the action is allowed on a tab now, without a question to the user.
    pub(crate) async fn is_allowed_now(&self, browser: &Browser, tab: Option<TabId>) -> bool {
        let Some(place) = browser.find_location(tab) else { return false };
        let here = self.addresses_of(Some(&place)).await;
        let rulebook = self.policy.rulebook();
        let is_allowed = |need: &Need| {
            let addresses = addresses_for(need, &here);
            addresses.iter().all(|address| self.decide(&rulebook, address, need.capability).is_allowed())
        };
        self.needs.iter().all(is_allowed) && self.refuse_hidden_frames(&place).is_ok()
    }

    /// The addresses that receive data with this action, and how many characters.
    fn brought(&self, here: &[PageUrl], params: &Value) -> Vec<(PageUrl, usize)> {
        let mut brought: Vec<_> =
            self.needs.urls().map(|url| (PageUrl::parse(url), self.sent_to(url))).collect();
        if self.needs.gives_to_page() {
            brought.extend(here.first().map(|here| (here.clone(), characters_given(self.action, params))));
        }
        brought
    }

    /// Characters that go to a URL: its own, and those that the action sends.
    fn sent_to(&self, url: &str) -> usize {
        characters_after_host(url) + self.needs.exchanged().unwrap_or(0)
    }

    /// Records the sites whose responses the action returns.
    pub(crate) fn record_exchange(&self, result: &Value) {
        if self.needs.exchanged().is_none() {
            return;
        }
        let reached = result.get("url").and_then(Value::as_str);
        for url in self.needs.urls().chain(reached) {
            if let Some(site) = Site::of(&PageUrl::parse(url)) {
                self.flows().record_read(&site);
            }
        }
    }

    /// Asks the user before much data that may have been read on one site goes to another.
    async fn check_flow(
        &self,
        address: &PageUrl,
        characters: usize,
        entry: &mut AuditEntry,
    ) -> Result<(), Failure> {
        let Some(site) = Site::of(address) else { return Ok(()) };
        let Some(flow) = self.flows().flow_to(&site, characters) else { return Ok(()) };
        entry.flow(&flow);
        if flow.is_long() {
            let mut decision = self.decide(&self.policy.rulebook(), address, Capability::Carry);
            decision.explain(&flow.sentence());
            self.apply(&decision, Capability::Carry, entry).await?;
        }
        self.flows().record_sent(&flow);
        Ok(())
    }

    /// Takes the decisions during the action.
    pub(crate) fn take_late_rulings(&self) -> Vec<Ruling> {
        std::mem::take(&mut *self.late_decisions.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn flows(&self) -> MutexGuard<'_, FlowTracker> {
        self.flows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Refuses an action whose navigation was blocked. The user may allow it for the next time.
    pub(crate) async fn judge_stopped(
        &self,
        outcome: &Result<ActionOutput, Failure>,
        entry: &mut AuditEntry,
    ) -> Result<(), Failure> {
        let stopped = outcome.as_ref().err().and_then(|failure| failure.details.get(STOPPED)?.as_str());
        let Some(stopped) = stopped else { return Ok(()) };
        self.require(&PageUrl::parse(stopped), Capability::Read, entry).await?;
        Err(allowed_late())
    }

    /// Adds the grant that would allow it to a refusal of the CDP guard, if the tab's address is the cause.
    pub(crate) async fn explain(&self, browser: &Browser, tab: Option<TabId>, failure: Failure) -> Failure {
        if !failure.details.is_null() {
            return failure;
        }
        let place = browser.find_location(tab);
        let rulebook = self.policy.rulebook();
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

    /// Fails unless a capability is allowed at an address, by a rule or by the user.
    pub(crate) async fn require(
        &self,
        address: &PageUrl,
        capability: Capability,
        entry: &mut AuditEntry,
    ) -> Result<(), Failure> {
        let decision = self.decide(&self.policy.rulebook(), address, capability);
        self.apply(&decision, capability, entry).await
    }

    /// Applies a decision, which may ask the user.
    async fn apply(
        &self,
        decision: &Decision,
        capability: Capability,
        entry: &mut AuditEntry,
    ) -> Result<(), Failure> {
        let (ruling, response) = match decision {
            Decision::Ask { .. } => {
                let by = decision.source().as_str();
                (ruling(Verdict::Ask, by, Some(capability.as_str())), self.ask(decision).await)
            }
            _ => self.apply_without_asking(decision, capability),
        };
        entry.ruled(ruling);
        response
    }

    /// Asks the user, and stores the grant for the chosen term.
    async fn ask(&self, decision: &Decision) -> Result<(), Failure> {
        let Decision::Ask { why, site, capability, .. } = decision else {
            return Err(refusal(decision));
        };
        let question = ApprovalRequest {
            who: self.caller.label(self.client.as_ref().map(ClientName::as_str)),
            agent: self.agent().to_owned(),
            client: self.client.clone(),
            call: self.call,
            session: self.session.clone(),
            action: self.action.name.to_owned(),
            site: site.to_string(),
            capability: capability.as_str(),
            why: why.clone(),
        };
        let once = ask_user(&self.policy, &self.approvals, decision, question).await?;
        self.one_time_grants.lock().unwrap_or_else(PoisonError::into_inner).extend(once);
        Ok(())
    }

    /// The addresses of a tab: its URLs, and the private IP addresses that they resolved to.
    pub(crate) async fn addresses_of(&self, place: Option<&PageLocation>) -> Vec<PageUrl> {
        let Some(place) = place else { return Vec::new() };
        let read = |text: &String| {
            let address = PageUrl::parse(text);
            if place.is_opened_by_page { address.opened_by_page() } else { address }
        };
        // They are tracked in guarded sessions only.
        let sources = match self.profile {
            Profile::Guarded => self.hub.sources_of(&place.target).await,
            Profile::Open => Vec::new(),
        };
        with_sources(place.urls.iter().map(read).collect(), &sources)
    }

    /// The site of a tab that may not be read, which replaces its URL in lists; `None` if it may be read.
    pub(crate) async fn label_if_hidden(
        &self,
        rulebook: &Policy,
        browser: &Browser,
        tab: Option<TabId>,
    ) -> Option<String> {
        let place = tab.and_then(|tab| browser.find_location(Some(tab)));
        let addresses = self.addresses_of(place.as_ref()).await;
        let may_read = |address: &PageUrl| self.decide(rulebook, address, Capability::Read).is_allowed();
        let is_readable = !addresses.is_empty() && addresses.iter().all(may_read);
        (!is_readable).then(|| addresses.first().map(PageUrl::label).unwrap_or_default())
    }

    /// Replaces the name of a tab in the parameters by its id. A tab that may not be read has no title.
    pub(crate) async fn resolve_tab_name(
        &self,
        live: &LiveSession,
        params: &mut CheckedParams,
    ) -> Result<(), Failure> {
        let list = self.action.parameter_list();
        let Some(parameter) = list.iter().find(|parameter| parameter.carries("tab")) else { return Ok(()) };
        let name = match params.as_value().get(&parameter.name) {
            Some(Value::String(name)) => name.clone(),
            // Models give the number as a number.
            Some(Value::Number(number)) => number.to_string(),
            _ => return Ok(()),
        };
        let tab = self.find_named_tab(live, &name).await?;
        params.set(&parameter.name, Value::from(tab.to_string()));
        Ok(())
    }

    /// The tab with an id, a number, or a part of its title or URL. Tabs that the client may not read are found by id and
    /// number only.
    pub(crate) async fn find_named_tab(&self, live: &LiveSession, name: &str) -> Result<TabId, Failure> {
        if let Ok(tab) = name.parse() {
            return Ok(tab);
        }
        live.sync_tabs().await?;
        let rulebook = self.policy.rulebook();
        let mut readable = Vec::new();
        for info in live.engine.list_tabs() {
            if self.label_if_hidden(&rulebook, &live.engine, Some(info.tab)).await.is_none() {
                readable.push(info.tab);
            }
        }
        let deadline = Deadline::after(ACTION_DEADLINE);
        live.engine.find_tab(name, |info| readable.contains(&info.tab), deadline).await
    }

    /// A list of tabs. Those that may not be read lose title and path.
    pub(crate) async fn redact_tabs(&self, browser: &Browser, mut output: ActionOutput) -> ActionOutput {
        let rulebook = self.policy.rulebook();
        let tabs: Vec<TabInfo> = browser.list_tabs();
        let Some(listed) = output.value.get_mut("tabs").and_then(Value::as_array_mut) else {
            return output;
        };
        let mut lines = Vec::new();
        for tab in listed {
            let id = tab.get("tab").and_then(Value::as_str).unwrap_or_default().to_owned();
            let known = tabs.iter().find(|known| known.tab.to_string() == id);
            let label = self.label_if_hidden(&rulebook, browser, known.map(|known| known.tab)).await;
            if let (Some(label), Some(members)) = (label, tab.as_object_mut()) {
                members.insert("title".to_owned(), Value::from(WITHHELD));
                members.insert("url".to_owned(), Value::from(label));
            }
            let text = |name: &str| tab.get(name).and_then(Value::as_str).unwrap_or_default();
            let mark = if tab.get("current") == Some(&Value::Bool(true)) { "*" } else { " " };
            let title: String = text("title").chars().take(60).collect();
            let shared = if tab.get("shared") == Some(&Value::Bool(true)) { SHARED_TAB } else { "" };
            lines.push(format!("{mark} {id}  {title:?}  {}{shared}", text("url")));
        }
        output.text = lines.join("\n");
        output
    }
}

/// The addresses at which a need must be allowed.
fn addresses_for(need: &Need, here: &[PageUrl]) -> Vec<PageUrl> {
    match &need.scope {
        Scope::Page => here.to_vec(),
        Scope::Tab => here.iter().filter(|address| **address != PageUrl::Blank).cloned().collect(),
        Scope::Url(url) => vec![PageUrl::parse(url)],
        Scope::EverySite => vec![PageUrl::Everywhere],
    }
}

/// Characters of a URL after its host, if there are many: data that a navigation sends to the site.
fn characters_after_host(address: &str) -> usize {
    let behind = address.split_once("://").and_then(|(_, rest)| rest.split_once('/'));
    let letters = behind.map_or(0, |(_, path)| path.chars().count());
    if letters > URL_FREE_CHARACTERS { letters } else { 0 }
}

/// Characters of the parameters that go to the page. Parameters that select an element or a tab carry no data to it.
fn characters_given(action: &Definition, params: &Value) -> usize {
    let list = action.parameter_list();
    let given =
        list.iter().filter(|one| !matches!(one.carries.as_deref(), Some("target" | "target_or_url" | "tab")));
    given.filter_map(|one| params.get(&one.name)).map(characters_in).sum()
}

/// Characters of every text in a value, targets of form fields aside.
fn characters_in(params: &Value) -> usize {
    match params {
        Value::String(text) => text.chars().count(),
        Value::Array(items) => items.iter().map(characters_in).sum(),
        Value::Object(members) => members
            .iter()
            .filter(|(name, _)| name.as_str() != "target")
            .map(|(_, member)| characters_in(member))
            .sum(),
        _ => 0,
    }
}

/// The tab that an action selects.
fn selected_tab(action: &Definition, params: &Value) -> Option<TabId> {
    (action.tab == TabUse::Selects).then(|| action.named_tab(params)).flatten()
}

/// The tab that a result names.
pub(crate) fn named_result(value: &Value) -> Option<TabId> {
    value.get("tab")?.as_str()?.parse().ok()
}

pub(crate) fn ruling(verdict: Verdict, by: &'static str, reason: Option<&'static str>) -> Ruling {
    Ruling { verdict, by, reason }
}

/// The failure for a decision.
pub(crate) fn refusal(decision: &Decision) -> Failure {
    let (why, remedy) = match decision {
        Decision::Deny { why, remedy, .. } => (why.clone(), remedy.clone()),
        Decision::Ask { why, remedy, .. } => (why.clone(), Some(remedy.clone())),
        Decision::Allow { .. } => ("The policy allows it.".to_owned(), None),
    };
    let advice = match &remedy {
        Some(remedy) => Remedy::new("The user can allow it: {}.", [Step::command(remedy.clone())]),
        None => {
            let show = Step::command("tabwire policy show");
            Remedy::new("Navigate to an allowed page. {} lists the rules.", [show])
        }
    };
    let details = serde_json::json!({"remedy": remedy, "decided_by": decision.source().to_string()});
    Failure::new(ErrorCode::PolicyDenied, why).with_remedy(advice).with_details(details)
}

/// The failure when the user allows a site after the navigation to it was blocked.
fn allowed_late() -> Failure {
    let message = "The navigation was blocked before the user allowed the site. The site is allowed now.";
    Failure::new(ErrorCode::NotActionable, message).with_remedy("Retry.")
}

/// The failure when the page navigated to a site that may not be read.
pub(crate) fn moved(failure: Failure, outcome: &Result<ActionOutput, Failure>) -> Failure {
    let done = match outcome {
        Ok(_) => "The action was done, but its result is withheld",
        Err(_) => "The action failed, but its error is withheld",
    };
    Failure { message: format!("{done}: the tab is on another site now. {}", failure.message), ..failure }
}
