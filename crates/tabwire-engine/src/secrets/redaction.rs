//! Redacts secrets from output: values of secret fields, cookies and storage, and passphrases.

use base64::Engine as _;
use regex::Regex;
use serde_json::{Map, Value};
use tabwire_secrets::MASK;

use crate::action::Secrecy;
use crate::action::registry::find_action;
use crate::secrets::beginning::Forms;

/// Most secrets that are kept; the oldest are dropped first.
const MAX_SECRETS: usize = 200;

/// Shortest base64 part of a secret to search for; shorter ones occur in every text.
const MIN_BASE64_LENGTH: usize = 8;

/// Shortest secret to search for; shorter ones are part of other words.
const MIN_SECRET_LENGTH: usize = 4;

/// The known secrets. `Debug` shows only their number.
#[derive(Default)]
pub(crate) struct Redaction {
    known: Vec<Secret>,
}

struct Secret {
    value: String,
    /// Matches the secret in every encoding.
    pattern: Option<Regex>,
    /// The same for a secret of which only the beginning is there.
    forms: Forms,
}

impl std::fmt::Debug for Redaction {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Redaction").field("known", &self.known.len()).finish()
    }
}

impl Redaction {
    /// Adds a secret. Too short ones are ignored: they occur in every text.
    pub(crate) fn learn(&mut self, secret: &str) {
        if secret.chars().count() < MIN_SECRET_LENGTH || self.known.iter().any(|known| known.value == secret)
        {
            return;
        }
        if self.known.len() >= MAX_SECRETS {
            self.known.remove(0);
        }
        self.known.push(Secret {
            value: secret.to_owned(),
            pattern: Regex::new(&encodings_pattern(secret)).ok(),
            forms: Forms::new(secret, &in_base64(secret)),
        });
    }

    /// Whether no secret is known.
    pub(crate) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// The known secrets.
    pub(crate) fn known(&self) -> Vec<String> {
        self.known.iter().map(|secret| secret.value.clone()).collect()
    }

    /// The text with every secret redacted, plain and as URLs, HTML, Markdown, quotes and base64 encode it.
    pub(crate) fn clean(&self, text: &str) -> String {
        let mut known: Vec<&Secret> = self.known.iter().collect();
        // Longest first: one secret may be a part of another.
        known.sort_by_key(|secret| std::cmp::Reverse(secret.value.len()));
        let mut clean = text.to_owned();
        for secret in known {
            clean = match &secret.pattern {
                Some(pattern) => pattern.replace_all(&clean, MASK).into_owned(),
                None => clean.replace(&secret.value, MASK),
            };
        }
        clean
    }

    /// Bytes at the end of the text that can be the beginning of a secret, in any encoding.
    pub(crate) fn beginning_at_end(&self, text: &str) -> usize {
        self.known.iter().map(|secret| secret.forms.beginning_at_end(text)).max().unwrap_or_default()
    }

    /// The value with every string redacted.
    pub(crate) fn clean_value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.clean(text)),
            Value::Array(items) => items.iter().map(|item| self.clean_value(item)).collect(),
            Value::Object(members) => Value::Object(
                members.iter().map(|(name, member)| (self.clean(name), self.clean_value(member))).collect(),
            ),
            other => other.clone(),
        }
    }

    /// An action's parameters without secrets. Typed text that the action's `result` shows is not secret; all other
    /// typed text counts as secret.
    pub(crate) fn parameters(&mut self, action: &str, params: &Value, result: Option<&Value>) -> Value {
        let Value::Object(members) = params else { return self.clean_value(params) };
        let declared = find_action(action).map(|action| action.parameter_list());
        let secrecy_of = |name: &str| match &declared {
            Some(declared) => declared.iter().find(|one| one.name == *name).and_then(|one| one.secrecy),
            // An unknown action: redact all parameters.
            None => Some(Secrecy::Secret),
        };
        let mut clean = Map::new();
        for (name, value) in members {
            // Single keys can spell a secret: redact them when the result masks the field.
            let is_masked = || result.is_none_or(|result| holds(result, MASK));
            let value = match secrecy_of(name) {
                Some(Secrecy::Keys) if is_masked() => Value::from(MASK),
                Some(Secrecy::Typed) => self.typed(value, result),
                Some(Secrecy::Secret) => {
                    self.learn_all(value);
                    Value::from(MASK)
                }
                _ => value.clone(),
            };
            clean.insert(name.clone(), value);
        }
        self.clean_value(&Value::Object(clean))
    }

    /// Typed text, redacted unless the result shows it.
    fn typed(&mut self, value: &Value, result: Option<&Value>) -> Value {
        match value {
            Value::String(text) => match serde_json::from_str::<Value>(text) {
                // The fields of a form, as JSON text.
                Ok(form @ (Value::Object(_) | Value::Array(_))) => self.typed(&form, result),
                _ if text.is_empty() || result.is_some_and(|result| holds(result, text)) => value.clone(),
                _ => {
                    // Without a result it is unknown whether the text is secret, so it is not redacted elsewhere.
                    if result.is_some() {
                        self.learn(text);
                    }
                    Value::from(MASK)
                }
            },
            Value::Array(items) => items.iter().map(|item| self.typed(item, result)).collect(),
            Value::Object(members) => {
                let mut clean = Map::new();
                for (name, member) in members {
                    let member = if name == "target" { member.clone() } else { self.typed(member, result) };
                    clean.insert(name.clone(), member);
                }
                Value::Object(clean)
            }
            other => other.clone(),
        }
    }

    fn learn_all(&mut self, value: &Value) {
        match value {
            Value::String(text) => {
                self.learn(text);
                // A header: its name is not secret, its value alone is.
                if let Some((_, value)) = text.split_once(": ") {
                    self.learn(value);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.learn_all(item)),
            Value::Object(members) => members.values().for_each(|member| self.learn_all(member)),
            _ => {}
        }
    }

    /// An action's result, redacted as a whole when it consists of secrets or the caller requested secrets.
    pub(crate) fn result(&self, action: &str, params: &Value, result: &Value) -> Value {
        let is_secret = find_action(action).is_none_or(|action| {
            let list = action.parameter_list();
            let mut revealing = list.iter().filter(|one| one.secrecy == Some(Secrecy::Reveals));
            action.has_secret_result || revealing.any(|one| params.get(&one.name) == Some(&Value::Bool(true)))
        });
        if is_secret { Value::from(MASK) } else { self.clean_value(result) }
    }
}

/// A pattern for a secret: each character plain, after a backslash, as an HTML entity or percent-encoded; or the whole
/// secret inside base64 text.
fn encodings_pattern(secret: &str) -> String {
    let mut pattern = String::new();
    for letter in secret.chars() {
        let plain = regex::escape(&letter.to_string());
        let others: String =
            other_forms(letter).iter().map(|form| format!("|{}", regex::escape(form))).collect();
        let percents = in_percents(letter);
        pattern.push_str(&format!(r"(?:\\?{plain}{others}|(?i:{percents}))"));
    }
    for encoded in in_base64(secret) {
        // base64url has `-` and `_` for `+` and `/`.
        let either = encoded.replace('+', "[-+]").replace('/', "[/_]");
        pattern.push_str(&format!("|{either}"));
    }
    pattern
}

/// How HTML and forms write a letter besides itself.
pub(super) const fn other_forms(letter: char) -> &'static [&'static str] {
    match letter {
        '&' => &["&amp;"],
        '<' => &["&lt;"],
        '>' => &["&gt;"],
        '"' => &["&quot;"],
        '\'' => &["&#39;"],
        ' ' => &["+", "&nbsp;", "\u{a0}"],
        _ => &[],
    }
}

/// A letter percent-encoded, in lower case.
pub(super) fn in_percents(letter: char) -> String {
    let mut bytes = [0; 4];
    letter.encode_utf8(&mut bytes).bytes().map(|byte| format!("%{byte:02x}")).collect()
}

/// The base64 of a secret at each of the three byte alignments, without the characters that also encode neighbouring
/// bytes. Omits forms that are too short to search for.
fn in_base64(secret: &str) -> Vec<String> {
    let encoded = (0..3).filter_map(|before| {
        let bytes = [&[0_u8; 2][..before], secret.as_bytes()].concat();
        let text = base64::engine::general_purpose::STANDARD_NO_PAD.encode(&bytes);
        let (first, end) = ((before * 8).div_ceil(6), bytes.len() * 8 / 6);
        text.get(first..end).filter(|own| own.len() >= MIN_BASE64_LENGTH).map(str::to_owned)
    });
    encoded.collect()
}

/// Whether a string in the value contains this text.
fn holds(value: &Value, text: &str) -> bool {
    match value {
        Value::String(found) => found.contains(text),
        Value::Array(items) => items.iter().any(|item| holds(item, text)),
        Value::Object(members) => members.values().any(|member| holds(member, text)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn t39_typed_text_is_redacted_unless_the_page_shows_it() {
        let mut redaction = Redaction::default();
        let shown = json!({"value": "Anna"});
        let params = json!({"target": "#name", "value": "Anna"});
        assert_eq!(redaction.parameters("fill", &params, Some(&shown)), params);
        let masked = json!({"value": "•••", "url": "/in?password=a%26b%3Cc"});
        let params = json!({"target": "#password", "value": "a&b<c"});
        let clean = redaction.parameters("fill", &params, Some(&masked));
        assert_eq!(clean, json!({"target": "#password", "value": "•••"}));
        assert_eq!(redaction.result("fill", &params, &masked)["url"], "/in?password=•••");
        let clean = redaction.clean(r"is a&b<c or a&amp;b&lt;c, a\&b\<c, %61%26b%3cc");
        assert_eq!(clean, "is ••• or •••, •••, •••");
        let form = json!({"form": "{\"#name\": \"Anna\", \"#pin\": \"123456\"}", "submit": true});
        let clean = redaction.parameters("fill_form", &form, Some(&shown));
        assert_eq!(clean["form"], json!({"#name": "Anna", "#pin": "•••"}));
        assert_eq!(redaction.clean("pin 123456"), "pin •••");
        let keys = json!({"keys": ["a", "b"]});
        assert_eq!(redaction.parameters("press", &keys, Some(&masked))["keys"], MASK);
        assert_eq!(redaction.parameters("press", &keys, Some(&shown)), keys);
        let failed = redaction.parameters("fill", &json!({"target": "a", "value": "word"}), None);
        assert_eq!((failed["value"].as_str(), redaction.clean("a word")), (Some(MASK), "a word".to_owned()));
    }

    #[test]
    fn t39_a_secret_is_redacted_inside_base64() {
        use base64::engine::general_purpose::{STANDARD, URL_SAFE};
        let mut redaction = Redaction::default();
        redaction.learn("sesame>?~open");
        for whole in ["sesame>?~open", "a:sesame>?~open", "ab:sesame>?~open", "anna:sesame>?~open, and more"]
        {
            for encoded in [STANDARD.encode(whole), URL_SAFE.encode(whole)] {
                let clean = redaction.clean(&format!("Basic {encoded}"));
                assert!(clean.contains(MASK), "{whole}: {clean}");
                let rest = clean.replace(MASK, "");
                assert!(rest.len() < clean.len() && !rest.contains(&encoded[6..14]), "{whole}: {clean}");
            }
        }
        redaction.learn("pin1");
        assert_eq!(
            redaction.clean(&STANDARD.encode("pin1")),
            STANDARD.encode("pin1"),
            "too short to search for"
        );
    }

    #[test]
    fn t39_values_of_cookies_and_passphrases_are_redacted() {
        let mut redaction = Redaction::default();
        let params = json!({"verb": "set", "name": "sid", "value": "canary", "secure": true});
        let clean = redaction.parameters("cookies", &params, Some(&json!({})));
        assert_eq!(clean, json!({"verb": "set", "name": "sid", "value": "•••", "secure": true}));
        let clean = redaction.parameters("anything", &json!({"passphrase": "canary two"}), None);
        assert_eq!(clean["passphrase"], MASK);
        assert_eq!(redaction.result("cookies", &json!({}), &json!(["canary"])), MASK);
        let asked = json!({"number": 1, "show_secrets": true});
        assert_eq!(redaction.result("request", &asked, &json!({"headers": ["a cookie"]})), MASK);
        assert!(!format!("{redaction:?}").contains("canary"));
    }
}
