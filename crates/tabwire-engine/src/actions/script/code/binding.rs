//! `expose_binding` and `binding_result`: functions of a script that pages can call.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure};
use tabwire_policy::{Capability, Needs};

use super::evaluate::VALUES;
use crate::action::context::Context;
use crate::action::{Action, Effect, Example, ToolGroup, ToolOptions};
use crate::actions::script::Nothing;
use crate::actions::script::frame_goto::find_frame;
use crate::cdp::{CommandTarget, Setting};

/// Longest name of a function.
const NAME_CHARACTERS: usize = 100;

/// Offer a function of the script to pages of the tab.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct ExposeBinding {
    /// The name of the function.
    #[schemars(extend("x-carries" = "code", "x-log" = "keyword"))]
    name: String,
}

/// Makes the function in a document. The browser's own function takes one text; the page's takes any values.
fn wrapper(name: &str) -> String {
    format!(
        "(() => {{ {VALUES}
const name = {name}, native = globalThis[name];
if (typeof native !== 'function' || native.settle) return;
const calls = new Map();
let last = 0;
const call = (...given) => new Promise((resolve, reject) => {{
  const id = ++last;
  calls.set(id, {{ resolve, reject }});
  native(JSON.stringify({{ id, values: writeValue(given) }}));
}});
Object.defineProperty(call, 'settle', {{ value: (id, isError, value) => {{
  const open = calls.get(id);
  calls.delete(id);
  if (isError) open?.reject(readValue(value, [])); else open?.resolve(readValue(value, []));
}} }});
globalThis[name] = call;
}})()",
        name = json!(name)
    )
}

fn is_name(name: &str) -> bool {
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '$';
    let starts_well = name.chars().next().is_some_and(|first| !first.is_numeric());
    starts_well && name.len() <= NAME_CHARACTERS && name.chars().all(is_letter)
}

impl Action for ExposeBinding {
    const NAME: &'static str = "expose_binding";
    const EFFECT: Effect = Effect::Eval;
    const EXAMPLES: &'static [Example] = &[];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Execute);
    type Output = Nothing;

    fn needs(&self) -> Needs {
        // The function is in every document that the tab loads later, on any site.
        Needs::every_site(&[Capability::Eval])
    }

    async fn run(self, context: &Context) -> Result<Nothing, Failure> {
        if !is_name(&self.name) {
            return Err(Failure::new(ErrorCode::BadArgs, "The name of the function is not valid."));
        }
        let page = context.tab_page().await?;
        let setting = Setting {
            key: format!("binding:{}", self.name),
            method: "Runtime.addBinding",
            params: json!({"name": self.name}),
            persistent: true,
        };
        page.set_everywhere(&setting, context.deadline).await?;
        let source = wrapper(&self.name);
        page.add_init_script(&source, context.deadline).await?;
        for frame in page.session().all_frames() {
            let place = CommandTarget::Frame(frame.id);
            let params = json!({"expression": source, "silent": true});
            // A frame that is gone or runs no scripts needs no function.
            let _ = page.begin_on(&place, "Runtime.evaluate", &params, context.deadline).await;
        }
        Ok(Nothing {})
    }
}

/// Return the result of a function to the page that called it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct BindingResult {
    /// The frame of the call.
    #[schemars(extend("x-carries" = "text", "x-log" = "keyword"))]
    frame: String,
    /// The name of the function.
    #[schemars(extend("x-carries" = "code", "x-log" = "keyword"))]
    name: String,
    /// The number of the call.
    call: u64,
    /// Whether the function threw.
    #[arg(long)]
    #[serde(default)]
    is_error: bool,
    /// The value, as tagged JSON.
    #[schemars(extend("x-carries" = "text"))]
    value: String,
}

impl Action for BindingResult {
    const NAME: &'static str = "binding_result";
    const EFFECT: Effect = Effect::Eval;
    const EXAMPLES: &'static [Example] = &[];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Execute);
    type Output = Nothing;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Eval)
    }

    async fn run(self, context: &Context) -> Result<Nothing, Failure> {
        // Parsed, so that the text is JSON and nothing else.
        let value: Value = serde_json::from_str(&self.value)
            .map_err(|error| Failure::new(ErrorCode::BadArgs, format!("`value` is not JSON: {error}.")))?;
        let page = context.page().await?;
        let frame = find_frame(&page, &self.frame)?;
        page.check_frame(&frame, Capability::Eval)?;
        let expression =
            format!("globalThis[{}]?.settle?.({}, {}, {value})", json!(self.name), self.call, self.is_error);
        let params = json!({"expression": expression, "silent": true});
        let place = CommandTarget::Frame(frame);
        let sent = page.begin_on(&place, "Runtime.evaluate", &params, context.deadline).await;
        sent.map_err(|error| page.session().failure(error))?;
        Ok(Nothing {})
    }
}
