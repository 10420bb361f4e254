//! The source of a setting's value.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

/// The source of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The default.
    BuiltIn,
    /// The user's file.
    UserFile { path: Arc<Path>, line: usize },
    /// The project's file.
    ProjectFile { path: Arc<Path>, line: usize },
    /// An environment variable.
    Variable(&'static str),
    /// A flag of this command.
    Flag(&'static str),
}

impl Origin {
    /// The source for `--json`.
    pub(crate) fn to_json(&self) -> Value {
        match self {
            Self::BuiltIn => json!({"kind": "built-in"}),
            Self::UserFile { path, line } => json!({"kind": "user", "path": path, "line": line}),
            Self::ProjectFile { path, line } => json!({"kind": "project", "path": path, "line": line}),
            Self::Variable(name) => json!({"kind": "environment", "name": name}),
            Self::Flag(name) => json!({"kind": "flag", "name": name}),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => formatter.write_str("built-in"),
            Self::UserFile { path, line } | Self::ProjectFile { path, line } => {
                write!(formatter, "{}:{line}", path.display())
            }
            Self::Variable(name) | Self::Flag(name) => formatter.write_str(name),
        }
    }
}

/// A value with its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ValueWithOrigin<T> {
    pub(crate) value: T,
    pub(crate) origin: Origin,
}
