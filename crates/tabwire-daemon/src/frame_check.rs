//! Where an action's result is judged before it is returned: by the page it came from and by every frame in it.

use tabwire_engine::{Answered, Browser, Whereabouts};
use tabwire_journal::Verdict;
use tabwire_policy::{Address, Capability, Decision, Ground, Profile, Site};
use tabwire_wire::{ErrorCode, Failure, TabId};

use crate::checkpoint::{Checkpoint, moved, named_result, refusal, ruling};
use crate::note::Note;

/// Actions whose result shows a page as a whole, frames included.
const SHOWS_WHOLE_PAGE: &[&str] = &["screenshot", "pdf", "record", "capture", "diff", "vitals"];

/// The member of a refusal's details that says which URL was judged; a person may be asked about it.
const JUDGED: &str = "judged_url";

/// The member that says what it needs.
const NEEDS: &str = "needs";

/// The refusal of something in a frame, with what a person could be asked.
pub(crate) fn frame_refusal(decision: &Decision, address: &Address, capability: Capability) -> Failure {
    let mut failure = refusal(decision);
    failure.details[JUDGED] = address.told().into();
    failure.details[NEEDS] = capability.as_str().into();
    failure
}

impl Checkpoint {
    /// Returns a result, or withholds it: the page may have moved meanwhile.
    pub(crate) async fn after(
        &self,
        browser: &Browser,
        tab: Option<TabId>,
        answered: Result<Answered, Failure>,
        note: &mut Note,
    ) -> Result<Answered, Failure> {
        for ruling in self.take_late_rulings() {
            note.ruled(ruling);
        }
        self.judge_stopped(&answered, note).await?;
        if answered.as_ref().is_err_and(|failure| failure.code == ErrorCode::PolicyDenied) {
            note.ruled(ruling(Verdict::Deny, "policy", None));
            return match answered {
                Ok(answered) => Ok(answered),
                Err(failure) => Err(self.explained(browser, tab, failure).await),
            };
        }
        match self.need.ground {
            Ground::Nowhere | Ground::Everywhere => return answered,
            Ground::Listing => {
                return match answered {
                    Ok(answered) => Ok(self.veiled(browser, answered).await),
                    Err(failure) => Err(failure),
                };
            }
            Ground::Page | Ground::Destination => {}
        }
        let reached = answered.as_ref().ok().and_then(|answered| named_result(&answered.value));
        self.judge_left(browser, tab, reached, &answered, note).await?;
        let place = browser.find_whereabouts(reached.or(tab));
        for address in self.addresses_of(place.as_ref()).await {
            let allowed = self.require(&address, Capability::Read, note).await;
            allowed.map_err(|failure| moved(failure, &answered))?;
            if let Some(site) = Site::of(&address).filter(|_| answered.is_ok()) {
                self.flows().has_read(&site);
            }
        }
        if let Some(place) = place.as_ref().filter(|_| self.need.ground == Ground::Page) {
            self.refuse_hidden_frames(place)?;
        }
        Ok(self.with_notice(place.as_ref(), answered?))
    }

    /// Judges the page that was looked at, when the result is about another tab.
    async fn judge_left(
        &self,
        browser: &Browser,
        tab: Option<TabId>,
        reached: Option<TabId>,
        answered: &Result<Answered, Failure>,
        note: &mut Note,
    ) -> Result<(), Failure> {
        let left =
            tab.filter(|tab| self.need.ground == Ground::Page && reached.is_some_and(|other| other != *tab));
        let Some(place) = left.and_then(|tab| browser.find_whereabouts(Some(tab))) else { return Ok(()) };
        for address in self.addresses_of(Some(&place)).await {
            let allowed = self.require(&address, Capability::Read, note).await;
            allowed.map_err(|failure| moved(failure, answered))?;
        }
        Ok(())
    }

    /// A result with a notice of the frames that it leaves out.
    fn with_notice(&self, place: Option<&Whereabouts>, mut answered: Answered) -> Answered {
        let left_out = place.map(|place| self.frames_without(place, Capability::Read)).unwrap_or_default();
        if !left_out.is_empty() {
            let told = format!("Frames of {} were left out: they may not be read.", left_out.join(", "));
            answered.notices.push(told);
        }
        answered
    }

    /// Sites of frames in a page that lack a capability.
    fn frames_without(&self, place: &Whereabouts, capability: Capability) -> Vec<String> {
        if place.frames.is_empty() || self.profile == Profile::Open && self.desk.denies_nothing() {
            return Vec::new();
        }
        let rulebook = self.desk.rulebook();
        let addresses = place.frames.iter().map(|url| Address::read(url));
        let denied = addresses.filter(|one| !self.decide(&rulebook, one, capability).is_allowed());
        let mut told: Vec<String> = denied.map(|one| one.told()).collect();
        told.sort_unstable();
        told.dedup();
        told
    }

    /// Refuses what would show frames that may not be read: a picture shows the whole page. The engine of a session
    /// with a weaker policy than this action's leaves nothing out, so there every frame needs what the action needs.
    pub(crate) fn refuse_hidden_frames(&self, place: &Whereabouts) -> Result<(), Failure> {
        if SHOWS_WHOLE_PAGE.contains(&self.action) {
            self.refuse_frames(place, Capability::Read)?;
        }
        if !self.is_veiled {
            for capability in self.need.capabilities {
                self.refuse_frames(place, *capability)?;
            }
        }
        Ok(())
    }

    fn refuse_frames(&self, place: &Whereabouts, capability: Capability) -> Result<(), Failure> {
        let frames = self.frames_without(place, capability);
        let Some(first) = frames.first() else { return Ok(()) };
        let (list, word) = (frames.join(", "), capability.as_str());
        let message = format!(
            "The page has frames of {list}, which {} would include and which lack `{word}`.",
            self.action
        );
        let flag = if capability == Capability::Read { String::new() } else { format!(" --{word}") };
        let remedy = format!("tabwire allow {first}{flag}");
        Err(Failure::new(ErrorCode::PolicyDenied, message)
            .with_hint(format!("A person can allow it in a terminal: `{remedy}`."))
            .with_details(serde_json::json!({"remedy": remedy, "frames": frames})))
    }

    /// Whether an action that was refused in a frame, before it did anything, may be run again: a person was asked and
    /// has allowed it.
    pub(crate) async fn allows_after_all(
        &self,
        answered: &Result<Answered, Failure>,
        note: &mut Note,
    ) -> Result<bool, Failure> {
        let Err(failure) = answered else { return Ok(false) };
        let word = |name: &str| failure.details.get(name).and_then(serde_json::Value::as_str);
        let (Some(url), Some(capability)) = (word(JUDGED), word(NEEDS).and_then(Capability::find)) else {
            return Ok(false);
        };
        let address = Address::read(url);
        let decision = self.decide(&self.desk.rulebook(), &address, capability);
        if !matches!(decision, Decision::Ask { .. }) {
            return Ok(false);
        }
        self.require(&address, capability, note).await?;
        Ok(true)
    }
}
