//! `dialog`: accepts, dismisses or shows the page's open dialog.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_cdp::CdpError;
use tabwire_policy::{Capability, Needs, Scope};

use crate::action::context::Context;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::page::Page;
use crate::page::dialog::Dialog as OpenDialog;
use crate::settle::InputAction;

/// How long the task of a page that opened a dialog is waited for.
const LONGEST_TASK: Duration = Duration::from_millis(500);

/// Accept, dismiss or show the page's open dialog.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Dialog {
    /// What to do with it.
    #[arg(value_enum, default_value_t)]
    #[serde(default)]
    answer: DialogAction,
    /// What to type into a prompt before accepting it.
    #[arg(long)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "text", "x-secret" = "typed"))]
    text: Option<String>,
}

/// What to do with a dialog.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DialogAction {
    /// Accept it.
    Accept,
    /// Dismiss it.
    Dismiss,
    /// Only show it.
    #[default]
    Show,
}

/// A dialog and what was done with it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct DialogResult {
    /// The dialog; absent if none was open.
    dialog: Option<OpenDialog>,
    /// What was done with it.
    answer: DialogAction,
    /// The dialog that the page opened next. It is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<OpenDialog>,
    /// The changes in the snapshot, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshot: Option<String>,
}

impl Action for Dialog {
    const NAME: &'static str = "dialog";
    const EFFECT: Effect = Effect::Act;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire dialog", "Show the open dialog."),
        Example::new("tabwire dialog accept --text Anna", "Type into a prompt and accept it."),
        Example::new("tabwire dialog dismiss", "Dismiss it."),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Default);
    type Output = DialogResult;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Read).and_if(self.answer != DialogAction::Show, Capability::Act, Scope::Page)
    }

    async fn run(self, context: &Context) -> Result<DialogResult, Failure> {
        let page = context.tab_page().await?;
        let mut state = page.state().dialog();
        let dialog = state.borrow_and_update().clone();
        if self.answer == DialogAction::Show {
            return Ok(DialogResult { dialog, answer: self.answer, next: None, snapshot: None });
        }
        let Some(open) = dialog else {
            return Err(Failure::new(ErrorCode::NotActionable, "The page has no open dialog.")
                .with_remedy("It may be closed already; continue."));
        };
        if self.text.is_some() && open.kind != "prompt" {
            let message = format!("A dialog of the kind {} takes no text.", open.kind);
            return Err(Failure::new(ErrorCode::BadArgs, message)
                .with_remedy(Remedy::new("Leave {} out.", [Step::argument("text")])));
        }
        if self.answer == DialogAction::Accept && open.url.starts_with("http") {
            page.session().policy().check(&open.url, Capability::Act)?;
        }
        let mut params = json!({"accept": self.answer == DialogAction::Accept});
        if let Some(text) = self.text.or_else(|| open.default_prompt.clone()) {
            params["promptText"] = json!(text);
        }
        match page.begin("Page.handleJavaScriptDialog", &params, context.deadline).await {
            // F12: another client closed the dialog first, which is the requested state.
            Ok(_) | Err(CdpError::Protocol { .. }) => page.state().dialog_handled(&state),
            Err(error) => return Err(error.into_failure()),
        }
        let next = find_next(&page, context).await;
        let snapshot = if next.is_none() { find_snapshot(context).await? } else { None };
        Ok(DialogResult { dialog: Some(open), answer: self.answer, next, snapshot })
    }
}

/// What changed on the page once the dialog is answered, if the client asked for it.
async fn find_snapshot(context: &Context) -> Result<Option<String>, Failure> {
    if !context.snapshot {
        return Ok(None);
    }
    // No baseline is taken: the page could not be read while the dialog was open.
    let context = &Context { snapshot: false, ..context.clone() };
    let action = InputAction::start(context).await?;
    let page = action.page().clone();
    action.settle_page().await?;
    page.delta_text(context.deadline).await.map(Some)
}

/// The dialog that the page opens in the same task as the one before.
async fn find_next(page: &Page, context: &Context) -> Option<OpenDialog> {
    let mut dialog = page.state().dialog();
    let no_code = json!({"expression": "0"});
    tokio::select! {
        biased;
        open = dialog.wait_for(Option::is_some) => open.ok().and_then(|open| open.clone()),
        // Runs when the task has ended, and waits while a dialog is open.
        _ = page.begin("Runtime.evaluate", &no_code, context.deadline) => None,
        () = tokio::time::sleep(LONGEST_TASK) => None,
    }
}

impl Render for DialogResult {
    fn render(&self) -> String {
        let Some(dialog) = &self.dialog else { return "no dialog is open".to_owned() };
        let what = dialog.phrase();
        let mut text = match self.answer {
            DialogAction::Accept => format!("accepted {what}"),
            DialogAction::Dismiss => format!("dismissed {what}"),
            DialogAction::Show => format!("open: {what}"),
        };
        if let Some(next) = &self.next {
            text.push_str(&format!("\ndialog: {} (respond with `dialog`)", next.phrase()));
        }
        if let Some(snapshot) = &self.snapshot {
            text.push_str(&format!("\n{snapshot}"));
        }
        text
    }
}
