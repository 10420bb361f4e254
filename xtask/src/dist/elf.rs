//! Reads what a Linux program needs, from its ELF headers: libraries, the versions of glibc, and how it was linked.

use super::options::Glibc;
use crate::error::Error;

const LOAD: u32 = 1;
const DYNAMIC: u32 = 2;
const RELRO: u32 = 0x6474_e552;
const SHARED_OBJECT: u16 = 3;

const TAG_NEEDED: u64 = 1;
const TAG_STRINGS: u64 = 5;
const TAG_BIND_NOW: u64 = 24;
const TAG_FLAGS: u64 = 30;
const TAG_FLAGS_1: u64 = 0x6fff_fffb;
const TAG_VERSIONS: u64 = 0x6fff_fffe;
const TAG_VERSION_COUNT: u64 = 0x6fff_ffff;

/// `DF_BIND_NOW` and `DF_1_NOW`.
const FLAG_NOW: u64 = 8;
const FLAG_1_NOW: u64 = 1;

/// What a program needs to start.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Needs {
    /// The newest glibc of which it uses a symbol.
    pub(super) glibc: Option<Glibc>,
    /// The shared libraries.
    pub(super) libraries: Vec<String>,
    pub(super) is_position_independent: bool,
    /// Relocations are read-only once it runs, all of them.
    pub(super) has_full_relro: bool,
}

/// Refuses a program that needs a newer glibc, or that is linked without protection.
pub(super) fn check(needs: &Needs, allowed: Glibc) -> Result<(), Error> {
    let refuse = |what: String, hint: &str| Err(Error::NeedsUser { what, hint: hint.to_owned() });
    if let Some(glibc) = needs.glibc.filter(|glibc| *glibc > allowed) {
        return refuse(
            format!("the program needs glibc {glibc}, and packages are for {allowed} and newer"),
            "Build it with `cargo xtask dist`, or pass `--allow-glibc VERSION`.",
        );
    }
    if !needs.is_position_independent || !needs.has_full_relro {
        return refuse(
            "the program is not position independent with full RELRO".to_owned(),
            "Remove linker options such as `-no-pie` and `-z norelro`.",
        );
    }
    Ok(())
}

/// Reads a program for Linux on a processor, by its number in ELF headers.
pub(super) fn inspect(bytes: &[u8], machine: u16) -> Result<Needs, &'static str> {
    let image = Image { bytes };
    if !bytes.starts_with(b"\x7fELF\x02\x01") || image.number(18, 2) != Some(u64::from(machine)) {
        return Err("it is no program for Linux on this processor");
    }
    image.needs().ok_or("its ELF headers are damaged")
}

/// The bytes of a program.
struct Image<'a> {
    bytes: &'a [u8],
}

/// One program header.
struct Segment {
    kind: u32,
    offset: u64,
    address: u64,
    size: u64,
}

impl Image<'_> {
    fn needs(&self) -> Option<Needs> {
        let segments = self.segments()?;
        let mut needs = Needs {
            is_position_independent: self.number(16, 2)? == u64::from(SHARED_OBJECT),
            ..Needs::default()
        };
        let Some(dynamic) = segments.iter().find(|segment| segment.kind == DYNAMIC) else {
            return Some(needs);
        };
        let tags: Vec<(u64, u64)> = (0..dynamic.size / 16)
            .map_while(|index| {
                let at = dynamic.offset + index * 16;
                Some((self.number(at, 8)?, self.number(at + 8, 8)?))
            })
            .take_while(|(tag, _)| *tag != 0)
            .collect();
        let find = |wanted: u64| tags.iter().find(|(tag, _)| *tag == wanted).map(|(_, value)| *value);
        let binds_now = find(TAG_BIND_NOW).is_some()
            || find(TAG_FLAGS).is_some_and(|flags| flags & FLAG_NOW != 0)
            || find(TAG_FLAGS_1).is_some_and(|flags| flags & FLAG_1_NOW != 0);
        needs.has_full_relro = binds_now && segments.iter().any(|segment| segment.kind == RELRO);
        let strings = file_offset(&segments, find(TAG_STRINGS)?)?;
        let named = tags.iter().filter(|(tag, _)| *tag == TAG_NEEDED);
        needs.libraries = named.map(|(_, name)| self.text(strings + name)).collect::<Option<_>>()?;
        if let Some(versions) = find(TAG_VERSIONS) {
            let count = find(TAG_VERSION_COUNT)?;
            needs.glibc = self.newest_glibc(file_offset(&segments, versions)?, count, strings)?;
        }
        Some(needs)
    }

    fn segments(&self) -> Option<Vec<Segment>> {
        let (start, size, count) = (self.number(32, 8)?, self.number(54, 2)?, self.number(56, 2)?);
        (0..count)
            .map(|index| {
                let at = start.checked_add(index * size)?;
                Some(Segment {
                    kind: u32::try_from(self.number(at, 4)?).ok()?,
                    offset: self.number(at + 8, 8)?,
                    address: self.number(at + 16, 8)?,
                    size: self.number(at + 32, 8)?,
                })
            })
            .collect()
    }

    /// Walks the needed versions: one record per library, with a list of versions each.
    fn newest_glibc(&self, start: u64, count: u64, strings: u64) -> Option<Option<Glibc>> {
        let (mut newest, mut record) = (None, start);
        for _ in 0..count {
            let mut version = record + self.number(record + 8, 4)?;
            for _ in 0..self.number(record + 2, 2)? {
                let name = self.text(strings + self.number(version + 8, 4)?)?;
                newest = newest.max(name.strip_prefix("GLIBC_").and_then(Glibc::parse));
                version += self.number(version + 12, 4)?;
            }
            record += self.number(record + 12, 4)?;
        }
        Some(newest)
    }

    /// A little-endian number of `size` bytes.
    fn number(&self, at: u64, size: usize) -> Option<u64> {
        let at = usize::try_from(at).ok()?;
        let bytes = self.bytes.get(at..at.checked_add(size)?)?;
        Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn text(&self, at: u64) -> Option<String> {
        let rest = self.bytes.get(usize::try_from(at).ok()?..)?;
        let end = rest.iter().position(|byte| *byte == 0)?;
        String::from_utf8(rest[..end].to_vec()).ok()
    }
}

/// Where an address of the loaded program is in the file.
fn file_offset(segments: &[Segment], address: u64) -> Option<u64> {
    let holds = |segment: &&Segment| {
        segment.kind == LOAD && (segment.address..segment.address + segment.size).contains(&address)
    };
    segments.iter().find(holds).map(|segment| address - segment.address + segment.offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The processor of the tests.
    fn machine() -> u16 {
        if cfg!(target_arch = "aarch64") { 183 } else { 62 }
    }

    #[test]
    fn a_program_is_read_and_its_needs_are_judged() {
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let needs = inspect(&own, machine()).unwrap();
        assert!(needs.libraries.iter().any(|library| library == "libc.so.6"), "{needs:?}");
        let glibc = needs.glibc.unwrap();
        assert!(glibc > Glibc(2, 2), "{needs:?}");
        check(&needs, glibc).unwrap();
        let refused = check(&needs, Glibc(2, 2)).unwrap_err().to_string();
        assert!(refused.contains(&format!("needs glibc {glibc}")), "{refused}");
    }

    #[test]
    fn a_program_without_relro_or_with_a_fixed_address_is_refused() {
        let protected = Needs { is_position_independent: true, has_full_relro: true, ..Needs::default() };
        check(&protected, Glibc(2, 28)).unwrap();
        for needs in [
            Needs { has_full_relro: false, is_position_independent: true, ..Needs::default() },
            Needs { is_position_independent: false, has_full_relro: true, ..Needs::default() },
        ] {
            check(&needs, Glibc(2, 28)).unwrap_err();
        }
    }

    #[test]
    fn other_files_and_cut_programs_are_refused() {
        assert!(inspect(b"#!/bin/sh\n", machine()).is_err());
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        assert!(inspect(&own[..80], machine()).is_err());
        assert!(inspect(&own, 8).is_err());
    }
}
