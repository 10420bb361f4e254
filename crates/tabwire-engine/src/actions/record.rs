//! `record`: a moving picture of a tab.

use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_wire::{ErrorCode, Failure, TabId};

use crate::action::{Action, Effect, Example, Render};
use crate::bare_value::BareValue;
use crate::context::Context;
use crate::files::FileKind;
use crate::limits::RECORDING_RATE;
use crate::recording::{Filmed, Recording};
use crate::reel::{Form, Reel};

/// Record what a tab shows: `record start`, act, `record stop`.
///
/// A WebM movie when an encoder (ffmpeg) is on this machine, else an animated WebP, or a directory of pictures; the
/// answer says which. At most 1280 pixels wide and high, 10 minutes and 64 MiB; one recording a tab. Fields for
/// secrets are recorded as the page shows them.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Record {
    /// What to do.
    #[arg(value_enum)]
    verb: Verb,
    /// In which form it is kept, with start.
    #[arg(long, value_enum, default_value_t)]
    #[serde(default)]
    format: Form,
    /// Where it goes, with start; one of our own directories if left out.
    #[arg(long, short, value_name = "PATH")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    output: Option<PathBuf>,
}

/// What to do with a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verb {
    /// Start it.
    Start,
    /// End it and write the file.
    Stop,
}

/// What became of the recording.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "state", rename_all = "lowercase")]
pub(crate) enum Recorded {
    /// It is running.
    Started {
        /// The tab.
        #[schemars(with = "String")]
        tab: TabId,
        /// What there is to know about its form.
        #[serde(skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// It was written.
    Stopped(RecordingFile),
}

/// A recording that was written.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct RecordingFile {
    /// The file, or the directory of pictures.
    path: PathBuf,
    /// `webm`, `webp` or `frames`.
    format: String,
    /// How many pictures it has.
    frames: u32,
    /// How long it is.
    seconds: f64,
    /// How large it is.
    bytes: u64,
    /// How wide, in pixels.
    width: u32,
    /// How high, in pixels.
    height: u32,
    /// Why it ended before it was stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<String>,
    /// What there is to know about its form.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

impl Action for Record {
    const NAME: &'static str = "record";
    const EFFECT: Effect = Effect::Files;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire record start", "Begin to record the tab."),
        Example::new("tabwire record stop", "End it and say where the movie is."),
    ];
    type Output = Recorded;

    async fn run(self, context: &Context) -> Result<Recorded, Failure> {
        match self.verb {
            Verb::Start => self.start(context).await,
            Verb::Stop => self.stop(context).await,
        }
    }
}

impl Record {
    async fn start(self, context: &Context) -> Result<Recorded, Failure> {
        let page = context.page().await?;
        let tab = context.browser.tab_of(&page);
        if context.browser.recordings().has(tab) {
            return Err(Failure::new(ErrorCode::Busy, format!("Tab {tab} is being recorded already."))
                .with_hint("End it with `tabwire record stop`."));
        }
        if let Some(wish) = self.output.as_deref().filter(|_| self.format != Form::Frames) {
            context.files.check_output(wish)?;
        }
        page.unless_blocked(async { Ok(()) }).await?;
        let (reel, note) = self.reel(context)?;
        let recording = context.browser.record(&page, reel, context.deadline);
        let mut recording = page.unless_blocked(recording).await?;
        recording.note.clone_from(&note);
        recording.output = self.output;
        context.browser.recordings().keep(tab, recording);
        Ok(Recorded::Started { tab, note })
    }

    /// A reel of the form that is wanted, and what there is to know about it.
    fn reel(&self, context: &Context) -> Result<(Reel, Option<String>), Failure> {
        let movie = || context.movies.as_ref().and_then(|movies| movies.begin(RECORDING_RATE));
        Ok(match self.format {
            Form::Webp => (Reel::animation(), None),
            Form::Frames => {
                let files = Arc::clone(&context.files);
                let name = crate::time_stamp::TimeStamp::now().short();
                (Reel::frames(files.make_folder(FileKind::Recording, self.output.as_deref(), &name)?), None)
            }
            Form::Webm | Form::Auto => match movie() {
                Some(movie) => {
                    let note = format!("encoded by {}", movie.encoder());
                    (Reel::movie(movie), Some(note))
                }
                None if self.format == Form::Auto => {
                    let note = "no encoder (ffmpeg) was found, so it is an animated WebP";
                    (Reel::animation(), Some(note.to_owned()))
                }
                None => {
                    return Err(Failure::new(
                        ErrorCode::BadArgs,
                        "A movie needs an encoder, and none was found.",
                    )
                    .with_hint("Install ffmpeg, or leave the format to us."));
                }
            },
        })
    }

    async fn stop(self, context: &Context) -> Result<Recorded, Failure> {
        if self.output.is_some() || self.format != Form::Auto {
            return Err(Failure::new(
                ErrorCode::BadArgs,
                "Form and path are chosen when a recording starts.",
            ));
        }
        let (tab, recording) = find(context).await?;
        let age = recording.age();
        let (note, output) = (recording.note.clone(), recording.output.clone());
        let Filmed { reel, moment, cut, withheld } = recording.stop(context.deadline).await?;
        if withheld > 0 {
            let told =
                format!("{withheld} pictures were left out: the page had frames that may not be read.");
            context.notices.add([told]);
        }
        let files = Arc::clone(&context.files);
        let work = move || reel.develop(moment, &*files, output.as_deref());
        let developed = tokio::task::spawn_blocking(work).await.map_err(|error| {
            Failure::new(ErrorCode::Internal, format!("The recording of {tab} was lost: {error}."))
        })??;
        let seconds = std::time::Duration::from_millis(moment).min(age).as_secs_f64();
        Ok(Recorded::Stopped(RecordingFile {
            path: developed.path,
            format: developed.format,
            frames: developed.frames,
            seconds: (seconds * 10.0).round() / 10.0,
            bytes: developed.bytes,
            width: developed.size.0,
            height: developed.size.1,
            cut: cut.map(str::to_owned),
            note,
        }))
    }
}

/// The recording that is meant: of the tab that is named, though it may be closed; else of the current tab, else the
/// only one there is.
async fn find(context: &Context) -> Result<(TabId, Recording), Failure> {
    let recordings = context.browser.recordings();
    let tab = match context.tab {
        Some(tab) => Some(tab),
        None => {
            let current = context.tab_page().await.ok().map(|page| context.browser.tab_of(&page));
            current.filter(|tab| recordings.has(*tab)).or_else(|| recordings.only())
        }
    };
    let found = tab.and_then(|tab| Some((tab, recordings.take(tab)?)));
    if found.is_none() && context.tab.is_some() {
        // A tab that is gone is told as such.
        context.tab_page().await?;
    }
    found.ok_or_else(|| {
        Failure::new(ErrorCode::NotActionable, "The tab is not being recorded.")
            .with_hint("Begin with `tabwire record start`.")
    })
}

impl Render for Recorded {
    fn render(&self) -> String {
        let file = match self {
            Self::Started { tab, note } => {
                let note = note.as_ref().map(|note| format!("\n{note}")).unwrap_or_default();
                return format!("recording {tab}; end it with `tabwire record stop`{note}");
            }
            Self::Stopped(file) => file,
        };
        let mut text = format!(
            "{}\n{} frames, {} s, {}x{} pixels, {} bytes",
            file.path.display(),
            file.frames,
            file.seconds,
            file.width,
            file.height,
            file.bytes
        );
        for line in [&file.note, &file.cut.as_ref().map(|why| format!("cut: {why}"))].into_iter().flatten() {
            text.push_str(&format!("\n{line}"));
        }
        text
    }

    fn bare(&self) -> Option<BareValue> {
        match self {
            Self::Started { .. } => None,
            Self::Stopped(file) => Some(BareValue::path(&file.path).with_cut(file.cut.clone())),
        }
    }
}
