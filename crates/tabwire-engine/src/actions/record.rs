//! `record`: records a video of a tab.

use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_api::{ErrorCode, Failure, Remedy, Step, TabId};
use tabwire_policy::{Capability, Needs, Scope};

use crate::action::context::Context;
use crate::action::output::OutputArguments;
use crate::action::result::BareValue;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::files::FileKind;
use crate::limits::RECORDING_RATE;
use crate::media::frames::{RecordingFormat, ScreencastFrames};
use crate::media::screencast::{Recording, Screencast};

/// Record a video of the tab: `record start`, act, `record stop`.
///
/// Writes a WebM video if this machine has an encoder (ffmpeg), else an animated WebP, or a directory of images; the
/// result names the format. At most 1280 pixels wide and high, 10 minutes and 64 MiB; one recording per tab. Secret
/// fields are recorded as the page shows them.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Record {
    /// What to do.
    #[arg(value_enum)]
    verb: Verb,
    /// The format, with `start`.
    #[arg(long, value_enum, default_value_t)]
    #[serde(default)]
    format: RecordingFormat,
    #[command(flatten)]
    #[serde(flatten)]
    output: OutputArguments,
}

/// What to do with a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verb {
    /// Start it.
    Start,
    /// Stop and write the file.
    Stop,
}

/// The state of the recording.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "state", rename_all = "lowercase")]
pub(crate) enum RecordResult {
    /// It is running.
    Started {
        /// The tab.
        #[schemars(with = "String")]
        tab: TabId,
        /// A note on the format.
        #[serde(skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// It is written.
    Stopped(RecordingFile),
}

/// A finished recording.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct RecordingFile {
    /// The file, or the directory of images.
    path: PathBuf,
    /// `webm`, `webp` or `frames`.
    format: String,
    /// How many images it has.
    frames: u32,
    /// Its length in seconds.
    seconds: f64,
    /// Its size in bytes.
    bytes: u64,
    /// The width in pixels.
    width: u32,
    /// The height in pixels.
    height: u32,
    /// Why it ended before `stop`.
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<String>,
    /// A note on the format.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

impl Action for Record {
    const NAME: &'static str = "record";
    const EFFECT: Effect = Effect::Files;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire record start", "Start recording the tab."),
        Example::new("tabwire record stop", "Stop and print the video's path."),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Debug).hiding(&["force"]);
    type Output = RecordResult;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Read)
            .showing_past()
            .showing_every_frame(true)
            .and(Capability::Download, Scope::Page)
    }

    async fn run(self, context: &Context) -> Result<RecordResult, Failure> {
        match self.verb {
            Verb::Start => self.start(context).await,
            Verb::Stop => self.stop(context).await,
        }
    }
}

impl Record {
    async fn start(self, context: &Context) -> Result<RecordResult, Failure> {
        let page = context.page().await?;
        let tab = context.browser.tab_id(&page);
        if context.browser.recordings().has(tab) {
            return Err(Failure::new(ErrorCode::Busy, format!("Tab {tab} is already being recorded."))
                .with_remedy(Remedy::new("Run {} first.", [Step::action("record").with("verb", "stop")])));
        }
        if self.format != RecordingFormat::Frames {
            self.output.check(context)?;
        }
        page.unless_blocked(async { Ok(()) }).await?;
        let (recorded, note) = self.new_recording(context)?;
        let recording = context.browser.record(&page, recorded, context.deadline);
        let mut recording = page.unless_blocked(recording).await?;
        recording.note.clone_from(&note);
        recording.output = self.output;
        context.browser.recordings().keep(tab, recording);
        Ok(RecordResult::Started { tab, note })
    }

    /// An empty recording in the requested format, and a note on the format.
    fn new_recording(&self, context: &Context) -> Result<(ScreencastFrames, Option<String>), Failure> {
        let video =
            || context.video_encoder.as_ref().and_then(|video_encoder| video_encoder.begin(RECORDING_RATE));
        Ok(match self.format {
            RecordingFormat::Webp => (ScreencastFrames::animation(), None),
            RecordingFormat::Frames => {
                let files = Arc::clone(&context.files);
                let name = crate::timestamp::Timestamp::now().short();
                (
                    ScreencastFrames::frames(files.create_directory(
                        FileKind::Recording,
                        self.output.path(),
                        &name,
                    )?),
                    None,
                )
            }
            RecordingFormat::Webm | RecordingFormat::Auto => match video() {
                Some(video) => {
                    let note = format!("encoded by {}", video.encoder());
                    (ScreencastFrames::video(video), Some(note))
                }
                None if self.format == RecordingFormat::Auto => {
                    let note = "no encoder (ffmpeg) was found, so it is an animated WebP";
                    (ScreencastFrames::animation(), Some(note.to_owned()))
                }
                None => {
                    return Err(Failure::new(ErrorCode::BadArgs, "No video encoder was found.").with_remedy(
                        Remedy::new("Install ffmpeg, or leave {} out.", [Step::argument("format")]),
                    ));
                }
            },
        })
    }

    async fn stop(self, context: &Context) -> Result<RecordResult, Failure> {
        if self.output.is_some() || self.format != RecordingFormat::Auto {
            return Err(Failure::new(ErrorCode::BadArgs, "`format` and `output` are only for `start`."));
        }
        let (tab, recording) = find(context).await?;
        let age = recording.age();
        let (note, output) = (recording.note.clone(), recording.output.clone());
        let Screencast { recorded, moment, cut, withheld } = recording.stop(context.deadline).await?;
        if withheld > 0 {
            let notice = format!(
                "{withheld} images were left out: they showed frames that the policy does not allow."
            );
            context.notices.add([notice]);
        }
        let files = output.files(context);
        let work = move || recorded.write(moment, &*files, output.path());
        let developed = tokio::task::spawn_blocking(work).await.map_err(|error| {
            Failure::new(ErrorCode::Internal, format!("Writing the recording of {tab} failed: {error}."))
        })??;
        let seconds = std::time::Duration::from_millis(moment).min(age).as_secs_f64();
        Ok(RecordResult::Stopped(RecordingFile {
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

/// Finds the recording to stop: of the named tab, which may be closed, else of the current tab, else the only
/// recording.
async fn find(context: &Context) -> Result<(TabId, Recording), Failure> {
    let recordings = context.browser.recordings();
    let tab = match context.tab {
        Some(tab) => Some(tab),
        None => {
            let current = context.tab_page().await.ok().map(|page| context.browser.tab_id(&page));
            current.filter(|tab| recordings.has(*tab)).or_else(|| recordings.only())
        }
    };
    let found = tab.and_then(|tab| Some((tab, recordings.take(tab)?)));
    if found.is_none() && context.tab.is_some() {
        // Report a tab that does not exist as such.
        context.tab_page().await?;
    }
    found.ok_or_else(|| {
        Failure::new(ErrorCode::NotActionable, "The tab is not being recorded.")
            .with_remedy(Remedy::new("Run {} first.", [Step::action("record").with("verb", "start")]))
    })
}

impl Render for RecordResult {
    fn render(&self) -> String {
        let file = match self {
            Self::Started { tab, note } => {
                let note = note.as_ref().map(|note| format!("\n{note}")).unwrap_or_default();
                return format!("recording {tab}; the verb `stop` ends it{note}");
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
