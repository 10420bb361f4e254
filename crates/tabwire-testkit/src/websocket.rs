//! The handshake and the frames of a websocket server. Written here so that tests can also send invalid frames.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt};

use crate::{limits, sha1};

/// A message of a peer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PeerMessage {
    /// A complete text or binary message.
    Message(Vec<u8>),
    /// A ping with its payload.
    Ping(Vec<u8>),
    /// A close frame, or the end of the connection.
    Closed,
}

/// The kind of a sent frame.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FrameKind {
    /// A complete text message.
    Text = 0x1,
    /// A close frame.
    Close = 0x8,
    /// The response to a ping.
    Pong = 0xA,
}

/// Writes the head that accepts an upgrade.
pub(crate) fn accept_head(key: &str) -> String {
    format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {}\r\n\r\n",
        sha1::websocket_accept(key)
    )
}

/// Encodes one unmasked frame. The payload need not be valid UTF-8.
pub(crate) fn encode(kind: FrameKind, payload: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(payload.len() + 10);
    frame.push(0x80 | kind as u8);
    if let Ok(short @ 0..126) = u8::try_from(payload.len()) {
        frame.push(short);
    } else if let Ok(middle) = u16::try_from(payload.len()) {
        frame.push(126);
        frame.extend_from_slice(&middle.to_be_bytes());
    } else {
        frame.push(127);
        frame.extend_from_slice(&u64::try_from(payload.len()).unwrap_or(u64::MAX).to_be_bytes());
    }
    frame.extend_from_slice(payload);
    frame
}

/// Reads the next message, joining fragments.
pub(crate) async fn receive(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<PeerMessage> {
    let mut message = Vec::new();
    loop {
        let mut head = [0_u8; 2];
        match stream.read_exact(&mut head).await {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(PeerMessage::Closed),
            Err(error) => return Err(error),
        }
        let payload = read_payload(stream, head[1], message.len()).await?;
        match head[0] & 0x0F {
            0x0..=0x2 => {
                message.extend_from_slice(&payload);
                if head[0] & 0x80 != 0 {
                    return Ok(PeerMessage::Message(message));
                }
            }
            0x8 => return Ok(PeerMessage::Closed),
            0x9 => return Ok(PeerMessage::Ping(payload)),
            _ => {}
        }
    }
}

async fn read_payload(
    stream: &mut (impl AsyncRead + Unpin),
    second: u8,
    already: usize,
) -> io::Result<Vec<u8>> {
    let length = match second & 0x7F {
        126 => u64::from(stream.read_u16().await?),
        127 => stream.read_u64().await?,
        short => u64::from(short),
    };
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    if length.saturating_add(already) > limits::PEER_FRAME_BYTES {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "websocket frame is too large"));
    }
    let mut mask = [0_u8; 4];
    if second & 0x80 != 0 {
        stream.read_exact(&mut mask).await?;
    }
    let mut payload = vec![0; length];
    stream.read_exact(&mut payload).await?;
    for (byte, key) in payload.iter_mut().zip(mask.iter().cycle()) {
        *byte ^= key;
    }
    Ok(payload)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn frames_of_every_length_encoding_round_trip() {
        for length in [0, 125, 126, 65_535, 65_536] {
            let payload = vec![b'x'; length];
            let frame = encode(FrameKind::Text, &payload);
            let received = receive(&mut frame.as_slice()).await.expect("whole frame");
            assert_eq!(received, PeerMessage::Message(payload));
        }
    }

    #[tokio::test]
    async fn masked_fragments_are_joined_and_end_of_file_is_a_close() {
        let mut bytes: &[u8] = &[0x01, 0x81, 1, 1, 1, 1, b'a' ^ 1, 0x80, 0x81, 2, 2, 2, 2, b'b' ^ 2];
        assert_eq!(receive(&mut bytes).await.expect("joined"), PeerMessage::Message(b"ab".to_vec()));
        assert_eq!(receive(&mut bytes).await.expect("end"), PeerMessage::Closed);
    }

    #[tokio::test]
    async fn a_frame_longer_than_the_limit_is_refused_before_it_is_allocated() {
        let mut bytes: &[u8] = &[0x81, 127, 0x7F, 0, 0, 0, 0, 0, 0, 0];
        assert!(receive(&mut bytes).await.is_err());
    }
}
