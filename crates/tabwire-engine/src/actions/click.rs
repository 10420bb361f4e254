//! `click`: presses and releases a mouse button on an element.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tabwire_api::{ErrorCode, Failure, Remedy, Step, TabId};
use tabwire_cdp::{Feed, TargetInfo};
use tabwire_policy::{Capability, Needs};

use crate::action::arguments::PointingArguments;
use crate::action::context::Context;
use crate::action::result::{ActionResult, NewPage};
use crate::action::{Action, Effect, Example, ToolGroup, ToolOptions};
use crate::input::element::{Element, TargetArguments};
use crate::input::keyboard::PRIMARY;
use crate::input::mouse::{Click as Clicking, MouseButton, modifier_bits};
use crate::page::Page;
use crate::settle::InputAction;

/// How long a click on a link may take to open a new tab.
const NEW_TAB_TIMEOUT: Duration = Duration::from_secs(3);

/// Click an element.
///
/// Waits until the element is attached, visible, stable, enabled and uncovered, scrolls it into view, clicks it with
/// the mouse, and reports what changed.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Click {
    #[command(flatten)]
    #[serde(flatten)]
    target: TargetArguments,
    /// Which button.
    #[arg(long, value_enum, default_value_t)]
    #[serde(default)]
    button: MouseButton,
    /// How many clicks in a row.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=3))]
    #[serde(default = "once")]
    count: u8,
    #[command(flatten)]
    #[serde(flatten)]
    pointing: PointingArguments,
    /// Open a link in a new tab.
    #[arg(long)]
    #[serde(default)]
    new_tab: bool,
}

const fn once() -> u8 {
    1
}

impl Action for Click {
    const NAME: &'static str = "click";
    const EFFECT: Effect = Effect::Act;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire click e3", "Click the element that has the ref e3 in the last snapshot."),
        Example::new(
            "tabwire click 'role=button[name=\"Sign in\"]'",
            "Click by role and name, without a snapshot.",
        ),
        Example::new("tabwire click text=Next --snapshot", "Click, and see what changed."),
        Example::new("tabwire click e7 --new-tab", "Open a link in a new tab."),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Default).described("Click an element: a ref (e12) of a snapshot, or a selector: CSS, text=, role=button[name=\"Pay\"], label=, placeholder=, title=, testid=, xpath=");
    type Output = ActionResult;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Act)
    }

    async fn run(self, context: &Context) -> Result<ActionResult, Failure> {
        if !(1..=3).contains(&self.count) {
            return Err(Failure::new(ErrorCode::BadArgs, "`count` must be 1, 2 or 3."));
        }
        let page = context.page().await?;
        let mut modifiers = self.pointing.bits();
        if self.new_tab {
            modifiers |= modifier_bits(&[PRIMARY]);
        }
        let action = InputAction::on(context, &page);
        let opened = self.new_tab.then(|| context.browser.opened());
        let element =
            page.prepare(&self.target, "click", self.pointing.request(true), context.deadline).await?;
        let clicking = Clicking {
            point: element.info.point,
            button: self.button,
            count: self.count,
            modifiers,
            forced: self.pointing.force,
        };
        let mut changes = click_element(action, &element, &clicking).await?;
        if let Some(opened) = opened.filter(|_| changes.new_tabs.is_empty()) {
            let (tab, shown) = await_tab(context, &page, opened, &element).await?;
            changes.new_tabs.push(tab);
            changes.new_pages.extend(shown);
        }
        Ok(ActionResult { did: "clicked".to_owned(), element: Some(element.description()), changes })
    }
}

/// Waits for the tab that a click with `new_tab` opens. The browser opens it asynchronously.
async fn await_tab(
    context: &Context,
    page: &Page,
    mut opened: Feed<TargetInfo>,
    element: &Element,
) -> Result<(TabId, Option<NewPage>), Failure> {
    let ours = async {
        loop {
            let info = opened.next().await.ok()?;
            if info.is_page() && info.opener_id.as_ref().is_none_or(|opener| opener == page.target()) {
                return Some(info);
            }
        }
    };
    let until = context.deadline.instant().min(tokio::time::Instant::now() + NEW_TAB_TIMEOUT);
    let found =
        page.unless_blocked(async { Ok(tokio::time::timeout_at(until, ours).await.ok().flatten()) }).await?;
    let Some(info) = found else {
        let message = format!("A click on {} with `new_tab` opened no tab.", element.description());
        return Err(Failure::new(ErrorCode::NotActionable, message).with_remedy(Remedy::new(
            "Only links open in new tabs. Click it without {}.",
            [Step::argument("new_tab")],
        )));
    };
    // Attach at once, to see the tab's first requests and console lines. A tab that is lost fails the action that uses
    // it.
    let shown = match context.browser.page_for(&info.target_id).await {
        Ok(opened) if context.is_filtered => {
            context.browser.describe_new_page(&opened, false, context.deadline).await
        }
        _ => None,
    };
    Ok((context.browser.tab_id_of_target(&info.target_id), shown))
}

/// Clicks an element that is ready, and settles.
pub(crate) async fn click_element(
    mut action: InputAction<'_>,
    element: &Element,
    clicking: &Clicking,
) -> Result<crate::action::result::Changes, Failure> {
    action.set_element(element);
    let (page, context) = (action.page().clone(), action.context());
    let mut input = page.lock_input(context.deadline).await?;
    if !clicking.forced {
        page.ensure_hit_target(element, &mut input, context.deadline).await?;
    }
    page.check_point(clicking.point, context.deadline).await?;
    input.point = clicking.point;
    let replies = page.begin_click(clicking, context.deadline);
    let ends = json!({"after": "mouseup", "count": clicking.count});
    let report = action.request_report(element, ends);
    let clicked = page.wait_all(replies).await;
    drop(input);
    Ok(action.finish(clicked, report).await?.changes)
}
