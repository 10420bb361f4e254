//! `init_script`: adds, removes and lists scripts that run before a page's own scripts.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_policy::{Capability, Needs, Scope};

use crate::action::context::Context;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::page::Page;
use crate::snapshot::PageText;

/// Characters of an init script in a list.
const INIT_SCRIPT_SHOWN: usize = 80;

/// Add, remove or list scripts that run in every document of the tab before its own.
///
/// They run in the page's main world, in frames too, from the next document on.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct InitScript {
    /// What to do.
    #[arg(value_enum, default_value_t)]
    #[serde(default)]
    verb: Verb,
    /// For add, the script; for remove, its id.
    #[arg(value_name = "SCRIPT|ID", allow_hyphen_values = true)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "code"))]
    script: Option<String>,
    /// For add: a file with the script.
    #[arg(long)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "file_given"))]
    file: Option<String>,
    /// For remove: all of them.
    #[arg(long)]
    #[serde(default)]
    all: bool,
}

/// What to do with init scripts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verb {
    /// List them.
    #[default]
    List,
    /// Add one.
    Add,
    /// Remove one, or all.
    Remove,
}

/// An init script.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ScriptView {
    /// Its id, for removing it.
    id: String,
    /// Its beginning.
    begins: String,
    /// How long it is.
    bytes: usize,
}

/// Init scripts, and what was done with them.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ScriptsResult {
    /// What was done.
    verb: Verb,
    /// The id of the script that was added.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// The scripts now, in the order they run.
    scripts: Vec<ScriptView>,
}

impl Action for InitScript {
    const NAME: &'static str = "init_script";
    const EFFECT: Effect = Effect::Eval;
    const EXAMPLES: &'static [Example] = &[
        Example::new(
            "tabwire init-script add 'window.isTest = true'",
            "Run a script in every new document before its own.",
        ),
        Example::new("tabwire init-script remove --all", "Remove all init scripts."),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Emulate);
    type Output = ScriptsResult;

    fn needs(&self) -> Needs {
        // The scripts run in every document that the tab loads later, on any site.
        Needs::every_site(&[Capability::Eval]).and_if(
            self.file.is_some(),
            Capability::Upload,
            Scope::EverySite,
        )
    }

    async fn run(self, context: &Context) -> Result<ScriptsResult, Failure> {
        let source = self.source(context)?;
        let page = context.page().await?;
        let mut id = None;
        match self.verb {
            Verb::List => {}
            Verb::Add => {
                let number = page.add_init_script(&source.unwrap_or_default(), context.deadline).await?;
                id = Some(format!("s{number}"));
            }
            Verb::Remove => self.remove(context, &page).await?,
        }
        let listed = page.unless_blocked(async { Ok(page.state().init_scripts().lock().await) }).await?;
        let view = |(number, source): (u32, &str)| ScriptView {
            id: format!("s{number}"),
            begins: PageText::cut(source, INIT_SCRIPT_SHOWN).as_str().to_owned(),
            bytes: source.len(),
        };
        Ok(ScriptsResult { verb: self.verb, id, scripts: listed.iter().map(view).collect() })
    }
}

impl InitScript {
    /// The script to add; rejects parameters that exclude each other.
    fn source(&self, context: &Context) -> Result<Option<String>, Failure> {
        let all = self.all && self.verb != Verb::Remove;
        match (self.verb, &self.script, &self.file) {
            _ if all => Err(bad("`all` is only for `remove`.")),
            (Verb::List, None, None) => Ok(None),
            (Verb::List, ..) => Err(bad("`list` takes no other parameter.")),
            (Verb::Add, Some(script), None) if !script.trim().is_empty() => Ok(Some(script.clone())),
            (Verb::Add, None, Some(file)) => {
                let content = context.files.read(Path::new(file))?;
                let text = String::from_utf8(content);
                text.map(Some).map_err(|_| bad("The file is not UTF-8 text."))
            }
            (Verb::Add, ..) => Err(bad("`add` needs a script, or a file with one.")),
            (Verb::Remove, Some(_), None) if !self.all => Ok(None),
            (Verb::Remove, None, None) if self.all => Ok(None),
            (Verb::Remove, ..) => Err(bad("`remove` needs a script's id, or `all`.")),
        }
    }

    async fn remove(&self, context: &Context, page: &Page) -> Result<(), Failure> {
        let Some(id) = &self.script else {
            let numbers: Vec<u32> =
                page.state().init_scripts().lock().await.iter().map(|(number, _)| number).collect();
            for number in numbers {
                page.remove_init_script(number, context.deadline).await?;
            }
            return Ok(());
        };
        let number = id.strip_prefix('s').and_then(|number| number.parse().ok());
        let Some(number) = number else { return Err(bad(&format!("{id:?} is not a script id."))) };
        if page.remove_init_script(number, context.deadline).await? {
            return Ok(());
        }
        Err(Failure::new(ErrorCode::NotActionable, format!("The tab has no script {id}."))
            .with_remedy(Remedy::new("Run {} for their ids.", [Step::action("init_script")])))
    }
}

fn bad(message: &str) -> Failure {
    Failure::new(ErrorCode::BadArgs, message)
        .with_remedy("Use `add` with a script or a file, `remove` with an id or `all`, or `list`.")
}

impl Render for ScriptsResult {
    fn render(&self) -> String {
        let mut lines: Vec<String> = match (&self.id, self.verb) {
            (Some(id), _) => vec![format!("added {id}; it runs from the next document on: use `reload`")],
            (None, Verb::Remove) => vec!["removed; open documents keep its effects".to_owned()],
            (None, _) if self.scripts.is_empty() => vec!["no init scripts".to_owned()],
            (None, _) => Vec::new(),
        };
        lines.extend(
            self.scripts
                .iter()
                .map(|script| format!("{} {:?} ({} bytes)", script.id, script.begins, script.bytes)),
        );
        lines.join("\n")
    }
}
