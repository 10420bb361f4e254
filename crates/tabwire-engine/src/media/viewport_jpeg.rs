//! A small image of the viewport, for the trail of a session.

use tabwire_api::{ErrorCode, Failure};
use tabwire_image::{Encoding, Image, ImageError};

use crate::action::context::Context;

/// A JPEG of the viewport of the context's page, whose longest side has at most `longest` pixels. The page is checked as
/// for a screenshot.
///
/// # Errors
/// When there is no page, or it cannot be shown.
pub async fn viewport_jpeg(context: &Context, longest: u32, quality: u8) -> Result<Vec<u8>, Failure> {
    let page = context.page().await?;
    let png = page.capture(None, context.deadline).await?;
    // Encoding takes long; a blocking thread keeps the other tabs running.
    let encoded = tokio::task::spawn_blocking(move || encode(&png, longest, quality)).await;
    let failed = |why: String| Failure::new(ErrorCode::Internal, format!("Encoding the image failed: {why}"));
    encoded.map_err(|error| failed(format!("{error}.")))?.map_err(|error| failed(error.to_string()))
}

fn encode(png: &[u8], longest: u32, quality: u8) -> Result<Vec<u8>, ImageError> {
    let image = Image::from_png(png)?;
    let (width, height) = Image::size_within(image.width(), image.height(), longest);
    image.resized(width, height)?.encode(Encoding::Jpeg(quality))
}
