//! House rules as checks. Each check is one file below and runs as an ordinary test and from `cargo xtask tidy`.
//!
//! A check looks at a source tree and returns findings. It changes nothing.

mod bare_spawns;
mod crate_edges;
mod dependency_lines;
mod file_headers;
mod file_names;
mod file_size;
mod function_size;
mod generated_pages;
mod ignored_tests;
mod javascript_files;
mod licences;
mod line_width;
mod machine_names;
mod manifest;
mod markdown_links;
mod permit;
mod test_sleeps;
mod trailing_whitespace;
mod unfinished_code;

use std::fmt;

use crate::repository::Repository;
use crate::source_tree::SourceTree;
use crate::trouble::Trouble;

/// A place that breaks a rule, and what to do there.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    path: String,
    line: usize,
    advice: String,
}

impl Finding {
    fn new(path: &str, line: usize, advice: impl Into<String>) -> Finding {
        Finding { path: path.to_owned(), line, advice: advice.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: {}", self.path, self.line, self.advice)
    }
}

type Check = fn(&SourceTree) -> Vec<Finding>;

/// Every check with the name it is printed under.
const CHECKS: [(&str, Check); 17] = [
    ("file size", file_size::check),
    ("function size", function_size::check),
    ("file names", file_names::check),
    ("file headers", file_headers::check),
    ("bare spawns", bare_spawns::check),
    ("sleeps in tests", test_sleeps::check),
    ("ignored tests", ignored_tests::check),
    ("unfinished code", unfinished_code::check),
    ("generated pages", generated_pages::check),
    ("dependency lines", dependency_lines::check),
    ("crate edges", crate_edges::check),
    ("licences", licences::check),
    ("Markdown links", markdown_links::check),
    ("trailing whitespace", trailing_whitespace::check),
    ("line width", line_width::check),
    ("machine names", machine_names::check),
    ("JavaScript files", javascript_files::check),
];

/// `cargo xtask tidy`: runs every check and prints what it finds.
pub(crate) fn print_all(repository: &Repository) -> Result<(), Trouble> {
    let tree = SourceTree::read(repository)?;
    let mut total = 0;
    for (name, check) in CHECKS {
        let findings = check(&tree);
        let verdict =
            if findings.is_empty() { "clean".to_owned() } else { format!("{} found", findings.len()) };
        println!("{name}: {verdict}");
        for finding in &findings {
            println!("  {finding}");
        }
        total += findings.len();
    }
    if total == 0 { Ok(()) } else { Err(Trouble::Untidy(total)) }
}

/// Fails the calling test with the list of places in this repository that break the rule.
#[cfg(test)]
fn assert_repository_passes(check: Check) {
    let tree = SourceTree::read(&Repository::find()).unwrap();
    let findings: Vec<String> = check(&tree).iter().map(Finding::to_string).collect();
    assert!(findings.is_empty(), "\n{}\n", findings.join("\n"));
}

/// Shows what a check finds in a sample, one line per finding.
#[cfg(test)]
fn findings_in(check: Check, samples: &[(&str, &str)]) -> Vec<String> {
    check(&SourceTree::of(samples)).iter().map(Finding::to_string).collect()
}
