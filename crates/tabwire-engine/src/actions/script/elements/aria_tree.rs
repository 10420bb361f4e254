//! `aria_tree`: the accessibility tree of an element or the page, in Playwright's form, with the frames inside.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabwire_api::{Failure, FrameId};
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::input::element::{TargetArguments, milliseconds_left, with_grace};
use crate::page::Page;
use crate::snapshot::{DocumentName, ElementKey, plain_value};

/// Frames inside of frames that are read.
const MOST_LEVELS: usize = 10;

/// Read the accessibility tree.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct AriaTree {
    /// The locator of the element; the whole page without one.
    #[arg(long)]
    #[serde(default)]
    #[schemars(extend("x-carries" = "target"))]
    target: Option<String>,
    /// Include generic elements, refs, the cursor and the content of frames.
    #[arg(long)]
    #[serde(default)]
    ai: bool,
    /// Include the place of each element.
    #[arg(long)]
    #[serde(default)]
    boxes: bool,
}

/// An accessibility tree.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct AriaTreeResult {
    /// Its nodes: a role, a name, states, `children`.
    nodes: Value,
}

#[derive(Deserialize)]
struct Tree {
    document: DocumentName,
    nodes: Vec<Value>,
    /// The elements that can have a ref, in page order. Some are left out of the nodes.
    #[serde(default)]
    keys: Vec<ElementKey>,
}

impl Action for AriaTree {
    const NAME: &'static str = "aria_tree";
    const EFFECT: Effect = Effect::Read;
    const EXAMPLES: &'static [Example] = &[];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Execute);
    type Output = AriaTreeResult;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Read)
    }

    async fn run(self, context: &Context) -> Result<AriaTreeResult, Failure> {
        let page = context.page().await?;
        let (frame, spec) = match &self.target {
            None => (page.main_frame().clone(), Value::Null),
            Some(target) => {
                let target = TargetArguments { target: target.clone(), nth: None };
                let resolved = page.resolve(&target, context.deadline).await?;
                (resolved.frame, resolved.spec)
            }
        };
        let nodes = self.read(context, &page, frame, spec, 0).await?;
        Ok(AriaTreeResult { nodes: plain_value(json!(nodes)) })
    }
}

impl AriaTree {
    /// The nodes of a document, with refs, and below frames the nodes of theirs.
    async fn read(
        &self,
        context: &Context,
        page: &Page,
        frame: FrameId,
        spec: Value,
        level: usize,
    ) -> Result<Vec<Value>, Failure> {
        let argument = json!({
            "spec": spec, "ai": self.ai, "boxes": self.boxes, "timeout": milliseconds_left(context.deadline),
        });
        let mut tree: Tree =
            page.call_again_in(&frame, "ariaTree", &argument, with_grace(context.deadline)).await?;
        for key in &tree.keys {
            page.mint(&frame, &tree.document, *key);
        }
        let mut frames = Vec::new();
        for node in &mut tree.nodes {
            name_nodes(page, &frame, &tree.document, node, &mut frames);
        }
        for (reference, key) in frames {
            if level >= MOST_LEVELS {
                break;
            }
            // A frame that is gone, or that may not be read, has no content here.
            let Ok(Some(inner)) = page.session().content_frame(&frame, key, context.deadline).await else {
                continue;
            };
            if page.check_frame(&inner, Capability::Read).is_err() {
                continue;
            }
            let content = Box::pin(self.read(context, page, inner, Value::Null, level + 1)).await;
            if let Ok(content) = content {
                for node in &mut tree.nodes {
                    set_content(node, &reference, &content);
                }
            }
        }
        Ok(tree.nodes)
    }
}

/// Replaces keys by refs. Collects the refs and keys of frames.
fn name_nodes(
    page: &Page,
    frame: &FrameId,
    document: &DocumentName,
    node: &mut Value,
    frames: &mut Vec<(String, ElementKey)>,
) {
    let Some(facts) = node.as_object_mut() else { return };
    let key = facts.remove("key").and_then(|key| serde_json::from_value::<ElementKey>(key).ok());
    if let Some(key) = key {
        let reference = page.mint(frame, document, key).to_string();
        if facts.get("role").and_then(Value::as_str) == Some("iframe") {
            frames.push((reference.clone(), key));
        }
        facts.insert("ref".to_owned(), json!(reference));
    }
    for child in facts.get_mut("children").and_then(Value::as_array_mut).into_iter().flatten() {
        name_nodes(page, frame, document, child, frames);
    }
}

/// Puts the content of a frame below its node.
fn set_content(node: &mut Value, reference: &str, content: &[Value]) {
    if node.get("ref").and_then(Value::as_str) == Some(reference) {
        node["children"] = json!(content);
        return;
    }
    for child in node.get_mut("children").and_then(Value::as_array_mut).into_iter().flatten() {
        set_content(child, reference, content);
    }
}

impl Render for AriaTreeResult {
    fn render(&self) -> String {
        self.nodes.to_string()
    }
}
