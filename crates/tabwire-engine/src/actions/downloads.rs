//! `downloads`: what has been downloaded in this session.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_api::Failure;
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::{Action, Column, Effect, Example, Render, ResultTable, ToolGroup, ToolOptions};
use crate::download::log::Download;

/// List what has been downloaded: complete, under way and failed.
///
/// Whatever a page downloads is kept in a directory of Tabwire's own, under a name that does no harm.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Downloads {}

/// The downloads, oldest first.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct DownloadList {
    /// The downloads, oldest first.
    downloads: Vec<Download>,
    /// How many older ones are not listed any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    forgotten: Option<u64>,
}

impl Action for Downloads {
    const NAME: &'static str = "downloads";
    const EFFECT: Effect = Effect::Read;
    const EXAMPLES: &'static [Example] =
        &[Example::new("tabwire downloads", "List what has been downloaded, and where it is.")];
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
        empty: "nothing has been downloaded",
        notes: &[("forgotten", "older ones are not listed any more")],
    });
    type Output = DownloadList;

    fn needs(&self) -> Needs {
        Needs::every_site(&[Capability::Download])
    }

    async fn run(self, context: &Context) -> Result<DownloadList, Failure> {
        if context.tab.is_some() {
            // Downloads are the session's, but a tab that is not there is a mistake all the same.
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
            return "nothing has been downloaded".to_owned();
        }
        let mut lines: Vec<String> =
            self.forgotten.iter().map(|count| format!("({count} older ones)")).collect();
        lines.extend(self.downloads.iter().map(Download::line));
        lines.join("\n")
    }
}
