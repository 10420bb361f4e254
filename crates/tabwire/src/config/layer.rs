//! One configuration file: its settings with their lines. An invalid file is an error that names the line,
//! never ignored.

use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use tabwire_api::{ErrorCode, Failure};
use toml::de::DeTable;

use super::setting::{Setting, find_setting};
use super::settings::SETTINGS;
use super::value::Value;

/// Largest file that is read.
pub(crate) const FILE_BYTES: u64 = 64 * 1024;

/// The settings of a file.
#[derive(Debug, Default)]
pub(crate) struct Layer {
    pub(crate) entries: Vec<Entry>,
}

/// One setting of a file.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) setting: &'static Setting,
    pub(crate) value: Value,
    pub(crate) line: usize,
    /// The position of the value in the text.
    pub(crate) span: std::ops::Range<usize>,
}

impl Layer {
    /// Reads a file; a missing one sets nothing.
    pub(crate) fn read(path: &Path, home: Option<&Path>) -> Result<Self, Failure> {
        match read_text(path)? {
            None => Ok(Self::default()),
            Some(text) => Self::parse(&text, path, home),
        }
    }

    /// Parses a file's text. Paths in it are relative to the file's directory.
    pub(crate) fn parse(text: &str, path: &Path, home: Option<&Path>) -> Result<Self, Failure> {
        let table = DeTable::parse(text).map_err(|error| {
            let line = error.span().map_or(1, |span| line_of(text, span.start));
            let message = error.message().lines().collect::<Vec<_>>().join(", ");
            unusable(path, line, &format!("this is not TOML: {message}."))
                .with_remedy("A line is `name = value`, with text in double quotes.")
        })?;
        let base = path.parent().unwrap_or(Path::new("/"));
        let mut entries = Vec::new();
        for (name, value) in table.get_ref().iter() {
            let line = line_of(text, name.span().start);
            let setting = find_setting(name.get_ref())
                .filter(|setting| setting.name == name.get_ref().as_ref())
                .ok_or_else(|| unknown(path, line, name.get_ref()))?;
            let read = Value::from_toml(setting.kind, value.get_ref()).map_err(|expected| {
                unusable(path, line, &format!("`{}` is {expected}.", setting.name))
                    .with_remedy(setting.meaning)
            })?;
            let value_read = read.seen_from(setting.kind, base, home);
            entries.push(Entry { setting, value: value_read, line, span: value.span() });
        }
        Ok(Self { entries })
    }
}

/// The text of a file; `None` when it does not exist.
pub(crate) fn read_text(path: &Path) -> Result<Option<String>, Failure> {
    let failed = |why: &str| {
        let message = format!("The configuration {} cannot be read: {why}.", path.display());
        Failure::new(ErrorCode::BadArgs, message).with_remedy("Correct or remove it.")
    };
    let file = match std::fs::File::open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && path.symlink_metadata().is_err() => {
            return Ok(None);
        }
        opened => opened.map_err(|error| failed(&error.to_string()))?,
    };
    let found = file.metadata().map_err(|error| failed(&error.to_string()))?;
    if !found.is_file() {
        return Err(failed("it is not a file"));
    }
    let user = rustix::process::geteuid().as_raw();
    // In containers, root often works on files of other users.
    if user != 0 && found.uid() != user && found.uid() != 0 {
        return Err(failed("it belongs to another user")
            .with_remedy("Take it over with chown, or pass --global to leave the project."));
    }
    let mut text = String::new();
    file.take(FILE_BYTES + 1).read_to_string(&mut text).map_err(|error| failed(&error.to_string()))?;
    if text.len() as u64 > FILE_BYTES {
        return Err(failed("it is larger than 64 KiB"));
    }
    Ok(Some(text))
}

/// The line number of a position.
fn line_of(text: &str, place: usize) -> usize {
    let before = text.as_bytes().get(..place).unwrap_or(text.as_bytes());
    1 + before.iter().filter(|byte| **byte == b'\n').count()
}

/// The error of an invalid file, with the line.
pub(crate) fn unusable(path: &Path, line: usize, why: &str) -> Failure {
    Failure::new(ErrorCode::BadArgs, format!("{}:{line}: {why}", path.display()))
}

fn unknown(path: &Path, line: usize, name: &str) -> Failure {
    let name: String = name.chars().take(80).collect();
    let failure = unusable(path, line, &format!("there is no setting `{name}`."));
    failure.with_remedy(unknown_hint(&name))
}

/// A suggestion for an unknown name.
pub(crate) fn unknown_hint(name: &str) -> String {
    match find_nearest(name, SETTINGS.iter().map(|setting| setting.name)) {
        Some(near) => format!("Did you mean `{near}`? `tabwire config show` lists all settings."),
        None => "`tabwire config show` lists all settings.".to_owned(),
    }
}

/// The known name with the fewest edits, if at most a third of it is wrong.
fn find_nearest<'a>(typed: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let typed = typed.to_ascii_lowercase().replace('-', "_");
    let (edits, name) =
        known.map(|name| (strsim::levenshtein(&typed, name), name)).min_by_key(|(edits, _)| *edits)?;
    (edits * 3 <= name.len().max(3)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_similar_names_get_a_suggestion() {
        let known = ["browser", "headed", "base_url", "port"];
        let nearest = |typed| find_nearest(typed, known.into_iter());
        assert_eq!(nearest("browsr"), Some("browser"));
        assert_eq!(nearest("base-url"), Some("base_url"));
        assert_eq!(nearest("Headed"), Some("headed"));
        assert_eq!(nearest("prot"), None, "two of four letters are another word");
        assert_eq!(nearest("colour"), None);
    }
    use crate::config::setting::Key;

    fn parse(text: &str) -> Result<Layer, Failure> {
        Layer::parse(text, Path::new("/p/tabwire.toml"), None)
    }

    #[test]
    fn every_setting_is_found_with_its_line() {
        let layer = parse("# ours\nbrowser = \"chrome-beta\"\n\nlinger = 2.5\nroots = [\n  \"data\",\n]\n")
            .expect("valid");
        let found: Vec<_> = layer.entries.iter().map(|entry| (entry.setting.key, entry.line)).collect();
        for expected in [(Key::Browser, 2), (Key::Linger, 4), (Key::Roots, 5)] {
            assert!(found.contains(&expected), "{found:?}");
        }
        let roots = layer.entries.iter().find(|entry| entry.setting.key == Key::Roots).expect("roots");
        assert_eq!(roots.value.to_text(), "/p/data");
        assert!(parse("").expect("nothing is fine").entries.is_empty());
    }

    #[test]
    fn an_error_names_file_line_and_nearest_setting() {
        for (text, place, word) in [
            ("browser = \"chrome\"\nbrowsr = 1\n", "/p/tabwire.toml:2: ", "`browser`"),
            ("\n\nheaded = \"yes\"", "/p/tabwire.toml:3: `headed` is true or false", "window"),
            ("port = 99999", "/p/tabwire.toml:1: `port` is a number", "daemon"),
            ("port = \n", "/p/tabwire.toml:1: this is not TOML", "name = value"),
            ("headed = true\nheaded = false", "/p/tabwire.toml:2: this is not TOML", "name = value"),
            ("[session]\nname = \"x\"", "/p/tabwire.toml:1: `session` is a session's name", "act on"),
            ("base-url = \"http://x\"", "/p/tabwire.toml:1: there is no setting `base-url`", "`base_url`"),
            ("colour = 1", "/p/tabwire.toml:1: there is no setting `colour`", "config show"),
        ] {
            let failure = parse(text).expect_err(text);
            assert_eq!(failure.code, ErrorCode::BadArgs);
            assert!(failure.message.starts_with(place), "{text:?}: {failure:?}");
            assert!(failure.hint().contains(word), "{text:?}: {failure:?}");
        }
    }

    #[test]
    fn an_unreadable_file_is_an_error_and_a_missing_one_is_not() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("tabwire.toml");
        assert!(Layer::read(&path, None).expect("nothing").entries.is_empty());
        std::fs::write(&path, [0xff, 0xfe]).expect("written");
        assert!(Layer::read(&path, None).expect_err("no text").message.contains("cannot be read"));
        std::fs::write(&path, "#".repeat(70_000)).expect("written");
        assert!(Layer::read(&path, None).expect_err("too long").message.contains("64 KiB"));
        std::fs::remove_file(&path).expect("removed");
        std::os::unix::fs::symlink("/nowhere", &path).expect("a link");
        assert!(Layer::read(&path, None).is_err(), "a dangling link is not a missing file");
        std::fs::remove_file(&path).expect("removed");
        std::fs::create_dir(&path).expect("a directory");
        assert!(Layer::read(&path, None).is_err());
    }
}
