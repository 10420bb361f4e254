//! Headers of a request or response, in order, with their original names.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use tabwire_api::{ErrorCode, Failure};

/// One header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Header {
    /// Its name.
    pub(crate) name: String,
    /// Its value.
    pub(crate) value: String,
}

/// Headers in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct HeaderList(Vec<Header>);

impl HeaderList {
    /// Parses `Name: value`.
    pub(crate) fn parse(lines: &[String]) -> Result<Self, Failure> {
        lines.iter().map(|line| parse_header(line)).collect::<Result<Vec<_>, _>>().map(Self)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Header> {
        self.0.iter()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value of the first header with this name, ignoring case.
    pub(crate) fn find(&self, name: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|header| header.name.eq_ignore_ascii_case(name))
            .map(|header| header.value.as_str())
    }

    pub(crate) fn push(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.0.push(Header { name: name.into(), value: value.into() });
    }

    /// The headers with secrets masked.
    pub(crate) fn masked(&self) -> Self {
        self.map_values(|header| tabwire_secrets::mask_header(&header.name, &header.value))
    }

    /// Removes every header with this name.
    pub(crate) fn remove(&mut self, name: &str) {
        self.0.retain(|header| !header.name.eq_ignore_ascii_case(name));
    }

    /// Replaces the headers with this name.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.remove(name);
        self.push(name, value);
    }

    /// The headers in CDP format.
    pub(crate) fn to_value(&self) -> serde_json::Value {
        serde_json::json!(self.0)
    }

    /// The headers with every value changed.
    pub(crate) fn map_values(&self, mut change: impl FnMut(&Header) -> String) -> Self {
        Self(
            self.0.iter().map(|header| Header { name: header.name.clone(), value: change(header) }).collect(),
        )
    }
}

impl FromIterator<Header> for HeaderList {
    fn from_iter<I: IntoIterator<Item = Header>>(headers: I) -> Self {
        Self(headers.into_iter().collect())
    }
}

/// CDP sends headers as an object; several of one name are lines of one value.
impl<'de> Deserialize<'de> for HeaderList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let object = serde_json::Map::deserialize(deserializer)?;
        let mut headers = Self::default();
        for (name, value) in object {
            let Some(value) = value.as_str() else { continue };
            for line in value.split('\n') {
                headers.push(name.clone(), line);
            }
        }
        Ok(headers)
    }
}

/// Whether the name is a valid header name.
pub(crate) fn is_header_name(name: &str) -> bool {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(is_token)
}

fn parse_header(line: &str) -> Result<Header, Failure> {
    let found = line.split_once(':').map(|(name, value)| (name.trim(), value.trim()));
    match found {
        Some((name, value)) if is_header_name(name) && !value.chars().any(char::is_control) => {
            Ok(Header { name: name.to_owned(), value: value.to_owned() })
        }
        // The line may contain a secret, so the message does not quote it.
        _ => Err(Failure::new(ErrorCode::BadArgs, "A header is not written as `Name: value`.").with_remedy(
            "Use headers such as `X-Trace: 1`, without spaces in the name and control characters in the value.",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_parsed_from_text_and_from_cdp() {
        let given = HeaderList::parse(&["X-A: 1:2".to_owned(), "b:".to_owned()]).expect("valid");
        assert_eq!((given.find("x-a"), given.find("B")), (Some("1:2"), Some("")));
        for bad in ["no colon", ": x", "a b: c", "a: b\nc"] {
            let failure = HeaderList::parse(&[bad.to_owned()]).expect_err(bad);
            assert_eq!(failure.code, ErrorCode::BadArgs);
        }
        let wire: HeaderList = serde_json::from_str(r#"{"Set-Cookie": "a=1\nb=2", "N": 3}"#).expect("valid");
        assert_eq!(wire.iter().filter(|header| header.name == "Set-Cookie").count(), 2);
    }
}
