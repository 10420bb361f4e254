//! Animated WebP files: lossless frames that store only the changed region.

use crate::compare::Region;
use crate::encode::Encoding;
use crate::error::ImageError;
use crate::image::Image;

/// Longest display time of a frame in milliseconds: 24 bits.
const MAX_FRAME_MS: u32 = 0x00ff_ffff;

/// An animation under construction.
#[derive(Debug)]
pub struct Animation {
    width: u32,
    height: u32,
    frames: u32,
    /// The encoded frames.
    chunks: Vec<u8>,
    /// The current frame, its changed region, and its start time.
    last: Option<(Image, Region, u64)>,
    started: u64,
    ended: u64,
}

impl Animation {
    /// Starts an animation; images of other sizes are resized.
    #[must_use]
    pub fn new(width: u32, height: u32) -> Self {
        Self { width, height, frames: 0, chunks: Vec::new(), last: None, started: 0, ended: 0 }
    }

    /// Shows an image from `time` on, in milliseconds.
    ///
    /// # Errors
    /// When it cannot be resized or encoded.
    pub fn show(&mut self, image: Image, time: u64) -> Result<(), ImageError> {
        let image = image.resized(self.width, self.height)?;
        let Some((before, region, since)) = self.last.take() else {
            self.started = time;
            let whole = Region { x: 0, y: 0, width: self.width, height: self.height };
            self.last = Some((image, whole, time));
            return Ok(());
        };
        let time = time.max(since);
        match before.changed_region(&image) {
            // Unchanged: the current frame continues.
            None => self.last = Some((before, region, since)),
            Some(changed) => {
                self.add(&before, region, time - since)?;
                self.last = Some((image, align_to_even(changed), time));
            }
        }
        Ok(())
    }

    /// Bytes so far.
    #[must_use]
    pub fn length(&self) -> usize {
        self.chunks.len()
    }

    /// Frames so far.
    #[must_use]
    pub fn frames(&self) -> u32 {
        self.frames + u32::from(self.last.is_some())
    }

    /// The duration of the finished animation in milliseconds.
    #[must_use]
    pub fn duration(&self) -> u64 {
        self.ended.saturating_sub(self.started)
    }

    /// Ends the animation at `time`, in milliseconds, and returns the file.
    ///
    /// # Errors
    /// When the last frame cannot be encoded.
    pub fn finish(&mut self, time: u64) -> Result<Vec<u8>, ImageError> {
        if let Some((image, region, since)) = self.last.take() {
            self.ended = time.max(since);
            self.add(&image, region, self.ended - since)?;
        }
        let mut body = b"WEBP".to_vec();
        // Flags: animation and alpha.
        let mut head = vec![0x12, 0, 0, 0];
        head.extend(u24(self.width.saturating_sub(1)));
        head.extend(u24(self.height.saturating_sub(1)));
        body.extend(chunk(*b"VP8X", &head));
        // White background, endless loop.
        body.extend(chunk(*b"ANIM", &[255, 255, 255, 255, 0, 0]));
        body.append(&mut self.chunks);
        Ok(chunk(*b"RIFF", &body))
    }

    fn add(&mut self, image: &Image, region: Region, milliseconds: u64) -> Result<(), ImageError> {
        let image = image.cropped(region)?;
        let file = image.encode(Encoding::Webp)?;
        let mut frame = Vec::with_capacity(file.len() + 16);
        frame.extend(u24(region.x / 2));
        frame.extend(u24(region.y / 2));
        frame.extend(u24(image.width().saturating_sub(1)));
        frame.extend(u24(image.height().saturating_sub(1)));
        frame.extend(u24(u32::try_from(milliseconds).unwrap_or(MAX_FRAME_MS).clamp(1, MAX_FRAME_MS)));
        // Overwrite the canvas and keep it.
        frame.push(0b10);
        // The chunks of a still WebP start after its twelve-byte header.
        frame.extend_from_slice(file.get(12..).unwrap_or_default());
        self.chunks.extend(chunk(*b"ANMF", &frame));
        self.frames += 1;
        Ok(())
    }
}

/// Frame offsets are even.
fn align_to_even(region: Region) -> Region {
    let (x, y) = (region.x & !1, region.y & !1);
    Region { x, y, width: region.width + region.x - x, height: region.height + region.y - y }
}

fn u24(number: u32) -> [u8; 3] {
    let [first, second, third, _] = number.to_le_bytes();
    [first, second, third]
}

fn chunk(name: [u8; 4], content: &[u8]) -> Vec<u8> {
    let mut bytes = name.to_vec();
    bytes.extend(u32::try_from(content.len()).unwrap_or(u32::MAX).to_le_bytes());
    bytes.extend_from_slice(content);
    if content.len() % 2 == 1 {
        bytes.push(0);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    #[test]
    fn frames_decode_as_they_were_shown() {
        let mut image = Image::new(64, 48, vec![255; 64 * 48 * 4]).expect("filled");
        let mut animation = Animation::new(64, 48);
        let mut shown = Vec::new();
        for step in 0..3_u8 {
            let time = 1_000 + u64::from(step) * 250;
            image.fill(i64::from(step) * 9 + 3, 7, 5, 5, [step * 80, 0, 0, 255]);
            animation.show(image.clone(), time).expect("taken");
            animation.show(image.clone(), time + 100).expect("the same goes on");
            shown.push(image.clone());
        }
        assert_eq!(animation.frames(), 3);
        let file = animation.finish(2_000).expect("written");
        assert_eq!((animation.frames(), animation.duration()), (3, 1_000));
        let mut decoder = image_webp::WebPDecoder::new(Cursor::new(&file)).expect("a WebP");
        assert!(decoder.is_animated());
        assert_eq!((decoder.dimensions(), decoder.num_frames()), ((64, 48), 3));
        let size = decoder.output_buffer_size().expect("known");
        let mut times = Vec::new();
        for wanted in &shown {
            let mut pixels = vec![0; size];
            times.push(decoder.read_frame(&mut pixels).expect("a frame"));
            let pixels = if decoder.has_alpha() {
                pixels
            } else {
                pixels.chunks(3).flat_map(|p| [p[0], p[1], p[2], 255]).collect()
            };
            assert!(pixels == wanted.pixels(), "frame {}", times.len());
        }
        assert_eq!(times, [250, 250, 500]);
    }

    #[test]
    fn an_animation_without_frames_is_valid() {
        let file = Animation::new(2, 2).finish(5).expect("written");
        assert!(file.starts_with(b"RIFF") && file.len() == 12 + 18 + 14);
    }
}
