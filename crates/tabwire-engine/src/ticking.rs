//! Ticking boxes, choosing radio buttons, turning switches, and making sure of it. Knows nothing of callers.

use serde::Deserialize;
use serde_json::{Value, json};
use tabwire_wire::{ErrorCode, Failure};

use crate::actions::click_element;
use crate::changes::Changes;
use crate::context::Context;
use crate::deed::Deed;
use crate::element::{Aim, Element};
use crate::limits::TICK_PATIENCE;
use crate::page::Page;
use crate::pointer::Click;
use crate::settle::Watch;

/// Clicks that a box with three states may need.
const CLICKS: u8 = 2;

/// What came of ticking.
pub(crate) struct Ticked {
    pub(crate) element: Element,
    pub(crate) changes: Changes,
    /// Whether it was as wanted before.
    pub(crate) already: bool,
}

#[derive(Deserialize)]
struct Tick {
    checked: Value,
}

/// Sees to it that a box is ticked, or not.
pub(crate) async fn tick(
    context: &Context,
    page: &Page,
    aim: &Aim,
    want: bool,
    force: bool,
) -> Result<Ticked, Failure> {
    let mut clicks = 0;
    loop {
        let watch = Watch::arm(page, &context.browser);
        let request = json!({"want": want, "guard": !force, "force": force});
        let element = page.prepare_at(aim, "check", request, context.deadline).await?;
        if element.prepared.more.get("done") == Some(&Value::Bool(true)) {
            let changes = Deed::on(context, page).settle(&element, Ok(()), json!({})).await?.changes;
            return Ok(Ticked { element, changes, already: clicks == 0 });
        }
        let clicking = Click { forced: force, ..Click::at(element.prepared.point) };
        let changes = click_element(context, page, &element, &clicking, watch).await?;
        clicks += 1;
        if changes.dialog.is_some() || changes.navigated {
            return Ok(Ticked { element, changes, already: false });
        }
        let tick = look(context, page, &aim.found(&element), want).await?;
        if tick.checked == json!(want) || tick.checked.is_null() {
            // One that is gone cannot be looked at; its click was taken.
            return Ok(Ticked { element, changes, already: false });
        }
        if clicks >= CLICKS || Some(&tick.checked) == element.prepared.more.get("checked") {
            return Err(not_taken(&element, want));
        }
    }
}

async fn look(context: &Context, page: &Page, aim: &Aim, want: bool) -> Result<Tick, Failure> {
    let patience = u64::try_from(TICK_PATIENCE.as_millis()).unwrap_or(u64::MAX);
    let argument = json!({"spec": aim.spec, "nth": aim.nth, "want": want, "timeout": patience});
    page.call_in(&aim.frame, "ticked", &argument, context.deadline).await
}

fn not_taken(element: &Element, want: bool) -> Failure {
    let state = if want { "unticked" } else { "ticked" };
    Failure::new(
        ErrorCode::NotActionable,
        format!("{} was clicked but stays {state}.", element.description()),
    )
    .with_hint("The page undid it. Take a snapshot to see what it asks for.")
}
