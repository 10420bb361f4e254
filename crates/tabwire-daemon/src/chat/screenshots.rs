//! Pictures of steps: the screenshots that the agent took. Kept in memory only.

use std::collections::VecDeque;
use std::path::Path;

use crate::chat::prompt::image_type;

/// Pictures of a chat, and their bytes. The oldest are dropped.
const PICTURES: usize = 24;
const PICTURES_BYTES: usize = 12 * 1024 * 1024;

/// Largest picture.
const PICTURE_BYTES: u64 = 4 * 1024 * 1024;

/// A picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Picture {
    pub(crate) mime_type: &'static str,
    pub(crate) bytes: Vec<u8>,
}

/// The latest pictures of a chat, by their numbers.
#[derive(Debug, Default)]
pub(super) struct Pictures {
    last: u64,
    kept: VecDeque<(u64, Picture)>,
    bytes: usize,
}

impl Pictures {
    /// Adds a picture; returns its number.
    pub(super) fn add(&mut self, picture: Picture) -> u64 {
        self.last += 1;
        self.bytes += picture.bytes.len();
        self.kept.push_back((self.last, picture));
        while self.kept.len() > PICTURES || self.bytes > PICTURES_BYTES {
            let Some((_, dropped)) = self.kept.pop_front() else { break };
            self.bytes -= dropped.bytes.len();
        }
        self.last
    }

    pub(super) fn find(&self, number: u64) -> Option<&Picture> {
        self.kept.iter().find(|(known, _)| *known == number).map(|(_, picture)| picture)
    }
}

/// Reads the file of a screenshot. `None` when it is too large or no image.
pub(super) async fn read_picture(path: &Path) -> Option<Picture> {
    let size = tokio::fs::metadata(path).await.ok()?.len();
    if size > PICTURE_BYTES {
        return None;
    }
    let bytes = tokio::fs::read(path).await.ok()?;
    Some(Picture { mime_type: image_type(&bytes)?, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_pictures_are_kept() {
        let mut pictures = Pictures::default();
        let picture = |size| Picture { mime_type: "image/png", bytes: vec![0; size] };
        for number in 1..=30 {
            assert_eq!(pictures.add(picture(10)), number);
        }
        assert!(pictures.find(6).is_none() && pictures.find(7).is_some());
        pictures.add(picture(PICTURES_BYTES));
        assert!(pictures.find(30).is_none() && pictures.find(31).is_some(), "bounded by bytes");
    }
}
