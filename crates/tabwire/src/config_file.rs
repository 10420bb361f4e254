//! The user's `config.toml`: defaults that flags and environment variables override.

use std::path::Path;

use serde::Deserialize;
use tabwire_wire::{ErrorCode, Failure};

/// What the file may say.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ConfigFile {
    /// Which browser to launch: a kind, a channel or an executable.
    pub(crate) browser: Option<String>,
    /// The loopback port the daemon asks for.
    pub(crate) port: Option<u16>,
    /// Seconds a launched browser outlives a daemon that died.
    pub(crate) linger: Option<f64>,
    /// Seconds the daemon stays with nothing to do.
    pub(crate) idle_exit: Option<f64>,
    /// How much the daemon logs.
    pub(crate) log: Option<String>,
}

/// Largest file that is read.
const FILE_BYTES: u64 = 64 * 1024;

impl ConfigFile {
    /// Reads the file; a missing one says nothing, a broken one is an error that names the place.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let size = match std::fs::metadata(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(unusable(path, &error.to_string())),
            Ok(found) => found.len(),
        };
        if size > FILE_BYTES {
            return Err(unusable(path, "it is too large"));
        }
        let text = std::fs::read_to_string(path).map_err(|error| unusable(path, &error.to_string()))?;
        toml::from_str(&text).map_err(|error| unusable(path, error.to_string().trim()))
    }
}

fn unusable(path: &Path, why: &str) -> Failure {
    Failure::new(ErrorCode::BadArgs, format!("The configuration {} cannot be used: {why}", path.display()))
        .with_hint("It may set browser, port, linger, idle_exit and log. Mend it or remove it.")
}

#[cfg(test)]
mod tests {
    use super::ConfigFile;

    #[test]
    fn a_file_sets_defaults_and_a_broken_one_is_named_with_its_line() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("config.toml");
        assert_eq!(ConfigFile::read(&path), Ok(ConfigFile::default()));
        std::fs::write(&path, "browser = \"chrome-beta\"\nport = 0\nlinger = 2.5\n").expect("written");
        let read = ConfigFile::read(&path).expect("a configuration");
        assert_eq!(
            (read.browser.as_deref(), read.port, read.linger),
            (Some("chrome-beta"), Some(0), Some(2.5))
        );
        std::fs::write(&path, "browser = \"chrome\"\nbrowsr = 1\n").expect("written");
        let failure = ConfigFile::read(&path).expect_err("an unknown key");
        assert!(failure.message.contains("line 2") && failure.message.contains("browsr"), "{failure}");
    }
}
