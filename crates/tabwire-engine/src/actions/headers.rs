//! `headers`: adds headers to everything a tab asks for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_policy::{Capability, Needs};
use tabwire_wire::{ErrorCode, Failure};

use crate::action::{Action, Effect, Example, Render};
use crate::context::Context;
use crate::network::HeaderList;

/// Add headers to every request of the tab, whoever it goes to; without headers, list them.
///
/// For some addresses only, use `route URL --set-header`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Headers {
    /// Headers to add, `Name: value`; one that is there already is replaced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-carries" = "header"))]
    headers: Vec<String>,
    /// A header not to add any more; may be repeated.
    #[arg(long, value_name = "NAME")]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-carries" = "text"))]
    remove: Vec<String>,
    /// Add none any more, except those given.
    #[arg(long)]
    #[serde(default)]
    clear: bool,
}

/// The headers that are added.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct AddedHeaders {
    /// The headers; secret values are masked.
    headers: HeaderList,
}

impl Action for Headers {
    const NAME: &'static str = "headers";
    const EFFECT: Effect = Effect::Act;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire headers 'X-Trace: 7'", "Send a header with every request of the tab."),
        Example::new("tabwire headers --clear", "Send none any more."),
    ];
    type Output = AddedHeaders;

    fn needs(&self) -> Needs {
        // Under a policy, each request gets them only if its own origin has `act`.
        Needs::tab(Capability::Act)
    }

    async fn run(self, context: &Context) -> Result<AddedHeaders, Failure> {
        let given = HeaderList::parse(&self.headers)?;
        let page = context.page().await?;
        let before = page.unless_blocked(async { Ok(page.network().settings().headers.clone()) }).await?;
        if given.is_empty() && self.remove.is_empty() && !self.clear {
            return Ok(AddedHeaders { headers: before.masked() });
        }
        let mut headers = if self.clear { HeaderList::default() } else { before };
        for name in &self.remove {
            if headers.find(name).is_none() {
                let message = format!("No header {name} is added, so there is none to take away.");
                return Err(Failure::new(ErrorCode::BadArgs, message)
                    .with_hint("Run `tabwire headers` to list them."));
            }
            headers.remove(name);
        }
        given.iter().for_each(|header| headers.set(&header.name, &header.value));
        page.apply_headers(headers.clone(), context.deadline).await?;
        Ok(AddedHeaders { headers: headers.masked() })
    }
}

impl Render for AddedHeaders {
    fn render(&self) -> String {
        let lines: Vec<String> =
            self.headers.iter().map(|header| format!("{}: {}", header.name, header.value)).collect();
        if lines.is_empty() { "no headers are added".to_owned() } else { lines.join("\n") }
    }
}
