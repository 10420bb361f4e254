//! `snapshot`: lists the page's elements as short text with refs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tabwire_api::{ErrorCode, Failure};
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::result::BareValue;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions, ToolResult};
use crate::input::element::TargetArguments;
use crate::snapshot::{Extent, Selection, Snapshot as PageSnapshot, SnapshotLines, SnapshotRequest};

/// See what is on the page: roles, names, states, and refs (e12) that other actions take.
///
/// Elements nearest to the viewport come first. The text names what it leaves out, with the ref to look into. Page
/// content is between two fence lines.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema, clap::Args)]
#[serde(default)]
pub(crate) struct Snapshot {
    /// Only interactive elements, with their headings.
    #[arg(long, short)]
    interactive: bool,
    /// Only the content of this element: a ref or another target.
    #[arg(long, value_name = "TARGET")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "target"))]
    within: Option<String>,
    /// Start from this child of the element, counted from 1: to page through long lists and tables.
    #[arg(long, value_name = "N", requires = "within")]
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<u32>,
    /// Go down this many levels.
    #[arg(long, value_name = "LEVELS")]
    #[serde(skip_serializing_if = "Option::is_none")]
    depth: Option<u32>,
    /// Only changes since the last snapshot.
    #[arg(long, conflicts_with = "full")]
    delta: bool,
    /// The whole page, without a length limit.
    #[arg(long)]
    full: bool,
    /// The approximate maximum of tokens.
    #[arg(long, value_name = "TOKENS", conflicts_with = "full")]
    #[serde(skip_serializing_if = "Option::is_none")]
    budget: Option<usize>,
}

/// What is on the page.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct SnapshotResult {
    /// The page as nested nodes, with refs.
    #[serde(flatten)]
    page: Value,
    /// The changes as text, inside a fence; only with `delta`.
    #[serde(skip_serializing_if = "Option::is_none")]
    delta: Option<String>,
    #[serde(skip)]
    text: String,
}

impl Action for Snapshot {
    const NAME: &'static str = "snapshot";
    const EFFECT: Effect = Effect::Read;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire snapshot", "See what is on the page, with refs to act on."),
        Example::new("tabwire snapshot --interactive", "Only what can be acted on."),
        Example::new("tabwire snapshot --delta", "Only what changed since the last one."),
        Example::new(
            "tabwire snapshot --within e14 --from 51",
            "Show one element's content, from its 51st child.",
        ),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Default).described("See what is on the page: roles, names, states, and refs (e12) for other tools. Look before acting").returning(ToolResult::Text).with_timeout();
    type Output = SnapshotResult;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Read)
    }

    async fn run(self, context: &Context) -> Result<SnapshotResult, Failure> {
        if self.budget == Some(0) || self.depth == Some(0) {
            let message = "`budget` and `depth` must be at least 1.";
            return Err(Failure::new(ErrorCode::BadArgs, message));
        }
        let page = context.page().await?;
        if let Some(within) = &self.within {
            // Searched with its own, shorter timeout.
            let target = TargetArguments { target: within.clone(), nth: None };
            page.find_element(&target, context.find_deadline()).await?;
        }
        let extent = match (self.full, self.budget) {
            (true, _) => Extent::Full,
            (false, Some(tokens)) => Extent::Tokens(tokens),
            (false, None) => Extent::default(),
        };
        let selection = if self.interactive { Selection::Interactive } else { Selection::Everything };
        let request = SnapshotRequest {
            extent,
            selection,
            from: self.from,
            depth: self.depth,
            ..SnapshotRequest::default()
        };
        if self.delta {
            let (snapshot, request) = page.view(request, self.within.as_deref(), context.deadline).await?;
            let text = page.memory().delta_since_shown(&snapshot, &request, &mut page.refs());
            return Ok(SnapshotResult { page: Value::Null, delta: Some(text.clone()), text });
        }
        let render = |snapshot: &PageSnapshot, request: &SnapshotRequest| {
            let refs = &mut page.refs();
            let (page, text) = if context.wants_text {
                (Value::Null, snapshot.to_text(refs, request))
            } else {
                (snapshot.to_json(refs), String::new())
            };
            (SnapshotLines::of(snapshot), SnapshotResult { page, delta: None, text })
        };
        let view = page.view_as(request, self.within.as_deref(), context.deadline, render).await?;
        let (lines, seen) = view.made;
        page.memory().remember(&view.snapshot, &view.request, lines);
        Ok(seen)
    }
}

impl Render for SnapshotResult {
    fn render(&self) -> String {
        self.text.trim_end().to_owned()
    }

    fn bare(&self) -> Option<BareValue> {
        Some(BareValue::unfenced(&self.text))
    }
}
