//! The one error of the chores. Each kind says what to do about it.

use std::fmt;
use std::path::PathBuf;

/// Why a chore stopped.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The command line makes no sense.
    Usage(String),
    /// A named step ran and failed.
    StepFailed { step: String, command: String },
    /// A program could not be started at all.
    CannotStart { program: String, source: std::io::Error },
    /// A file could not be read or written.
    File { path: PathBuf, source: std::io::Error },
    /// A file does not have the form it should have.
    Malformed { path: PathBuf, problem: String },
    /// Something must be installed by hand first.
    NeedsPerson { what: String, hint: String },
    /// The soak found this.
    Soaked(String),
    /// The tidy checks found this many places.
    Untidy(usize),
}

impl Trouble {
    /// The code the process ends with.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Trouble::Usage(_) => 2,
            _ => 1,
        }
    }

    /// Wraps an I/O error with the path it concerns.
    pub(crate) fn file(path: impl Into<PathBuf>, source: std::io::Error) -> Trouble {
        Trouble::File { path: path.into(), source }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::Usage(problem) | Trouble::Soaked(problem) => write!(formatter, "{problem}"),
            Trouble::StepFailed { step, command } => {
                write!(formatter, "step `{step}` failed. Run it alone with: {command}")
            }
            Trouble::CannotStart { program, source } => {
                write!(formatter, "cannot start `{program}`: {source}. Is it installed and on PATH?")
            }
            Trouble::File { path, source } => write!(formatter, "{}: {source}", path.display()),
            Trouble::Malformed { path, problem } => write!(formatter, "{}: {problem}", path.display()),
            Trouble::NeedsPerson { what, hint } => write!(formatter, "{what}. {hint}"),
            Trouble::Untidy(1) => write!(formatter, "tidy found 1 place to mend"),
            Trouble::Untidy(count) => write!(formatter, "tidy found {count} places to mend"),
        }
    }
}
