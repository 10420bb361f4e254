//! Memory, descriptors, threads and files of an idle daemon, and whether they grew.

use std::fmt;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// One measurement of a daemon without sessions.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    after: Duration,
    /// Whether it is compared with others: false while daemons are killed.
    counts: bool,
    daemon: u32,
    memory: u64,
    descriptors: u64,
    threads: u64,
    files: u64,
}

/// Permitted growth from the first to the last sample: a constant and a percentage.
struct Allowance {
    name: &'static str,
    of: fn(&Sample) -> u64,
    more: u64,
    percent: u64,
}

/// Permitted growth. Allocators keep some freed memory; the other counts vary a little.
const ALLOWANCES: &[Allowance] = &[
    Allowance { name: "memory (KiB)", of: |sample| sample.memory, more: 4096, percent: 25 },
    Allowance { name: "descriptors", of: |sample| sample.descriptors, more: 4, percent: 0 },
    Allowance { name: "threads", of: |sample| sample.threads, more: 4, percent: 0 },
    Allowance { name: "files", of: |sample| sample.files, more: 6, percent: 0 },
];

impl Sample {
    /// Measures a daemon and counts the files below a directory.
    pub(super) fn take(after: Duration, daemon: u32, home: &Path, counts: bool) -> Sample {
        let entries =
            |name: &str| fs::read_dir(format!("/proc/{daemon}/{name}")).map_or(0, |list| list.count() as u64);
        let rollup = fs::read_to_string(format!("/proc/{daemon}/smaps_rollup")).unwrap_or_default();
        let memory = rollup
            .lines()
            .find_map(|line| line.strip_prefix("Pss:")?.trim().strip_suffix(" kB")?.trim().parse().ok())
            .unwrap_or_default();
        let (descriptors, threads) = (entries("fd"), entries("task"));
        Sample { after, counts, daemon, memory, descriptors, threads, files: files_below(home) }
    }
}

fn files_below(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() => files_below(&entry.path()),
            _ => 1,
        })
        .sum()
}

impl fmt::Display for Sample {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{:>5} s  daemon {:>7}  memory {:>7} KiB  descriptors {:>3}  threads {:>3}  files {:>4}{}",
            self.after.as_secs(),
            self.daemon,
            self.memory,
            self.descriptors,
            self.threads,
            self.files,
            if self.counts { "" } else { "  (warm-up)" }
        )
    }
}

/// Prints the first value, the last value and the limit of each measure.
pub(super) fn print_table(samples: &[Sample]) {
    let Some((first, last)) = ends(samples) else { return };
    println!("\n{:<14}{:>10}{:>10}{:>10}", "", "first", "last", "at most");
    for one in ALLOWANCES {
        println!("{:<14}{:>10}{:>10}{:>10}", one.name, (one.of)(first), (one.of)(last), one.limit(first));
    }
}

/// Fails with the measures that exceed their limit.
pub(super) fn check_growth(samples: &[Sample]) -> Result<(), String> {
    let Some((first, last)) = ends(samples) else {
        return Err("too short: there are no two samples to compare".to_owned());
    };
    let grew = ALLOWANCES.iter().filter(|one| (one.of)(last) > one.limit(first));
    let grew: Vec<String> =
        grew.map(|one| format!("{} from {} to {}", one.name, (one.of)(first), (one.of)(last))).collect();
    if grew.is_empty() { Ok(()) } else { Err(format!("growth: {}", grew.join(", "))) }
}

/// The first and the last counted sample of the last daemon.
fn ends(samples: &[Sample]) -> Option<(&Sample, &Sample)> {
    let last = samples.last()?;
    let first = samples.iter().find(|sample| sample.counts && sample.daemon == last.daemon)?;
    (samples.len() > 1).then_some((first, last))
}

impl Allowance {
    fn limit(&self, first: &Sample) -> u64 {
        let had = (self.of)(first);
        had + had * self.percent / 100 + self.more
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(memory: u64, descriptors: u64, counts: bool) -> Sample {
        let after = Duration::from_secs(1);
        Sample { after, counts, daemon: 7, memory, descriptors, threads: 5, files: 30 }
    }

    #[test]
    fn growth_is_reported_and_the_warm_up_is_ignored() {
        let flat = [sample(90_000, 90, false), sample(20_000, 20, true), sample(24_000, 22, true)];
        assert_eq!(check_growth(&flat), Ok(()));
        let leaks = [sample(20_000, 20, true), sample(20_500, 40, true), sample(40_000, 60, true)];
        let message = check_growth(&leaks).unwrap_err();
        assert_eq!(message, "growth: memory (KiB) from 20000 to 40000, descriptors from 20 to 60");
        assert!(check_growth(&flat[..1]).is_err() && check_growth(&[]).is_err());
    }
}
