//! `inspect`: describes the element at a point of the page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure, FrameId};
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::input::element::Rectangle;
use crate::page::Page;
use crate::snapshot::{DocumentName, ElementKey, PageText, enclose};

/// Describe the element at a point of the tab: the innermost one, its ancestors, and selected styles.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Inspect {
    /// The point, in CSS pixels from the top left of the tab: X,Y.
    #[arg(value_name = "X,Y", value_parser = crate::actions::parse_position, allow_hyphen_values = true)]
    point: (f64, f64),
}

/// An element in the result.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct InspectedElement {
    /// Its ref, for other actions.
    #[serde(rename = "ref")]
    name: String,
    /// Its role.
    role: String,
    /// Its name.
    #[serde(rename = "name")]
    text: String,
    /// Its tag.
    tag: String,
    /// A selector that finds it in its own tree.
    #[serde(skip_serializing_if = "String::is_empty")]
    selector: String,
}

/// The element at a point.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct InspectResult {
    #[serde(flatten)]
    element: InspectedElement,
    /// Its bounding box in the tab.
    #[serde(rename = "box")]
    rectangle: Rectangle,
    /// The ancestor that a click there activates, e.g. the button around an icon.
    #[serde(skip_serializing_if = "Option::is_none")]
    acts: Option<InspectedElement>,
    /// States that prevent its use.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    states: Vec<String>,
    /// Selected computed styles.
    styles: serde_json::Map<String, Value>,
    /// Its ancestors, the nearest first.
    ancestors: Vec<InspectedElement>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum InspectResponse {
    Frame(InFrame),
    Element(Box<AgentInspection>),
}

#[derive(Deserialize)]
struct InFrame {
    frame: FrameId,
    x: f64,
    y: f64,
    #[serde(rename = "box")]
    place: FrameOffset,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
struct FrameOffset {
    x: f64,
    y: f64,
    scale_x: f64,
    scale_y: f64,
}

#[derive(Deserialize)]
struct AgentInspection {
    document: DocumentName,
    #[serde(flatten)]
    element: ElementFacts,
    #[serde(rename = "box")]
    rectangle: Rectangle,
    #[serde(default)]
    states: Vec<PageText>,
    acted: Option<ElementFacts>,
    styles: serde_json::Map<String, Value>,
    ancestors: Vec<ElementFacts>,
}

#[derive(Deserialize)]
struct ElementFacts {
    key: ElementKey,
    role: PageText,
    name: PageText,
    tag: PageText,
    #[serde(default)]
    selector: PageText,
}

impl Action for Inspect {
    const NAME: &'static str = "inspect";
    const EFFECT: Effect = Effect::Read;
    const EXAMPLES: &'static [Example] =
        &[Example::new("tabwire inspect 120,340", "Describe the element at a point of the viewport.")];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Vision).with_timeout();
    type Output = InspectResult;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Read)
    }

    async fn run(self, context: &Context) -> Result<InspectResult, Failure> {
        let page = context.page().await?;
        let (mut x, mut y) = self.point;
        let mut frame = page.main_frame().clone();
        let mut places: Vec<FrameOffset> = Vec::new();
        for known in page.session().readable_roots() {
            // A frame whose owner cannot be registered is reported as its iframe element.
            let named = page.session().register_frame_owner(&known, context.deadline);
            page.unless_blocked(async {
                let _ = named.await;
                Ok(())
            })
            .await?;
        }
        loop {
            let argument = json!({"x": x, "y": y});
            let response: Option<InspectResponse> =
                page.call_in(&frame, "inspect", &argument, context.deadline).await?;
            match response {
                None => return Err(nothing_there(self.point)),
                Some(InspectResponse::Frame(inner)) => {
                    (frame, x, y) = (inner.frame, inner.x, inner.y);
                    places.push(inner.place);
                }
                Some(InspectResponse::Element(found)) => {
                    return Ok(inspected(&page, &frame, *found, &places));
                }
            }
        }
    }
}

fn nothing_there((x, y): (f64, f64)) -> Failure {
    Failure::new(ErrorCode::BadArgs, format!("The point {x},{y} is outside the viewport."))
        .with_remedy("Give a point inside the viewport; scroll to reach other parts of the page.")
}

fn inspected(page: &Page, frame: &FrameId, found: AgentInspection, places: &[FrameOffset]) -> InspectResult {
    let describe = |one: ElementFacts| InspectedElement {
        name: page.mint(frame, &found.document, one.key).to_string(),
        role: one.role.as_str().to_owned(),
        text: one.name.as_str().to_owned(),
        tag: one.tag.as_str().to_owned(),
        selector: one.selector.as_str().to_owned(),
    };
    let mut rectangle = found.rectangle;
    for place in places.iter().rev() {
        rectangle = Rectangle {
            x: place.x + rectangle.x * place.scale_x,
            y: place.y + rectangle.y * place.scale_y,
            width: rectangle.width * place.scale_x,
            height: rectangle.height * place.scale_y,
        };
    }
    let styles = found.styles.into_iter().map(|(name, value)| {
        let value = value.as_str().map_or(value.clone(), |text| json!(PageText::new(text).as_str()));
        (name, value)
    });
    InspectResult {
        rectangle,
        states: found.states.iter().map(|state| state.as_str().to_owned()).collect(),
        styles: styles.collect(),
        acts: found.acted.map(describe),
        ancestors: found.ancestors.into_iter().map(describe).collect(),
        element: describe(found.element),
    }
}

impl InspectedElement {
    fn line(&self) -> String {
        let name = if self.text.is_empty() {
            String::new()
        } else {
            format!(" {}", PageText::new(&self.text).quoted())
        };
        format!("{}{name} [{}] <{}> {}", self.role, self.name, self.tag, self.selector).trim_end().to_owned()
    }
}

impl Render for InspectResult {
    fn render(&self) -> String {
        let Rectangle { x, y, width, height } = self.rectangle;
        let mut lines = vec![self.element.line(), format!("box: {x:.0},{y:.0} {width:.0}x{height:.0}")];
        if let Some(acts) = &self.acts {
            lines.push(format!("part of: {}", acts.line()));
        }
        lines.extend(self.states.iter().cloned());
        for (name, value) in &self.styles {
            lines.push(format!("{name}: {}", value.as_str().unwrap_or_default()));
        }
        lines.extend(self.ancestors.iter().map(|one| format!("in: {}", one.line())));
        enclose("element", &(lines.join("\n") + "\n")).trim_end().to_owned()
    }
}
