//! Commands for contributors, run as `cargo xtask <command>`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line program prints")]

mod bench;
mod dist;
mod error;
mod firefox_suites;
mod metrics;
mod pictures;
mod playwright_specs;
mod reference;
mod repository;
mod setup;
mod site;
mod soak;
mod source;
mod step;
mod test_command;
mod tidy;

use std::process::ExitCode;

use error::Error;
use repository::Repository;

const HELP: &str = "\
Usage: cargo xtask <command>

  setup [--yes] [--full]  install the missing programs that the tests need; asks first
                          --full: also the large packages of full client suites
  test [--full | --firefox] [FILTER]
                          repository checks, setup, format, lints and tests; with FILTER only the matching tests
                          --full: all client suites, tab churn and random kills at full size
                          --firefox: only the engine's suites, on Firefox
  bench [NAME...]         run the benchmarks of the tabwire crate, or only the named ones
  soak [--minutes N] [--seed N]
                          inject random faults for 10 minutes (default); fails when the daemon grows
  playwright-specs --checkout DIR [--group NAME] [--filter TEXT] [--json]
                          run Playwright's page specs as scripts, and compare with stock Playwright
                          --workers N, --limit MS; --built: without building; --once: no second try
  dist [--profile NAME | --binary FILE] [--only NAMES]
                          build the program and write all packages into target/dist
                          --only: of tarball, npm, wheel, deb, extension, site, sbom
                          --allow-glibc VERSION: pack a program that needs a newer glibc than 2.28
                          --out DIR, --level 0-9, --man DIR (built man pages), --no-man, --no-site
  site [--out DIR]        write the documentation as a site with search into target/site
  gen                     write the generated pages of docs/reference
  pictures                copy the pictures and recordings of docs/ from target/screenshots
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
        "setup" => {
            let (consent, size) = setup::read_arguments(rest)?;
            setup::run(&repository, consent, size)
        }
        "test" => test_command::run(&repository, rest),
        "bench" => bench::run(&repository, rest),
        "soak" => soak::run(&repository, rest),
        "playwright-specs" => playwright_specs::run(&repository, rest),
        "dist" => dist::run(&repository, rest),
        "site" => site::run(&repository, rest),
        "man" => reference::write_man_pages(&repository, rest),
        "metrics" => metrics::run(&repository, rest),
        "gen" if rest.is_empty() => reference::write_all(&repository),
        "pictures" if rest.is_empty() => pictures::copy(&repository),
        "tidy" if rest.is_empty() => tidy::print_all(&repository),
        "gen" | "tidy" | "pictures" => Err(Error::Usage(format!("`{command}` takes no arguments"))),
        "help" | "--help" | "-h" => {
            println!("{HELP}");
            Ok(())
        }
        other => Err(Error::Usage(format!("unknown command `{other}`; see `cargo xtask help`"))),
    }
}
