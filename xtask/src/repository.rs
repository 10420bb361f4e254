//! The root of the repository and its manifests.

use std::path::{Path, PathBuf};

use crate::error::Error;

/// The checked-out repository.
pub(crate) struct Repository {
    root: PathBuf,
}

impl Repository {
    /// Finds the repository cargo runs this xtask for.
    ///
    /// The folder known at build time is the fallback: checkouts that share a target folder share this binary.
    pub(crate) fn find() -> Repository {
        let at_build_time = || PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        let mut root = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(at_build_time, PathBuf::from);
        root.pop();
        Repository { root }
    }

    /// Another checkout.
    pub(crate) fn at(root: PathBuf) -> Repository {
        Repository { root }
    }

    /// The folder that holds the workspace manifest.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Joins a path relative to the root.
    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// Reads a text file named relative to the root.
    pub(crate) fn read(&self, relative: &str) -> Result<String, Error> {
        let path = self.path(relative);
        std::fs::read_to_string(&path).map_err(|source| Error::file(path, source))
    }

    /// Reads and parses a TOML file named relative to the root.
    pub(crate) fn read_toml(&self, relative: &str) -> Result<toml::Table, Error> {
        self.read(relative)?.parse().map_err(|error: toml::de::Error| Error::Malformed {
            path: self.path(relative),
            problem: error.message().to_owned(),
        })
    }

    /// Names the targets a manifest declares under `[[kind]]`, such as `bench` or `test`.
    pub(crate) fn declared_targets(&self, manifest: &str, kind: &str) -> Result<Vec<String>, Error> {
        Ok(declared_targets(&self.read_toml(manifest)?, kind))
    }
}

fn declared_targets(manifest: &toml::Table, kind: &str) -> Vec<String> {
    let Some(targets) = manifest.get(kind).and_then(toml::Value::as_array) else { return Vec::new() };
    targets.iter().filter_map(|target| target.get("name")?.as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_targets_are_found_by_kind() {
        let manifest = "[[bench]]\nname = \"one\"\n[[bench]]\nname = \"two\"\n[[test]]\nname = \"three\"\n";
        let manifest: toml::Table = manifest.parse().unwrap();
        assert_eq!(declared_targets(&manifest, "bench"), ["one", "two"]);
        assert_eq!(declared_targets(&manifest, "test"), ["three"]);
        assert!(declared_targets(&manifest, "example").is_empty());
    }

    #[test]
    fn the_root_holds_the_workspace_manifest() {
        assert!(Repository::find().read("Cargo.toml").unwrap().contains("[workspace]"));
    }
}
