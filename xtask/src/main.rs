//! Commands for contributors, run as `cargo xtask <command>`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line program prints")]

mod bench;
mod error;
mod metrics;
mod reference;
mod repository;
mod retired_words;
mod rust_code;
mod setup;
mod soak;
mod source_tree;
mod step;
mod test_code;
mod test_command;
mod tidy;

use std::process::ExitCode;

use error::Error;
use repository::Repository;

const HELP: &str = "\
Usage: cargo xtask <command>

  setup [--yes]           install the missing programs that the tests need; asks first
  test [--full] [FILTER]  setup, format, lints and tests; with FILTER only the matching tests
                          --full: long client suites, tab churn and random kills at full size
  bench [NAME...]         run the benchmarks of the tabwire crate, or only the named ones
  soak [--minutes N] [--seed N]
                          inject random faults for 10 minutes (default); fails when the daemon grows
  gen                     write the generated pages of docs/reference
  man --out DIR           write the man pages into DIR
  metrics [--dir DIR] [--json | --words]
                          print the size, shape and vocabulary of the source tree
                          --words: the lines that contain refused words
  tidy                    run the repository checks and print what they find
  help                    print this text";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}

fn run(arguments: &[String]) -> Result<(), Error> {
    let Some((command, rest)) = arguments.split_first() else {
        println!("{HELP}");
        return Ok(());
    };
    let repository = Repository::find();
    match command.as_str() {
        "setup" => setup::run(&repository, setup::Consent::from_arguments(rest)?),
        "test" => test_command::run(&repository, rest),
        "bench" => bench::run(&repository, rest),
        "soak" => soak::run(&repository, rest),
        "man" => reference::write_man_pages(&repository, rest),
        "metrics" => metrics::run(&repository, rest),
        "gen" if rest.is_empty() => reference::write_all(&repository),
        "tidy" if rest.is_empty() => tidy::print_all(&repository),
        "gen" | "tidy" => Err(Error::Usage(format!("`{command}` takes no arguments"))),
        "help" | "--help" | "-h" => {
            println!("{HELP}");
            Ok(())
        }
        other => Err(Error::Usage(format!("unknown command `{other}`; see `cargo xtask help`"))),
    }
}
