//! `cargo xtask soak`: opens, uses, kills and recovers sessions at random and fails when the daemon grows (F45).
//!
//! The printed seed repeats the same sequence of operations and faults.

mod fault;
mod home;
mod operation;
mod process;
mod rng;
mod sample;

use std::time::{Duration, Instant};

use crate::error::Error;
use crate::repository::Repository;
use crate::step::Step;

use home::Home;
use rng::Rng;
use sample::{Sample, check_growth, print_table};

/// Default length.
const MINUTES: u64 = 10;

/// Upper bound of `--minutes`.
const MAX_MINUTES: u64 = 240;

/// Interval between faults.
const FAULT_EVERY: Duration = Duration::from_secs(5);

/// Interval between measurements, which stop every session first.
const MEASURE_EVERY: Duration = Duration::from_secs(25);

/// The share of the time, in percent, in which daemons are killed too. Samples are compared only after it, because a
/// restarted daemon has lost its growth.
const WARM_UP: u32 = 35;

/// The arguments.
#[derive(Debug, PartialEq, Eq)]
struct Options {
    minutes: u64,
    seed: u64,
}

/// Runs the soak test. Fails on growth, on a hang and on an `INTERNAL` error.
pub(crate) fn run(repository: &Repository, arguments: &[String]) -> Result<(), Error> {
    let options = read(arguments)?;
    Step::cargo("build", &["build", "-p", "tabwire"]).run(repository.root())?;
    let home = Home::create(repository.path("target/debug/tabwire"))?;
    println!("Soaking for {} min with seed {} in {}.", options.minutes, options.seed, home.path().display());
    let outcome = soak(&home, &options);
    home.end();
    let samples = outcome?;
    print_table(&samples);
    check_growth(&samples).map_err(Error::SoakFailed)?;
    home.remove();
    println!("No growth.");
    Ok(())
}

fn soak(home: &Home, options: &Options) -> Result<Vec<Sample>, Error> {
    let mut rng = Rng::new(options.seed);
    let start = Instant::now();
    let length = Duration::from_secs(60 * options.minutes);
    let warm = length * WARM_UP / 100;
    let (mut fault_at, mut measure_at) = (FAULT_EVERY, MEASURE_EVERY);
    let mut samples = Vec::new();
    while start.elapsed() < length {
        operation::run(home, &mut rng)?;
        if start.elapsed() >= fault_at {
            fault_at = start.elapsed() + FAULT_EVERY;
            fault::inject(home, &mut rng, start.elapsed() < warm);
        }
        if start.elapsed() >= measure_at {
            samples.push(home.measure_idle(start, start.elapsed() >= warm)?);
            measure_at = start.elapsed() + MEASURE_EVERY;
        }
    }
    samples.push(home.measure_idle(start, true)?);
    Ok(samples)
}

fn read(arguments: &[String]) -> Result<Options, Error> {
    let mut options = Options { minutes: MINUTES, seed: 0x50a4 };
    let mut rest = arguments.iter();
    while let Some(name) = rest.next() {
        let number = rest.next().and_then(|text| text.parse::<u64>().ok()).filter(|number| *number > 0);
        match (name.as_str(), number) {
            ("--minutes", Some(minutes)) if minutes <= MAX_MINUTES => options.minutes = minutes,
            ("--seed", Some(seed)) => options.seed = seed,
            _ => {
                let problem =
                    format!("`soak` takes --minutes N (1 to {MAX_MINUTES}) and --seed N, not `{name}`");
                return Err(Error::Usage(problem));
            }
        }
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_soak_is_bounded() {
        let options = |words: &[&str]| read(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        assert_eq!(options(&[]).unwrap().minutes, MINUTES);
        assert_eq!(options(&["--minutes", "3", "--seed", "7"]).unwrap(), Options { minutes: 3, seed: 7 });
        for bad in [&["--minutes", "0"][..], &["--minutes", "9999"], &["--minutes"], &["3"]] {
            assert!(options(bad).is_err(), "{bad:?}");
        }
    }
}
