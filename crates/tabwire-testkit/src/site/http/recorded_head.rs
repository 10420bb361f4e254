//! Records the raw head of a request while another reader parses it. Bodies are not recorded.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncBufRead, AsyncRead, BufReader, ReadBuf};

/// A reader that records the lines read from it.
#[derive(Debug)]
pub(crate) struct RecordedHead<'stream, R> {
    stream: &'stream mut BufReader<R>,
    head: Vec<u8>,
}

impl<'stream, R: AsyncRead + Unpin> RecordedHead<'stream, R> {
    /// Starts recording.
    pub(crate) fn new(stream: &'stream mut BufReader<R>) -> Self {
        Self { stream, head: Vec::new() }
    }

    /// The recorded lines.
    pub(crate) fn into_text(self) -> String {
        String::from_utf8_lossy(&self.head).into_owned()
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for RecordedHead<'_, R> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.get_mut().stream).poll_read(context, into)
    }
}

impl<R: AsyncRead + Unpin> AsyncBufRead for RecordedHead<'_, R> {
    fn poll_fill_buf(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        Pin::new(&mut *self.get_mut().stream).poll_fill_buf(context)
    }

    fn consume(self: Pin<&mut Self>, bytes: usize) {
        let this = self.get_mut();
        this.head.extend(this.stream.buffer().iter().take(bytes));
        Pin::new(&mut *this.stream).consume(bytes);
    }
}

#[cfg(test)]
mod tests {
    use crate::http_request::HttpRequest;

    use super::*;

    #[tokio::test]
    async fn raw_head_is_recorded_without_the_body() {
        let text = "POST / HTTP/1.1\r\nX-One: A\r\nContent-Length: 2\r\n\r\nhiGET /next";
        let mut stream = BufReader::with_capacity(8, text.as_bytes());
        let mut recorded = RecordedHead::new(&mut stream);
        let request = HttpRequest::read(&mut recorded).await.expect("valid").expect("present");
        assert_eq!(request.body, b"hi");
        assert_eq!(recorded.into_text(), "POST / HTTP/1.1\r\nX-One: A\r\nContent-Length: 2\r\n\r\n");
    }
}
