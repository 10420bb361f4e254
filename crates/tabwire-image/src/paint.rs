//! Painting over parts of a picture. Knows nothing of what is hidden by it.

use crate::picture::Picture;

impl Picture {
    /// Gives a rectangle one colour; what reaches beyond the picture is cut off.
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_rectangle_is_painted() {
        let mut picture = Picture::new(10, 10, vec![0; 400]).expect("filled");
        picture.fill(8, -3, 50, 5, [1; 4]);
        picture.fill(-5, -5, 3, 3, [2; 4]);
        let painted = (0..100).filter(|at| picture.pixel(at % 10, at / 10) == Some([1; 4])).count();
        assert_eq!(painted, 4);
        assert!(picture.pixels().iter().all(|byte| *byte < 2));
    }
}
