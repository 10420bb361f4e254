//! Sets checkboxes, radio buttons and switches, and checks the result.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure};

use crate::action::context::Context;
use crate::action::result::Changes;
use crate::actions::click_element;
use crate::input::element::{Element, ResolvedTarget};
use crate::input::mouse::Click;
use crate::page::Page;
use crate::settle::InputAction;

/// How long a clicked checkbox may take to change its state.
const CHECKED_TIMEOUT: Duration = Duration::from_millis(1_500);

/// Most clicks: a checkbox with three states may need two.
const CLICKS: u8 = 2;

/// The result of setting a checkbox.
pub(crate) struct CheckResult {
    pub(crate) element: Element,
    pub(crate) changes: Changes,
    /// Whether it had the wanted state before.
    pub(crate) already: bool,
}

#[derive(Deserialize)]
struct CheckedState {
    checked: Value,
}

/// Clicks a checkbox until it has the wanted state.
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
        let state = wait_for_checked(context, page, &resolved.in_frame_of(&element), want).await?;
        if state.checked == json!(want) || state.checked.is_null() {
            // `null`: the click removed the element.
            return Ok(CheckResult { element, changes, already: false });
        }
        if clicks >= CLICKS || Some(&state.checked) == element.info.more.get("checked") {
            return Err(unchanged(&element, want));
        }
    }
}

async fn wait_for_checked(
    context: &Context,
    page: &Page,
    resolved: &ResolvedTarget,
    want: bool,
) -> Result<CheckedState, Failure> {
    let timeout = u64::try_from(CHECKED_TIMEOUT.as_millis()).unwrap_or(u64::MAX);
    let argument = json!({"spec": resolved.spec, "nth": resolved.nth, "want": want, "timeout": timeout});
    page.call_in(&resolved.frame, "waitForChecked", &argument, context.deadline).await
}

fn unchanged(element: &Element, want: bool) -> Failure {
    let state = if want { "unchecked" } else { "checked" };
    Failure::new(
        ErrorCode::NotActionable,
        format!("{} was clicked but stays {state}.", element.description()),
    )
    .with_remedy("The page reverted the click. Take a snapshot to see why.")
}
