//! Frames over a browser's two pipes.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use bytes::{Buf, BufMut, BytesMut};

use crate::limits::WRITE_BATCH_FRAMES;
use crate::transport::pipe_end::{ReadEnd, WriteEnd};
use crate::transport::pipe_framing::{PipeFramer, ReceivedFrame};
use crate::transport::{Flush, TransportError};

/// Capacity requested from the kernel for each browser pipe: 1 MiB, the unprivileged maximum.
const PIPE_CAPACITY: usize = 1024 * 1024;

/// Buffer for one read in the middle of a large frame: 1 MiB.
const LARGE_READ_CHUNK: usize = 1024 * 1024;

/// Buffer for one read of a pipe: 64 KiB, so that a small frame needs one read.
const READ_CHUNK: usize = 64 * 1024;

/// Reads frames from the pipe that a browser writes.
#[derive(Debug)]
pub struct PipeSource {
    receiver: ReadEnd,
    framer: PipeFramer,
}

/// Writes frames to the pipe that a browser reads.
#[derive(Debug)]
pub struct PipeSink {
    sender: WriteEnd,
    /// Frames with their delimiters that are not fully written.
    waiting: VecDeque<BytesMut>,
}

impl PipeSource {
    /// Reads a pipe from its beginning; `ceiling` bounds one frame.
    pub fn new(descriptor: OwnedFd, ceiling: usize) -> Result<Self, TransportError> {
        Self::with_framer(descriptor, PipeFramer::new(ceiling))
    }

    /// Continues to read a pipe that an earlier process has read; drops a partial frame at the start.
    pub fn resume(descriptor: OwnedFd, ceiling: usize) -> Result<Self, TransportError> {
        Self::with_framer(descriptor, PipeFramer::resume(ceiling))
    }

    fn with_framer(descriptor: OwnedFd, framer: PipeFramer) -> Result<Self, TransportError> {
        widen(&descriptor);
        let receiver = ReadEnd::new(descriptor)
            .map_err(|error| TransportError::io("opening the browser's output", &error))?;
        Ok(Self { receiver, framer })
    }

    /// Waits for the next frame.
    pub(crate) async fn next(&mut self) -> Result<Option<ReceivedFrame>, TransportError> {
        loop {
            if let Some(framed) = self.framer.next_frame() {
                return Ok(Some(framed));
            }
            if self.read().await? == 0 {
                return Ok(None);
            }
        }
    }

    async fn read(&mut self) -> Result<usize, TransportError> {
        let chunk = if self.framer.held() < READ_CHUNK { READ_CHUNK } else { LARGE_READ_CHUNK };
        loop {
            let buffer = self.framer.buffer_mut();
            if buffer.capacity() - buffer.len() < chunk / 2 {
                buffer.reserve(chunk);
            }
            match self.receiver.read_buf(buffer).await {
                Ok(read) => return Ok(read),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(TransportError::io("reading from the browser", &error)),
            }
        }
    }
}

impl PipeSink {
    /// Writes a pipe from its beginning.
    pub fn new(descriptor: OwnedFd) -> Result<Self, TransportError> {
        widen(&descriptor);
        let sender = WriteEnd::new(descriptor)
            .map_err(|error| TransportError::io("opening the browser's input", &error))?;
        Ok(Self { sender, waiting: VecDeque::new() })
    }

    /// Continues to write a pipe that an earlier process has written; first ends its partial frame with a
    /// NUL.
    pub fn resume(descriptor: OwnedFd) -> Result<Self, TransportError> {
        let mut sink = Self::new(descriptor)?;
        sink.enqueue(BytesMut::new());
        Ok(sink)
    }

    pub(crate) fn enqueue(&mut self, mut frame: BytesMut) {
        frame.put_u8(0);
        self.waiting.push_back(frame);
    }

    pub(crate) fn try_flush(&mut self) -> Result<Flush, TransportError> {
        while !self.waiting.is_empty() {
            match self.write() {
                Ok(written) => self.consume(written),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Flush::Waiting),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(TransportError::io("writing to the browser", &error)),
            }
        }
        Ok(Flush::Done)
    }

    pub(crate) async fn flush(&mut self) -> Result<(), TransportError> {
        while self.try_flush()? == Flush::Waiting {
            let ready = self.sender.writable().await;
            ready.map_err(|error| TransportError::io("writing to the browser", &error))?;
        }
        Ok(())
    }

    fn write(&self) -> io::Result<usize> {
        // Several frames go out in one `writev`, without a copy into one buffer.
        if let (1, Some(frame)) = (self.waiting.len(), self.waiting.front()) {
            return self.sender.try_write(frame);
        }
        let slices: Vec<io::IoSlice<'_>> =
            self.waiting.iter().take(WRITE_BATCH_FRAMES).map(|frame| io::IoSlice::new(frame)).collect();
        self.sender.try_write_vectored(&slices)
    }

    fn consume(&mut self, mut written: usize) {
        while let Some(frame) = self.waiting.front_mut() {
            if written < frame.len() {
                frame.advance(written);
                return;
            }
            written -= frame.len();
            self.waiting.pop_front();
        }
    }
}

/// Requests a larger pipe from the kernel; a refusal only costs speed.
fn widen(descriptor: &impl AsFd) {
    // A pipe holds 64 KiB by default; a user may raise it to `/proc/sys/fs/pipe-max-size`, 1 MiB unless changed.
    if let Err(error) = rustix::pipe::fcntl_setpipe_size(descriptor, PIPE_CAPACITY) {
        tracing::debug!(%error, "the pipe keeps its size");
    }
}

#[cfg(test)]
mod tests {
    use rustix::pipe::{PipeFlags, pipe_with};

    use super::*;

    fn pair() -> (PipeSource, PipeSink) {
        let (read, write) = pipe_with(PipeFlags::CLOEXEC).expect("a pipe");
        (PipeSource::new(read, 64 << 20).expect("source"), PipeSink::new(write).expect("sink"))
    }

    async fn next(source: &mut PipeSource) -> BytesMut {
        match source.next().await {
            Ok(Some(ReceivedFrame::Frame(frame))) => frame,
            other => panic!("expected a frame, got {other:?}"),
        }
    }

    #[tokio::test]
    async fn frames_larger_than_the_pipe_arrive_whole_and_in_order() {
        let (mut source, mut sink) = pair();
        let frames: Vec<BytesMut> =
            (1..200_usize).map(|n| BytesMut::from(vec![b'a'; n * 300].as_slice())).collect();
        for frame in &frames {
            sink.enqueue(frame.clone());
        }
        sink.enqueue(BytesMut::from(vec![b'z'; 5 << 20].as_slice()));
        let write = sink.flush();
        let read = async {
            for frame in &frames {
                assert_eq!(next(&mut source).await, frame);
            }
            assert_eq!(next(&mut source).await.len(), 5 << 20);
        };
        let (written, ()) = tokio::join!(write, read);
        written.expect("all is written");
        drop(sink);
        assert_eq!(source.next().await, Ok(None));
    }

    #[tokio::test]
    async fn closed_reader_is_a_typed_error() {
        let (source, mut sink) = pair();
        drop(source);
        sink.enqueue(BytesMut::from("{}"));
        let error = sink.flush().await.expect_err("the reader is closed");
        assert_eq!(
            error,
            TransportError::Io { operation: "writing to the browser", kind: io::ErrorKind::BrokenPipe }
        );
    }
}
