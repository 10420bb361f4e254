//! Outgoing commands: the caller's task writes them at once when the link is idle; otherwise they are queued.

use std::collections::{HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::BytesMut;
use tokio::sync::Notify;

use crate::connection::pending::CommandId;
use crate::limits::WRITE_BATCH_FRAMES;
use crate::transport::close_frame::CloseFrame;
use crate::transport::{Flush, FrameSink, TransportError};

/// Bytes of commands that may wait for a slow browser before new ones are refused: 64 MiB.
const OUTBOX_BYTES: usize = 64 * 1024 * 1024;

/// The sending side of a connection.
#[derive(Debug)]
pub(crate) struct Outbox {
    state: Mutex<State>,
    /// Wakes the writer task when the sink stalls.
    stalled: Notify,
}

#[derive(Debug)]
struct State {
    slot: Slot,
    queue: VecDeque<(CommandId, BytesMut)>,
    queued_bytes: usize,
}

#[derive(Debug)]
enum Slot {
    /// All frames are written: the next caller may write.
    Idle(FrameSink),
    /// The peer is slow and the writer task has not taken the sink yet.
    Stalled(FrameSink),
    /// The writer task has the sink.
    Taken,
    Closed,
}

/// Why a frame was refused; except for `Broken`, nothing of it was sent.
#[derive(Debug)]
pub(crate) enum PushError {
    Closed,
    Backlogged {
        waiting: usize,
    },
    /// The link failed while this frame was written: part of it may have been sent.
    Broken(TransportError),
}

impl Outbox {
    pub(crate) fn new(sink: FrameSink) -> Self {
        let state = State { slot: Slot::Idle(sink), queue: VecDeque::new(), queued_bytes: 0 };
        Self { state: Mutex::new(state), stalled: Notify::new() }
    }

    /// Writes the frame now if the link is idle, else queues it.
    pub(crate) fn push(&self, id: CommandId, frame: BytesMut) -> Result<(), PushError> {
        let mut state = self.lock();
        match std::mem::replace(&mut state.slot, Slot::Closed) {
            Slot::Closed => Err(PushError::Closed),
            Slot::Idle(mut sink) => {
                sink.enqueue(frame);
                // Written by the caller, without a task switch, as long as the link takes it.
                let flushed = sink.try_flush();
                state.slot = match flushed {
                    Ok(Flush::Done) => Slot::Idle(sink),
                    Ok(Flush::Waiting) => {
                        self.stalled.notify_one();
                        Slot::Stalled(sink)
                    }
                    Err(error) => return Err(PushError::Broken(error)),
                };
                Ok(())
            }
            busy @ (Slot::Stalled(_) | Slot::Taken) => {
                state.slot = busy;
                state.queue(id, frame)
            }
        }
    }

    /// Removes a frame from the queue; a frame that is being written stays.
    pub(crate) fn withdraw(&self, id: CommandId) {
        let mut state = self.lock();
        if let Some(position) = state.queue.iter().position(|(queued, _)| *queued == id)
            && let Some((_, frame)) = state.queue.remove(position)
        {
            state.queued_bytes -= frame.len();
        }
    }

    /// Closes the outbox and returns the commands that were never sent.
    pub(crate) fn close(&self) -> HashSet<CommandId> {
        let mut state = self.lock();
        if let Slot::Idle(mut sink) | Slot::Stalled(mut sink) =
            std::mem::replace(&mut state.slot, Slot::Closed)
        {
            sink.close_with(CloseFrame::Done);
        }
        state.queued_bytes = 0;
        state.queue.drain(..).map(|(id, _)| id).collect()
    }

    /// Writes queued frames for as long as the connection lives.
    pub(crate) async fn write_stalled(&self) -> Result<(), TransportError> {
        loop {
            self.stalled.notified().await;
            let Some(mut sink) = self.take_stalled() else { continue };
            loop {
                sink.flush().await?;
                match self.refill(sink) {
                    Some(refilled) => sink = refilled,
                    None => break,
                }
            }
        }
    }

    fn take_stalled(&self) -> Option<FrameSink> {
        let mut state = self.lock();
        match std::mem::replace(&mut state.slot, Slot::Taken) {
            Slot::Stalled(sink) => Some(sink),
            other => {
                state.slot = other;
                None
            }
        }
    }

    /// Moves a batch into the sink, or puts the sink back when the queue is empty.
    fn refill(&self, mut sink: FrameSink) -> Option<FrameSink> {
        let mut state = self.lock();
        if matches!(state.slot, Slot::Closed) {
            sink.close_with(CloseFrame::Done);
            return None;
        }
        if state.queue.is_empty() {
            state.slot = Slot::Idle(sink);
            return None;
        }
        let batch = state.queue.len().min(WRITE_BATCH_FRAMES);
        let frames: Vec<BytesMut> = state.queue.drain(..batch).map(|(_, frame)| frame).collect();
        for frame in frames {
            state.queued_bytes -= frame.len();
            sink.enqueue(frame);
        }
        Some(sink)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn queue(&mut self, id: CommandId, frame: BytesMut) -> Result<(), PushError> {
        if self.queued_bytes > 0 && self.queued_bytes + frame.len() > OUTBOX_BYTES {
            return Err(PushError::Backlogged { waiting: self.queued_bytes });
        }
        self.queued_bytes += frame.len();
        self.queue.push_back((id, frame));
        Ok(())
    }
}
