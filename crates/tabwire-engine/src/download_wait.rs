//! Waiting until a download of a page has ended, whoever began it. Knows nothing of where files go.

use std::collections::HashSet;

use tabwire_wire::{ErrorCode, Failure};

use crate::context::Context;
use crate::download_log::{Download, DownloadState, Entries};
use crate::download_story::DownloadStory;
use crate::page::Page;
use crate::waiting::Waited;

impl Page {
    /// Waits until a download ends that is under way, or that begins from now on.
    pub(crate) async fn wait_for_download(&self, context: &Context) -> Result<Waited, Failure> {
        let browser = &context.browser;
        let _borrowed = browser.downloads().borrow_downloads(&context.files);
        let story = DownloadStory::of_all_times();
        let before = story.so_far(self, browser);
        let over: HashSet<String> =
            before.into_iter().filter(Download::is_over).map(|download| download.guid).collect();
        let ended = |entries: &Entries| {
            let ours = story.pick(entries, self, browser);
            ours.into_iter().find(|download| download.is_over() && !over.contains(&download.guid))
        };
        let mut log = browser.downloads().log().watch();
        let began = tokio::time::Instant::now();
        let found = self
            .unless_blocked(async {
                let found = log.wait_for(|entries| ended(entries).is_some());
                let found = tokio::time::timeout_at(context.deadline.instant(), found).await;
                Ok(found.ok().and_then(Result::ok).and_then(|entries| ended(&entries)))
            })
            .await?;
        let Some(download) = found else {
            let mut under_way =
                story.so_far(self, browser).into_iter().filter(|download| !download.is_over());
            let so_far =
                under_way.next().map(|download| format!(" {}.", download.line())).unwrap_or_default();
            let message = format!("No download ended within {} ms.{so_far}", began.elapsed().as_millis());
            return Err(Failure::new(ErrorCode::Timeout, message).with_hint(
                "`tabwire downloads` lists what has ended before; start the wait before or right after the click.",
            ));
        };
        if download.state == DownloadState::Failed {
            let reason = download.reason.as_deref().unwrap_or("it broke off");
            let message = format!("The download of {:?} failed: {reason}.", download.name);
            return Err(Failure::new(ErrorCode::DownloadFailed, message));
        }
        Ok(Waited { held: format!("{:?} is downloaded", download.name), detail: download.path })
    }
}
