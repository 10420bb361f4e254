//! What an answer comes to for a script: one value without fence, notes or other decoration. Knows no action.

use std::path::Path;

/// The value of an answer and nothing else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BareValue {
    /// The value.
    pub text: String,
    /// What is missing from it, if anything is: a script is not given a part for the whole without a word.
    pub cut: Option<String>,
}

impl BareValue {
    /// A whole value.
    pub(crate) fn whole(text: impl Into<String>) -> Self {
        Self { text: text.into(), cut: None }
    }

    /// Where a file is.
    pub(crate) fn path(path: &Path) -> Self {
        Self::whole(path.display().to_string())
    }

    /// Values one a line.
    pub(crate) fn lines(values: impl Iterator<Item = String>) -> Self {
        Self::whole(values.collect::<Vec<_>>().join("\n"))
    }

    /// The same, with what is missing.
    pub(crate) fn with_cut(self, cut: Option<String>) -> Self {
        Self { cut, ..self }
    }

    /// What stands between the first and the last line, which are a fence.
    pub(crate) fn unfenced(text: &str) -> Self {
        let inside = text.trim_end().split_once('\n').map_or("", |(_, rest)| rest);
        let inside = inside.rsplit_once('\n').map_or("", |(inside, _)| inside);
        Self::whole(inside)
    }
}

#[cfg(test)]
mod tests {
    use super::BareValue;
    use crate::snapshot::enclose;

    #[test]
    fn a_fence_is_taken_off_and_nothing_else() {
        for body in ["", "one\n", "one\ntwo\n", "</page x>\n\nend\n"] {
            let fenced = enclose("https://example.org \"A\"", body);
            assert_eq!(BareValue::unfenced(&fenced).text, body.trim_end_matches('\n'), "{fenced}");
        }
    }
}
