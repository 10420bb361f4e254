//! What can go wrong with a picture, by what a caller can do about it.

/// A picture could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// The bytes are no PNG that can be read.
    #[error("The picture cannot be decoded: {0}.")]
    Decode(#[from] png::DecodingError),
    /// The picture has more pixels than are decoded.
    #[error("The picture is too large: {width}x{height} pixels.")]
    TooLarge {
        /// Its width.
        width: u32,
        /// Its height.
        height: u32,
    },
    /// The pixels do not fill the width and height.
    #[error("The picture's pixels do not fill {width}x{height}.")]
    Unfilled {
        /// Its width.
        width: u32,
        /// Its height.
        height: u32,
    },
    /// It cannot be shrunk.
    #[error("The picture cannot be shrunk: {0}.")]
    Shrink(#[from] fast_image_resize::ResizeError),
    /// It cannot be written as PNG.
    #[error("The picture cannot be written as PNG: {0}.")]
    Png(#[from] png::EncodingError),
    /// It cannot be written as JPEG.
    #[error("The picture cannot be written as JPEG: {0}.")]
    Jpeg(#[from] jpeg_encoder::EncodingError),
    /// It cannot be written as WebP.
    #[error("The picture cannot be written as WebP: {0}.")]
    Webp(#[from] image_webp::EncodingError),
}
