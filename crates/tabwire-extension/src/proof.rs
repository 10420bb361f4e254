//! The key that a daemon and an extension share, and how each shows that it knows it. The key never leaves this
//! machine's files and never crosses the socket. Knows nothing of sockets or files.

use std::fmt;

use ring::hmac;

/// Which side a proof is made by; one side's proof is worth nothing in the other's mouth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The daemon, which shows first.
    Daemon,
    /// The extension.
    Extension,
}

/// What a proof is about: one greeting between one install and one daemon.
#[derive(Clone, Copy, Debug)]
pub struct Greeting<'a> {
    /// The install that greets.
    pub install: &'a str,
    /// The extension's nonce.
    pub extension_nonce: &'a str,
    /// The daemon's nonce.
    pub daemon_nonce: &'a str,
}

impl Greeting<'_> {
    fn text(&self, side: Side) -> String {
        let side = match side {
            Side::Daemon => "daemon",
            Side::Extension => "extension",
        };
        [side, self.install, self.extension_nonce, self.daemon_nonce].join("\n")
    }
}

/// 256 bits that a daemon and its extensions share.
pub struct PairingKey(hmac::Key);

impl PairingKey {
    /// Takes a key as it was saved, 64 hexadecimal digits; `None` when it is not one.
    #[must_use]
    pub fn find(text: &str) -> Option<Self> {
        let bytes = from_hex(text).filter(|bytes| bytes.len() == 32)?;
        Some(Self(hmac::Key::new(hmac::HMAC_SHA256, &bytes)))
    }

    /// What one side shows, as hexadecimal digits.
    #[must_use]
    pub fn proof(&self, side: Side, greeting: &Greeting<'_>) -> String {
        let tag = hmac::sign(&self.0, greeting.text(side).as_bytes());
        tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Whether a side has shown that it knows the key; takes the same time wherever it differs.
    #[must_use]
    pub fn is_proved(&self, side: Side, greeting: &Greeting<'_>, shown: &str) -> bool {
        let text = greeting.text(side);
        from_hex(shown).is_some_and(|tag| hmac::verify(&self.0, text.as_bytes(), &tag).is_ok())
    }
}

impl fmt::Debug for PairingKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("PairingKey(…)")
    }
}

/// Whether a text can be a nonce or an install id: hexadecimal digits, and neither short nor long.
#[must_use]
pub fn is_name(text: &str) -> bool {
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

    fn greeting<'a>(extension: &'a str, daemon: &'a str) -> Greeting<'a> {
        Greeting { install: "00ff00ff00ff00ff", extension_nonce: extension, daemon_nonce: daemon }
    }

    #[test]
    fn a_proof_holds_for_one_side_one_key_and_one_pair_of_nonces() {
        let key = PairingKey::find(&"1f".repeat(32)).expect("a key");
        let shown = key.proof(Side::Extension, &greeting("aa", "bb"));
        assert!(key.is_proved(Side::Extension, &greeting("aa", "bb"), &shown));
        assert!(!key.is_proved(Side::Daemon, &greeting("aa", "bb"), &shown), "the other side");
        assert!(!key.is_proved(Side::Extension, &greeting("aa", "bc"), &shown), "another nonce");
        assert!(!key.is_proved(Side::Extension, &greeting("ab", "b"), &shown), "parts moved");
        let other = PairingKey::find(&"2f".repeat(32)).expect("a key");
        assert!(!other.is_proved(Side::Extension, &greeting("aa", "bb"), &shown), "another key");
        for nonsense in ["", "0", "zz", &shown[..62]] {
            assert!(!key.is_proved(Side::Extension, &greeting("aa", "bb"), nonsense), "{nonsense}");
        }
    }

    #[test]
    fn a_proof_is_the_one_that_the_extension_computes() {
        // Computed with `crypto.subtle` for the same key and names.
        let key = PairingKey::find(&"00".repeat(32)).expect("a key");
        let shown = key.proof(Side::Daemon, &greeting("aa", "bb"));
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
