//! Finds the beginning of a secret at the end of a text, of which the rest is still to come.

use std::collections::BTreeSet;

use crate::secrets::redaction::{in_percents, other_forms};

/// The forms of each letter of a secret, plain and encoded, and the secret inside base64.
pub(super) struct Forms {
    spellings: Vec<Vec<Vec<String>>>,
    /// Longest spelling in bytes.
    longest: usize,
}

impl Forms {
    pub(super) fn new(secret: &str, in_base64: &[String]) -> Self {
        let letters = secret.chars().map(|letter| {
            let mut forms = vec![letter.to_string(), format!("\\{letter}")];
            forms.extend(other_forms(letter).iter().map(|form| (*form).to_owned()));
            forms.push(in_percents(letter));
            forms
        });
        let mut spellings = vec![letters.collect::<Vec<_>>()];
        spellings.extend(in_base64.iter().map(|encoded| {
            let forms = encoded.chars().map(|letter| match letter {
                '+' | '-' => vec!["+".to_owned(), "-".to_owned()],
                '/' | '_' => vec!["/".to_owned(), "_".to_owned()],
                other => vec![other.to_string()],
            });
            forms.collect()
        }));
        let bytes = |spelling: &Vec<Vec<String>>| -> usize {
            spelling.iter().map(|forms| forms.iter().map(String::len).max().unwrap_or_default()).sum()
        };
        let longest = spellings.iter().map(bytes).max().unwrap_or_default();
        Self { spellings, longest }
    }

    /// Bytes at the end of the text that can be the beginning of the secret.
    pub(super) fn beginning_at_end(&self, text: &str) -> usize {
        let from = text.ceil_char_boundary(text.len().saturating_sub(self.longest));
        let mut starts = text[from..].char_indices().map(|(at, _)| &text[from + at..]);
        let is_beginning = |rest: &&str| self.spellings.iter().any(|forms| begins(forms, rest));
        starts.find(is_beginning).map_or(0, str::len)
    }
}

/// Whether the text ends before the spelling does, and fits until then.
fn begins(spelling: &[Vec<String>], text: &str) -> bool {
    let mut reached = BTreeSet::from([0]);
    for forms in spelling {
        let mut next = BTreeSet::new();
        for at in reached {
            let rest = &text[at..];
            if rest.is_empty() || forms.iter().any(|form| form.len() > rest.len() && is_form(form, rest)) {
                return true;
            }
            let whole =
                forms.iter().filter(|form| rest.get(..form.len()).is_some_and(|text| is_form(form, text)));
            next.extend(whole.map(|form| at + form.len()));
        }
        if next.is_empty() {
            return false;
        }
        reached = next;
    }
    false
}

/// Whether a text is the beginning of a form. Hexadecimal digits of a percent-encoded one have any case.
fn is_form(form: &str, text: &str) -> bool {
    match form.get(..text.len()) {
        Some(beginning) if form.len() > 1 && form.starts_with('%') => beginning.eq_ignore_ascii_case(text),
        Some(beginning) => beginning == text,
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t39_the_beginning_of_a_secret_is_found_in_every_encoding() {
        let forms = Forms::new("c&n ary", &["Y2Fu/XJ5".to_owned()]);
        for (text, bytes) in [
            ("the password is ", 0),
            ("is c", 1),
            ("is c&n a", 5),
            ("is c&am", 4),
            ("is c\\", 2),
            ("is c%2", 3),
            ("is %63%26n%20", 13 - 3),
            ("cc&n", 3),
            ("c&n ary", 0),
            ("c&n ary c", 1),
            ("Y2Fu_", 5),
            ("äc", 1),
            ("", 0),
        ] {
            assert_eq!(forms.beginning_at_end(text), bytes, "{text}");
        }
        let slashes = Forms::new(&"\\".repeat(64), &[]);
        assert_eq!(slashes.beginning_at_end(&"\\".repeat(60)), 60, "no backtracking");
    }
}
