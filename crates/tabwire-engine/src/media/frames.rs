//! The frames of a recording, encoded in the requested format. Calls may block.

use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_api::{ErrorCode, Failure};
use tabwire_image::{Animation, Image, ImageError};

use crate::files::{FileKind, Files, OutputDirectory};
use crate::limits::{RECORDING_BYTES, RECORDING_RATE};
use crate::media::screencast::Video;

/// The format of a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RecordingFormat {
    /// A video if there is an encoder, else an animated WebP.
    #[default]
    Auto,
    /// A video; needs an encoder.
    Webm,
    /// An animated WebP, encoded without a program.
    Webp,
    /// A directory with a PNG for each frame.
    Frames,
}

/// The frames of a recording.
#[derive(Debug)]
pub(crate) struct ScreencastFrames {
    store: FrameStore,
    frames: u32,
    bytes: u64,
    size: (u32, u32),
}

#[derive(Debug)]
enum FrameStore {
    Webp(Option<Animation>),
    /// The last frame, and the number of ticks encoded so far.
    Video {
        video: Box<dyn Video>,
        last: Option<Vec<u8>>,
        ticks: u64,
    },
    Frames(Arc<dyn OutputDirectory>),
}

/// A finished recording.
#[derive(Clone, Debug)]
pub(crate) struct RecordedFile {
    pub(crate) path: PathBuf,
    pub(crate) format: String,
    pub(crate) frames: u32,
    pub(crate) bytes: u64,
    pub(crate) size: (u32, u32),
}

impl ScreencastFrames {
    /// An animated WebP.
    pub(crate) fn animation() -> Self {
        Self::of(FrameStore::Webp(None))
    }

    /// A video.
    pub(crate) fn video(video: Box<dyn Video>) -> Self {
        Self::of(FrameStore::Video { video, last: None, ticks: 0 })
    }

    /// A directory of PNG files.
    pub(crate) fn frames(folder: Arc<dyn OutputDirectory>) -> Self {
        Self::of(FrameStore::Frames(folder))
    }

    fn of(store: FrameStore) -> Self {
        Self { store, frames: 0, bytes: 0, size: (0, 0) }
    }

    /// Whether it has reached its size limit.
    pub(crate) fn is_full(&self) -> bool {
        self.bytes > RECORDING_BYTES
    }

    /// Adds a PNG that is shown from this time on, in milliseconds since the start.
    pub(crate) fn take(&mut self, png: Vec<u8>, moment: u64) -> Result<(), Failure> {
        if self.frames == 0 {
            let image = Image::from_png(&png).map_err(unreadable)?;
            self.size = (image.width(), image.height());
        }
        let length = u64::try_from(png.len()).unwrap_or(u64::MAX);
        match &mut self.store {
            FrameStore::Webp(animation) => {
                let (width, height) = self.size;
                let animation = animation.get_or_insert_with(|| Animation::new(width, height));
                animation.show(Image::from_png(&png).map_err(unreadable)?, moment).map_err(unreadable)?;
                self.bytes = u64::try_from(animation.length()).unwrap_or(u64::MAX);
                self.frames = animation.frames();
                return Ok(());
            }
            FrameStore::Video { video, last, ticks } => {
                catch_up(&mut **video, last.as_deref(), ticks, moment)?;
                *last = Some(png);
            }
            FrameStore::Frames(folder) => {
                folder.create(&format!("{:05}-{moment}ms.png", self.frames + 1))?.add(&png)?;
            }
        }
        self.frames += 1;
        self.bytes += length;
        Ok(())
    }

    /// Ends the recording at this time and writes it.
    pub(crate) fn write(
        mut self,
        moment: u64,
        files: &dyn Files,
        requested: Option<&std::path::Path>,
    ) -> Result<RecordedFile, Failure> {
        if self.frames == 0 {
            return Err(Failure::new(
                ErrorCode::NotActionable,
                "The tab showed nothing that could be recorded.",
            )
            .with_remedy("The tab was closed or crashed before it drew anything."));
        }
        let (path, format, bytes) = match &mut self.store {
            FrameStore::Webp(animation) => {
                let file = match animation {
                    Some(animation) => animation.finish(moment).map_err(unreadable)?,
                    None => Vec::new(),
                };
                let path = files.write(FileKind::Recording, requested, "recording.webp", &file)?;
                (path, "webp".to_owned(), u64::try_from(file.len()).unwrap_or(u64::MAX))
            }
            FrameStore::Video { video, last, ticks } => {
                // One frame more than the elapsed time, so that the last one is visible.
                catch_up(&mut **video, last.as_deref(), ticks, moment + 1_000 / u64::from(RECORDING_RATE))?;
                let format = video.extension().to_owned();
                let mut file =
                    files.create(FileKind::Recording, requested, &format!("recording.{format}"))?;
                let bytes = video.finish(&mut file)?;
                (file.path, format, bytes)
            }
            FrameStore::Frames(folder) => (folder.path(), "frames".to_owned(), self.bytes),
        };
        Ok(RecordedFile { path, format, frames: self.frames, bytes, size: self.size })
    }
}

/// Repeats the last frame for every tick up to a time.
fn catch_up(video: &mut dyn Video, last: Option<&[u8]>, ticks: &mut u64, moment: u64) -> Result<(), Failure> {
    let Some(last) = last else { return Ok(()) };
    let wanted = moment * u64::from(RECORDING_RATE) / 1_000;
    while *ticks < wanted {
        video.add(last)?;
        *ticks += 1;
    }
    Ok(())
}

fn unreadable(error: ImageError) -> Failure {
    Failure::new(ErrorCode::Internal, error.to_string())
}
