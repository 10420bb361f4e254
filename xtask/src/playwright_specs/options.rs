//! The arguments of `cargo xtask playwright-specs`.

use std::path::PathBuf;

use crate::error::Error;

/// The longest time of one test, in milliseconds.
const LIMIT: u64 = 8_000;

/// The arguments.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Options {
    /// The checkout of Playwright.
    pub(super) checkout: PathBuf,
    /// Run only specs whose file name contains one of these.
    pub(super) groups: Vec<String>,
    /// Run only tests whose name contains this.
    pub(super) filter: String,
    /// Print JSON.
    pub(super) json: bool,
    /// Sessions that run specs at the same time.
    pub(super) workers: usize,
    /// The longest time of one test, in milliseconds.
    pub(super) limit: u64,
    /// Use the program that is there instead of building it.
    pub(super) is_built: bool,
    /// Do not run unlisted failures again.
    pub(super) is_once: bool,
}

impl Options {
    pub(super) fn read(arguments: &[String]) -> Result<Options, Error> {
        let mut options = Options {
            checkout: PathBuf::new(),
            groups: Vec::new(),
            filter: String::new(),
            json: false,
            workers: 3,
            limit: LIMIT,
            is_built: false,
            is_once: false,
        };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let mut value =
                || rest.next().cloned().ok_or_else(|| Error::Usage(format!("`{argument}` needs a value")));
            match argument.as_str() {
                "--checkout" => options.checkout = PathBuf::from(value()?),
                "--group" => options.groups.push(value()?),
                "--filter" => options.filter = value()?,
                "--workers" => options.workers = number(argument, &value()?, 1..=16)?,
                "--limit" => options.limit = number(argument, &value()?, 100..=60_000)? as u64,
                "--json" => options.json = true,
                "--built" => options.is_built = true,
                "--once" => options.is_once = true,
                other => return Err(Error::Usage(format!("unknown argument `{other}`"))),
            }
        }
        if options.checkout.as_os_str().is_empty() {
            let what = "`--checkout DIR` is missing: a checkout of github.com/microsoft/playwright";
            return Err(Error::Usage(what.to_owned()));
        }
        options.checkout =
            options.checkout.canonicalize().map_err(|source| Error::file(&options.checkout, source))?;
        Ok(options)
    }
}

fn number(name: &str, text: &str, range: std::ops::RangeInclusive<usize>) -> Result<usize, Error> {
    text.parse().ok().filter(|number| range.contains(number)).ok_or_else(|| {
        Error::Usage(format!("`{name}` takes a number from {} to {}", range.start(), range.end()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(arguments: &[&str]) -> Result<Options, Error> {
        Options::read(&arguments.iter().map(|argument| (*argument).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn arguments_are_read() {
        let options = read(&["--checkout", ".", "--group", "a", "--group", "b", "--workers", "2", "--json"]);
        let options = options.unwrap();
        assert_eq!((options.groups.len(), options.workers, options.json), (2, 2, true));
    }

    #[test]
    fn wrong_arguments_are_refused() {
        for arguments in [
            &[][..],
            &["--checkout"],
            &["--checkout", "no/such/folder"],
            &["--checkout", ".", "--workers", "0"],
            &["--checkout", ".", "--what"],
        ] {
            assert!(read(arguments).is_err(), "{arguments:?}");
        }
    }
}
