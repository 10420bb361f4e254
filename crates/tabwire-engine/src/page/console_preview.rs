//! Objects in console lines, from the preview that Chrome sends with them: `{a: 1, b: "x"}`, `[1, 2]`.

use serde::Deserialize;

/// A `Runtime.ObjectPreview`: the first properties of an object.
#[derive(Debug, Deserialize)]
pub(super) struct Preview {
    #[serde(default)]
    subtype: Option<String>,
    #[serde(default)]
    description: String,
    #[serde(default)]
    overflow: bool,
    #[serde(default)]
    properties: Vec<Property>,
}

/// A `Runtime.PropertyPreview`.
#[derive(Debug, Deserialize)]
struct Property {
    name: String,
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    value: Option<String>,
}

impl Property {
    fn value_text(&self) -> String {
        match (self.kind.as_str(), &self.value) {
            ("string", Some(text)) => format!("{text:?}"),
            (_, Some(text)) if !text.is_empty() => text.clone(),
            (kind, _) => kind.to_owned(),
        }
    }
}

impl Preview {
    /// The object as text; none for kinds that their description shows better, such as errors and elements.
    pub(super) fn into_text(self) -> Option<String> {
        let is_list = match self.subtype.as_deref() {
            None => false,
            Some("array" | "typedarray") => true,
            Some(_) => return None,
        };
        if !is_list && self.properties.is_empty() && self.description != "Object" {
            return None;
        }
        let write = |property: &Property| {
            let value = property.value_text();
            if is_list { value } else { format!("{}: {value}", property.name) }
        };
        let mut parts: Vec<String> = self.properties.iter().map(write).collect();
        if self.overflow {
            parts.push("…".to_owned());
        }
        let inside = parts.join(", ");
        Some(match (is_list, self.description.as_str()) {
            (true, _) => format!("[{inside}]"),
            (false, "Object" | "") => format!("{{{inside}}}"),
            (false, class) => format!("{class} {{{inside}}}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Preview;

    #[test]
    fn objects_are_written_with_their_properties() {
        let check = |preview: serde_json::Value, expected: Option<&str>| {
            let preview: Preview = serde_json::from_value(preview).expect("a preview");
            assert_eq!(preview.into_text().as_deref(), expected);
        };
        let property =
            |name: &str, kind: &str, value: &str| json!({"name": name, "type": kind, "value": value});
        let properties = json!([property("a", "number", "1"), property("b", "string", "x")]);
        check(json!({"description": "Object", "properties": properties}), Some("{a: 1, b: \"x\"}"));
        check(
            json!({"description": "Shop", "properties": properties, "overflow": true}),
            Some("Shop {a: 1, b: \"x\", …}"),
        );
        check(
            json!({"subtype": "array", "description": "Array(2)", "properties": properties}),
            Some("[1, \"x\"]"),
        );
        check(json!({"description": "Object"}), Some("{}"));
        check(json!({"subtype": "error", "description": "Error: no"}), None);
    }
}
