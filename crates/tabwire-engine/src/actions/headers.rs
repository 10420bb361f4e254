//! `headers`: adds headers to every request of a tab.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::network::HeaderList;

/// Add headers to every request of the tab; without headers, list them.
///
/// For some URLs only, use `route URL --set-header`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Headers {
    /// Headers to add, `Name: value`; replaces a header of the same name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-carries" = "header", "x-secret" = "secret"))]
    headers: Vec<String>,
    /// A header to remove from the list; may be repeated.
    #[arg(long, value_name = "NAME")]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-carries" = "text"))]
    remove: Vec<String>,
    /// Remove all headers from the list first.
    #[arg(long)]
    #[serde(default)]
    clear: bool,
}

/// The added headers.
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
        Example::new("tabwire headers --clear", "Remove all added headers."),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Network);
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
                let message = format!("The tab sends no extra header {name}.");
                return Err(Failure::new(ErrorCode::BadArgs, message)
                    .with_remedy(Remedy::new("Run {} to list them.", [Step::action("headers")])));
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
