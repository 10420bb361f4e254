//! What an action is given besides its parameters: the browser, the tab it is for, its time, and where files go.

use std::sync::{Arc, Mutex, PoisonError};

use tabwire_api::{Failure, TabId};
use tabwire_cdp::Deadline;
use tokio::time::Instant;

use crate::browser::Browser;
use crate::files::Files;
use crate::media::screencast::VideoEncoder;
use crate::page::Page;
use crate::secrets::login::LoginStore;
use crate::secrets::output::OutputRedactor;
use crate::url::check_readable;

/// What an action is given besides its parameters.
#[derive(Clone, Debug)]
pub struct Context {
    /// The engine's client of the session's browser.
    pub browser: Arc<Browser>,
    /// The tab it is for; none means the current one.
    pub tab: Option<TabId>,
    /// When it gives up.
    pub deadline: Deadline,
    /// Whether the response of an action that acts carries what changed on the page.
    pub snapshot: bool,
    /// Whether the response is wanted as text; else as data. Large responses are only made in the form that is wanted.
    pub wants_text: bool,
    /// Whether evidence of the action is kept, even if the session keeps none.
    pub capture: bool,
    /// What makes video_encoder of recordings, if there is anything that does.
    pub video_encoder: Option<Arc<dyn VideoEncoder>>,
    /// Who keeps saved logins, if anybody does.
    pub logins: Option<Arc<dyn LoginStore>>,
    /// What is struck from every response.
    pub redactor: Arc<OutputRedactor>,
    /// What it has to say besides its result.
    pub notices: Notices,
    /// Where files come from and go.
    pub files: Arc<dyn Files>,
}

impl Context {
    /// The same with as much time left as there was at that moment.
    pub(crate) fn with_time_since(&self, began: Instant) -> Self {
        Self { deadline: Deadline::at(self.deadline.instant() + began.elapsed()), ..self.clone() }
    }

    /// The page the action is for, to be read or acted on.
    ///
    /// # Errors
    /// When there is no such tab, or it shows a page that is not of the web.
    pub async fn page(&self) -> Result<Page, Failure> {
        let page = self.tab_page().await?;
        // The page tells sooner where it went, the browser where a page is that was just taken up.
        let told = page.session().readable_roots().into_iter().next().map(|main| main.url);
        let url = told.filter(|url| !url.is_empty()).or_else(|| self.browser.find_url(&page));
        check_readable(&url.unwrap_or_default())?;
        Ok(page)
    }

    /// The page the action is for, whatever it shows: to go elsewhere, or to close it.
    ///
    /// # Errors
    /// When there is no such tab.
    pub async fn tab_page(&self) -> Result<Page, Failure> {
        self.browser.page(self.tab).await
    }
}

/// How many notices one action gives.
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

    /// Takes what was collected.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
