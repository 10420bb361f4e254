//! What an action gets in addition to its parameters: browser, tab, deadline, files, logins.

use std::sync::{Arc, Mutex, PoisonError};

use tabwire_api::{Failure, TabId};
use tabwire_cdp::Deadline;
use tokio::time::Instant;

use crate::browser::Browser;
use crate::cdp::RawCdp;
use crate::files::Files;
use crate::media::screencast::VideoEncoder;
use crate::page::Page;
use crate::secrets::login::LoginStore;
use crate::secrets::output::OutputRedactor;
use crate::url::check_readable;

/// How long an action that reads searches for its element, if the caller gives no timeout.
const FIND_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(5);

/// What an action gets in addition to its parameters.
#[derive(Clone, Debug)]
pub struct Context {
    /// The engine's client of the session's browser.
    pub browser: Arc<Browser>,
    /// The tab; none means the current one.
    pub tab: Option<TabId>,
    /// The tabs of the client, the newest last, when several clients with tabs of their own share the session. Then the
    /// session's current tab stays as it is. None means that the client uses the session's current tab.
    pub client_tabs: Option<Vec<TabId>>,
    /// When the action times out.
    pub deadline: Deadline,
    /// Whether the result includes the changes in the page's snapshot.
    pub snapshot: bool,
    /// Whether the client wants text instead of data. Large results are made only in that form.
    pub wants_text: bool,
    /// Whether the engine filters frames by the action's own policy. If the session's policy is weaker, results leave out
    /// what the daemon cannot judge afterwards: titles of other tabs, snapshots after a navigation.
    pub is_filtered: bool,
    /// Whether the caller chose the deadline.
    pub has_timeout: bool,
    /// Whether an action that acts waits until its effects are over. Scripts wait for what they need themselves.
    pub settles: bool,
    /// Whether to capture this action, even if capturing is off in the session.
    pub capture: bool,
    /// The video encoder for recordings, if there is one.
    pub video_encoder: Option<Arc<dyn VideoEncoder>>,
    /// The store of saved logins, if there is one.
    pub logins: Option<Arc<dyn LoginStore>>,
    /// Removes secrets from every result.
    pub redactor: Arc<OutputRedactor>,
    /// Sends CDP commands of the caller.
    pub raw_cdp: Arc<dyn RawCdp>,
    /// Notices for the client.
    pub notices: Notices,
    /// Reads and writes files.
    pub files: Arc<dyn Files>,
}

impl Context {
    /// Whether the action changes the session's current tab when it opens or selects one.
    pub(crate) fn selects(&self) -> bool {
        self.client_tabs.is_none()
    }

    /// The same with the deadline moved by the time since `began`.
    pub(crate) fn with_time_since(&self, began: Instant) -> Self {
        Self { deadline: Deadline::at(self.deadline.instant() + began.elapsed()), ..self.clone() }
    }

    /// When the search for an element to read ends. Without a timeout of the caller it is short: an element that is
    /// read is usually there.
    pub(crate) fn find_deadline(&self) -> Deadline {
        if self.has_timeout {
            return self.deadline;
        }
        Deadline::at(self.deadline.instant().min(Instant::now() + FIND_TIMEOUT))
    }

    /// The deadlines of finding an element and of reading it.
    pub(crate) fn read_deadlines(&self) -> (Deadline, Deadline) {
        (self.find_deadline(), self.deadline)
    }

    /// The action's page, to read or act on. When the result includes changes, the page is read once before them.
    ///
    /// # Errors
    /// When there is no such tab, or it shows an internal page of the browser.
    pub async fn page(&self) -> Result<Page, Failure> {
        let page = self.tab_page().await?;
        // The page's own events report a navigation first. Before the first event, as just after attaching, only the
        // browser knows the URL.
        let reported = page.session().readable_roots().into_iter().next().map(|main| main.url);
        let url = reported.filter(|url| !url.is_empty()).or_else(|| self.browser.find_url(&page));
        check_readable(&url.unwrap_or_default())?;
        if self.snapshot {
            page.take_baseline(self.deadline).await;
        }
        Ok(page)
    }

    /// The action's page, whatever it shows: to navigate or to close it.
    ///
    /// # Errors
    /// When there is no such tab.
    pub async fn tab_page(&self) -> Result<Page, Failure> {
        self.browser.page(self.tab).await
    }
}

/// The maximum of notices of one action.
const NOTICES: usize = 20;

/// The notices of one action; clones share them.
#[derive(Clone, Debug, Default)]
pub struct Notices(Arc<Mutex<Vec<String>>>);

impl Notices {
    /// Adds notices; the same one counts once.
    pub(crate) fn add(&self, notices: impl IntoIterator<Item = String>) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for notice in notices {
            if held.len() < NOTICES && !held.contains(&notice) {
                held.push(notice);
            }
        }
    }

    /// Takes the collected notices.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
