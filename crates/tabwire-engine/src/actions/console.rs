//! `console`: lists the lines of the page's console.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::result::BareValue;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::frames::policy::OmittedSites;
use crate::page::console::{ConsoleEntry, Reader};
use crate::snapshot::{LinkTarget, PageText, enclose};

/// Default number of console lines in one result: the newest ones.
const CONSOLE_REPORTED: usize = 100;

/// Show new console lines of the page since the last call, uncaught errors included.
///
/// Includes lines that the browser writes: failed requests, blocked content, deprecations.
/// Works while a dialog is open.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Console {
    #[command(flatten)]
    #[serde(flatten)]
    extent: ConsoleArguments,
    /// Only lines of this level; may be repeated.
    #[arg(long = "level", value_enum, value_name = "LEVEL")]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    levels: Vec<Level>,
}

/// Which lines to show.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct ConsoleArguments {
    /// All lines that are still kept, not only new ones.
    #[arg(long)]
    #[serde(default)]
    all: bool,
    /// Clear the lines afterwards.
    #[arg(long)]
    #[serde(default)]
    clear: bool,
    /// The maximum of lines, the newest ones; 100 by default.
    #[arg(long, value_name = "N")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    limit: Option<usize>,
}

/// The level of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    /// Errors, failed assertions and uncaught errors.
    Error,
    /// Warnings.
    Warning,
    /// Information.
    Info,
    /// Other lines of a page.
    Log,
    /// Debugging output.
    Debug,
}

impl Level {
    fn holds(self, entry: &ConsoleEntry) -> bool {
        match self {
            Self::Error => entry.is_error(),
            Self::Warning => entry.level == "warning",
            Self::Info => entry.level == "info",
            Self::Debug => entry.level == "debug",
            Self::Log => !entry.is_error() && !matches!(entry.level.as_str(), "warning" | "info" | "debug"),
        }
    }
}

/// Lines of a page's console.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ConsoleLines {
    /// The lines, the oldest first.
    lines: Vec<ConsoleEntry>,
    /// How many lines of each level the page has written since Tabwire attached or the lines were cleared.
    counts: BTreeMap<String, u64>,
    /// New lines that are not in this result: above the limit, or no longer kept.
    left_out: u64,
}

impl Action for Console {
    const NAME: &'static str = "console";
    const EFFECT: Effect = Effect::Read;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire console", "Print new lines of the page's console.").in_skill(),
        Example::new("tabwire console --all --level error", "Print all errors that are still kept."),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Debug);
    type Output = ConsoleLines;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Read).showing_past()
    }

    async fn run(self, context: &Context) -> Result<ConsoleLines, Failure> {
        let levels = self.levels;
        let fits = |entry: &ConsoleEntry| levels.is_empty() || levels.iter().any(|level| level.holds(entry));
        read_console(context, self.extent, Reader::Console, fits).await
    }
}

/// Reads the requested lines and records that this reader has received them.
pub(crate) async fn read_console(
    context: &Context,
    extent: ConsoleArguments,
    reader: Reader,
    fits: impl Fn(&ConsoleEntry) -> bool,
) -> Result<ConsoleLines, Failure> {
    let limit = extent.limit.unwrap_or(CONSOLE_REPORTED);
    if limit == 0 {
        return Err(Failure::new(ErrorCode::BadArgs, "`limit` must be at least 1.")
            .with_remedy(Remedy::new("Raise {} or leave it out.", [Step::argument("limit")])));
    }
    let page = context.page().await?;
    // A line of an action that has just ended may not have been read yet.
    page.sync_events().await;
    let mut log = page.state().console();
    let since = if extent.all { log.cleared() } else { log.last_read(reader) };
    let dropped = log.dropped_since(since);
    let policy = page.session().policy();
    let (mut wanted, mut withheld) = (Vec::new(), OmittedSites::default());
    for entry in log.since(since).filter(|entry| fits(entry)) {
        match entry.refused_by(policy) {
            Some(url) => withheld.add(url),
            None => wanted.push(harmless(entry)),
        }
    }
    context.notices.add(withheld.notice("console line", "console lines"));
    let skipped = wanted.len().saturating_sub(limit);
    let lines: Vec<ConsoleEntry> = wanted.into_iter().skip(skipped).collect();
    let counts = log.counts_for(policy);
    log.mark_read(reader);
    if extent.clear {
        log.clear();
    }
    Ok(ConsoleLines { lines, counts, left_out: dropped + u64::try_from(skipped).unwrap_or(u64::MAX) })
}

/// A line with control and invisible characters removed.
pub(crate) fn harmless(entry: &ConsoleEntry) -> ConsoleEntry {
    ConsoleEntry {
        number: entry.number,
        time: entry.time,
        level: PageText::new(&entry.level).as_str().to_owned(),
        text: PageText::cut(&entry.text, crate::limits::CONSOLE_CHARACTERS + 1).as_str().to_owned(),
        source: entry.source.as_ref().map(|source| PageText::new(source).as_str().to_owned()),
        location: entry.location.as_ref().map(|place| LinkTarget::new(place).as_str().to_owned()),
        judged: Vec::new(),
    }
}

impl Render for ConsoleLines {
    fn render(&self) -> String {
        let counts: Vec<String> =
            self.counts.iter().map(|(level, count)| format!("{count} {level}")).collect();
        let heading =
            if counts.is_empty() { "console".to_owned() } else { format!("console: {}", counts.join(", ")) };
        if self.lines.is_empty() {
            return format!("nothing new ({heading})");
        }
        let mut body = String::new();
        for line in &self.lines {
            body.push_str(&format!("- {}", line.level));
            if let Some(source) = &line.source {
                body.push_str(&format!(" ({source})"));
            }
            body.push_str(&format!(" {}", PageText::cut(&line.text, usize::MAX).quoted()));
            if let Some(place) = &line.location {
                body.push_str(&format!(" at {}", LinkTarget::new(place).within(120)));
            }
            body.push('\n');
        }
        let mut text = enclose(&heading, &body);
        if self.left_out > 0 {
            text.push_str(&format!("{} older lines left out; raise `limit` for more", self.left_out));
        }
        text.truncate(text.trim_end().len());
        text
    }

    fn bare(&self) -> Option<BareValue> {
        let cut = format!("{} older lines are not listed; raise `limit` for more.", self.left_out);
        let lines = self.lines.iter().map(|line| line.text.clone());
        Some(BareValue::lines(lines).with_cut((self.left_out > 0).then_some(cut)))
    }
}
