//! Changes one setting in a file; comments, order and layout stay.

use super::layer::Layer;
use super::setting::Setting;
use super::value::Value;

/// The text with the setting changed; `layer` is the parsed text.
pub(crate) fn set_in_file(text: &str, layer: &Layer, setting: &Setting, value: &Value) -> String {
    let written = value.to_toml();
    let found = layer.entries.iter().find(|entry| entry.setting.key == setting.key);
    if let Some(entry) = found {
        let (before, after) = (&text[..entry.span.start], &text[entry.span.end..]);
        return format!("{before}{written}{after}");
    }
    let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{text}{gap}{} = {written}\n", setting.name)
}

/// The text without the lines of the setting; `None` if it does not set it. `layer` is the parsed text.
pub(crate) fn unset_in_file(text: &str, layer: &Layer, setting: &Setting) -> Option<String> {
    let entry = layer.entries.iter().find(|entry| entry.setting.key == setting.key)?;
    // The span is that of the value, which may have several lines; a key and its value start on the same line.
    let start = text.get(..entry.span.start)?.rfind('\n').map_or(0, |at| at + 1);
    let rest = text.get(entry.span.end..)?;
    let end = rest.find('\n').map_or(text.len(), |at| entry.span.end + at + 1);
    Some(format!("{}{}", text.get(..start)?, text.get(end..)?))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::setting::Key;

    #[test]
    fn only_the_value_changes() {
        for (text, key, typed, expected) in [
            ("", Key::Headed, "true", "headed = true\n"),
            ("# mine\nport = 1", Key::Headed, "true", "# mine\nport = 1\nheaded = true\n"),
            ("# a\nheaded = true # why\nport=1\n", Key::Headed, "no", "# a\nheaded = false # why\nport=1\n"),
            (
                "roots = [\n 'a', # first\n]\nport = 1\n",
                Key::Roots,
                "b:c",
                "roots = [\"b\", \"c\"]\nport = 1\n",
            ),
            ("browser = 'chrome'\n", Key::Browser, "edge", "browser = \"edge\"\n"),
        ] {
            let path = Path::new("/p/config.toml");
            let layer = Layer::parse(text, path, None).expect("valid");
            let setting = key.setting();
            let value = Value::from_text(setting.kind, typed).expect("valid");
            let changed = set_in_file(text, &layer, setting, &value);
            assert_eq!(changed, expected);
            let again = Layer::parse(&changed, path, None).expect("still valid");
            assert_eq!(again.entries.iter().filter(|entry| entry.setting.key == key).count(), 1);
        }
    }

    #[test]
    fn unset_removes_the_lines_of_one_setting() {
        for (text, expected) in [
            ("# a\nheaded = true # why\nport=1\n", Some("# a\nport=1\n")),
            ("port = 1\nheaded = true", Some("port = 1\n")),
            ("port = 1\n", None),
        ] {
            let layer = Layer::parse(text, Path::new("/p/config.toml"), None).expect("valid");
            assert_eq!(unset_in_file(text, &layer, Key::Headed.setting()).as_deref(), expected);
        }
        let text = "roots = [\n 'a',\n 'b',\n]\nport = 1\n";
        let layer = Layer::parse(text, Path::new("/p/config.toml"), None).expect("valid");
        assert_eq!(unset_in_file(text, &layer, Key::Roots.setting()).as_deref(), Some("port = 1\n"));
    }
}
