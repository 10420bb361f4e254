//! Writes zip archives: wheels and the extension.

use std::io::Write;

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

use super::{Entry, Timestamp, sorted};

/// Version 2.0 of the format, made on Unix.
const VERSION: u16 = 20;
const MADE_ON_UNIX: u16 = 3 << 8 | VERSION;
const DEFLATED: u16 = 8;

/// The bit of a regular file above the permission bits.
const REGULAR_FILE: u32 = 0o100_000;

/// Packs files, without entries for folders.
pub(in super::super) fn zip(entries: Vec<Entry>, time: Timestamp, level: u32) -> Vec<u8> {
    let (mut archive, mut directory, mut count) = (Vec::new(), Vec::new(), 0u16);
    for entry in sorted(entries) {
        let start = size(archive.len());
        let mut crc = Crc::new();
        crc.update(&entry.bytes);
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::new(level));
        encoder.write_all(&entry.bytes).expect("memory takes every byte");
        let packed = encoder.finish().expect("memory takes every byte");
        // The part that local header and directory share.
        let mut fields = Vec::new();
        for field in [VERSION, 0, DEFLATED] {
            fields.extend(field.to_le_bytes());
        }
        for field in [dos_time(time), crc.sum(), size(packed.len()), size(entry.bytes.len())] {
            fields.extend(field.to_le_bytes());
        }
        fields.extend(short(entry.path.len()).to_le_bytes());
        fields.extend([0; 2]);
        archive.extend(b"PK\x03\x04".iter().chain(&fields).chain(entry.path.as_bytes()));
        archive.extend(packed);
        directory.extend(b"PK\x01\x02");
        directory.extend(MADE_ON_UNIX.to_le_bytes());
        directory.extend(fields);
        // Comment, disk and internal attributes.
        directory.extend([0; 6]);
        directory.extend(((REGULAR_FILE | entry.mode) << 16).to_le_bytes());
        directory.extend(start.to_le_bytes());
        directory.extend(entry.path.as_bytes());
        count += 1;
    }
    let (start, length) = (size(archive.len()), size(directory.len()));
    archive.extend(directory);
    archive.extend(b"PK\x05\x06\0\0\0\0");
    archive.extend([count.to_le_bytes(), count.to_le_bytes()].concat());
    archive.extend([length.to_le_bytes(), start.to_le_bytes()].concat());
    archive.extend([0; 2]);
    archive
}

fn size(length: usize) -> u32 {
    u32::try_from(length).expect("archives are below 4 GiB")
}

fn short(length: usize) -> u16 {
    u16::try_from(length).expect("paths are below 64 KiB")
}

/// The time in the format of MS-DOS: the date above, two-second units below. Times before 1980 become 1980.
fn dos_time(time: Timestamp) -> u32 {
    let days = time.0 / 86_400;
    let (year, month, day) = civil_date(days);
    let seconds = time.0 % 86_400;
    let Some(years) = year.checked_sub(1980) else { return 1 << 21 | 1 << 16 };
    let fields = years << 25 | month << 21 | day << 16;
    let clock = (seconds / 3600) << 11 | (seconds / 60 % 60) << 5 | (seconds % 60 / 2);
    u32::try_from(fields | clock).unwrap_or(u32::MAX)
}

/// Year, month and day of a number of days since 1970 (Howard Hinnant's algorithm).
fn civil_date(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(civil_date(0), (1970, 1, 1));
        assert_eq!(civil_date(11_016), (2000, 2, 29));
        assert_eq!(civil_date(20_775), (2026, 11, 18));
        assert_eq!(dos_time(Timestamp(0)), 1 << 21 | 1 << 16);
    }

    #[test]
    fn python_reads_what_is_written() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("a.zip");
        let entries = vec![Entry::program("bin/run", *b"run"), Entry::text("text", &"x".repeat(900))];
        std::fs::write(&file, zip(entries, Timestamp(1_700_000_000), 6)).unwrap();
        let script = "import sys, zipfile\nz = zipfile.ZipFile(sys.argv[1])\nassert z.testzip() is None\n\
                      for i in z.infolist(): print(i.filename, i.file_size, oct(i.external_attr >> 16), i.date_time)";
        let output = std::process::Command::new("python3").args(["-c", script]).arg(&file).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let expected =
            "bin/run 3 0o100755 (2023, 11, 14, 22, 13, 20)\ntext 900 0o100644 (2023, 11, 14, 22, 13, 20)\n";
        assert_eq!(text, expected, "{}", String::from_utf8_lossy(&output.stderr));
    }
}
