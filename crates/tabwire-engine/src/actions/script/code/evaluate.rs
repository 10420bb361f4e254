//! `evaluate`: runs a script's function in the page, with an argument, elements and kept objects. Returns a tagged value,
//! or keeps the result as a handle.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure};
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::cdp::{GivenObject, ObjectPlace, ScriptCall, ScriptReturn};
use crate::input::element::{TargetArguments, milliseconds_left, with_grace};
use crate::page::Page;
use crate::page::evaluate::ScriptValue;
use crate::snapshot::{ElementKey, ElementRef};

/// Largest result.
const RESULT_BYTES: usize = 8 * 1024 * 1024;

/// Characters of the text about a kept object.
const PREVIEW_CHARACTERS: usize = 600;

/// Elements that `evaluateAll` passes to a function.
const MOST_ELEMENTS: usize = 2_000;

/// Reads the argument and writes the result in the page. Values that JSON cannot carry are tagged, as in
/// `crates/tabwire-script/api/base/values.js`.
pub(super) const VALUES: &str = include_str!("evaluate_values.js");

/// Run a function in the page.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Evaluate {
    /// A function, or an expression.
    #[schemars(extend("x-carries" = "code"))]
    expression: String,
    /// Whether the expression is a function; if not, its value is called when it is one.
    #[arg(long)]
    #[serde(default)]
    is_function: bool,
    /// The argument of the function, as tagged JSON.
    #[serde(default)]
    #[schemars(extend("x-carries" = "text"))]
    argument: Option<String>,
    /// The locator of the element, or of all elements.
    #[serde(default)]
    #[schemars(extend("x-carries" = "target"))]
    target: Option<String>,
    /// Pass all matches as an array.
    #[arg(long)]
    #[serde(default)]
    all: bool,
    /// Fail at once when nothing matches.
    #[arg(long)]
    #[serde(default)]
    now: bool,
    /// The id of the frame; the main frame without one.
    #[serde(default)]
    #[schemars(extend("x-carries" = "text", "x-log" = "keyword"))]
    frame: Option<String>,
    /// The id of the worker.
    #[serde(default)]
    #[schemars(extend("x-carries" = "text", "x-log" = "keyword"))]
    worker: Option<String>,
    /// The object that the function gets first: a ref, or the number of a handle.
    #[serde(default)]
    #[schemars(extend("x-carries" = "target"))]
    this: Option<String>,
    /// The objects in the argument: refs, and numbers of handles.
    #[serde(default)]
    #[schemars(extend("x-carries" = "target"))]
    handles: Vec<String>,
    /// Keep the result as a handle.
    #[arg(long)]
    #[serde(default)]
    keep: bool,
    /// Return a promise as it is, instead of its value.
    #[arg(long)]
    #[serde(default)]
    as_is: bool,
    /// Numbers of handles that are no longer needed.
    #[serde(default)]
    release: Vec<u64>,
}

/// The result of a function.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct EvaluateResult {
    /// The value, tagged.
    value: Value,
    /// The object that was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    handle: Option<KeptObject>,
}

/// An object that a script keeps.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct KeptObject {
    /// Its number.
    id: u64,
    /// A short text about it.
    preview: String,
    /// The id of its frame.
    frame: String,
    /// The id of its worker.
    #[serde(skip_serializing_if = "Option::is_none")]
    worker: Option<String>,
    /// Its ref, when it is an element.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    element: Option<String>,
}

#[derive(Deserialize)]
struct Found {
    elements: Vec<FoundElement>,
}

#[derive(Deserialize)]
struct FoundElement {
    key: ElementKey,
}

impl Action for Evaluate {
    const NAME: &'static str = "evaluate";
    const EFFECT: Effect = Effect::Eval;
    const EXAMPLES: &'static [Example] = &[];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Execute);
    type Output = EvaluateResult;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Eval)
    }

    async fn run(self, context: &Context) -> Result<EvaluateResult, Failure> {
        let page = context.page().await?;
        page.session().release_handles(&self.release);
        let (place, mut objects, first) = match (&self.target, &self.this) {
            (Some(target), _) => self.elements(context, &page, target.clone()).await?,
            (None, Some(this)) => {
                let (place, object) = given_object(&page, this)?;
                (place, vec![object], "objects[0], ")
            }
            (None, None) => (self.place(&page)?, Vec::new(), ""),
        };
        let before = objects.len();
        for handle in &self.handles {
            objects.push(given_object(&page, handle)?.1);
        }
        let function = self.function(first, before);
        let argument = self.parsed_argument()?;
        let call = ScriptCall {
            place,
            function: &function,
            argument: &argument,
            objects: &objects,
            keeps: self.keep,
            waits: !self.as_is,
        };
        let returned = page.unless_blocked(page.session().call_script(&call, context.deadline)).await?;
        result_of(&page, returned)
    }
}

/// A ref or the number of a handle.
fn given_object(page: &Page, given: &str) -> Result<(ObjectPlace, GivenObject), Failure> {
    if let Ok(number) = given.parse::<u64>() {
        let place = page.session().place_of_handle(number).ok_or_else(|| {
            Failure::new(ErrorCode::BadArgs, "JSHandle is disposed!").with_remedy("Evaluate it again.")
        })?;
        return Ok((place, GivenObject::Handle(number)));
    }
    let named: ElementRef = given.parse().map_err(|_| {
        Failure::new(ErrorCode::BadArgs, "A handle is a number or a ref.").with_remedy("Pass a handle.")
    })?;
    let handle = page.find_ref(named)?;
    let place = ObjectPlace::Frame(handle.frame.clone());
    Ok((place, GivenObject::Element(handle.frame, handle.key)))
}

impl Evaluate {
    /// The frame or worker in which a function without an object runs.
    fn place(&self, page: &Page) -> Result<ObjectPlace, Failure> {
        if let Some(worker) = &self.worker {
            return Ok(ObjectPlace::Worker(worker.clone()));
        }
        let frame = self.frame.as_deref().map(|frame| page.known_frame(frame)).transpose()?;
        Ok(ObjectPlace::Frame(frame.unwrap_or_else(|| page.main_frame().clone())))
    }

    /// The source of a function that runs the script's function. `first` is an expression for its first argument;
    /// `before` objects come before those of the argument. The script's code is evaluated in the global scope, so that it
    /// sees no name of ours.
    fn function(&self, first: &str, before: usize) -> String {
        let source =
            if self.is_function { format!("({})", self.expression) } else { self.expression.clone() };
        let source = json!(source);
        // A handle of a function that a text evaluates to is the function itself.
        let called = if self.is_function || !self.keep { "typeof given === \"function\"" } else { "false" };
        let write = if self.keep { "" } else { "writeValue" };
        let (asynchronous, wait) = if self.as_is { ("", "") } else { ("async ", "await ") };
        format!(
            "{asynchronous}function (argument, ...objects) {{ {VALUES}\nconst count = {before}; const given = (0, globalThis.eval)({source}); \
             const value = {called} ? given({first}readValue(argument, objects.slice(count))) \
             : given; return {write}({wait}value); }}"
        )
    }

    fn parsed_argument(&self) -> Result<Value, Failure> {
        let argument = self.argument.as_deref().unwrap_or("{\"v\":\"undefined\"}");
        serde_json::from_str(argument)
            .map_err(|error| Failure::new(ErrorCode::BadArgs, format!("`argument` is not JSON: {error}.")))
    }

    /// The elements of the locator, and the expression that passes them.
    async fn elements(
        &self,
        context: &Context,
        page: &Page,
        target: String,
    ) -> Result<(ObjectPlace, Vec<GivenObject>, &'static str), Failure> {
        let resolved = page.resolve(&TargetArguments { target, nth: None }, context.deadline).await?;
        let argument = json!({
            "spec": resolved.spec, "all": self.all, "keys": true, "wait": !self.now,
            "timeout": milliseconds_left(context.deadline),
        });
        let found: Found =
            page.call_again_in(&resolved.frame, "query", &argument, with_grace(context.deadline)).await?;
        if found.elements.len() > MOST_ELEMENTS {
            let message = format!(
                "The locator matches {} elements; {MOST_ELEMENTS} can be passed.",
                found.elements.len()
            );
            return Err(Failure::new(ErrorCode::BadArgs, message));
        }
        if found.elements.is_empty() && !self.all {
            return Err(Failure::new(ErrorCode::SelectorNotFound, "No element matches the locator."));
        }
        let element = |found: &FoundElement| GivenObject::Element(resolved.frame.clone(), found.key);
        let objects: Vec<GivenObject> = found.elements.iter().map(element).collect();
        let first = if self.all { "objects.slice(0, count), " } else { "objects[0], " };
        Ok((ObjectPlace::Frame(resolved.frame), objects, first))
    }
}

fn result_of(page: &Page, returned: ScriptReturn) -> Result<EvaluateResult, Failure> {
    let ScriptReturn { response, handle, element } = returned;
    let object = response.into_script_result()?;
    let Some(id) = handle else {
        let value = primitive(object);
        if value.to_string().len() > RESULT_BYTES {
            let message = format!("The result is larger than {RESULT_BYTES} bytes.");
            return Err(Failure::new(ErrorCode::BadArgs, message).with_remedy("Return less."));
        }
        return Ok(EvaluateResult { value, handle: None });
    };
    let (frame, worker) = match page.session().place_of_handle(id) {
        Some(ObjectPlace::Frame(frame)) => (frame.to_string(), None),
        Some(ObjectPlace::Worker(worker)) => (String::new(), Some(worker)),
        None => (String::new(), None),
    };
    let html = element.as_ref().and_then(|named| named.html.clone());
    let element = element.map(|named| page.mint(&named.frame, &named.document, named.key).to_string());
    let kept = KeptObject { id, preview: html.unwrap_or_else(|| preview(&object)), frame, worker, element };
    Ok(EvaluateResult { value: Value::Null, handle: Some(kept) })
}

/// A value without an object behind it, tagged where JSON cannot carry it.
fn primitive(object: ScriptValue) -> Value {
    match (object.value, object.unserializable) {
        (Some(value), _) => value,
        (None, Some(text)) => match text.strip_suffix('n') {
            Some(digits) if object.kind == "bigint" => json!({"b": digits}),
            _ => json!({"n": text}),
        },
        (None, None) => json!({"v": "undefined"}),
    }
}

/// A short text about an object, as `JSHandle.toString()` has it.
fn preview(object: &ScriptValue) -> String {
    let text = object.description.as_ref().or(object.class_name.as_ref()).unwrap_or(&object.kind);
    text.chars().take(PREVIEW_CHARACTERS).collect()
}

impl Render for EvaluateResult {
    fn render(&self) -> String {
        self.value.to_string()
    }
}
