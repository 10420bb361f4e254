//! `cargo xtask gen`: writes the generated pages of `docs/reference`.
//!
//! A test of the tabwire crate writes the pages about the command line.

mod errors_page;
mod limits_page;

use crate::error::Error;
use crate::repository::Repository;
use crate::source::source_tree::SourceTree;
use crate::step::Step;
use crate::test_command::linted;

/// A generated page.
pub(crate) struct Page {
    pub(crate) path: &'static str,
    pub(crate) text: String,
}

/// Makes every page that this crate generates.
pub(crate) fn pages(tree: &SourceTree) -> Vec<Page> {
    vec![
        Page { path: "docs/reference/errors.md", text: errors_page::text() },
        Page { path: "docs/reference/limits.md", text: limits_page::text(tree) },
    ]
}

/// Writes the pages, then runs the test of the tabwire crate that writes its own.
pub(crate) fn write_all(repository: &Repository) -> Result<(), Error> {
    let tree = SourceTree::read(repository)?;
    for page in pages(&tree) {
        write_page(repository, &page)?;
    }
    let declared = repository.declared_targets("crates/tabwire/Cargo.toml", "test")?;
    let has_test =
        tree.contains("crates/tabwire/tests/generated.rs") || declared.iter().any(|name| name == "generated");
    if !has_test {
        println!("crates/tabwire has no test target `generated` yet; its pages were not written.");
        return Ok(());
    }
    // The whole workspace, as the tests are built: with one package, features differ and everything is compiled again.
    let arguments = ["test", "--quiet", "--workspace", "--test", "generated"];
    Step::cargo("command line pages", &arguments).with_variable("TABWIRE_GEN", "1").run(repository.root())
}

/// `cargo xtask man --out DIR`: writes the man pages. The test of the tabwire crate that checks them writes them.
pub(crate) fn write_man_pages(repository: &Repository, arguments: &[String]) -> Result<(), Error> {
    let [flag, directory] = arguments else { return Err(Error::Usage("expected `--out DIR`".to_owned())) };
    if flag != "--out" {
        return Err(Error::Usage(format!("unknown option `{flag}`; expected `--out DIR`")));
    }
    let directory = std::path::absolute(directory)
        .map_err(|source| Error::file(std::path::Path::new(directory), source))?;
    // Built as `cargo xtask test` builds, whose output it shares.
    let cargo =
        ["test", "--quiet", "--workspace", "--test", "generated", "every_visible_command_has_a_man_page"];
    let step = linted(Step::cargo("man pages", &cargo));
    step.with_variable("TABWIRE_MAN_DIR", &directory.to_string_lossy()).run(repository.root())
}

fn write_page(repository: &Repository, page: &Page) -> Result<(), Error> {
    let path = repository.path(page.path);
    if std::fs::read_to_string(&path).is_ok_and(|current| current == page.text) {
        println!("{}: current", page.path);
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|source| Error::file(folder, source))?;
    }
    std::fs::write(&path, &page.text).map_err(|source| Error::file(&path, source))?;
    println!("{}: written", page.path);
    Ok(())
}

/// Makes text safe inside a cell of a Markdown table.
fn table_cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}
