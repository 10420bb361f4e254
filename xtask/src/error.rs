//! The error of every xtask command.

use std::fmt;
use std::path::PathBuf;

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum Error {
    /// The arguments are invalid.
    Usage(String),
    /// A step exited with an error.
    StepFailed { step: String, command: String },
    /// A program could not be started.
    CannotStart { program: String, source: std::io::Error },
    /// A file could not be read or written.
    File { path: PathBuf, source: std::io::Error },
    /// A file could not be parsed.
    Malformed { path: PathBuf, problem: String },
    /// The user has to install something first.
    NeedsUser { what: String, hint: String },
    /// The soak test failed.
    SoakFailed(String),
    /// This many specs fail that the list of known failures does not name.
    SpecsFailed(usize),
    /// So many tests on Firefox differ from the list of those that fail.
    FirefoxDiffers(usize),
    /// The tidy checks found this many problems.
    Untidy(usize),
}

impl Error {
    /// The exit code of the process.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Error::Usage(_) => 2,
            _ => 1,
        }
    }

    /// Adds the path to an I/O error.
    pub(crate) fn file(path: impl Into<PathBuf>, source: std::io::Error) -> Error {
        Error::File { path: path.into(), source }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Usage(problem) | Error::SoakFailed(problem) => write!(formatter, "{problem}"),
            Error::StepFailed { step, command } => {
                write!(formatter, "step `{step}` failed. Run it alone with: {command}")
            }
            Error::CannotStart { program, source } => {
                write!(formatter, "cannot start `{program}`: {source}. Is it installed and on PATH?")
            }
            Error::File { path, source } => write!(formatter, "{}: {source}", path.display()),
            Error::Malformed { path, problem } => write!(formatter, "{}: {problem}", path.display()),
            Error::NeedsUser { what, hint } => write!(formatter, "{what}. {hint}"),
            Error::SpecsFailed(count) => write!(formatter, "{count} unlisted specs fail"),
            Error::FirefoxDiffers(count) => {
                write!(formatter, "{count} tests on Firefox differ from their list")
            }
            Error::Untidy(1) => write!(formatter, "tidy found 1 problem"),
            Error::Untidy(count) => write!(formatter, "tidy found {count} problems"),
        }
    }
}
