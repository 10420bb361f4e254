//! `script_download`: waits for, moves, cancels or deletes a download that a script saw in an event.

use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tabwire_api::{ErrorCode, Failure};
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::download::log::DownloadState;
use crate::download::wait::await_end;

/// Wait for a download and handle its file.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct ScriptDownload {
    /// The id of the download.
    #[schemars(extend("x-carries" = "text", "x-log" = "keyword"))]
    guid: String,
    /// What to do.
    #[arg(value_enum)]
    verb: DownloadVerb,
    /// The file to write, which must not exist, or a directory, below a declared root.
    #[arg(long)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "file_written"))]
    path: Option<PathBuf>,
}

/// What to do with a download.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DownloadVerb {
    /// Wait until it ends.
    Wait,
    /// Wait, and move the file.
    Save,
    /// Cancel it.
    Cancel,
    /// Delete the file.
    Delete,
}

/// A download.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ScriptDownloadResult {
    /// The path of the file.
    path: Option<String>,
    /// Why it failed.
    failure: Option<String>,
}

impl Action for ScriptDownload {
    const NAME: &'static str = "script_download";
    const EFFECT: Effect = Effect::Files;
    const EXAMPLES: &'static [Example] = &[];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Execute);
    type Output = ScriptDownloadResult;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Download)
    }

    async fn run(self, context: &Context) -> Result<ScriptDownloadResult, Failure> {
        let downloads = context.browser.downloads();
        if downloads.log().entries().find(&self.guid).is_none() {
            return Err(Failure::new(ErrorCode::BadArgs, "The download is no longer known."));
        }
        if self.verb == DownloadVerb::Cancel {
            downloads.cancel(&self.guid, "canceled");
        }
        if let Some(path) = &self.path {
            context.files.check_output(path)?;
        }
        let ended = await_end(&context.browser, &self.guid, context.deadline).await;
        let ended =
            ended.ok_or_else(|| Failure::new(ErrorCode::Timeout, "The download did not end in time."))?;
        if ended.state == DownloadState::Failed {
            let failure = ended.reason.unwrap_or_else(|| "it was interrupted".to_owned());
            if self.verb == DownloadVerb::Save {
                return Err(Failure::new(ErrorCode::DownloadFailed, failure));
            }
            return Ok(ScriptDownloadResult { path: None, failure: Some(failure) });
        }
        let path = match (self.verb, self.path) {
            (DownloadVerb::Save, Some(path)) => {
                let put = downloads.put(&self.guid, Arc::clone(&context.files), path).await?;
                Some(put.display().to_string())
            }
            (DownloadVerb::Delete, _) => {
                downloads.discard(&self.guid);
                None
            }
            _ => ended.path,
        };
        Ok(ScriptDownloadResult { path, failure: None })
    }
}

impl Render for ScriptDownloadResult {
    fn render(&self) -> String {
        json!(self).to_string()
    }
}
