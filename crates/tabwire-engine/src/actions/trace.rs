//! `trace`: records a browser trace for Chrome's developer tools, and summarizes one page's performance.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::output::OutputArguments;
use crate::action::result::BareValue;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::files::FileKind;
use crate::trace::run::{TraceRun, check_categories};
use crate::trace::summary::TraceSummary;

/// Record a browser trace and report the page's performance: LCP, CLS, INP, long tasks, scripts.
///
/// `trace start`, then load a page or act on it, then `trace stop`. The file opens in the browser's developer tools.
/// The trace covers the whole browser; the summary covers the tab that was current at the start. In the user's own
/// browser only that tab is traced. Works while a dialog is open.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Trace {
    /// What to do.
    #[arg(value_enum)]
    verb: Verb,
    /// Also trace this category, with `start`; may be repeated.
    #[arg(long = "category", value_name = "NAME")]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-carries" = "text"))]
    categories: Vec<String>,
    #[command(flatten)]
    #[serde(flatten)]
    output: OutputArguments,
}

/// What to do with a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verb {
    /// Start it.
    Start,
    /// Stop and write the file.
    Stop,
}

/// The state of the trace.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "state", rename_all = "lowercase")]
pub(crate) enum TraceResult {
    /// It is running.
    Started,
    /// It is written.
    Stopped(Box<TraceFile>),
}

/// A finished trace.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct TraceFile {
    /// The file.
    path: PathBuf,
    /// Its size in bytes.
    bytes: u64,
    /// The length of the trace in seconds.
    seconds: f64,
    /// Whether events above the size limit were dropped.
    truncated: bool,
    /// How the page performed.
    #[serde(flatten)]
    summary: TraceSummary,
}

impl Action for Trace {
    const NAME: &'static str = "trace";
    const EFFECT: Effect = Effect::Files;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire trace start", "Start a trace."),
        Example::new("tabwire trace stop -o trace.json", "Stop it and print the performance summary."),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Debug).hiding(&["force"]);
    type Output = TraceResult;

    fn needs(&self) -> Needs {
        Needs::every_site(&[Capability::Read, Capability::Download])
    }

    async fn run(self, context: &Context) -> Result<TraceResult, Failure> {
        match self.verb {
            Verb::Start => self.start(context).await,
            Verb::Stop => self.stop(context).await,
        }
    }
}

impl Trace {
    async fn start(self, context: &Context) -> Result<TraceResult, Failure> {
        if self.output.is_some() {
            return Err(Failure::new(ErrorCode::BadArgs, "`output` is only for `stop`.")
                .with_remedy(Remedy::new("Give it to {}.", [Step::action("trace").with("verb", "stop")])));
        }
        check_categories(&self.categories)?;
        let page = context.tab_page().await?;
        let has_screenshots = self.categories.iter().any(|category| category.contains("screenshot"));
        if has_screenshots && !page.session().policy().is_idle() {
            let message =
                "A trace with screenshots shows every tab and frame, also those that the policy denies.";
            return Err(Failure::new(ErrorCode::PolicyDenied, message)
                .with_remedy(Remedy::new(
                    "Leave the category out, or use {}, which checks each frame.",
                    [Step::action("record")],
                ))
                .with_details(serde_json::json!({"remedy": null})));
        }
        let mut slot = context.browser.trace().lock().await;
        if slot.is_some() {
            return Err(Failure::new(ErrorCode::Busy, "A trace is already running.")
                .with_remedy(Remedy::new("Run {} first.", [Step::action("trace").with("verb", "stop")])));
        }
        let browser = context.browser.connection().browser();
        *slot = Some(TraceRun::start(browser, &page, &self.categories, context.deadline).await?);
        Ok(TraceResult::Started)
    }

    async fn stop(self, context: &Context) -> Result<TraceResult, Failure> {
        if !self.categories.is_empty() {
            return Err(Failure::new(ErrorCode::BadArgs, "`categories` is only for `start`."));
        }
        let mut slot = context.browser.trace().lock().await;
        let not_running = || {
            Failure::new(ErrorCode::NotActionable, "No trace is running.")
                .with_remedy(Remedy::new("Run {} first.", [Step::action("trace").with("verb", "start")]))
        };
        if slot.is_none() {
            return Err(not_running());
        }
        // Create the file first, so that a path that cannot be written does not lose the trace.
        let mut file =
            self.output.files(context).create(FileKind::Trace, self.output.path(), "trace.json")?;
        let run = slot.take().ok_or_else(not_running)?;
        let written = run.finish(&mut file, context.deadline).await?;
        Ok(TraceResult::Stopped(Box::new(TraceFile {
            path: file.path,
            bytes: written.bytes,
            seconds: (written.seconds * 10.0).round() / 10.0,
            truncated: written.truncated,
            summary: written.summary,
        })))
    }
}

impl Render for TraceResult {
    fn render(&self) -> String {
        let Self::Stopped(file) = self else {
            return "tracing; the verb `stop` ends it".to_owned();
        };
        let cut = if file.truncated { ", cut: events above the size limit were dropped" } else { "" };
        let mut lines = vec![format!(
            "{} ({} bytes, {} events, {} s{cut})",
            file.path.display(),
            file.bytes,
            file.summary.events,
            file.seconds
        )];
        lines.extend(file.summary.lines());
        lines.join("\n")
    }

    fn bare(&self) -> Option<BareValue> {
        match self {
            Self::Stopped(file) => Some(BareValue::path(&file.path)),
            _ => None,
        }
    }
}
