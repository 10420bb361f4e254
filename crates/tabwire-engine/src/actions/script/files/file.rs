//! `file_read` and `file_write`: the `fs` of scripts. Files are below the request's roots; the policy of the page's site
//! decides, because a script can give to a page what it reads.

use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_api::{ErrorCode, Failure};
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::files::FileKind;

/// Largest file of a script: its message has 16 MiB, and base64 adds a third.
const FILE_BYTES: usize = 10 * 1024 * 1024;

/// Read a file for a script.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct FileRead {
    /// The file, below the session's roots.
    #[schemars(extend("x-carries" = "file_given"))]
    path: PathBuf,
}

/// The content of a file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct FileContent {
    /// Its bytes as base64.
    base64: String,
    /// How many bytes it has.
    bytes: usize,
}

impl Action for FileRead {
    const NAME: &'static str = "file_read";
    const EFFECT: Effect = Effect::Files;
    const EXAMPLES: &'static [Example] = &[];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Execute);
    type Output = FileContent;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Upload)
    }

    async fn run(self, context: &Context) -> Result<FileContent, Failure> {
        let content = context.files.read(&self.path)?;
        check_size(content.len())?;
        Ok(FileContent { bytes: content.len(), base64: STANDARD.encode(content) })
    }
}

/// Write a new file for a script.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct FileWrite {
    /// The file, below the session's roots. One that exists is not replaced.
    #[schemars(extend("x-carries" = "file_written"))]
    path: PathBuf,
    /// Its content as base64.
    #[schemars(extend("x-carries" = "text", "x-secret" = "typed"))]
    base64: String,
}

/// The file that was written.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct WrittenFile {
    /// Its path.
    path: PathBuf,
    /// How many bytes it has.
    bytes: usize,
}

impl Action for FileWrite {
    const NAME: &'static str = "file_write";
    const EFFECT: Effect = Effect::Files;
    const EXAMPLES: &'static [Example] = &[];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Execute);
    type Output = WrittenFile;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Download)
    }

    async fn run(self, context: &Context) -> Result<WrittenFile, Failure> {
        let content = STANDARD
            .decode(&self.base64)
            .map_err(|_| Failure::new(ErrorCode::BadArgs, "`base64` is not base64."))?;
        check_size(content.len())?;
        let path = context.files.write(FileKind::Capture, Some(self.path.as_path()), "file", &content)?;
        Ok(WrittenFile { path, bytes: content.len() })
    }
}

fn check_size(bytes: usize) -> Result<(), Failure> {
    if bytes <= FILE_BYTES {
        return Ok(());
    }
    let message = format!("The file has {bytes} bytes; scripts read and write at most {FILE_BYTES}.");
    Err(Failure::new(ErrorCode::BadArgs, message))
}

impl Render for FileContent {
    fn render(&self) -> String {
        format!("{} bytes", self.bytes)
    }
}

impl Render for WrittenFile {
    fn render(&self) -> String {
        self.path.display().to_string()
    }
}
