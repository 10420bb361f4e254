//! `state`: saves cookies and local storage to a file, and loads them from one.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_api::{ErrorCode, Failure, Remedy, Step, count};
use tabwire_policy::{Capability, Needs, Scope};

use crate::action::context::Context;
use crate::action::output::OutputArguments;
use crate::action::result::BareValue;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::browser::visited_origins::origin_of;
use crate::files::FileKind;
use crate::storage::bytes::run_blocking;
use crate::storage::collect::{RestoreReport, SkippedItem, StateCollector};
use crate::storage::state::SavedState;
use tabwire_secrets::{Passphrase, is_sealed, open_state, seal_state};

/// Save cookies and local storage to a file, or load them from one.
///
/// The format is Playwright's storage state. The file gives access to every site with a login in it: encrypt it with a
/// passphrase. It does not include session storage and databases.
// No `Debug`: it may hold a passphrase.
#[derive(Clone, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct State {
    /// What to do.
    #[arg(value_enum)]
    verb: Verb,
    /// The file; for save, a new one in Tabwire's state directory by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "file_written_or_given"))]
    path: Option<String>,
    #[command(flatten)]
    #[serde(flatten)]
    output: OutputArguments,
    /// For save: save the local storage of this origin too, in addition to visited origins; may be repeated.
    #[arg(long = "origin", value_name = "URL")]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-carries" = "origin"))]
    origins: Vec<String>,
    /// Encrypt or decrypt the state with the passphrase on the first line of this file.
    #[arg(long, value_name = "FILE")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "file_read", "x-log" = "hidden"))]
    passphrase_file: Option<String>,
    /// For save: encrypt the file with a passphrase; a terminal prompts for it unless `passphrase_file` is given.
    #[arg(long)]
    #[serde(default)]
    encrypt: bool,
    /// The passphrase itself. A terminal prompts for it; a file keeps it out of shell histories.
    #[arg(skip)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "text", "x-secret" = "secret"))]
    passphrase: Option<String>,
    /// For load: first remove all cookies, and the local storage of the origins in the file.
    #[arg(long)]
    #[serde(default)]
    replace: bool,
}

/// What to do with the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verb {
    /// Write it to a file.
    Save,
    /// Load it from a file.
    Load,
}

/// What was saved or loaded.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct StateResult {
    /// What was done.
    verb: Verb,
    /// The file.
    path: String,
    /// Whether the file is encrypted.
    sealed: bool,
    /// How many cookies.
    cookies: usize,
    /// The origins whose local storage was saved or loaded.
    origins: Vec<String>,
    /// How many local storage keys.
    entries: usize,
    /// Expired cookies in the file, which are not loaded.
    #[serde(skip_serializing_if = "is_none")]
    expired: usize,
    /// What could not be saved or loaded, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<SkippedItem>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
const fn is_none(count: &usize) -> bool {
    *count == 0
}

impl Action for State {
    const NAME: &'static str = "state";
    const EFFECT: Effect = Effect::Files;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire state save login.json", "Save cookies and local storage.").in_skill(),
        Example::new("tabwire state load login.json", "Load them, e.g. in another session."),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::State).hiding(&["passphrase", "output", "force"]);
    type Output = StateResult;

    fn needs(&self) -> Needs {
        let file = match self.verb {
            Verb::Save => Capability::Download,
            Verb::Load => Capability::Upload,
        };
        let needs = Needs::every_site(&[Capability::Read, Capability::Act, file]);
        let needs = needs.and_if(self.output.is_some(), Capability::Download, Scope::Page);
        self.origins
            .iter()
            .fold(needs, |needs, origin| needs.and(Capability::Act, Scope::Url(origin.clone())))
    }

    async fn run(self, context: &Context) -> Result<StateResult, Failure> {
        match self.verb {
            Verb::Save => self.save(context).await,
            Verb::Load => self.load(context).await,
        }
    }
}

impl State {
    async fn save(&self, context: &Context) -> Result<StateResult, Failure> {
        if self.replace {
            return Err(bad("`replace` is only for `load`.", "Leave it out."));
        }
        if self.path.is_some() && self.output.is_some() {
            return Err(bad("`path` and `output` name the same file.", "Give one of them."));
        }
        let named = self.origins.iter().map(|url| {
            let hint = "Give it as https://host or https://host:port.";
            origin_of(url).ok_or_else(|| bad(&format!("{url:?} is not an http or https URL."), hint))
        });
        let named: Vec<String> = named.collect::<Result<_, _>>()?;
        let passphrase = self.passphrase(context)?;
        if self.encrypt && passphrase.is_none() {
            return Err(bad("`encrypt` needs a passphrase.", passphrase_remedy()));
        }
        let page = context.page().await?;
        let keeper = StateCollector { browser: &context.browser, page: &page, deadline: context.deadline };
        let (state, left_out) = keeper.collect(&named).await?;
        let mut content = state.write()?;
        let sealed = passphrase.is_some();
        if let Some(passphrase) = passphrase {
            content = run_blocking(move || seal_state(&content, &passphrase)).await?;
        }
        let output = self.path.as_deref().map(Path::new).or(self.output.path());
        let path = self.output.files(context).write(FileKind::State, output, "state.json", &content)?;
        Ok(StateResult {
            verb: self.verb,
            path: path.display().to_string(),
            sealed,
            cookies: state.cookies.len(),
            entries: state.origins.iter().map(|origin| origin.local_storage.len()).sum(),
            origins: state.origins.into_iter().map(|origin| origin.origin).collect(),
            expired: 0,
            left_out,
        })
    }

    async fn load(&self, context: &Context) -> Result<StateResult, Failure> {
        if self.output.is_some() {
            return Err(bad("`output` is only for `save`.", "Name the file to load after `load`."));
        }
        let Some(path) = &self.path else {
            return Err(bad("`load` needs the file to load.", "Add the file."));
        };
        if self.encrypt {
            return Err(bad(
                "`encrypt` is only for `save`.",
                "Leave it out; `load` detects encrypted files.",
            ));
        }
        if !self.origins.is_empty() {
            return Err(bad("`origins` is only for `save`.", "Leave it out; `load` loads the whole file."));
        }
        let passphrase = self.passphrase(context)?;
        let content = context.files.read(Path::new(path))?;
        let sealed = is_sealed(&content);
        let content = match (sealed, passphrase) {
            (false, None) => content,
            (true, Some(passphrase)) => run_blocking(move || open_state(&content, &passphrase)).await?,
            (true, None) => {
                return Err(bad("The file is encrypted with a passphrase.", passphrase_remedy()));
            }
            (false, Some(_)) => {
                return Err(bad(
                    "The file is not encrypted.",
                    Remedy::new("Leave {} out.", [Step::argument("passphrase_file")]),
                ));
            }
        };
        let state = SavedState::read(&content)?;
        let page = context.page().await?;
        let keeper = StateCollector { browser: &context.browser, page: &page, deadline: context.deadline };
        let RestoreReport { cookies, entries, origins, expired, left_out } =
            keeper.restore(&state, self.replace).await?;
        let path = path.clone();
        Ok(StateResult { verb: self.verb, path, sealed, cookies, entries, origins, expired, left_out })
    }

    fn passphrase(&self, context: &Context) -> Result<Option<Passphrase>, Failure> {
        match (&self.passphrase_file, &self.passphrase) {
            (Some(path), _) => Passphrase::from_file(&context.files.read(Path::new(path))?).map(Some),
            (None, Some(text)) => Passphrase::from_file(text.as_bytes()).map(Some),
            (None, None) => Ok(None),
        }
    }
}

fn passphrase_remedy() -> Remedy {
    Remedy::new("Give a file with {}, or run the command in a terminal.", [Step::argument("passphrase_file")])
}

fn bad(message: &str, remedy: impl Into<Remedy>) -> Failure {
    Failure::new(ErrorCode::BadArgs, message).with_remedy(remedy)
}

impl Render for StateResult {
    fn render(&self) -> String {
        let (did, place) = match self.verb {
            Verb::Save => ("saved", "to"),
            Verb::Load => ("loaded", "from"),
        };
        let seal = if self.sealed { " (sealed)" } else { "" };
        let mut lines = vec![format!(
            "{did} {} and {} of local storage {place} {}{seal}",
            count(self.cookies, "cookie"),
            count(self.entries, "key"),
            self.path
        )];
        lines.extend(self.origins.iter().map(|origin| format!("local storage of {origin}")));
        if self.expired > 0 {
            lines.push(format!("left out because they had expired: {}", count(self.expired, "cookie")));
        }
        lines.extend(self.left_out.iter().map(|left| format!("left out: {}: {}", left.what, left.why)));
        match self.verb {
            Verb::Save if !self.sealed => lines.push("The file holds logins: keep it secret.".to_owned()),
            Verb::Load => lines.push("Open pages use it after `reload`.".to_owned()),
            Verb::Save => {}
        }
        lines.join("\n")
    }

    fn bare(&self) -> Option<BareValue> {
        Some(BareValue::whole(self.path.clone()))
    }
}
