//! A crate embeds only files below its own folder, so that `cargo package` has them. Shared folders are linked into it.

use super::Finding;
use crate::source::source_tree::SourceTree;

const MACROS: [&str; 2] = ["include_str!(", "include_bytes!("];

/// Finds embedded files outside the crate, and dependencies on our crates without a version.
pub(super) fn check(tree: &SourceTree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust_files() {
        let Some(depth) = depth_in_crate(&file.path) else { continue };
        for (line, text) in file.numbered_lines() {
            if MACROS.iter().any(|name| text.contains(name)) && steps_up(text) > depth {
                findings.push(Finding::new(
                    &file.path,
                    line,
                    "link the folder into the crate and embed it from there: `cargo package` leaves out other files",
                ));
            }
        }
    }
    let manifest = tree.find_file("Cargo.toml");
    let lines = manifest.into_iter().flat_map(|file| file.numbered_lines());
    for (line, text) in lines {
        let is_ours = text.starts_with("tabwire-") && !text.starts_with("tabwire-testkit");
        if is_ours && text.contains("path = ") && !text.contains("version = ") {
            findings.push(Finding::new("Cargo.toml", line, "add the version, which `cargo package` needs"));
        }
    }
    findings
}

/// How many folders a source file is below its crate; `None` for tests, which no package needs.
fn depth_in_crate(path: &str) -> Option<usize> {
    let (_, below) = path.strip_prefix("crates/")?.split_once('/')?;
    let is_test = below.ends_with("tests.rs") || !below.starts_with("src/");
    (!is_test).then(|| below.matches('/').count())
}

/// The most `../` at the start of a literal in a line.
fn steps_up(line: &str) -> usize {
    let literals = line.split('"').skip(1).step_by(2);
    literals
        .map(|literal| literal.split('/').take_while(|part| *part == "..").count())
        .max()
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::findings_in;
    use super::*;

    #[test]
    fn a_file_outside_its_crate_and_a_missing_version_are_found() {
        let samples = [
            ("crates/a/src/b/c.rs", "include_str!(\"../../web/x.css\")\ninclude_bytes!(\"../../../x\")\n"),
            ("crates/a/src/tests.rs", "include_str!(\"../../../x\")\n"),
            ("Cargo.toml", "tabwire-a = { path = \"crates/a\" }\ntabwire-testkit = { path = \"x\" }\n"),
        ];
        let found = findings_in(check, &samples);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("crates/a/src/b/c.rs:2: link"), "{found:?}");
        assert!(found[1].starts_with("Cargo.toml:1: add the version"), "{found:?}");
    }
}
