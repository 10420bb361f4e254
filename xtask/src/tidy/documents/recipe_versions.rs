//! The versions in `docs/recipes.md` are those of the lock files, and every package folder is on the page.

use super::Finding;
use crate::source::source_tree::SourceTree;

const PAGE: &str = "docs/recipes.md";
const PACKAGES: &str = "tests/packages/";

/// Finds versions of the table that the linked lock file does not have, and lock files that the page does not link.
pub(crate) fn check(tree: &SourceTree) -> Vec<Finding> {
    let Some(page) = tree.find_file(PAGE) else { return Vec::new() };
    let mut findings = Vec::new();
    for (line, row) in page.numbered_lines().filter_map(|(line, text)| Some((line, Row::read(text)?))) {
        let lock = tree.find_file(row.lock).map(|file| file.text.as_str()).unwrap_or_default();
        if let Some(advice) = row.find_problem(find_version(lock, row.package)) {
            findings.push(Finding::new(PAGE, line, advice));
        }
    }
    for file in tree.files().iter().filter(|file| file.path.starts_with(PACKAGES)) {
        let is_lock = matches!(file.name(), "package-lock.json" | "requirements.txt");
        if is_lock && !page.text.contains(&format!("(../{})", file.path)) {
            findings.push(Finding::new(PAGE, 1, format!("add a recipe for `{}`", file.path)));
        }
    }
    findings
}

/// A row of the table: package, version and lock file.
struct Row<'a> {
    package: &'a str,
    version: &'a str,
    lock: &'a str,
}

impl<'a> Row<'a> {
    fn read(line: &'a str) -> Option<Self> {
        let cells: Vec<&str> = line.strip_prefix('|')?.split('|').map(str::trim).collect();
        let [package, version, lock, ..] = cells.as_slice() else { return None };
        let package = package.split('`').nth(1)?;
        let lock = lock.split_once("](../")?.1.strip_suffix(')')?;
        Some(Self { package, version, lock })
    }

    fn find_problem(&self, locked: Option<&str>) -> Option<String> {
        let Self { package, version, lock } = self;
        match locked {
            None => Some(format!("`{lock}` does not have `{package}`")),
            Some(locked) if locked != *version => Some(format!(
                "`{lock}` has `{package}` {locked}, not {version}: run its recipe, then write it"
            )),
            Some(_) => None,
        }
    }
}

/// The version of a package in a lock file of npm or pip.
fn find_version<'a>(lock: &'a str, package: &str) -> Option<&'a str> {
    let in_npm = format!("\"node_modules/{package}\": {{");
    if let Some((_, entry)) = lock.split_once(&in_npm) {
        let (_, version) = entry.split_once("\"version\": \"")?;
        return version.split('"').next();
    }
    let in_pip = format!("{package}==");
    let pinned = lock.lines().find_map(|line| line.strip_prefix(&in_pip))?;
    pinned.split([' ', ';']).next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::findings_in;

    const NPM: &str = "{\"packages\": {\n\"node_modules/one-more\": {\n\"version\": \"9.9.9\"},\n\"node_modules/one\": {\n\"version\": \"1.2.3\"}}}";
    const PIP: &str = "other==0.1 \\\n    --hash=sha256:00\ntwo==4.5 \\\n    --hash=sha256:00\n";

    #[test]
    fn stale_versions_and_missing_packages_are_found() {
        let page = "# Recipes\n| [One](#one) (`one`) | 1.2.3 | [one](../tests/packages/one/package-lock.json) | URL |\n\
                    | [`two`](#two) | 4.4 | [two](../tests/packages/two/requirements.txt) | URL |\n\
                    | [`none`](#none) | 1 | [two](../tests/packages/two/requirements.txt) | URL |\n";
        let samples = [
            (PAGE, page),
            ("tests/packages/one/package-lock.json", NPM),
            ("tests/packages/two/requirements.txt", PIP),
            ("tests/packages/three/requirements.txt", PIP),
        ];
        let found = findings_in(check, &samples);
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(
            found[0].starts_with("docs/recipes.md:3:") && found[0].contains("`two` 4.5, not 4.4"),
            "{found:?}"
        );
        assert!(found[1].contains("does not have `none`"), "{found:?}");
        assert!(found[2].contains("tests/packages/three/requirements.txt"), "{found:?}");
    }
}
