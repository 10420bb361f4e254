//! A short digest to compare contents. It is not a cryptographic hash.

/// FNV-1a: stable across versions of Rust, unlike the standard hasher.
#[must_use]
pub fn stable_digest(content: &[u8]) -> String {
    let digest = content.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{digest:016x}")
}
