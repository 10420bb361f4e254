//! Checks the clock: not behind the newest file, not set back while the daemon ran.

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tabwire_daemon::{RecordState, survey_records};

use super::CheckInputs;
use super::daemon::DaemonState;
use super::finding::{Finding, run};

const CODE: &str = "clock";

/// How far the clock may be behind the newest file.
const CLOCK_SLACK: Duration = Duration::from_secs(300);

/// The start of 2026, in seconds since 1970: an earlier time is wrong.
const CLOCK_FLOOR_SECONDS: u64 = 1_767_225_600;

/// Times that the clock is compared with.
#[derive(Debug, Default)]
struct ClockEvidence {
    /// The newest file, with its time.
    newest: Option<(PathBuf, SystemTime)>,
    /// When the daemon started by this clock, and how long it has run by the monotonic clock.
    daemon: Option<(SystemTime, Duration)>,
}

pub(super) fn check(inputs: &CheckInputs<'_>) -> Finding {
    let paths = inputs.paths();
    let written = |path: PathBuf| {
        let time = path.symlink_metadata().and_then(|data| data.modified()).ok()?;
        Some((path, time))
    };
    let files = [paths.handshake(), paths.log(), paths.audit_log(), paths.state.clone()];
    let records = survey_records(&paths.sessions()).into_iter().filter_map(|found| match found.state {
        RecordState::Good { saved_at, .. } => Some((found.path, saved_at)),
        _ => None,
    });
    let newest = files.into_iter().filter_map(written).chain(records).max_by_key(|(_, time)| *time);
    let daemon = match &inputs.daemon {
        DaemonState::Running(status) => {
            let uptime = Duration::from_secs(status.uptime_seconds);
            written(paths.handshake()).map(|(_, started)| (started, uptime))
        }
        _ => None,
    };
    compare(SystemTime::now(), ClockEvidence { newest, daemon })
}

fn compare(now: SystemTime, evidence: ClockEvidence) -> Finding {
    let remedy = run(
        "Set the clock, for example with {}. A wrong clock breaks certificates and the expiry of cookies.",
        "timedatectl set-ntp true",
    );
    if now < UNIX_EPOCH + Duration::from_secs(CLOCK_FLOOR_SECONDS) {
        return Finding::wrong(CODE, "The clock shows a time before the release of this program.", remedy);
    }
    if let Some((path, time)) = evidence.newest {
        let ahead = time.duration_since(now).unwrap_or_default();
        if ahead > CLOCK_SLACK {
            let minutes = ahead.as_secs() / 60;
            let sentence = format!("The clock is {minutes} minutes behind the time of {}.", path.display());
            return Finding::warning(CODE, sentence, remedy);
        }
    }
    // The other direction is no fault: a suspended machine looks like that.
    if let Some((started, uptime)) = evidence.daemon {
        let by_clock = now.duration_since(started).unwrap_or_default();
        let lost = uptime.saturating_sub(by_clock);
        if lost > CLOCK_SLACK {
            let minutes = lost.as_secs() / 60;
            let sentence = format!("The clock was set back by {minutes} minutes while the daemon ran.");
            return Finding::warning(CODE, sentence, remedy);
        }
    }
    Finding::ok(CODE, "It is not behind any file.")
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    fn verdict(now: SystemTime, evidence: ClockEvidence) -> String {
        compare(now, evidence).to_json()["verdict"].as_str().unwrap().to_owned()
    }

    #[test]
    fn f34_a_clock_that_was_set_back_is_reported_and_suspend_is_not() {
        let now = UNIX_EPOCH + Duration::from_secs(CLOCK_FLOOR_SECONDS) + HOUR * 1000;
        assert_eq!(verdict(now, ClockEvidence::default()), "ok");
        assert_eq!(verdict(UNIX_EPOCH + HOUR, ClockEvidence::default()), "wrong");
        let newest = |time| ClockEvidence { newest: Some(("/x".into(), time)), daemon: None };
        assert_eq!(verdict(now, newest(now + HOUR)), "warning");
        assert_eq!(verdict(now, newest(now + CLOCK_SLACK)), "ok");
        assert_eq!(verdict(now, newest(now - HOUR)), "ok");
        let daemon = |started, uptime| ClockEvidence { newest: None, daemon: Some((started, uptime)) };
        assert_eq!(verdict(now, daemon(now - HOUR, HOUR * 2)), "warning");
        assert_eq!(verdict(now, daemon(now - HOUR * 9, HOUR)), "ok", "the machine was suspended");
        assert_eq!(verdict(now, daemon(now - HOUR, HOUR)), "ok");
    }
}
