//! The pages of the site: Markdown files of the repository under their own paths, so that links between them stay.

use std::path::{Component, Path, PathBuf};

use crate::error::Error;
use crate::repository::Repository;

/// Pages beside `docs/`.
const TOP: [&str; 8] = [
    "README.md",
    "SECURITY.md",
    "CHANGELOG.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "SPECIFICATION.md",
    "GLOSSARY.md",
    "DEPENDENCIES.md",
];

/// Files that pages show or link to, by their ending.
const FILES: [&str; 4] = ["json", "png", "svg", "webp"];

/// A Markdown file.
pub(super) struct Page {
    /// Relative to the root of the repository.
    pub(super) path: String,
    pub(super) text: String,
}

/// All pages.
pub(super) fn read(repository: &Repository) -> Result<Vec<Page>, Error> {
    let mut paths: Vec<String> = TOP.map(str::to_owned).to_vec();
    paths.extend(documents(repository, &["md"])?);
    let read = |path: String| Ok(Page { text: repository.read(&path)?, path });
    paths.into_iter().map(read).collect()
}

/// Pictures and schemas below `docs/`.
pub(super) fn files(repository: &Repository) -> Result<Vec<String>, Error> {
    documents(repository, &FILES)
}

fn documents(repository: &Repository, endings: &[&str]) -> Result<Vec<String>, Error> {
    let (mut found, mut folders) = (Vec::new(), vec![PathBuf::from("docs")]);
    while let Some(folder) = folders.pop() {
        let full = repository.root().join(&folder);
        for entry in std::fs::read_dir(&full).map_err(|problem| Error::file(&full, problem))? {
            let entry = entry.map_err(|problem| Error::file(&full, problem))?;
            let path = folder.join(entry.file_name());
            if entry.path().is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| endings.iter().any(|known| ending == *known)) {
                found.push(path.to_string_lossy().into_owned());
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The text of a page for the site: links to files that are not part of it become plain text.
pub(super) fn with_site_links(page: &Page, pages: &[Page]) -> String {
    let mut text = String::new();
    let mut is_code = false;
    for line in page.text.lines() {
        is_code ^= line.trim_start().starts_with("```");
        if is_code {
            text.push_str(line);
        } else {
            text.push_str(&without_foreign_links(line, page, pages));
        }
        text.push('\n');
    }
    text
}

fn without_foreign_links(line: &str, page: &Page, pages: &[Page]) -> String {
    let (mut text, mut rest) = (String::new(), line);
    while let Some((before, after)) = rest.split_once("](") {
        let Some((target, next)) = after.split_once(')') else { break };
        let label = before.rfind('[');
        if is_on_site(target, page, pages) {
            text.push_str(&format!("{before}]({target})"));
        } else if let Some(start) = label {
            text.push_str(&format!("{}{}", &before[..start], &before[start + 1..]));
        }
        rest = next;
    }
    text + rest
}

/// Whether a link of a page leads to a web address, a page of the site or one of its files.
pub(super) fn is_on_site(target: &str, page: &Page, pages: &[Page]) -> bool {
    let (path, _) = target.split_once('#').unwrap_or((target, ""));
    if path.is_empty() || path.contains("://") {
        return true;
    }
    let path = resolve(&page.path, path);
    let is_file = path.starts_with("docs/")
        && Path::new(&path).extension().is_some_and(|ending| FILES.iter().any(|known| ending == *known));
    is_file || pages.iter().any(|page| page.path == path)
}

/// The path of a link's target, relative to the root.
pub(super) fn resolve(page: &str, target: &str) -> String {
    let folder = Path::new(page).parent().unwrap_or(Path::new(""));
    let mut parts: Vec<String> = Vec::new();
    for part in folder.join(target).components() {
        match part {
            Component::ParentDir => drop(parts.pop()),
            Component::Normal(name) => parts.push(name.to_string_lossy().into_owned()),
            _ => {}
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(path: &str, text: &str) -> Page {
        Page { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn links_to_files_outside_the_site_become_text() {
        let text = "See [the page](../README.md#use), [lock](../tests/package-lock.json) and ![it](images/a.png).\n\
                    ```\n[lock](../tests/package-lock.json)\n```\n";
        let pages = [page("docs/a.md", text), page("README.md", "")];
        assert_eq!(
            with_site_links(&pages[0], &pages),
            "See [the page](../README.md#use), lock and ![it](images/a.png).\n\
             ```\n[lock](../tests/package-lock.json)\n```\n"
        );
    }

    #[test]
    fn links_are_resolved_from_their_page() {
        assert_eq!(resolve("docs/cdp/INDEX.md", "../mcp.md"), "docs/mcp.md");
        assert_eq!(resolve("README.md", "docs/mcp.md"), "docs/mcp.md");
    }
}
