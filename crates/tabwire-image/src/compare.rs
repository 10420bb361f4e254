//! Compares two images and draws the differences.

use crate::image::Image;

/// Most regions of a difference; the largest are kept.
const MAX_REGIONS: usize = 50;

/// Side of a tile. Changed pixels in touching tiles form one region.
const TILE: u32 = 16;

/// Colour of changed pixels.
const CHANGED_COLOUR: [u8; 4] = [220, 0, 40, 255];

/// A region of an image, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// The left edge.
    pub x: u32,
    /// The top edge.
    pub y: u32,
    /// The width.
    pub width: u32,
    /// The height.
    pub height: u32,
}

impl Region {
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

/// The difference between two images.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Changed pixels, including those that only one image has.
    pub changed: u64,
    /// All pixels.
    pub total: u64,
    /// Changed regions, largest first.
    pub regions: Vec<Region>,
    /// The second image in pale grey, with changed pixels in red.
    pub image: Image,
}

impl Image {
    /// Compares with another image. Colours that differ by at most `tolerance` are equal.
    #[must_use]
    pub fn compare(&self, other: &Self, tolerance: u8) -> Difference {
        let (width, height) = (self.width().max(other.width()), self.height().max(other.height()));
        let mut tiles = TileMap::new(width);
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
                    tiles.add(x, y);
                }
                pixels.extend(if is_different { CHANGED_COLOUR } else { pale(other.pixel(x, y)) });
            }
        }
        let total = u64::from(width) * u64::from(height);
        // The pixels were filled row by row above.
        let image = Self::new(width, height, pixels).unwrap_or_else(|_| other.clone());
        Difference { changed, total, regions: tiles.regions(), image }
    }

    /// The smallest region that contains every change in another image of the same size.
    #[must_use]
    pub fn changed_region(&self, other: &Self) -> Option<Region> {
        let mut region: Option<Region> = None;
        for y in 0..other.height() {
            if self.row(y) == other.row(y) {
                continue;
            }
            let differs = |x: &u32| self.pixel(*x, y) != other.pixel(*x, y);
            let (first, last) = ((0..other.width()).find(differs), (0..other.width()).rev().find(differs));
            if let (Some(first), Some(last)) = (first, last) {
                let row = Region { x: first, y, width: last - first + 1, height: 1 };
                region = Some(region.map_or(row, |region| region.with(row)));
            }
        }
        region
    }

    /// The image cropped to a region.
    ///
    /// # Errors
    /// When the region is outside of the image.
    pub fn cropped(&self, region: Region) -> Result<Self, crate::ImageError> {
        let (right, bottom) = (region.x + region.width, region.y + region.height);
        let (right, bottom) = (right.min(self.width()), bottom.min(self.height()));
        let (width, height) = (right.saturating_sub(region.x), bottom.saturating_sub(region.y));
        let pixels = (region.y..bottom)
            .flat_map(|y| (region.x..right).filter_map(move |x| self.pixel(x, y)))
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

/// Tiles with changed pixels.
struct TileMap {
    across: u32,
    marked: std::collections::BTreeMap<u32, Region>,
}

impl TileMap {
    fn new(width: u32) -> Self {
        Self { across: width.div_ceil(TILE).max(1), marked: std::collections::BTreeMap::new() }
    }

    fn add(&mut self, x: u32, y: u32) {
        let pixel = Region::of_pixel(x, y);
        let at = (y / TILE) * self.across + x / TILE;
        self.marked.entry(at).and_modify(|region| *region = region.with(pixel)).or_insert(pixel);
    }

    /// Joins touching tiles into regions.
    fn regions(mut self) -> Vec<Region> {
        let mut regions = Vec::new();
        while let Some((first, region)) = self.marked.pop_first() {
            let (mut whole, mut open) = (region, vec![first]);
            while let Some(at) = open.pop() {
                let (column, row) = (at % self.across, at / self.across);
                for y in row.saturating_sub(1)..=row + 1 {
                    for x in column.saturating_sub(1)..=(column + 1).min(self.across - 1) {
                        let beside = y * self.across + x;
                        if let Some(region) = self.marked.remove(&beside) {
                            whole = whole.with(region);
                            open.push(beside);
                        }
                    }
                }
            }
            regions.push(whole);
        }
        regions.sort_by_key(|region| std::cmp::Reverse(u64::from(region.width) * u64::from(region.height)));
        regions.truncate(MAX_REGIONS);
        regions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn white(width: u32, height: u32) -> Image {
        let bytes = usize::try_from(width * height * 4).expect("small");
        Image::new(width, height, vec![255; bytes]).expect("filled")
    }

    #[test]
    fn changed_pixels_are_counted_and_located() {
        let old = white(200, 100);
        let mut new = old.clone();
        new.fill(10, 10, 4, 3, [0, 0, 0, 255]);
        new.fill(150, 80, 20, 10, [250, 250, 250, 255]);
        let found = old.compare(&new, 10);
        assert_eq!((found.changed, found.total), (12, 20_000));
        assert_eq!(found.regions, [Region { x: 10, y: 10, width: 4, height: 3 }]);
        assert_eq!(found.image.pixel(11, 11), Some(CHANGED_COLOUR));
        assert_eq!(found.image.pixel(0, 0), Some([255; 4]));
        assert_eq!(old.compare(&new, 2).regions.len(), 2);
        assert_eq!(old.compare(&old, 0).regions, []);
        let region = old.changed_region(&new).expect("different");
        assert_eq!(region, Region { x: 10, y: 10, width: 160, height: 80 });
        assert_eq!(
            new.cropped(Region { x: 9, y: 10, width: 2, height: 1 }).expect("there").pixels()[..8],
            [255, 255, 255, 255, 0, 0, 0, 255]
        );
    }

    #[test]
    fn pixels_of_only_one_image_count_as_changed() {
        let found = white(20, 10).compare(&white(10, 20), 0);
        assert_eq!((found.changed, found.total), (300, 400));
        assert_eq!((found.image.width(), found.image.height()), (20, 20));
    }
}
