//! A loop around an emulated browser, as the daemon has one, without backpressure.

use std::time::{Duration, Instant};

use bytes::BytesMut;
use tabwire_bidi::{BrowserFacts, EmulatedBrowser, Output};
use tabwire_cdp::{FrameSink, FrameSource, ReceivedFrame, TaskGroup, channel_pair};

/// How often the emulated browser gets the time while a page's network may become idle.
const IDLE_TICK: Duration = Duration::from_millis(100);

/// Starts the loop; returns the client's side.
pub(super) fn start(
    browser: (FrameSource, FrameSink),
    facts: BrowserFacts,
    tasks: &TaskGroup,
) -> (FrameSource, FrameSink) {
    let (ours, theirs) = channel_pair();
    tasks.start("emulated-browser", run(EmulatedBrowser::new("test", facts), browser, ours));
    theirs
}

async fn run(
    mut emulated: EmulatedBrowser,
    (mut from_browser, mut to_browser): (FrameSource, FrameSink),
    (mut from_client, mut to_client): (FrameSource, FrameSink),
) {
    let mut tick = tokio::time::interval(IDLE_TICK);
    loop {
        for output in take_all(&mut emulated).await {
            let sent = match output {
                Output::ToHub(frame) => to_client.send(frame).await,
                Output::ToBrowser(text) => to_browser.send(BytesMut::from(text.as_bytes())).await,
                Output::MoveFile { .. } => Ok(()),
            };
            if sent.is_err() {
                return;
            }
        }
        let ticks = emulated.needs_tick();
        tokio::select! {
            frame = from_browser.next() => match frame {
                Ok(Some(ReceivedFrame::Frame(frame))) => emulated.from_browser(&frame),
                _ => break,
            },
            frame = from_client.next() => match frame {
                Ok(Some(ReceivedFrame::Frame(frame))) => emulated.from_hub(&frame),
                _ => return,
            },
            _ = tick.tick(), if ticks => emulated.tick(Instant::now()),
        }
    }
    emulated.browser_disconnected();
    for output in emulated.take_outputs() {
        if let Output::ToHub(frame) = output {
            // The client may be gone, too.
            let _ = to_client.send(frame).await;
        }
    }
}

/// The outputs, after all files have their names.
async fn take_all(emulated: &mut EmulatedBrowser) -> Vec<Output> {
    let mut all = Vec::new();
    loop {
        let outputs = emulated.take_outputs();
        if outputs.is_empty() {
            return all;
        }
        for output in outputs {
            if let Output::MoveFile { number, from, to } = &output {
                let moved = tokio::fs::rename(from, to).await.is_ok();
                let size = tokio::fs::metadata(to).await.ok().filter(|_| moved);
                emulated.file_moved(*number, size.map(|found| found.len()));
            } else {
                all.push(output);
            }
        }
    }
}
