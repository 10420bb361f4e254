//! `wait_for`: waits for a condition of a page.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_api::{ErrorCode, Failure};
use tabwire_cdp::Deadline;
use tabwire_policy::{Capability, Needs, Scope};

use crate::action::context::Context;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::page::navigation::LoadState;
use crate::page::wait::{ElementState, WaitResult};
use crate::snapshot::line_address;

/// Wait for an element, text, URL, load state, script, download or time.
///
/// Give one condition. The wait ends as soon as the condition holds. After a timeout the error reports the actual
/// state.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema, clap::Args)]
#[serde(default)]
pub(crate) struct WaitFor {
    /// An element: a ref, a CSS selector, or text=, role=, label=, placeholder=, testid=, xpath=.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "target"))]
    target: Option<String>,
    /// The state the element must be in.
    #[arg(long, value_enum, requires = "target")]
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<ElementState>,
    /// Text that must be visible somewhere on the page.
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "pattern"))]
    text: Option<String>,
    /// Text that must be gone from the page.
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "pattern"))]
    text_gone: Option<String>,
    /// A pattern of the page's URL; `*` stands for anything.
    #[arg(long, value_name = "PATTERN")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "pattern"))]
    url: Option<String>,
    /// The load state to wait for.
    #[arg(long, value_enum, num_args = 0..=1, default_missing_value = "load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    load: Option<LoadState>,
    /// A JavaScript expression or function that must become true.
    #[arg(long, value_name = "SCRIPT")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "code"))]
    function: Option<String>,
    /// A download that must end: a running one, or the next.
    #[arg(long)]
    #[serde(skip_serializing_if = "is_false")]
    download: bool,
    /// A fixed time in milliseconds.
    #[arg(long, value_name = "MILLISECONDS")]
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<u64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_false(flag: &bool) -> bool {
    !*flag
}

impl WaitFor {
    fn conditions(&self) -> usize {
        let given = [
            self.target.is_some(),
            self.text.is_some(),
            self.text_gone.is_some(),
            self.url.is_some(),
            self.load.is_some(),
            self.function.is_some(),
            self.download,
            self.time.is_some(),
        ];
        given.into_iter().filter(|given| *given).count()
    }
}

impl Action for WaitFor {
    const NAME: &'static str = "wait_for";
    const EFFECT: Effect = Effect::Read;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire wait-for text=Done", "Wait until this text is visible.").in_skill(),
        Example::new("tabwire wait-for e7 --state hidden", "Wait until an element is gone."),
        Example::new("tabwire wait-for --url '*/welcome'", "Wait until the page has this URL."),
        Example::new("tabwire wait-for --load networkidle --timeout 20s", "Wait until the network is idle."),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Default)
        .described("Wait for one condition: an element, text, URL, load, script, download or time")
        .with_timeout();
    type Output = WaitResult;

    fn needs(&self) -> Needs {
        // The function is code of the caller: it can send requests and change the page.
        Needs::page(Capability::Read).and_if(self.function.is_some(), Capability::Eval, Scope::Page)
    }

    async fn run(self, context: &Context) -> Result<WaitResult, Failure> {
        if self.conditions() != 1 {
            return Err(Failure::new(ErrorCode::BadArgs, "Give exactly one condition to wait for.")
                .with_remedy(
                    "Conditions are: a target, `text`, `text_gone`, `url`, `load`, `function`, `download`, `time`.",
                ));
        }
        let page = context.page().await?;
        let deadline = context.deadline;
        if let Some(target) = &self.target {
            return page.wait_for_element(target, self.state.unwrap_or_default(), deadline).await;
        }
        if let Some(text) = &self.text {
            return page.wait_for_text(text, true, deadline).await;
        }
        if let Some(text) = &self.text_gone {
            return page.wait_for_text(text, false, deadline).await;
        }
        if let Some(pattern) = &self.url {
            return page.wait_for_url(pattern, deadline).await;
        }
        if let Some(state) = self.load {
            return page.wait_for_load(state, deadline).await;
        }
        if let Some(function) = &self.function {
            return page.wait_for_function(function, deadline).await;
        }
        if self.download {
            return page.wait_for_download(context).await;
        }
        wait_for_time(self.time.unwrap_or_default(), deadline).await
    }
}

/// Waits for a fixed time, which must be shorter than the action's timeout.
async fn wait_for_time(milliseconds: u64, deadline: Deadline) -> Result<WaitResult, Failure> {
    let wanted = Duration::from_millis(milliseconds);
    if tokio::time::Instant::now() + wanted > deadline.instant() {
        let message = "`time` is longer than the timeout of the action.".to_string();
        return Err(Failure::new(ErrorCode::BadArgs, message)
            .with_remedy("Allow more time, or wait for a condition instead."));
    }
    tokio::time::sleep(wanted).await;
    Ok(WaitResult { held: format!("{milliseconds} ms passed"), detail: None })
}

impl Render for WaitResult {
    fn render(&self) -> String {
        match &self.detail {
            Some(url) if url.contains(':') => format!("{}: {}", self.held, line_address(url)),
            Some(detail) => format!("{}: {detail}", self.held),
            None => self.held.clone(),
        }
    }
}
