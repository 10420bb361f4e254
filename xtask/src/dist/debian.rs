//! The Debian package, written without dpkg: its format is an `ar` archive with two tarballs.

use super::archive::{Entry, ar, tar_gz};
use super::options::GLIBC;
use super::{Product, Release};
use crate::error::Error;

/// Debian's zsh reads completions of packages from a folder of their own.
const ZSH: (&str, &str) = ("share/zsh/site-functions/", "share/zsh/vendor-completions/");

/// The package; none for platforms without Debian.
pub(super) fn pack(release: &Release<'_>) -> Result<Vec<Product>, Error> {
    let Some(architecture) = release.platform.debian else { return Ok(Vec::new()) };
    let mut files = release.content.prefix();
    for entry in &mut files {
        entry.path = entry.path.replace(ZSH.0, ZSH.1);
    }
    files.push(Entry::text("share/doc/tabwire/copyright", &release.filled("debian/copyright", &[])?));
    let size: usize = files.iter().map(|entry| entry.bytes.len().div_ceil(1024)).sum();
    let (size, depends) = (size.to_string(), depends(release));
    let values = [("architecture", architecture), ("installed_size", &size), ("depends", &depends)];
    let control = release.filled("debian/control", &values)?;
    let control = vec![Entry::text("./control", &control)];
    let files = files.into_iter().map(|entry| entry.below("./usr")).collect();
    let (control, data) =
        (tar_gz(control, release.time, release.level), tar_gz(files, release.time, release.level));
    let members: [(&str, &[u8]); 3] =
        [("debian-binary", b"2.0\n"), ("control.tar.gz", &control), ("data.tar.gz", &data)];
    let name = format!("tabwire_{}_{architecture}.deb", release.version);
    Ok(vec![Product::new(name, ar(&members, release.time))])
}

/// The packages with the libraries that the program loads.
fn depends(release: &Release<'_>) -> String {
    let needs = &release.content.needs;
    let glibc = needs.glibc.unwrap_or(GLIBC).max(GLIBC);
    let mut packages = vec![format!("libc6 (>= {glibc})")];
    if needs.libraries.iter().any(|library| library == "libgcc_s.so.1") {
        packages.push("libgcc-s1 | libgcc1".to_owned());
    }
    packages.join(", ")
}
