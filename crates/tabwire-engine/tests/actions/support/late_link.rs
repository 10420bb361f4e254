//! A browser connection whose responses to `Page.getFrameTree` are late: until a later document commits, or until a
//! frame has moved to another process.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tabwire_cdp::{FrameSink, FrameSource, ReceivedFrame, TaskGroup, channel_pair};
use tokio::sync::watch;

/// Holds back lists of frames.
#[derive(Clone, Debug, Default)]
pub(crate) struct LateLists {
    holds: Arc<AtomicBool>,
    held: Arc<AtomicU32>,
}

impl LateLists {
    /// Holds the lists that arrive from now on until the main frame of a page has committed another document.
    pub(crate) fn hold(&self) {
        self.holds.store(true, Ordering::SeqCst);
    }

    /// How many lists were held.
    pub(crate) fn held(&self) -> u32 {
        self.held.load(Ordering::SeqCst)
    }

    /// Puts itself between a browser and its client.
    pub(crate) fn link(
        &self,
        (mut browser, mut to_browser): (FrameSource, FrameSink),
        tasks: &TaskGroup,
    ) -> (FrameSource, FrameSink) {
        let (client, (mut commands, mut responses)) = channel_pair();
        tasks.start("late-link-out", async move {
            while let Ok(Some(ReceivedFrame::Frame(command))) = commands.next().await {
                if to_browser.send(command).await.is_err() {
                    return;
                }
            }
        });
        let lists = self.clone();
        tasks.start("late-link-in", async move {
            let mut held = Vec::new();
            while let Ok(Some(ReceivedFrame::Frame(frame))) = browser.next().await {
                let text = String::from_utf8_lossy(&frame).into_owned();
                if text.contains("\"frameTree\"") && lists.holds.load(Ordering::SeqCst) {
                    lists.held.fetch_add(1, Ordering::SeqCst);
                    held.push(frame);
                    continue;
                }
                if responses.send(frame).await.is_err() {
                    return;
                }
                if text.contains("\"Page.frameNavigated\"") && !text.contains("\"parentId\"") {
                    lists.holds.store(false, Ordering::SeqCst);
                    for late in held.drain(..) {
                        if responses.send(late).await.is_err() {
                            return;
                        }
                    }
                }
            }
        });
        client
    }
}

/// Lists of frames as of before a frame moved to another process: Chrome's renderer lists the frame until it has swapped
/// it out, and the browser reports its new process before.
#[derive(Clone, Debug, Default)]
pub(crate) struct StaleLists {
    state: Arc<Mutex<Stale>>,
    lists: watch::Sender<u32>,
}

#[derive(Debug, Default)]
struct Stale {
    holds: bool,
    /// The first list of the page.
    first: Option<Value>,
    /// The session of the frame's new process.
    moved_to: Option<Value>,
    /// The client uses that session: it has handled the move.
    is_known: bool,
}

impl StaleLists {
    /// Lists of the page that arrive from now on are late: until the client knows that a frame has moved to another
    /// process. Lists that it requests then are the same as the first one.
    pub(crate) fn hold(&self) {
        self.stale().holds = true;
    }

    /// Waits until the first late list is under way.
    pub(crate) async fn first(&self) {
        let _ = self.lists.subscribe().wait_for(|count| *count > 0).await;
    }

    fn stale(&self) -> MutexGuard<'_, Stale> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts itself between a browser and its client.
    pub(crate) fn link(
        &self,
        (mut browser, mut to_browser): (FrameSource, FrameSink),
        tasks: &TaskGroup,
    ) -> (FrameSource, FrameSink) {
        let (client, (mut commands, mut responses)) = channel_pair();
        let lists = self.clone();
        tasks.start("stale-link-out", async move {
            while let Ok(Some(ReceivedFrame::Frame(command))) = commands.next().await {
                let sent: Value = serde_json::from_slice(&command).expect("JSON");
                let is_used = lists.stale().moved_to.as_ref() == sent.get("sessionId");
                lists.stale().is_known |= is_used && sent.get("sessionId").is_some();
                if to_browser.send(command).await.is_err() {
                    return;
                }
            }
        });
        let lists = self.clone();
        tasks.start("stale-link-in", async move {
            let mut late: Vec<String> = Vec::new();
            while let Ok(Some(ReceivedFrame::Frame(frame))) = browser.next().await {
                let list = lists.replace(&frame);
                let is_list = list.is_some();
                late.extend(list);
                // Before the first response of the new process, which follows the client's first command to it.
                let due = if lists.stale().is_known { std::mem::take(&mut late) } else { Vec::new() };
                for list in due {
                    let _ = responses.send(list.as_bytes().into()).await;
                }
                if !is_list && responses.send(frame).await.is_err() {
                    return;
                }
            }
        });
        client
    }

    /// The first list in the place of this one, if the message is a list of the page.
    fn replace(&self, message: &[u8]) -> Option<String> {
        let message: Value = serde_json::from_slice(message).expect("JSON");
        let mut stale = self.stale();
        if stale.holds
            && message["method"] == "Target.attachedToTarget"
            && message["params"]["targetInfo"]["type"] == "iframe"
        {
            stale.moved_to = message.pointer("/params/sessionId").cloned();
        }
        // Lists of the new process have a frame with a parent.
        let list = message.pointer("/result/frameTree").filter(|list| list["frame"]["parentId"].is_null());
        let list = list.filter(|_| stale.holds)?;
        let list = stale.first.get_or_insert_with(|| list.clone());
        let (id, session) = (&message["id"], &message["sessionId"]);
        let sent = json!({"id": id, "sessionId": session, "result": {"frameTree": list}});
        self.lists.send_modify(|count| *count += 1);
        Some(sent.to_string())
    }
}
