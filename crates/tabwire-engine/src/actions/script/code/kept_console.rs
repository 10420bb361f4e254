//! `kept_console`: the kept lines of the page's console with their times, for `page.consoleMessages()` and
//! `page.pageErrors()`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_api::Failure;
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::actions::console::harmless;
use crate::frames::policy::OmittedSites;
use crate::page::console::ConsoleEntry;

/// List the kept lines of the page's console.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct KeptConsole {
    /// Lines of earlier documents too.
    #[arg(long)]
    #[serde(default)]
    all: bool,
}

/// Kept lines, the oldest first.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct KeptLines {
    lines: Vec<KeptLine>,
}

/// A line with its time.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct KeptLine {
    #[serde(flatten)]
    entry: ConsoleEntry,
    /// When it was written, in milliseconds since 1970.
    time: u64,
}

impl Action for KeptConsole {
    const NAME: &'static str = "kept_console";
    const EFFECT: Effect = Effect::Read;
    const EXAMPLES: &'static [Example] = &[];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Execute);
    type Output = KeptLines;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Read).showing_past()
    }

    async fn run(self, context: &Context) -> Result<KeptLines, Failure> {
        let page = context.page().await?;
        let log = page.state().console();
        let since = if self.all { log.cleared() } else { log.navigated() };
        let policy = page.session().policy();
        let (mut lines, mut withheld) = (Vec::new(), OmittedSites::default());
        for entry in log.since(since) {
            match entry.refused_by(policy) {
                Some(url) => withheld.add(url),
                None => lines.push(KeptLine { time: entry.time, entry: harmless(entry) }),
            }
        }
        context.notices.add(withheld.notice("console line", "console lines"));
        Ok(KeptLines { lines })
    }
}

impl Render for KeptLines {
    fn render(&self) -> String {
        format!("{} lines", self.lines.len())
    }
}
