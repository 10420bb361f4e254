//! What a session remembers between commands, so that later ones may leave it out: the last address, target and
//! file, and the address that relative ones begin with. Knows nothing of pages.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tabwire_engine::Definition;
use tabwire_wire::{ErrorCode, Failure};
use url::Url;

/// What stands for the last one of its kind.
pub(crate) const LAST: &str = "_";

/// Actions whose `url` is an address to go to; others read it in their own way.
const ADDRESSED: &[&str] = &["navigate", "tab_new"];

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Remembered {
    /// Where the session last went.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) url: Option<String>,
    /// The element that was last meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) target: Option<String>,
    /// The file that was last written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) output: Option<String>,
    /// What relative addresses begin with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) base_url: Option<String>,
}

impl Remembered {
    /// Puts in what a caller left out, or named with `_`.
    pub(crate) fn complete(&self, definition: &Definition, params: &mut Value) -> Result<(), Failure> {
        if params.is_null() {
            *params = serde_json::json!({});
        }
        let Some(given) = params.as_object_mut() else { return Ok(()) };
        for (name, what, last) in [
            ("url", "address", &self.url),
            ("target", "target", &self.target),
            ("path", "file", &self.output),
        ] {
            let wanted = match given.get(name) {
                Some(value) => value == LAST && takes(definition, name) != Takes::Not,
                None => takes(definition, name) == Takes::Required,
            };
            if !wanted {
                continue;
            }
            let Some(last) = last else { return Err(nothing_remembered(what, definition.name)) };
            given.insert(name.to_owned(), Value::String(last.clone()));
        }
        if ADDRESSED.contains(&definition.name)
            && let Some(url) = given.get("url").and_then(Value::as_str)
        {
            let whole = self.address(url)?;
            given.insert("url".to_owned(), Value::String(whole));
        }
        Ok(())
    }

    /// An address as a caller wrote it, made whole when it is relative.
    pub(crate) fn address(&self, text: &str) -> Result<String, Failure> {
        let text = text.trim();
        if text == LAST {
            return self.url.clone().ok_or_else(|| nothing_remembered("address", "open"));
        }
        match &self.base_url {
            Some(base) if is_relative(text) || is_bare_word(text) => join(base, text),
            None if is_relative(text) => {
                let message = format!("`{text}` is relative, and the session has no base URL.");
                Err(Failure::new(ErrorCode::BadArgs, message)
                    .with_hint("Give --base-url URL once, or a whole address."))
            }
            _ => Ok(text.to_owned()),
        }
    }

    /// The same with another base URL where it has none of its own: what a file says is not remembered, so that the
    /// file may change.
    pub(crate) fn based_on(&self, fallback: Option<String>) -> Self {
        Self { base_url: self.base_url.clone().or(fallback), ..self.clone() }
    }

    /// Takes note of what an action was asked for and what it made.
    pub(crate) fn learn(&mut self, params: &Value, result: &Value) {
        let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        if let Some(target) = text(params, "target") {
            self.target = Some(target);
        }
        if let Some(path) = text(result, "path").or_else(|| text(result, "file")) {
            self.output = Some(path);
        }
    }
}

/// How an action takes a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Takes {
    Not,
    Optional,
    Required,
}

/// Looks in the action's schema, once for each: making one takes longer than most of what is done with it.
fn takes(definition: &Definition, name: &'static str) -> Takes {
    static KNOWN: Mutex<BTreeMap<(&str, &str), Takes>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    *known.entry((definition.name, name)).or_insert_with(|| {
        let schema = (definition.parameters)();
        let required = schema["required"].as_array().is_some_and(|list| list.iter().any(|one| one == name));
        match (schema["properties"].get(name).is_some(), required) {
            (false, _) => Takes::Not,
            (true, false) => Takes::Optional,
            (true, true) => Takes::Required,
        }
    })
}

/// Checks an address that relative ones shall begin with.
pub(crate) fn checked_base(text: &str) -> Result<String, Failure> {
    let whole = tabwire_engine::checked_address(text)?;
    match Url::parse(&whole) {
        Ok(url) if !url.cannot_be_a_base() => Ok(whole),
        _ => Err(Failure::new(ErrorCode::BadArgs, format!("`{text}` cannot be a base URL."))
            .with_hint("Give an address such as https://example.org/app/.")),
    }
}

fn is_relative(text: &str) -> bool {
    let starts = text.starts_with(['/', '?', '#']) || text.starts_with("./") || text.starts_with("../");
    starts && !text.starts_with("//")
}

/// One or more words without anything that makes a host: `login`, `users/new`.
fn is_bare_word(text: &str) -> bool {
    let first = text.split(['/', '?', '#']).next().unwrap_or_default();
    !first.is_empty() && !first.contains(['.', ':', '@', '[']) && !first.eq_ignore_ascii_case("localhost")
}

fn join(base: &str, text: &str) -> Result<String, Failure> {
    let joined = Url::parse(base).and_then(|base| base.join(text));
    joined.map(String::from).map_err(|error| {
        let message = format!("`{text}` does not fit the base URL {base}: {error}.");
        Failure::new(ErrorCode::BadArgs, message).with_hint("Give a whole address.")
    })
}

fn nothing_remembered(what: &str, action: &str) -> Failure {
    let message = format!("{action} was given no {what}, and the session remembers none.");
    Failure::new(ErrorCode::BadArgs, message).with_hint("Name one; later commands may then leave it out.")
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tabwire_engine::find_action;

    use super::*;

    fn remembered() -> Remembered {
        Remembered {
            url: Some("https://a.example/".to_owned()),
            target: Some("#pay".to_owned()),
            output: Some("/x/shot.png".to_owned()),
            base_url: Some("https://b.example/app/".to_owned()),
        }
    }

    #[test]
    fn what_is_left_out_is_the_last_one() {
        let click = find_action("click").expect("an action");
        let mut params = Value::Null;
        remembered().complete(click, &mut params).expect("complete");
        assert_eq!(params, json!({"target": "#pay"}));
        let navigate = find_action("navigate").expect("an action");
        let mut params = json!({});
        remembered().complete(navigate, &mut params).expect("complete");
        assert_eq!(params, json!({"url": "https://a.example/"}));
        let failure = Remembered::default().complete(click, &mut json!({})).expect_err("nothing to go by");
        assert_eq!(failure.code, ErrorCode::BadArgs);
    }

    #[test]
    fn what_may_be_left_out_anyway_is_not_filled_in() {
        let shot = find_action("screenshot").expect("an action");
        let mut params = json!({});
        remembered().complete(shot, &mut params).expect("complete");
        assert_eq!(params, json!({}));
        let mut params = json!({"target": "_"});
        remembered().complete(shot, &mut params).expect("complete");
        assert_eq!(params, json!({"target": "#pay"}));
    }

    #[test]
    fn relative_addresses_begin_with_the_base() {
        for (text, whole) in [
            ("login", "https://b.example/app/login"),
            ("./login?x=1", "https://b.example/app/login?x=1"),
            ("/login", "https://b.example/login"),
            ("?q=1", "https://b.example/app/?q=1"),
            ("c.example/x", "c.example/x"),
            ("localhost:3000", "localhost:3000"),
            ("https://c.example", "https://c.example"),
            ("_", "https://a.example/"),
        ] {
            assert_eq!(remembered().address(text).as_deref(), Ok(whole), "{text}");
        }
        assert!(Remembered::default().address("/login").is_err());
        assert_eq!(Remembered::default().address("login").as_deref(), Ok("login"));
    }

    #[test]
    fn only_addresses_of_the_web_are_bases() {
        assert_eq!(checked_base("example.org/app/").as_deref(), Ok("https://example.org/app/"));
        for bad in ["file:///etc/", "data:text/html,x", "", "https://u:p@example.org/"] {
            assert!(checked_base(bad).is_err(), "{bad}");
        }
    }
}
