//! Pictures of pages: decoded, shrunk, marked and encoded.
//!
//! Works on bytes in memory. Knows nothing of pages, files or what a picture shows.

mod animation;
mod difference;
mod digit_font;
mod encode;
mod error;
pub mod limits;
mod mark;
mod paint;
mod picture;

pub use animation::Animation;
pub use difference::{Difference, Part};
pub use encode::Encoding;
pub use error::ImageError;
pub use mark::Mark;
pub use picture::Picture;
