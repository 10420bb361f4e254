//! Which tabs the dashboard may show, by the judgement that screenshots get: the policy has to allow `read` on the page
//! and on every frame in it.

use schemars::JsonSchema;
use serde::Serialize;
use tabwire_api::{SessionKey, TabId, TargetId};
use tabwire_engine::{PageLocation, TabInfo};
use tabwire_policy::{AccessRequest, Capability, PageUrl, Profile};

use crate::control::{Driver, Holder, UserControl};
use crate::policy::cdp_guard::with_sources;
use crate::policy::store::{PolicyStore, now};
use crate::session::live::LiveSession;

/// Tabs that are listed.
const TABS: usize = 50;

/// A tab in the list of a stage.
#[derive(Serialize, JsonSchema)]
pub(super) struct ShownTab {
    #[schemars(with = "String")]
    pub(super) tab: TabId,
    /// Absent for a page that may not be read.
    title: Option<String>,
    /// The URL, or the site of a page that may not be read.
    url: String,
    shared: bool,
}

/// Who drives a tab.
#[derive(Serialize, JsonSchema)]
pub(super) struct ShownDriver {
    /// `agent`, `you`, or `other` for the user in another dashboard.
    who: &'static str,
    /// The name of the agent.
    agent: Option<String>,
    /// What the agent does, or did a moment ago.
    action: Option<&'static str>,
}

impl ShownDriver {
    /// The user who has taken the tab over, else the agent that acts in it; `None` if no agent does.
    pub(super) fn find(
        control: &UserControl,
        session: &SessionKey,
        target: &TargetId,
        own: Holder,
    ) -> Option<Self> {
        if let Some(holder) = control.holder_of(target) {
            let who = if holder == own { "you" } else { "other" };
            return Some(Self { who, agent: None, action: None });
        }
        let Driver { agent, action } = control.driver_of(session, target)?;
        Some(Self { who: "agent", agent: Some(agent), action: Some(action) })
    }
}

/// The open tab that the agents of a session used last.
pub(super) fn find_used(control: &UserControl, session: &SessionKey, tabs: &[TabInfo]) -> Option<TabId> {
    let used = control.last_used(session, |target| tabs.iter().any(|info| info.target == *target))?;
    tabs.iter().find(|info| info.target == used).map(|info| info.tab)
}

/// The judge of one session.
pub(super) struct Judge<'a> {
    pub(super) policy: &'a PolicyStore,
    pub(super) session: &'a SessionKey,
    pub(super) live: &'a LiveSession,
}

impl Judge<'_> {
    fn profile(&self) -> Profile {
        self.live.options.policy()
    }

    /// The site of a page that may not be shown; `None` if it may.
    pub(super) async fn refused_site(&self, location: &PageLocation) -> Option<String> {
        let mut addresses = self.addresses(location).await;
        addresses.extend(location.frames.iter().map(|url| PageUrl::parse(url)));
        self.first_refused(&addresses)
    }

    fn first_refused(&self, addresses: &[PageUrl]) -> Option<String> {
        let (rulebook, name) = (self.policy.rulebook(), self.session.to_string());
        let may_read = |url: &PageUrl| {
            let (profile, capability, session) = (self.profile(), Capability::Read, Some(name.as_str()));
            rulebook.decide(&AccessRequest { profile, url, capability, session, now: now() }).is_allowed()
        };
        addresses.iter().find(|address| !may_read(address)).map(PageUrl::label)
    }

    async fn addresses(&self, location: &PageLocation) -> Vec<PageUrl> {
        let read = |text: &String| {
            let address = PageUrl::parse(text);
            if location.is_opened_by_page { address.opened_by_page() } else { address }
        };
        // They are tracked in guarded sessions only.
        let sources = match self.profile() {
            Profile::Guarded => self.live.browser.hub.sources_of(&location.target).await,
            Profile::Open => Vec::new(),
        };
        with_sources(location.urls.iter().map(read).collect(), &sources)
    }

    /// The tabs as the user may see them.
    pub(super) async fn tabs(&self, tabs: Vec<TabInfo>) -> Vec<ShownTab> {
        let mut shown = Vec::new();
        for info in tabs.into_iter().take(TABS) {
            let location = self.live.engine.find_location(Some(info.tab));
            let refused = match &location {
                Some(location) => self.first_refused(&self.addresses(location).await),
                None => Some(String::new()),
            };
            let TabInfo { tab, title, url, shared, .. } = info;
            shown.push(match refused {
                Some(site) => ShownTab { tab, title: None, url: site, shared },
                None => ShownTab { tab, title: Some(title), url, shared },
            });
        }
        shown
    }
}
