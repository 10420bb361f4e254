//! The URLs of a tab and its frames, for policy checks, from events alone: no command is sent.

use std::sync::Arc;

use tabwire_api::{TabId, TargetId};

use super::Browser;
use crate::download::manager::DownloadRule;
use crate::files::{Files, RemoteFiles};
use crate::frames::policy::FramePolicy;
use crate::network::EgressPolicy;

/// The scheme of Chrome's page for a URL that could not be loaded.
const ERROR_PAGE: &str = "chrome-error:";

/// The URLs of a tab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageLocation {
    /// The tab.
    pub tab: TabId,
    /// Its CDP target id.
    pub target: TargetId,
    /// The URL in the browser's target list, and the URL that the page's frame events report if it differs. During a
    /// navigation either may be outdated.
    pub urls: Vec<String>,
    /// Whether another page opened the tab.
    pub is_opened_by_page: bool,
    /// The URLs that frames in the page are judged by.
    pub frames: Vec<String>,
}

impl Browser {
    /// Sets the frame policy, once.
    pub fn set_frame_policy(&self, policy: FramePolicy) {
        self.view.set_policy(policy);
    }

    /// Sets the egress policy, once.
    pub fn set_egress_policy(&self, egress: EgressPolicy) {
        self.view.set_egress_policy(egress);
    }

    /// Sets the rule for downloads, once.
    pub fn set_download_rule(&self, rule: DownloadRule) {
        self.downloads.set_rule(rule, self.registry.clone());
    }

    /// Moves uploads and downloads between this machine and that of the browser.
    pub fn set_remote_files(&self, remote: Arc<dyn RemoteFiles>, files: Arc<dyn Files>) {
        self.downloads.follow_remote(remote, files);
    }

    /// The URLs of a tab, or of the current one, as last reported.
    #[must_use]
    pub fn find_location(&self, tab: Option<TabId>) -> Option<PageLocation> {
        let target = match tab {
            None => self.current_target(&self.open_pages())?,
            Some(id) => self.find_target(id).ok()?,
        };
        let info = self.registry.find(&target)?;
        let frames = self.find_page(&target).map(|page| page.session().policy_urls()).unwrap_or_default();
        let reported = frames.first().map(|(_, url)| url.clone());
        let is_different = |url: &String| !url.is_empty() && !url.starts_with(ERROR_PAGE) && *url != info.url;
        let mut urls = vec![info.url.clone()];
        urls.extend(reported.filter(is_different));
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
