//! Screenshots of steps: the screenshots that the agent took. Kept in memory only.

use std::collections::VecDeque;
use std::path::Path;

use crate::chat::prompt::image_type;

/// Screenshots of a chat, and their bytes. The oldest are dropped.
const SCREENSHOTS: usize = 24;
const SCREENSHOTS_BYTES: usize = 12 * 1024 * 1024;

/// Largest screenshot.
const SCREENSHOT_BYTES: u64 = 4 * 1024 * 1024;

/// A screenshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Screenshot {
    pub(crate) mime_type: &'static str,
    pub(crate) bytes: Vec<u8>,
}

/// The latest screenshots of a chat, by their numbers.
#[derive(Debug, Default)]
pub(super) struct Screenshots {
    last: u64,
    kept: VecDeque<(u64, Screenshot)>,
    bytes: usize,
}

impl Screenshots {
    /// Adds a screenshot; returns its number.
    pub(super) fn add(&mut self, screenshot: Screenshot) -> u64 {
        self.last += 1;
        self.bytes += screenshot.bytes.len();
        self.kept.push_back((self.last, screenshot));
        while self.kept.len() > SCREENSHOTS || self.bytes > SCREENSHOTS_BYTES {
            let Some((_, dropped)) = self.kept.pop_front() else { break };
            self.bytes -= dropped.bytes.len();
        }
        self.last
    }

    pub(super) fn find(&self, number: u64) -> Option<&Screenshot> {
        self.kept.iter().find(|(known, _)| *known == number).map(|(_, screenshot)| screenshot)
    }
}

/// Reads the file of a screenshot. `None` when it is too large or no image.
pub(super) async fn read_screenshot(path: &Path) -> Option<Screenshot> {
    let size = tokio::fs::metadata(path).await.ok()?.len();
    if size > SCREENSHOT_BYTES {
        return None;
    }
    let bytes = tokio::fs::read(path).await.ok()?;
    Some(Screenshot { mime_type: image_type(&bytes)?, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_screenshots_are_kept() {
        let mut screenshots = Screenshots::default();
        let screenshot = |size| Screenshot { mime_type: "image/png", bytes: vec![0; size] };
        for number in 1..=30 {
            assert_eq!(screenshots.add(screenshot(10)), number);
        }
        assert!(screenshots.find(6).is_none() && screenshots.find(7).is_some());
        screenshots.add(screenshot(SCREENSHOTS_BYTES));
        assert!(screenshots.find(30).is_none() && screenshots.find(31).is_some(), "bounded by bytes");
    }
}
