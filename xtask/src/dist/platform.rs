//! The platforms of packages. A program is built on its own platform: completions and man pages come from running it.

use super::elf::{self, Needs};
use super::options::{GLIBC, Glibc};
use crate::error::Error;

/// A platform, as the kinds of packages call it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Platform {
    /// In file names, and of the npm package: its system and processor as Node calls them.
    pub(super) name: &'static str,
    /// As the compiler calls it.
    pub(super) target: &'static str,
    /// As Debian calls it.
    pub(super) debian: Option<&'static str>,
    /// The processor in the tag of a wheel.
    wheel: &'static str,
    /// The processor in the header of a Linux program.
    machine: Option<u16>,
}

/// macOS of the oldest supported release, in the tag of a wheel.
const MACOS: &str = "macosx_11_0";

const PLATFORMS: [Platform; 4] = [
    Platform {
        name: "linux-x64",
        target: "x86_64-unknown-linux-gnu",
        debian: Some("amd64"),
        wheel: "x86_64",
        machine: Some(62),
    },
    Platform {
        name: "linux-arm64",
        target: "aarch64-unknown-linux-gnu",
        debian: Some("arm64"),
        wheel: "aarch64",
        machine: Some(183),
    },
    Platform {
        name: "darwin-x64",
        target: "x86_64-apple-darwin",
        debian: None,
        wheel: "x86_64",
        machine: None,
    },
    Platform {
        name: "darwin-arm64",
        target: "aarch64-apple-darwin",
        debian: None,
        wheel: "arm64",
        machine: None,
    },
];

impl Platform {
    /// The platform of this machine.
    pub(super) fn here() -> Result<&'static Platform, Error> {
        let (system, processor) = (std::env::consts::OS, std::env::consts::ARCH);
        let is_here = |platform: &&Platform| {
            let system = if system == "macos" { "apple-darwin" } else { system };
            platform.target.starts_with(processor) && platform.target.contains(system)
        };
        PLATFORMS.iter().find(is_here).ok_or_else(|| Error::NeedsUser {
            what: format!("no packages are made for {system} on {processor}"),
            hint: "`cargo install --path crates/tabwire` installs the program.".to_owned(),
        })
    }

    pub(super) fn is_linux(&self) -> bool {
        self.machine.is_some()
    }

    /// The system and the processor, as npm names them.
    pub(super) fn of_node(&self) -> (&'static str, &'static str) {
        self.name.split_once('-').unwrap_or((self.name, ""))
    }

    /// The part of a wheel's name that says where it can be installed. pip compares it with the machine.
    pub(super) fn wheel_tag(&self, needs: &Needs) -> String {
        if !self.is_linux() {
            return format!("{MACOS}_{}", self.wheel);
        }
        let Glibc(major, minor) = needs.glibc.unwrap_or(GLIBC).max(GLIBC);
        format!("manylinux_{major}_{minor}_{}", self.wheel)
    }

    /// What a program needs. Programs of macOS name no versions of libraries.
    pub(super) fn inspect(&self, program: &[u8], allowed: Glibc) -> Result<Needs, Error> {
        let Some(machine) = self.machine else { return Ok(Needs::default()) };
        let needs = elf::inspect(program, machine).map_err(|problem| Error::NeedsUser {
            what: format!("the program cannot be packed: {problem}"),
            hint: format!("Build it for {}.", self.target),
        })?;
        elf::check(&needs, allowed)?;
        Ok(needs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repository::Repository;

    #[test]
    fn the_npm_package_and_its_wrapper_name_every_platform() {
        let repository = Repository::find();
        let package = repository.read("packaging/npm/package.json").unwrap();
        let wrapper = repository.read("packaging/npm/tabwire.sh").unwrap();
        let installer = repository.read("packaging/install.sh").unwrap();
        for platform in &PLATFORMS {
            let name = platform.name;
            assert!(package.contains(&format!("\"@tabwire/{name}\": \"{{{{version}}}}\"")), "{name}");
            assert!(wrapper.contains(&format!("platform={name} ;;")), "{name}");
            assert!(installer.contains(&format!("platform={name} ;;")), "{name}");
        }
    }

    #[test]
    fn cargo_binstall_takes_the_tarball_of_each_platform() {
        let manifest = Repository::find().read_toml("crates/tabwire/Cargo.toml").unwrap();
        let binstall = &manifest["package"]["metadata"]["binstall"];
        assert!(binstall.get("pkg-url").is_none(), "it would be taken on every platform");
        let overrides = binstall["overrides"].as_table().unwrap();
        assert_eq!(overrides.len(), PLATFORMS.len());
        for Platform { name, target, .. } in &PLATFORMS {
            let text = |key: &str| overrides[*target][key].as_str().unwrap();
            assert!(text("pkg-url").ends_with(&format!("/tabwire-{{ version }}-{name}.tar.gz")), "{name}");
            assert_eq!(text("bin-dir"), format!("tabwire-{{ version }}-{name}/bin/{{ bin }}"));
        }
    }

    #[test]
    fn wheels_have_the_tags_that_pip_compares() {
        let tag = |name: &str, needs: &Needs| {
            PLATFORMS.iter().find(|platform| platform.name == name).unwrap().wheel_tag(needs)
        };
        assert_eq!(tag("linux-x64", &Needs::default()), "manylinux_2_28_x86_64");
        let newer = Needs { glibc: Some(Glibc(2, 36)), ..Needs::default() };
        assert_eq!(tag("linux-arm64", &newer), "manylinux_2_36_aarch64");
        assert_eq!(tag("darwin-arm64", &newer), "macosx_11_0_arm64");
    }

    #[test]
    fn this_machine_has_one_platform() {
        assert_eq!(Platform::here().unwrap().is_linux(), cfg!(target_os = "linux"));
    }
}
