//! `click`: presses and releases a mouse button on an element.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tabwire_cdp::{Feed, TargetInfo};
use tabwire_policy::{Capability, Needs};
use tabwire_wire::{ErrorCode, Failure, TabId};

use crate::acted::Acted;
use crate::action::{Action, Effect, Example};
use crate::context::Context;
use crate::element::{Element, TargetArguments};
use crate::keyboard::PRIMARY;
use crate::limits::NEW_TAB_PATIENCE;
use crate::page::Page;
use crate::pointer::{Click as Clicking, MouseButton, modifier_bits};
use crate::pointing::PointingArguments;
use crate::settle::Watch;

/// Click an element.
///
/// Waits until it is there, visible, still, enabled and not covered, scrolls to it, clicks it as a hand would, and
/// says what changed.
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
        Example::new("tabwire click e3", "Click what the last snapshot called e3."),
        Example::new(
            "tabwire click 'role=button[name=\"Sign in\"]'",
            "Click by role and name, without a snapshot.",
        ),
        Example::new("tabwire click text=Next --snapshot", "Click, and see what changed."),
        Example::new("tabwire click e7 --new-tab", "Open a link in a new tab."),
    ];
    type Output = Acted;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Act)
    }

    async fn run(self, context: &Context) -> Result<Acted, Failure> {
        if !(1..=3).contains(&self.count) {
            return Err(Failure::new(ErrorCode::BadArgs, "A click is done one to three times in a row."));
        }
        let page = context.page().await?;
        let mut modifiers = self.pointing.bits();
        if self.new_tab {
            modifiers |= modifier_bits(&[PRIMARY]);
        }
        let watch = Watch::arm(&page, &context.browser);
        let opened = self.new_tab.then(|| context.browser.opened());
        let element =
            page.prepare(&self.target, "click", self.pointing.request(true), context.deadline).await?;
        let clicking = Clicking {
            point: element.prepared.point,
            button: self.button,
            count: self.count,
            modifiers,
            forced: self.pointing.force,
        };
        let mut changes = click_element(context, &page, &element, &clicking, watch).await?;
        if let Some(opened) = opened.filter(|_| changes.new_tabs.is_empty()) {
            changes.new_tabs.push(await_tab(context, &page, opened, &element).await?);
        }
        Ok(Acted { did: "clicked".to_owned(), element: Some(element.description()), changes })
    }
}

/// Waits for the tab that a click was to open; the browser opens it on its own time.
async fn await_tab(
    context: &Context,
    page: &Page,
    mut opened: Feed<TargetInfo>,
    element: &Element,
) -> Result<TabId, Failure> {
    let ours = async {
        loop {
            let info = opened.next().await.ok()?;
            if info.is_page() && info.opener_id.as_ref().is_none_or(|opener| opener == page.target()) {
                return Some(info);
            }
        }
    };
    let until = context.deadline.instant().min(tokio::time::Instant::now() + NEW_TAB_PATIENCE);
    let found =
        page.unless_blocked(async { Ok(tokio::time::timeout_at(until, ours).await.ok().flatten()) }).await?;
    let Some(info) = found else {
        let message = format!("{} was clicked for a new tab, but opened none.", element.description());
        return Err(Failure::new(ErrorCode::NotActionable, message).with_hint("Only links open in new tabs."));
    };
    // Taken up at once, so that what it does first is seen; its loss is told when it is used.
    let _ = context.browser.page_of(&info.target_id).await;
    Ok(context.browser.tab_of_target(&info.target_id))
}

/// Clicks an element that is ready, and settles.
pub(crate) async fn click_element(
    context: &Context,
    page: &Page,
    element: &Element,
    clicking: &Clicking,
    mut watch: Watch,
) -> Result<crate::changes::Changes, Failure> {
    watch.was_at_element(element, page);
    let mut hands = page.take_hands(context.deadline).await?;
    if !clicking.forced {
        page.reach_element(element, &mut hands, context.deadline).await?;
    }
    page.check_point(clicking.point, context.deadline).await?;
    hands.point = clicking.point;
    let replies = page.begin_click(clicking, context.deadline);
    let ends = json!({"after": "mouseup", "count": clicking.count});
    let rest = watch.begin_rest(page, element, ends, context.deadline);
    let clicked = page.answered(replies).await;
    drop(hands);
    Ok(watch.finish(context, page, clicked, rest).await?.changes)
}
