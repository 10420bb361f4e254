//! What a session is busy with, as one short line. Asks the daemon; starts nothing.

use std::time::Duration;

use tabwire_engine::plain_line;
use tabwire_wire::{Progress, SessionKey};
use unicode_width::UnicodeWidthStr;

use crate::daemon_client::ask_within;
use crate::environment::Environment;

/// How long the daemon may take to say how far it is.
const PATIENCE: Duration = Duration::from_millis(100);

/// A line that is longer would not be wiped away whole.
const LONGEST: usize = 70;

/// Says what a session is busy with; nothing when it is busy with nothing in particular.
pub(crate) fn progress_line(environment: &Environment, session: &SessionKey) -> Option<String> {
    let path = format!("/v1/progress?session={session}");
    let answer = ask_within(&environment.paths.socket(), "GET", &path, None, PATIENCE).ok()?;
    describe(&serde_json::from_value(answer).ok()?)
}

fn describe(progress: &Progress) -> Option<String> {
    let mut parts = Vec::new();
    if progress.starting {
        parts.push("starting the browser".to_owned());
    }
    for download in &progress.downloads {
        let far = match download.total_bytes.filter(|total| *total > 0) {
            Some(total) => {
                let percent = download.bytes.saturating_mul(100) / total;
                format!("{percent} % of {}", size(total))
            }
            None => size(download.bytes),
        };
        parts.push(format!("downloading {}: {far}", short(&download.name)));
    }
    for recording in &progress.recordings {
        parts.push(format!("recording {} for {} s", recording.tab, recording.seconds));
    }
    let mut line = parts.join("; ");
    while line.width() > LONGEST {
        line.pop();
    }
    (!line.is_empty()).then_some(line)
}

fn short(name: &str) -> String {
    plain_line(name, 30)
}

/// Bytes as people read them.
fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{} KiB", bytes / 1024),
        _ => format!("{}.{} MiB", bytes / 1_048_576, bytes % 1_048_576 * 10 / 1_048_576),
    }
}

#[cfg(test)]
mod tests {
    use tabwire_wire::{DownloadProgress, Progress};

    use super::describe;

    #[test]
    fn what_is_under_way_is_told_in_a_line() {
        assert_eq!(describe(&Progress::default()), None);
        let download =
            |total_bytes| DownloadProgress { name: "a.zip".to_owned(), bytes: 3 << 20, total_bytes };
        let progress = Progress { downloads: vec![download(Some(12 << 20))], ..Progress::default() };
        assert_eq!(describe(&progress).as_deref(), Some("downloading a.zip: 25 % of 12.0 MiB"));
        let progress = Progress { starting: true, downloads: vec![download(None)], ..Progress::default() };
        assert_eq!(describe(&progress).as_deref(), Some("starting the browser; downloading a.zip: 3.0 MiB"));
    }
}
