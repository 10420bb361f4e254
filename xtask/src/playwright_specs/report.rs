//! What a run prints: how many tests pass of those that stock Playwright passes, by file, and what the list misses.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use super::known::KnownFailures;
use super::options::Options;
use super::outcome::{Outcomes, group};
use crate::error::Error;

/// Tests that stock Playwright passes, that failed, and that the list does not name.
pub(super) fn unlisted_failures(
    stock: &Outcomes,
    ours: &Outcomes,
    known: &KnownFailures,
) -> BTreeSet<String> {
    let failed = stock.passed().filter(|id| !ours.has_passed(id) && !known.contains(id));
    failed.map(str::to_owned).collect()
}

/// Prints the report. Fails on unlisted failures.
pub(super) fn print(
    options: &Options,
    stock: &Outcomes,
    ours: &Outcomes,
    known: &KnownFailures,
) -> Result<(), Error> {
    let unlisted = unlisted_failures(stock, ours, known);
    let fixed: Vec<&str> = known.ids().filter(|id| ours.has_passed(id) && stock.has_passed(id)).collect();
    let mut groups: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for id in stock.passed() {
        let count = groups.entry(group(id)).or_default();
        count.0 += usize::from(ours.has_passed(id));
        count.1 += 1;
    }
    let passed: usize = groups.values().map(|count| count.0).sum();
    let total: usize = groups.values().map(|count| count.1).sum();
    if options.json {
        let groups: Vec<_> = groups
            .iter()
            .map(|(name, (passed, total))| json!({"group": name, "passed": passed, "total": total}))
            .collect();
        let unlisted: Vec<_> =
            unlisted.iter().map(|id| json!({"test": id, "error": ours.error(id)})).collect();
        println!(
            "{}",
            json!({"passed": passed, "total": total, "groups": groups, "unlisted": unlisted, "fixed": fixed})
        );
    } else {
        print_text(&groups, &unlisted, &fixed, ours);
        let share = if total == 0 { 0.0 } else { passed as f64 * 100.0 / total as f64 };
        println!("{passed} of the {total} tests that stock Playwright passes ({share:.1} %)");
    }
    if unlisted.is_empty() {
        return Ok(());
    }
    Err(Error::SpecsFailed(unlisted.len()))
}

fn print_text(
    groups: &BTreeMap<&str, (usize, usize)>,
    unlisted: &BTreeSet<String>,
    fixed: &[&str],
    ours: &Outcomes,
) {
    for (name, (passed, total)) in groups {
        println!("{passed:>4} of {total:<4} {name}");
    }
    if !unlisted.is_empty() {
        println!("\nFailures that the list does not name:");
    }
    for id in unlisted {
        println!("  {id}\n      {}", ours.error(id).lines().next().unwrap_or_default());
    }
    if !fixed.is_empty() {
        println!("\nListed, but they pass now:");
    }
    for id in fixed {
        println!("  {id}");
    }
}
