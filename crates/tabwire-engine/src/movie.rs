//! Movies made of pictures by a program that whoever runs the engine knows. The engine itself starts none.

use std::fmt;

use tabwire_wire::Failure;

use crate::files::NewFile;

/// Makes movies, if there is a program for it.
pub trait MovieMaker: Send + Sync + fmt::Debug {
    /// Begins a movie with so many pictures a second; none when there is no encoder.
    fn begin(&self, frames_per_second: u32) -> Option<Box<dyn Movie>>;
}

/// A movie that is being made. Calls may block.
pub trait Movie: Send + fmt::Debug {
    /// The ending of its file's name: `webm`.
    fn extension(&self) -> &'static str;

    /// What encodes it: `ffmpeg`.
    fn encoder(&self) -> &str;

    /// Adds a picture, a PNG, for one tick.
    ///
    /// # Errors
    /// When the encoder does not take it.
    fn add(&mut self, png: &[u8]) -> Result<(), Failure>;

    /// Ends it and writes the file; says how large it is.
    ///
    /// # Errors
    /// When the encoder failed.
    fn finish(&mut self, file: &mut NewFile) -> Result<u64, Failure>;
}
