//! A bounded stream that reports the values it dropped.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use tokio::sync::mpsc;
use tokio::sync::mpsc::error::{TryRecvError, TrySendError};

use crate::connection::close_reason::CloseReason;
use crate::deadline::Deadline;
use crate::error::{CdpError, Method};

/// The receiving end: values in order, with a marker at the position of each gap.
#[derive(Debug)]
pub struct Feed<T> {
    name: Method,
    receiver: mpsc::Receiver<Entry<T>>,
    shared: Arc<Shared>,
}

/// The sending end; never waits.
#[derive(Debug)]
pub(crate) struct FeedSender<T> {
    sender: mpsc::Sender<Entry<T>>,
    shared: Arc<Shared>,
}

#[derive(Debug)]
enum Entry<T> {
    Value(T),
    Missed(u64),
}

#[derive(Debug, Default)]
struct Shared {
    /// Values dropped since the last entry that fitted.
    missed: AtomicU64,
    end: OnceLock<CdpError>,
}

/// Creates a feed that holds at most `bound` entries; its timeouts contain the name.
pub(crate) fn feed<T>(name: Method, bound: usize) -> (FeedSender<T>, Feed<T>) {
    let (sender, receiver) = mpsc::channel(bound.max(1));
    let shared = Arc::new(Shared::default());
    (FeedSender { sender, shared: Arc::clone(&shared) }, Feed { name, receiver, shared })
}

impl<T> FeedSender<T> {
    /// Adds a value, or counts it as missed when the feed is full.
    pub(crate) fn deliver(&self, value: T) {
        let missed = self.shared.missed.swap(0, Ordering::AcqRel);
        if missed > 0 && self.sender.try_send(Entry::Missed(missed)).is_err() {
            self.miss(missed + 1);
            return;
        }
        if let Err(TrySendError::Full(_)) = self.sender.try_send(Entry::Value(value)) {
            self.miss(1);
        }
    }

    /// Counts values that were lost before they reached the feed.
    pub(crate) fn miss(&self, count: u64) {
        self.shared.missed.fetch_add(count, Ordering::AcqRel);
    }

    /// Ends the feed with a reason for its reader.
    pub(crate) fn end(self, reason: CdpError) {
        let _ = self.shared.end.set(reason);
    }

    /// Whether the reader was dropped.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.sender.is_closed()
    }
}

impl<T> Feed<T> {
    /// Waits for the next value, for as long as the feed lives. Safe to cancel.
    ///
    /// `Missed` marks a gap and the feed continues; `SessionGone` and `Closed` are its end.
    pub async fn next(&mut self) -> Result<T, CdpError> {
        let entry = match self.receiver.try_recv() {
            Ok(entry) => Some(entry),
            Err(TryRecvError::Empty) => match self.take_missed() {
                // No value is dropped while the queue is empty, so waiting here hides no gap.
                None => self.receiver.recv().await,
                Some(count) => Some(Entry::Missed(count)),
            },
            Err(TryRecvError::Disconnected) => None,
        };
        match entry.or_else(|| self.take_missed().map(Entry::Missed)) {
            Some(Entry::Value(value)) => Ok(value),
            Some(Entry::Missed(count)) => Err(CdpError::Missed { count }),
            None => {
                let end = self.shared.end.get().cloned();
                Err(end.unwrap_or(CdpError::Closed { reason: CloseReason::ClosedHere }))
            }
        }
    }

    /// The next value if one is available. Skips gaps: the caller only needs the current state.
    pub fn take_next(&mut self) -> Option<T> {
        loop {
            match self.receiver.try_recv() {
                Ok(Entry::Value(value)) => return Some(value),
                Ok(Entry::Missed(_)) => {}
                Err(_) => return None,
            }
        }
    }

    /// Waits for the next value until the deadline.
    pub async fn next_within(&mut self, deadline: impl Into<Deadline>) -> Result<T, CdpError> {
        let deadline = deadline.into();
        match tokio::time::timeout_at(deadline.instant(), self.next()).await {
            Ok(next) => next,
            Err(_) => Err(CdpError::Timeout { method: self.name.clone(), after: deadline.length() }),
        }
    }

    /// Waits for the first value that the predicate accepts, until the deadline.
    ///
    /// A gap is an error here: the value may have been dropped.
    pub async fn find(
        &mut self,
        mut predicate: impl FnMut(&T) -> bool,
        deadline: impl Into<Deadline>,
    ) -> Result<T, CdpError> {
        let deadline = deadline.into();
        loop {
            let value = self.next_within(deadline).await?;
            if predicate(&value) {
                return Ok(value);
            }
        }
    }

    fn take_missed(&self) -> Option<u64> {
        Some(self.shared.missed.swap(0, Ordering::AcqRel)).filter(|count| *count > 0)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn slow_reader_gets_the_gap_at_its_position() {
        let (sender, mut feed) = feed("numbers".into(), 3);
        for number in 0..5 {
            sender.deliver(number);
        }
        assert_eq!(feed.next().await, Ok(0));
        assert_eq!(feed.next().await, Ok(1));
        sender.deliver(5);
        assert_eq!(feed.next().await, Ok(2));
        assert_eq!(feed.next().await, Err(CdpError::Missed { count: 2 }));
        assert_eq!(feed.next().await, Ok(5));
    }

    #[tokio::test]
    async fn gap_at_the_end_is_reported_before_the_end() {
        let (sender, mut feed) = feed("numbers".into(), 1);
        sender.deliver(0);
        sender.deliver(1);
        sender.end(CdpError::Closed { reason: CloseReason::PeerClosed });
        assert_eq!(feed.next().await, Ok(0));
        assert_eq!(feed.next().await, Err(CdpError::Missed { count: 1 }));
        assert_eq!(feed.next().await, Err(CdpError::Closed { reason: CloseReason::PeerClosed }));
    }

    #[tokio::test(start_paused = true)]
    async fn wait_without_a_value_times_out() {
        let (_sender, mut feed) = feed::<u8>("numbers".into(), 1);
        let error = feed.find(|_| true, Duration::from_secs(3)).await.expect_err("no value is sent");
        assert_eq!(error, CdpError::Timeout { method: "numbers".into(), after: Duration::from_secs(3) });
    }
}
