//! `vitals`: how the page performed for people so far.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tabwire_api::Failure;
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::snapshot::LinkTarget;
use crate::trace::web_vitals::{LongTasks, Measure, Sign};

/// Measure how the page performed so far: LCP, CLS, INP, FCP, TTFB and long tasks.
///
/// The browser noted them as they happened; nothing is added to the page. Of the main frame only. INP needs an
/// interaction of 104 ms or more: faster ones are not kept.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Vitals {}

/// How the page performed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Performance {
    /// Where the page is.
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
    /// Cumulative layout shift.
    cls: Measure,
    /// Interaction to next paint.
    #[serde(skip_serializing_if = "Option::is_none")]
    inp: Option<Measure>,
    /// Clicks, taps and keys there have been.
    interactions: u64,
    /// The event that the slowest interaction was measured by.
    #[serde(skip_serializing_if = "Option::is_none")]
    inp_event: Option<String>,
    /// Tasks of more than 50 ms.
    long_tasks: LongTasks,
    /// Milliseconds until everything had loaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    loaded_ms: Option<f64>,
    /// Whether the tab was in the background: it paints nothing then.
    hidden: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Noted {
    url: String,
    hidden: bool,
    first_byte: Option<f64>,
    first_paint: Option<f64>,
    largest_paint: Part,
    loaded: Option<f64>,
    shift: Part,
    interaction: Part,
    tasks: LongTasks,
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
    fn measure(&self, sign: Sign) -> Option<Measure> {
        self.value.map(|value| sign.measure(value, self.element.as_deref()))
    }
}

impl Action for Vitals {
    const NAME: &'static str = "vitals";
    const EFFECT: Effect = Effect::Read;
    const EXAMPLES: &'static [Example] =
        &[Example::new("tabwire vitals", "Say how fast the page was for people.")];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Evidence);
    type Output = Performance;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Read)
    }

    async fn run(self, context: &Context) -> Result<Performance, Failure> {
        let page = context.page().await?;
        let noted: Noted = page.call("vitals", &json!({}), context.deadline).await?;
        let shift = noted.shift.value.unwrap_or_default();
        Ok(Performance {
            url: LinkTarget::new(&noted.url).as_str().to_owned(),
            ttfb: noted.first_byte.map(|value| Sign::FirstByte.measure(value, None)),
            fcp: noted.first_paint.map(|value| Sign::FirstPaint.measure(value, None)),
            lcp: noted.largest_paint.measure(Sign::LargestPaint),
            cls: Sign::Shift.measure(shift, noted.shift.element.as_deref()),
            inp: noted.interaction.measure(Sign::Interaction),
            interactions: noted.interaction.count,
            inp_event: noted.interaction.event,
            long_tasks: noted.tasks.rounded(),
            loaded_ms: noted.loaded.map(f64::round),
            hidden: noted.hidden,
        })
    }
}

impl Render for Performance {
    fn render(&self) -> String {
        let unpainted = if self.hidden { "none: the tab is in the background" } else { "none yet" };
        let quick = if self.interactions > 0 { "under 104 ms" } else { "no interaction yet" };
        [
            LinkTarget::new(&self.url).within(200).to_string(),
            Sign::LargestPaint.line(self.lcp.as_ref(), unpainted),
            Sign::Shift.line(Some(&self.cls), ""),
            Sign::Interaction.line(self.inp.as_ref(), quick),
            Sign::FirstPaint.line(self.fcp.as_ref(), unpainted),
            Sign::FirstByte.line(self.ttfb.as_ref(), "not known"),
            self.long_tasks.line(),
        ]
        .join("\n")
    }
}
