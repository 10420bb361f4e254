//! A session with its browser.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tabwire_api::api::{Isolation, PolicyProfile, SessionOptions};
use tabwire_api::{BrowserContextId, ClientName, Failure, PartitionId, TabId, TargetId, UpstreamKind};
use tabwire_cdp::Deadline;
use tabwire_engine::{Browser, LoadState, Page};

use crate::browser::served::ServedBrowser;
use crate::chat::ChatId;
use crate::hub::client_label::{ClientLabel, ShownClient};
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
    /// When its browser was started or first connected, in milliseconds since 1970.
    pub(crate) started_at: u64,
    /// What the user of the browser sees as its name.
    pub(crate) label: ClientLabel,
    /// Whether it was created for one MCP client.
    pub(crate) is_temporary: bool,
    /// Set when the session was recorded as stopped. Later writes as running are dropped.
    pub(crate) is_stopped: AtomicBool,
    /// Set before the daemon ends or leaves the browser: its end is no fault then.
    pub(crate) is_ended: AtomicBool,
}

impl LiveSession {
    pub(crate) fn is_gone(&self) -> bool {
        self.browser.hub.is_gone()
    }

    /// What the session has of its own.
    pub(crate) const fn isolation(&self) -> Isolation {
        match (&self.context, &self.partition) {
            (Some(_), _) => Isolation::Context,
            (None, Some(_)) => Isolation::Shared,
            (None, None) => Isolation::Own,
        }
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

    /// Opens an empty tab for a named client. It does not become the session's current one.
    pub(crate) async fn open_tab_of(&self, client: &ClientName) -> Result<TabId, Failure> {
        let opened = self.browser.hub.open_tab(BLANK, self.partition.clone()).await.map_err(gone)??;
        // Before the first command attaches to it: the extension then shows the tab under this name.
        self.name_target(&opened, client);
        let page = self.engine.use_target(&opened).await?;
        Ok(self.engine.tab_id(&page))
    }

    /// Shows a tab under a client's name to the user of the browser.
    pub(crate) fn label_tab(&self, tab: TabId, client: &ClientName) {
        if let Some(target) = self.engine.find_target_of(tab) {
            self.name_target(&target, client);
        }
    }

    fn name_target(&self, target: &TargetId, client: &ClientName) {
        let name = client.display_name();
        if self.is_temporary {
            self.label.set_own(&name);
        }
        // Two chats with the same agent have a group each.
        let group = if is_of_chat(client) { client.to_string() } else { name.clone() };
        self.label.set_target(target, ShownClient { name, group });
    }

    /// Opens an empty tab if the session has none of its own and none is selected.
    pub(crate) async fn ensure_tab(&self) -> Result<(), Failure> {
        self.sync_tabs().await?;
        if self.engine.current_tab().is_none() {
            self.open_empty_tab().await?;
        }
        Ok(())
    }

    /// Opens an empty tab in a launched browser that has none. In a browser of the user a tab is opened when it is needed.
    pub(crate) async fn ensure_first_tab(&self) -> Result<(), Failure> {
        if self.browser.ownership.may_close() { self.ensure_tab().await } else { self.sync_tabs().await }
    }

    /// Waits for the tabs of the user's own browser, which reports them after it has connected.
    pub(crate) async fn sync_tabs(&self) -> Result<(), Failure> {
        if self.browser.upstream == UpstreamKind::Extension && self.engine.tab_count() == 0 {
            self.engine.sync().await?;
        }
        Ok(())
    }

    /// The record that a later daemon needs to find this browser and its tabs.
    pub(crate) fn to_record(
        &self,
        endpoint: String,
        leases: SavedLeases,
        keeps_saved_state: bool,
    ) -> RunningRecord {
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
            own: Some(self.engine.own_targets()),
            started_at: self.started_at,
            leases,
            keeps_saved_state,
        }
    }
}

/// Whether a name is that of a chat's agent: `AGENT:CHAT`.
fn is_of_chat(client: &ClientName) -> bool {
    client.as_str().rsplit_once(':').is_some_and(|(_, end)| ChatId::parse(end).is_some())
}
