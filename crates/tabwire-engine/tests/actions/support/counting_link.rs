//! A browser connection that counts round trips: one per wait for responses to commands that were sent together.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::Value;
use tabwire_cdp::{FrameSink, FrameSource, ReceivedFrame, TaskGroup, channel_pair};

/// Responses are held back until no command has come for this long, so that no response arrives between commands that
/// are sent together, however busy the machine is.
const QUIET: Duration = Duration::from_millis(25);

/// How many round trips there were.
#[derive(Clone, Debug, Default)]
pub(crate) struct RoundTrips {
    count: Arc<AtomicU32>,
}

impl RoundTrips {
    /// Takes the round trips since the last call.
    pub(crate) fn take(&self) -> u32 {
        self.count.swap(0, Ordering::SeqCst)
    }

    /// Puts the counter between a browser and its client.
    pub(crate) fn link(
        &self,
        browser: (FrameSource, FrameSink),
        tasks: &TaskGroup,
    ) -> (FrameSource, FrameSink) {
        let (client, (commands, responses)) = channel_pair();
        let count = Arc::clone(&self.count);
        tasks.start("counting-link", carry(browser, commands, responses, count));
        client
    }
}

async fn carry(
    (mut browser, mut to_browser): (FrameSource, FrameSink),
    mut commands: FrameSource,
    mut responses: FrameSink,
    count: Arc<AtomicU32>,
) {
    let mut held = Vec::new();
    // Whether the client has had a response since it last sent something.
    let mut has_response = true;
    loop {
        let quiet = tokio::time::sleep(QUIET);
        tokio::select! {
            biased;
            command = commands.next() => {
                let Ok(Some(ReceivedFrame::Frame(command))) = command else { return };
                if std::mem::take(&mut has_response) {
                    count.fetch_add(1, Ordering::SeqCst);
                }
                if to_browser.send(command).await.is_err() {
                    return;
                }
            }
            frame = browser.next(), if held.len() < 10_000 => {
                let Ok(Some(ReceivedFrame::Frame(frame))) = frame else { return };
                held.push(frame);
                // Forward all waiting frames, then check for commands first again.
                continue;
            }
            () = quiet, if !held.is_empty() => {
                for frame in held.drain(..) {
                    has_response |= serde_json::from_slice::<Value>(&frame).is_ok_and(|frame| frame.get("id").is_some());
                    if responses.send(frame).await.is_err() {
                        return;
                    }
                }
            }
        }
    }
}
