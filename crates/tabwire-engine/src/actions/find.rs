//! `find`: searches everything on the page by text or regular expression.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::result::BareValue;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions, ToolResult};
use crate::input::element::TargetArguments;
use crate::snapshot::Pattern;

/// The largest `limit` of a search.
const SEARCH_LIMIT: usize = 1_000;

/// Matches in the result of a search.
const SEARCH_MATCHES: usize = 40;

/// Search the page for a text, and list the matches with their context.
///
/// Searches the whole page, including elements that a snapshot leaves out because of its length limit.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Find {
    /// The text, ignoring case.
    #[schemars(extend("x-carries" = "pattern"))]
    text: String,
    /// The text is a regular expression.
    #[arg(long, short = 'e')]
    #[serde(default)]
    regex: bool,
    /// Only in this element: a ref or another target.
    #[arg(long, value_name = "TARGET")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "target"))]
    within: Option<String>,
    /// The maximum of matches that are shown; all are counted.
    #[arg(long, value_name = "N")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    limit: Option<usize>,
}

/// The matches.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct FindResult {
    /// The number of matches, and those that are shown, with refs.
    #[serde(flatten)]
    found: Value,
    #[serde(skip)]
    text: String,
}

impl Action for Find {
    const NAME: &'static str = "find";
    const EFFECT: Effect = Effect::Read;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire find 'total'", "Find `total` on the page, with refs.").in_skill(),
        Example::new("tabwire find -e 'order \\d+'", "Search with a regular expression."),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Default).returning(ToolResult::Text).with_timeout();
    type Output = FindResult;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Read)
    }

    async fn run(self, context: &Context) -> Result<FindResult, Failure> {
        if self.limit.is_some_and(|limit| limit == 0 || limit > SEARCH_LIMIT) {
            let message = format!("`limit` must be 1 to {SEARCH_LIMIT}.");
            return Err(Failure::new(ErrorCode::BadArgs, message)
                .with_remedy(Remedy::new("Change {} or leave it out.", [Step::argument("limit")])));
        }
        let pattern = if self.regex { Pattern::regex(&self.text)? } else { Pattern::text(&self.text)? };
        let page = context.page().await?;
        if let Some(within) = &self.within {
            // Searched with its own, shorter timeout.
            let target = TargetArguments { target: within.clone(), nth: None };
            page.find_element(&target, context.find_deadline()).await?;
        }
        let limit = self.limit.unwrap_or(SEARCH_MATCHES);
        let search = page.search(pattern, limit, self.within.as_deref(), context.deadline).await?;
        let mut refs = page.refs();
        if context.wants_text {
            return Ok(FindResult { found: Value::Null, text: search.to_text(&mut refs) });
        }
        Ok(FindResult { found: search.to_json(&mut refs), text: String::new() })
    }
}

impl Render for FindResult {
    fn render(&self) -> String {
        self.text.trim_end().to_owned()
    }

    fn bare(&self) -> Option<BareValue> {
        Some(BareValue::unfenced(&self.text))
    }
}
