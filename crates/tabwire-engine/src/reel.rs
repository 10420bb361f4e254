//! The pictures of a recording as they come in, in the form that is wanted. Knows nothing of pages. Calls may block.

use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_image::{Animation, ImageError, Picture};
use tabwire_wire::{ErrorCode, Failure};

use crate::files::{FileKind, Files, Folder};
use crate::limits::{RECORDING_BYTES, RECORDING_RATE};
use crate::movie::Movie;

/// In which form a recording is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Form {
    /// A movie if there is an encoder, else an animated WebP.
    #[default]
    Auto,
    /// A movie; needs an encoder.
    Webm,
    /// An animated WebP, made by ourselves.
    Webp,
    /// A directory with a PNG for each picture.
    Frames,
}

/// The pictures of a recording.
#[derive(Debug)]
pub(crate) struct Reel {
    stock: Stock,
    frames: u32,
    bytes: u64,
    size: (u32, u32),
}

#[derive(Debug)]
enum Stock {
    Webp(Option<Animation>),
    /// The last picture, and for how many ticks pictures have been given.
    Movie {
        movie: Box<dyn Movie>,
        last: Option<Vec<u8>>,
        ticks: u64,
    },
    Frames(Arc<dyn Folder>),
}

/// A recording that was written.
#[derive(Clone, Debug)]
pub(crate) struct Developed {
    pub(crate) path: PathBuf,
    pub(crate) format: String,
    pub(crate) frames: u32,
    pub(crate) bytes: u64,
    pub(crate) size: (u32, u32),
}

impl Reel {
    /// An animated WebP.
    pub(crate) fn animation() -> Self {
        Self::of(Stock::Webp(None))
    }

    /// A movie.
    pub(crate) fn movie(movie: Box<dyn Movie>) -> Self {
        Self::of(Stock::Movie { movie, last: None, ticks: 0 })
    }

    /// A directory of pictures.
    pub(crate) fn frames(folder: Arc<dyn Folder>) -> Self {
        Self::of(Stock::Frames(folder))
    }

    fn of(stock: Stock) -> Self {
        Self { stock, frames: 0, bytes: 0, size: (0, 0) }
    }

    /// Whether it is as long as it may get.
    pub(crate) fn is_full(&self) -> bool {
        self.bytes > RECORDING_BYTES
    }

    /// Takes a picture, a PNG, that is shown from this moment on, in milliseconds since the start.
    pub(crate) fn take(&mut self, png: Vec<u8>, moment: u64) -> Result<(), Failure> {
        if self.frames == 0 {
            let picture = Picture::from_png(&png).map_err(unreadable)?;
            self.size = (picture.width(), picture.height());
        }
        let length = u64::try_from(png.len()).unwrap_or(u64::MAX);
        match &mut self.stock {
            Stock::Webp(animation) => {
                let (width, height) = self.size;
                let animation = animation.get_or_insert_with(|| Animation::new(width, height));
                animation.show(Picture::from_png(&png).map_err(unreadable)?, moment).map_err(unreadable)?;
                self.bytes = u64::try_from(animation.length()).unwrap_or(u64::MAX);
                self.frames = animation.frames();
                return Ok(());
            }
            Stock::Movie { movie, last, ticks } => {
                catch_up(&mut **movie, last.as_deref(), ticks, moment)?;
                *last = Some(png);
            }
            Stock::Frames(folder) => {
                folder.create(&format!("{:05}-{moment}ms.png", self.frames + 1))?.add(&png)?;
            }
        }
        self.frames += 1;
        self.bytes += length;
        Ok(())
    }

    /// Ends the recording at this moment and writes it.
    pub(crate) fn develop(
        mut self,
        moment: u64,
        files: &dyn Files,
        wish: Option<&std::path::Path>,
    ) -> Result<Developed, Failure> {
        if self.frames == 0 {
            return Err(Failure::new(
                ErrorCode::NotActionable,
                "The tab showed nothing that could be recorded.",
            )
            .with_hint("A tab that is closed or has crashed at once has no picture."));
        }
        let (path, format, bytes) = match &mut self.stock {
            Stock::Webp(animation) => {
                let file = match animation {
                    Some(animation) => animation.finish(moment).map_err(unreadable)?,
                    None => Vec::new(),
                };
                let path = files.write(FileKind::Recording, wish, "recording.webp", &file)?;
                (path, "webp".to_owned(), u64::try_from(file.len()).unwrap_or(u64::MAX))
            }
            Stock::Movie { movie, last, ticks } => {
                // One picture more than the time that is over: the last one is seen too.
                catch_up(&mut **movie, last.as_deref(), ticks, moment + 1_000 / u64::from(RECORDING_RATE))?;
                let format = movie.extension().to_owned();
                let mut file = files.create(FileKind::Recording, wish, &format!("recording.{format}"))?;
                let bytes = movie.finish(&mut file)?;
                (file.path, format, bytes)
            }
            Stock::Frames(folder) => (folder.path(), "frames".to_owned(), self.bytes),
        };
        Ok(Developed { path, format, frames: self.frames, bytes, size: self.size })
    }
}

/// Gives the last picture for every tick up to a moment.
fn catch_up(movie: &mut dyn Movie, last: Option<&[u8]>, ticks: &mut u64, moment: u64) -> Result<(), Failure> {
    let Some(last) = last else { return Ok(()) };
    let wanted = moment * u64::from(RECORDING_RATE) / 1_000;
    while *ticks < wanted {
        movie.add(last)?;
        *ticks += 1;
    }
    Ok(())
}

fn unreadable(error: ImageError) -> Failure {
    Failure::new(ErrorCode::Internal, error.to_string())
}
