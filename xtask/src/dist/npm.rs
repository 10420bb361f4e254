//! The npm packages: `tabwire`, and one with the binary for each platform as its optional dependency.

use super::archive::{Entry, tar_gz};
use super::{Product, Release};
use crate::error::Error;

/// The folder in which npm expects the files of a package.
const FOLDER: &str = "package";

/// The types of scripts, as `tabwire types` prints them.
const SCRIPT_TYPES: &str = "crates/tabwire-script/types/tabwire.d.ts";

pub(super) fn pack(release: &Release<'_>) -> Result<Vec<Product>, Error> {
    let version = &release.version;
    Ok(vec![
        Product::new(format!("tabwire-{version}.tgz"), archive(release, main_package(release)?)),
        Product::new(
            format!("tabwire-{}-{version}.tgz", release.platform.name),
            archive(release, platform_package(release)?),
        ),
    ])
}

fn archive(release: &Release<'_>, entries: Vec<Entry>) -> Vec<u8> {
    let entries = entries.into_iter().map(|entry| entry.below(FOLDER)).collect();
    tar_gz(entries, release.time, release.level)
}

fn main_package(release: &Release<'_>) -> Result<Vec<Entry>, Error> {
    let text = |name: &str| Ok(Entry::text(name, &release.filled(&format!("npm/{name}"), &[])?));
    let mut entries = ["package.json", "index.js", "index.d.ts", "README.md"]
        .into_iter()
        .map(text)
        .collect::<Result<Vec<_>, Error>>()?;
    let wrapper = release.filled("npm/tabwire.sh", &[])?;
    entries.push(Entry::program("bin/tabwire", wrapper.as_bytes()));
    entries.push(Entry::text("script.d.ts", &release.repository.read(SCRIPT_TYPES)?));
    // Without those of other projects, which differ between platforms: this package has no program, and is the same
    // wherever it is packed.
    entries.extend(licences(release).filter(|entry| entry.path.starts_with("LICENSE-")));
    Ok(entries)
}

fn platform_package(release: &Release<'_>) -> Result<Vec<Entry>, Error> {
    let (system, processor) = release.platform.of_node();
    // The other C library of Linux has no package: npm must not choose this one there.
    let library = if release.platform.is_linux() { "\"glibc\"" } else { "" };
    let values = [
        ("platform", release.platform.name),
        ("system", system),
        ("processor", processor),
        ("library", library),
    ];
    let mut entries = vec![
        Entry::text("package.json", &release.filled("npm/platform/package.json", &values)?),
        Entry::text("README.md", &release.filled("npm/platform/README.md", &values)?),
        release.content.program(),
    ];
    entries.extend(licences(release));
    Ok(entries)
}

fn licences(release: &Release<'_>) -> impl Iterator<Item = Entry> {
    release.content.documents.iter().filter(|entry| entry.path.contains("LICENSE")).cloned()
}
