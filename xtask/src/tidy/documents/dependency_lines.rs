//! DEPENDENCIES.md has one line for every direct third-party dependency.

use std::collections::BTreeMap;

use super::Finding;
use crate::source::source_tree::SourceTree;
use crate::tidy::manifest::{find_dependencies, workspace_packages};

const PAGE: &str = "DEPENDENCIES.md";

/// Compares the manifests with the page.
///
/// A line may stay while the workspace manifest offers the package, even if no crate takes it up yet.
pub(crate) fn check(tree: &SourceTree) -> Vec<Finding> {
    let explained = explained_packages(tree);
    let mut findings = Vec::new();
    let mut used = workspace_packages(tree);
    for manifest in tree.crate_manifests() {
        let Some((_, dependencies)) = find_dependencies(manifest) else { continue };
        for dependency in dependencies {
            if !is_ours(&dependency.package) && !explained.contains_key(&dependency.package) {
                let advice = format!(
                    "`{}` has no line in {PAGE}: say why it is used and what would replace it",
                    dependency.package
                );
                findings.push(Finding::new(&manifest.path, dependency.line, advice));
            }
            used.push(dependency.package);
        }
    }
    for (package, (line, is_whole)) in explained {
        if !used.contains(&package) {
            findings.push(Finding::new(
                PAGE,
                line,
                format!("no crate depends on `{package}`: remove the line"),
            ));
        } else if !is_whole {
            findings.push(Finding::new(
                PAGE,
                line,
                format!("say why `{package}` is used and what would replace it"),
            ));
        }
    }
    findings
}

fn is_ours(package: &str) -> bool {
    package == "tabwire" || package.starts_with("tabwire-")
}

/// Rows of the page's tables that start with a name in backquotes: line, and whether both sentences are there.
fn explained_packages(tree: &SourceTree) -> BTreeMap<String, (usize, bool)> {
    let lines = tree.find_file(PAGE).into_iter().flat_map(|page| page.numbered_lines());
    lines
        .filter_map(|(number, line)| {
            let (name, rest) = line.strip_prefix("| `")?.split_once('`')?;
            let is_whole = rest.split('|').filter(|cell| !cell.trim().is_empty()).count() >= 2;
            Some((name.to_owned(), (number, is_whole)))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::findings_in;

    const MANIFEST: &str = "[package]\nname = \"tabwire-a\"\n\
        [dependencies]\ntabwire-api = \"0\"\nserde = \"1\"\n[dev-dependencies]\nproptest = \"1\"\n";

    #[test]
    fn missing_incomplete_and_stale_lines_are_found() {
        let page = "| `serde` | reads JSON | |\n| `rand` | dice | getrandom |\n";
        let found = findings_in(check, &[(PAGE, page), ("crates/a/Cargo.toml", MANIFEST)]);
        let first = "crates/a/Cargo.toml:7: `proptest` has no line in DEPENDENCIES.md: ";
        assert!(found[0].starts_with(first), "{found:?}");
        assert_eq!(
            found[1..],
            [
                "DEPENDENCIES.md:2: no crate depends on `rand`: remove the line",
                "DEPENDENCIES.md:1: say why `serde` is used and what would replace it",
            ]
        );
    }
}
