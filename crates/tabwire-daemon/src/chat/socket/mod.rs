//! The websocket of a page that shows chats: a side panel of the extension, or a dashboard.
//!
//! The page gets the list of chats, the agents and the open questions of the policy whole, each time they change. Of the
//! chat that it has opened it gets the whole and then the changes. Each message of a chat has a `seq`; a page that connects
//! again names the last one it has and gets the rest.

mod context;
mod request;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use serde_json::{Value, json};
use tabwire_cdp::websocket::raise_ceiling;
use tabwire_cdp::{CloseFrame, FrameSource, ReceivedFrame};
use tokio::sync::{mpsc, watch};

use crate::chat::Chat;
use crate::daemon::Daemon;
use crate::extension::browser::Ends;
use crate::extension::notifications::{decided, question};
use crate::limits::HANDSHAKE_DEADLINE;

/// Largest message of a page: the images of a message.
const MESSAGE_BYTES: usize = 12 * 1024 * 1024;

/// Changes are sent together up to this size.
const FRAME_BYTES: usize = 256 * 1024;

/// Several changes of the list are sent together.
const GATHER: Duration = Duration::from_millis(50);

/// Responses that wait for the page.
const RESPONSES: usize = 16;

/// A page that shows chats.
pub(crate) struct ChatPage {
    /// How decisions of its user are named.
    pub(crate) place: String,
    /// How chats that begin in it reach their browser.
    pub(crate) upstream: String,
}

/// The chat that a page shows, and the number of the last change that the page has.
struct OpenedChat {
    chat: Arc<Chat>,
    changed: watch::Receiver<u64>,
    /// `None` when the page needs the whole chat.
    number: Option<u64>,
}

struct Connection {
    daemon: Arc<Daemon>,
    page: ChatPage,
    sink: tabwire_cdp::FrameSink,
    opened: Option<OpenedChat>,
    responses: mpsc::Sender<String>,
    /// The lists as last sent.
    sent_chats: String,
    sent_questions: String,
}

/// Serves a page until it leaves, `end` completes, or the daemon stops.
pub(crate) async fn serve(daemon: Arc<Daemon>, page: ChatPage, ends: Ends, end: impl Future<Output = ()>) {
    let Some((source, sink)) = raise_ceiling(ends, MESSAGE_BYTES) else { return };
    let (responses, receiver) = mpsc::channel(RESPONSES);
    let (sent_chats, sent_questions) = (String::new(), String::new());
    let tasks = daemon.tasks.clone();
    let mut connection =
        Connection { daemon, page, sink, opened: None, responses, sent_chats, sent_questions };
    tokio::select! {
        () = connection.run(source, receiver) => {}
        () = end => {}
        () = tasks.stopping() => {}
    }
    connection.sink.close_with(CloseFrame::Done);
}

impl Connection {
    async fn run(&mut self, mut source: FrameSource, mut responses: mpsc::Receiver<String>) {
        let mut approvals = self.daemon.approvals.changes();
        let mut lists = self.daemon.chats.changes();
        // The user of the page can be asked.
        let _attendance = self.daemon.approvals.watch();
        self.send_agents(false);
        loop {
            approvals.mark_unchanged();
            lists.mark_unchanged();
            if self.send_all().await.is_none() {
                return;
            }
            let opened = self.opened.as_mut().map(|opened| &mut opened.changed);
            tokio::select! {
                frame = source.next() => match frame {
                    Ok(Some(ReceivedFrame::Frame(frame))) => {
                        if self.handle(&frame).await.is_none() {
                            return;
                        }
                    }
                    _ => return,
                },
                Some(response) = responses.recv() => {
                    if self.send(&response).await.is_none() {
                        return;
                    }
                }
                () = changed(opened) => {}
                _ = approvals.changed() => {}
                _ = lists.changed() => tokio::time::sleep(GATHER).await,
            }
        }
    }

    async fn send_all(&mut self) -> Option<()> {
        self.send_chats().await?;
        self.send_questions().await?;
        self.send_changes().await
    }

    async fn send_chats(&mut self) -> Option<()> {
        let daemon = Arc::clone(&self.daemon);
        // Reads files.
        let list = tokio::task::spawn_blocking(move || daemon.list_chats()).await.ok()?;
        let text = json!({"type": "chats", "chats": list["chats"]}).to_string();
        if text == self.sent_chats {
            return Some(());
        }
        self.sent_chats.clone_from(&text);
        self.send(&text).await
    }

    /// Sends the agents. Beside the connection: their programs take a while to respond.
    fn send_agents(&self, again: bool) {
        let (daemon, responses) = (Arc::clone(&self.daemon), self.responses.clone());
        self.daemon.tasks.start("chat-agents", async move {
            if again {
                daemon.chats.probes.forget_sign_in();
            }
            let list = daemon.list_agents().await;
            // The page may have left.
            let _ = responses.send(json!({"type": "agents", "agents": list["agents"]}).to_string()).await;
        });
    }

    async fn send_questions(&mut self) -> Option<()> {
        let approvals = &self.daemon.approvals;
        let questions: Vec<_> = approvals.pending(None).into_iter().map(question).collect();
        let decided: Vec<_> = approvals.decided().into_iter().map(decided).collect();
        // The seconds that are left are no change.
        let ids: Vec<_> = questions.iter().map(|one| &one.id).collect();
        let shown = json!([ids, decided]).to_string();
        if shown == self.sent_questions {
            return Some(());
        }
        self.sent_questions = shown;
        let text = json!({"type": "questions", "questions": questions, "decided": decided}).to_string();
        self.send(&text).await
    }

    /// Sends what the page does not have of its chat.
    async fn send_changes(&mut self) -> Option<()> {
        while let Some(text) = self.opened.as_mut().and_then(OpenedChat::next_message) {
            self.send(&text).await?;
        }
        Some(())
    }

    async fn send(&mut self, text: &str) -> Option<()> {
        self.sink.enqueue(BytesMut::from(text.as_bytes()));
        // A page that does not read for so long is gone.
        tokio::time::timeout(HANDSHAKE_DEADLINE, self.sink.flush()).await.ok()?.ok()
    }
}

impl OpenedChat {
    fn new(chat: Arc<Chat>, after: Option<&str>) -> Self {
        let changed = chat.changed.subscribe();
        let number = after.and_then(|id| chat.find_change(id));
        Self { chat, changed, number }
    }

    /// The whole chat, or the next changes; `None` when the page has everything.
    fn next_message(&mut self) -> Option<String> {
        // Marked before the log is read, so that no change in between is missed.
        self.changed.mark_unchanged();
        let found = self.number.and_then(|number| self.chat.changes_after(number, FRAME_BYTES));
        let Some((changes, number, seq)) = found else {
            let (view, seq, number) = self.chat.view_with_id();
            self.number = Some(number);
            return Some(json!({"type": "chat", "seq": seq, "chat": view}).to_string());
        };
        if changes.is_empty() {
            return None;
        }
        self.number = Some(number);
        let id = Value::from(self.chat.id.to_string());
        // The changes are JSON already.
        Some(format!(
            "{{\"type\":\"changes\",\"chat\":{id},\"seq\":{},\"changes\":[{}]}}",
            Value::from(seq),
            changes.join(",")
        ))
    }
}

/// Completes when the chat that is shown has changed.
async fn changed(chat: Option<&mut watch::Receiver<u64>>) {
    if let Some(changed) = chat
        && changed.changed().await.is_ok()
    {
        return;
    }
    std::future::pending::<()>().await;
}
