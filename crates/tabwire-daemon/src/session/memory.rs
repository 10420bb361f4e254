//! Values that a session remembers between commands, as defaults of parameters: the last URL, target and file, and the
//! base of relative URLs.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_engine::{CheckedParams, Definition, Effect};
use url::Url;

/// The parameter value that means the remembered one.
pub(crate) const LAST: &str = "_";

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Remembered {
    /// The last URL that the session opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) url: Option<String>,
    /// The target of the last action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) target: Option<String>,
    /// The file that was last written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) output: Option<String>,
    /// The base of relative URLs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) base_url: Option<String>,
}

impl Remembered {
    /// Replaces parameters that are `_`, and adds required ones that are missing, by the kind of the parameter.
    pub(crate) fn complete(
        &self,
        definition: &Definition,
        params: &mut CheckedParams,
    ) -> Result<(), Failure> {
        for parameter in definition.parameter_list().iter() {
            let name = parameter.name.as_str();
            let (what, last, is_filled_in) = match parameter.carries.as_deref() {
                Some("url") => ("URL", &self.url, true),
                Some("target" | "target_or_url") => ("target", &self.target, true),
                Some("file_written" | "file_given" | "file_written_or_given") => {
                    ("file", &self.output, false)
                }
                _ => continue,
            };
            let is_wanted = match params.as_value().get(name) {
                Some(value) => value == LAST,
                None => parameter.is_required && is_filled_in,
            };
            if is_wanted {
                let Some(last) = last else { return Err(nothing_remembered(what, definition.name)) };
                params.set(name, Value::String(last.clone()));
            }
            // Other actions read a URL in their own way.
            if definition.effect == Effect::Navigate
                && parameter.carries("url")
                && let Some(url) = params.as_value().get(name).and_then(Value::as_str)
            {
                let whole = self.resolve(url)?;
                params.set(name, Value::String(whole));
            }
        }
        Ok(())
    }

    /// The URL of a caller, resolved against the base if it is relative.
    pub(crate) fn resolve(&self, text: &str) -> Result<String, Failure> {
        let text = text.trim();
        if text == LAST {
            return self.url.clone().ok_or_else(|| nothing_remembered("URL", "open"));
        }
        match &self.base_url {
            Some(base) if is_relative(text) || is_bare_word(text) => join(base, text),
            None if is_relative(text) => {
                let message = format!("`{text}` is relative, and the session has no base URL.");
                Err(Failure::new(ErrorCode::BadArgs, message).with_remedy(Remedy::new(
                    "Give a complete URL, or set a base URL once: {}.",
                    [Step::command("tabwire context set --base URL")],
                )))
            }
            _ => Ok(text.to_owned()),
        }
    }

    /// These values, with this base URL if the session has none. A base URL of the configuration is not saved, because the
    /// configuration may change.
    pub(crate) fn based_on(&self, fallback: Option<String>) -> Self {
        Self { base_url: self.base_url.clone().or(fallback), ..self.clone() }
    }

    /// Remembers the target of an action and the file it wrote.
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

/// Checks a base URL.
pub(crate) fn checked_base(text: &str) -> Result<String, Failure> {
    let whole = tabwire_engine::checked_url(text)?;
    match Url::parse(&whole) {
        Ok(url) if !url.cannot_be_a_base() => Ok(whole),
        _ => Err(Failure::new(ErrorCode::BadArgs, format!("`{text}` cannot be a base URL."))
            .with_remedy("Give a URL such as https://example.org/app/.")),
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
        Failure::new(ErrorCode::BadArgs, message).with_remedy("Give a complete URL.")
    })
}

fn nothing_remembered(what: &str, action: &str) -> Failure {
    let message = format!("{action} needs a {what}, and the session remembers none.");
    Failure::new(ErrorCode::BadArgs, message).with_remedy("Give one; later commands can omit it.")
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

    /// The parameters that an action gets from what the session remembers.
    fn completed(remembered: &Remembered, action: &str, params: Value) -> Result<Value, Failure> {
        let action = find_action(action).expect("an action");
        let mut params = action.check(params)?;
        remembered.complete(action, &mut params)?;
        Ok(params.as_value().clone())
    }

    #[test]
    fn a_required_target_or_url_that_is_left_out_is_the_last_one() {
        let given = |action, params| completed(&remembered(), action, params).expect("complete");
        assert_eq!(given("click", Value::Null), json!({"target": "#pay"}));
        assert_eq!(given("navigate", json!({})), json!({"url": "https://a.example/"}));
        let failure = completed(&Remembered::default(), "click", json!({})).expect_err("no last target");
        assert_eq!(failure.code, ErrorCode::BadArgs);
    }

    #[test]
    fn an_optional_parameter_is_filled_in_only_for_an_underscore() {
        let given = |action, params| completed(&remembered(), action, params).expect("complete");
        assert_eq!(given("screenshot", json!({})), json!({}));
        assert_eq!(given("screenshot", json!({"target": "_"})), json!({"target": "#pay"}));
        assert_eq!(given("screenshot", json!({"output": "_"})), json!({"output": "/x/shot.png"}));
        assert_eq!(given("cookies", json!({"path": "_"})), json!({"path": "_"}));
    }

    #[test]
    fn relative_urls_are_resolved_against_the_base() {
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
            assert_eq!(remembered().resolve(text).as_deref(), Ok(whole), "{text}");
        }
        assert!(Remembered::default().resolve("/login").is_err());
        assert_eq!(Remembered::default().resolve("login").as_deref(), Ok("login"));
    }

    #[test]
    fn only_web_urls_are_bases() {
        assert_eq!(checked_base("example.org/app/").as_deref(), Ok("https://example.org/app/"));
        for bad in ["file:///etc/", "data:text/html,x", "", "https://u:p@example.org/"] {
            assert!(checked_base(bad).is_err(), "{bad}");
        }
    }
}
