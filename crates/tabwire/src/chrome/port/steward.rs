//! What all clients of one port share: the browser that is kept for them, who is connected, and how it all ends.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use bytes::BytesMut;
use serde_json::{Value, json};
use tabwire_browser::{DebuggingPipe, new_instance_id};
use tabwire_cdp::{Framed, TaskGroup};
use tabwire_daemon::Paths;
use tabwire_wire::api::{ChromeEndReason, ChromeOpening};
use tabwire_wire::{ErrorCode, Failure};
use tokio::sync::{Mutex, Notify, watch};

use super::link::{Link, hand_over};
use super::protocol::{self, Described};
use crate::chrome::frame_log::{ClientFrames, FrameLog};
use crate::chrome::frame_tap::Line;
use crate::chrome::lifecycle::{Found, Front, Lifecycle};
use crate::chrome::log;
use crate::chrome::plan::Plan;
use crate::limits::CHROME_ASK_DEADLINE;

/// How it ends.
#[derive(Clone, Debug)]
pub(super) enum Finish {
    /// As wanted.
    Done,
    /// The browser is lost for good.
    Failed(Failure),
}

/// Where we are: our files, and the port that is listened on.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) paths: Paths,
    pub(super) port: u16,
}

/// Which browser a line goes to: counted up each time one is brought back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Generation(u64);

/// Our own line, which keeps the browser while no client is connected.
#[derive(Debug)]
struct Own {
    link: Link,
    generation: Generation,
    asked: i64,
}

/// What all clients of one port share.
#[derive(Debug)]
pub(super) struct Steward {
    paths: Paths,
    /// Where frames are written, if they are wanted.
    frames: Option<FrameLog>,
    opening: ChromeOpening,
    port: u16,
    path: String,
    found: Found,
    own: Mutex<Own>,
    /// Held by who asks for the protocol, so that a crowd takes one thread.
    protocol_turn: Mutex<()>,
    clients: AtomicUsize,
    clients_changed: Notify,
    closes_browser: AtomicBool,
    finish: watch::Sender<Option<Finish>>,
    tasks: TaskGroup,
}

/// A client that is connected; counts as long as it lives.
#[derive(Debug)]
pub(super) struct Guest(Arc<Steward>);

impl Drop for Guest {
    fn drop(&mut self) {
        self.0.clients.fetch_sub(1, Ordering::SeqCst);
        self.0.clients_changed.notify_waiters();
    }
}

impl Steward {
    /// Gets the browser, and hands the launcher's pipe over if it speaks on one too.
    ///
    /// # Errors
    /// When there is no browser.
    pub(super) async fn open(
        plan: Plan,
        pipe: Option<DebuggingPipe>,
        frames: Option<FrameLog>,
        Place { paths, port }: Place,
        tasks: TaskGroup,
    ) -> Result<Arc<Self>, Failure> {
        let opening = plan.opening;
        let link = Link::open(paths.socket(), own_opening(&opening)).await?;
        let found = link.found();
        let mut life = Lifecycle::new(Front::Port);
        life.obtained(found);
        log::opened(plan.mode, Some(port), &life, &link.opened);
        let steward = Arc::new(Self {
            path: format!("/devtools/browser/{}", new_instance_id()?),
            own: Mutex::new(Own { link, generation: Generation(0), asked: 0 }),
            clients: AtomicUsize::new(0),
            clients_changed: Notify::new(),
            closes_browser: AtomicBool::new(false),
            finish: watch::Sender::new(None),
            paths,
            frames,
            opening,
            protocol_turn: Mutex::new(()),
            port,
            found,
            tasks,
        });
        if let Some(pipe) = pipe {
            steward.serve_pipe(pipe).await?;
        }
        Ok(steward)
    }

    /// Has the launcher served on its pipe too. What ends a stand-in on a pipe ends this one.
    async fn serve_pipe(self: &Arc<Self>, pipe: DebuggingPipe) -> Result<(), Failure> {
        let line = Line::new(pipe, self.frames.as_ref())?;
        let mut ending = hand_over(self.paths.socket(), self.opening.clone(), line).await?;
        let steward = Arc::clone(self);
        self.tasks.start("pipe", async move {
            let end = ending.wait().await;
            match end.why {
                ChromeEndReason::BrowserClosed => steward.close_browser(),
                ChromeEndReason::ClientLeft => steward.finish(Finish::Done),
                ChromeEndReason::BrowserGone | ChromeEndReason::DaemonEnds => {
                    steward.finish(Finish::Failed(Failure::new(ErrorCode::BrowserGone, end.sentence)));
                }
            }
        });
        Ok(())
    }

    /// Opens a client's line.
    ///
    /// # Errors
    /// When there is no browser.
    pub(super) async fn open_link(&self) -> Result<(Link, Generation), Failure> {
        let generation = self.own.lock().await.generation;
        let opening = ChromeOpening { outlives_browser: true, ..self.opening.clone() };
        Ok((Link::open(self.paths.socket(), opening).await?, generation))
    }

    /// Opens the line of a client of one page, which may be anybody's. A browser that is gone is brought back for that.
    ///
    /// # Errors
    /// When there is no browser.
    pub(super) async fn open_page_link(&self) -> Result<Link, Failure> {
        // As for every other question, so that all clients have one browser.
        self.ask("Browser.getVersion", json!({})).await?;
        Link::open(self.paths.socket(), own_opening(&self.opening)).await
    }

    /// Brings the browser back for a client that lost it: the live one on the profile, else a new one. Another client
    /// may have done so meanwhile.
    ///
    /// # Errors
    /// When there is no browser.
    pub(super) async fn renew(&self, lost: Generation) -> Result<Found, Failure> {
        let mut own = self.own.lock().await;
        if own.generation > lost {
            return Ok(Found::Attached);
        }
        own.link.ending.hang_up().await;
        own.link = Link::open(self.paths.socket(), own_opening(&self.opening)).await?;
        own.generation = Generation(lost.0 + 1);
        Ok(own.link.found())
    }

    /// Asks the browser something on our own line; a browser that is gone is brought back for that.
    ///
    /// # Errors
    /// When there is no browser, or it does not answer.
    pub(super) async fn ask(&self, method: &str, params: Value) -> Result<Value, Failure> {
        let lost = {
            let mut own = self.own.lock().await;
            match own.ask(method, &params).await {
                Some(answer) => return Ok(answer),
                None => own.generation,
            }
        };
        self.renew(lost).await?;
        let mut own = self.own.lock().await;
        own.ask(method, &params).await.ok_or_else(|| {
            Failure::new(ErrorCode::BrowserGone, format!("The browser did not answer {method}."))
        })
    }

    /// Which protocol the browser speaks, in Chrome's own words.
    ///
    /// # Errors
    /// When that cannot be learned; the browser may be well.
    pub(super) async fn describe_protocol(&self, product: String) -> Result<String, Failure> {
        let _turn = self.protocol_turn.lock().await;
        let opened = self.own.lock().await.link.opened.clone();
        let is_in_reach = self.opening.windows.as_ref().is_none_or(|windows| windows.shares_loopback);
        let port = opened.debugging_port.filter(|_| is_in_reach);
        let browser = Described { product, executable: opened.executable, port };
        let paths = self.paths.clone();
        let told = tokio::task::spawn_blocking(move || protocol::describe(&browser, &paths)).await;
        told.map_err(|error| Failure::new(ErrorCode::Internal, format!("Asking ended early: {error}.")))?
    }

    /// Where the frames of one more client are written, if they are wanted.
    pub(super) fn client_frames(&self) -> Option<ClientFrames> {
        self.frames.as_ref().map(FrameLog::client)
    }

    /// Counts a client.
    pub(super) fn welcome(self: &Arc<Self>) -> Guest {
        self.clients.fetch_add(1, Ordering::SeqCst);
        Guest(Arc::clone(self))
    }

    /// Waits until no client is connected.
    pub(super) async fn deserted(&self) {
        loop {
            let changed = self.clients_changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if self.clients.load(Ordering::SeqCst) == 0 {
                return;
            }
            changed.await;
        }
    }

    /// A client has closed its browser, which is ours to carry out.
    pub(super) fn close_browser(&self) {
        self.closes_browser.store(true, Ordering::SeqCst);
        self.finish(Finish::Done);
    }

    /// It is over.
    pub(super) fn finish(&self, finish: Finish) {
        self.finish.send_if_modified(|current| {
            let is_first = current.is_none();
            current.get_or_insert(finish);
            is_first
        });
    }

    /// Waits until it is over.
    pub(super) async fn finished(&self) -> Finish {
        let mut finish = self.finish.subscribe();
        let told = finish.wait_for(Option::is_some).await;
        told.ok().and_then(|told| told.clone()).unwrap_or(Finish::Done)
    }

    /// Gives the browser back and waits until it is cared for.
    pub(super) async fn close(&self, patience: Duration) {
        let mut own = self.own.lock().await;
        if self.closes_browser.load(Ordering::SeqCst) {
            let _ = own.link.sink.send(BytesMut::from(&br#"{"id":1,"method":"Browser.close"}"#[..])).await;
        } else {
            own.link.ending.hang_up().await;
        }
        let _ = tokio::time::timeout(patience, own.link.ending.wait()).await;
    }

    /// What the port's tasks are started through.
    pub(super) const fn tasks(&self) -> &TaskGroup {
        &self.tasks
    }

    /// The profile directory, when the launcher named one.
    pub(super) fn profile(&self) -> Option<&Path> {
        self.opening.profile.as_deref()
    }

    /// Whether the browser was there before us.
    pub(super) const fn found(&self) -> Found {
        self.found
    }

    pub(super) const fn port(&self) -> u16 {
        self.port
    }

    /// The path of the browser's websocket, which stays over every recovery.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// Where the browser's websocket is, for who knows us under a name.
    pub(super) fn websocket(&self, host: &str) -> String {
        format!("ws://{host}{}", self.path)
    }

    /// The name and port of this machine that we listen on.
    pub(super) fn authority(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }
}

impl Own {
    /// Asks and waits for the answer; nothing when the browser is gone.
    async fn ask(&mut self, method: &str, params: &Value) -> Option<Value> {
        self.asked += 1;
        let question = json!({"id": self.asked, "method": method, "params": params}).to_string();
        let answering = async {
            self.link.sink.send(BytesMut::from(question.as_bytes())).await.ok()?;
            loop {
                let Ok(Some(Framed::Frame(frame))) = self.link.source.next().await else { return None };
                let answer: Value = serde_json::from_slice(&frame).ok()?;
                if answer.get("id").and_then(Value::as_i64) == Some(self.asked) {
                    return Some(answer);
                }
            }
        };
        tokio::time::timeout(CHROME_ASK_DEADLINE, answering).await.ok().flatten()
    }
}

/// Our own line sees every client's tabs, to list them.
fn own_opening(opening: &ChromeOpening) -> ChromeOpening {
    ChromeOpening { sees_everything: true, ..opening.clone() }
}
