//! `select`: selects options of a list.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::result::{ActionResult, Changes};
use crate::action::{Action, Effect, Example, ToolGroup, ToolOptions};
use crate::input::element::{Element, ResolvedTarget, TargetArguments};
use crate::page::Page;
use crate::settle::InputAction;

/// Select options of a list by label or value.
///
/// Waits for options to appear. In a multiple-choice list, exactly the given options are selected afterwards.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Select {
    #[command(flatten)]
    #[serde(flatten)]
    target: TargetArguments,
    /// The options to select; several only for a multiple-choice list.
    #[arg(required = true, allow_hyphen_values = true)]
    #[schemars(extend("x-carries" = "text"))]
    options: Vec<String>,
    /// How the options are given.
    #[arg(long, value_enum, default_value_t)]
    #[serde(default)]
    by: OptionKey,
}

/// How an option is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum OptionKey {
    /// Its value, else its label.
    #[default]
    Any,
    /// Its value.
    Value,
    /// Its label.
    Label,
    /// Its index in the list, counted from 1.
    Index,
}

impl Action for Select {
    const NAME: &'static str = "select";
    const EFFECT: Effect = Effect::Act;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire select e4 Germany", "Select an option by its label or value.").in_skill(),
        Example::new("tabwire select e4 1 3 --by index", "Select several by index."),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Default);
    type Output = ActionResult;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Act)
    }

    async fn run(self, context: &Context) -> Result<ActionResult, Failure> {
        let choices: Vec<Value> =
            self.options.iter().map(|option| choice(self.by, option)).collect::<Result<_, _>>()?;
        let page = context.page().await?;
        let resolved = page.resolve(&self.target, context.deadline).await?;
        let (element, changes) = choose(context, &page, &resolved, &choices).await?;
        Ok(ActionResult { did: "selected in".to_owned(), element: Some(element.description()), changes })
    }
}

/// An option as the page agent's argument.
fn choice(by: OptionKey, option: &str) -> Result<Value, Failure> {
    Ok(match by {
        OptionKey::Any => json!({"any": option}),
        OptionKey::Value => json!({"value": option}),
        OptionKey::Label => json!({"label": option}),
        OptionKey::Index => match option.parse::<u32>() {
            Ok(index) if index > 0 => json!({"index": index - 1}),
            _ => {
                let message = format!("Invalid index {option:?}.");
                return Err(Failure::new(ErrorCode::BadArgs, message).with_remedy("Indexes start at 1."));
            }
        },
    })
}

/// Selects options and reads the selection back.
pub(crate) async fn choose(
    context: &Context,
    page: &Page,
    resolved: &ResolvedTarget,
    choices: &[Value],
) -> Result<(Element, Changes), Failure> {
    let action = InputAction::on(context, page);
    let element =
        page.prepare_resolved(resolved, "select", json!({"choices": choices}), context.deadline).await?;
    let changes = action.settle(&element, Ok(()), json!({})).await?.changes;
    if changes.dialog.is_some() || changes.navigated {
        return Ok((element, changes));
    }
    let argument = json!({"key": element.key(), "choices": choices});
    match page.call_in::<bool>(&element.frame, "areSelected", &argument, context.deadline).await {
        Ok(false) => {
            let held = changes.value.as_deref().unwrap_or_default();
            let message = format!("{} did not keep the choice; it holds {held:?}.", element.description());
            Err(Failure::new(ErrorCode::NotActionable, message).with_remedy(Remedy::new(
                "The page changed it back. Run {} to see why.",
                [Step::action("snapshot")],
            )))
        }
        // A list that the page replaced cannot be read; it accepted the selection.
        Ok(true) => Ok((element, changes)),
        Err(failure) if failure.code == ErrorCode::RefExpired => Ok((element, changes)),
        Err(failure) => Err(failure),
    }
}
