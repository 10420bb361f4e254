//! The generated pages of `docs/reference`: where each one goes and what makes it.
//!
//! The pages about the command line come from the tabwire crate itself; `gen` only asks it to write them.

mod errors_page;
mod limits_page;

use crate::repository::Repository;
use crate::source_tree::SourceTree;
use crate::step::Step;
use crate::trouble::Trouble;

/// A page as it should be on disk.
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

/// `cargo xtask gen`: writes the pages, then lets the tabwire crate write its own.
pub(crate) fn write_all(repository: &Repository) -> Result<(), Trouble> {
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
    let arguments = ["test", "--quiet", "-p", "tabwire", "--test", "generated"];
    Step::cargo("command line pages", &arguments).with_variable("TABWIRE_GEN", "1").run(repository.root())
}

fn write_page(repository: &Repository, page: &Page) -> Result<(), Trouble> {
    let path = repository.path(page.path);
    if std::fs::read_to_string(&path).is_ok_and(|current| current == page.text) {
        println!("{}: current", page.path);
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|source| Trouble::file(folder, source))?;
    }
    std::fs::write(&path, &page.text).map_err(|source| Trouble::file(&path, source))?;
    println!("{}: written", page.path);
    Ok(())
}

/// Makes text safe inside a cell of a Markdown table.
fn table_cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}
