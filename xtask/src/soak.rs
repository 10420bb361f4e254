//! `cargo xtask soak`: sessions opened, acted on, killed and recovered at random, and nothing may grow (F45).
//!
//! Drives the binary as a user would. What happens comes from a seed, which is printed, so that a run can be repeated
//! as far as a machine repeats itself.

mod chance;
mod deed;
mod home;
mod process;
mod sample;
mod stroke;

use std::time::{Duration, Instant};

use crate::repository::Repository;
use crate::step::Step;
use crate::trouble::Trouble;

use chance::Chance;
use home::Home;
use sample::{Sample, judge, print_table};

/// How long it takes when nothing is said.
const MINUTES: u64 = 10;

/// How long it may take: it ends by itself, whatever is asked for.
const LONGEST: u64 = 240;

/// A fault comes this often.
const FAULT_EVERY: Duration = Duration::from_secs(5);

/// Everything is stopped and measured this often.
const REST_EVERY: Duration = Duration::from_secs(25);

/// The part of the time in which daemons are killed too, in hundredths. What is compared comes after it: a daemon
/// that has just been started has nothing that could have grown.
const WARM_UP: u32 = 35;

/// What is asked for on the command line.
#[derive(Debug, PartialEq, Eq)]
struct Wish {
    minutes: u64,
    seed: u64,
}

/// Runs the soak and fails when something grew, hung, or failed as a bug does.
pub(crate) fn run(repository: &Repository, arguments: &[String]) -> Result<(), Trouble> {
    let wish = read(arguments)?;
    Step::cargo("build", &["build", "-p", "tabwire"]).run(repository.root())?;
    let home = Home::make(repository.path("target/debug/tabwire"))?;
    println!("Soaking for {} min with seed {} in {}.", wish.minutes, wish.seed, home.path().display());
    let soaked = soak(&home, &wish);
    home.end();
    let samples = soaked?;
    print_table(&samples);
    judge(&samples).map_err(Trouble::Soaked)?;
    home.remove();
    println!("Nothing grew.");
    Ok(())
}

fn soak(home: &Home, wish: &Wish) -> Result<Vec<Sample>, Trouble> {
    let mut chance = Chance::new(wish.seed);
    let begun = Instant::now();
    let length = Duration::from_secs(60 * wish.minutes);
    let warm = length * WARM_UP / 100;
    let (mut fault_at, mut rest_at) = (FAULT_EVERY, REST_EVERY);
    let mut samples = Vec::new();
    while begun.elapsed() < length {
        deed::carry_out(home, &mut chance)?;
        if begun.elapsed() >= fault_at {
            fault_at = begun.elapsed() + FAULT_EVERY;
            stroke::strike(home, &mut chance, begun.elapsed() < warm);
        }
        if begun.elapsed() >= rest_at {
            samples.push(home.rest(begun, begun.elapsed() >= warm)?);
            rest_at = begun.elapsed() + REST_EVERY;
        }
    }
    samples.push(home.rest(begun, true)?);
    Ok(samples)
}

fn read(arguments: &[String]) -> Result<Wish, Trouble> {
    let mut wish = Wish { minutes: MINUTES, seed: 0x50a4 };
    let mut rest = arguments.iter();
    while let Some(name) = rest.next() {
        let number = rest.next().and_then(|text| text.parse::<u64>().ok()).filter(|number| *number > 0);
        match (name.as_str(), number) {
            ("--minutes", Some(minutes)) if minutes <= LONGEST => wish.minutes = minutes,
            ("--seed", Some(seed)) => wish.seed = seed,
            _ => {
                let problem = format!("`soak` takes --minutes N (1 to {LONGEST}) and --seed N, not `{name}`");
                return Err(Trouble::Usage(problem));
            }
        }
    }
    Ok(wish)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_soak_is_bounded() {
        let wish = |words: &[&str]| read(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        assert_eq!(wish(&[]).unwrap().minutes, MINUTES);
        assert_eq!(wish(&["--minutes", "3", "--seed", "7"]).unwrap(), Wish { minutes: 3, seed: 7 });
        for bad in [&["--minutes", "0"][..], &["--minutes", "9999"], &["--minutes"], &["3"]] {
            assert!(wish(bad).is_err(), "{bad:?}");
        }
    }
}
