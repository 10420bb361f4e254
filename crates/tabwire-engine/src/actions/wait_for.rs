//! `wait_for`: waits for a condition of a page.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_api::{ErrorCode, Failure, Remedy, Step, TargetId};
use tabwire_cdp::{Deadline, Feed, TargetInfo};
use tabwire_policy::{Capability, Needs, Scope};
use tokio::time::Instant;

use crate::action::context::Context;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::page::Page;
use crate::page::navigation::LoadState;
use crate::page::wait::{ElementState, WaitResult};
use crate::snapshot::{line_address, title};

/// Wait for an element, text, URL, load state, script, download, new tab or time.
///
/// Give one condition. The wait ends as soon as the condition holds. After a timeout the error reports the actual
/// state.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema, clap::Args)]
#[serde(default)]
pub(crate) struct WaitFor {
    /// An element: a ref, a CSS selector, or text=, role=, label=, placeholder=, title=, testid=, xpath=.
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
    /// The end of a download: of a running one, else of the next.
    #[arg(long)]
    #[serde(skip_serializing_if = "is_false")]
    download: bool,
    /// A tab that a page of the session opens: one that is not used yet, else the next.
    #[arg(long)]
    #[serde(skip_serializing_if = "is_false")]
    new_tab: bool,
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
            self.new_tab,
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
        .described("Wait for one condition: an element, text, URL, load, script, download, new tab or time")
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
                    "Conditions are: a target, `text`, `text_gone`, `url`, `load`, `function`, `download`, `new_tab`, `time`.",
                ));
        }
        let began = Instant::now();
        let result = self.wait(context).await?;
        let waited_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        Ok(WaitResult { waited_ms, ..result })
    }
}

impl WaitFor {
    async fn wait(&self, context: &Context) -> Result<WaitResult, Failure> {
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
        if self.new_tab {
            return wait_for_new_tab(context, &page).await;
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
    if Instant::now() + wanted > deadline.instant() {
        let message = "`time` is longer than the timeout of the action.".to_string();
        return Err(Failure::new(ErrorCode::BadArgs, message)
            .with_remedy("Allow more time, or wait for a condition instead."));
    }
    tokio::time::sleep(wanted).await;
    Ok(WaitResult::new(format!("{milliseconds} ms passed")))
}

/// Waits for a tab that the page opens. Counts a tab that the page opened before and that no action has used.
async fn wait_for_new_tab(context: &Context, page: &Page) -> Result<WaitResult, Failure> {
    let browser = &context.browser;
    let mut opened = browser.opened();
    let own = browser.tab_id(page);
    let unused = browser.list_tabs().into_iter().rev();
    let unused =
        unused.filter(|tab| tab.opener == Some(own) && browser.attached_page(Some(tab.tab)).is_none());
    let found = unused.map(|tab| tab.target).next();
    let target = match found {
        Some(target) => target,
        None => next_opened(context, page, &mut opened).await?,
    };
    let tab = browser.tab_id_of_target(&target);
    let held = WaitResult::new("the page opened a tab").with_detail(tab.to_string());
    let held = WaitResult { tab: Some(tab), ..held };
    let attached = browser.page_for(&target).await?;
    if !context.is_filtered {
        return Ok(held);
    }
    let shown = browser.describe_new_page(&attached, false, context.deadline).await;
    let detail =
        shown.map(|shown| format!("{tab}  {}  {}", line_address(&shown.url), title(&shown.title).quoted()));
    Ok(match detail {
        Some(detail) => held.with_detail(detail),
        None => held,
    })
}

async fn next_opened(
    context: &Context,
    page: &Page,
    opened: &mut Feed<TargetInfo>,
) -> Result<TargetId, Failure> {
    let ours = async {
        loop {
            let info = opened.next().await.ok()?;
            if info.is_page() && info.opener_id.as_ref() == Some(page.target()) {
                return Some(info.target_id);
            }
        }
    };
    let until = context.deadline.instant();
    let found = async { Ok(tokio::time::timeout_at(until, ours).await.ok().flatten()) };
    page.unless_blocked(found).await?.ok_or_else(|| {
        Failure::new(ErrorCode::Timeout, "The page opened no tab in time.")
            .with_remedy(Remedy::new("Run {} to list the open tabs.", [Step::action("tabs_list")]))
    })
}

impl Render for WaitResult {
    fn render(&self) -> String {
        let mut line = match &self.detail {
            Some(detail) if self.tab.is_none() && detail.contains(':') => {
                format!("{}: {}", self.held, line_address(detail))
            }
            Some(detail) => format!("{}: {detail}", self.held),
            None => self.held.clone(),
        };
        if let Some(reference) = &self.reference {
            line.push_str(&format!(" [{reference}]"));
        }
        format!("{line} (after {} ms)", self.waited_ms)
    }
}
