//! Parses targets: a ref, a CSS selector, or a prefix such as `text=` or `role=`.

use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure};

use crate::snapshot::ElementRef;

/// A way to find an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Locator {
    /// A ref of a snapshot.
    Ref(ElementRef),
    /// Any other target, as the agent's search specification.
    Words(Value),
    /// The steps of a script's locator.
    Chain(Vec<Value>),
}

impl Locator {
    /// Parses a target.
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        let text = text.trim();
        if let Ok(given) = text.parse::<ElementRef>() {
            return Ok(Self::Ref(given));
        }
        if let Some(steps) = text.strip_prefix("chain=") {
            return parse_chain(steps).map(Self::Chain);
        }
        let words = match text.split_once('=') {
            Some(("css", css)) => json!({"css": css}),
            Some(("text", words)) => {
                let (words, exact) = unquoted(words);
                json!({"text": words, "exact": exact})
            }
            Some(("role", role)) => parse_role(role)?,
            Some(("label", words)) => json!({"label": unquoted(words).0, "exact": unquoted(words).1}),
            Some(("placeholder", words)) => {
                json!({"placeholder": unquoted(words).0, "exact": unquoted(words).1})
            }
            Some(("title", words)) => json!({"title": unquoted(words).0, "exact": unquoted(words).1}),
            Some(("testid", id)) => json!({"testid": unquoted(id).0}),
            Some(("xpath", path)) => json!({"xpath": path}),
            _ if text.starts_with("//") || text.starts_with("(//") => json!({"xpath": text}),
            _ if text.is_empty() => return Err(bad(text, "it is empty")),
            _ => json!({"css": text}),
        };
        let kinds = ["css", "text", "label", "placeholder", "title", "testid", "xpath"];
        if kinds.iter().any(|kind| words.get(kind).and_then(Value::as_str) == Some("")) {
            return Err(bad(text, "nothing follows the `=`"));
        }
        Ok(Self::Words(words))
    }
}

/// Longest chain of a script's locator.
const CHAIN_STEPS: usize = 100;

/// Reads the steps of a script's locator: `[{"role": "button"}, {"nth": 0}]`.
fn parse_chain(text: &str) -> Result<Vec<Value>, Failure> {
    let steps: Vec<Value> = serde_json::from_str(text).map_err(|error| bad("chain=", &error.to_string()))?;
    if steps.is_empty() || steps.len() > CHAIN_STEPS || !steps.iter().all(Value::is_object) {
        return Err(bad("chain=", &format!("a chain is a list of 1 to {CHAIN_STEPS} steps")));
    }
    Ok(steps)
}

/// Removes quotes; returns whether there were any, which means an exact match.
fn unquoted(text: &str) -> (&str, bool) {
    let text = text.trim();
    let inner = ['"', '\''].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote));
    inner.map_or((text, false), |inner| (inner, true))
}

/// Parses `button[name="Pay"][checked]`.
fn parse_role(text: &str) -> Result<Value, Failure> {
    let (role, mut rest) = text.split_at(text.find('[').unwrap_or(text.len()));
    let role = role.trim();
    if role.is_empty() || !role.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return Err(bad(text, "a role is one word, as in role=button[name=\"Pay\"]"));
    }
    let mut spec = json!({"role": role.to_ascii_lowercase(), "states": {}});
    while let Some(start) = rest.strip_prefix('[') {
        let end = closing(start).ok_or_else(|| bad(text, "a `]` is missing"))?;
        let (key, value) = match start[..end].split_once('=') {
            Some((key, value)) => (key.trim(), Some(value)),
            None => (start[..end].trim(), None),
        };
        match (key, value) {
            ("name", Some(name)) => {
                let (name, exact) = unquoted(name);
                spec["name"] = json!(name);
                spec["nameExact"] = json!(exact);
            }
            ("checked" | "selected" | "expanded" | "pressed" | "disabled" | "required" | "level", value) => {
                let value = value.map_or("true", |value| unquoted(value).0);
                spec["states"][key] = serde_json::from_str(value).unwrap_or_else(|_| json!(value));
            }
            _ => {
                let why = format!(
                    "`{key}` is not one of name, checked, selected, expanded, pressed, disabled, required, level"
                );
                return Err(bad(text, &why));
            }
        }
        rest = start[end + 1..].trim_start();
    }
    if rest.is_empty() { Ok(spec) } else { Err(bad(text, "something follows the last `]`")) }
}

/// The position of the closing bracket outside quotes.
fn closing(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            (None, ']') => return Some(at),
            (None, '"' | '\'') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            _ => {}
        }
    }
    None
}

fn bad(text: &str, why: &str) -> Failure {
    Failure::new(ErrorCode::BadArgs, format!("`{text}` names no element: {why}.")).with_remedy(
        "Use a ref from a snapshot (e12), a CSS selector, or text=, role=, label=, placeholder=, title=, testid=, xpath=.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_parsed() {
        let check = |text: &str, expected: Value| {
            assert_eq!(Locator::parse(text), Ok(Locator::Words(expected)), "{text}");
        };
        check("#id > a[href='x=y']", json!({"css": "#id > a[href='x=y']"}));
        check("text=Log in", json!({"text": "Log in", "exact": false}));
        check("text=\"Log in\"", json!({"text": "Log in", "exact": true}));
        check("title=Close", json!({"title": "Close", "exact": false}));
        check("testid=pay", json!({"testid": "pay"}));
        check("//a[1]", json!({"xpath": "//a[1]"}));
        check("xpath=//a[@b='c']", json!({"xpath": "//a[@b='c']"}));
        check("role=button", json!({"role": "button", "states": {}}));
        check(
            "role=checkbox[name=\"A ] b\"][checked]",
            json!({"role": "checkbox", "states": {"checked": true}, "name": "A ] b", "nameExact": true}),
        );
        check("role=heading[level=2]", json!({"role": "heading", "states": {"level": 2}}));
        assert!(matches!(Locator::parse("@e12"), Ok(Locator::Ref(_))));
        for wrong in [
            "",
            "text=",
            "role=",
            "role=button[name",
            "role=button[colour=red]",
            "role=a b",
            "role=x[name=y]z",
        ] {
            let failure = Locator::parse(wrong).expect_err(wrong);
            assert_eq!(failure.code, ErrorCode::BadArgs);
        }
    }
}
