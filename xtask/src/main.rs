//! Project chores, run as `cargo xtask <command>`.
//!
//! Knows the repository and the tools on this machine. Knows nothing of protocols.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a chore runner talks to the person who runs it"
)]

mod bench;
mod reference;
mod repository;
mod rust_code;
mod setup;
mod soak;
mod source_tree;
mod step;
mod test_code;
mod test_command;
mod tidy;
mod trouble;

use std::process::ExitCode;

use repository::Repository;
use trouble::Trouble;

const HELP: &str = "\
Usage: cargo xtask <command>

  setup [--yes]      install what the tests need and is missing; asks first
  test [filter...]   setup, format, lints, all tests; with a filter only matching tests
  bench [name...]    run the benchmarks of the tabwire crate, or only the named ones
  soak [--minutes N] [--seed N]
                     live through faults at random, 10 minutes unless told; fails when something grows
  gen                write the generated reference pages under docs/reference
  tidy               run the house-rule checks and print what they find
  help               this text";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(trouble) => {
            eprintln!("xtask: {trouble}");
            ExitCode::from(trouble.exit_code())
        }
    }
}

fn run(arguments: &[String]) -> Result<(), Trouble> {
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
        "gen" if rest.is_empty() => reference::write_all(&repository),
        "tidy" if rest.is_empty() => tidy::print_all(&repository),
        "gen" | "tidy" => Err(Trouble::Usage(format!("`{command}` takes no arguments"))),
        "help" | "--help" | "-h" => {
            println!("{HELP}");
            Ok(())
        }
        other => Err(Trouble::Usage(format!("there is no command `{other}`; see `cargo xtask help`"))),
    }
}
