//! Which live views a page has, and which captures change its size for a moment.
//!
//! In Chromium 156 a screenshot with a clip makes the screencasts of all CDP sessions draw a frame in the size of the clip.
//! Afterwards a page that does not change often draws none in its own size, until its screencast starts again.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::watch;

/// The live views and captures of one page.
#[derive(Debug, Default)]
pub(crate) struct LiveCasts {
    views: AtomicUsize,
    /// How many captures change the size now.
    resizing: watch::Sender<usize>,
}

impl LiveCasts {
    /// Counts a live view until drop.
    pub(super) fn enter(self: &Arc<Self>) -> OpenCast {
        self.views.fetch_add(1, Ordering::SeqCst);
        OpenCast(Arc::clone(self))
    }

    /// Whether a live view has a screencast of the page.
    pub(super) fn is_cast(&self) -> bool {
        self.views.load(Ordering::SeqCst) > 0
    }

    /// Counts a capture that changes the size until drop.
    pub(super) fn resize(self: &Arc<Self>) -> Resizing {
        self.resizing.send_modify(|count| *count += 1);
        Resizing(Arc::clone(self))
    }

    /// Follows how many captures change the size.
    pub(super) fn resizing(&self) -> watch::Receiver<usize> {
        self.resizing.subscribe()
    }
}

/// A live view that has a screencast.
#[derive(Debug)]
pub(super) struct OpenCast(Arc<LiveCasts>);

impl Drop for OpenCast {
    fn drop(&mut self) {
        self.0.views.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A capture that changes the size of the page.
#[derive(Debug)]
pub(super) struct Resizing(Arc<LiveCasts>);

impl Drop for Resizing {
    fn drop(&mut self) {
        self.0.resizing.send_modify(|count| *count -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_and_resizing_captures_are_counted_until_they_end() {
        let casts = Arc::new(LiveCasts::default());
        let (view, resizing) = (casts.enter(), casts.resizing());
        let capture = casts.resize();
        assert!(casts.is_cast() && *resizing.borrow() == 1);
        drop((view, capture));
        assert!(!casts.is_cast() && *resizing.borrow() == 0);
    }
}
