//! `vitals`: reports the page's web vitals so far.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tabwire_api::Failure;
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::snapshot::LinkTarget;
use crate::trace::web_vitals::{LongTasks, Measure, Metric};

/// Measure how the page performed so far: LCP, CLS, INP, FCP, TTFB and long tasks.
///
/// Reads the browser's performance entries of the main frame; adds nothing to the page. INP needs an interaction of 104
/// ms or more, because the browser does not keep faster ones.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Vitals {}

/// Shown for what the browser has no performance entries for.
const UNMEASURED: &str = "not measured by this browser";

/// How the page performed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Performance {
    /// The page's URL.
    url: String,
    /// Time to first byte.
    #[serde(skip_serializing_if = "Option::is_none")]
    ttfb: Option<Measure>,
    /// First contentful paint.
    #[serde(skip_serializing_if = "Option::is_none")]
    fcp: Option<Measure>,
    /// Largest contentful paint so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    lcp: Option<Measure>,
    /// Cumulative layout shift; absent in browsers that do not measure it.
    #[serde(skip_serializing_if = "Option::is_none")]
    cls: Option<Measure>,
    /// Interaction to next paint.
    #[serde(skip_serializing_if = "Option::is_none")]
    inp: Option<Measure>,
    /// The number of clicks, taps and keys.
    interactions: u64,
    /// The event of the slowest interaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    inp_event: Option<String>,
    /// Tasks of more than 50 ms; absent in browsers that do not measure them.
    #[serde(skip_serializing_if = "Option::is_none")]
    long_tasks: Option<LongTasks>,
    /// Milliseconds until the load event.
    #[serde(skip_serializing_if = "Option::is_none")]
    loaded_ms: Option<f64>,
    /// Whether the tab was in the background, where it paints nothing.
    hidden: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AgentVitals {
    url: String,
    hidden: bool,
    first_byte: Option<f64>,
    first_paint: Option<f64>,
    largest_paint: Part,
    loaded: Option<f64>,
    shift: Part,
    interaction: Part,
    tasks: Option<LongTasks>,
}

#[derive(Deserialize)]
struct Part {
    value: Option<f64>,
    element: Option<String>,
    event: Option<String>,
    #[serde(default)]
    count: u64,
}

impl Part {
    fn measure(&self, metric: Metric) -> Option<Measure> {
        self.value.map(|value| metric.measure(value, self.element.as_deref()))
    }
}

impl Action for Vitals {
    const NAME: &'static str = "vitals";
    const EFFECT: Effect = Effect::Read;
    const EXAMPLES: &'static [Example] = &[Example::new("tabwire vitals", "Report the page's web vitals.")];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Debug);
    type Output = Performance;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Read)
    }

    async fn run(self, context: &Context) -> Result<Performance, Failure> {
        let page = context.page().await?;
        let vitals: AgentVitals = page.call("vitals", &json!({}), context.deadline).await?;
        Ok(Performance {
            url: LinkTarget::new(&vitals.url).as_str().to_owned(),
            ttfb: vitals.first_byte.map(|value| Metric::FirstByte.measure(value, None)),
            fcp: vitals.first_paint.map(|value| Metric::FirstPaint.measure(value, None)),
            lcp: vitals.largest_paint.measure(Metric::LargestPaint),
            cls: vitals.shift.measure(Metric::Shift),
            inp: vitals.interaction.measure(Metric::Interaction),
            interactions: vitals.interaction.count,
            inp_event: vitals.interaction.event,
            long_tasks: vitals.tasks.map(LongTasks::rounded),
            loaded_ms: vitals.loaded.map(f64::round),
            hidden: vitals.hidden,
        })
    }
}

impl Render for Performance {
    fn render(&self) -> String {
        let unpainted = if self.hidden { "none: the tab is in the background" } else { "none yet" };
        let quick = if self.interactions > 0 { "under 104 ms" } else { "no interaction yet" };
        [
            LinkTarget::new(&self.url).within(200).to_string(),
            Metric::LargestPaint.line(self.lcp.as_ref(), unpainted),
            Metric::Shift.line(self.cls.as_ref(), UNMEASURED),
            Metric::Interaction.line(self.inp.as_ref(), quick),
            Metric::FirstPaint.line(self.fcp.as_ref(), unpainted),
            Metric::FirstByte.line(self.ttfb.as_ref(), "not known"),
            self.long_tasks.map_or_else(|| format!("long tasks: {UNMEASURED}"), LongTasks::line),
        ]
        .join("\n")
    }
}
