//! What an action is: parameters, output, effect, and what it does. Everything that offers actions is made from this.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tabwire_policy::Needs;
use tabwire_wire::{ErrorCode, Failure};

use crate::bare_value::BareValue;
use crate::context::Context;
use crate::snapshot::bounded_failure;
use crate::suggestion::find_similar;
use crate::witness::Witness;

/// What an action does to the world, which decides who may ask for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// Looks and changes nothing.
    Read,
    /// Does what a person at the page could do.
    Act,
    /// Goes elsewhere, opens or closes tabs.
    Navigate,
    /// Runs code of the caller's in the page.
    Eval,
    /// Reads or writes files of this machine.
    Files,
}

impl Effect {
    /// The effect in one word, as schemas and the journal have it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Act => "act",
            Self::Navigate => "navigate",
            Self::Eval => "eval",
            Self::Files => "files",
        }
    }
}

/// A command line that shows what an action is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Example {
    /// What is typed.
    pub line: &'static str,
    /// What it does, as a sentence.
    pub does: &'static str,
}

impl Example {
    /// An example.
    #[must_use]
    pub const fn new(line: &'static str, does: &'static str) -> Self {
        Self { line, does }
    }
}

/// One thing an agent can ask for. The type itself holds its parameters.
pub trait Action: DeserializeOwned + Serialize + schemars::JsonSchema + clap::Args + Send + 'static {
    /// Its name everywhere: `tab_new`.
    const NAME: &'static str;
    /// What it does to the world.
    const EFFECT: Effect;
    /// Command lines that show what it is good for; a test reads each of them.
    const EXAMPLES: &'static [Example];
    /// What it answers.
    type Output: Serialize + schemars::JsonSchema + Render + Send;

    /// What it needs of the policy, computed from its parameters.
    fn needs(&self) -> Needs;

    /// Does it.
    ///
    /// # Errors
    /// With what happened, to what, and what to do next.
    fn run(self, context: &Context) -> impl Future<Output = Result<Self::Output, Failure>> + Send;
}

/// How an answer reads for people and models.
pub trait Render {
    /// The answer as text, without a line break at its end.
    fn render(&self) -> String;

    /// The answer's value alone, for scripts; none when the text is as good.
    fn bare(&self) -> Option<BareValue> {
        None
    }
}

/// An action's answer in both forms.
#[derive(Clone, Debug, PartialEq)]
pub struct Answered {
    /// As data.
    pub value: Value,
    /// As text.
    pub text: String,
    /// The value alone, when it is another than the text.
    pub bare: Option<BareValue>,
    /// What the user should know besides.
    pub notices: Vec<String>,
}

/// A future that is held by the registry.
type Running<'a> = std::pin::Pin<Box<dyn Future<Output = Result<Answered, Failure>> + Send + 'a>>;

/// An action as the registry lists it.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    /// Its name everywhere.
    pub name: &'static str,
    /// What it does to the world.
    pub effect: Effect,
    /// Command lines that show what it is good for.
    pub examples: &'static [Example],
    /// Adds its arguments and help to a command of the command line.
    pub arguments: fn(clap::Command) -> clap::Command,
    /// Reads its parameters from the command line.
    pub read_arguments: fn(&clap::ArgMatches) -> Result<Value, clap::Error>,
    /// The JSON schema of its parameters.
    pub parameters: fn() -> Value,
    /// The JSON schema of its answer.
    pub output: fn() -> Value,
    needs: fn(&Value) -> Result<Needs, Failure>,
    run: for<'a> fn(&'a Context, Value) -> Running<'a>,
}

impl Definition {
    /// The definition of an action.
    #[must_use]
    pub const fn of<A: Action>() -> Self {
        Self {
            name: A::NAME,
            effect: A::EFFECT,
            examples: A::EXAMPLES,
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
                        Failure::new(ErrorCode::Internal, format!("The answer cannot be written: {error}."))
                    })?;
                    let bare = context.wants_text.then(|| output.bare()).flatten();
                    let text = output.render();
                    Ok(Answered { value, text, bare, notices: Vec::new() })
                })
            },
        }
    }

    /// Parameters that the action accepts: the required ones, with plain values.
    #[must_use]
    pub fn sample_parameters(&self) -> Value {
        let schema = (self.parameters)();
        let definitions = schema.get("$defs").cloned().unwrap_or(Value::Null);
        crate::sample_parameters::sample(&schema, &definitions)
    }

    /// What the action needs of the policy with these parameters.
    ///
    /// # Errors
    /// With `BAD_ARGS` when the parameters are not the action's.
    pub fn needs(&self, params: &Value) -> Result<Needs, Failure> {
        (self.needs)(params)
    }

    /// Runs the action with parameters as they came in.
    ///
    /// # Errors
    /// With `BAD_ARGS` when the parameters are not the action's, or as the action fails.
    pub async fn run(&self, context: &Context, params: Value) -> Result<Answered, Failure> {
        self.check_names(&params)?;
        let witness = Box::pin(Witness::begin(context, self.name, &params)).await;
        let outcome = context.concealment.conceal((self.run)(context, params).await);
        let mut notices = Box::pin(context.browser.tell_lost_frames()).await;
        if let Some(witness) = witness {
            let told = outcome.as_ref().map(|answered| &answered.value);
            notices.extend(Box::pin(witness.finish(context, told)).await);
        }
        notices.extend(context.notices.take());
        outcome.map(|answered| Answered { notices, ..answered }).map_err(bounded_failure)
    }

    /// The action's name on the command line: `tab-new`.
    #[must_use]
    pub fn command_name(&self) -> String {
        self.name.replace('_', "-")
    }

    /// Refuses parameters the action does not have: a misspelt one must not be dropped silently.
    ///
    /// # Errors
    /// With `BAD_ARGS` and the parameters there are.
    pub fn check_names(&self, params: &Value) -> Result<(), Failure> {
        let given = match params {
            Value::Null => return Ok(()),
            Value::Object(given) if given.is_empty() => return Ok(()),
            Value::Object(given) => given,
            _ => {
                let message = format!("The parameters of {} are not given by name.", self.name);
                return Err(Failure::new(ErrorCode::BadArgs, message).with_hint(names_hint(&self.names())));
            }
        };
        let known = self.names();
        match given.keys().find(|name| !known.contains(name)) {
            None => Ok(()),
            Some(name) => {
                let message = format!("The action {} has no parameter `{name}`.", self.name);
                let meant = find_similar(name, known.iter().map(String::as_str));
                let meant = meant.map(|meant| format!("Did you mean `{meant}`? ")).unwrap_or_default();
                let hint = format!("{meant}{}", names_hint(&known));
                Err(Failure::new(ErrorCode::BadArgs, message).with_hint(hint))
            }
        }
    }

    /// The names of its parameters. Written out once: making the schema takes longer than many an action.
    fn names(&self) -> Arc<[String]> {
        static KNOWN: Mutex<BTreeMap<&'static str, Arc<[String]>>> = Mutex::new(BTreeMap::new());
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(known.entry(self.name).or_insert_with(|| names_in(&(self.parameters)()).into()))
    }
}

fn names_in(schema: &Value) -> Vec<String> {
    let known = schema.get("properties").and_then(Value::as_object);
    known.map(|known| known.keys().cloned().collect()).unwrap_or_default()
}

fn names_hint(known: &[String]) -> String {
    if known.is_empty() {
        "It takes none.".to_owned()
    } else {
        format!("Its parameters are: {}.", known.join(", "))
    }
}

fn read<A: Action>(name: &str, params: &Value) -> Result<A, Failure> {
    let empty = Value::Object(serde_json::Map::new());
    let params = if params.is_null() { &empty } else { params };
    A::deserialize(params).map_err(|error| {
        let whose = match culprit::<A>(params, &error.to_string()) {
            Some(parameter) => format!("The parameter `{parameter}` of {name} is not valid"),
            None => format!("The parameters of {name} are not valid"),
        };
        let names = names_hint(&names_in(&schemars::schema_for!(A).to_value()));
        Failure::new(ErrorCode::BadArgs, format!("{whose}: {error}."))
            .with_hint(format!("{names} Run `tabwire {} --help` for what they mean.", name.replace('_', "-")))
    })
}

/// The parameter that the complaint is about: one of another kind than the action takes, else one without which there
/// is another complaint, or none.
fn culprit<A: Action>(params: &Value, complaint: &str) -> Option<String> {
    let given = params.as_object()?;
    let schema = schemars::schema_for!(A).to_value();
    let is_misfit =
        |(name, value): &(&String, &Value)| !fits(schema.pointer(&format!("/properties/{name}/type")), value);
    if let Some((name, _)) = given.iter().find(is_misfit) {
        return Some(name.clone());
    }
    let is_it = |name: &&String| {
        let mut others = given.clone();
        others.remove(*name);
        A::deserialize(Value::Object(others)).err().is_none_or(|other| other.to_string() != complaint)
    };
    given.keys().find(is_it).cloned()
}

/// Whether a value is of a kind that a schema names; one that names none takes all.
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
