//! `cargo xtask dist`: builds the program and packs it for every way to install it, into `target/dist`.

#[cfg(test)]
mod agent_files;
mod archive;
mod build;
mod content;
mod debian;
mod elf;
mod extension_zip;
mod licences;
mod npm;
mod options;
mod platform;
mod sbom;
mod sha256;
mod tarball;
mod template;
mod wheel;

use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::repository::Repository;
use archive::{Entry, Timestamp, tar_gz};
use content::Content;
use options::{Options, Package};
use platform::Platform;

/// The folder of the site among the documents of an installation.
const SITE_FOLDER: &str = "html";

/// Everything that the packers read.
pub(crate) struct Release<'a> {
    repository: &'a Repository,
    platform: &'static Platform,
    /// The version of the workspace.
    version: String,
    content: Content,
    time: Timestamp,
    /// The compression level of archives.
    level: u32,
}

/// A finished file of the release.
pub(crate) struct Product {
    name: String,
    bytes: Vec<u8>,
}

impl Product {
    fn new(name: impl Into<String>, bytes: Vec<u8>) -> Product {
        Product { name: name.into(), bytes }
    }
}

/// Builds the program, unless one is given, and packs it.
pub(crate) fn run(repository: &Repository, arguments: &[String]) -> Result<(), Error> {
    let options = Options::read(arguments, repository)?;
    let program = match &options.binary {
        Some(path) => path.clone(),
        None => build::build(repository, &options.profile)?,
    };
    let release = read_release(repository, &options, &program)?;
    let mut products = Vec::new();
    for package in &options.packages {
        products.extend(pack(&release, *package)?);
    }
    write_products(&options.out, &products)?;
    for product in &products {
        println!("{:>10}  {}", product.bytes.len(), options.out.join(&product.name).display());
    }
    Ok(())
}

fn read_release<'a>(
    repository: &'a Repository,
    options: &Options,
    program: &Path,
) -> Result<Release<'a>, Error> {
    let read = |path: &Path| std::fs::read(path).map_err(|source| Error::file(path, source));
    let binary = read(program)?;
    let platform = Platform::here()?;
    let needs = platform.inspect(&binary, options.allowed_glibc)?;
    Ok(Release {
        repository,
        platform,
        version: workspace_version(repository)?,
        content: Content::collect(repository, options, program, binary.into(), needs)?,
        time: Timestamp::of_commit(repository)?,
        level: options.level,
    })
}

fn pack(release: &Release<'_>, package: Package) -> Result<Vec<Product>, Error> {
    match package {
        Package::Tarball => tarball::pack(release),
        Package::Npm => npm::pack(release),
        Package::Wheel => Ok(vec![wheel::pack(release)?]),
        Package::Debian => debian::pack(release),
        Package::Extension => extension_zip::pack(release),
        Package::Site => Ok(site_archive(release)),
        Package::Sbom => sbom::pack(release),
    }
}

/// The documentation for a web server. Empty without a site.
fn site_archive(release: &Release<'_>) -> Vec<Product> {
    let folder = format!("tabwire-docs-{}", release.version);
    let site = release.content.site.iter().cloned();
    let entries: Vec<Entry> = site.map(|entry| entry.moved(SITE_FOLDER, &folder)).collect();
    let pack = || Product::new(format!("{folder}.tar.gz"), tar_gz(entries, release.time, release.level));
    if release.content.site.is_empty() { Vec::new() } else { vec![pack()] }
}

/// Writes the files and `SHA256SUMS` with the sums of all of them.
fn write_products(out: &Path, products: &[Product]) -> Result<(), Error> {
    let write = |path: PathBuf, bytes: &[u8]| -> Result<(), Error> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|source| Error::file(folder, source))?;
        }
        std::fs::write(&path, bytes).map_err(|source| Error::file(path, source))
    };
    let mut sums: Vec<String> = products
        .iter()
        .map(|product| format!("{}  {}\n", sha256::hex(&product.bytes), product.name))
        .collect();
    sums.sort_by(|one, other| one[64..].cmp(&other[64..]));
    for product in products {
        let path = out.join(&product.name);
        write(path.clone(), &product.bytes)?;
        if product.name.ends_with(".sh") {
            make_executable(&path)?;
        }
    }
    write(out.join("SHA256SUMS"), sums.concat().as_bytes())
}

fn make_executable(path: &Path) -> Result<(), Error> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))
        .map_err(|source| Error::file(path, source))
}

fn workspace_version(repository: &Repository) -> Result<String, Error> {
    let manifest = repository.read_toml("Cargo.toml")?;
    let version =
        manifest.get("workspace").and_then(|workspace| workspace.get("package")?.get("version")?.as_str());
    version.map(str::to_owned).ok_or_else(|| Error::Malformed {
        path: repository.path("Cargo.toml"),
        problem: "no `workspace.package.version`".to_owned(),
    })
}
