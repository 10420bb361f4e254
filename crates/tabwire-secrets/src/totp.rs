//! TOTP codes: RFC 6238 with SHA-1, six digits and 30 seconds.

use std::time::Duration;

use sha1_smol::Sha1;
use tabwire_api::{ErrorCode, Failure};

/// Lifetime of a code.
const STEP_SECONDS: u64 = 30;
/// Block size of SHA-1.
const BLOCK: usize = 64;

/// The code at a Unix time, from a base32 secret.
///
/// # Errors
/// When the secret is not base32.
pub fn totp_code(secret: &str, unix_time: Duration) -> Result<String, Failure> {
    let key = decode_base32(secret).filter(|key| !key.is_empty()).ok_or_else(|| {
        Failure::new(ErrorCode::BadArgs, "The TOTP secret is not base32.")
            .with_remedy("Sites show it beside the QR code, for example JBSW Y3DP EHPK 3PXP.")
    })?;
    let counter = unix_time.as_secs() / STEP_SECONDS;
    let hash = hmac_sha1(&key, &counter.to_be_bytes());
    let start = usize::from(hash[19] & 0x0f);
    let part = [hash[start] & 0x7f, hash[start + 1], hash[start + 2], hash[start + 3]];
    Ok(format!("{:06}", u32::from_be_bytes(part) % 1_000_000))
}

fn hmac_sha1(key: &[u8], message: &[u8]) -> [u8; 20] {
    let mut block = [0_u8; BLOCK];
    if key.len() > BLOCK {
        block[..20].copy_from_slice(&Sha1::from(key).digest().bytes());
    } else {
        block[..key.len()].copy_from_slice(key);
    }
    let padded = |pad: u8| block.map(|byte| byte ^ pad);
    let mut inner = Sha1::from(padded(0x36));
    inner.update(message);
    let mut outer = Sha1::from(padded(0x5c));
    outer.update(&inner.digest().bytes());
    outer.digest().bytes()
}

fn decode_base32(text: &str) -> Option<Vec<u8>> {
    let (mut bits, mut count, mut bytes) = (0_u32, 0_u32, Vec::new());
    for letter in text.bytes().filter(|byte| !matches!(byte, b' ' | b'-' | b'=' | b'\n' | b'\r')) {
        let value = match letter.to_ascii_uppercase() {
            letter @ b'A'..=b'Z' => letter - b'A',
            digit @ b'2'..=b'7' => digit - b'2' + 26,
            _ => return None,
        };
        bits = bits << 5 | u32::from(value);
        count += 5;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xff).ok()?);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_match_the_rfc_test_vectors() {
        // Appendix B of RFC 6238, its eight digits cut to six.
        let secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
        for (seconds, code) in
            [(59, "287082"), (1_111_111_109, "081804"), (1_111_111_111, "050471"), (2_000_000_000, "279037")]
        {
            assert_eq!(totp_code(secret, Duration::from_secs(seconds)).as_deref(), Ok(code), "{seconds}");
        }
        let spaced = "gezd gnbv-gy3t qojq GEZD GNBV GY3T QOJQ\n";
        assert_eq!(totp_code(spaced, Duration::from_secs(59)).as_deref(), Ok("287082"));
        for wrong in ["", "not base 32!", "018"] {
            assert!(totp_code(wrong, Duration::from_secs(59)).is_err(), "{wrong}");
        }
        assert_eq!(hmac_sha1(&[0xaa; 80], b"x").len(), 20);
    }
}
