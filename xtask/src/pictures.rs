//! `cargo xtask pictures`: copies the pictures of `docs/` from what the tests have made.

use std::fs;

use crate::error::Error;
use crate::repository::Repository;

/// Where the tests write pictures.
const MADE: &str = "target/screenshots";

/// Where the pages look for them.
const SHOWN: &str = "docs/images";

/// The page that shows the pictures.
const PAGE: &str = "docs/dashboard.md";

/// Pictures, each in both colour schemes.
const PICTURES: &[&str] = &[
    "dashboard-wall",
    "dashboard-stage",
    "dashboard-taken",
    "dashboard-question",
    "dashboard-replay",
    "dashboard-policy",
];

/// Recordings of a terminal, and the page that shows each.
const RECORDINGS: [(&str, &str); 3] = [
    ("terminal.svg", "README.md"),
    ("recording-script.svg", "docs/scripts.md"),
    ("recording-policy.svg", "docs/policy.md"),
];

/// Largest picture. A page with many should load fast.
const MOST_BYTES: u64 = 80 * 1024;

/// The files of all pictures, each with its page.
fn files() -> impl Iterator<Item = (String, &'static str)> {
    let pictures =
        PICTURES.iter().flat_map(|name| ["light", "dark"].map(|scheme| format!("{name}-{scheme}.webp")));
    let recordings = RECORDINGS.iter().map(|(file, page)| ((*file).to_owned(), *page));
    pictures.map(|file| (file, PAGE)).chain(recordings)
}

/// Copies all of them.
pub(crate) fn copy(repository: &Repository) -> Result<(), Error> {
    for (file, _) in files() {
        let made = repository.path(MADE).join(&file);
        let size = fs::metadata(&made).map_err(|_| Error::NeedsUser {
            what: format!("{} is missing", made.display()),
            hint: "Run `cargo xtask test --full of_the_documentation_are_made` first.".to_owned(),
        })?;
        if size.len() > MOST_BYTES {
            let problem = format!("has {} bytes; at most {MOST_BYTES} are allowed", size.len());
            return Err(Error::Malformed { path: made, problem });
        }
        let shown = repository.path(SHOWN).join(&file);
        fs::copy(&made, &shown).map_err(|source| Error::file(&shown, source))?;
        println!("{SHOWN}/{file}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_picture_is_there_and_on_its_page() {
        let repository = Repository::find();
        for (file, page) in files() {
            let text = repository.read(page).expect("the page");
            let size = fs::metadata(repository.path(SHOWN).join(&file)).expect("a picture").len();
            assert!(size > 0 && size <= MOST_BYTES, "{file} has {size} bytes");
            assert!(text.contains(&format!("images/{file}")), "{page} does not show {file}");
        }
    }
}
