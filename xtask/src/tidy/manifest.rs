//! Reads the dependencies of a crate's manifest.

use crate::source::source_tree::{SourceFile, SourceTree};

const SECTIONS: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];

/// Where a dependency is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// In the crate itself or its build script.
    Product,
    /// Only in its tests and benchmarks.
    Tests,
}

/// One dependency of one crate.
#[derive(Debug)]
pub(super) struct Dependency {
    /// The package's name, also when the manifest renames it.
    pub(super) package: String,
    pub(super) usage: Use,
    /// The manifest's line that names it.
    pub(super) line: usize,
}

/// A crate's name and dependencies; `None` for an invalid manifest, which cargo reports itself.
pub(super) fn find_dependencies(manifest: &SourceFile) -> Option<(String, Vec<Dependency>)> {
    let table: toml::Table = manifest.text.parse().ok()?;
    let name = table.get("package")?.get("name")?.as_str()?.to_owned();
    let mut dependencies = section_dependencies(&table, manifest);
    if let Some(targets) = table.get("target").and_then(toml::Value::as_table) {
        let targets = targets.values().filter_map(toml::Value::as_table);
        dependencies.extend(targets.flat_map(|target| section_dependencies(target, manifest)));
    }
    Some((name, dependencies))
}

/// The names in the root manifest's `[workspace.dependencies]`.
pub(super) fn workspace_packages(tree: &SourceTree) -> Vec<String> {
    let parsed = tree.find_file("Cargo.toml").and_then(|file| file.text.parse::<toml::Table>().ok());
    let table = parsed.as_ref().and_then(|table| table.get("workspace")?.get("dependencies")?.as_table());
    table.into_iter().flat_map(|table| table.iter()).map(|(key, value)| package_name(key, value)).collect()
}

fn section_dependencies(table: &toml::Table, manifest: &SourceFile) -> Vec<Dependency> {
    let mut dependencies = Vec::new();
    for section in SECTIONS {
        let usage = if section == "dev-dependencies" { Use::Tests } else { Use::Product };
        let entries = table.get(section).and_then(toml::Value::as_table);
        for (key, value) in entries.into_iter().flatten() {
            let line = line_naming(manifest, key);
            dependencies.push(Dependency { package: package_name(key, value), usage, line });
        }
    }
    dependencies
}

fn package_name(key: &str, value: &toml::Value) -> String {
    value.get("package").and_then(toml::Value::as_str).unwrap_or(key).to_owned()
}

fn line_naming(manifest: &SourceFile, key: &str) -> usize {
    let names = |line: &str| {
        line.trim_start().strip_prefix(key).is_some_and(|rest| rest.starts_with([' ', '=', '.']))
    };
    let header = format!("dependencies.{key}]");
    let mut lines = manifest.numbered_lines();
    lines.find(|(_, line)| names(line) || line.ends_with(&header)).map_or(1, |(number, _)| number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_sections_and_renamed_packages_are_read() {
        let text = "[package]\nname = \"a\"\n\
                    [dependencies]\nserde.workspace = true\n[dev-dependencies]\nb = { package = \"real-b\" }\n\
                    [target.'cfg(unix)'.dependencies]\nrustix = \"1\"\n";
        let manifest = SourceFile { path: "crates/a/Cargo.toml".to_owned(), text: text.to_owned() };
        let (name, dependencies) = find_dependencies(&manifest).unwrap();
        let shown: Vec<_> = dependencies.iter().map(|d| (d.package.as_str(), d.usage, d.line)).collect();
        assert_eq!(name, "a");
        assert_eq!(
            shown,
            [("serde", Use::Product, 4), ("real-b", Use::Tests, 6), ("rustix", Use::Product, 8)]
        );
    }
}
