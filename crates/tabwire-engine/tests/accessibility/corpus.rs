//! The pages to compare. Each file in `pages/` holds many, each after a line `<!-- page: NAME -->`.

use std::path::Path;

const MARKER: &str = "<!-- page: ";

/// One small page, named after what it shows.
#[derive(Debug)]
pub(crate) struct CorpusPage {
    pub(crate) name: String,
    pub(crate) html: String,
}

/// All pages, by name.
#[expect(clippy::disallowed_methods, reason = "the corpus is files, and a test may read them")]
pub(crate) fn pages() -> Vec<CorpusPage> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/accessibility/pages");
    let mut pages: Vec<CorpusPage> = std::fs::read_dir(directory)
        .expect("the corpus is there")
        .map(|entry| std::fs::read_to_string(entry.expect("can be listed").path()).expect("can be read"))
        .flat_map(|file| split(&file))
        .collect();
    pages.sort_by(|a, b| a.name.cmp(&b.name));
    pages
}

fn split(file: &str) -> Vec<CorpusPage> {
    let pages = file.split(MARKER).skip(1);
    pages
        .map(|page| {
            let (name, html) = page.split_once(" -->\n").expect("a marker ends its line");
            CorpusPage { name: name.to_owned(), html: html.to_owned() }
        })
        .collect()
}
