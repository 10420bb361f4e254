//! `frame_goto`: navigates a frame of the page. `frame_element`: the element that embeds a frame.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure, FrameId};
use tabwire_policy::{Capability, Needs};

use super::Nothing;
use crate::action::context::Context;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::page::Page;
use crate::page::navigation::navigate_params;
use crate::snapshot::{DocumentName, ElementKey};
use crate::url::checked_url;

/// Navigate a frame.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct FrameGoto {
    /// The id of the frame.
    #[schemars(extend("x-carries" = "text", "x-log" = "keyword"))]
    frame: String,
    /// The URL.
    #[schemars(extend("x-carries" = "url"))]
    url: String,
    /// The request's Referer header.
    #[arg(long)]
    #[serde(default)]
    #[schemars(extend("x-carries" = "text"))]
    referer: Option<String>,
}

fn gone() -> Failure {
    Failure::new(ErrorCode::TargetGone, "Frame was detached")
}

/// A frame of the page.
pub(super) fn find_frame(page: &Page, frame: &str) -> Result<FrameId, Failure> {
    let frame = FrameId::new(frame);
    if page.session().has_frame(&frame) { Ok(frame) } else { Err(gone()) }
}

impl Action for FrameGoto {
    const NAME: &'static str = "frame_goto";
    const EFFECT: Effect = Effect::Navigate;
    const EXAMPLES: &'static [Example] = &[];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Execute);
    type Output = Nothing;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Act).at(Capability::Read, checked_url(&self.url).ok())
    }

    async fn run(self, context: &Context) -> Result<Nothing, Failure> {
        let url = checked_url(&self.url)?;
        let page = context.page().await?;
        let frame = find_frame(&page, &self.frame)?;
        page.check_frame(&frame, Capability::Act)?;
        let mut params = navigate_params(&url, self.referer.as_deref());
        params["frameId"] = json!(frame);
        let response = page.command("Page.navigate", &params, context.deadline).await?;
        // `Page.navigate` also succeeds when the navigation fails; the reason is in `errorText`.
        match response.get("errorText").and_then(Value::as_str).filter(|text| !text.is_empty()) {
            None => Ok(Nothing {}),
            Some(text) => Err(Failure::new(ErrorCode::CdpError, format!("{text} at {url}"))),
        }
    }
}

/// Find the element that embeds a frame, or the frame that an element embeds.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct FrameElement {
    /// The id of the frame.
    #[arg(long)]
    #[serde(default)]
    #[schemars(extend("x-carries" = "text", "x-log" = "keyword"))]
    frame: Option<String>,
    /// The element.
    #[arg(long)]
    #[serde(default)]
    #[schemars(extend("x-carries" = "target"))]
    target: Option<String>,
}

/// An element and the frame that it embeds.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct FrameElementResult {
    /// The ref of the element.
    #[serde(rename = "ref")]
    reference: Option<String>,
    /// The id of the frame.
    frame: Option<String>,
}

#[derive(Deserialize)]
struct Owner {
    document: DocumentName,
    key: ElementKey,
}

impl Action for FrameElement {
    const NAME: &'static str = "frame_element";
    const EFFECT: Effect = Effect::Read;
    const EXAMPLES: &'static [Example] = &[];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Execute);
    type Output = FrameElementResult;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Read)
    }

    async fn run(self, context: &Context) -> Result<FrameElementResult, Failure> {
        let page = context.page().await?;
        match (self.frame, self.target) {
            (Some(frame), None) => owner_of(context, &page, &find_frame(&page, &frame)?).await,
            (None, Some(target)) => {
                let target = crate::input::element::TargetArguments { target, nth: None };
                let element = page.prepare(&target, "read", json!({}), context.deadline).await?;
                let held = page.session().content_frame(&element.frame, element.key(), context.deadline);
                let held = page.unless_blocked(held).await?.filter(|frame| page.session().has_frame(frame));
                Ok(FrameElementResult { reference: None, frame: held.map(|frame| frame.to_string()) })
            }
            _ => Err(Failure::new(ErrorCode::BadArgs, "Either `frame` or `target` is required.")),
        }
    }
}

/// The ref of the element that embeds a frame.
async fn owner_of(context: &Context, page: &Page, frame: &FrameId) -> Result<FrameElementResult, Failure> {
    let all = page.session().all_frames();
    let above = all.iter().find(|one| one.id == *frame).and_then(|one| one.parent.clone());
    let above = above.ok_or_else(|| {
        Failure::new(ErrorCode::BadArgs, "Frame has been detached, or it is the main frame.")
    })?;
    let owner = page.session().frame_owner(&above, frame, context.deadline);
    let owner: Owner = serde_json::from_value(page.unless_blocked(owner).await?)
        .map_err(|error| Failure::new(ErrorCode::Internal, format!("The frame's element: {error}.")))?;
    let reference = page.mint(&above, &owner.document, owner.key);
    Ok(FrameElementResult {
        reference: Some(json!(reference).as_str().unwrap_or_default().to_owned()),
        frame: None,
    })
}

impl Render for FrameElementResult {
    fn render(&self) -> String {
        json!(self).to_string()
    }
}
