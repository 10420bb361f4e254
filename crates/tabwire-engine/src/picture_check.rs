//! Judges a picture by every document that was in the page while it was taken.

use serde_json::{Value, json};
use tabwire_cdp::Deadline;
use tabwire_policy::Capability;
use tabwire_wire::{ErrorCode, Failure};
use tokio::time::Instant;

use crate::frame_policy::site_of;
use crate::limits::PICTURE_AFTERGLOW;
use crate::page::Page;
use crate::shown_documents::ShownMark;

/// A watch over the documents in a page, from before a picture is taken.
#[derive(Debug)]
pub(crate) struct PictureCheck {
    page: Page,
    mark: ShownMark,
    /// Until when pictures may still show a document that may not be read.
    blocked_until: Option<Instant>,
}

impl Page {
    /// Begins to watch the documents in the page.
    pub(crate) fn watch_picture(&self) -> PictureCheck {
        PictureCheck { page: self.clone(), mark: self.driver().shown_mark(), blocked_until: None }
    }

    /// Fails when a document of the page may not be read: a picture shows all of them.
    pub(crate) fn check_documents(&self) -> Result<(), Failure> {
        let refused = self.frames_without(Capability::Read);
        refused.first().map_or(Ok(()), |(_, url)| Err(self.refused_picture(url)))
    }

    fn refused_picture(&self, url: &str) -> Failure {
        let site = site_of(url);
        let message = format!("There is no picture: the page has a frame of {site}, which may not be read.");
        match self.driver().policy().check(url, Capability::Read) {
            Ok(()) => Failure::new(ErrorCode::PolicyDenied, message),
            Err(failure) => Failure { message, ..failure },
        }
    }
}

impl PictureCheck {
    /// Fails when a document that may not be read was in the page since the watch began. To be asked when the picture
    /// is there.
    pub(crate) async fn finish(self, deadline: Deadline) -> Result<(), Failure> {
        if self.page.driver().policy().is_idle() {
            return Ok(());
        }
        self.page.driver().prepared(deadline).await?;
        // The document's process answers after what it has reported of its frames.
        let _: Result<Value, Failure> = self.page.call("place", &json!({}), deadline).await;
        self.page.catch_up().await?;
        self.judge()
    }

    fn judge(&self) -> Result<(), Failure> {
        self.page.check_documents()?;
        let Some(urls) = self.page.driver().shown_since(self.mark) else {
            let message = "There is no picture: too many frames came and went while it was taken.";
            return Err(Failure::new(ErrorCode::NotActionable, message).with_hint("Try again."));
        };
        let policy = self.page.driver().policy();
        let refuses = |url: &&String| url.starts_with("http") && !policy.allows(url, Capability::Read);
        urls.iter().find(refuses).map_or(Ok(()), |url| Err(self.page.refused_picture(url)))
    }

    /// Whether the picture of a recording that has just come may be kept. The next one is judged from now on.
    pub(crate) async fn allows_next(&mut self) -> bool {
        if self.page.driver().policy().is_idle() {
            return true;
        }
        let is_caught_up = self.page.catch_up().await.is_ok();
        let next = self.page.driver().shown_mark();
        if !is_caught_up || self.judge().is_err() {
            // A picture is on its way for a while.
            self.blocked_until = Some(Instant::now() + PICTURE_AFTERGLOW);
        }
        self.mark = next;
        self.blocked_until.is_none_or(|until| Instant::now() >= until)
    }
}
