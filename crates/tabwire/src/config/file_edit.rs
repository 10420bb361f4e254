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
}
