//! A PowerShell process on Windows that executes requests and relays websockets.
//!
//! A process that does not respond in time, or that prints too many unknown lines, is ended. All waiting requests fail.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex as StdMutex, PoisonError, Weak};
use std::time::Duration;

use bytes::BytesMut;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_cdp::limits::BROWSER_MESSAGE_CEILING;
use tabwire_cdp::{FrameSink, FrameSource, ReceivedFrame, TaskGroup, channel_pair};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::{Mutex, Notify, mpsc, oneshot};

use crate::wsl::protocol::{Message, PROTOCOL, RelayId, Request, RequestId, frame_line, read_line};

/// How long PowerShell may take to find a browser or a port, or to end a browser: it inspects all processes.
pub(crate) const POWERSHELL_TIMEOUT: Duration = Duration::from_secs(8);

/// How long PowerShell may take to end after its input was closed.
const POWERSHELL_END: Duration = Duration::from_secs(3);

/// Lines that may wait for PowerShell.
const POWERSHELL_LINES: usize = 256;

/// Unknown lines after which PowerShell counts as broken. A profile or a policy may print a few.
const POWERSHELL_UNKNOWN_LINES: usize = 64;

/// Options that make PowerShell run a script without profile and prompt.
const OPTIONS: &[&str] = &["-NoLogo", "-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass", "-File"];

/// The command line of PowerShell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PowershellCommand {
    pub(crate) program: PathBuf,
    pub(crate) script: String,
    pub(crate) environment: BTreeMap<String, String>,
}

/// A running PowerShell process. It ends when the last handle is dropped.
#[derive(Debug)]
pub(crate) struct Powershell {
    commands: mpsc::Sender<PendingRequest>,
    lines: mpsc::Sender<BytesMut>,
    requests: AtomicU64,
    relays: AtomicU64,
    /// Notified to end it while handles exist.
    terminate: Arc<Notify>,
    tasks: TaskGroup,
}

/// A request that waits for its response, and the relay that it opens.
#[derive(Debug)]
struct PendingRequest {
    id: RequestId,
    reply: oneshot::Sender<Result<Value, String>>,
    relay: Option<(RelayId, FrameSink)>,
}

impl Powershell {
    /// Starts PowerShell and waits until its script runs.
    ///
    /// # Errors
    /// When it does not start, speaks another protocol, or takes too long.
    pub(crate) async fn start(
        command: &PowershellCommand,
        tasks: &TaskGroup,
        timeout: Duration,
    ) -> Result<Arc<Self>, Failure> {
        let mut child = Command::new(&command.program)
            .args(OPTIONS)
            .arg(&command.script)
            .envs(&command.environment)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| not_started(&format!("it cannot be started: {error}")))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(not_started("it has no input or output"));
        };
        let mut reader = LineReader::new(output);
        match tokio::time::timeout(timeout, reader.await_ready()).await {
            Ok(Ok(PROTOCOL)) => {}
            Ok(Ok(other)) => return Err(not_started(&format!("its script speaks protocol {other}"))),
            Ok(Err(reason)) => return Err(not_started(&reason)),
            Err(_) => return Err(not_started(&format!("it was not there after {} s", timeout.as_secs()))),
        }
        let (commands, awaiting) = mpsc::channel(POWERSHELL_LINES);
        let (lines, to_write) = mpsc::channel(POWERSHELL_LINES);
        let terminate = Arc::new(Notify::new());
        tasks.start("powershell-input", write_lines(input, to_write, tasks.clone()));
        let listener = Listener { waiting: BTreeMap::new(), relays: BTreeMap::new(), unknown_lines: 0 };
        tasks.start(
            "powershell",
            listener.serve(child, reader, awaiting, Arc::clone(&terminate), tasks.clone()),
        );
        let (requests, relays) = (AtomicU64::new(1), AtomicU64::new(1));
        Ok(Arc::new(Self { commands, lines, requests, relays, terminate, tasks: tasks.clone() }))
    }

    /// Whether it still takes requests.
    pub(crate) fn is_there(&self) -> bool {
        !self.commands.is_closed()
    }

    /// Sends a request and waits for the response.
    ///
    /// # Errors
    /// When it refuses, is gone, or takes too long; then it is ended.
    pub(crate) async fn request<T: DeserializeOwned>(
        &self,
        request: &Request<'_>,
        timeout: Duration,
    ) -> Result<T, Failure> {
        self.send(request, None, timeout).await
    }

    /// Opens a relay to a websocket on Windows.
    ///
    /// # Errors
    /// When the websocket cannot be reached from there.
    pub(crate) async fn relay(
        self: &Arc<Self>,
        url: &str,
        timeout: Duration,
    ) -> Result<(FrameSource, FrameSink), Failure> {
        let relay = RelayId(self.relays.fetch_add(1, Ordering::Relaxed));
        let (ours, (mut from_hub, to_hub)) = channel_pair();
        let milliseconds = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
        let request = Request::Open { relay, url, milliseconds };
        // PowerShell times out first, and reports why.
        self.send::<Value>(&request, Some((relay, to_hub)), timeout + POWERSHELL_END).await?;
        let powershell = Arc::clone(self);
        self.tasks.start("powershell-relay", async move {
            while let Ok(Some(ReceivedFrame::Frame(frame))) = from_hub.next().await {
                if powershell.lines.send(frame_line(relay, &frame)).await.is_err() {
                    return;
                }
            }
            // If PowerShell is gone, so is the relay.
            let _ = powershell.request::<Value>(&Request::Close { relay }, POWERSHELL_TIMEOUT).await;
        });
        Ok(ours)
    }

    async fn send<T: DeserializeOwned>(
        &self,
        request: &Request<'_>,
        relay: Option<(RelayId, FrameSink)>,
        timeout: Duration,
    ) -> Result<T, Failure> {
        let id = RequestId(self.requests.fetch_add(1, Ordering::Relaxed));
        let (reply, response) = oneshot::channel();
        let exchange = async {
            self.commands.send(PendingRequest { id, reply, relay }).await.ok()?;
            self.lines.send(request.line(id)).await.ok()?;
            response.await.ok()
        };
        let result = match tokio::time::timeout(timeout, exchange).await {
            Ok(Some(result)) => result,
            Ok(None) => return Err(gone(request)),
            Err(_) => {
                self.terminate.notify_one();
                return Err(too_late(request, timeout));
            }
        };
        let value = result.map_err(|reason| refused(request, &reason))?;
        serde_json::from_value(value)
            .map_err(|error| refused(request, &format!("its response is invalid: {error}")))
    }
}

/// Reads lines from PowerShell. A cancelled read keeps the part of the line that it has.
#[derive(Debug)]
struct LineReader {
    output: BufReader<ChildStdout>,
    line: Vec<u8>,
}

impl LineReader {
    fn new(output: ChildStdout) -> Self {
        Self { output: BufReader::with_capacity(64 * 1024, output), line: Vec::new() }
    }

    /// The next line; `None` at the end, or when it is too long. Cancel safe.
    async fn next(&mut self) -> Option<Message> {
        let room = (BROWSER_MESSAGE_CEILING + 1024).checked_sub(self.line.len())?;
        let room = u64::try_from(room).unwrap_or(u64::MAX);
        (&mut self.output).take(room).read_until(b'\n', &mut self.line).await.ok()?;
        if self.line.last() != Some(&b'\n') {
            return None;
        }
        let line = BytesMut::from(self.line.as_slice());
        self.line.clear();
        Some(read_line(line))
    }

    /// Waits until the script reports that it runs. Lines before that are skipped.
    async fn await_ready(&mut self) -> Result<u32, String> {
        for _ in 0..POWERSHELL_UNKNOWN_LINES {
            match self.next().await {
                Some(Message::Ready(protocol)) => return Ok(protocol),
                Some(_) => {}
                None => return Err("it ended before its script ran".to_owned()),
            }
        }
        Err("it printed too many unknown lines".to_owned())
    }
}

/// Dispatches lines from PowerShell to waiting requests and relays.
#[derive(Debug)]
struct Listener {
    waiting: BTreeMap<RequestId, oneshot::Sender<Result<Value, String>>>,
    relays: BTreeMap<RelayId, FrameSink>,
    unknown_lines: usize,
}

impl Listener {
    /// Dispatches lines until PowerShell ends, the last handle is dropped or it must be terminated.
    async fn serve(
        mut self,
        mut child: Child,
        mut reader: LineReader,
        mut awaiting: mpsc::Receiver<PendingRequest>,
        terminate: Arc<Notify>,
        tasks: TaskGroup,
    ) {
        let reason = loop {
            tokio::select! {
                biased;
                () = terminate.notified() => break "it did not respond",
                () = tasks.stopping() => break "the daemon ends",
                request = awaiting.recv() => match request {
                    Some(request) => self.add_request(request),
                    None => break "it is no longer used",
                },
                message = reader.next() => match message {
                    Some(message) => if let Err(reason) = self.dispatch(message).await { break reason },
                    None => break "it ended",
                },
            }
        };
        tracing::info!(reason, waiting = self.waiting.len(), relays = self.relays.len(), "PowerShell ends");
        drop(self);
        drop(awaiting);
        // Its input is closed after the last line. The script then ends its browsers and itself.
        let is_orderly = matches!(reason, "it is no longer used" | "the daemon ends");
        if !is_orderly || tokio::time::timeout(POWERSHELL_END, child.wait()).await.is_err() {
            let _ = child.kill().await;
        }
    }

    fn add_request(&mut self, request: PendingRequest) {
        let PendingRequest { id, reply, relay } = request;
        self.waiting.retain(|_, reply| !reply.is_closed());
        self.waiting.insert(id, reply);
        self.relays.extend(relay);
    }

    async fn dispatch(&mut self, message: Message) -> Result<(), &'static str> {
        match message {
            Message::Frame(relay, frame) => {
                if let Some(sink) = self.relays.get_mut(&relay)
                    && sink.send(frame).await.is_err()
                {
                    self.relays.remove(&relay);
                }
            }
            Message::Closed(relay, signal) => {
                tracing::info!(disconnectSignals = %signal, "a relay to a browser on Windows broke");
                self.relays.remove(&relay);
            }
            Message::Response(id, response) => match self.waiting.remove(&id) {
                Some(reply) => {
                    // The caller may have given up.
                    let _ = reply.send(response);
                }
                None => return self.count_unknown("a response without a request"),
            },
            Message::Ready(_) | Message::Unknown => return self.count_unknown("an unknown line"),
        }
        Ok(())
    }

    /// Counts an unknown line; fails when there are too many.
    fn count_unknown(&mut self, what: &'static str) -> Result<(), &'static str> {
        self.unknown_lines += 1;
        tracing::debug!(what, count = self.unknown_lines, "unexpected line from PowerShell");
        if self.unknown_lines > POWERSHELL_UNKNOWN_LINES {
            Err("it printed too many unknown lines")
        } else {
            Ok(())
        }
    }
}

/// Writes lines until the channel closes or PowerShell is gone, then closes its input.
async fn write_lines(mut input: ChildStdin, mut lines: mpsc::Receiver<BytesMut>, tasks: TaskGroup) {
    loop {
        let line = tokio::select! {
            line = lines.recv() => line,
            () = tasks.stopping() => None,
        };
        let Some(line) = line else { return };
        if input.write_all(&line).await.is_err() || input.flush().await.is_err() {
            return;
        }
    }
}

fn not_started(why: &str) -> Failure {
    Failure::new(ErrorCode::LaunchFailed, format!("PowerShell cannot be used: {why}.")).with_remedy(
        "Run `powershell.exe -NoProfile -Command 1` in this shell to see whether Windows programs start from WSL, or \
         set TABWIRE_CHROME_POWERSHELL to its program.",
    )
}

fn gone(request: &Request<'_>) -> Failure {
    Failure::new(ErrorCode::BrowserGone, format!("PowerShell ended before it could {}.", request.name()))
        .with_remedy("The next attempt starts it again.")
}

fn too_late(request: &Request<'_>, timeout: Duration) -> Failure {
    let message =
        format!("PowerShell did not {} within {} ms, and was ended.", request.name(), timeout.as_millis());
    Failure::new(ErrorCode::Timeout, message).with_remedy("The next attempt starts it again.")
}

fn refused(request: &Request<'_>, reason: &str) -> Failure {
    Failure::new(ErrorCode::LaunchFailed, format!("PowerShell could not {}: {reason}.", request.name()))
        .with_remedy(Remedy::new(
            "Run {} with the launcher's arguments to see the requests to Windows.",
            [Step::command("tabwire chrome --explain")],
        ))
}

/// How long PowerShell may take until its script runs. It compiles a class first.
const POWERSHELL_START: Duration = Duration::from_secs(20);

/// Browsers on Windows that are remembered as launched by this daemon.
const WINDOWS_LAUNCHES: usize = 256;

/// The running PowerShell process, if any.
#[derive(Debug, Default)]
pub(crate) struct SharedPowershell {
    running: Mutex<Option<(PowershellCommand, Weak<Powershell>)>>,
    /// Browsers that were launched through PowerShell, by process and port. The daemon may end them, even if another
    /// PowerShell process finds them again.
    launched: StdMutex<BTreeSet<(u32, u16)>>,
}

impl SharedPowershell {
    /// The running process, if it has the same program and script; else a new one.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(crate) async fn obtain(
        &self,
        command: &PowershellCommand,
        tasks: &TaskGroup,
    ) -> Result<Arc<Powershell>, Failure> {
        let mut running = self.running.lock().await;
        let is_same =
            |known: &PowershellCommand| known.program == command.program && known.script == command.script;
        let found = running.as_ref().filter(|(known, _)| is_same(known)).and_then(|(_, weak)| weak.upgrade());
        if let Some(found) = found.filter(|found| found.is_there()) {
            return Ok(found);
        }
        let started = Powershell::start(command, tasks, POWERSHELL_START).await?;
        *running = Some((command.clone(), Arc::downgrade(&started)));
        Ok(started)
    }

    /// Records a launched browser.
    pub(crate) fn note_launched(&self, pid: u32, port: u16) {
        let mut launched = self.launched.lock().unwrap_or_else(PoisonError::into_inner);
        if launched.len() >= WINDOWS_LAUNCHES {
            launched.pop_first();
        }
        launched.insert((pid, port));
    }

    /// Whether the daemon launched a browser.
    pub(crate) fn has_launched(&self, pid: u32, port: u16) -> bool {
        self.launched.lock().unwrap_or_else(PoisonError::into_inner).contains(&(pid, port))
    }
}

#[cfg(test)]
#[path = "powershell_tests.rs"]
mod tests;
