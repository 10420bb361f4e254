//! Images in memory: RGBA, row by row. Decodes PNG, which browsers send.

use std::io::Cursor;

use fast_image_resize::images::Image as ResizeBuffer;
use fast_image_resize::{FilterType, PixelType, ResizeAlg, ResizeOptions, Resizer};

use crate::error::ImageError;
use crate::limits::PIXELS;

/// An RGBA image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    width: u32,
    height: u32,
    pixels: Vec<u8>,
}

impl Image {
    /// Takes existing pixels.
    ///
    /// # Errors
    /// When their number does not match the size.
    pub fn new(width: u32, height: u32, pixels: Vec<u8>) -> Result<Self, ImageError> {
        let wanted = u64::from(width) * u64::from(height) * 4;
        if u64::try_from(pixels.len()) != Ok(wanted) {
            return Err(ImageError::WrongLength { width, height });
        }
        Ok(Self { width, height, pixels })
    }

    /// Decodes a PNG.
    ///
    /// # Errors
    /// When it is invalid or too large.
    pub fn from_png(bytes: &[u8]) -> Result<Self, ImageError> {
        let mut decoder = png::Decoder::new(Cursor::new(bytes));
        decoder
            .set_transformations(png::Transformations::normalize_to_color8() | png::Transformations::ALPHA);
        let mut reader = decoder.read_info()?;
        let (width, height) = (reader.info().width, reader.info().height);
        let too_large = ImageError::TooLarge { width, height };
        if u64::from(width) * u64::from(height) > PIXELS {
            return Err(too_large);
        }
        let Some(size) = reader.output_buffer_size() else { return Err(too_large) };
        let mut pixels = vec![0; size];
        let frame = reader.next_frame(&mut pixels)?;
        pixels.truncate(frame.buffer_size());
        let pixels = match frame.color_type {
            png::ColorType::GrayscaleAlpha => {
                pixels.chunks_exact(2).flat_map(|pixel| [pixel[0], pixel[0], pixel[0], pixel[1]]).collect()
            }
            _ => pixels,
        };
        Self::new(width, height, pixels)
    }

    /// The width in pixels.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.width
    }

    /// The height in pixels.
    #[must_use]
    pub fn height(&self) -> u32 {
        self.height
    }

    /// The RGBA bytes, row by row.
    #[must_use]
    pub fn pixels(&self) -> &[u8] {
        &self.pixels
    }

    /// The colour of a pixel; none outside.
    #[must_use]
    pub fn pixel(&self, x: u32, y: u32) -> Option<[u8; 4]> {
        let at = self.offset(x, y)?;
        self.pixels.get(at..at + 4)?.try_into().ok()
    }

    /// Sets the colour of a pixel; ignores pixels outside.
    pub fn set_pixel(&mut self, x: u32, y: u32, colour: [u8; 4]) {
        let place = self.offset(x, y).and_then(|at| self.pixels.get_mut(at..at + 4));
        if let Some(place) = place {
            place.copy_from_slice(&colour);
        }
    }

    fn offset(&self, x: u32, y: u32) -> Option<usize> {
        if x >= self.width || y >= self.height {
            return None;
        }
        usize::try_from((u64::from(y) * u64::from(self.width) + u64::from(x)) * 4).ok()
    }

    /// Fills a rectangle, clipped to the image.
    pub fn fill(&mut self, x: i64, y: i64, width: i64, height: i64, colour: [u8; 4]) {
        let within = |place: i64, most: u32| u32::try_from(place.max(0)).unwrap_or(u32::MAX).min(most);
        let (left, right) = (within(x, self.width()), within(x.saturating_add(width), self.width()));
        let (top, bottom) = (within(y, self.height()), within(y.saturating_add(height), self.height()));
        for row in top..bottom {
            for column in left..right {
                self.set_pixel(column, row, colour);
            }
        }
    }

    /// Resizes to exactly this size.
    ///
    /// # Errors
    /// When resizing fails.
    pub fn resized(self, width: u32, height: u32) -> Result<Self, ImageError> {
        let (width, height) = (width.max(1), height.max(1));
        if (width, height) == (self.width, self.height) {
            return Ok(self);
        }
        let wrong_length = ImageError::WrongLength { width: self.width, height: self.height };
        let Ok(source) = ResizeBuffer::from_vec_u8(self.width, self.height, self.pixels, PixelType::U8x4)
        else {
            return Err(wrong_length);
        };
        let mut target = ResizeBuffer::new(width, height, PixelType::U8x4);
        let options =
            ResizeOptions::new().resize_alg(ResizeAlg::Convolution(FilterType::Lanczos3)).use_alpha(false);
        Resizer::new().resize(&source, &mut target, &options)?;
        Self::new(width, height, target.into_vec())
    }

    /// The size after shrinking the longest side to `longest`.
    #[must_use]
    pub fn size_within(width: u32, height: u32, longest: u32) -> (u32, u32) {
        let side = width.max(height);
        if side <= longest {
            return (width, height);
        }
        let fit = |length: u32| {
            let shrunk = (u64::from(length) * u64::from(longest) + u64::from(side) / 2) / u64::from(side);
            u32::try_from(shrunk).unwrap_or(longest).max(1)
        };
        (fit(width), fit(height))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Encoding;

    fn striped(width: u32, height: u32) -> Image {
        let pixel = |at: u32| if at % width < width / 2 { [255, 0, 0, 255] } else { [0, 0, 255, 255] };
        let pixels = (0..width * height).flat_map(pixel).collect();
        Image::new(width, height, pixels).expect("filled")
    }

    #[test]
    fn a_png_round_trip_keeps_all_pixels() {
        let image = striped(40, 30);
        let bytes = image.encode(Encoding::Png).expect("written");
        assert_eq!(Image::from_png(&bytes).expect("read"), image);
        assert!(Image::from_png(&bytes[..20]).is_err());
        assert!(Image::from_png(b"no image").is_err());
        assert!(Image::new(2, 2, vec![0; 15]).is_err());
    }

    #[test]
    fn an_image_is_shrunk_to_fit() {
        assert_eq!(Image::size_within(100, 50, 200), (100, 50));
        assert_eq!(Image::size_within(3_000, 1_500, 1_568), (1_568, 784));
        assert_eq!(Image::size_within(10, 20_000, 1_568), (1, 1_568));
        let small = striped(400, 200).resized(40, 20).expect("shrunk");
        assert_eq!((small.width(), small.height()), (40, 20));
        assert_eq!(small.pixel(5, 5), Some([255, 0, 0, 255]));
        assert_eq!(small.pixel(35, 15), Some([0, 0, 255, 255]));
        assert_eq!(small.pixel(40, 0), None);
    }

    #[test]
    fn only_the_rectangle_is_filled() {
        let mut image = Image::new(10, 10, vec![0; 400]).expect("filled");
        image.fill(8, -3, 50, 5, [1; 4]);
        image.fill(-5, -5, 3, 3, [2; 4]);
        let painted = (0..100).filter(|at| image.pixel(at % 10, at / 10) == Some([1; 4])).count();
        assert_eq!(painted, 4);
        assert!(image.pixels().iter().all(|byte| *byte < 2));
    }
}
