//! The pairing key that a daemon and its extensions share, and the proof that a side knows it. The key never crosses the
//! socket.

use std::fmt;

use ring::hmac;

use crate::link_message::Purpose;

/// The side that makes a proof. A proof of one side is invalid for the other, so it cannot be reflected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The daemon, which proves first.
    Daemon,
    /// The extension.
    Extension,
}

/// The values that a proof covers: one handshake between one install and one daemon.
#[derive(Clone, Copy, Debug)]
pub struct Handshake<'a> {
    /// The id of the extension's installation.
    pub install: &'a str,
    /// The extension's nonce.
    pub extension_nonce: &'a str,
    /// The daemon's nonce.
    pub daemon_nonce: &'a str,
    /// What the connection is for. A proof for one purpose is invalid for the other.
    pub purpose: Purpose,
}

impl Handshake<'_> {
    fn text(&self, side: Side) -> String {
        let side = match side {
            Side::Daemon => "daemon",
            Side::Extension => "extension",
        };
        let text = [side, self.install, self.extension_nonce, self.daemon_nonce].join("\n");
        match self.purpose {
            Purpose::Browser => text,
            Purpose::Panel => format!("{text}\npanel"),
        }
    }
}

/// A shared 256-bit key.
pub struct PairingKey(hmac::Key);

impl PairingKey {
    /// Parses 64 hexadecimal digits.
    #[must_use]
    pub fn find(text: &str) -> Option<Self> {
        let bytes = from_hex(text).filter(|bytes| bytes.len() == 32)?;
        Some(Self(hmac::Key::new(hmac::HMAC_SHA256, &bytes)))
    }

    /// The proof of one side, in hexadecimal.
    #[must_use]
    pub fn proof(&self, side: Side, handshake: &Handshake<'_>) -> String {
        let tag = hmac::sign(&self.0, handshake.text(side).as_bytes());
        tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Verifies the proof of a side, in constant time.
    #[must_use]
    pub fn verify(&self, side: Side, handshake: &Handshake<'_>, shown: &str) -> bool {
        let text = handshake.text(side);
        from_hex(shown).is_some_and(|tag| hmac::verify(&self.0, text.as_bytes(), &tag).is_ok())
    }
}

impl fmt::Debug for PairingKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("PairingKey(…)")
    }
}

/// Whether a text is a valid nonce or install id: 16 to 128 hexadecimal digits.
#[must_use]
pub fn is_valid_id(text: &str) -> bool {
    (16..=128).contains(&text.len()) && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    digits.chunks(2).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handshake<'a>(extension: &'a str, daemon: &'a str) -> Handshake<'a> {
        Handshake {
            install: "00ff00ff00ff00ff",
            extension_nonce: extension,
            daemon_nonce: daemon,
            purpose: Purpose::Browser,
        }
    }

    #[test]
    fn a_proof_holds_for_one_side_one_key_and_one_pair_of_nonces() {
        let key = PairingKey::find(&"1f".repeat(32)).expect("a key");
        let shown = key.proof(Side::Extension, &handshake("aa", "bb"));
        assert!(key.verify(Side::Extension, &handshake("aa", "bb"), &shown));
        assert!(!key.verify(Side::Daemon, &handshake("aa", "bb"), &shown), "the other side");
        assert!(!key.verify(Side::Extension, &handshake("aa", "bc"), &shown), "another nonce");
        assert!(!key.verify(Side::Extension, &handshake("ab", "b"), &shown), "parts moved");
        let panel = Handshake { purpose: Purpose::Panel, ..handshake("aa", "bb") };
        assert!(!key.verify(Side::Extension, &panel, &shown), "another purpose");
        assert!(!key.verify(Side::Extension, &handshake("aa", "bb"), &key.proof(Side::Extension, &panel)));
        let other = PairingKey::find(&"2f".repeat(32)).expect("a key");
        assert!(!other.verify(Side::Extension, &handshake("aa", "bb"), &shown), "another key");
        for nonsense in ["", "0", "zz", &shown[..62]] {
            assert!(!key.verify(Side::Extension, &handshake("aa", "bb"), nonsense), "{nonsense}");
        }
    }

    #[test]
    fn a_proof_is_the_one_that_the_extension_computes() {
        // Computed with `crypto.subtle` for the same key and names.
        let key = PairingKey::find(&"00".repeat(32)).expect("a key");
        let shown = key.proof(Side::Daemon, &handshake("aa", "bb"));
        assert_eq!(shown, "bac058b961463113e6ce563e741ee9aafa5d14ec6755988023092268f64fabce");
    }

    #[test]
    fn keys_are_never_printed_and_never_short() {
        let key = PairingKey::find(&"1f".repeat(32)).expect("a key");
        assert_eq!(format!("{key:?}"), "PairingKey(…)");
        assert!(PairingKey::find(&"1f".repeat(31)).is_none());
        assert!(PairingKey::find(&"zz".repeat(32)).is_none());
    }
}
