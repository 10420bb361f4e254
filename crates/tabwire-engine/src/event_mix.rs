//! Several streams of events read as one. Knows nothing of what they tell.

use std::task::Poll;

use tabwire_cdp::{CdpError, Deadline, Event, EventStream};

/// Events of a page and of its frames' processes, each process's in order.
#[derive(Debug)]
pub(crate) struct EventMix {
    streams: Vec<EventStream>,
}

impl EventMix {
    pub(crate) fn new(streams: Vec<EventStream>) -> Self {
        Self { streams }
    }

    /// An event that is here already.
    pub(crate) fn take_next(&mut self) -> Option<Event> {
        self.streams.iter_mut().find_map(EventStream::take_next)
    }

    /// Waits for the next event until the deadline. A frame's process that ends is no end of the page.
    pub(crate) async fn next(&mut self, deadline: Deadline) -> Result<Event, CdpError> {
        let waited = tokio::time::timeout_at(deadline.instant(), self.next_of_any()).await;
        waited.unwrap_or_else(|_| {
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
                // Waiting for the next event is safe to cancel.
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
