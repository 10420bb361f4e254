//! An in-process transport.

use std::collections::VecDeque;

use bytes::BytesMut;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use crate::limits::CHANNEL_FRAMES;
use crate::transport::pipe_framing::ReceivedFrame;
use crate::transport::{Flush, FrameSink, FrameSource, TransportError};

/// Receives frames from the other end of an in-process link.
#[derive(Debug)]
pub struct ChannelSource {
    receiver: mpsc::Receiver<BytesMut>,
}

/// Sends to the other end of an in-process link.
#[derive(Debug)]
pub struct ChannelSink {
    sender: mpsc::Sender<BytesMut>,
    waiting: VecDeque<BytesMut>,
}

/// Creates the two ends of an in-process link, each with a source and a sink.
#[must_use]
pub fn channel_pair() -> ((FrameSource, FrameSink), (FrameSource, FrameSink)) {
    let (left_sender, right_receiver) = mpsc::channel(CHANNEL_FRAMES);
    let (right_sender, left_receiver) = mpsc::channel(CHANNEL_FRAMES);
    let end = |receiver, sender| {
        let source = FrameSource::Channel(ChannelSource { receiver });
        (source, FrameSink::Channel(ChannelSink { sender, waiting: VecDeque::new() }))
    };
    (end(left_receiver, left_sender), end(right_receiver, right_sender))
}

impl ChannelSource {
    pub(crate) async fn next(&mut self) -> Result<Option<ReceivedFrame>, TransportError> {
        Ok(self.receiver.recv().await.map(ReceivedFrame::Frame))
    }
}

impl ChannelSink {
    pub(crate) fn enqueue(&mut self, frame: BytesMut) {
        self.waiting.push_back(frame);
    }

    pub(crate) fn try_flush(&mut self) -> Result<Flush, TransportError> {
        while let Some(frame) = self.waiting.pop_front() {
            match self.sender.try_send(frame) {
                Ok(()) => {}
                Err(TrySendError::Full(frame)) => {
                    self.waiting.push_front(frame);
                    return Ok(Flush::Waiting);
                }
                Err(TrySendError::Closed(_)) => return Err(TransportError::Closed),
            }
        }
        Ok(Flush::Done)
    }

    pub(crate) async fn flush(&mut self) -> Result<(), TransportError> {
        while !self.waiting.is_empty() {
            let permit = self.sender.reserve().await.map_err(|_| TransportError::Closed)?;
            if let Some(frame) = self.waiting.pop_front() {
                permit.send(frame);
            }
        }
        Ok(())
    }
}
