//! Errors of scripts with their place and the line of code.

use crate::message::ScriptError;
use crate::typescript::CodeError;

/// Characters of a line of code that are shown.
const LINE_CHARACTERS: usize = 160;

/// A place in the code, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) line: usize,
    pub(super) column: usize,
}

/// The error of a run that was ended from outside.
pub(super) fn cancelled(reason: &str) -> ScriptError {
    ScriptError { name: "CancelledError".to_owned(), message: reason.to_owned(), ..ScriptError::default() }
}

pub(super) fn syntax(name: &str, code: &str, error: &CodeError) -> ScriptError {
    let place = Place { line: error.line, column: error.column };
    ScriptError {
        name: "SyntaxError".to_owned(),
        message: error.message.clone(),
        place: Some(format!("{name}:{}:{}", place.line, place.column)),
        excerpt: excerpt(code, &place),
        failure: None,
    }
}

/// The innermost place of the named file in a stack trace. `shift` is the width of what was put before the first line.
pub(super) fn find_place(stack: &str, name: &str, shift: usize) -> Option<Place> {
    let mark = format!("{name}:");
    stack.lines().find_map(|line| {
        let at = line.rfind(&mark)?;
        let rest = line[at + mark.len()..].trim_end().trim_end_matches(')');
        let (line, column) = rest.split_once(':')?;
        let (line, column) = (line.parse().ok()?, column.parse::<usize>().ok()?);
        let column = if line == 1 { column.saturating_sub(shift).max(1) } else { column };
        Some(Place { line, column })
    })
}

/// The line of a place, with a caret below the column.
pub(super) fn excerpt(code: &str, place: &Place) -> Option<String> {
    let line = code.lines().nth(place.line.checked_sub(1)?)?;
    let skipped = place.column.saturating_sub(LINE_CHARACTERS / 2);
    let shown: String = line.chars().skip(skipped).take(LINE_CHARACTERS).collect();
    if shown.trim().is_empty() {
        return None;
    }
    let number = place.line.to_string();
    let before: String = shown.chars().take(place.column.saturating_sub(skipped + 1)).collect();
    // Tabs stay tabs, so that the caret is below its column.
    let indent: String = before.chars().map(|letter| if letter == '\t' { '\t' } else { ' ' }).collect();
    Some(format!("  {number} | {shown}\n  {} | {indent}^", " ".repeat(number.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_place_of_the_file_is_found() {
        let stack =
            "    at call (tabwire:api:10:3)\n    at f (script.ts:3:7)\n    at <anonymous> (script.ts:9:1)\n";
        assert_eq!(find_place(stack, "script.ts", 0), Some(Place { line: 3, column: 7 }));
        assert_eq!(
            find_place("    at <eval> (execute:1:14)", "execute", 11),
            Some(Place { line: 1, column: 3 })
        );
        assert_eq!(find_place("    at f (tabwire:api:1:1)", "execute", 0), None);
    }

    #[test]
    fn an_excerpt_points_at_the_column() {
        let place = Place { line: 2, column: 3 };
        assert_eq!(excerpt("a\n\tbcd\n", &place).as_deref(), Some("  2 | \tbcd\n    | \t ^"));
        assert_eq!(excerpt("a", &Place { line: 7, column: 1 }), None);
        assert_eq!(excerpt("a", &Place { line: 0, column: 0 }), None);
        let long = "x".repeat(10_000);
        let shown = excerpt(&long, &Place { line: 1, column: 9_000 }).expect("a line");
        assert!(shown.len() < 400);
    }
}
