//! The output file of an action, as its parameters name it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_api::Failure;

use crate::action::context::Context;
use crate::files::Files;

/// Parameters of actions that write a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct OutputArguments {
    /// The file or directory to write; a new file in Tabwire's state directory by default.
    #[arg(long, short, value_name = "PATH")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "file_written"))]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    #[serde(flatten)]
    pub(crate) overwrite: OverwriteArguments,
}

/// Whether an output replaces a file that this session did not write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct OverwriteArguments {
    /// Replace the file if it exists. A file that this session wrote is always replaced.
    #[arg(long)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) force: bool,
}

impl OverwriteArguments {
    /// The files of the action, for its outputs.
    pub(crate) fn files(self, context: &Context) -> Arc<dyn Files> {
        if self.force { context.files.overwriting() } else { Arc::clone(&context.files) }
    }
}

impl OutputArguments {
    /// Whether a path is given.
    pub(crate) const fn is_some(&self) -> bool {
        self.output.is_some()
    }

    /// The given path.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    /// The files of the action, for its outputs.
    pub(crate) fn files(&self, context: &Context) -> Arc<dyn Files> {
        self.overwrite.files(context)
    }

    /// Checks the path before the work is done.
    ///
    /// # Errors
    /// When nothing may be written there.
    pub(crate) fn check(&self, context: &Context) -> Result<(), Failure> {
        self.path().map_or(Ok(()), |path| self.files(context).check_output(path))
    }
}
