//! `cargo xtask tidy`: checks over the whole source tree. Each check is one file and also runs as a unit test.

mod crate_edges;
mod dependency_lines;
mod file_headers;
mod file_names;
mod file_size;
mod function_size;
mod generated_pages;
mod ignored_tests;
mod javascript_files;
mod machine_names;
mod manifest;
mod markdown_links;
mod permit;
pub(crate) mod retired_words;
mod test_sleeps;
mod trailing_whitespace;

use std::fmt;

use crate::error::Error;
use crate::repository::Repository;
use crate::source_tree::SourceTree;

/// A line that breaks a rule, and what to do about it.
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

/// Every check with its printed name.
const CHECKS: [(&str, Check); 14] = [
    ("file size", file_size::check),
    ("function size", function_size::check),
    ("file names", file_names::check),
    ("file headers", file_headers::check),
    ("sleeps in tests", test_sleeps::check),
    ("ignored tests", ignored_tests::check),
    ("generated pages", generated_pages::check),
    ("dependency lines", dependency_lines::check),
    ("crate edges", crate_edges::check),
    ("Markdown links", markdown_links::check),
    ("trailing whitespace", trailing_whitespace::check),
    ("machine names", machine_names::check),
    ("JavaScript files", javascript_files::check),
    ("retired words", retired_words::check),
];

/// Runs every check and prints the findings.
pub(crate) fn print_all(repository: &Repository) -> Result<(), Error> {
    let tree = SourceTree::read(repository)?;
    let mut total = 0;
    for (name, check) in CHECKS {
        let findings = check(&tree);
        let result =
            if findings.is_empty() { "clean".to_owned() } else { format!("{} found", findings.len()) };
        println!("{name}: {result}");
        for finding in &findings {
            println!("  {finding}");
        }
        total += findings.len();
    }
    if total == 0 { Ok(()) } else { Err(Error::Untidy(total)) }
}

/// Fails the calling test with the findings in this repository.
#[cfg(test)]
fn assert_repository_passes(check: Check) {
    let tree = SourceTree::read(&Repository::find()).unwrap();
    let findings: Vec<String> = check(&tree).iter().map(Finding::to_string).collect();
    assert!(findings.is_empty(), "\n{}\n", findings.join("\n"));
}

/// The findings of a check in sample files, one line each.
#[cfg(test)]
fn findings_in(check: Check, samples: &[(&str, &str)]) -> Vec<String> {
    check(&SourceTree::of(samples)).iter().map(Finding::to_string).collect()
}
