//! The crates that are linked into the program, and the texts of their licences.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::platform::Platform;
use crate::error::Error;
use crate::repository::Repository;
use crate::step;

/// Beginnings of names of licence files.
const LICENCE_FILES: [&str; 5] = ["licen", "copying", "copyright", "notice", "unlicense"];

/// Longest text that is taken for a licence.
const LICENCE_BYTES: u64 = 64 * 1024;

/// A crate of the dependency tree.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LinkedCrate {
    pub(super) name: String,
    pub(super) version: String,
    /// An SPDX expression.
    pub(super) licence: String,
    folder: PathBuf,
}

/// The crates of other projects that the program is built from, sorted by name.
pub(super) fn linked_crates(repository: &Repository) -> Result<Vec<LinkedCrate>, Error> {
    let target = Platform::here()?.target;
    let arguments = ["metadata", "--format-version", "1", "--locked", "--filter-platform", target];
    let output = step::find_output("cargo", &arguments, repository.root());
    let metadata = output.and_then(|text| serde_json::from_str::<Value>(&text).ok());
    let metadata = metadata.ok_or_else(|| Error::StepFailed {
        step: "dependencies".to_owned(),
        command: format!("cargo {}", arguments.join(" ")),
    })?;
    Ok(read_crates(&metadata))
}

fn read_crates(metadata: &Value) -> Vec<LinkedCrate> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let packages: BTreeMap<String, Value> =
        list(&metadata["packages"]).into_iter().map(|package| (text(&package["id"]), package)).collect();
    let nodes: BTreeMap<String, Value> =
        list(&metadata["resolve"]["nodes"]).into_iter().map(|node| (text(&node["id"]), node)).collect();
    let root = packages.iter().find(|(_, package)| package["name"] == "tabwire").map(|(id, _)| id.clone());
    let (mut seen, mut open) = (BTreeSet::new(), Vec::from_iter(root));
    while let Some(id) = open.pop() {
        // A dependency without a kind is a normal one: not of tests, not of build scripts.
        let is_normal =
            |dependency: &Value| list(&dependency["dep_kinds"]).iter().any(|kind| kind["kind"].is_null());
        let dependencies = nodes.get(&id).map(|node| list(&node["deps"])).unwrap_or_default();
        open.extend(
            dependencies
                .iter()
                .filter(|found| is_normal(found))
                .map(|found| text(&found["pkg"]))
                .filter(|id| !seen.contains(id)),
        );
        seen.insert(id);
    }
    let read = |package: &Value| LinkedCrate {
        name: text(&package["name"]),
        version: text(&package["version"]),
        licence: text(&package["license"]).replace('/', " OR "),
        folder: Path::new(&text(&package["manifest_path"]))
            .parent()
            .map(Path::to_path_buf)
            .unwrap_or_default(),
    };
    let foreign =
        seen.iter().filter_map(|id| packages.get(id)).filter(|package| !package["source"].is_null());
    let mut crates: Vec<LinkedCrate> = foreign.map(read).collect();
    crates.sort();
    crates
}

/// The licences of all linked crates as one text; equal texts once, with the crates that have them.
pub(super) fn collect(repository: &Repository) -> Result<String, Error> {
    let mut owners: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut text = String::from("Tabwire contains these packages.\n\n");
    for linked in linked_crates(repository)? {
        let name = format!("{} {}", linked.name, linked.version);
        text.push_str(&format!("{name} ({})\n", linked.licence));
        for licence in licence_texts(&linked.folder, 2) {
            owners.entry(licence).or_default().push(name.clone());
        }
    }
    let mut sections: Vec<(Vec<String>, String)> =
        owners.into_iter().map(|(licence, names)| (names, licence)).collect();
    sections.sort();
    for (mut names, licence) in sections {
        names.dedup();
        text.push_str(&format!("\n{}\n{}\n\n{}\n", "-".repeat(80), names.join(", "), licence.trim()));
    }
    Ok(text)
}

/// Licence files of a folder and, for C code inside of crates, of the folders below it.
fn licence_texts(folder: &Path, depth: u32) -> BTreeSet<String> {
    let mut texts = BTreeSet::new();
    let Some(below) = depth.checked_sub(1) else { return texts };
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().to_ascii_lowercase();
        let Ok(metadata) = entry.metadata() else { continue };
        if metadata.is_dir() {
            texts.extend(licence_texts(&entry.path(), below));
        } else if LICENCE_FILES.iter().any(|start| name.starts_with(start))
            && !name.ends_with(".rs")
            && metadata.len() <= LICENCE_BYTES
        {
            let text = std::fs::read_to_string(entry.path()).unwrap_or_default();
            texts.insert(text.replace("\r\n", "\n"));
        }
    }
    texts.remove("");
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linked_crates_are_those_of_the_program_with_their_licences() {
        let repository = Repository::find();
        let crates = linked_crates(&repository).unwrap();
        let names: Vec<&str> = crates.iter().map(|linked| linked.name.as_str()).collect();
        assert!(names.contains(&"tokio") && names.contains(&"rquickjs-sys"), "{names:?}");
        // Of tests only, and our own.
        assert!(!names.contains(&"tempfile") && !names.contains(&"tabwire-engine"), "{names:?}");
        assert!(crates.iter().all(|linked| !linked.licence.is_empty()), "{crates:?}");
        let text = collect(&repository).unwrap();
        assert!(text.contains("Bellard"), "the licence of QuickJS, below the folder of its crate");
    }
}
