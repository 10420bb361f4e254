//! The arguments of `cargo xtask dist`.

use std::path::PathBuf;

use crate::error::Error;
use crate::repository::Repository;

/// The newest glibc that a packed program may need: of Debian 10 and RHEL 8.
pub(super) const GLIBC: Glibc = Glibc(2, 28);

/// A version of the GNU C library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Glibc(pub(super) u32, pub(super) u32);

impl Glibc {
    /// Reads `2.28`; a third number is ignored.
    pub(super) fn parse(text: &str) -> Option<Glibc> {
        let mut numbers = text.split('.').map(str::parse);
        Some(Glibc(numbers.next()?.ok()?, numbers.next()?.ok()?))
    }
}

impl std::fmt::Display for Glibc {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}.{}", self.0, self.1)
    }
}

/// One kind of package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Package {
    Tarball,
    Npm,
    Wheel,
    Debian,
    Extension,
    Site,
    Sbom,
}

const PACKAGES: [(&str, Package); 7] = [
    ("tarball", Package::Tarball),
    ("npm", Package::Npm),
    ("wheel", Package::Wheel),
    ("deb", Package::Debian),
    ("extension", Package::Extension),
    ("site", Package::Site),
    ("sbom", Package::Sbom),
];

/// What to build and pack.
#[derive(Debug)]
pub(super) struct Options {
    /// The cargo profile to build.
    pub(super) profile: String,
    /// A built program, which is packed without a build.
    pub(super) binary: Option<PathBuf>,
    pub(super) allowed_glibc: Glibc,
    pub(super) out: PathBuf,
    pub(super) packages: Vec<Package>,
    pub(super) level: u32,
    /// A directory with built man pages; without it they are built.
    pub(super) man: Option<PathBuf>,
    pub(super) has_man: bool,
    /// Whether the documentation is built as a site, which needs mdBook.
    pub(super) has_site: bool,
}

impl Options {
    pub(super) fn read(arguments: &[String], repository: &Repository) -> Result<Options, Error> {
        let mut options = Options {
            profile: "dist".to_owned(),
            binary: None,
            allowed_glibc: GLIBC,
            out: repository.path("target/dist"),
            packages: PACKAGES.iter().map(|(_, package)| *package).collect(),
            level: 9,
            man: None,
            has_man: true,
            has_site: true,
        };
        let mut arguments = arguments.iter();
        while let Some(flag) = arguments.next() {
            match flag.as_str() {
                "--no-man" => options.has_man = false,
                "--no-site" => options.has_site = false,
                _ => options.read_value(flag, arguments.next())?,
            }
        }
        Ok(options)
    }

    fn read_value(&mut self, flag: &str, value: Option<&String>) -> Result<(), Error> {
        let value = value.ok_or_else(|| Error::Usage(format!("`{flag}` is unknown or needs a value")))?;
        self.set(flag, value)
    }

    fn set(&mut self, flag: &str, value: &str) -> Result<(), Error> {
        let invalid = || Error::Usage(format!("`{value}` is no value of `{flag}`"));
        match flag {
            "--profile" => value.clone_into(&mut self.profile),
            "--binary" => self.binary = Some(value.into()),
            "--allow-glibc" => self.allowed_glibc = Glibc::parse(value).ok_or_else(invalid)?,
            "--out" => self.out = value.into(),
            "--man" => self.man = Some(value.into()),
            "--level" => {
                self.level = value.parse().ok().filter(|level| *level <= 9).ok_or_else(invalid)?;
            }
            "--only" => {
                let find = |name: &str| {
                    PACKAGES.iter().find(|(known, _)| *known == name).map(|(_, package)| *package)
                };
                self.packages = value.split(',').map(find).collect::<Option<_>>().ok_or_else(invalid)?;
            }
            _ => return Err(Error::Usage(format!("unknown option `{flag}`; see `cargo xtask help`"))),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Options, Error> {
        let arguments: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Options::read(&arguments, &Repository::find())
    }

    #[test]
    fn options_are_read_and_wrong_ones_are_refused() {
        let options =
            read("--binary b --only npm,deb --allow-glibc 2.36 --level 1 --no-man --no-site").unwrap();
        assert_eq!(options.packages, [Package::Npm, Package::Debian]);
        assert_eq!((options.allowed_glibc, options.level), (Glibc(2, 36), 1));
        assert!(!options.has_man && !options.has_site);
        assert_eq!(read("").unwrap().packages.len(), PACKAGES.len());
        for wrong in ["--only rpm", "--level 10", "--allow-glibc new", "--binary", "--fast x", "npm"] {
            assert!(matches!(read(wrong), Err(Error::Usage(_))), "{wrong}");
        }
    }

    #[test]
    fn glibc_versions_are_compared_as_numbers() {
        assert!(Glibc::parse("2.4") < Glibc::parse("2.28") && Glibc::parse("2.2.5") == Some(Glibc(2, 2)));
        assert_eq!(Glibc::parse("PRIVATE"), None);
    }
}
