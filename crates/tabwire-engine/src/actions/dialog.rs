//! `dialog`: answers the dialog that a page has open.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_cdp::CdpError;
use tabwire_policy::{Capability, Needs, Scope};

use crate::action::context::Context;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::page::dialog::Dialog as OpenDialog;

/// Answer the dialog that the page has open, or show it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Dialog {
    /// What to do with it.
    #[arg(value_enum, default_value_t)]
    #[serde(default)]
    answer: Answer,
    /// What to type into a prompt before accepting it.
    #[arg(long)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "text", "x-secret" = "typed"))]
    text: Option<String>,
}

/// What to do with a dialog.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Answer {
    /// Say yes.
    Accept,
    /// Say no.
    Dismiss,
    /// Only show what it says.
    #[default]
    Show,
}

/// A dialog and what became of it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Answered {
    /// The dialog; none when none was open.
    dialog: Option<OpenDialog>,
    /// What was done with it.
    answer: Answer,
}

impl Action for Dialog {
    const NAME: &'static str = "dialog";
    const EFFECT: Effect = Effect::Act;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire dialog", "Show the dialog that is open."),
        Example::new("tabwire dialog accept --text Anna", "Type into a prompt and accept it."),
        Example::new("tabwire dialog dismiss", "Say no."),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Default);
    type Output = Answered;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Read).and_if(self.answer != Answer::Show, Capability::Act, Scope::Page)
    }

    async fn run(self, context: &Context) -> Result<Answered, Failure> {
        let page = context.tab_page().await?;
        let dialog = page.state().dialog().borrow().clone();
        if self.answer == Answer::Show {
            return Ok(Answered { dialog, answer: self.answer });
        }
        let Some(open) = dialog else {
            return Err(Failure::new(ErrorCode::NotActionable, "The page has no open dialog.")
                .with_remedy("It may have been answered already; go on."));
        };
        if self.text.is_some() && open.kind != "prompt" {
            let message = format!("A dialog of the kind {} takes no text.", open.kind);
            return Err(Failure::new(ErrorCode::BadArgs, message)
                .with_remedy(Remedy::new("Leave {} out.", [Step::argument("text")])));
        }
        if self.answer == Answer::Accept && open.url.starts_with("http") {
            page.session().policy().check(&open.url, Capability::Act)?;
        }
        let mut params = json!({"accept": self.answer == Answer::Accept});
        if let Some(text) = self.text.or_else(|| open.default_prompt.clone()) {
            params["promptText"] = json!(text);
        }
        match page.begin("Page.handleJavaScriptDialog", &params, context.deadline).await {
            // Another client was faster; the dialog is gone, which is what was wanted (F12).
            Ok(_) | Err(CdpError::Protocol { .. }) => page.state().dialog_closed(),
            Err(error) => return Err(error.into_failure()),
        }
        Ok(Answered { dialog: Some(open), answer: self.answer })
    }
}

impl Render for Answered {
    fn render(&self) -> String {
        let Some(dialog) = &self.dialog else { return "no dialog is open".to_owned() };
        let what = dialog.phrase();
        match self.answer {
            Answer::Accept => format!("accepted {what}"),
            Answer::Dismiss => format!("dismissed {what}"),
            Answer::Show => format!("open: {what}"),
        }
    }
}
