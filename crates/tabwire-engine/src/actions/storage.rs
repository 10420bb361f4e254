//! `storage`: lists, shows, sets and removes local or session storage keys of the page's origin.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tabwire_api::{ErrorCode, Failure, Remedy, Step, count};
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::result::BareValue;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions, ToolResult};
use crate::limits::RESULT_BYTES;
use crate::snapshot::PageText;

/// List, show, set and remove local or session storage keys of the page's origin.
///
/// Values are often secrets: `list` shows them only with --values, `get` shows one value.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Storage {
    /// Which storage.
    #[arg(value_enum)]
    area: Area,
    /// What to do.
    #[arg(value_enum, default_value_t)]
    #[serde(default)]
    verb: Verb,
    /// The key, for get, set and remove.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "text"))]
    key: Option<String>,
    /// The value to set.
    #[arg(allow_hyphen_values = true)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "text", "x-secret" = "secret"))]
    value: Option<String>,
    /// Show values in a list.
    #[arg(long)]
    #[serde(default)]
    #[schemars(extend("x-secret" = "reveals"))]
    values: bool,
}

/// A storage of an origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Area {
    /// Kept until it is removed.
    Local,
    /// Kept as long as the tab.
    Session,
}

/// What to do with a storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verb {
    /// List the keys.
    #[default]
    List,
    /// Show one value.
    Get,
    /// Set one.
    Set,
    /// Remove one.
    Remove,
    /// Remove all.
    Clear,
}

/// One key of a storage.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Entry {
    /// The key.
    key: String,
    /// The value, if it was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    /// The length of the value in bytes.
    bytes: usize,
}

/// The result of an action on a storage.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct StorageResult {
    /// The storage's origin.
    origin: String,
    /// Which storage.
    area: Area,
    /// What was done.
    verb: Verb,
    /// The keys that were found, set or removed.
    entries: Vec<Entry>,
    /// Whether values were left out because the result would be too long; get them one by one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    values_left_out: bool,
}

#[derive(Deserialize)]
struct AgentStorage {
    origin: String,
    entries: Vec<AgentEntry>,
    before: bool,
}

#[derive(Deserialize)]
struct AgentEntry {
    key: String,
    value: String,
}

impl Action for Storage {
    const NAME: &'static str = "storage";
    const EFFECT: Effect = Effect::Act;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire storage local", "List the keys of the local storage."),
        Example::new("tabwire storage local get theme --raw", "Print one value for a script."),
        Example::new("tabwire storage session set step 2", "Set one."),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::State).returning(ToolResult::Data);
    const HAS_SECRET_RESULT: bool = true;
    type Output = StorageResult;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Act)
    }

    async fn run(self, context: &Context) -> Result<StorageResult, Failure> {
        self.check()?;
        let page = context.page().await?;
        let argument = json!({"area": self.area, "verb": self.verb, "key": self.key, "value": self.value});
        let stored: AgentStorage = page.call("storage", &argument, context.deadline).await?;
        let key = self.key.as_deref().unwrap_or_default();
        if !stored.before && matches!(self.verb, Verb::Get | Verb::Remove) {
            let message = format!("The storage of {} has no key {key:?}.", stored.origin);
            let list = Step::action("storage").with("area", self.area.word());
            let remedy = Remedy::new("Run {} for its keys.", [list]);
            return Err(Failure::new(ErrorCode::NotActionable, message).with_remedy(remedy));
        }
        let total: usize = stored.entries.iter().map(|entry| entry.value.len()).sum();
        let with_values = self.verb == Verb::Get || (self.verb == Verb::List && self.values);
        let values_left_out = with_values && self.verb == Verb::List && total > RESULT_BYTES;
        let mut entries: Vec<Entry> = stored
            .entries
            .into_iter()
            .map(|entry| Entry {
                bytes: entry.value.len(),
                value: (with_values && !values_left_out).then_some(entry.value),
                key: entry.key,
            })
            .collect();
        entries.sort_by(|one, other| one.key.cmp(&other.key));
        if self.verb == Verb::Remove {
            entries.push(Entry { key: key.to_owned(), value: None, bytes: 0 });
        }
        Ok(StorageResult {
            origin: stored.origin,
            area: self.area,
            verb: self.verb,
            entries,
            values_left_out,
        })
    }
}

impl Storage {
    /// Rejects parameters that do not fit the verb.
    fn check(&self) -> Result<(), Failure> {
        let (wants_key, wants_value) = match self.verb {
            Verb::List | Verb::Clear => (false, false),
            Verb::Get | Verb::Remove => (true, false),
            Verb::Set => (true, true),
        };
        let message = match (self.key.is_some(), self.value.is_some()) {
            (false, _) if wants_key => "it needs a key",
            (true, _) if !wants_key => "it takes no key",
            (_, false) if wants_value => "it needs a value",
            (_, true) if !wants_value => "it takes no value",
            _ => return Ok(()),
        };
        Err(Failure::new(ErrorCode::BadArgs, format!("Invalid parameters for this verb: {message}."))
            .with_remedy(
                "`get` and `remove` take a key, `set` a key and a value, `list` and `clear` neither.",
            ))
    }
}

impl Area {
    const fn word(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Session => "session",
        }
    }
}

impl Render for StorageResult {
    fn render(&self) -> String {
        let place = format!("{} storage of {}", self.area.word(), self.origin);
        let mut lines = vec![match self.verb {
            Verb::List if self.entries.is_empty() => format!("{place}: empty"),
            Verb::List | Verb::Get => format!("{place}:"),
            Verb::Set => format!("set in {place}:"),
            Verb::Remove => format!("removed from {place}:"),
            Verb::Clear => format!("cleared {place}: {}", count(self.entries.len(), "key")),
        }];
        if self.verb != Verb::Clear {
            lines.extend(self.entries.iter().map(|entry| {
                let key = PageText::new(&entry.key);
                match (&entry.value, self.verb) {
                    // Invisible and control characters are escaped.
                    (Some(value), _) => format!("{} = {value:?}", key.quoted()),
                    (None, Verb::Remove) => key.quoted().to_string(),
                    (None, _) => format!("{} [{} bytes]", key.quoted(), entry.bytes),
                }
            }));
        }
        if self.values_left_out {
            lines.push("(the values are too long to list; get them one by one)".to_owned());
        }
        lines.join("\n")
    }

    fn bare(&self) -> Option<BareValue> {
        let entries = self.entries.iter();
        match self.verb {
            Verb::Get => Some(BareValue::lines(entries.map(|entry| entry.value.clone().unwrap_or_default()))),
            Verb::List => Some(BareValue::lines(entries.map(|entry| entry.key.clone()))),
            Verb::Set | Verb::Remove | Verb::Clear => None,
        }
    }
}
