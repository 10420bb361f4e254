//! SHA-256 sums of files.

use ring::digest::{SHA256, digest};

/// The sum in hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    digest(&SHA256, bytes).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The raw sum, as wheels list it in base64.
pub(super) fn raw(bytes: &[u8]) -> Vec<u8> {
    digest(&SHA256, bytes).as_ref().to_vec()
}
