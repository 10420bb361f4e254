//! Parses the fields of `fill_form`: targets and their values.

use std::fmt;

use schemars::JsonSchema;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// One field and its value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Field {
    /// The element: a ref (e12), a CSS selector, or text=, role=, label=, placeholder=, title=, testid=, xpath=.
    #[schemars(extend("x-carries" = "target"))]
    pub target: String,
    /// A text, true or false for a checkbox, or a list of options to select.
    #[schemars(extend("x-carries" = "text"))]
    pub value: Value,
}

/// Parses `TARGET=VALUE`.
pub(crate) fn parse_field(text: &str) -> Result<Field, String> {
    let wrong = || "expected TARGET=VALUE, e.g. label=Name=Anna or #name=Anna".to_owned();
    let prefixes = ["css", "text", "role", "label", "placeholder", "title", "testid", "xpath"];
    // The first `=` belongs to the prefix, such as `text=`.
    let kind = prefixes.iter().find_map(|prefix| Some(text.strip_prefix(prefix)?.strip_prefix('=')?.len()));
    let start = kind.map_or(0, |rest| text.len() - rest);
    let (mut depth, mut quote) = (0_u32, None);
    for (at, letter) in text.char_indices().skip_while(|(at, _)| *at < start) {
        match (quote, letter) {
            (Some(open), _) => quote = (open != letter).then_some(open),
            (None, '"' | '\'') => quote = Some(letter),
            (None, '[' | '(') => depth += 1,
            (None, ']' | ')') => depth = depth.saturating_sub(1),
            (None, '=') if depth == 0 => {
                let target = text[..at].trim();
                let value = Value::from(&text[at + 1..]);
                return if target.len() <= start {
                    Err(wrong())
                } else {
                    Ok(Field { target: target.to_owned(), value })
                };
            }
            _ => {}
        }
    }
    Err(wrong())
}

/// Parses fields from a list, or from a map of targets to values, in their order.
pub(crate) fn read_fields<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Field>, D::Error> {
    struct Fields;
    impl<'de> Visitor<'de> for Fields {
        type Value = Vec<Field>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("a list of {target, value}, or a map from targets to values")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<Field>, A::Error> {
            let mut fields = Vec::new();
            while let Some((target, value)) = map.next_entry()? {
                fields.push(Field { target, value });
            }
            Ok(fields)
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<Field>, A::Error> {
            let mut fields = Vec::new();
            while let Some(field) = list.next_element()? {
                fields.push(field);
            }
            Ok(fields)
        }
    }
    deserializer.deserialize_any(Fields)
}

/// Parses fields from JSON text.
pub(crate) fn parse_fields(text: &str) -> Result<Vec<Field>, serde_json::Error> {
    read_fields(&mut serde_json::Deserializer::from_str(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_splits_after_its_target() {
        let check = |text: &str, target: &str, value: &str| {
            let field = parse_field(text).expect(text);
            assert_eq!((field.target.as_str(), field.value), (target, Value::from(value)), "{text}");
        };
        check("#name=Anna", "#name", "Anna");
        check("label=Name=Anna", "label=Name", "Anna");
        check("label=Name=a=b", "label=Name", "a=b");
        check("e12=", "e12", "");
        check("input[name=\"q\"]=x", "input[name=\"q\"]", "x");
        check("input[name=q]=x", "input[name=q]", "x");
        check("role=textbox[name=\"A = B\"]=x", "role=textbox[name=\"A = B\"]", "x");
        for wrong in ["", "name", "=x", "label=Name", "label==x"] {
            assert!(parse_field(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn map_order_is_kept() {
        let fields = parse_fields(r##"{"#b": 1, "#a": true, "#c": ["x"]}"##).expect("fields");
        let targets: Vec<&str> = fields.iter().map(|field| field.target.as_str()).collect();
        assert_eq!(targets, ["#b", "#a", "#c"]);
        assert!(parse_fields("7").is_err());
        assert!(parse_fields(r#"[{"target": "a"}]"#).is_err());
    }
}
