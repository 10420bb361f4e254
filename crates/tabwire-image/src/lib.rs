//! Pictures of pages: decoded, shrunk, marked and encoded.
//!
//! Works on bytes in memory. Knows nothing of pages, files or what a picture shows.

mod digit_font;
mod encode;
mod error;
pub mod limits;
mod mark;
mod picture;

pub use encode::Encoding;
pub use error::ImageError;
pub use mark::Mark;
pub use picture::Picture;
