//! The trait that every action implements, and its definition in the registry.
//!
//! Command line, HTTP API, MCP tools, policy, audit log and reference pages are made from the definitions.

pub(crate) mod arguments;
pub(crate) mod catalogue;
pub(crate) mod context;
pub(crate) mod output;
mod parameter;
pub(crate) mod registry;
pub(crate) mod result;
pub(crate) mod sample_parameters;
mod session;
pub(crate) mod suggestion;
mod table;
mod tool;
pub(crate) mod typescript;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tabwire_api::{ErrorCode, Failure, Remedy, Step, TabId};
use tabwire_policy::Needs;

use self::parameter::read_parameters;
use crate::action::context::Context;
use crate::action::result::BareValue;
use crate::action::suggestion::find_similar;
use crate::browser::selected_frame::with_lost_frames;
use crate::capture::recorder::CaptureRecorder;
use crate::snapshot::bounded_failure;

pub use self::parameter::{Parameter, Secrecy};
pub use self::session::{
    Close, ContextSet, Open, SESSION_ACTIONS, SessionAction, SessionList, SessionParameters, SessionRename,
    TabLease, TabRelease,
};
pub use self::table::{CellFormat, Column, ResultTable};
pub use self::tool::{ToolGroup, ToolOptions, ToolResult};

/// What an action does to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// Reads and changes nothing.
    Read,
    /// Does what a user of the page could do.
    Act,
    /// Navigates, opens or closes tabs.
    Navigate,
    /// Runs the caller's code in the page.
    Eval,
    /// Reads or writes files of this machine.
    Files,
    /// Changes or reports sessions.
    Session,
}

impl Effect {
    /// The effect's name in schemas and in the audit log.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Act => "act",
            Self::Navigate => "navigate",
            Self::Eval => "eval",
            Self::Files => "files",
            Self::Session => "session",
        }
    }
}

/// What an action does with the session's tabs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TabUse {
    /// Runs in the client's current tab, or in the one the request names.
    #[default]
    Current,
    /// Opens a tab, which becomes the client's current one.
    Opens,
    /// Makes the tab that its parameters name the client's current one.
    Selects,
    /// Closes the tab that its parameters name.
    Closes,
    /// Lists the tabs.
    Lists,
    /// Selects a frame of the current tab for later actions.
    SelectsFrame,
}

impl TabUse {
    /// Whether the action runs in one tab, which a request can name.
    #[must_use]
    pub const fn runs_in_tab(self) -> bool {
        matches!(self, Self::Current | Self::SelectsFrame)
    }

    /// Whether the client's current tab is another one afterwards.
    #[must_use]
    pub const fn changes_current(self) -> bool {
        matches!(self, Self::Opens | Self::Selects)
    }
}

/// A command line that shows an action's use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Example {
    /// The command line.
    pub line: &'static str,
    /// What it does, as a sentence.
    pub does: &'static str,
    /// Whether the skill text for coding agents shows it.
    #[serde(skip)]
    pub is_in_skill: bool,
}

impl Example {
    /// An example.
    #[must_use]
    pub const fn new(line: &'static str, does: &'static str) -> Self {
        Self { line, does, is_in_skill: false }
    }

    /// The same, shown in the skill text for coding agents too.
    #[must_use]
    pub const fn in_skill(mut self) -> Self {
        self.is_in_skill = true;
        self
    }
}

/// An action on a page. The type itself holds its parameters.
///
/// Doc comments of the type and its fields are the help of the command line and the descriptions of the MCP tool.
/// Attributes of a field say what its text can be and what the audit log shows of it: see `action/parameter.rs`.
pub trait Action: DeserializeOwned + Serialize + schemars::JsonSchema + clap::Args + Send + 'static {
    /// Its name in every front end: `tab_new`.
    const NAME: &'static str;
    /// What it does to the world.
    const EFFECT: Effect;
    /// Command lines that show its use. A test parses each of them.
    const EXAMPLES: &'static [Example];
    /// How MCP clients see it.
    const TOOL: ToolOptions;
    /// Other names on the command line.
    const ALIASES: &'static [&'static str] = &[];
    /// What it does with the session's tabs.
    const TAB: TabUse = TabUse::Current;
    /// The table that a terminal shows for its result; the result's text if absent.
    const TABLE: Option<ResultTable> = None;
    /// Whether its result is made of secrets, so that captures leave it out.
    const HAS_SECRET_RESULT: bool = false;
    /// Its result.
    type Output: Serialize + schemars::JsonSchema + Render + Send;

    /// What it needs of the policy, computed from its parameters.
    fn needs(&self) -> Needs;

    /// Runs it.
    ///
    /// # Errors
    /// With what happened, to what, and what to do next.
    fn run(self, context: &Context) -> impl Future<Output = Result<Self::Output, Failure>> + Send;
}

/// A result as text, for terminals and models.
pub trait Render {
    /// The result as text, without a line break at its end.
    fn render(&self) -> String;

    /// The result's value alone, for scripts; none if it is the same as the text.
    fn bare(&self) -> Option<BareValue> {
        None
    }
}

/// An action's result as data and as text.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionOutput {
    /// As data.
    pub value: Value,
    /// As text.
    pub text: String,
    /// The value alone, if it differs from the text.
    pub bare: Option<BareValue>,
    /// Notices for the user.
    pub notices: Vec<String>,
}

/// The future of a running action.
type ActionFuture<'a> = std::pin::Pin<Box<dyn Future<Output = Result<ActionOutput, Failure>> + Send + 'a>>;

/// Where an action runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActionKind {
    /// In a page of the session's browser.
    Page,
    /// In the daemon, which starts the session's browser and opens a URL in it.
    Open,
    /// In the daemon, on a session.
    Session(SessionAction),
}

/// Parameters whose names were checked.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedParams(Value);

impl CheckedParams {
    /// The parameters.
    #[must_use]
    pub const fn as_value(&self) -> &Value {
        &self.0
    }

    /// Sets a parameter that the action has.
    pub fn set(&mut self, name: &str, value: Value) {
        if self.0.is_null() {
            self.0 = Value::Object(serde_json::Map::new());
        }
        self.0[name] = value;
    }
}

/// An action in the registry.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    /// Its name in every front end.
    pub name: &'static str,
    /// Where it runs.
    pub kind: ActionKind,
    /// What it does to the world.
    pub effect: Effect,
    /// Command lines that show its use.
    pub examples: &'static [Example],
    /// How MCP clients see it; an action on a session is no tool.
    pub tool: Option<ToolOptions>,
    /// Other names on the command line.
    pub aliases: &'static [&'static str],
    /// What it does with the session's tabs.
    pub tab: TabUse,
    /// The table that a terminal shows for its result.
    pub table: Option<ResultTable>,
    /// Whether its result is made of secrets.
    pub has_secret_result: bool,
    /// The command that runs an action on a session.
    command: Option<&'static str>,
    /// Adds its arguments and help to a command of the command line.
    pub arguments: fn(clap::Command) -> clap::Command,
    /// Reads its parameters from the command line.
    pub read_arguments: fn(&clap::ArgMatches) -> Result<Value, clap::Error>,
    /// The JSON schema of its parameters.
    pub parameters: fn() -> Value,
    /// The JSON schema of its result.
    pub output: fn() -> Value,
    needs: fn(&Value) -> Result<Needs, Failure>,
    run: for<'a> fn(&'a Context, Value) -> ActionFuture<'a>,
}

impl Definition {
    /// The definition of an action on a page.
    #[must_use]
    pub const fn of<A: Action>() -> Self {
        Self {
            name: A::NAME,
            kind: ActionKind::Page,
            effect: A::EFFECT,
            examples: A::EXAMPLES,
            tool: Some(A::TOOL),
            aliases: A::ALIASES,
            tab: A::TAB,
            table: A::TABLE,
            has_secret_result: A::HAS_SECRET_RESULT,
            command: None,
            arguments: A::augment_args,
            read_arguments: |matches| {
                let action = A::from_arg_matches(matches)?;
                Ok(serde_json::to_value(action).unwrap_or(Value::Null))
            },
            parameters: || schemars::schema_for!(A).to_value(),
            output: || schemars::schema_for!(A::Output).to_value(),
            needs: |params| read::<A>(A::NAME, params).map(|action| action.needs()),
            run: |context, params| {
                Box::pin(async move {
                    let action: A = read(A::NAME, &params)?;
                    let output = action.run(context).await?;
                    let value = serde_json::to_value(&output).map_err(|error| {
                        let message = format!("The result cannot be written as JSON: {error}.");
                        Failure::new(ErrorCode::Internal, message)
                    })?;
                    let bare = context.wants_text.then(|| output.bare()).flatten();
                    let text = output.render();
                    Ok(ActionOutput { value, text, bare, notices: Vec::new() })
                })
            },
        }
    }

    /// The definition of an action on a session.
    #[must_use]
    pub const fn of_session<P: SessionParameters>() -> Self {
        Self {
            name: P::NAME,
            kind: P::KIND,
            effect: P::EFFECT,
            examples: P::EXAMPLES,
            tool: None,
            aliases: &[],
            tab: TabUse::Current,
            table: None,
            has_secret_result: false,
            command: Some(P::COMMAND),
            arguments: |command| command,
            read_arguments: |_| Ok(Value::Null),
            parameters: || schemars::schema_for!(P).to_value(),
            output: || serde_json::json!({"type": "object"}),
            needs: |params| read::<P>(P::NAME, params).map(|action| action.needs()),
            run: |_, _| {
                let message = format!("The daemon runs {}; the engine cannot.", P::NAME);
                Box::pin(std::future::ready(Err(Failure::new(ErrorCode::Internal, message))))
            },
        }
    }

    /// Parameters that the action accepts: the required ones, with plain values.
    #[must_use]
    pub fn sample_parameters(&self) -> Value {
        let schema = (self.parameters)();
        let definitions = schema.get("$defs").cloned().unwrap_or(Value::Null);
        sample_parameters::sample(&schema, &definitions)
    }

    /// What the action needs of the policy with these parameters.
    ///
    /// # Errors
    /// With `BAD_ARGS` when the parameters are not the action's.
    pub fn needs(&self, params: &Value) -> Result<Needs, Failure> {
        (self.needs)(params)
    }

    /// Checks the names of parameters, then runs the action.
    ///
    /// # Errors
    /// With `BAD_ARGS` when a parameter is not valid, or as the action fails.
    pub async fn run(&self, context: &Context, params: Value) -> Result<ActionOutput, Failure> {
        self.run_checked(context, self.check(params)?).await
    }

    /// Runs the action with parameters whose names were checked.
    ///
    /// # Errors
    /// With `BAD_ARGS` when a parameter is not valid, or as the action fails.
    pub async fn run_checked(
        &self,
        context: &Context,
        params: CheckedParams,
    ) -> Result<ActionOutput, Failure> {
        let CheckedParams(params) = params;
        let recorder = Box::pin(CaptureRecorder::begin(context, self.name, &params)).await;
        let outcome = context.redactor.redact((self.run)(context, params).await);
        let mut notices = Box::pin(context.browser.forget_lost_frames()).await;
        let outcome = outcome.map_err(|failure| with_lost_frames(failure, &notices));
        if let Some(recorder) = recorder {
            let result = outcome.as_ref().map(|output| &output.value);
            notices.extend(Box::pin(recorder.finish(context, result)).await);
        }
        notices.extend(context.notices.take());
        outcome.map(|output| ActionOutput { notices, ..output }).map_err(bounded_failure)
    }

    /// The tab that the parameters name, for an action on tabs.
    #[must_use]
    pub fn named_tab(&self, params: &Value) -> Option<TabId> {
        let list = self.parameter_list();
        let parameter = list.iter().find(|parameter| parameter.carries("tab"))?;
        params.get(&parameter.name)?.as_str()?.parse().ok()
    }

    /// The action's name on the command line: `tab-new`, `session start`.
    #[must_use]
    pub fn command_name(&self) -> String {
        self.command.map_or_else(|| self.name.replace('_', "-"), str::to_owned)
    }

    /// Checks the names of parameters, so that a misspelt one is not dropped silently.
    ///
    /// # Errors
    /// With `BAD_ARGS` and the names that the action has.
    pub fn check(&self, params: Value) -> Result<CheckedParams, Failure> {
        let known = self.parameter_list();
        let names = || known.iter().map(|parameter| parameter.name.as_str());
        let given = match &params {
            Value::Null => return Ok(CheckedParams(params)),
            Value::Object(given) => given,
            _ => {
                let message = format!("The parameters of {} must be an object.", self.name);
                return Err(Failure::new(ErrorCode::BadArgs, message).with_remedy(names_hint(names())));
            }
        };
        match given.keys().find(|name| !names().any(|known| known == name.as_str())) {
            None => Ok(CheckedParams(params)),
            Some(name) => {
                let message = format!("The action {} has no parameter `{name}`.", self.name);
                let similar = find_similar(name, names());
                let similar = similar.map(|name| format!("Did you mean `{name}`? ")).unwrap_or_default();
                let remedy = format!("{similar}{}", names_hint(names()));
                Err(Failure::new(ErrorCode::BadArgs, message).with_remedy(remedy))
            }
        }
    }

    /// Its parameters. Cached: making the schema takes longer than many actions.
    #[must_use]
    pub fn parameter_list(&self) -> Arc<[Parameter]> {
        static READ: Mutex<BTreeMap<&'static str, Arc<[Parameter]>>> = Mutex::new(BTreeMap::new());
        let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
        let list = read.entry(self.name).or_insert_with(|| read_parameters(&(self.parameters)()).into());
        Arc::clone(list)
    }
}

fn names_hint<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    if names.is_empty() {
        "It takes no parameters.".to_owned()
    } else {
        format!("Its parameters are: {}.", names.join(", "))
    }
}

fn read<A: DeserializeOwned + schemars::JsonSchema>(name: &str, params: &Value) -> Result<A, Failure> {
    let empty = Value::Object(serde_json::Map::new());
    let params = if params.is_null() { &empty } else { params };
    A::deserialize(params).map_err(|error| {
        let schema = schemars::schema_for!(A).to_value();
        let error_without = |others: &Value| A::deserialize(others).err().map(|error| error.to_string());
        wrong_parameters(name, params, &schema, &error.to_string(), &error_without)
    })
}

/// `error_without` is the error of the parameters without one of them.
fn wrong_parameters(
    name: &str,
    params: &Value,
    schema: &Value,
    error: &str,
    error_without: &dyn Fn(&Value) -> Option<String>,
) -> Failure {
    let whose = match find_faulty(params, schema, error, error_without) {
        Some(parameter) => format!("The parameter `{parameter}` of {name} is not valid"),
        None => format!("The parameters of {name} are not valid"),
    };
    let names = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let names = names_hint(names.map(|(name, _)| name.as_str()));
    let remedy = Remedy::new(format!("{names} See {{}}."), [Step::usage(name)]);
    Failure::new(ErrorCode::BadArgs, format!("{whose}: {error}.")).with_remedy(remedy)
}

/// Finds the parameter that serde's error is about: one of the wrong type, else one whose removal changes the error.
fn find_faulty(
    params: &Value,
    schema: &Value,
    error: &str,
    error_without: &dyn Fn(&Value) -> Option<String>,
) -> Option<String> {
    let given = params.as_object()?;
    let is_wrong_type =
        |(name, value): &(&String, &Value)| !fits(schema.pointer(&format!("/properties/{name}/type")), value);
    if let Some((name, _)) = given.iter().find(is_wrong_type) {
        return Some(name.clone());
    }
    let is_it = |name: &&String| {
        let mut others = given.clone();
        others.remove(*name);
        error_without(&Value::Object(others)).is_none_or(|other| other != error)
    };
    given.keys().find(is_it).cloned()
}

/// Whether a value has one of the schema's types. A schema without types accepts every value.
fn fits(kinds: Option<&Value>, value: &Value) -> bool {
    let is_kind = |kind: &Value| match kind.as_str() {
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        Some("null") => value.is_null(),
        _ => true,
    };
    match kinds {
        None => true,
        Some(Value::Array(kinds)) => kinds.iter().any(is_kind),
        Some(kind) => is_kind(kind),
    }
}
