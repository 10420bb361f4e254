//! The current progress of a session in one line, from the daemon.

use std::time::Duration;

use tabwire_api::{ApprovalProgress, Progress, SessionKey};
use tabwire_engine::plain_line;
use unicode_width::UnicodeWidthStr;

use crate::environment::Environment;
use tabwire_client::request_within;

/// How long the daemon may take to respond.
const TIMEOUT: Duration = Duration::from_millis(100);

/// A longer line would wrap, and could not be erased.
const MAX_WIDTH: usize = 70;

/// `None` when nothing is in progress.
pub(crate) fn progress_line(environment: &Environment, session: &SessionKey) -> Option<String> {
    let path = format!("/v1/progress?session={session}");
    let response = request_within(&environment.paths.socket(), "GET", &path, None, TIMEOUT).ok()?;
    describe(&serde_json::from_value(response).ok()?)
}

/// The question that waits for the user; `None` when there is none.
pub(crate) fn find_approval(environment: &Environment, session: &SessionKey) -> Option<String> {
    let path = format!("/v1/progress?session={session}");
    let response = request_within(&environment.paths.socket(), "GET", &path, None, TIMEOUT).ok()?;
    let progress: Progress = serde_json::from_value(response).ok()?;
    let approval = progress.approval?;
    Some(format!(
        "This command waits {} s for an approval: {} on {}. Answer in the popup of the extension or with `tabwire approvals`.",
        approval.seconds_left, approval.capability, approval.site
    ))
}

fn approval_text(approval: &ApprovalProgress) -> String {
    format!("{} s to approve it: in the popup or `tabwire approvals`", approval.seconds_left)
}

fn describe(progress: &Progress) -> Option<String> {
    let mut parts = Vec::new();
    if let Some(approval) = &progress.approval {
        parts.push(approval_text(approval));
    }
    if progress.starting {
        parts.push("starting the browser".to_owned());
    }
    for download in &progress.downloads {
        let amount = match download.total_bytes.filter(|total| *total > 0) {
            Some(total) => {
                let percent = download.bytes.saturating_mul(100) / total;
                format!("{percent} % of {}", size(total))
            }
            None => size(download.bytes),
        };
        parts.push(format!("downloading {}: {amount}", short(&download.name)));
    }
    for recording in &progress.recordings {
        parts.push(format!("recording {} for {} s", recording.tab, recording.seconds));
    }
    let mut line = parts.join("; ");
    while line.width() > MAX_WIDTH {
        line.pop();
    }
    (!line.is_empty()).then_some(line)
}

fn short(name: &str) -> String {
    plain_line(name, 30)
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{} KiB", bytes / 1024),
        _ => format!("{}.{} MiB", bytes / 1_048_576, bytes % 1_048_576 * 10 / 1_048_576),
    }
}

#[cfg(test)]
mod tests {
    use tabwire_api::{ApprovalProgress, DownloadProgress, Progress};

    use super::describe;

    #[test]
    fn progress_is_described_in_one_line() {
        assert_eq!(describe(&Progress::default()), None);
        let approval = ApprovalProgress {
            site: "https://shop.example".to_owned(),
            capability: "read".to_owned(),
            seconds_left: 52,
        };
        let waiting = Progress { approval: Some(approval), ..Progress::default() };
        let line = "52 s to approve it: in the popup or `tabwire approvals`";
        assert_eq!(describe(&waiting).as_deref(), Some(line));
        let download =
            |total_bytes| DownloadProgress { name: "a.zip".to_owned(), bytes: 3 << 20, total_bytes };
        let progress = Progress { downloads: vec![download(Some(12 << 20))], ..Progress::default() };
        assert_eq!(describe(&progress).as_deref(), Some("downloading a.zip: 25 % of 12.0 MiB"));
        let progress = Progress { starting: true, downloads: vec![download(None)], ..Progress::default() };
        assert_eq!(describe(&progress).as_deref(), Some("starting the browser; downloading a.zip: 3.0 MiB"));
    }
}
