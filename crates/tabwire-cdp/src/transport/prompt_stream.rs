//! A TCP stream that acknowledges at once what it reads.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// For a peer that collects small messages until the former ones are acknowledged (Nagle's algorithm), as Firefox does.
/// Linux delays acknowledgements by 40 ms, so the second of two responses would be that late.
#[derive(Debug)]
pub(super) struct PromptStream(TcpStream);

impl PromptStream {
    pub(super) fn new(stream: TcpStream) -> Self {
        let stream = Self(stream);
        stream.acknowledge();
        stream
    }

    /// The kernel forgets this now and then, so it is set after each read. An acknowledgement that is due is sent.
    fn acknowledge(&self) {
        // On other systems the responses are only later.
        #[cfg(target_os = "linux")]
        let _ = self.0.set_quickack(true);
    }
}

impl AsyncRead for PromptStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.0).poll_read(context, buffer);
        if read.is_ready() {
            self.acknowledge();
        }
        read
    }
}

impl AsyncWrite for PromptStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::time::{Duration, Instant};

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;

    /// Request and response until the kernel delays acknowledgements, then two small responses to one request.
    async fn second_response(promptly: bool) -> Duration {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("loopback works");
        let address = listener.local_addr().expect("loopback works");
        let server = async {
            let (mut stream, _) = listener.accept().await.expect("loopback works");
            let mut byte = [0];
            while stream.read_exact(&mut byte).await.is_ok() {
                stream.write_all(b"1").await.expect("loopback works");
                if byte == *b"2" {
                    stream.write_all(b"2").await.expect("loopback works");
                }
            }
        };
        let client = async {
            let stream = TcpStream::connect(address).await.expect("loopback works");
            stream.set_nodelay(true).expect("loopback works");
            let mut stream: Box<dyn super::super::websocket::ByteStream> =
                if promptly { Box::new(PromptStream::new(stream)) } else { Box::new(stream) };
            let mut byte = [0];
            let mut taken = Vec::new();
            for round in 0..60 {
                let before = Instant::now();
                stream.write_all(if round < 30 { b"1" } else { b"2" }).await.expect("loopback works");
                stream.read_exact(&mut byte).await.expect("loopback works");
                if round >= 30 {
                    stream.read_exact(&mut byte).await.expect("loopback works");
                    taken.push(before.elapsed());
                }
            }
            // One that is slow or fast proves nothing.
            taken.sort_unstable();
            taken[taken.len() / 2]
        };
        tokio::join!(server, client).1
    }

    #[tokio::test]
    async fn two_small_responses_do_not_wait_for_each_other() {
        let (plain, prompt) = (second_response(false).await, second_response(true).await);
        assert!(plain > Duration::from_millis(20), "without it they wait: {plain:?}");
        assert!(prompt < Duration::from_millis(20), "{prompt:?}");
    }
}
