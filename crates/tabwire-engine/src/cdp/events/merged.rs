//! Several event streams read as one.

use std::task::Poll;

use tabwire_cdp::{CdpError, Deadline, Event, EventStream};

/// Events of a page and of its frames' processes. Events of one process stay in order.
#[derive(Debug)]
pub(crate) struct MergedEvents {
    streams: Vec<EventStream>,
}

impl MergedEvents {
    pub(crate) fn new(streams: Vec<EventStream>) -> Self {
        Self { streams }
    }

    /// The next event that has already arrived.
    pub(crate) fn take_next(&mut self) -> Option<Event> {
        self.streams.iter_mut().find_map(EventStream::take_next)
    }

    /// Waits for the next event. A frame's process may end meanwhile; the end of the page's own stream is an error.
    pub(crate) async fn next(&mut self, deadline: Deadline) -> Result<Event, CdpError> {
        let event = tokio::time::timeout_at(deadline.instant(), self.next_of_any()).await;
        event.unwrap_or_else(|_| {
            Err(CdpError::Timeout { method: "the page's events".into(), after: deadline.length() })
        })
    }

    async fn next_of_any(&mut self) -> Result<Event, CdpError> {
        loop {
            let (index, event) = self.poll_all().await;
            match event {
                Ok(event) => return Ok(event),
                Err(CdpError::Missed { .. }) => {}
                // The first stream is the page's own.
                Err(error) if index == 0 => return Err(error),
                Err(_) => drop(self.streams.remove(index)),
            }
        }
    }

    async fn poll_all(&mut self) -> (usize, Result<Event, CdpError>) {
        std::future::poll_fn(|context| {
            for (index, stream) in self.streams.iter_mut().enumerate() {
                // `EventStream::next` is cancel-safe: dropping it here loses no event.
                let next = std::pin::pin!(stream.next());
                if let Poll::Ready(event) = next.poll(context) {
                    return Poll::Ready((index, event));
                }
            }
            Poll::Pending
        })
        .await
    }
}
