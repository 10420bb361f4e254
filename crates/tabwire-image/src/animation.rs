//! A moving picture as an animated WebP: each frame without loss, and only what changed of it. Knows nothing of clocks.

use crate::difference::Part;
use crate::encode::Encoding;
use crate::error::ImageError;
use crate::picture::Picture;

/// The longest time one frame can be shown, in milliseconds: 24 bits.
const LONGEST: u32 = 0x00ff_ffff;

/// A moving picture that is being made.
#[derive(Debug)]
pub struct Animation {
    width: u32,
    height: u32,
    frames: u32,
    /// The chunks of the frames that are over.
    chunks: Vec<u8>,
    /// The frame that is shown, where it changed, and since when.
    last: Option<(Picture, Part, u64)>,
    started: u64,
    ended: u64,
}

impl Animation {
    /// Begins one of this size; pictures of other sizes are brought to it.
    #[must_use]
    pub fn new(width: u32, height: u32) -> Self {
        Self { width, height, frames: 0, chunks: Vec::new(), last: None, started: 0, ended: 0 }
    }

    /// Shows a picture from this moment on, in milliseconds.
    ///
    /// # Errors
    /// When it cannot be brought to the size or encoded.
    pub fn show(&mut self, picture: Picture, moment: u64) -> Result<(), ImageError> {
        let picture = picture.resized(self.width, self.height)?;
        let Some((before, part, since)) = self.last.take() else {
            self.started = moment;
            let whole = Part { x: 0, y: 0, width: self.width, height: self.height };
            self.last = Some((picture, whole, moment));
            return Ok(());
        };
        let moment = moment.max(since);
        match before.changed_part(&picture) {
            // The same picture goes on.
            None => self.last = Some((before, part, since)),
            Some(changed) => {
                self.add(&before, part, moment - since)?;
                self.last = Some((picture, at_even_places(changed), moment));
            }
        }
        Ok(())
    }

    /// How many bytes there are so far.
    #[must_use]
    pub fn length(&self) -> usize {
        self.chunks.len()
    }

    /// How many frames there are so far.
    #[must_use]
    pub fn frames(&self) -> u32 {
        self.frames + u32::from(self.last.is_some())
    }

    /// How long it takes, in milliseconds, once it is finished.
    #[must_use]
    pub fn duration(&self) -> u64 {
        self.ended.saturating_sub(self.started)
    }

    /// Ends it at this moment, in milliseconds, and gives the file.
    ///
    /// # Errors
    /// When the last frame cannot be encoded.
    pub fn finish(&mut self, moment: u64) -> Result<Vec<u8>, ImageError> {
        if let Some((picture, part, since)) = self.last.take() {
            self.ended = moment.max(since);
            self.add(&picture, part, self.ended - since)?;
        }
        let mut body = b"WEBP".to_vec();
        // Flags: animation and opacity.
        let mut head = vec![0x12, 0, 0, 0];
        head.extend(three(self.width.saturating_sub(1)));
        head.extend(three(self.height.saturating_sub(1)));
        body.extend(chunk(*b"VP8X", &head));
        // White behind it, shown over and over.
        body.extend(chunk(*b"ANIM", &[255, 255, 255, 255, 0, 0]));
        body.append(&mut self.chunks);
        Ok(chunk(*b"RIFF", &body))
    }

    fn add(&mut self, picture: &Picture, part: Part, milliseconds: u64) -> Result<(), ImageError> {
        let picture = picture.cropped(part)?;
        let file = picture.encode(Encoding::Webp)?;
        let mut frame = Vec::with_capacity(file.len() + 16);
        frame.extend(three(part.x / 2));
        frame.extend(three(part.y / 2));
        frame.extend(three(picture.width().saturating_sub(1)));
        frame.extend(three(picture.height().saturating_sub(1)));
        frame.extend(three(u32::try_from(milliseconds).unwrap_or(LONGEST).clamp(1, LONGEST)));
        // Put over what is there as it is, and left there.
        frame.push(0b10);
        // A WebP of one picture is a frame's chunks after the twelve bytes of its head.
        frame.extend_from_slice(file.get(12..).unwrap_or_default());
        self.chunks.extend(chunk(*b"ANMF", &frame));
        self.frames += 1;
        Ok(())
    }
}

/// Frames begin at even places.
fn at_even_places(part: Part) -> Part {
    let (x, y) = (part.x & !1, part.y & !1);
    Part { x, y, width: part.width + part.x - x, height: part.height + part.y - y }
}

fn three(number: u32) -> [u8; 3] {
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
    fn what_is_shown_is_what_another_reader_sees() {
        let mut picture = Picture::new(64, 48, vec![255; 64 * 48 * 4]).expect("filled");
        let mut animation = Animation::new(64, 48);
        let mut shown = Vec::new();
        for step in 0..3_u8 {
            let moment = 1_000 + u64::from(step) * 250;
            picture.fill(i64::from(step) * 9 + 3, 7, 5, 5, [step * 80, 0, 0, 255]);
            animation.show(picture.clone(), moment).expect("taken");
            animation.show(picture.clone(), moment + 100).expect("the same goes on");
            shown.push(picture.clone());
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
    fn an_animation_without_frames_is_still_one() {
        let file = Animation::new(2, 2).finish(5).expect("written");
        assert!(file.starts_with(b"RIFF") && file.len() == 12 + 18 + 14);
    }
}
