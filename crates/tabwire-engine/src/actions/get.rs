//! `get`: reads one property of the page or an element.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure};
use tabwire_policy::{Capability, Needs, Scope};

use crate::action::context::Context;
use crate::action::result::{BareValue, value_text};
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::input::element::{Rectangle, TargetArguments};
use crate::input::locator::Locator;
use crate::page::Page;
use crate::snapshot::{PageText, address, plain_value};

/// Characters of a title that was requested alone.
const WHOLE_TITLE_CHARACTERS: usize = 2_000;

/// Get one property of the page or an element.
///
/// `get title`, `get url`; `get value #email`, `get box e12`, `get count .row`; `get attribute e12 href`,
/// `get property e12 checked`, `get styles e12 color font-size`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Get {
    /// What to get.
    #[arg(value_enum)]
    what: GetKind,
    /// The element, as for `click`; none for `title` and `url`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "target"))]
    target: Option<String>,
    /// Names of the attributes, properties or styles.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-carries" = "text"))]
    names: Vec<String>,
    /// Which of several matches, counted from 1.
    #[arg(long, value_name = "N")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nth: Option<u32>,
    /// Show the value of a password or TOTP field instead of masking it.
    #[arg(long)]
    #[serde(default)]
    #[schemars(extend("x-secret" = "reveals"))]
    reveal: bool,
}

/// What to get.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum GetKind {
    /// The page's title.
    Title,
    /// The page's URL.
    Url,
    /// A field's value; true or false for a check box.
    Value,
    /// Attributes by name.
    Attribute,
    /// DOM properties by name. Properties that the page's scripts added need `eval`.
    Property,
    /// Its bounding box in the tab, in CSS pixels.
    Box,
    /// Computed styles: the named ones, or a default selection.
    Styles,
    /// How many elements match, without waiting for one.
    Count,
}

/// The result.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct GetResult {
    /// What was requested.
    what: GetKind,
    /// The value; an object by name if several were requested.
    value: Value,
}

impl Action for Get {
    const NAME: &'static str = "get";
    const EFFECT: Effect = Effect::Read;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire get url --raw", "Print the page's URL for a script.").in_skill(),
        Example::new("tabwire get value e4", "Print a field's value."),
        Example::new("tabwire get attribute e7 href", "Print an attribute."),
        Example::new("tabwire get count '.row'", "Count the matches."),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Input);
    type Output = GetResult;

    fn needs(&self) -> Needs {
        // Showing a secret value needs `eval`, because code could read it too.
        Needs::page(Capability::Read).and_if(self.reveal, Capability::Eval, Scope::Page)
    }

    async fn run(self, context: &Context) -> Result<GetResult, Failure> {
        self.check()?;
        let page = context.page().await?;
        let value = match &self.target {
            None => self.of_page(context, &page).await?,
            Some(target) => {
                let target = TargetArguments { target: target.clone(), nth: self.nth };
                self.of_element(context, &page, &target).await?
            }
        };
        Ok(GetResult { what: self.what, value: plain_value(value) })
    }
}

impl Get {
    fn check(&self) -> Result<(), Failure> {
        let bad =
            |message: &str, hint: &str| Err(Failure::new(ErrorCode::BadArgs, message).with_remedy(hint));
        let is_of_page = matches!(self.what, GetKind::Title | GetKind::Url);
        let takes_names = matches!(self.what, GetKind::Attribute | GetKind::Property | GetKind::Styles);
        if is_of_page && self.target.is_some() {
            return bad("`title` and `url` take no target.", "Leave the target out.");
        }
        if !is_of_page && self.target.is_none() {
            return bad("A target is required.", "Add a ref (e12) or a selector.");
        }
        if !takes_names && !self.names.is_empty() {
            return bad("`names` is only for `attribute`, `property` and `styles`.", "Leave the names out.");
        }
        if takes_names && self.what != GetKind::Styles && self.names.is_empty() {
            return bad("`names` is empty.", "Name at least one, such as href.");
        }
        Ok(())
    }

    async fn of_page(&self, context: &Context, page: &Page) -> Result<Value, Failure> {
        let place: Value = page.call("location", &json!({}), context.deadline).await?;
        let text = |name: &str| place.get(name).and_then(Value::as_str).unwrap_or_default();
        Ok(match self.what {
            GetKind::Title => json!(PageText::cut(text("title"), WHOLE_TITLE_CHARACTERS).as_str()),
            _ => json!(address(text("url"))),
        })
    }

    async fn of_element(
        &self,
        context: &Context,
        page: &Page,
        target: &TargetArguments,
    ) -> Result<Value, Failure> {
        #[derive(Deserialize)]
        struct ElementData {
            fact: Value,
        }
        let what = match self.what {
            GetKind::Count => return count(context, page, target).await,
            GetKind::Box => {
                let element = page.prepare(target, "read", json!({}), context.find_deadline()).await?;
                return rounded(element.info.rectangle);
            }
            GetKind::Attribute => "attribute",
            GetKind::Property => "property",
            GetKind::Styles => "styles",
            _ => "value",
        };
        let (frame, mut argument) = page.find_element(target, context.find_deadline()).await?;
        argument["what"] = json!(what);
        argument["names"] = json!(self.names);
        argument["reveal"] = json!(self.reveal);
        let response: ElementData = page.call_in(&frame, "elementData", &argument, context.deadline).await?;
        Ok(match (self.names.as_slice(), response.fact) {
            ([only], Value::Object(mut facts)) => facts.remove(only).unwrap_or_default(),
            (_, fact) => fact,
        })
    }
}

async fn count(context: &Context, page: &Page, target: &TargetArguments) -> Result<Value, Failure> {
    let spec = match Locator::parse(&target.target)? {
        Locator::Words(spec) => spec,
        Locator::Chain(steps) => {
            let (frame, steps) = page.enter_frames(steps, context.deadline).await?;
            let argument = json!({"spec": {"chain": steps}, "all": true});
            let found: Value = page.call_in(&frame, "query", &argument, context.deadline).await?;
            return Ok(found["total"].clone());
        }
        Locator::Ref(given) => {
            // An expired ref is an error here too.
            let handle = page.find_ref(given)?;
            json!({"key": handle.key, "document": handle.document})
        }
    };
    page.scope(context.deadline).await?;
    let frames = page.scope_frames();
    let found = page.locate_everywhere(&frames, &spec, context.deadline).await?;
    Ok(json!(found.iter().map(|(_, located)| located.total).sum::<u32>()))
}

/// Rounds to two decimal places.
fn rounded(place: Rectangle) -> Result<Value, Failure> {
    let round = |number: f64| (number * 100.0).round() / 100.0;
    Ok(json!({
        "x": round(place.x), "y": round(place.y), "width": round(place.width), "height": round(place.height),
    }))
}

impl Render for GetResult {
    fn render(&self) -> String {
        match &self.value {
            Value::String(text) => value_text("value", text),
            // The names come from the request, and quoted values cannot be mistaken for Tabwire's own lines.
            Value::Object(facts) => {
                let lines: Vec<String> =
                    facts.iter().map(|(name, value)| format!("{name}: {value}")).collect();
                lines.join("\n")
            }
            other => other.to_string(),
        }
    }

    fn bare(&self) -> Option<BareValue> {
        let bare = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        Some(BareValue::whole(bare(&self.value)))
    }
}
