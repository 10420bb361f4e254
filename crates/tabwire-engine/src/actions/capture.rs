//! `capture`: evidence of every action, as files in one directory.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_policy::{Capability, Needs, Scope};
use tabwire_wire::{ErrorCode, Failure};

use crate::action::{Action, Effect, Example, Render};
use crate::context::Context;
use crate::evidence_book::{EvidenceBook, Gathering, Standing};

/// Keep evidence of every action from now on: picture, Markdown, HTML, console lines and what changed.
///
/// Each action, failed ones too, gets a number and its files: 0007-click.png, .md, .html, .console.txt and .delta.txt;
/// index.jsonl tells what was asked and what came of it. Secrets are painted over and struck out. While a dialog is
/// open there is nothing but a line in the index. For a single action there is the flag --capture.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Capture {
    /// What to do.
    #[arg(value_enum, default_value_t)]
    #[serde(default)]
    verb: Verb,
    /// The directory the files go to, with on; one of our own if left out.
    #[arg(long, value_name = "DIR")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "file_written"))]
    directory: Option<PathBuf>,
}

/// What to do about evidence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verb {
    /// Begin.
    On,
    /// End.
    Off,
    /// Keep none for now.
    Pause,
    /// Go on in the same directory.
    Resume,
    /// Say how things stand.
    #[default]
    Status,
}

/// How things stand.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct CaptureState {
    /// `on`, `off` or `paused`.
    state: String,
    /// Where the files are.
    #[serde(skip_serializing_if = "Option::is_none")]
    directory: Option<PathBuf>,
    /// How many actions have evidence there.
    sets: u32,
}

impl Action for Capture {
    const NAME: &'static str = "capture";
    const EFFECT: Effect = Effect::Files;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire capture on --directory evidence", "Keep evidence of every action from now on."),
        Example::new("tabwire capture off", "Keep none any more."),
    ];
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
        let book = context.browser.evidence();
        if self.directory.is_some() && self.verb != Verb::On {
            return Err(Failure::new(ErrorCode::BadArgs, "A directory is chosen when capturing begins.")
                .with_hint("Give it with `tabwire capture on --directory DIR`."));
        }
        let before = book.standing();
        match (self.verb, before.gathering) {
            (Verb::Status, _) => {}
            (Verb::On, Gathering::Off) => book.turn_on(&*context.files, self.directory.as_deref())?,
            (Verb::Off, Gathering::On | Gathering::Paused) => {
                book.set(Gathering::Off);
                return Ok(CaptureState::of(Standing { gathering: Gathering::Off, ..before }));
            }
            (Verb::Pause, Gathering::On) => book.set(Gathering::Paused),
            (Verb::Resume, Gathering::Paused) => book.set(Gathering::On),
            (_, state) => return Err(wrong_moment(state)),
        }
        Ok(CaptureState::now(book))
    }
}

fn wrong_moment(state: Gathering) -> Failure {
    let (message, hint) = match state {
        Gathering::Off => ("Capturing is off.", "Begin with `tabwire capture on`."),
        Gathering::On => ("Capturing is on already.", "End it with `tabwire capture off`, or pause it."),
        Gathering::Paused => ("Capturing is paused.", "Go on with `tabwire capture resume`, or end it."),
    };
    Failure::new(ErrorCode::NotActionable, message).with_hint(hint)
}

impl CaptureState {
    fn now(book: &EvidenceBook) -> Self {
        Self::of(book.standing())
    }

    fn of(standing: Standing) -> Self {
        let state = match standing.gathering {
            Gathering::Off => "off",
            Gathering::On => "on",
            Gathering::Paused => "paused",
        };
        Self { state: state.to_owned(), directory: standing.directory, sets: standing.sets }
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
