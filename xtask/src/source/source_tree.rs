//! The text files that git tracks or would track. Unit tests build small trees from samples.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::repository::Repository;
use crate::step::find_output;

/// One text file of the repository.
#[derive(Debug)]
pub(crate) struct SourceFile {
    /// The path below the root, with forward slashes.
    pub(crate) path: String,
    /// The whole text.
    pub(crate) text: String,
}

impl SourceFile {
    /// The file name without folders.
    pub(crate) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// The text after the last dot of the name; empty without a dot.
    pub(crate) fn extension(&self) -> &str {
        self.name().rsplit_once('.').map_or("", |(_, extension)| extension)
    }

    /// Lines with their numbers, counted from one.
    pub(crate) fn numbered_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.split_terminator('\n').enumerate().map(|(index, line)| (index + 1, line))
    }
}

/// All files of the repository that git tracks or would track.
pub(crate) struct SourceTree {
    root: PathBuf,
    paths: BTreeSet<String>,
    files: Vec<SourceFile>,
}

impl SourceTree {
    /// Reads the repository's files, new and not yet added ones included.
    pub(crate) fn read(repository: &Repository) -> Result<SourceTree, Error> {
        let arguments = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
        let listing = find_output("git", &arguments, repository.root()).ok_or_else(|| {
            let what = "the files of the repository cannot be listed".to_owned();
            Error::NeedsUser { what, hint: "Install git and run inside a git checkout.".to_owned() }
        })?;
        let mut paths = BTreeSet::new();
        let mut files = Vec::new();
        for path in listing.split('\0').filter(|path| !path.is_empty()) {
            // A tracked file may be deleted or half written.
            let Ok(bytes) = std::fs::read(repository.path(path)) else { continue };
            paths.insert(path.to_owned());
            if let Ok(text) = String::from_utf8(bytes) {
                files.push(SourceFile { path: path.to_owned(), text });
            }
        }
        files.sort_by(|left, right| left.path.cmp(&right.path));
        Ok(SourceTree { root: repository.root().to_path_buf(), paths, files })
    }

    /// A tree made of samples, for the tests of a check.
    #[cfg(test)]
    pub(crate) fn of(samples: &[(&str, &str)]) -> SourceTree {
        let paths = samples.iter().map(|(path, _)| (*path).to_owned()).collect();
        let files = samples
            .iter()
            .map(|(path, text)| SourceFile { path: (*path).to_owned(), text: (*text).to_owned() })
            .collect();
        SourceTree { root: PathBuf::from("/sample/root"), paths, files }
    }

    /// The folder the paths are relative to.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// All text files, sorted by path.
    pub(crate) fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// The text file at exactly this path.
    pub(crate) fn find_file(&self, path: &str) -> Option<&SourceFile> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Whether the path is a file or a folder of the repository.
    pub(crate) fn contains(&self, path: &str) -> bool {
        let folder = format!("{}/", path.trim_end_matches('/'));
        path.is_empty()
            || self.paths.contains(path)
            || self.paths.iter().any(|known| known.starts_with(&folder))
    }

    /// The Rust files.
    pub(crate) fn rust_files(&self) -> impl Iterator<Item = &SourceFile> {
        self.files.iter().filter(|file| file.extension() == "rs")
    }

    /// The manifests of the workspace's crates, the root's excluded.
    pub(crate) fn crate_manifests(&self) -> impl Iterator<Item = &SourceFile> {
        self.files.iter().filter(|file| {
            let folder = file.path.strip_suffix("/Cargo.toml");
            folder.is_some_and(|folder| folder == "xtask" || is_crate_folder(folder))
        })
    }
}

fn is_crate_folder(folder: &str) -> bool {
    folder.strip_prefix("crates/").is_some_and(|name| !name.contains('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_lists_its_own_manifest_and_no_build_output() {
        let tree = SourceTree::read(&Repository::find()).unwrap();
        assert!(tree.contains("Cargo.toml"));
        assert!(tree.contains("crates/tabwire-api"));
        assert!(!tree.contains("target"));
        assert!(tree.crate_manifests().any(|file| file.path == "xtask/Cargo.toml"));
    }

    #[test]
    fn names_and_extensions_come_from_the_last_component() {
        let tree = SourceTree::of(&[("a.b/run", ""), ("a/b.rs", "x\ny\n")]);
        assert_eq!(tree.files()[0].extension(), "");
        assert_eq!(tree.files()[1].name(), "b.rs");
        assert_eq!(tree.files()[1].numbered_lines().collect::<Vec<_>>(), [(1, "x"), (2, "y")]);
    }
}
