//! SHA-1 and base64, only for the websocket handshake.

/// Computes the `Sec-WebSocket-Accept` value for a client's key.
pub(crate) fn websocket_accept(key: &str) -> String {
    base64(&sha1(format!("{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11").as_bytes()))
}

fn sha1(input: &[u8]) -> Vec<u8> {
    let mut state: [u32; 5] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0];
    let mut message = input.to_vec();
    message.push(0x80);
    while message.len() % 64 != 56 {
        message.push(0);
    }
    let bits = u64::try_from(input.len()).unwrap_or(u64::MAX).wrapping_mul(8);
    message.extend_from_slice(&bits.to_be_bytes());
    for block in message.chunks_exact(64) {
        compress(&mut state, block);
    }
    state.iter().flat_map(|word| word.to_be_bytes()).collect()
}

fn compress(state: &mut [u32; 5], block: &[u8]) {
    let mut words: Vec<u32> = block
        .chunks_exact(4)
        .map(|bytes| bytes.iter().fold(0, |word, byte| word << 8 | u32::from(*byte)))
        .collect();
    for index in 16..80 {
        words.push(
            (words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16]).rotate_left(1),
        );
    }
    let [mut a, mut b, mut c, mut d, mut e] = *state;
    for (index, word) in words.iter().enumerate() {
        let (mix, constant) = match index {
            0..20 => ((b & c) | (!b & d), 0x5A82_7999),
            20..40 => (b ^ c ^ d, 0x6ED9_EBA1),
            40..60 => ((b & c) | (b & d) | (c & d), 0x8F1B_BCDC),
            _ => (b ^ c ^ d, 0xCA62_C1D6_u32),
        };
        let next =
            a.rotate_left(5).wrapping_add(mix).wrapping_add(e).wrapping_add(constant).wrapping_add(*word);
        (e, d, c, b, a) = (d, c, b.rotate_left(30), a, next);
    }
    for (word, add) in state.iter_mut().zip([a, b, c, d, e]) {
        *word = word.wrapping_add(add);
    }
}

fn base64(input: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut output = String::new();
    for chunk in input.chunks(3) {
        let bits =
            (0..3).fold(0_usize, |bits, i| bits << 8 | usize::from(chunk.get(i).copied().unwrap_or(0)));
        for place in 0..4 {
            let letter = if place <= chunk.len() { ALPHABET[bits >> (18 - 6 * place) & 63] } else { b'=' };
            output.push(char::from(letter));
        }
    }
    output
}

#[cfg(test)]
mod tests {
    #[test]
    fn accept_value_matches_rfc_6455() {
        assert_eq!(super::websocket_accept("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }
}
