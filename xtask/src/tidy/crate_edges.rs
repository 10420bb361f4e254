//! Dependencies between the crates follow one order, and some crates do without some third-party crates.

use super::Finding;
use super::manifest::{Dependency, Use, find_dependencies};
use crate::source::source_tree::SourceTree;

const LIST: &str = "xtask/src/tidy/crate_edges.rs";

/// The layers from top to bottom. A crate may depend on the crates after it.
const LAYERS: [&str; 18] = [
    "tabwire",
    "tabwire-chrome",
    "tabwire-daemon",
    "tabwire-client",
    "tabwire-mcp",
    "tabwire-engine",
    "tabwire-extension",
    "tabwire-bidi",
    "tabwire-mux",
    "tabwire-browser",
    "tabwire-cdp",
    "tabwire-policy",
    "tabwire-acp",
    "tabwire-script",
    "tabwire-secrets",
    "tabwire-audit",
    "tabwire-image",
    "tabwire-api",
];

/// Crates outside the layers, and what they may depend on.
const OUTSIDE: [(&str, &[&str]); 2] =
    [("tabwire-testkit", &["tabwire-api"]), ("xtask", &["tabwire-api", "tabwire-script"])];

/// Third-party crates that a crate must not depend on.
const REFUSED: [(&str, &[&str]); 5] = [
    ("tabwire-daemon", &["clap"]),
    ("tabwire-engine", &["hyper", "tokio-websockets"]),
    ("tabwire-mux", &["tokio", "hyper", "rustix", "tokio-websockets"]),
    ("tabwire-policy", &["tokio", "rustix"]),
    ("tabwire-api", &["tokio", "hyper", "rustix", "clap", "url"]),
];

/// Finds upward dependencies, unknown crates and refused dependencies.
pub(super) fn check(tree: &SourceTree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for manifest in tree.crate_manifests() {
        let Some((name, dependencies)) = find_dependencies(manifest) else { continue };
        if !is_known(&name) {
            let advice =
                format!("`{name}` has no layer: add it to the list in {LIST} and to the architecture page");
            findings.push(Finding::new(&manifest.path, 1, advice));
            continue;
        }
        for dependency in dependencies {
            if let Some(advice) = find_objection(&name, &dependency) {
                findings.push(Finding::new(&manifest.path, dependency.line, advice));
            }
        }
    }
    findings
}

fn is_known(name: &str) -> bool {
    LAYERS.contains(&name) || OUTSIDE.iter().any(|(outside, _)| *outside == name)
}

fn find_objection(name: &str, dependency: &Dependency) -> Option<String> {
    let package = dependency.package.as_str();
    if is_known(package) {
        let message = format!(
            "`{name}` may not depend on `{package}`: dependencies go down the layers; move the shared part below both"
        );
        return (!may_depend(name, package, dependency.usage)).then_some(message);
    }
    let refused = REFUSED
        .iter()
        .find(|(crate_name, _)| *crate_name == name)
        .is_some_and(|(_, list)| list.contains(&package));
    (refused && dependency.usage == Use::Product)
        .then(|| format!("`{name}` must not depend on `{package}`: move that part to a crate above"))
}

fn may_depend(name: &str, on: &str, usage: Use) -> bool {
    if let Some((_, allowed)) = OUTSIDE.iter().find(|(outside, _)| *outside == name) {
        // Tests of the testkit may depend on every crate.
        return allowed.contains(&on) || (name == "tabwire-testkit" && usage == Use::Tests);
    }
    if on == "tabwire-testkit" {
        return usage == Use::Tests;
    }
    let layer = |wanted: &str| LAYERS.iter().position(|known| *known == wanted);
    matches!((layer(name), layer(on)), (Some(upper), Some(lower)) if upper < lower)
}

#[cfg(test)]
mod tests {
    use super::super::findings_in;
    use super::*;

    fn manifest(name: &str, body: &str) -> String {
        format!("[package]\nname = \"{name}\"\n{body}")
    }

    fn check_one(name: &str, body: &str) -> Vec<String> {
        findings_in(check, &[("crates/sample/Cargo.toml", &manifest(name, body))])
    }

    #[test]
    fn an_upward_dependency_is_found() {
        let found = check_one("tabwire-cdp", "[dependencies]\ntabwire-mux = \"0\"\ntabwire-api = \"0\"\n");
        assert_eq!(found.len(), 1);
        assert!(
            found[0].starts_with("crates/sample/Cargo.toml:4: `tabwire-cdp` may not depend on `tabwire-mux`"),
            "{found:?}"
        );
        assert_eq!(check_one("tabwire-api", "[dependencies]\ntabwire-api = \"0\"\n").len(), 1);
    }

    #[test]
    fn the_test_kit_is_for_tests_only() {
        assert!(check_one("tabwire-mux", "[dev-dependencies]\ntabwire-testkit = \"0\"\n").is_empty());
        assert_eq!(check_one("tabwire-mux", "[dependencies]\ntabwire-testkit = \"0\"\n").len(), 1);
        assert_eq!(check_one("tabwire-testkit", "[dependencies]\ntabwire-daemon = \"0\"\n").len(), 1);
    }

    #[test]
    fn refused_dependencies_and_unknown_crates_are_found() {
        let found = check_one("tabwire-mux", "[dependencies]\ntokio = \"1\"\n");
        assert_eq!(
            found,
            [
                "crates/sample/Cargo.toml:4: `tabwire-mux` must not depend on `tokio`: move that part to a crate above"
            ]
        );
        assert!(check_one("tabwire-mux", "[dev-dependencies]\ntokio = \"1\"\n").is_empty());
        assert!(check_one("tabwire-attic", "")[0].contains("has no layer"));
    }
}
