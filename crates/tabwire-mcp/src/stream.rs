//! Serves one client over a stream of lines until it disconnects.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::{oneshot, watch};

use crate::connection::Connection;
use crate::handler::Handler;

/// Longest line of a client.
const LINE_BYTES: usize = 8 * 1024 * 1024;

/// How long running calls may take after their client has closed its input.
const LAST_CALLS: Duration = Duration::from_millis(700);

/// Serves a client until it closes the stream. Running calls then have a short time to finish.
///
/// The client's tabs, leases and own browser are closed when this returns.
pub async fn serve<R, W>(connection: Arc<Connection>, reader: R, writer: W)
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (gone, mut is_gone) = watch::channel(false);
    let reader: Box<dyn AsyncRead + Send + Unpin> = Box::new(EndSignal { reader, gone });
    // Kept open until the cleanup is done, so that the end of the stream shows the client that it is.
    let (back, mut given_back) = oneshot::channel();
    let writer: Box<dyn AsyncWrite + Send + Unpin> =
        Box::new(ReturnedWriter { writer: Some(writer), back: Some(back) });
    let serving = serve_boxed(Arc::clone(&connection), reader, writer);
    let ending = async {
        // An error means that the reader was dropped, which has the same meaning.
        let _ = is_gone.wait_for(|gone| *gone).await;
        tokio::time::sleep(LAST_CALLS).await;
        connection.end();
        // Every call has ended, so the service ends now.
        tokio::time::sleep(LAST_CALLS).await;
    };
    tokio::select! {
        () = serving => {}
        () = ending => {}
    }
    connection.leave().await;
    drop(given_back.try_recv());
}

/// Takes boxed streams, so that the SDK's code is compiled once.
async fn serve_boxed(
    connection: Arc<Connection>,
    reader: Box<dyn AsyncRead + Send + Unpin>,
    writer: Box<dyn AsyncWrite + Send + Unpin>,
) {
    let transport = AsyncRwTransport::new_server(reader, writer).with_max_line_length(LINE_BYTES);
    match Handler::new(connection).serve(transport).await {
        Ok(running) => {
            if let Err(error) = running.waiting().await {
                tracing::warn!(%error, "serving an MCP client failed");
            }
        }
        // The error's text would contain input of the client.
        Err(_) => tracing::info!("an MCP client disconnected before initialize"),
    }
}

/// A reader that signals its end of file.
struct EndSignal<R> {
    reader: R,
    gone: watch::Sender<bool>,
}

impl<R: AsyncRead + Unpin> AsyncRead for EndSignal<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.reader).poll_read(context, buffer);
        let is_end = match &read {
            Poll::Ready(Ok(())) => buffer.filled().len() == before,
            Poll::Ready(Err(_)) => true,
            Poll::Pending => false,
        };
        if is_end {
            self.gone.send_replace(true);
        }
        read
    }
}

/// A writer that is returned to its creator on drop.
struct ReturnedWriter<W> {
    writer: Option<W>,
    back: Option<oneshot::Sender<W>>,
}

impl<W> Drop for ReturnedWriter<W> {
    fn drop(&mut self) {
        if let (Some(writer), Some(back)) = (self.writer.take(), self.back.take()) {
            // If the receiver is gone, the writer is closed here.
            let _ = back.send(writer);
        }
    }
}

impl<W: AsyncWrite + Unpin> ReturnedWriter<W> {
    fn inner(&mut self) -> std::io::Result<Pin<&mut W>> {
        self.writer.as_mut().map(Pin::new).ok_or_else(|| std::io::ErrorKind::BrokenPipe.into())
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for ReturnedWriter<W> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        match self.inner() {
            Ok(writer) => writer.poll_write(context, bytes),
            Err(error) => Poll::Ready(Err(error)),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        match self.inner() {
            Ok(writer) => writer.poll_flush(context),
            Err(error) => Poll::Ready(Err(error)),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        // The creator closes it after it was returned.
        Poll::Ready(Ok(()))
    }
}
