//! No file names a package host, a home folder or the path of a checkout.

use std::path::Path;

use super::Finding;
use crate::source::source_tree::{SourceFile, SourceTree};

/// Hosts that serve packages. A lock file that names one ties every checkout to it.
const PACKAGE_HOSTS: [&str; 6] = [
    concat!("registry.", "npmjs.org"),
    concat!("registry.", "yarnpkg.com"),
    concat!("npm.pkg.", "github.com"),
    concat!("index.", "crates.io"),
    concat!("static.", "crates.io"),
    concat!("pypi.", "org/simple"),
];
/// Home folders, and user names that are placeholders.
const HOME_FOLDERS: [&str; 2] = [concat!("/ho", "me/"), concat!("/Us", "ers/")];
const ROOT_HOME: &str = concat!("/ro", "ot/");
const PLACEHOLDERS: [&str; 4] = ["user", "someone", "you", "me"];

/// Finds names of one machine in any text file.
pub(super) fn check(tree: &SourceTree) -> Vec<Finding> {
    let checkout = checkout_path(tree.root());
    tree.files().iter().flat_map(|file| machine_names(file, checkout.as_deref())).collect()
}

/// The checkout's own path, when it is long enough to be no ordinary word.
fn checkout_path(root: &Path) -> Option<String> {
    (root.components().count() >= 3).then(|| root.to_string_lossy().into_owned())
}

fn machine_names(file: &SourceFile, checkout: Option<&str>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in file.numbered_lines() {
        if let Some(host) = PACKAGE_HOSTS.iter().find(|host| line.contains(**host)) {
            let advice = format!(
                "names the package host {host}: leave it out (npm: omit-lockfile-registry-resolved=true)"
            );
            findings.push(Finding::new(&file.path, number, advice));
        }
        if checkout.is_some_and(|path| contains_path(line, path)) || names_a_home(line) {
            let advice = "names a folder of one machine: use a path below the repository, or a variable";
            findings.push(Finding::new(&file.path, number, advice));
        }
    }
    findings
}

fn names_a_home(line: &str) -> bool {
    let root_home =
        starts_of_paths(line, ROOT_HOME).any(|rest| rest.starts_with(|c: char| c == '.' || is_name(c)));
    let user_home = HOME_FOLDERS.iter().any(|folder| {
        starts_of_paths(line, folder).any(|rest| {
            let name: String = rest.chars().take_while(|c| is_name(*c)).collect();
            !name.is_empty() && !PLACEHOLDERS.contains(&name.as_str())
        })
    });
    root_home || user_home
}

/// What follows each place where a path starts with `folder`; the middle of a longer path does not count.
fn starts_of_paths<'line>(line: &'line str, folder: &'line str) -> impl Iterator<Item = &'line str> {
    let hits = line.match_indices(folder);
    hits.filter(|(at, _)| !line[..*at].ends_with(|c: char| is_name(c) || matches!(c, '.' | '}' | '$' | '>')))
        .map(move |(at, _)| &line[at + folder.len()..])
}

fn contains_path(line: &str, path: &str) -> bool {
    starts_of_paths(line, path).any(|rest| !rest.starts_with(is_name))
}

fn is_name(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '-')
}

#[cfg(test)]
mod tests {
    use super::super::findings_in;
    use super::*;

    #[test]
    fn hosts_home_folders_and_checkout_paths_are_found() {
        let lines = [
            format!("resolved https://{}/x", PACKAGE_HOSTS[0]),
            format!("{}anna/code", HOME_FOLDERS[0]),
            format!("\"{}bob\"", HOME_FOLDERS[1]),
            format!("cd {ROOT_HOME}.cache"),
            "cd /sample/root/crates".to_owned(),
        ];
        for line in &lines {
            assert_eq!(findings_in(check, &[("a.md", line)]).len(), 1, "{line}");
        }
    }

    #[test]
    fn placeholders_and_other_folders_are_fine() {
        let lines = [
            format!("{}user/.config", HOME_FOLDERS[0]),
            format!("docs{}page", HOME_FOLDERS[0]),
            format!("{ROOT_HOME} is a folder"),
            "/sample/rooted".to_owned(),
        ];
        for line in &lines {
            assert!(findings_in(check, &[("a.md", line)]).is_empty(), "{line}");
        }
    }
}
