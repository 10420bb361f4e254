//! Scripts with `await` outside of functions, as bodies of async functions.

use std::collections::VecDeque;

/// Places where a script is divided, from its end.
const PLACES: usize = 12;

/// Forms of a script, of which the first that can be parsed has its value: as one expression; as statements, of which the
/// last one is an expression; as statements without a value.
pub(crate) fn async_forms(source: &str) -> VecDeque<String> {
    let source = source.trim_end_matches(|end: char| end == ';' || end.is_whitespace());
    let mut forms = VecDeque::from([format!("(async () => (\n{source}\n))()")]);
    for at in places(source).into_iter().rev().take(PLACES) {
        let (before, last) = source.split_at(at);
        let last = last.trim_start_matches(|start: char| start == ';' || start.is_whitespace());
        if !last.is_empty() {
            forms.push_back(format!("(async () => {{ {before}\nreturn (\n{last}\n); }})()"));
        }
    }
    forms.push_back(format!("(async () => {{ {source}\n}})()"));
    forms
}

/// The ends of lines and statements that are outside of brackets, texts and comments. A wrong place does no harm: the form
/// cannot be parsed.
fn places(source: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut depth = 0_usize;
    // The end of the text or comment that is being read.
    let mut inside: Option<&str> = None;
    let mut skips = false;
    for (at, letter) in source.char_indices() {
        let rest = &source[at..];
        match inside {
            _ if skips => skips = false,
            Some("*/") if rest.starts_with("*/") => inside = None,
            Some("\n") if letter == '\n' => inside = None,
            Some(end) => match letter {
                '\\' => skips = true,
                _ if end.len() == 1 && rest.starts_with(end) => inside = None,
                _ => {}
            },
            None => match letter {
                '"' => inside = Some("\""),
                '\'' => inside = Some("'"),
                '`' => inside = Some("`"),
                '/' if rest.starts_with("//") => inside = Some("\n"),
                '/' if rest.starts_with("/*") => inside = Some("*/"),
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth = depth.saturating_sub(1),
                _ => {}
            },
        }
        if inside.is_none() && depth == 0 && matches!(letter, ';' | '\n' | '}') {
            found.push(if letter == '}' { at + 1 } else { at });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_statement_is_the_value() {
        let forms = async_forms("const a = await b(';'); a.c;\n");
        assert_eq!(forms[0], "(async () => (\nconst a = await b(';'); a.c\n))()");
        assert_eq!(forms[1], "(async () => { const a = await b(';')\nreturn (\na.c\n); })()");
        assert_eq!(forms.len(), 3);
        assert_eq!(async_forms("await a").len(), 2);
    }

    #[test]
    fn brackets_texts_and_comments_are_not_divided() {
        let count = |source: &str| places(source).len();
        assert_eq!(count("f(() => { a; b\n})"), 0);
        assert_eq!(count("'a;b' + \"c\\\";\" + `d;`"), 0);
        assert_eq!(count("/* a;\n */ b"), 0);
        assert_eq!(count("a // b;\nc"), 1);
        assert_eq!(count("if (a) { b; } c"), 1);
    }
}
