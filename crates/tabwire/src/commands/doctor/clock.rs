//! Whether the clock can be right: not behind what was written, not set back while the daemon ran.

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tabwire_daemon::{RecordState, survey_records};

use super::Visit;
use super::daemon::Pulse;
use super::finding::Finding;
use crate::limits::{CLOCK_FLOOR_SECONDS, CLOCK_SLACK};

const CODE: &str = "clock";

/// What the clock is held against.
#[derive(Debug, Default)]
struct Witness {
    /// The newest thing of ours, and when it was written.
    newest: Option<(PathBuf, SystemTime)>,
    /// When the daemon started by this clock, and how long it has run by one that nobody sets.
    daemon: Option<(SystemTime, Duration)>,
}

pub(super) fn check(visit: &Visit<'_>) -> Finding {
    let paths = visit.paths();
    let written = |path: PathBuf| {
        let time = path.symlink_metadata().and_then(|data| data.modified()).ok()?;
        Some((path, time))
    };
    let files = [paths.handshake(), paths.log(), paths.journal(), paths.state.clone()];
    let records = survey_records(&paths.sessions()).into_iter().filter_map(|found| match found.state {
        RecordState::Good { saved_at, .. } => Some((found.path, saved_at)),
        _ => None,
    });
    let newest = files.into_iter().filter_map(written).chain(records).max_by_key(|(_, time)| *time);
    let daemon = match &visit.pulse {
        Pulse::Running(status) => {
            let uptime = Duration::from_secs(status.uptime_seconds);
            written(paths.handshake()).map(|(_, started)| (started, uptime))
        }
        _ => None,
    };
    judge(SystemTime::now(), Witness { newest, daemon })
}

fn judge(now: SystemTime, witness: Witness) -> Finding {
    let remedy = "Set the clock, for example with `timedatectl set-ntp true`: pages refuse certificates and cookies end too early or too late.";
    if now < UNIX_EPOCH + Duration::from_secs(CLOCK_FLOOR_SECONDS) {
        return Finding::wrong(CODE, "The clock shows a time before this program was made.", remedy);
    }
    if let Some((path, time)) = witness.newest {
        let ahead = time.duration_since(now).unwrap_or_default();
        if ahead > CLOCK_SLACK {
            let minutes = ahead.as_secs() / 60;
            let sentence = format!(
                "The clock is {minutes} minutes behind {}, which was written before.",
                path.display()
            );
            return Finding::warning(CODE, sentence, remedy);
        }
    }
    // The other way round is what a machine that slept looks like.
    if let Some((started, uptime)) = witness.daemon {
        let by_clock = now.duration_since(started).unwrap_or_default();
        let lost = uptime.saturating_sub(by_clock);
        if lost > CLOCK_SLACK {
            let minutes = lost.as_secs() / 60;
            let sentence = format!("The clock was set back by {minutes} minutes while the daemon ran.");
            return Finding::warning(CODE, sentence, remedy);
        }
    }
    Finding::ok(CODE, "It is not behind anything that was written.")
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    fn verdict(now: SystemTime, witness: Witness) -> String {
        judge(now, witness).told()["verdict"].as_str().unwrap().to_owned()
    }

    #[test]
    fn f34_a_clock_that_was_set_back_is_told_and_sleep_is_not() {
        let now = UNIX_EPOCH + Duration::from_secs(CLOCK_FLOOR_SECONDS) + HOUR * 1000;
        assert_eq!(verdict(now, Witness::default()), "ok");
        assert_eq!(verdict(UNIX_EPOCH + HOUR, Witness::default()), "wrong");
        let newest = |time| Witness { newest: Some(("/x".into(), time)), daemon: None };
        assert_eq!(verdict(now, newest(now + HOUR)), "warning");
        assert_eq!(verdict(now, newest(now + CLOCK_SLACK)), "ok");
        assert_eq!(verdict(now, newest(now - HOUR)), "ok");
        let daemon = |started, uptime| Witness { newest: None, daemon: Some((started, uptime)) };
        assert_eq!(verdict(now, daemon(now - HOUR, HOUR * 2)), "warning");
        assert_eq!(verdict(now, daemon(now - HOUR * 9, HOUR)), "ok", "the machine slept");
        assert_eq!(verdict(now, daemon(now - HOUR, HOUR)), "ok");
    }
}
