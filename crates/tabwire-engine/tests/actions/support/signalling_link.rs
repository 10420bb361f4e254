//! A browser connection that runs a callback when the n-th command is sent, so that an event always hits the same
//! moment of an action.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use tabwire_cdp::{FrameSink, FrameSource, ReceivedFrame, TaskGroup, channel_pair};

/// A callback, and the number of commands before it.
struct Armed {
    left: u32,
    signal: Box<dyn FnOnce() + Send>,
}

/// Watches the commands to the browser.
#[derive(Clone, Default)]
pub(crate) struct Signal {
    armed: Arc<Mutex<Option<Armed>>>,
}

impl fmt::Debug for Signal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Signal").finish_non_exhaustive()
    }
}

impl Signal {
    /// Runs the callback when the n-th command from now is sent, counted from 1.
    pub(crate) fn arm(&self, nth: u32, signal: impl FnOnce() + Send + 'static) {
        *self.armed.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(Armed { left: nth, signal: Box::new(signal) });
    }

    /// Removes the callback if it has not run; returns whether it ran.
    pub(crate) fn disarm(&self) -> bool {
        self.armed.lock().unwrap_or_else(PoisonError::into_inner).take().is_none()
    }

    /// Puts the signal between a browser and its client.
    pub(crate) fn link(
        &self,
        (mut browser, mut to_browser): (FrameSource, FrameSink),
        tasks: &TaskGroup,
    ) -> (FrameSource, FrameSink) {
        let (client, (mut commands, mut responses)) = channel_pair();
        let signal = self.clone();
        tasks.start("signalling-link-out", async move {
            while let Ok(Some(ReceivedFrame::Frame(command))) = commands.next().await {
                signal.pass();
                if to_browser.send(command).await.is_err() {
                    return;
                }
            }
        });
        tasks.start("signalling-link-in", async move {
            while let Ok(Some(ReceivedFrame::Frame(frame))) = browser.next().await {
                if responses.send(frame).await.is_err() {
                    return;
                }
            }
        });
        client
    }

    fn pass(&self) {
        let mut armed = self.armed.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(waiting) = armed.as_mut() else { return };
        waiting.left = waiting.left.saturating_sub(1);
        if waiting.left == 0
            && let Some(armed) = armed.take()
        {
            (armed.signal)();
        }
    }
}
