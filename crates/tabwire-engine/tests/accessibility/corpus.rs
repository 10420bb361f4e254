//! The pages to compare on. Knows nothing of browsers.

use std::path::Path;

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
        .map(|entry| entry.expect("can be listed").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "html"))
        .map(|path| CorpusPage {
            name: path.file_stem().expect("a name").to_string_lossy().into_owned(),
            html: std::fs::read_to_string(&path).expect("can be read"),
        })
        .collect();
    pages.sort_by(|a, b| a.name.cmp(&b.name));
    pages
}
