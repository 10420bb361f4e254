//! What the engine knows about a browser without sending a command: names for completion, and work in progress.

use tabwire_api::{DownloadProgress, KnownRef, KnownTab, RecordingProgress, TabId};

use crate::browser::Browser;
use crate::snapshot::PageText;

/// Refs of a snapshot that are offered for completion.
const KNOWN_REFS: usize = 500;

/// Most characters of a title or line.
const LABEL_CHARACTERS: usize = 80;

impl Browser {
    /// The open tabs. Titles may be outdated.
    #[must_use]
    pub fn completion_tabs(&self) -> Vec<KnownTab> {
        let known = self.list_tabs().into_iter().map(|info| {
            let words = if info.title.is_empty() { &info.url } else { &info.title };
            KnownTab { tab: info.tab, title: PageText::cut(words, LABEL_CHARACTERS).as_str().to_owned() }
        });
        known.collect()
    }

    /// The refs of the last snapshot of a tab, in its order. `None` means the current tab.
    #[must_use]
    pub fn completion_refs(&self, tab: Option<TabId>) -> Vec<KnownRef> {
        let Some(page) = self.attached_page(tab) else { return Vec::new() };
        let refs = page.refs();
        let shown = page.memory().shown(&refs);
        let known = shown.into_iter().take(KNOWN_REFS).map(|(name, line)| KnownRef {
            name: name.to_string(),
            element: PageText::cut(&line, LABEL_CHARACTERS).as_str().to_owned(),
        });
        known.collect()
    }

    /// The downloads in progress, oldest first.
    #[must_use]
    pub fn active_downloads(&self) -> Vec<DownloadProgress> {
        let entries = self.downloads().log().entries();
        let active = entries.since(0).filter(|download| !download.is_over());
        let progress = active.map(|download| DownloadProgress {
            name: download.name.clone(),
            bytes: download.bytes,
            total_bytes: download.total_bytes,
        });
        progress.collect()
    }

    /// The tabs that are being recorded.
    #[must_use]
    pub fn active_recordings(&self) -> Vec<RecordingProgress> {
        let mut running: Vec<RecordingProgress> = self
            .recordings()
            .ages()
            .into_iter()
            .map(|(tab, age)| RecordingProgress { tab, seconds: age.as_secs() })
            .collect();
        running.sort_unstable_by_key(|recording| recording.tab.number);
        running
    }
}
