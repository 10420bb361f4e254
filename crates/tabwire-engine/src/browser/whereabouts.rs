//! Where a tab is, told by the browser and by its page, for those who judge what may be seen. Asks nobody.

use tabwire_wire::{TabId, TargetId};

use super::Browser;
use crate::download_rule::DownloadRule;
use crate::frame_policy::FramePolicy;
use crate::network::Containment;

/// What browsers show in place of a page that could not be loaded.
const ERROR_PAGE: &str = "chrome-error:";

/// Where a tab is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whereabouts {
    /// The tab.
    pub tab: TabId,
    /// The browser's own name for it.
    pub target: TargetId,
    /// The page's address as the browser lists it, and as the page tells it when that is another. While a page moves,
    /// either may be late.
    pub addresses: Vec<String>,
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
    pub fn set_containment(&self, containment: Containment) {
        self.view.set_containment(containment);
    }

    /// Decides once which downloads are let happen.
    pub fn set_download_rule(&self, rule: DownloadRule) {
        self.downloads.set_rule(rule, self.registry.clone());
    }

    /// Where a tab is, or the current one, as far as it was told.
    #[must_use]
    pub fn find_whereabouts(&self, tab: Option<TabId>) -> Option<Whereabouts> {
        let target = match tab {
            None => self.choose_current(&self.open_pages())?,
            Some(id) => self.find_target(id).ok()?,
        };
        let info = self.registry.find(&target)?;
        let frames = self.find_page(&target).map(|page| page.driver().judged_frames()).unwrap_or_default();
        let told = frames.first().map(|(_, url)| url.clone());
        let is_news = |url: &String| !url.is_empty() && !url.starts_with(ERROR_PAGE) && *url != info.url;
        let mut addresses = vec![info.url.clone()];
        addresses.extend(told.filter(is_news));
        let others = frames.into_iter().skip(1).map(|(_, url)| url).collect();
        Some(Whereabouts {
            tab: self.tab_of_target(&target),
            target,
            addresses,
            is_opened_by_page: info.opener_id.is_some(),
            frames: others,
        })
    }
}
