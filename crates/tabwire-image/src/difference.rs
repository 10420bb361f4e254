//! Where two pictures differ, in numbers and as a picture. Knows nothing of what they show.

use crate::limits::DIFFERENT_PARTS;
use crate::picture::Picture;

/// Pixels of a square that is looked at as one when parts are told apart.
const SQUARE: u32 = 16;

/// What is different, and what is not.
const DIFFERENT: [u8; 4] = [220, 0, 40, 255];

/// A part of a picture, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// From the left.
    pub x: u32,
    /// From the top.
    pub y: u32,
    /// How wide.
    pub width: u32,
    /// How high.
    pub height: u32,
}

impl Part {
    fn of_pixel(x: u32, y: u32) -> Self {
        Self { x, y, width: 1, height: 1 }
    }

    fn with(self, other: Self) -> Self {
        let (x, y) = (self.x.min(other.x), self.y.min(other.y));
        let right = (self.x + self.width).max(other.x + other.width);
        let bottom = (self.y + self.height).max(other.y + other.height);
        Self { x, y, width: right - x, height: bottom - y }
    }
}

/// How two pictures differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Pixels that are different; those that only one picture has count too.
    pub changed: u64,
    /// Pixels in all.
    pub total: u64,
    /// Parts in which something is different, the largest first, a bounded number.
    pub parts: Vec<Part>,
    /// The second picture, pale, with what is different in red.
    pub picture: Picture,
}

impl Picture {
    /// Compares with another picture. Colours that are at most `tolerance` apart are the same.
    #[must_use]
    pub fn compare(&self, other: &Self, tolerance: u8) -> Difference {
        let (width, height) = (self.width().max(other.width()), self.height().max(other.height()));
        let mut squares = Squares::new(width);
        let mut pixels = Vec::with_capacity(other.pixels().len());
        let mut changed = 0;
        for y in 0..height {
            let is_same_row =
                self.width() == other.width() && self.row(y).is_some() && self.row(y) == other.row(y);
            for x in 0..width {
                let is_different = !is_same_row
                    && match (self.pixel(x, y), other.pixel(x, y)) {
                        (Some(old), Some(new)) => distance(old, new) > tolerance,
                        _ => true,
                    };
                if is_different {
                    changed += 1;
                    squares.add(x, y);
                }
                pixels.extend(if is_different { DIFFERENT } else { pale(other.pixel(x, y)) });
            }
        }
        let total = u64::from(width) * u64::from(height);
        // Filled row by row just now.
        let picture = Self::new(width, height, pixels).unwrap_or_else(|_| other.clone());
        Difference { changed, total, parts: squares.parts(), picture }
    }

    /// The smallest part that holds everything that is different in another picture of the same size.
    #[must_use]
    pub fn changed_part(&self, other: &Self) -> Option<Part> {
        let mut part: Option<Part> = None;
        for y in 0..other.height() {
            if self.row(y) == other.row(y) {
                continue;
            }
            let differs = |x: &u32| self.pixel(*x, y) != other.pixel(*x, y);
            let (first, last) = ((0..other.width()).find(differs), (0..other.width()).rev().find(differs));
            if let (Some(first), Some(last)) = (first, last) {
                let row = Part { x: first, y, width: last - first + 1, height: 1 };
                part = Some(part.map_or(row, |part| part.with(row)));
            }
        }
        part
    }

    /// A part of the picture; what reaches beyond is cut off.
    ///
    /// # Errors
    /// When nothing is left.
    pub fn cropped(&self, part: Part) -> Result<Self, crate::ImageError> {
        let (right, bottom) = (part.x + part.width, part.y + part.height);
        let (right, bottom) = (right.min(self.width()), bottom.min(self.height()));
        let (width, height) = (right.saturating_sub(part.x), bottom.saturating_sub(part.y));
        let pixels = (part.y..bottom)
            .flat_map(|y| (part.x..right).filter_map(move |x| self.pixel(x, y)))
            .flatten()
            .collect();
        Self::new(width, height, pixels)
    }

    fn row(&self, y: u32) -> Option<&[u8]> {
        let length = usize::try_from(self.width()).ok()? * 4;
        let start = usize::try_from(y).ok()?.checked_mul(length)?;
        self.pixels().get(start..start + length)
    }
}

fn distance(old: [u8; 4], new: [u8; 4]) -> u8 {
    old.iter().zip(new).map(|(old, new)| old.abs_diff(new)).max().unwrap_or(0)
}

fn pale(pixel: Option<[u8; 4]>) -> [u8; 4] {
    let [red, green, blue, _] = pixel.unwrap_or([255; 4]);
    let grey = (u16::from(red) * 3 + u16::from(green) * 6 + u16::from(blue)) / 10;
    let light = u8::try_from(255 - (255 - grey) / 5).unwrap_or(255);
    [light, light, light, 255]
}

/// Squares in which something is different.
struct Squares {
    across: u32,
    marked: std::collections::BTreeMap<u32, Part>,
}

impl Squares {
    fn new(width: u32) -> Self {
        Self { across: width.div_ceil(SQUARE).max(1), marked: std::collections::BTreeMap::new() }
    }

    fn add(&mut self, x: u32, y: u32) {
        let pixel = Part::of_pixel(x, y);
        let at = (y / SQUARE) * self.across + x / SQUARE;
        self.marked.entry(at).and_modify(|part| *part = part.with(pixel)).or_insert(pixel);
    }

    /// Squares that touch each other make one part.
    fn parts(mut self) -> Vec<Part> {
        let mut parts = Vec::new();
        while let Some((first, part)) = self.marked.pop_first() {
            let (mut whole, mut open) = (part, vec![first]);
            while let Some(at) = open.pop() {
                let (column, row) = (at % self.across, at / self.across);
                for y in row.saturating_sub(1)..=row + 1 {
                    for x in column.saturating_sub(1)..=(column + 1).min(self.across - 1) {
                        let beside = y * self.across + x;
                        if let Some(part) = self.marked.remove(&beside) {
                            whole = whole.with(part);
                            open.push(beside);
                        }
                    }
                }
            }
            parts.push(whole);
        }
        parts.sort_by_key(|part| std::cmp::Reverse(u64::from(part.width) * u64::from(part.height)));
        parts.truncate(DIFFERENT_PARTS);
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn white(width: u32, height: u32) -> Picture {
        let bytes = usize::try_from(width * height * 4).expect("small");
        Picture::new(width, height, vec![255; bytes]).expect("filled")
    }

    #[test]
    fn what_differs_is_counted_and_found() {
        let old = white(200, 100);
        let mut new = old.clone();
        new.fill(10, 10, 4, 3, [0, 0, 0, 255]);
        new.fill(150, 80, 20, 10, [250, 250, 250, 255]);
        let found = old.compare(&new, 10);
        assert_eq!((found.changed, found.total), (12, 20_000));
        assert_eq!(found.parts, [Part { x: 10, y: 10, width: 4, height: 3 }]);
        assert_eq!(found.picture.pixel(11, 11), Some(DIFFERENT));
        assert_eq!(found.picture.pixel(0, 0), Some([255; 4]));
        assert_eq!(old.compare(&new, 2).parts.len(), 2);
        assert_eq!(old.compare(&old, 0).parts, []);
        let part = old.changed_part(&new).expect("different");
        assert_eq!(part, Part { x: 10, y: 10, width: 160, height: 80 });
        assert_eq!(
            new.cropped(Part { x: 9, y: 10, width: 2, height: 1 }).expect("there").pixels()[..8],
            [255, 255, 255, 255, 0, 0, 0, 255]
        );
    }

    #[test]
    fn what_only_one_picture_has_is_different() {
        let found = white(20, 10).compare(&white(10, 20), 0);
        assert_eq!((found.changed, found.total), (300, 400));
        assert_eq!((found.picture.width(), found.picture.height()), (20, 20));
    }
}
