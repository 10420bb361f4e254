//! Errors of images.

/// An image could not be decoded, resized or encoded.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// Not a valid PNG.
    #[error("The image cannot be decoded: {0}.")]
    Decode(#[from] png::DecodingError),
    /// More pixels than the limit.
    #[error("The image is too large: {width}x{height} pixels.")]
    TooLarge {
        /// The width.
        width: u32,
        /// The height.
        height: u32,
    },
    /// The pixel data does not match the size.
    #[error("The pixel data does not match {width}x{height}.")]
    WrongLength {
        /// The width.
        width: u32,
        /// The height.
        height: u32,
    },
    /// Resizing failed.
    #[error("The image cannot be resized: {0}.")]
    Resize(#[from] fast_image_resize::ResizeError),
    /// PNG encoding failed.
    #[error("The image cannot be written as PNG: {0}.")]
    Png(#[from] png::EncodingError),
    /// JPEG encoding failed.
    #[error("The image cannot be written as JPEG: {0}.")]
    Jpeg(#[from] jpeg_encoder::EncodingError),
    /// WebP encoding failed.
    #[error("The image cannot be written as WebP: {0}.")]
    Webp(#[from] image_webp::EncodingError),
}
