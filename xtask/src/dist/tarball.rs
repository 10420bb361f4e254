//! The tarball with `install.sh`, and the Homebrew formula that names its sum.

use super::archive::{Entry, tar_gz};
use super::{Product, Release, sha256};
use crate::error::Error;

/// The platform of which the formula names the sum.
const FORMULA: &str = "linux-x64";

pub(super) fn pack(release: &Release<'_>) -> Result<Vec<Product>, Error> {
    let folder = format!("tabwire-{}-{}", release.version, release.platform.name);
    let installer = release.filled("install.sh", &[])?;
    let mut entries = release.content.prefix();
    entries.sort_by(|one, other| one.path.cmp(&other.path));
    let sum = |entry: &Entry| format!("{}  {}\n", sha256::hex(&entry.bytes), entry.path);
    let sums: String = entries.iter().map(sum).collect();
    entries.push(Entry::text("SHA256SUMS", &sums));
    entries.push(Entry::program("install.sh", installer.as_bytes()));
    let entries = entries.into_iter().map(|entry| entry.below(&folder)).collect();
    let bytes = tar_gz(entries, release.time, release.level);
    let sum = sha256::hex(&bytes);
    let mut products = vec![
        Product::new(format!("{folder}.tar.gz"), bytes),
        Product::new("install.sh", installer.into_bytes()),
    ];
    if release.platform.name == FORMULA {
        let formula = release.filled("homebrew/tabwire.rb", &[("linux_x64_sha256", &sum)])?;
        products.push(Product::new("tabwire.rb", formula.into_bytes()));
    }
    Ok(products)
}
