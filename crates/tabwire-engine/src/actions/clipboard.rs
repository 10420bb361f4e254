//! `clipboard`: reads, writes and pastes the clipboard.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure};
use tabwire_cdp::{CdpError, Deadline};
use tabwire_policy::{Capability, Needs, Scope};

use crate::action::arguments::OptionalTarget;
use crate::action::context::Context;
use crate::action::result::{BareValue, Changes};
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::cdp::CommandTarget;
use crate::input::keyboard::Chord;
use crate::limits::SETUP_DEADLINE;
use crate::page::Page;
use crate::settle::InputAction;
use crate::snapshot::enclose;

/// Read the clipboard, write it, or paste it.
///
/// The page's origin has the clipboard permission while the action runs. `paste` pastes into the focused element, or
/// into the target. With a text, `paste` writes that to the clipboard first.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Clipboard {
    /// What to do.
    #[arg(value_enum)]
    what: ClipboardOperation,
    /// The text to write.
    #[arg(allow_hyphen_values = true)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "text", "x-secret" = "typed"))]
    text: Option<String>,
    #[command(flatten)]
    #[serde(flatten)]
    target: OptionalTarget,
}

/// What to do with the clipboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ClipboardOperation {
    /// Print its text.
    Read,
    /// Write a text to it.
    Write,
    /// Paste it.
    Paste,
}

/// What was done with the clipboard.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ClipboardResult {
    /// What was done.
    what: ClipboardOperation,
    /// The clipboard's text, for `read`.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// The element it was pasted into.
    #[serde(skip_serializing_if = "Option::is_none")]
    element: Option<String>,
    /// What changed.
    #[serde(flatten)]
    changes: Changes,
}

impl Action for Clipboard {
    const NAME: &'static str = "clipboard";
    const EFFECT: Effect = Effect::Act;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire clipboard read", "Print the clipboard's text."),
        Example::new("tabwire clipboard write 'two words'", "Write a text to it."),
        Example::new("tabwire clipboard paste --target e4", "Paste it into a field."),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::State);
    type Output = ClipboardResult;

    fn needs(&self) -> Needs {
        // The clipboard holds text that was copied on any site, so every site counts as read or written.
        Needs::every_site(&[Capability::Read, Capability::Act]).and(Capability::Act, Scope::Page)
    }

    async fn run(self, context: &Context) -> Result<ClipboardResult, Failure> {
        self.check()?;
        let page = context.page().await?;
        if let Some(text) = &self.text {
            granted(context, &page, "clipboard-write", "writeClipboard", json!({"text": text})).await?;
        }
        match self.what {
            ClipboardOperation::Write => Ok(self.result(None, None, Changes::default())),
            ClipboardOperation::Read => {
                let text = granted(context, &page, "clipboard-read", "readClipboard", json!({})).await?;
                let text = text.as_str().unwrap_or_default().to_owned();
                Ok(self.result(Some(text), None, Changes::default()))
            }
            ClipboardOperation::Paste => {
                let action = InputAction::on(context, &page);
                let target = self.target.given()?;
                let element = page.key_target(target.as_ref(), context.deadline).await?;
                let input = page.lock_input(context.deadline).await?;
                page.check_same_document(&element).await?;
                let pasted = page.press_chords(&[Chord::primary('v')], 0, context.deadline).await;
                drop(input);
                let changes = action.settle(&element, pasted, json!({})).await?.changes;
                Ok(self.result(None, element.label(), changes))
            }
        }
    }
}

impl Clipboard {
    fn check(&self) -> Result<(), Failure> {
        let bad = |message: &str| Err(Failure::new(ErrorCode::BadArgs, message));
        match (self.what, &self.text) {
            (ClipboardOperation::Read, Some(_)) => bad("`read` takes no text."),
            (ClipboardOperation::Write, None) => bad("`write` needs a text."),
            (ClipboardOperation::Read | ClipboardOperation::Write, _) if self.target.target.is_some() => {
                bad("Only `paste` takes a target.")
            }
            _ => self.target.given().map(|_| ()),
        }
    }

    fn result(&self, text: Option<String>, element: Option<String>, changes: Changes) -> ClipboardResult {
        ClipboardResult { what: self.what, text, element, changes }
    }
}

/// The page agent's report on a permission.
#[derive(Deserialize)]
struct Permission {
    state: String,
    origin: String,
}

/// Grants a permission, calls the page agent, and revokes the permission unless the page had it before.
async fn granted(
    context: &Context,
    page: &Page,
    name: &str,
    function: &'static str,
    argument: Value,
) -> Result<Value, Failure> {
    let before: Permission = page.call("permission", &json!({"name": name}), context.deadline).await?;
    if before.state == "granted" {
        return page.call(function, &argument, context.deadline).await;
    }
    set_permission(context, page, name, &before.origin, "granted", context.deadline).await?;
    let done = page.call(function, &argument, context.deadline).await;
    let restored =
        set_permission(context, page, name, &before.origin, &before.state, SETUP_DEADLINE.into()).await;
    let done = done?;
    restored.map(|()| done)
}

async fn set_permission(
    context: &Context,
    page: &Page,
    name: &str,
    origin: &str,
    setting: &str,
    deadline: Deadline,
) -> Result<(), Failure> {
    let mut params = json!({"permission": {"name": name}, "origin": origin, "setting": setting});
    if let Some(jar) = context.browser.context_of(page.target()) {
        params["browserContextId"] = json!(jar);
    }
    let set = page.session().command(&CommandTarget::Browser, "Browser.setPermission", &params, deadline);
    set.await.map(|_| ()).map_err(CdpError::into_failure)
}

/// The text without invisible characters; line breaks and tabs stay.
fn seen(text: &str) -> String {
    let is_unseen = |letter: char| {
        (letter.is_control() && letter != '\n' && letter != '\t')
            || matches!(letter, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}')
            || matches!(letter, '\u{feff}' | '\u{e0000}'..='\u{e007f}')
    };
    text.chars().filter(|letter| !is_unseen(*letter)).collect()
}

impl Render for ClipboardResult {
    fn render(&self) -> String {
        let first = match (self.what, &self.text, &self.element) {
            (ClipboardOperation::Read, Some(text), _) if text.is_empty() => {
                "the clipboard has no text".to_owned()
            }
            (ClipboardOperation::Read, text, _) => {
                enclose("clipboard", &format!("{}\n", seen(text.as_deref().unwrap_or_default())))
            }
            (ClipboardOperation::Write, ..) => "wrote the clipboard".to_owned(),
            (ClipboardOperation::Paste, _, Some(element)) => format!("pasted into {element}"),
            (ClipboardOperation::Paste, ..) => "pasted into the page".to_owned(),
        };
        let mut lines = vec![first.trim_end().to_owned()];
        lines.extend(self.changes.lines());
        lines.join("\n")
    }

    fn bare(&self) -> Option<BareValue> {
        (self.what == ClipboardOperation::Read)
            .then(|| BareValue::whole(self.text.clone().unwrap_or_default()))
    }
}
