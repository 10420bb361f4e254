//! The Chrome extension for a store: the zip, the listing text and pictures.

use super::archive::{FILE, zip};
use super::content::read_folder;
use super::{Product, Release};
use crate::error::Error;

/// Pictures of the listing, made by the tests.
const PICTURES: [&str; 4] = ["popup-in-use.png", "popup-question.png", "popup-paused.png", "options.png"];

pub(super) fn pack(release: &Release<'_>) -> Result<Vec<Product>, Error> {
    let mut entries = read_folder(&release.repository.path("extension"))?;
    for entry in &mut entries {
        entry.mode = FILE;
        if entry.path == "manifest.json" {
            entry.bytes = store_manifest(release, &entry.bytes)?.into_bytes().into();
        }
    }
    let name = format!("tabwire-extension-{}.zip", release.version);
    let mut products = vec![
        Product::new(name, zip(entries, release.time, release.level)),
        Product::new(
            "extension-listing/listing.md",
            release.filled("extension/listing.md", &[])?.into_bytes(),
        ),
    ];
    for picture in PICTURES {
        let path = release.repository.path("docs/images").join(picture);
        let bytes = std::fs::read(&path).map_err(|source| Error::file(path, source))?;
        products.push(Product::new(format!("extension-listing/{picture}"), bytes));
    }
    Ok(products)
}

/// The manifest without `key`, which a store refuses: it keeps the key itself.
fn store_manifest(release: &Release<'_>, bytes: &[u8]) -> Result<String, Error> {
    let malformed = |problem: String| Error::Malformed {
        path: release.repository.path("extension/manifest.json"),
        problem,
    };
    let mut manifest: serde_json::Map<String, serde_json::Value> =
        serde_json::from_slice(bytes).map_err(|error| malformed(error.to_string()))?;
    manifest.remove("key");
    if manifest.get("version").and_then(|version| version.as_str()) != Some(release.version.as_str()) {
        return Err(malformed(format!("its version is not {}", release.version)));
    }
    serde_json::to_string_pretty(&manifest).map_err(|error| malformed(error.to_string()))
}
