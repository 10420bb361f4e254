//! The list of the site's pages, in the order of `docs/INDEX.md`.

use std::collections::BTreeSet;

use super::pages::{Page, resolve};

/// The page that lists the others.
const INDEX: &str = "docs/INDEX.md";

/// mdBook's `SUMMARY.md`: a part for each heading of the index, and below a page with a list the pages of that list.
pub(super) fn contents(pages: &[Page]) -> String {
    let mut list = List { pages, listed: BTreeSet::new(), text: "# Contents\n\n".to_owned() };
    list.text.push_str("[Tabwire](README.md)\n[All pages](docs/INDEX.md)\n");
    list.listed.extend(["README.md".to_owned(), INDEX.to_owned()]);
    let index = pages.iter().find(|page| page.path == INDEX);
    for line in index.map(|page| page.text.as_str()).unwrap_or_default().lines() {
        if let Some(title) = line.strip_prefix("## ") {
            list.text.push_str(&format!("\n# {title}\n\n"));
        }
        for (label, target) in links(line) {
            list.add(&label, &resolve(INDEX, &target), 0);
        }
    }
    list.text
}

struct List<'a> {
    pages: &'a [Page],
    listed: BTreeSet<String>,
    text: String,
}

impl List<'_> {
    fn add(&mut self, label: &str, path: &str, depth: usize) {
        let Some(page) = self.pages.iter().find(|page| page.path == path) else { return };
        if !self.listed.insert(path.to_owned()) {
            return;
        }
        let indent = "  ".repeat(depth);
        self.text.push_str(&format!("{indent}- [{}]({path})\n", capitalized(label)));
        if path.ends_with("/INDEX.md") {
            // Their labels are names of files.
            for (label, target) in page.text.lines().flat_map(links) {
                self.add(&label.replace('-', " "), &resolve(path, &target), depth + 1);
            }
        }
    }
}

fn capitalized(label: &str) -> String {
    let mut letters = label.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The labels and targets of a line's links.
fn links(line: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("](") {
        let Some((target, next)) = after.split_once(')') else { break };
        let label = before.rsplit('[').next().unwrap_or_default();
        found.push((label.to_owned(), target.to_owned()));
        rest = next;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::pages;
    use super::*;
    use crate::repository::Repository;

    #[test]
    fn every_page_is_in_the_contents_once() {
        let pages = pages::read(&Repository::find()).unwrap();
        let text = contents(&pages);
        for page in &pages {
            let count = text.matches(&format!("]({})\n", page.path)).count();
            assert_eq!(count, 1, "{} is {count} times in the contents: link to it in {INDEX}", page.path);
        }
        assert!(text.contains("\n# Use\n\n- [Installing](docs/installing.md)\n"), "{text}");
    }

    #[test]
    fn every_link_between_pages_leads_to_a_page_or_file() {
        let repository = Repository::find();
        let pages = pages::read(&repository).unwrap();
        for page in &pages {
            let text = pages::with_site_links(page, &pages);
            for (_, target) in text.lines().flat_map(links).filter(|(_, target)| !target.contains("://")) {
                let path = target.split('#').next().unwrap_or_default();
                let exists = path.is_empty() || repository.path(&resolve(&page.path, path)).is_file();
                assert!(exists, "{} links to {target}", page.path);
            }
        }
    }
}
