//! The head of a binary message: 24 bytes before the image, little-endian.

use bytes::{BufMut, BytesMut};

/// Bytes of a head.
const HEAD_BYTES: usize = 24;

/// The kind of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    /// A JPEG of a stage.
    Frame = 1,
    /// A WebP of the wall.
    Thumbnail = 2,
}

/// What the page needs to know about an image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Head {
    pub(super) kind: Kind,
    /// The session on the wall; 0 on a stage.
    pub(super) view: u8,
    pub(super) seq: u32,
    /// Milliseconds since 1970.
    pub(super) time: f64,
    /// The viewport in CSS pixels; 0 for a thumbnail.
    pub(super) size: (u16, u16),
    /// How much the page is zoomed by pinching.
    pub(super) scale: f32,
}

impl Head {
    /// The message with this head and an image.
    pub(super) fn message(self, image: &[u8]) -> BytesMut {
        let mut message = BytesMut::with_capacity(HEAD_BYTES + image.len());
        message.put_u8(self.kind as u8);
        message.put_u8(self.view);
        message.put_u16_le(0);
        message.put_u32_le(self.seq);
        message.put_f64_le(self.time);
        message.put_u16_le(self.size.0);
        message.put_u16_le(self.size.1);
        message.put_f32_le(self.scale);
        message.extend_from_slice(image);
        message
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_has_24_bytes_and_the_image_follows() {
        let head =
            Head { kind: Kind::Frame, view: 3, seq: 0x0102_0304, time: 1.0, size: (704, 396), scale: 1.0 };
        let message = head.message(b"jpeg");
        assert_eq!(&message[..8], &[1, 3, 0, 0, 4, 3, 2, 1]);
        assert_eq!(&message[16..20], &[0xc0, 2, 0x8c, 1]);
        assert_eq!(&message[HEAD_BYTES..], b"jpeg");
    }
}
