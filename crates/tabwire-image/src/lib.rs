//! Images of pages: decoded, resized, annotated, compared and encoded. Works on bytes in memory.

mod animation;
mod compare;
mod encode;
mod error;
mod image;
pub mod limits;
mod marks;

pub use animation::Animation;
pub use compare::{Difference, Region};
pub use encode::Encoding;
pub use error::ImageError;
pub use image::Image;
pub use marks::Mark;
