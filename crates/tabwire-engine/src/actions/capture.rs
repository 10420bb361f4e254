//! `capture`: files that document every action, in one directory.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_policy::{Capability, Needs, Scope};

use crate::action::context::Context;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::capture::store::{CaptureMode, CaptureStatus, CaptureStore};

/// Capture files for every action from now on: screenshot, Markdown, HTML, console lines and page changes.
///
/// Each action gets a number and its files, also if it fails: 0007-click.png, .md, .html, .console.txt and .delta.txt.
/// index.jsonl lists parameters and results. Secrets are masked. While a dialog is open, an action gets only a line in
/// the index. The flag --capture captures a single action.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Capture {
    /// What to do.
    #[arg(value_enum, default_value_t)]
    #[serde(default)]
    verb: Verb,
    /// The directory for the files, with `on`; one in Tabwire's state directory by default.
    #[arg(long, value_name = "DIR")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "file_written"))]
    directory: Option<PathBuf>,
}

/// What to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verb {
    /// Begin.
    On,
    /// End.
    Off,
    /// Pause.
    Pause,
    /// Resume in the same directory.
    Resume,
    /// Report the state.
    #[default]
    Status,
}

/// The state of capturing.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct CaptureState {
    /// `on`, `off` or `paused`.
    state: String,
    /// Where the files are.
    #[serde(skip_serializing_if = "Option::is_none")]
    directory: Option<PathBuf>,
    /// How many actions were captured there.
    sets: u32,
}

impl Action for Capture {
    const NAME: &'static str = "capture";
    const EFFECT: Effect = Effect::Files;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire capture on --directory captures", "Capture every action from now on."),
        Example::new("tabwire capture off", "Stop capturing."),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Debug);
    type Output = CaptureState;

    fn needs(&self) -> Needs {
        match self.verb {
            Verb::On | Verb::Resume => Needs::page(Capability::Read)
                .showing_past()
                .showing_every_frame(true)
                .and(Capability::Download, Scope::Page),
            Verb::Off | Verb::Pause | Verb::Status => Needs::nothing(),
        }
    }

    async fn run(self, context: &Context) -> Result<CaptureState, Failure> {
        let store = context.browser.captures();
        if self.directory.is_some() && self.verb != Verb::On {
            return Err(Failure::new(ErrorCode::BadArgs, "`directory` is only for the verb `on`.")
                .with_remedy(Remedy::new(
                    "Run {} with the directory.",
                    [Step::action("capture").with("verb", "on")],
                )));
        }
        let before = store.status();
        match (self.verb, before.mode) {
            (Verb::Status, _) => {}
            (Verb::On, CaptureMode::Off) => store.turn_on(&*context.files, self.directory.as_deref())?,
            (Verb::Off, CaptureMode::On | CaptureMode::Paused) => {
                store.set(CaptureMode::Off);
                return Ok(CaptureState::of(CaptureStatus { mode: CaptureMode::Off, ..before }));
            }
            (Verb::Pause, CaptureMode::On) => store.set(CaptureMode::Paused),
            (Verb::Resume, CaptureMode::Paused) => store.set(CaptureMode::On),
            (_, state) => return Err(wrong_moment(state)),
        }
        Ok(CaptureState::now(store))
    }
}

fn wrong_moment(state: CaptureMode) -> Failure {
    let (message, verb) = match state {
        CaptureMode::Off => ("Capturing is off.", "on"),
        CaptureMode::On => ("Capturing is on.", "off"),
        CaptureMode::Paused => ("Capturing is paused.", "resume"),
    };
    Failure::new(ErrorCode::NotActionable, message)
        .with_remedy(Remedy::new("Run {} first.", [Step::action("capture").with("verb", verb)]))
}

impl CaptureState {
    fn now(store: &CaptureStore) -> Self {
        Self::of(store.status())
    }

    fn of(status: CaptureStatus) -> Self {
        let state = match status.mode {
            CaptureMode::Off => "off",
            CaptureMode::On => "on",
            CaptureMode::Paused => "paused",
        };
        Self { state: state.to_owned(), directory: status.directory, sets: status.sets }
    }
}

impl Render for CaptureState {
    fn render(&self) -> String {
        match &self.directory {
            Some(directory) => {
                format!("capturing is {}; {} actions in {}", self.state, self.sets, directory.display())
            }
            None => format!("capturing is {}", self.state),
        }
    }
}
