//! `cargo xtask site`: the documentation as a site, built by mdBook. Its pages request nothing from other hosts.

mod contents;
mod mdbook;
mod pages;

use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::repository::Repository;
use crate::step::Step;

/// Settings and style of the site.
const SETTINGS: &str = "packaging/site";

/// What mdBook reads.
const SOURCE: &str = "target/site-source";

/// Where the site is written by default.
pub(crate) const SITE: &str = "target/site";

/// Writes the site into `target/site`, or into `--out DIR`.
pub(crate) fn run(repository: &Repository, arguments: &[String]) -> Result<(), Error> {
    let out = match arguments {
        [] => repository.path(SITE),
        [flag, out] if flag == "--out" => PathBuf::from(out),
        _ => return Err(Error::Usage("`site` takes only `--out DIR`".to_owned())),
    };
    build(repository, &out)?;
    println!("{}", out.join("index.html").display());
    Ok(())
}

/// Builds the site with mdBook, which is installed below `target` where it is missing.
pub(crate) fn build(repository: &Repository, out: &Path) -> Result<(), Error> {
    let program = mdbook::provide(repository)?;
    let source = repository.path(SOURCE);
    if source.exists() {
        std::fs::remove_dir_all(&source).map_err(|problem| Error::file(&source, problem))?;
    }
    write_source(repository, &source)?;
    let (source, out) = (source.display().to_string(), out.display().to_string());
    Step::new("site", &program, &["build", &source, "--dest-dir", &out]).run(repository.root())
}

/// Writes the pages, their list and the settings, as mdBook reads them.
fn write_source(repository: &Repository, source: &Path) -> Result<(), Error> {
    for name in ["book.toml", "site.css"] {
        write(&source.join(name), repository.read(&format!("{SETTINGS}/{name}"))?.as_bytes())?;
    }
    let pages = pages::read(repository)?;
    write(&source.join("pages/SUMMARY.md"), contents::contents(&pages).as_bytes())?;
    for page in &pages {
        write(&source.join("pages").join(&page.path), pages::with_site_links(page, &pages).as_bytes())?;
    }
    for path in pages::files(repository)? {
        let from = repository.path(&path);
        let bytes = std::fs::read(&from).map_err(|problem| Error::file(&from, problem))?;
        write(&source.join("pages").join(&path), &bytes)?;
    }
    Ok(())
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|problem| Error::file(folder, problem))?;
    }
    std::fs::write(path, bytes).map_err(|problem| Error::file(path, problem))
}
