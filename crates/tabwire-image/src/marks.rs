//! Draws labelled frames on an image.

use crate::image::Image;

/// A frame around a region of an image, with a label at its corner. May extend beyond the image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The left edge.
    pub x: i64,
    /// The top edge.
    pub y: i64,
    /// The width.
    pub width: i64,
    /// The height.
    pub height: i64,
    /// The label: digits and `e`.
    pub label: String,
}

/// Colours of successive frames; white text is readable on each.
const COLOURS: [[u8; 4]; 6] = [
    [200, 30, 30, 255],
    [20, 90, 200, 255],
    [10, 120, 50, 255],
    [150, 40, 160, 255],
    [180, 90, 0, 255],
    [0, 110, 120, 255],
];
const WHITE: [u8; 4] = [255, 255, 255, 255];

impl Image {
    /// Draws frames, then their labels: inside the upper left corner, or beside the region when it is small. The frame
    /// of a small region is around it, and no label covers one if there is space elsewhere.
    pub fn draw_marks(&mut self, marks: &[Mark]) {
        let small: Vec<Area> = marks.iter().filter(|mark| mark.is_small()).map(Mark::area).collect();
        for (mark, colour) in marks.iter().zip(COLOURS.iter().cycle()) {
            self.draw_frame(mark, *colour);
        }
        let mut labels: Vec<Area> = Vec::new();
        for (mark, colour) in marks.iter().zip(COLOURS.iter().cycle()) {
            let area = self.place_label(mark, &labels, &small);
            self.draw_label(&area, &mark.label, *colour);
            labels.push(area);
        }
    }

    fn draw_frame(&mut self, mark: &Mark, colour: [u8; 4]) {
        let outer = mark.outer();
        let mark = if mark.is_small() { &outer } else { mark };
        let (right, bottom) = (mark.x + mark.width - 1, mark.y + mark.height - 1);
        // Clip first: a frame may be much larger than the image.
        let across = mark.x.max(0)..=right.min(i64::from(self.width()));
        let down = mark.y.max(0)..=bottom.min(i64::from(self.height()));
        for inset in 0..FRAME {
            for x in across.clone() {
                self.dot(x, mark.y + inset, colour);
                self.dot(x, bottom - inset, colour);
            }
            for y in down.clone() {
                self.dot(mark.x + inset, y, colour);
                self.dot(right - inset, y, colour);
            }
        }
    }

    /// A position for the label inside the image, without overlap if possible.
    fn place_label(&self, mark: &Mark, taken: &[Area], small: &[Area]) -> Area {
        let letters = i64::try_from(mark.label.chars().count()).unwrap_or(i64::MAX / 16);
        let (width, height) = (letters * i64::from(GLYPH_WIDTH + 1) + 3, i64::from(GLYPH_HEIGHT) + 4);
        let fits_inside = mark.height >= height * 2 && mark.width >= width * 2;
        let inside = (mark.x, mark.y);
        let frame = if mark.is_small() { mark.outer() } else { mark.clone() };
        let above = (frame.x, frame.y - height);
        let below = (frame.x, frame.y + frame.height);
        let right = (frame.x + frame.width, frame.y);
        let left = (frame.x - width, frame.y);
        let candidates = if fits_inside {
            [inside, above, below, right, left]
        } else {
            [above, below, right, left, inside]
        };
        let area = |(x, y): (i64, i64)| Area {
            x: x.min(i64::from(self.width()) - width).max(0),
            y: y.min(i64::from(self.height()) - height).max(0),
            width,
            height,
        };
        let areas = candidates.map(area);
        let is_free = |area: &&Area| !taken.iter().any(|other| area.overlaps(other));
        let covers_none = |area: &&Area| !small.iter().any(|other| area.overlaps(other));
        let best = areas.iter().filter(is_free).find(covers_none).or_else(|| areas.iter().find(is_free));
        *best.unwrap_or(&areas[0])
    }

    fn draw_label(&mut self, area: &Area, label: &str, colour: [u8; 4]) {
        for y in area.y..area.y + area.height {
            for x in area.x..area.x + area.width {
                self.dot(x, y, colour);
            }
        }
        let mut left = area.x + 2;
        for letter in label.chars() {
            for (row, bits) in (0_i64..).zip(rows_of(letter)) {
                for column in 0..GLYPH_WIDTH {
                    if bits >> (GLYPH_WIDTH - 1 - column) & 1 == 1 {
                        self.dot(left + i64::from(column), area.y + 2 + row, WHITE);
                    }
                }
            }
            left += i64::from(GLYPH_WIDTH + 1);
        }
    }

    fn dot(&mut self, x: i64, y: i64, colour: [u8; 4]) {
        if let (Ok(x), Ok(y)) = (u32::try_from(x), u32::try_from(y)) {
            self.set_pixel(x, y, colour);
        }
    }
}

/// Width of a frame's line.
const FRAME: i64 = 2;
/// A frame inside a lower or narrower region would cover much of it.
const SMALL: i64 = 24;

impl Mark {
    fn is_small(&self) -> bool {
        self.width < SMALL || self.height < SMALL
    }

    /// The region with the frame around it.
    fn outer(&self) -> Self {
        Self {
            x: self.x - FRAME,
            y: self.y - FRAME,
            width: self.width + 2 * FRAME,
            height: self.height + 2 * FRAME,
            label: self.label.clone(),
        }
    }

    fn area(&self) -> Area {
        Area { x: self.x, y: self.y, width: self.width, height: self.height }
    }
}

/// The position of a label or region.
#[derive(Clone, Copy, Debug)]
struct Area {
    x: i64,
    y: i64,
    width: i64,
    height: i64,
}

impl Area {
    fn overlaps(&self, other: &Self) -> bool {
        self.x < other.x + other.width
            && other.x < self.x + self.width
            && self.y < other.y + other.height
            && other.y < self.y + self.height
    }
}

/// Width of a glyph, without the gap after it.
const GLYPH_WIDTH: u32 = 5;
/// Height of a glyph.
const GLYPH_HEIGHT: u32 = 7;

/// The rows of a glyph, five bits each, the leftmost the highest; a box for other characters.
const fn rows_of(letter: char) -> [u8; 7] {
    match letter {
        '0' => [0b01110, 0b10001, 0b10011, 0b10101, 0b11001, 0b10001, 0b01110],
        '1' => [0b00100, 0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110],
        '2' => [0b01110, 0b10001, 0b00001, 0b00110, 0b01000, 0b10000, 0b11111],
        '3' => [0b11110, 0b00001, 0b00001, 0b01110, 0b00001, 0b00001, 0b11110],
        '4' => [0b00010, 0b00110, 0b01010, 0b10010, 0b11111, 0b00010, 0b00010],
        '5' => [0b11111, 0b10000, 0b11110, 0b00001, 0b00001, 0b10001, 0b01110],
        '6' => [0b00110, 0b01000, 0b10000, 0b11110, 0b10001, 0b10001, 0b01110],
        '7' => [0b11111, 0b00001, 0b00010, 0b00100, 0b01000, 0b01000, 0b01000],
        '8' => [0b01110, 0b10001, 0b10001, 0b01110, 0b10001, 0b10001, 0b01110],
        '9' => [0b01110, 0b10001, 0b10001, 0b01111, 0b00001, 0b00010, 0b01100],
        'e' => [0b00000, 0b00000, 0b01110, 0b10001, 0b11111, 0b10000, 0b01110],
        _ => [0b11111, 0b10001, 0b10001, 0b10001, 0b10001, 0b10001, 0b11111],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_drawn_at_its_position() {
        let mut image = Image::new(100, 60, vec![0; 24_000]).expect("filled");
        let mark = |x, y, label: &str| Mark { x, y, width: 30, height: 12, label: label.to_owned() };
        image.draw_marks(&[mark(20, 20, "e1"), mark(90, 50, "e12"), mark(-500, -500, "e3")]);
        assert_eq!(image.pixel(20, 32), Some(COLOURS[0]), "the frame is around a small region");
        for (x, y) in (20..50).flat_map(|x| (20..32).map(move |y| (x, y))) {
            assert_eq!(image.pixel(x, y), Some([0; 4]), "{x},{y}: a small region is left as it is");
        }
        assert_eq!(image.pixel(30, 26), Some([0; 4]), "the inside is left as it is");
        // The label is above, because the region is low.
        assert_eq!(image.pixel(20, 8), Some(COLOURS[0]));
        let white = (20..40).flat_map(|x| (8..19).map(move |y| (x, y)));
        assert!(white.filter(|(x, y)| image.pixel(*x, *y) == Some(WHITE)).count() > 15);
        assert_eq!(image.pixel(99, 48), Some(COLOURS[1]), "what reaches beyond is cut off");
    }

    #[test]
    fn labels_do_not_overlap() {
        let mut image = Image::new(200, 200, vec![0; 160_000]).expect("filled");
        let mark = Mark { x: 50, y: 50, width: 60, height: 60, label: "e10".to_owned() };
        let first = image.place_label(&mark, &[], &[]);
        let second = image.place_label(&mark, &[first], &[]);
        assert!(!first.overlaps(&second));
        image.draw_marks(&[mark.clone(), mark]);
    }

    #[test]
    fn a_label_covers_no_other_small_region() {
        let mut image = Image::new(200, 100, vec![0; 80_000]).expect("filled");
        let mark = |y, label: &str| Mark { x: 60, y, width: 14, height: 14, label: label.to_owned() };
        image.draw_marks(&[mark(20, "e1"), mark(36, "e2"), mark(52, "e3")]);
        for (x, y) in (60..74).flat_map(|x| [20, 36, 52].map(move |top| (x, top + 7))) {
            assert_eq!(image.pixel(x, y), Some([0; 4]), "{x},{y}");
        }
    }
}
