//! Ticking boxes, choosing radio buttons, turning switches, and making sure of it. Knows nothing of callers.

use serde::Deserialize;
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure};

use crate::action::context::Context;
use crate::action::result::Changes;
use crate::actions::click_element;
use crate::input::element::{Element, ResolvedTarget};
use crate::input::mouse::Click;
use crate::limits::TICK_TIMEOUT;
use crate::page::Page;
use crate::settle::InputAction;

/// Clicks that a box with three states may need.
const CLICKS: u8 = 2;

/// What came of ticking.
pub(crate) struct CheckResult {
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
pub(crate) async fn set_checked(
    context: &Context,
    page: &Page,
    resolved: &ResolvedTarget,
    want: bool,
    force: bool,
) -> Result<CheckResult, Failure> {
    let mut clicks = 0;
    loop {
        let action = InputAction::on(context, page);
        let request = json!({"want": want, "guard": !force, "force": force});
        let element = page.prepare_resolved(resolved, "check", request, context.deadline).await?;
        if element.info.more.get("done") == Some(&Value::Bool(true)) {
            let changes = InputAction::on(context, page).settle(&element, Ok(()), json!({})).await?.changes;
            return Ok(CheckResult { element, changes, already: clicks == 0 });
        }
        let clicking = Click { forced: force, ..Click::at(element.info.point) };
        let changes = click_element(action, &element, &clicking).await?;
        clicks += 1;
        if changes.dialog.is_some() || changes.navigated {
            return Ok(CheckResult { element, changes, already: false });
        }
        let set_checked = look(context, page, &resolved.in_frame_of(&element), want).await?;
        if set_checked.checked == json!(want) || set_checked.checked.is_null() {
            // One that is gone cannot be looked at; its click was taken.
            return Ok(CheckResult { element, changes, already: false });
        }
        if clicks >= CLICKS || Some(&set_checked.checked) == element.info.more.get("checked") {
            return Err(not_taken(&element, want));
        }
    }
}

async fn look(
    context: &Context,
    page: &Page,
    resolved: &ResolvedTarget,
    want: bool,
) -> Result<Tick, Failure> {
    let timeout = u64::try_from(TICK_TIMEOUT.as_millis()).unwrap_or(u64::MAX);
    let argument = json!({"spec": resolved.spec, "nth": resolved.nth, "want": want, "timeout": timeout});
    page.call_in(&resolved.frame, "waitForChecked", &argument, context.deadline).await
}

fn not_taken(element: &Element, want: bool) -> Failure {
    let state = if want { "unticked" } else { "ticked" };
    Failure::new(
        ErrorCode::NotActionable,
        format!("{} was clicked but stays {state}.", element.description()),
    )
    .with_remedy("The page undid it. Take a snapshot to see what it asks for.")
}
