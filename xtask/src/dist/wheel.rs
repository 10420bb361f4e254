//! The Python wheel: the binary as a script, and a module with `tabwire.connect()`.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::archive::{Entry, zip};
use super::{Product, Release, sha256};
use crate::error::Error;

pub(super) fn pack(release: &Release<'_>) -> Result<Product, Error> {
    let version = &release.version;
    let tag = format!("py3-none-{}", release.platform.wheel_tag(&release.content.needs));
    let (info, data) = (format!("tabwire-{version}.dist-info"), format!("tabwire-{version}.data"));
    let wheel = format!("Wheel-Version: 1.0\nGenerator: xtask\nRoot-Is-Purelib: false\nTag: {tag}\n");
    let mut entries = vec![
        Entry::text("tabwire/__init__.py", &release.filled("python/__init__.py", &[])?),
        Entry::text("tabwire/__main__.py", &release.filled("python/__main__.py", &[])?),
        Entry::text("tabwire/py.typed", ""),
        Entry::program(format!("{data}/scripts/tabwire"), std::rc::Rc::clone(&release.content.binary)),
        Entry::text(format!("{info}/METADATA"), &metadata(release)?),
        Entry::text(format!("{info}/WHEEL"), &wheel),
    ];
    let licences = release.content.documents.iter().filter(|entry| entry.path.contains("LICENSE"));
    entries.extend(licences.cloned().map(|entry| entry.below(&format!("{info}/licenses"))));
    entries.extend(
        release.content.shared.iter().cloned().map(|entry| entry.below(&format!("{data}/data/share"))),
    );
    entries.sort_by(|one, other| one.path.cmp(&other.path));
    let mut record: String = entries.iter().map(record_line).collect();
    record.push_str(&format!("{info}/RECORD,,\n"));
    entries.push(Entry::text(format!("{info}/RECORD"), &record));
    let bytes = zip(entries, release.time, release.level);
    Ok(Product::new(format!("tabwire-{version}-{tag}.whl"), bytes))
}

fn record_line(entry: &Entry) -> String {
    let sum = URL_SAFE_NO_PAD.encode(sha256::raw(&entry.bytes));
    format!("{},sha256={sum},{}\n", entry.path, entry.bytes.len())
}

fn metadata(release: &Release<'_>) -> Result<String, Error> {
    let readme = release.filled("python/README.md", &[])?;
    release.filled("python/METADATA", &[("readme", &readme)])
}
