//! `dialog`: accepts, dismisses or shows the page's open dialog.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_cdp::CdpError;
use tabwire_policy::{Capability, Needs, Scope};

use crate::action::context::Context;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::page::dialog::Dialog as OpenDialog;

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
        let dialog = page.state().dialog().borrow().clone();
        if self.answer == DialogAction::Show {
            return Ok(DialogResult { dialog, answer: self.answer });
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
            Ok(_) | Err(CdpError::Protocol { .. }) => page.state().dialog_closed(),
            Err(error) => return Err(error.into_failure()),
        }
        Ok(DialogResult { dialog: Some(open), answer: self.answer })
    }
}

impl Render for DialogResult {
    fn render(&self) -> String {
        let Some(dialog) = &self.dialog else { return "no dialog is open".to_owned() };
        let what = dialog.phrase();
        match self.answer {
            DialogAction::Accept => format!("accepted {what}"),
            DialogAction::Dismiss => format!("dismissed {what}"),
            DialogAction::Show => format!("open: {what}"),
        }
    }
}
