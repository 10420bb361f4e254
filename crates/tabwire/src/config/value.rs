//! A setting's value: parsed from a file or typed text, written back, and shown without secrets.

use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use serde_json::json;
use tabwire_api::SessionName;
use tabwire_secrets::{MASK, mask_endpoint};
use toml::de::DeValue;
use url::Url;

use super::setting::Kind;
use crate::cli::{parse_duration, parse_size};

/// A setting's value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Text(String),
    Switch(bool),
    Port(u16),
    Time(Duration),
    Size(u16, u16),
    List(Vec<String>),
}

impl Value {
    /// Parses a value of a flag or an environment variable; the error names what is expected.
    pub(crate) fn from_text(kind: Kind, text: &str) -> Result<Self, String> {
        let list = |parts: Vec<&str>| Self::List(parts.into_iter().map(str::to_owned).collect());
        let value = match kind {
            Kind::Switch => match text.to_ascii_lowercase().as_str() {
                "1" | "true" | "yes" | "on" => Self::Switch(true),
                "0" | "false" | "no" | "off" => Self::Switch(false),
                _ => return Err(expected(kind)),
            },
            Kind::Port => Self::Port(text.parse().map_err(|_| expected(kind))?),
            Kind::Time => Self::Time(parse_duration(text).map_err(|_| expected(kind))?),
            Kind::Size => {
                let (width, height) = parse_size(text).map_err(|_| expected(kind))?;
                Self::Size(width, height)
            }
            Kind::Directories => list(text.split(':').filter(|part| !part.is_empty()).collect()),
            Kind::Flags | Kind::Headers => list(text.lines().filter(|line| !line.is_empty()).collect()),
            Kind::SessionName | Kind::WebAddress | Kind::NameOrPath | Kind::Endpoint | Kind::Choice(_) => {
                Self::Text(text.to_owned())
            }
        };
        value.checked(kind)
    }

    /// Reads a value of a file; the error says what is expected.
    pub(crate) fn from_toml(kind: Kind, found: &DeValue<'_>) -> Result<Self, String> {
        let value = match (kind, found) {
            (Kind::Switch, DeValue::Boolean(switch)) => Self::Switch(*switch),
            (Kind::Port, DeValue::Integer(number)) => {
                Self::Port(u16::from_str_radix(number.as_str(), number.radix()).map_err(|_| expected(kind))?)
            }
            (Kind::Time, DeValue::Integer(number)) => return Self::from_text(kind, number.as_str()),
            (Kind::Time, DeValue::Float(number)) => return Self::from_text(kind, number.as_str()),
            (Kind::Directories | Kind::Flags | Kind::Headers, DeValue::Array(parts)) => {
                let texts = parts.iter().map(|part| part.get_ref().as_str().map(str::to_owned));
                Self::List(texts.collect::<Option<_>>().ok_or_else(|| expected(kind))?)
            }
            (Kind::Endpoint, DeValue::Integer(number)) => Self::Text(number.as_str().to_owned()),
            (Kind::Switch | Kind::Port | Kind::Directories | Kind::Flags | Kind::Headers, _) => {
                return Err(expected(kind));
            }
            (_, DeValue::String(text)) => return Self::from_text(kind, text),
            _ => return Err(expected(kind)),
        };
        value.checked(kind)
    }

    fn checked(self, kind: Kind) -> Result<Self, String> {
        let is_web = |text: &str| {
            Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
        };
        let is_fine = match (kind, &self) {
            (Kind::SessionName, Self::Text(text)) => SessionName::new(text).is_ok(),
            (Kind::WebAddress, Self::Text(text)) => is_web(text),
            (Kind::Choice(words), Self::Text(text)) => words.contains(&text.as_str()),
            (_, Self::Text(text)) => !text.trim().is_empty() && !text.contains(['\0', '\n']),
            (Kind::Flags, Self::List(parts)) => parts.iter().all(|part| part.starts_with("--")),
            (Kind::Headers, Self::List(parts)) => {
                parts.iter().all(|part| part.contains(':') || part.starts_with('@'))
            }
            (_, Self::List(parts)) => parts.iter().all(|part| !part.is_empty() && !part.contains('\0')),
            _ => true,
        };
        if is_fine { Ok(self) } else { Err(expected(kind)) }
    }

    /// The same value with paths resolved against a directory.
    pub(crate) fn seen_from(self, kind: Kind, base: &Path, home: Option<&Path>) -> Self {
        let absolute = |text: String| absolute(&text, base, home).display().to_string();
        match (kind, self) {
            (Kind::Directories, Self::List(parts)) => Self::List(parts.into_iter().map(absolute).collect()),
            (Kind::NameOrPath, Self::Text(text)) if text.contains('/') => Self::Text(absolute(text)),
            (Kind::Endpoint, Self::Text(text)) if text.starts_with(['/', '.', '~']) => {
                Self::Text(absolute(text))
            }
            (Kind::Headers, Self::List(parts)) => {
                let seen = parts.into_iter().map(|part| match part.strip_prefix('@') {
                    Some(file) => format!("@{}", absolute(file.to_owned())),
                    None => part,
                });
                Self::List(seen.collect())
            }
            (_, value) => value,
        }
    }

    /// The value as TOML.
    pub(crate) fn to_toml(&self) -> String {
        match self {
            Self::Text(text) => quoted(text),
            Self::Switch(switch) => switch.to_string(),
            Self::Port(port) => port.to_string(),
            Self::Time(_) | Self::Size(..) => quoted(&self.to_text()),
            Self::List(parts) => {
                format!("[{}]", parts.iter().map(|part| quoted(part)).collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// The value for `--json`.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Text(text) => json!(text),
            Self::Switch(switch) => json!(switch),
            Self::Port(port) => json!(port),
            Self::Time(time) => json!(time.as_secs_f64()),
            Self::Size(..) => json!(self.to_text()),
            Self::List(parts) => json!(parts),
        }
    }

    /// The value as it is typed and shown.
    pub(crate) fn to_text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Switch(switch) => switch.to_string(),
            Self::Port(port) => port.to_string(),
            Self::Time(time) if time.subsec_millis() == 0 => format!("{}s", time.as_secs()),
            Self::Time(time) => format!("{}ms", time.as_millis()),
            Self::Size(width, height) => format!("{width}x{height}"),
            Self::List(parts) => parts.join(", "),
        }
    }

    /// The same value with secrets masked.
    pub(crate) fn masked(&self, kind: Kind) -> Self {
        match (kind, self) {
            (Kind::Endpoint, Self::Text(text)) => Self::Text(masked_endpoint(text)),
            (Kind::Headers, Self::List(parts)) => {
                let masked = parts.iter().map(|part| match part.split_once(':') {
                    Some((name, _)) if !part.starts_with('@') => format!("{name}: {MASK}"),
                    _ => part.clone(),
                });
                Self::List(masked.collect())
            }
            _ => self.clone(),
        }
    }
}

/// The masked URL, or the text itself if it is a path or the name of a channel.
fn masked_endpoint(text: &str) -> String {
    if text.contains("://") || text.contains('@') { mask_endpoint(text) } else { text.to_owned() }
}

/// What a kind expects, for messages.
pub(crate) fn expected(kind: Kind) -> String {
    match kind {
        Kind::SessionName => {
            "a session's name: 1 to 64 letters, digits, `-`, `_` or `.`, in quotes in a file".to_owned()
        }
        Kind::WebAddress => "an http or https address, e.g. \"https://example.org\"".to_owned(),
        Kind::NameOrPath => "a name, or a path with a slash, in quotes in a file".to_owned(),
        Kind::Endpoint => "an address, in quotes in a file".to_owned(),
        Kind::Switch => "true or false".to_owned(),
        Kind::Choice(words) => format!("one of {}", words.map_quoted()),
        Kind::Size => "a width and a height, e.g. \"1280x800\"".to_owned(),
        Kind::Time => "a time, e.g. \"10s\", \"500ms\", \"2m\", or a number of seconds".to_owned(),
        Kind::Port => "a number from 0 to 65535".to_owned(),
        Kind::Directories => "a list of directories, e.g. [\"data\"]".to_owned(),
        Kind::Flags => "a list of flags that start with --, e.g. [\"--lang=de\"]".to_owned(),
        Kind::Headers => "a list of headers, e.g. [\"Name: value\"]".to_owned(),
    }
}

/// Words in quotes, as in a file.
trait MapQuoted {
    fn map_quoted(&self) -> String;
}

impl MapQuoted for [&str] {
    fn map_quoted(&self) -> String {
        self.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(", ")
    }
}

/// A quoted TOML string. JSON's escapes are valid TOML, except for one control character.
fn quoted(text: &str) -> String {
    json!(text).to_string().replace('\u{7f}', "\\u007f")
}

/// A path resolved against a directory, without `.` and `..`; `~/` is the home directory.
fn absolute(text: &str, base: &Path, home: Option<&Path>) -> PathBuf {
    let path = match (text.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => base.join(text),
    };
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_values_are_checked_and_round_trip() {
        for (kind, typed, file) in [
            (Kind::SessionName, "work", "\"work\""),
            (Kind::WebAddress, "http://localhost:3000/app", "\"http://localhost:3000/app\""),
            (Kind::Switch, "true", "true"),
            (Kind::Choice(&["a", "b"]), "b", "\"b\""),
            (Kind::Size, "1280x800", "\"1280x800\""),
            (Kind::Time, "1500ms", "\"1500ms\""),
            (Kind::Time, "90s", "\"90s\""),
            (Kind::Port, "0", "0"),
            (Kind::Directories, "a:b/c", "[\"a\", \"b/c\"]"),
            (Kind::Flags, "--lang=de\n--mute-audio", "[\"--lang=de\", \"--mute-audio\"]"),
            (Kind::NameOrPath, "a \"quoted\" name", "\"a \\\"quoted\\\" name\""),
        ] {
            let value = Value::from_text(kind, typed).unwrap_or_else(|why| panic!("{typed}: {why}"));
            assert_eq!(value.to_toml(), file, "{typed}");
            let parsed = DeValue::parse(file).unwrap_or_else(|error| panic!("{file}: {error}"));
            assert_eq!(Value::from_toml(kind, parsed.get_ref()), Ok(value), "{file}");
        }
        for (kind, typed) in [
            (Kind::SessionName, "../x"),
            (Kind::WebAddress, "file:///etc"),
            (Kind::WebAddress, "localhost:3000"),
            (Kind::Switch, "perhaps"),
            (Kind::Choice(&["a"]), "A"),
            (Kind::Size, "big"),
            (Kind::Time, "soon"),
            (Kind::Port, "65536"),
            (Kind::Flags, "lang=de"),
            (Kind::NameOrPath, " "),
        ] {
            assert_eq!(Value::from_text(kind, typed), Err(expected(kind)), "{typed}");
        }
    }

    #[test]
    fn wrong_types_in_a_file_are_refused() {
        for (kind, file) in [
            (Kind::Switch, "\"true\""),
            (Kind::Switch, "1"),
            (Kind::Port, "\"80\""),
            (Kind::Port, "-1"),
            (Kind::Size, "1280"),
            (Kind::Time, "true"),
            (Kind::Directories, "\"one\""),
            (Kind::Flags, "[1]"),
            (Kind::NameOrPath, "3"),
            (Kind::Choice(&["a"]), "{}"),
        ] {
            let parsed = DeValue::parse(file).unwrap_or_else(|error| panic!("{file}: {error}"));
            assert_eq!(Value::from_toml(kind, parsed.get_ref()), Err(expected(kind)), "{file}");
        }
    }

    #[test]
    fn secrets_are_masked() {
        for (address, shown) in [
            ("9222", "9222"),
            ("ws://host:1/devtools/browser/canary", "ws://host:1/•••"),
            ("wss://user:canary@host/?token=canary", "wss://•••@host/•••"),
            ("http://host", "http://host"),
            ("canary@host:80", "•••@host:80"),
            ("user:canary@host:80", "•••@host:80"),
        ] {
            let masked = Value::Text(address.to_owned()).masked(Kind::Endpoint);
            assert_eq!(masked, Value::Text(shown.to_owned()), "{address}");
        }
        let headers = Value::List(vec!["Authorization: canary".to_owned(), "@/a:b".to_owned()]);
        assert_eq!(headers.masked(Kind::Headers).to_text(), "Authorization: •••, @/a:b");
    }

    #[test]
    fn paths_are_relative_to_the_file_that_has_them() {
        let (base, home) = (Path::new("/p"), Some(Path::new("/h")));
        let seen = |kind, text: &str| Value::Text(text.to_owned()).seen_from(kind, base, home).to_text();
        assert_eq!(seen(Kind::NameOrPath, "work"), "work");
        assert_eq!(seen(Kind::NameOrPath, "./a/../b"), "/p/b");
        assert_eq!(seen(Kind::NameOrPath, "~/x"), "/h/x");
        assert_eq!(seen(Kind::Endpoint, "ws://h/x"), "ws://h/x");
        let list = Value::List(vec!["a".to_owned(), "/b".to_owned()]);
        assert_eq!(list.seen_from(Kind::Directories, base, home).to_text(), "/p/a, /b");
    }
}
