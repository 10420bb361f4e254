//! Judges an action's result before it is returned, by the page it came from and by every frame of that page.

use tabwire_api::{ErrorCode, Failure, Remedy, Step, TabId};
use tabwire_audit::Verdict;
use tabwire_engine::{ActionOutput, Browser, PageLocation};
use tabwire_policy::{Capability, Decision, PageUrl, Profile, ResultCheck, Scope, Site};

use crate::action::policy_check::{PolicyCheck, moved, named_result, refusal, ruling};
use crate::audit::entry::AuditEntry;

/// The member of a refusal's details with the URL that was refused, which the user may be asked about.
const JUDGED: &str = "judged_url";

/// The member with the capability that it needs.
const NEEDS: &str = "needs";

/// A refusal in a frame, with the details to ask the user about it.
pub(crate) fn frame_refusal(decision: &Decision, address: &PageUrl, capability: Capability) -> Failure {
    let mut failure = refusal(decision);
    failure.details[JUDGED] = address.label().into();
    failure.details[NEEDS] = capability.as_str().into();
    failure
}

impl PolicyCheck {
    /// Returns a result, or refuses it: the page may have navigated meanwhile.
    pub(crate) async fn after(
        &self,
        browser: &Browser,
        tab: Option<TabId>,
        outcome: Result<ActionOutput, Failure>,
        entry: &mut AuditEntry,
    ) -> Result<ActionOutput, Failure> {
        for ruling in self.take_late_rulings() {
            entry.ruled(ruling);
        }
        self.judge_stopped(&outcome, entry).await?;
        if outcome.as_ref().is_err_and(|failure| failure.code == ErrorCode::PolicyDenied) {
            entry.ruled(ruling(Verdict::Deny, "policy", None));
            return match outcome {
                Ok(output) => Ok(output),
                Err(failure) => Err(self.explain(browser, tab, failure).await),
            };
        }
        match self.needs.result() {
            ResultCheck::None => {
                outcome.iter().for_each(|output| self.record_exchange(&output.value));
                return outcome;
            }
            ResultCheck::TabList => {
                return match outcome {
                    Ok(output) => Ok(self.redact_tabs(browser, output).await),
                    Err(failure) => Err(failure),
                };
            }
            ResultCheck::Page => {}
        }
        let reached = outcome.as_ref().ok().and_then(|output| named_result(&output.value));
        self.judge_source_tab(browser, tab, reached, &outcome, entry).await?;
        let place = browser.find_location(reached.or(tab));
        for address in self.addresses_of(place.as_ref()).await {
            let allowed = self.require(&address, Capability::Read, entry).await;
            allowed.map_err(|failure| moved(failure, &outcome))?;
            if let Some(site) = Site::of(&address).filter(|_| outcome.is_ok()) {
                self.flows().record_read(&site);
            }
        }
        if let Some(place) = place.as_ref().filter(|_| self.needs.touches_page()) {
            self.refuse_hidden_frames(place)?;
        }
        Ok(self.with_notice(place.as_ref(), outcome?))
    }

    /// Checks the page that the action ran on, when the result names another tab.
    async fn judge_source_tab(
        &self,
        browser: &Browser,
        tab: Option<TabId>,
        reached: Option<TabId>,
        outcome: &Result<ActionOutput, Failure>,
        entry: &mut AuditEntry,
    ) -> Result<(), Failure> {
        let left = tab.filter(|tab| self.needs.touches_page() && reached.is_some_and(|other| other != *tab));
        let Some(place) = left.and_then(|tab| browser.find_location(Some(tab))) else { return Ok(()) };
        for address in self.addresses_of(Some(&place)).await {
            let allowed = self.require(&address, Capability::Read, entry).await;
            allowed.map_err(|failure| moved(failure, outcome))?;
        }
        Ok(())
    }

    /// Adds a notice about frames that the result leaves out.
    fn with_notice(&self, place: Option<&PageLocation>, mut output: ActionOutput) -> ActionOutput {
        let left_out = place.map(|place| self.frames_without(place, Capability::Read)).unwrap_or_default();
        if !left_out.is_empty() {
            let notice = format!("Frames of {} were left out: they may not be read.", left_out.join(", "));
            output.notices.push(notice);
        }
        output
    }

    /// Sites of frames in a page that lack a capability.
    fn frames_without(&self, place: &PageLocation, capability: Capability) -> Vec<String> {
        if place.frames.is_empty() || self.profile == Profile::Open && self.policy.denies_nothing() {
            return Vec::new();
        }
        let rulebook = self.policy.rulebook();
        let addresses = place.frames.iter().map(|url| PageUrl::parse(url));
        let denied = addresses.filter(|one| !self.decide(&rulebook, one, capability).is_allowed());
        let mut labels: Vec<String> = denied.map(|one| one.label()).collect();
        labels.sort_unstable();
        labels.dedup();
        labels
    }

    /// Refuses an action that would show frames that may not be read: a screenshot shows the whole page. If the session's
    /// profile is weaker than the action's, its engine filters nothing, so every frame needs the action's capabilities.
    pub(crate) fn refuse_hidden_frames(&self, place: &PageLocation) -> Result<(), Failure> {
        if self.needs.shows_every_frame() {
            self.refuse_frames(place, Capability::Read)?;
        }
        if !self.is_engine_filtered {
            for need in self.needs.iter().filter(|need| need.scope == Scope::Page) {
                self.refuse_frames(place, need.capability)?;
            }
        }
        Ok(())
    }

    fn refuse_frames(&self, place: &PageLocation, capability: Capability) -> Result<(), Failure> {
        let frames = self.frames_without(place, capability);
        let Some(first) = frames.first() else { return Ok(()) };
        let (list, word) = (frames.join(", "), capability.as_str());
        let message = format!(
            "The page has frames of {list}, which {} would include and which lack `{word}`.",
            self.action.name
        );
        let flag = if capability == Capability::Read { String::new() } else { format!(" --{word}") };
        let remedy = format!("tabwire allow {first}{flag}");
        Err(Failure::new(ErrorCode::PolicyDenied, message)
            .with_remedy(Remedy::new("The user can allow it: {}.", [Step::command(remedy.clone())]))
            .with_details(serde_json::json!({"remedy": remedy, "frames": frames})))
    }

    /// Whether to run an action again that was refused in a frame before it did anything: the user was asked and allowed it.
    pub(crate) async fn user_allows_retry(
        &self,
        outcome: &Result<ActionOutput, Failure>,
        entry: &mut AuditEntry,
    ) -> Result<bool, Failure> {
        let Err(failure) = outcome else { return Ok(false) };
        let word = |name: &str| failure.details.get(name).and_then(serde_json::Value::as_str);
        let (Some(url), Some(capability)) = (word(JUDGED), word(NEEDS).and_then(Capability::find)) else {
            return Ok(false);
        };
        let address = PageUrl::parse(url);
        let decision = self.decide(&self.policy.rulebook(), &address, capability);
        if !matches!(decision, Decision::Ask { .. }) {
            return Ok(false);
        }
        self.require(&address, capability, entry).await?;
        Ok(true)
    }
}
