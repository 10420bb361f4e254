//! Zip archives with one file, in which a Grid's node takes and gives files.

use std::io::Read as _;

use flate2::Crc;
use flate2::read::DeflateDecoder;

const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;

/// The length of the record at the end, without a comment.
const END_BYTES: usize = 22;

/// Packs a file without compression; `None` if it is too large for the format.
pub(super) fn pack(name: &str, content: &[u8]) -> Option<Vec<u8>> {
    let (name, size) = (name.as_bytes(), u32::try_from(content.len()).ok()?);
    let name_length = u16::try_from(name.len()).ok()?;
    let mut crc = Crc::new();
    crc.update(content);
    // Version 2.0, names in UTF-8, stored, no time.
    let mut shared = Vec::new();
    shared.extend([20_u16, 0x0800, 0, 0, 0x21].iter().flat_map(|word| word.to_le_bytes()));
    shared.extend([crc.sum(), size, size].iter().flat_map(|word| word.to_le_bytes()));
    shared.extend(name_length.to_le_bytes());
    shared.extend(0_u16.to_le_bytes());
    let mut archive = LOCAL.to_le_bytes().to_vec();
    archive.extend(&shared);
    archive.extend(name);
    archive.extend(content);
    let start = u32::try_from(archive.len()).ok()?;
    archive.extend(CENTRAL.to_le_bytes());
    archive.extend(20_u16.to_le_bytes());
    archive.extend(&shared);
    // Comment, disk, attributes, and the offset of the local header.
    archive.extend([0_u8; 14]);
    archive.extend(name);
    let length = u32::try_from(archive.len()).ok()? - start;
    archive.extend(END.to_le_bytes());
    archive.extend([0_u16, 0, 1, 1].iter().flat_map(|word| word.to_le_bytes()));
    archive.extend([length, start].iter().flat_map(|word| word.to_le_bytes()));
    archive.extend(0_u16.to_le_bytes());
    Some(archive)
}

/// The first file of an archive, up to `limit` bytes; `None` if it is damaged, encrypted or larger.
pub(super) fn unpack(archive: &[u8], limit: u64) -> Option<Vec<u8>> {
    let last = archive.len().checked_sub(END_BYTES)?;
    let end = (0..=last).rev().take(1 << 16).find(|at| long(archive, *at) == Some(END))?;
    let entry = usize::try_from(long(archive, end + 16)?).ok()?;
    if long(archive, entry)? != CENTRAL || short(archive, entry + 8)? & 1 != 0 {
        return None;
    }
    let method = short(archive, entry + 10)?;
    let packed = usize::try_from(long(archive, entry + 20)?).ok()?;
    let size = u64::from(long(archive, entry + 24)?);
    let local = usize::try_from(long(archive, entry + 42)?).ok()?;
    if long(archive, local)? != LOCAL || size > limit {
        return None;
    }
    let names = usize::from(short(archive, local + 26)?) + usize::from(short(archive, local + 28)?);
    let start = local.checked_add(30)?.checked_add(names)?;
    let content = archive.get(start..start.checked_add(packed)?)?;
    let mut found = Vec::new();
    match method {
        0 => found.extend_from_slice(content),
        8 => {
            DeflateDecoder::new(content).take(limit + 1).read_to_end(&mut found).ok()?;
        }
        _ => return None,
    }
    let mut crc = Crc::new();
    crc.update(&found);
    let is_whole = u64::try_from(found.len()).ok()? == size && Some(crc.sum()) == long(archive, entry + 16);
    is_whole.then_some(found)
}

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

fn long(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_file_is_unpacked_and_every_damage_is_noticed() {
        let archive = pack("däta.txt", b"content of a file").expect("packed");
        assert_eq!(unpack(&archive, 100).as_deref(), Some(&b"content of a file"[..]));
        assert_eq!(unpack(&archive, 5), None, "larger than the limit");
        for at in 0..archive.len() {
            // Neither a cut nor a changed byte leads to a panic or to other content.
            unpack(archive.get(..at).expect("a part"), 100);
            let mut changed = archive.clone();
            changed[at] ^= 0xff;
            let found = unpack(&changed, 100);
            assert!(found.is_none_or(|found| found == b"content of a file"), "byte {at}");
        }
    }

    /// What Java's `ZipOutputStream` writes: deflated, with the sizes after the content.
    #[test]
    fn an_archive_of_a_node_is_unpacked() {
        use std::io::Write as _;
        let content = b"hello hello hello hello".repeat(20);
        let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(&content).expect("written");
        let packed = encoder.finish().expect("finished");
        let mut crc = Crc::new();
        crc.update(&content);
        let sizes = [
            crc.sum(),
            u32::try_from(packed.len()).expect("small"),
            u32::try_from(content.len()).expect("small"),
        ];
        let sizes: Vec<u8> = sizes.iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut archive = LOCAL.to_le_bytes().to_vec();
        archive.extend([20, 0, 8, 8, 8, 0, 0, 0, 0, 0].iter());
        archive.extend([0; 12]);
        archive.extend([1, 0, 0, 0, b'a']);
        archive.extend(&packed);
        archive.extend(b"PK\x07\x08");
        archive.extend(&sizes);
        let start = u32::try_from(archive.len()).expect("small");
        archive.extend(CENTRAL.to_le_bytes());
        archive.extend([20, 0, 20, 0, 8, 8, 8, 0, 0, 0, 0, 0].iter());
        archive.extend(&sizes);
        archive.extend([1, 0]);
        archive.extend([0; 16]);
        archive.push(b'a');
        let length = u32::try_from(archive.len()).expect("small") - start;
        archive.extend(END.to_le_bytes());
        archive.extend([0, 0, 0, 0, 1, 0, 1, 0]);
        archive.extend([length, start].iter().flat_map(|word| word.to_le_bytes()));
        archive.extend([0, 0]);
        assert_eq!(unpack(&archive, 10_000), Some(content));
    }
}
