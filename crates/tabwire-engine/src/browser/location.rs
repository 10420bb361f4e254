//! Where a tab is, told by the browser and by its page, for those who judge what may be seen. Asks nobody.

use tabwire_api::{TabId, TargetId};

use super::Browser;
use crate::download::manager::DownloadRule;
use crate::frames::policy::FramePolicy;
use crate::network::EgressPolicy;

/// What browsers show in place of a page that could not be loaded.
const ERROR_PAGE: &str = "chrome-error:";

/// Where a tab is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageLocation {
    /// The tab.
    pub tab: TabId,
    /// The browser's own name for it.
    pub target: TargetId,
    /// The page's address as the browser lists it, and as the page tells it when that is another. While a page moves,
    /// either may be late.
    pub urls: Vec<String>,
    /// Whether another page opened the tab.
    pub is_opened_by_page: bool,
    /// The URLs that frames in the page are judged by.
    pub frames: Vec<String>,
}

impl Browser {
    /// Decides once what may be done with the frames of pages.
    pub fn set_frame_policy(&self, policy: FramePolicy) {
        self.view.set_policy(policy);
    }

    /// Decides once what pages may reach by ways that show them nothing.
    pub fn set_egress_policy(&self, egress: EgressPolicy) {
        self.view.set_egress_policy(egress);
    }

    /// Decides once which downloads are let happen.
    pub fn set_download_rule(&self, rule: DownloadRule) {
        self.downloads.set_rule(rule, self.registry.clone());
    }

    /// Where a tab is, or the current one, as far as it was told.
    #[must_use]
    pub fn find_location(&self, tab: Option<TabId>) -> Option<PageLocation> {
        let target = match tab {
            None => self.current_target(&self.open_pages())?,
            Some(id) => self.find_target(id).ok()?,
        };
        let info = self.registry.find(&target)?;
        let frames = self.find_page(&target).map(|page| page.session().policy_urls()).unwrap_or_default();
        let told = frames.first().map(|(_, url)| url.clone());
        let is_news = |url: &String| !url.is_empty() && !url.starts_with(ERROR_PAGE) && *url != info.url;
        let mut urls = vec![info.url.clone()];
        urls.extend(told.filter(is_news));
        let others = frames.into_iter().skip(1).map(|(_, url)| url).collect();
        Some(PageLocation {
            tab: self.tab_id_of_target(&target),
            target,
            urls,
            is_opened_by_page: info.opener_id.is_some(),
            frames: others,
        })
    }
}
