//! `query`: facts of one or all elements of a script's locator, in one call.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tabwire_api::{ErrorCode, Failure};
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::input::element::{Rectangle, TargetArguments, milliseconds_left, with_grace};
use crate::snapshot::{DocumentName, ElementKey, plain_value};

/// Read facts of the elements that a locator matches.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Query {
    /// The locator.
    #[schemars(extend("x-carries" = "target"))]
    target: String,
    /// The facts: `text_content`, `visible`, `box` and others.
    #[serde(default)]
    #[schemars(extend("x-carries" = "text", "x-log" = "keyword"))]
    facts: Vec<String>,
    /// The name of the attribute, for the fact `attribute`.
    #[serde(default)]
    #[schemars(extend("x-carries" = "text", "x-log" = "keyword"))]
    name: Option<String>,
    /// Read all matches, without waiting for one.
    #[arg(long)]
    #[serde(default)]
    all: bool,
    /// Return nothing at once when nothing matches.
    #[arg(long)]
    #[serde(default)]
    now: bool,
    /// Take the first of several matches.
    #[arg(long)]
    #[serde(default)]
    first: bool,
    /// Also return refs of the elements.
    #[arg(long)]
    #[serde(default)]
    refs: bool,
}

/// Facts of elements.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct QueryResult {
    /// How many elements match.
    total: u64,
    /// The facts of each, by name.
    elements: Vec<Value>,
}

#[derive(Deserialize)]
struct Found {
    document: DocumentName,
    total: u64,
    elements: Vec<Map<String, Value>>,
}

impl Action for Query {
    const NAME: &'static str = "query";
    const EFFECT: Effect = Effect::Read;
    const EXAMPLES: &'static [Example] = &[];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Execute);
    type Output = QueryResult;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Read)
    }

    async fn run(self, context: &Context) -> Result<QueryResult, Failure> {
        let page = context.page().await?;
        let target = TargetArguments { target: self.target, nth: None };
        let resolved = page.resolve(&target, context.deadline).await?;
        let argument = json!({
            "spec": resolved.spec, "facts": self.facts, "name": self.name, "all": self.all, "wait": !self.now,
            "strict": !self.first, "keys": self.refs, "timeout": milliseconds_left(context.deadline),
        });
        let found: Found =
            page.call_again_in(&resolved.frame, "query", &argument, with_grace(context.deadline)).await?;
        let document = found.document;
        let offset = match self.facts.iter().any(|fact| fact == "box") {
            true => page.offset_in_tab(&resolved.frame, context.deadline).await,
            false => None,
        };
        let elements = found.elements.into_iter().map(|mut facts| {
            if let (Some(offset), Some(place)) = (offset, facts.get_mut("box"))
                && let Ok(inner) = serde_json::from_value::<Rectangle>(place.clone())
            {
                *place = json!(offset.apply(inner));
            }
            let key = facts.remove("key").and_then(|key| serde_json::from_value::<ElementKey>(key).ok());
            if let Some(key) = key {
                facts.insert("ref".to_owned(), json!(page.mint(&resolved.frame, &document, key)));
            }
            plain_value(Value::Object(facts))
        });
        Ok(QueryResult { total: found.total, elements: elements.collect() })
    }
}

impl Render for QueryResult {
    fn render(&self) -> String {
        json!(self.elements).to_string()
    }
}

impl crate::page::Page {
    /// The mapping of a frame's points to the tab; none for the main frame and for a hidden frame.
    pub(in crate::actions::script) async fn offset_in_tab(
        &self,
        frame: &tabwire_api::FrameId,
        deadline: tabwire_cdp::Deadline,
    ) -> Option<crate::media::annotate::Offset> {
        let frames: Vec<_> =
            self.session().all_frames().iter().filter_map(|frame| self.find_frame(&frame.id)).collect();
        let frame = frames.iter().find(|one| one.id == *frame && one.parent.is_some())?;
        self.frame_offset(frame, &frames, deadline).await.ok()
    }

    /// Calls a waiting function of the page agent; again when the document was replaced during the call.
    pub(in crate::actions::script) async fn call_again_in<T: serde::de::DeserializeOwned>(
        &self,
        frame: &tabwire_api::FrameId,
        function: &'static str,
        argument: &Value,
        deadline: tabwire_cdp::Deadline,
    ) -> Result<T, Failure> {
        let mut argument = argument.clone();
        loop {
            match self.call_in(frame, function, &argument, deadline).await {
                Err(failure)
                    if failure.code == ErrorCode::TargetGone
                        && !self.is_gone()
                        && tokio::time::Instant::now() < deadline.instant() =>
                {
                    tokio::time::sleep(crate::frames::search::RETRY_INTERVAL).await;
                    argument["timeout"] = json!(milliseconds_left(deadline));
                }
                called => return called,
            }
        }
    }
}
