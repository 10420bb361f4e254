//! `downloads`: lists the session's downloads.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_api::Failure;
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::{Action, Column, Effect, Example, Render, ResultTable, ToolGroup, ToolOptions};
use crate::download::log::Download;

/// List the session's downloads: complete, running and failed.
///
/// Downloads of pages go to Tabwire's state directory. Unsafe characters in file names are replaced.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Downloads {}

/// The downloads, oldest first.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct DownloadList {
    /// The downloads, oldest first.
    downloads: Vec<Download>,
    /// How many older ones are no longer listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    forgotten: Option<u64>,
}

impl Action for Downloads {
    const NAME: &'static str = "downloads";
    const EFFECT: Effect = Effect::Read;
    const EXAMPLES: &'static [Example] =
        &[Example::new("tabwire downloads", "List the downloads and their paths.")];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Files);
    const TABLE: Option<ResultTable> = Some(ResultTable {
        rows: "downloads",
        columns: &[
            Column::new("NAME", "name"),
            Column::new("STATE", "state"),
            Column::new("BYTES", "bytes"),
            Column::new("OF", "total_bytes"),
            Column::new("FILE", "path"),
            Column::new("REASON", "reason"),
        ],
        empty: "no downloads",
        notes: &[("forgotten", "older ones are no longer listed")],
    });
    type Output = DownloadList;

    fn needs(&self) -> Needs {
        Needs::every_site(&[Capability::Download])
    }

    async fn run(self, context: &Context) -> Result<DownloadList, Failure> {
        if context.tab.is_some() {
            // The list belongs to the session, but a tab id that does not exist is still an error.
            context.page().await?;
        }
        let entries = context.browser.downloads().log().entries();
        let downloads: Vec<Download> = entries.since(0).cloned().collect();
        let listed = u64::try_from(downloads.len()).unwrap_or(u64::MAX);
        let forgotten = Some(entries.count().saturating_sub(listed)).filter(|forgotten| *forgotten > 0);
        Ok(DownloadList { downloads, forgotten })
    }
}

impl Render for DownloadList {
    fn render(&self) -> String {
        if self.downloads.is_empty() {
            return "no downloads".to_owned();
        }
        let mut lines: Vec<String> =
            self.forgotten.iter().map(|count| format!("({count} older ones)")).collect();
        lines.extend(self.downloads.iter().map(Download::line));
        lines.join("\n")
    }
}
