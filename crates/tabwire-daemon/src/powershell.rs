//! One PowerShell of Windows, which does what is asked of it for as long as somebody holds it, and carries relays.
//!
//! Knows nothing of browsers: words go in, answers come out. One that does not answer in its time, or talks nonsense,
//! is ended, and all that waits for it fails at once.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::BytesMut;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tabwire_cdp::limits::BROWSER_MESSAGE_CEILING;
use tabwire_cdp::{FrameSink, FrameSource, Framed, TaskGroup, channel_pair};
use tabwire_wire::{ErrorCode, Failure};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::{Notify, mpsc, oneshot};

use crate::limits::{POWERSHELL_END, POWERSHELL_LINES, POWERSHELL_NOISE, POWERSHELL_PATIENCE};
use crate::powershell_word::{Heard, PROTOCOL, RelayId, RequestId, Word, frame_line, read_line};

/// Options of PowerShell under which it runs a script and nothing else.
const OPTIONS: &[&str] = &["-NoLogo", "-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass", "-File"];

/// How a PowerShell is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PowershellCommand {
    pub(crate) program: PathBuf,
    pub(crate) script: String,
    pub(crate) environment: BTreeMap<String, String>,
}

/// A PowerShell that runs. It ends when nobody holds it any more.
#[derive(Debug)]
pub(crate) struct Powershell {
    commands: mpsc::Sender<Awaiting>,
    lines: mpsc::Sender<BytesMut>,
    requests: AtomicU64,
    relays: AtomicU64,
    /// Told when it is to be ended although it is held.
    condemned: Arc<Notify>,
    tasks: TaskGroup,
}

/// Somebody who waits for an answer, and the relay that exists from then on.
#[derive(Debug)]
struct Awaiting {
    id: RequestId,
    reply: oneshot::Sender<Result<Value, String>>,
    relay: Option<(RelayId, FrameSink)>,
}

impl Powershell {
    /// Starts one and waits until its script runs.
    ///
    /// # Errors
    /// When it does not start, speaks another protocol, or takes too long.
    pub(crate) async fn start(
        command: &PowershellCommand,
        tasks: &TaskGroup,
        patience: Duration,
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
        match tokio::time::timeout(patience, reader.await_ready()).await {
            Ok(Ok(PROTOCOL)) => {}
            Ok(Ok(other)) => return Err(not_started(&format!("its script speaks protocol {other}"))),
            Ok(Err(reason)) => return Err(not_started(&reason)),
            Err(_) => return Err(not_started(&format!("it was not there after {} s", patience.as_secs()))),
        }
        let (commands, awaiting) = mpsc::channel(POWERSHELL_LINES);
        let (lines, to_write) = mpsc::channel(POWERSHELL_LINES);
        let condemned = Arc::new(Notify::new());
        tasks.start("powershell-input", write_lines(input, to_write, tasks.clone()));
        let listener = Listener { waiting: BTreeMap::new(), relays: BTreeMap::new(), noise: 0 };
        tasks.start(
            "powershell",
            listener.serve(child, reader, awaiting, Arc::clone(&condemned), tasks.clone()),
        );
        let (requests, relays) = (AtomicU64::new(1), AtomicU64::new(1));
        Ok(Arc::new(Self { commands, lines, requests, relays, condemned, tasks: tasks.clone() }))
    }

    /// Whether it can still be asked.
    pub(crate) fn is_there(&self) -> bool {
        !self.commands.is_closed()
    }

    /// Asks and waits for the answer.
    ///
    /// # Errors
    /// When it refuses, is gone, or takes too long; then it is ended.
    pub(crate) async fn ask<T: DeserializeOwned>(
        &self,
        word: &Word<'_>,
        patience: Duration,
    ) -> Result<T, Failure> {
        self.ask_with(word, None, patience).await
    }

    /// Opens a relay to a websocket of Windows: what a browser says comes out, what is said to it goes in.
    ///
    /// # Errors
    /// When the websocket cannot be reached from there.
    pub(crate) async fn relay(
        self: &Arc<Self>,
        url: &str,
        patience: Duration,
    ) -> Result<(FrameSource, FrameSink), Failure> {
        let relay = RelayId(self.relays.fetch_add(1, Ordering::Relaxed));
        let (ours, (mut from_hub, to_hub)) = channel_pair();
        let milliseconds = u64::try_from(patience.as_millis()).unwrap_or(u64::MAX);
        let word = Word::Open { relay, url, milliseconds };
        // Windows gives up first, and says why.
        self.ask_with::<Value>(&word, Some((relay, to_hub)), patience + POWERSHELL_END).await?;
        let powershell = Arc::clone(self);
        self.tasks.start("powershell-relay", async move {
            while let Ok(Some(Framed::Frame(frame))) = from_hub.next().await {
                if powershell.lines.send(frame_line(relay, &frame)).await.is_err() {
                    return;
                }
            }
            // One that is gone has closed it.
            let _ = powershell.ask::<Value>(&Word::Close { relay }, POWERSHELL_PATIENCE).await;
        });
        Ok(ours)
    }

    async fn ask_with<T: DeserializeOwned>(
        &self,
        word: &Word<'_>,
        relay: Option<(RelayId, FrameSink)>,
        patience: Duration,
    ) -> Result<T, Failure> {
        let id = RequestId(self.requests.fetch_add(1, Ordering::Relaxed));
        let (reply, answer) = oneshot::channel();
        let asking = async {
            self.commands.send(Awaiting { id, reply, relay }).await.ok()?;
            self.lines.send(word.line(id)).await.ok()?;
            answer.await.ok()
        };
        let answered = match tokio::time::timeout(patience, asking).await {
            Ok(Some(answered)) => answered,
            Ok(None) => return Err(gone(word)),
            Err(_) => {
                self.condemned.notify_one();
                return Err(too_late(word, patience));
            }
        };
        let value = answered.map_err(|reason| refused(word, &reason))?;
        serde_json::from_value(value)
            .map_err(|error| refused(word, &format!("its answer is not understood: {error}")))
    }
}

/// Reads what PowerShell says, line by line, without losing the beginning of one when it is interrupted.
#[derive(Debug)]
struct LineReader {
    output: BufReader<ChildStdout>,
    line: Vec<u8>,
}

impl LineReader {
    fn new(output: ChildStdout) -> Self {
        Self { output: BufReader::with_capacity(64 * 1024, output), line: Vec::new() }
    }

    /// The next whole line; none when there is no more, or it is too long. Safe to cancel.
    async fn next(&mut self) -> Option<Heard> {
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

    /// Waits until the script says that it runs; what is said before is nobody's concern.
    async fn await_ready(&mut self) -> Result<u32, String> {
        for _ in 0..POWERSHELL_NOISE {
            match self.next().await {
                Some(Heard::Ready(protocol)) => return Ok(protocol),
                Some(_) => {}
                None => return Err("it ended before its script ran".to_owned()),
            }
        }
        Err("it says what is not understood".to_owned())
    }
}

/// Who waits for what PowerShell says.
#[derive(Debug)]
struct Listener {
    waiting: BTreeMap<RequestId, oneshot::Sender<Result<Value, String>>>,
    relays: BTreeMap<RelayId, FrameSink>,
    noise: usize,
}

impl Listener {
    /// Hands on what PowerShell says until it ends, is let go or is condemned; then nothing of it is left.
    async fn serve(
        mut self,
        mut child: Child,
        mut reader: LineReader,
        mut awaiting: mpsc::Receiver<Awaiting>,
        condemned: Arc<Notify>,
        tasks: TaskGroup,
    ) {
        let reason = loop {
            tokio::select! {
                biased;
                () = condemned.notified() => break "it did not answer",
                () = tasks.stopping() => break "the daemon ends",
                asked = awaiting.recv() => match asked {
                    Some(asked) => self.await_answer(asked),
                    None => break "nobody needs it",
                },
                heard = reader.next() => match heard {
                    Some(heard) => if let Err(reason) = self.hear(heard).await { break reason },
                    None => break "it ended",
                },
            }
        };
        tracing::info!(reason, waiting = self.waiting.len(), relays = self.relays.len(), "a PowerShell ends");
        drop(self);
        drop(awaiting);
        // Its input is closed with the last line to write: it ends what it has started, then itself.
        let is_orderly = matches!(reason, "nobody needs it" | "the daemon ends");
        if !is_orderly || tokio::time::timeout(POWERSHELL_END, child.wait()).await.is_err() {
            let _ = child.kill().await;
        }
    }

    fn await_answer(&mut self, asked: Awaiting) {
        let Awaiting { id, reply, relay } = asked;
        self.waiting.retain(|_, reply| !reply.is_closed());
        self.waiting.insert(id, reply);
        self.relays.extend(relay);
    }

    async fn hear(&mut self, heard: Heard) -> Result<(), &'static str> {
        match heard {
            Heard::Frame(relay, frame) => {
                if let Some(sink) = self.relays.get_mut(&relay)
                    && sink.send(frame).await.is_err()
                {
                    self.relays.remove(&relay);
                }
            }
            Heard::Closed(relay, signal) => {
                tracing::info!(disconnectSignals = %signal, "a relay to a browser of Windows broke");
                self.relays.remove(&relay);
            }
            Heard::Answer(id, answer) => match self.waiting.remove(&id) {
                Some(reply) => {
                    // Whoever asked may have given up.
                    let _ = reply.send(answer);
                }
                None => return self.note_noise("an answer to nobody"),
            },
            Heard::Ready(_) | Heard::Noise => return self.note_noise("a line that is not understood"),
        }
        Ok(())
    }

    /// A little noise is overheard; a PowerShell that says nothing else is of no use.
    fn note_noise(&mut self, what: &'static str) -> Result<(), &'static str> {
        self.noise += 1;
        tracing::debug!(what, noise = self.noise, "a PowerShell says what is not expected");
        if self.noise > POWERSHELL_NOISE { Err("it says what is not understood") } else { Ok(()) }
    }
}

/// Writes lines until there are no more, or PowerShell is gone; its input is closed with that.
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
    Failure::new(ErrorCode::LaunchFailed, format!("PowerShell of Windows cannot be used: {why}.")).with_hint(
        "Run `powershell.exe -NoProfile -Command 1` in this shell to see whether Windows programs start from WSL, or \
         set TABWIRE_CHROME_POWERSHELL to its program.",
    )
}

fn gone(word: &Word<'_>) -> Failure {
    Failure::new(
        ErrorCode::BrowserGone,
        format!("PowerShell of Windows ended while it was to {}.", word.name()),
    )
    .with_hint("The next attempt starts it again.")
}

fn too_late(word: &Word<'_>, patience: Duration) -> Failure {
    let message = format!(
        "PowerShell of Windows did not {} within {} ms, and was ended.",
        word.name(),
        patience.as_millis()
    );
    Failure::new(ErrorCode::Timeout, message).with_hint("The next attempt starts it again.")
}

fn refused(word: &Word<'_>, reason: &str) -> Failure {
    Failure::new(
        ErrorCode::LaunchFailed,
        format!("PowerShell of Windows could not {}: {reason}.", word.name()),
    )
    .with_hint(
        "Run `tabwire chrome --explain` with the launcher's arguments to see what is asked of Windows.",
    )
}

#[cfg(test)]
#[path = "powershell_tests.rs"]
mod tests;
