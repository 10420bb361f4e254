//! A session with its browser.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use tabwire_cdp::Deadline;
use tabwire_engine::{Browser, LoadState, Page};
use tabwire_wire::api::{PolicyProfile, SessionOptions};
use tabwire_wire::{BrowserContextId, Failure, RealmId, UpstreamKind};

use crate::lease_table::SavedLeases;
use crate::served_browser::ServedBrowser;
use crate::session::gone;
use crate::session_record::{RunningRecord, SavedTab};

/// The address of an empty page.
const BLANK: &str = "about:blank";

#[derive(Debug)]
pub(crate) struct LiveSession {
    pub(crate) browser: Arc<ServedBrowser>,
    pub(crate) engine: Arc<Browser>,
    /// What callers asked for.
    pub(crate) asked: SessionOptions,
    /// What is in force.
    pub(crate) options: SessionOptions,
    /// Its part of a browser that it shares with other sessions.
    pub(crate) realm: Option<RealmId>,
    /// Its cookie jar in such a browser, when it has one of its own.
    pub(crate) context: Option<BrowserContextId>,
    pub(crate) since: Instant,
    /// Set when the session was stopped and that is written down; what still wants to write it as running is late.
    pub(crate) is_stopped: AtomicBool,
}

impl LiveSession {
    pub(crate) fn is_gone(&self) -> bool {
        self.browser.hub.is_gone()
    }

    /// Opens a tab in a browser that has none. It is nobody's: CDP clients are shown it as a browser's first.
    ///
    /// In a guarded session it is opened empty and then goes there, so that everything is followed from its beginning.
    pub(crate) async fn open_first_tab(&self, url: &str, deadline: Deadline) -> Result<Page, Failure> {
        if self.options.policy() == PolicyProfile::Open || url == BLANK {
            return self.open_nobodys_tab(url).await;
        }
        let page = self.open_empty_tab().await?;
        self.engine.navigate(&page, url, LoadState::Load, deadline).await?;
        Ok(page)
    }

    /// Opens an empty tab in the same way.
    pub(crate) async fn open_empty_tab(&self) -> Result<Page, Failure> {
        self.open_nobodys_tab(BLANK).await
    }

    async fn open_nobodys_tab(&self, url: &str) -> Result<Page, Failure> {
        let opened = self.browser.hub.open_tab(url, self.realm.clone()).await;
        self.engine.take_up(opened.map_err(gone)??).await
    }

    /// Sees to it that there is a tab.
    pub(crate) async fn ensure_tab(&self) -> Result<(), Failure> {
        self.learn_tabs().await?;
        if self.engine.tab_count() == 0 {
            self.open_empty_tab().await?;
        }
        Ok(())
    }

    /// The user's own browser may have told of tabs just now, and another one opened beside them would be one too many.
    pub(crate) async fn learn_tabs(&self) -> Result<(), Failure> {
        if self.browser.upstream == UpstreamKind::Extension && self.engine.tab_count() == 0 {
            self.engine.catch_up().await?;
        }
        Ok(())
    }

    /// What a later daemon needs to find this browser and its tabs again.
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
            realm: self.realm.clone(),
            context: self.context.clone(),
            // Describing the tabs gives each its number, so the book comes after.
            tabs: SavedTab::all_of(&self.engine),
            book: self.engine.book(),
            leases,
        }
    }
}
