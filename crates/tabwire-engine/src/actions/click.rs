//! `click`: presses and releases a mouse button on an element.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tabwire_wire::{ErrorCode, Failure};

use crate::acted::Acted;
use crate::action::{Action, Effect};
use crate::context::Context;
use crate::element::{Element, TargetArguments};
use crate::page::Page;
use crate::pointer::{Click as Clicking, Modifier, MouseButton, modifier_bits};
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
    /// A key to hold; may be repeated.
    #[arg(long = "modifier", value_enum, value_name = "KEY")]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    modifiers: Vec<Modifier>,
    /// Where in the element, from its top left: X,Y.
    #[arg(long, value_name = "X,Y", value_parser = crate::actions::parse_position)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    position: Option<(f64, f64)>,
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
    type Output = Acted;

    async fn run(self, context: &Context) -> Result<Acted, Failure> {
        if !(1..=3).contains(&self.count) {
            return Err(Failure::new(ErrorCode::BadArgs, "A click is done one to three times in a row."));
        }
        let page = context.page().await?;
        let mut modifiers = modifier_bits(&self.modifiers);
        if self.new_tab {
            modifiers |= if cfg!(target_os = "macos") { 4 } else { 2 };
        }
        let extra = match self.position {
            Some((x, y)) => json!({"position": {"x": x, "y": y}, "guard": true}),
            None => json!({"guard": true}),
        };
        let watch = Watch::arm(&page, &context.browser);
        let element = page.prepare(&self.target, "click", extra, context.deadline).await?;
        let clicking =
            Clicking { point: element.prepared.point, button: self.button, count: self.count, modifiers };
        let changes = click_element(context, &page, &element, &clicking, watch).await?;
        Ok(Acted { did: "clicked".to_owned(), element: Some(element.description()), changes })
    }
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
    let hands = page.take_hands(context.deadline).await?;
    let replies = page.begin_click(clicking, context.deadline);
    let ends = json!({"after": "mouseup", "count": clicking.count});
    let rest = watch.begin_rest(page, element, ends, context.deadline);
    let clicked = page.answered(replies).await;
    drop(hands);
    Ok(watch.finish(context, page, clicked, rest).await?.changes)
}
