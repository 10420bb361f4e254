//! Secrets: masking by name, encrypted files, TOTP codes and secret references.

mod encryption;
mod masking;
mod reference;
mod totp;

pub use encryption::{Passphrase, SealKey, is_sealed, open_as, open_state, seal_as, seal_state};
pub use masking::{MASK, mask_body, mask_endpoint, mask_header, mask_url};
pub use reference::{SecretPart, SecretReference};
pub use totp::totp_code;
