//! Lists the tabs of a browser.

use schemars::JsonSchema;
use serde::Serialize;
use tabwire_api::{Failure, TabId, TargetId};
use tabwire_cdp::{CdpError, Deadline, TargetInfo};

use crate::browser::Browser;
use crate::snapshot::title;

/// One tab in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TabInfo {
    /// Its id.
    #[schemars(with = "String")]
    pub tab: TabId,
    /// Its CDP target id.
    #[serde(skip)]
    pub target: TargetId,
    /// Its title.
    pub title: String,
    /// Its URL.
    pub url: String,
    /// Whether commands that name no tab act on it.
    pub current: bool,
    /// Whether the user opened it. It is used only when it is selected or named.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub shared: bool,
    /// The tab whose page opened it.
    #[schemars(with = "Option<String>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opener: Option<TabId>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct TargetList {
    target_infos: Vec<TargetInfo>,
}

impl Browser {
    /// How many tabs are open.
    #[must_use]
    pub fn tab_count(&self) -> usize {
        self.open_pages().len()
    }

    /// The tabs as they are now, in the order of their ids.
    ///
    /// Sends a command for the titles: Chrome sends no event when one changes.
    ///
    /// # Errors
    /// When the browser does not respond.
    pub async fn tabs(&self, deadline: impl Into<Deadline>) -> Result<Vec<TabInfo>, Failure> {
        let listing = self.connection.browser().begin("Target.getTargets", &(), deadline);
        let response = match listing {
            Ok(listing) => listing.response().await,
            Err(error) => Err(error),
        };
        let listed: TargetList =
            response.and_then(|response| response.to()).map_err(CdpError::into_failure)?;
        let known = self.forget_closed();
        let is_known = |info: &TargetInfo| known.iter().any(|open| open.target_id == info.target_id);
        Ok(self.describe(listed.target_infos.into_iter().filter(is_known).collect()))
    }

    /// The tabs as the browser last reported them, in the order of their ids. Titles may be outdated.
    #[must_use]
    pub fn list_tabs(&self) -> Vec<TabInfo> {
        self.describe(self.open_pages())
    }

    fn describe(&self, open: Vec<TargetInfo>) -> Vec<TabInfo> {
        let current = self.current_target(&open);
        let mut state = self.state();
        let mut tabs: Vec<TabInfo> = open
            .into_iter()
            .map(|info| TabInfo {
                tab: state.tab_ids.id_of(&info.target_id),
                current: current.as_ref() == Some(&info.target_id),
                opener: info.opener_id.as_ref().and_then(|opener| state.tab_ids.find_id(opener)),
                shared: info.is_user_tab,
                target: info.target_id,
                title: title(&info.title).as_str().to_owned(),
                url: info.url,
            })
            .collect();
        tabs.sort_unstable_by_key(|tab| tab.tab.number);
        tabs
    }
}
