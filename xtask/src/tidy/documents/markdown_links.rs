//! Links between Markdown files of the repository resolve. Links to other hosts are not checked.

use super::Finding;
use crate::source::source_tree::{SourceFile, SourceTree};

/// Finds links to missing files and missing headings.
pub(crate) fn check(tree: &SourceTree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for page in tree.files().iter().filter(|file| file.extension() == "md") {
        for (line, target) in links(page) {
            if let Some(problem) = find_problem(tree, page, &target) {
                findings.push(Finding::new(&page.path, line, format!("the link to `{target}` {problem}")));
            }
        }
    }
    findings
}

fn find_problem(tree: &SourceTree, page: &SourceFile, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let Some(resolved) = find_path(&page.path, path) else {
        return Some("leaves the repository: name a file inside it".to_owned());
    };
    if !tree.contains(&resolved) {
        return Some(format!("leads nowhere: there is no `{resolved}`"));
    }
    let linked = tree.find_file(&resolved).filter(|file| file.extension() == "md" && !anchor.is_empty())?;
    (!anchors(linked).iter().any(|known| known == anchor)).then(|| {
        format!("names no heading of `{resolved}`: use the heading's words in lower case, joined by hyphens")
    })
}

/// Resolves a link relative to the page it stands on; none when it climbs out of the repository.
fn find_path(page: &str, link: &str) -> Option<String> {
    if link.is_empty() {
        return Some(page.to_owned());
    }
    let mut parts: Vec<&str> = if link.starts_with('/') { Vec::new() } else { page.split('/').collect() };
    parts.pop();
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// The inline links of a page with their lines; code is left out.
fn links(page: &SourceFile) -> Vec<(usize, String)> {
    let mut links = Vec::new();
    for (number, line) in prose_lines(page) {
        let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join(" ");
        for piece in prose.split("](").skip(1) {
            let Some((target, _)) = piece.split_once(')') else { continue };
            let target = target.split_whitespace().next().unwrap_or("");
            links.push((number, target.trim_matches(['<', '>']).to_owned()));
        }
    }
    links
}

/// Lines outside of fenced code.
fn prose_lines(page: &SourceFile) -> Vec<(usize, &str)> {
    let mut fenced = false;
    let mut lines = Vec::new();
    for (number, line) in page.numbered_lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            lines.push((number, line));
        }
    }
    lines
}

fn anchors(page: &SourceFile) -> Vec<String> {
    let lines = prose_lines(page);
    let headings = lines
        .iter()
        .filter(|(_, line)| line.starts_with('#'))
        .map(|(_, line)| line.trim_start_matches('#').trim());
    headings.map(slug).collect()
}

/// The anchor that common renderers give a heading.
fn slug(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect::<String>().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::findings_in;

    #[test]
    fn dead_links_and_headings_are_found_and_live_ones_are_not() {
        let page = "# Top\n[gone](gone.md) [here](docs/b.md#how-to-run) [self](#top) [web](https://example.com/x)\n\
                    `[code](gone.md)`\n```\n[fenced](gone.md)\n```\n\
                    [lost](docs/b.md#nowhere) [out](../x.md) [folder](docs/)\n";
        let found = findings_in(check, &[("a.md", page), ("docs/b.md", "## How to run\n[up](../a.md)\n")]);
        assert_eq!(found.len(), 3, "{found:?}");
        assert_eq!(found[0], "a.md:2: the link to `gone.md` leads nowhere: there is no `gone.md`");
        assert!(
            found[1].starts_with("a.md:7: the link to `docs/b.md#nowhere` names no heading"),
            "{found:?}"
        );
        assert!(found[2].starts_with("a.md:7: the link to `../x.md` leaves the repository"), "{found:?}");
    }
}
