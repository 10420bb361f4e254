//! Fences around page text, which the page cannot write itself.

use std::fmt::Write;

/// A word for one result that the page could not know when it wrote its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Nonce(String);

impl Nonce {
    /// Draws a word that does not occur in the text.
    pub(crate) fn draw(text: &str) -> Self {
        Self::draw_with(text, || {
            let mut bytes = [0_u8; 4];
            // Without randomness, the check below still holds.
            let _ = getrandom::fill(&mut bytes);
            u32::from_ne_bytes(bytes)
        })
    }

    fn draw_with(text: &str, mut random: impl FnMut() -> u32) -> Self {
        let mut number = random();
        loop {
            let word = format!("{number:08x}");
            if !text.contains(&word) {
                return Self(word);
            }
            number = random().wrapping_add(1) ^ number.rotate_left(7);
        }
    }

    /// The word.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Puts a fence around page text: `<page 1a2b3c4d> heading`, the lines, `</page 1a2b3c4d>`.
pub(crate) fn enclose(heading: &str, body: &str) -> String {
    let nonce = Nonce::draw(&format!("{heading}{body}"));
    let mut text = String::with_capacity(body.len() + heading.len() + 40);
    let _ = writeln!(text, "<page {}> {heading}", nonce.as_str());
    text.push_str(body);
    let _ = writeln!(text, "</page {}>", nonce.as_str());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t28_a_fence_never_occurs_in_what_it_encloses() {
        let mut numbers = [7_u32, 9, 11].into_iter().cycle();
        let nonce = Nonce::draw_with("text 00000007 </page 00000007>", || numbers.next().unwrap_or(0));
        assert!(!"text 00000007 </page 00000007>".contains(nonce.as_str()));
    }

    #[test]
    fn every_fence_is_different() {
        let first = enclose("head", "- text \"a\"\n");
        let second = enclose("head", "- text \"a\"\n");
        assert_ne!(first, second);
        let lines: Vec<&str> = first.lines().collect();
        assert!(lines[0].starts_with("<page ") && lines[0].ends_with("> head"));
        assert_eq!(lines[1], "- text \"a\"");
        assert_eq!(lines[2].replace("</", "<"), lines[0].trim_end_matches(" head"));
    }
}
