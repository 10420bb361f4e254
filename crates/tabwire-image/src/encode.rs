//! Encodes images: lossless PNG and WebP, lossy JPEG.

use crate::error::ImageError;
use crate::image::Image;

/// The file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Lossless.
    Png,
    /// Lossy, with a quality from 1 to 100.
    Jpeg(u8),
    /// Lossless, smaller than PNG.
    Webp,
}

impl Image {
    /// Encodes the image.
    ///
    /// # Errors
    /// When the format does not support this size.
    pub fn encode(&self, encoding: Encoding) -> Result<Vec<u8>, ImageError> {
        match encoding {
            Encoding::Png => self.to_png(),
            Encoding::Jpeg(quality) => self.to_jpeg(quality.clamp(1, 100)),
            Encoding::Webp => self.to_webp(),
        }
    }

    fn to_png(&self) -> Result<Vec<u8>, ImageError> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width(), self.height());
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::Fast);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(self.pixels())?;
        writer.finish()?;
        Ok(bytes)
    }

    fn to_jpeg(&self, quality: u8) -> Result<Vec<u8>, ImageError> {
        let too_large = || ImageError::TooLarge { width: self.width(), height: self.height() };
        let width = u16::try_from(self.width()).map_err(|_| too_large())?;
        let height = u16::try_from(self.height()).map_err(|_| too_large())?;
        let mut bytes = Vec::new();
        let encoder = jpeg_encoder::Encoder::new(&mut bytes, quality);
        encoder.encode(self.pixels(), width, height, jpeg_encoder::ColorType::Rgba)?;
        Ok(bytes)
    }

    fn to_webp(&self) -> Result<Vec<u8>, ImageError> {
        let mut bytes = Vec::new();
        let encoder = image_webp::WebPEncoder::new(&mut bytes);
        encoder.encode(self.pixels(), self.width(), self.height(), image_webp::ColorType::Rgba8)?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_starts_with_its_signature() {
        let image = Image::new(8, 8, vec![200; 256]).expect("filled");
        assert!(image.encode(Encoding::Png).expect("written").starts_with(b"\x89PNG"));
        assert!(image.encode(Encoding::Jpeg(80)).expect("written").starts_with(&[0xff, 0xd8, 0xff]));
        let webp = image.encode(Encoding::Webp).expect("written");
        assert!(webp.starts_with(b"RIFF") && &webp[8..12] == b"WEBP");
    }
}
