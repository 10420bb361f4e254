//! What a daemon at rest holds: memory, descriptors, threads, files. And whether it grew.

use std::fmt;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// One look at a daemon without sessions.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    after: Duration,
    /// Whether it is compared with others; not while daemons are killed.
    counts: bool,
    daemon: u32,
    memory: u64,
    descriptors: u64,
    threads: u64,
    files: u64,
}

/// How much more the last sample may have than the first, besides a part of it in hundredths.
struct Allowance {
    name: &'static str,
    of: fn(&Sample) -> u64,
    more: u64,
    hundredths: u64,
}

/// What may not grow. A table. Allocators keep some of what was freed; the rest comes and goes by a little.
const ALLOWANCES: &[Allowance] = &[
    Allowance { name: "memory (KiB)", of: |sample| sample.memory, more: 4096, hundredths: 25 },
    Allowance { name: "descriptors", of: |sample| sample.descriptors, more: 4, hundredths: 0 },
    Allowance { name: "threads", of: |sample| sample.threads, more: 4, hundredths: 0 },
    Allowance { name: "files", of: |sample| sample.files, more: 6, hundredths: 0 },
];

impl Sample {
    /// Looks at a daemon and at the files below a directory.
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

/// Prints what grew, by how much, and how much it might have.
pub(super) fn print_table(samples: &[Sample]) {
    let Some((first, last)) = ends(samples) else { return };
    println!("\n{:<14}{:>10}{:>10}{:>10}", "", "first", "last", "at most");
    for one in ALLOWANCES {
        println!("{:<14}{:>10}{:>10}{:>10}", one.name, (one.of)(first), (one.of)(last), one.limit(first));
    }
}

/// Says what has grown beyond its allowance.
pub(super) fn judge(samples: &[Sample]) -> Result<(), String> {
    let Some((first, last)) = ends(samples) else {
        return Err("too short: nothing could be compared".to_owned());
    };
    let grew = ALLOWANCES.iter().filter(|one| (one.of)(last) > one.limit(first));
    let grew: Vec<String> =
        grew.map(|one| format!("{} from {} to {}", one.name, (one.of)(first), (one.of)(last))).collect();
    if grew.is_empty() { Ok(()) } else { Err(format!("something grew: {}", grew.join(", "))) }
}

/// The first and the last sample of the daemon that was there in the end.
fn ends(samples: &[Sample]) -> Option<(&Sample, &Sample)> {
    let last = samples.last()?;
    let first = samples.iter().find(|sample| sample.counts && sample.daemon == last.daemon)?;
    (samples.len() > 1).then_some((first, last))
}

impl Allowance {
    fn limit(&self, first: &Sample) -> u64 {
        let had = (self.of)(first);
        had + had * self.hundredths / 100 + self.more
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
    fn what_grows_is_named_and_a_warm_up_does_not_count() {
        let flat = [sample(90_000, 90, false), sample(20_000, 20, true), sample(24_000, 22, true)];
        assert_eq!(judge(&flat), Ok(()));
        let leaks = [sample(20_000, 20, true), sample(20_500, 40, true), sample(40_000, 60, true)];
        let told = judge(&leaks).unwrap_err();
        assert_eq!(told, "something grew: memory (KiB) from 20000 to 40000, descriptors from 20 to 60");
        assert!(judge(&flat[..1]).is_err() && judge(&[]).is_err());
    }
}
