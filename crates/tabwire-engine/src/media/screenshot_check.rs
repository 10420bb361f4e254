//! Checks a screenshot against the policy for every document that was in the page while it was taken.

use std::time::Duration;

use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure};
use tabwire_cdp::Deadline;
use tabwire_policy::Capability;
use tokio::time::Instant;

use crate::frames::policy::site_of;
use crate::frames::shown_documents::DocumentMark;
use crate::page::Page;

/// How long frames of a recording may still show a removed iframe.
const FRAME_AFTERGLOW: Duration = Duration::from_secs(1);

/// Watches the documents of a page from before a screenshot.
#[derive(Debug)]
pub(crate) struct ScreenshotCheck {
    page: Page,
    mark: DocumentMark,
    /// Until when a frame may still show a document that may not be read.
    blocked_until: Option<Instant>,
}

impl Page {
    /// Starts to watch the documents of the page.
    pub(crate) fn start_screenshot_check(&self) -> ScreenshotCheck {
        ScreenshotCheck { page: self.clone(), mark: self.session().document_mark(), blocked_until: None }
    }

    /// Fails when a document of the page may not be read, because a screenshot shows all of them.
    pub(crate) fn check_documents(&self) -> Result<(), Failure> {
        let refused = self.frames_without(Capability::Read);
        refused.first().map_or(Ok(()), |(_, url)| Err(self.refused_screenshot(url)))
    }

    fn refused_screenshot(&self, url: &str) -> Failure {
        let site = site_of(url);
        let message = format!(
            "No screenshot: the page has a frame of {site}, and the policy does not allow reading it."
        );
        match self.session().policy().check(url, Capability::Read) {
            Ok(()) => Failure::new(ErrorCode::PolicyDenied, message),
            Err(failure) => Failure { message, ..failure },
        }
    }
}

impl ScreenshotCheck {
    /// Fails when a document that may not be read was in the page since the watch started. Call it after the
    /// screenshot.
    pub(crate) async fn finish(self, deadline: Deadline) -> Result<(), Failure> {
        if self.page.session().policy().is_idle() {
            return Ok(());
        }
        self.page.session().wait_ready(deadline).await?;
        // The response arrives after all frame events that the document's process sent before.
        let _: Result<Value, Failure> = self.page.call("location", &json!({}), deadline).await;
        self.page.sync_events().await;
        self.judge()
    }

    fn judge(&self) -> Result<(), Failure> {
        self.page.check_documents()?;
        let Some(urls) = self.page.session().documents_since(self.mark) else {
            let message = "No screenshot: too many frames were added and removed while it was taken.";
            return Err(Failure::new(ErrorCode::NotActionable, message).with_remedy("Try again."));
        };
        let policy = self.page.session().policy();
        let refuses = |url: &&String| url.starts_with("http") && !policy.allows(url, Capability::Read);
        urls.iter().find(refuses).map_or(Ok(()), |url| Err(self.page.refused_screenshot(url)))
    }

    /// Whether the last frame of a recording may be kept. Starts the watch for the next one.
    pub(crate) async fn allows_next(&mut self) -> bool {
        if self.page.session().policy().is_idle() {
            return true;
        }
        self.page.sync_events().await;
        let next = self.page.session().document_mark();
        if self.judge().is_err() {
            // Screencast frames arrive late: the next ones may still show the document.
            self.blocked_until = Some(Instant::now() + FRAME_AFTERGLOW);
        }
        self.mark = next;
        self.blocked_until.is_none_or(|until| Instant::now() >= until)
    }
}
