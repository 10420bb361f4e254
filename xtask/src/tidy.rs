//! `cargo xtask tidy`: checks over the whole source tree. Each check is one file. A unit test runs all of them.

mod crate_edges;
mod crate_files;
mod documents;
mod file_headers;
mod file_names;
mod file_size;
mod function_size;
mod javascript_files;
mod machine_names;
mod manifest;
mod permit;
pub(crate) mod retired_words;
mod test_rules;
mod trailing_whitespace;

use std::fmt;

use crate::error::Error;
use crate::repository::Repository;
use crate::source::source_tree::SourceTree;

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
const CHECKS: [(&str, Check); 17] = [
    ("file size", file_size::check),
    ("function size", function_size::check),
    ("file names", file_names::check),
    ("file headers", file_headers::check),
    ("sleeps in tests", test_rules::sleeps::check),
    ("ignored tests", test_rules::ignored::check),
    ("test names", test_rules::names::check),
    ("generated pages", documents::generated_pages::check),
    ("dependency lines", documents::dependency_lines::check),
    ("crate edges", crate_edges::check),
    ("crate files", crate_files::check),
    ("Markdown links", documents::markdown_links::check),
    ("trailing whitespace", trailing_whitespace::check),
    ("machine names", machine_names::check),
    ("recipe versions", documents::recipe_versions::check),
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

/// The findings of a check in sample files, one line each.
#[cfg(test)]
fn findings_in(check: Check, samples: &[(&str, &str)]) -> Vec<String> {
    check(&SourceTree::of(samples)).iter().map(Finding::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_passes_every_check() {
        let tree = SourceTree::read(&Repository::find()).unwrap();
        let findings: Vec<String> = CHECKS
            .iter()
            .flat_map(|(name, check)| {
                check(&tree).into_iter().map(move |finding| format!("{name}: {finding}"))
            })
            .collect();
        assert!(findings.is_empty(), "\n{}\n", findings.join("\n"));
    }
}
