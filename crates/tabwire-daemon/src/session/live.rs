//! A session with its browser.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use tabwire_api::api::{PolicyProfile, SessionOptions};
use tabwire_api::{BrowserContextId, Failure, PartitionId, UpstreamKind};
use tabwire_cdp::Deadline;
use tabwire_engine::{Browser, LoadState, Page};

use crate::browser::served::ServedBrowser;
use crate::session::gone;
use crate::session::leases::SavedLeases;
use crate::session::record::{RunningRecord, SavedTab};

/// The URL of an empty page.
const BLANK: &str = "about:blank";

#[derive(Debug)]
pub(crate) struct LiveSession {
    pub(crate) browser: Arc<ServedBrowser>,
    pub(crate) engine: Arc<Browser>,
    /// The options that callers gave.
    pub(crate) asked: SessionOptions,
    /// The options in effect.
    pub(crate) options: SessionOptions,
    /// Its partition of a shared browser.
    pub(crate) partition: Option<PartitionId>,
    /// Its browser context in a shared browser, with `--isolation context`.
    pub(crate) context: Option<BrowserContextId>,
    pub(crate) since: Instant,
    /// Set when the session was recorded as stopped. Later writes as running are dropped.
    pub(crate) is_stopped: AtomicBool,
}

impl LiveSession {
    pub(crate) fn is_gone(&self) -> bool {
        self.browser.hub.is_gone()
    }

    /// Opens the first tab of a browser. It has no owner, so CDP clients see it like the first tab of any browser.
    ///
    /// In a guarded session the tab is opened empty and then navigated, so that the guard sees the whole navigation.
    pub(crate) async fn open_first_tab(&self, url: &str, deadline: Deadline) -> Result<Page, Failure> {
        if self.options.policy() == PolicyProfile::Open || url == BLANK {
            return self.open_unowned_tab(url).await;
        }
        let page = self.open_empty_tab().await?;
        self.engine.navigate(&page, url, LoadState::Load, deadline).await?;
        Ok(page)
    }

    /// Opens an empty tab without an owner.
    pub(crate) async fn open_empty_tab(&self) -> Result<Page, Failure> {
        self.open_unowned_tab(BLANK).await
    }

    async fn open_unowned_tab(&self, url: &str) -> Result<Page, Failure> {
        let opened = self.browser.hub.open_tab(url, self.partition.clone()).await;
        self.engine.select_target(opened.map_err(gone)??).await
    }

    /// Opens an empty tab if there is none.
    pub(crate) async fn ensure_tab(&self) -> Result<(), Failure> {
        self.sync_tabs().await?;
        if self.engine.tab_count() == 0 {
            self.open_empty_tab().await?;
        }
        Ok(())
    }

    /// Waits for the tabs of the user's own browser, which reports them after it has connected.
    pub(crate) async fn sync_tabs(&self) -> Result<(), Failure> {
        if self.browser.upstream == UpstreamKind::Extension && self.engine.tab_count() == 0 {
            self.engine.sync().await?;
        }
        Ok(())
    }

    /// The record that a later daemon needs to find this browser and its tabs.
    pub(crate) fn to_record(&self, endpoint: String, leases: SavedLeases) -> RunningRecord {
        let descriptor = self.browser.descriptor.as_ref();
        RunningRecord {
            browser: descriptor.map(|descriptor| descriptor.id.clone()),
            instance: descriptor.map(|descriptor| descriptor.instance.clone()),
            process: descriptor.map(|descriptor| descriptor.browser),
            run: self.browser.run(),
            version: descriptor.and_then(|descriptor| descriptor.version.clone()),
            endpoint,
            options_digest: descriptor
                .map(|descriptor| descriptor.options_digest.clone())
                .unwrap_or_default(),
            partition: self.partition.clone(),
            context: self.context.clone(),
            // `all_of` numbers the tabs, so the tab ids are read after it.
            tabs: SavedTab::all_of(&self.engine),
            tab_ids: self.engine.tab_ids(),
            leases,
        }
    }
}
