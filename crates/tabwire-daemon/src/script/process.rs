//! A process that runs scripts, as the daemon holds it: two pipes and nothing else.

use std::path::Path;
use std::process::Stdio;

use serde::Serialize;
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_cdp::TaskGroup;
use tabwire_script::message::{FromChild, LineBuffer, to_line};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc;

use crate::config::DaemonConfig;
use crate::script::cdp::CdpSessions;
use crate::script::events::{Events, ScriptContexts};

/// Bytes of one read.
const READ_BYTES: usize = 64 * 1024;

/// A process of scripts. Killed when dropped.
#[derive(Debug)]
pub(crate) struct ScriptProcess {
    child: Child,
    input: ScriptInput,
    output: ScriptOutput,
    events: Events,
}

/// The way to a process. A task writes, because a write must not be dropped half way.
pub(crate) type ScriptInput = mpsc::Sender<Vec<u8>>;

/// Messages that may wait for a slow process.
const QUEUED_MESSAGES: usize = 128;

/// The messages of a process.
#[derive(Debug)]
pub(crate) struct ScriptOutput {
    pipe: ChildStdout,
    lines: LineBuffer,
}

/// The process has ended, or sent something that is no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProcessLost;

impl ScriptProcess {
    /// Starts a process without environment, in the directory `/`, with nothing but its pipes.
    pub(crate) fn start(config: &DaemonConfig, tasks: &TaskGroup) -> Result<Self, Failure> {
        let failed = |error: std::io::Error| {
            Failure::new(ErrorCode::Internal, format!("The process for scripts cannot start: {error}."))
                .with_remedy(Remedy::new(
                    "Run {} to check the installation.",
                    [Step::command("tabwire doctor")],
                ))
        };
        let mut child = command(&config.self_exe)
            .args(&config.script_arguments)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .map_err(failed)?;
        let (Some(stdin), Some(pipe)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(failed(std::io::ErrorKind::BrokenPipe.into()));
        };
        let (input, lines) = mpsc::channel(QUEUED_MESSAGES);
        tasks.start("script-input", write_lines(stdin, lines));
        let output = ScriptOutput { pipe, lines: LineBuffer::default() };
        Ok(Self { child, input, output, events: Events::new(tasks) })
    }

    /// The writing and the reading end, and the events that the script listens to.
    pub(crate) const fn split(&mut self) -> (&ScriptInput, &mut ScriptOutput, &mut Events) {
        (&self.input, &mut self.output, &mut self.events)
    }

    /// Whether the script listens to events between its runs.
    pub(crate) fn listens(&self) -> bool {
        self.events.listens()
    }

    /// Browser contexts that the script has made.
    pub(crate) fn contexts(&self) -> ScriptContexts {
        self.events.contexts()
    }

    /// CDP sessions that the script has opened.
    pub(crate) fn cdp(&self) -> CdpSessions {
        self.events.cdp()
    }

    /// Ends the events of a run. Returns what the script missed in it.
    pub(crate) fn rest(&mut self) -> Vec<String> {
        self.events.rest();
        self.events.take_notices()
    }

    /// Whether the process has ended.
    pub(crate) fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }
}

/// The command that starts the program. On Linux the process confines itself.
fn command(program: &Path) -> Command {
    if cfg!(target_os = "macos") {
        let (sandbox, arguments) = tabwire_script::sandbox::macos_command(&program.to_string_lossy());
        let mut command = Command::new(sandbox);
        command.args(arguments);
        return command;
    }
    Command::new(program)
}

impl ScriptOutput {
    /// The next message. Cancel safe: a part of a line is kept.
    pub(crate) async fn next(&mut self) -> Result<FromChild, ProcessLost> {
        loop {
            if let Some(line) = self.lines.take_line() {
                return serde_json::from_slice(&line).map_err(|error| {
                    tracing::warn!(%error, "a script's process sent a line that is no message");
                    ProcessLost
                });
            }
            let mut bytes = vec![0; READ_BYTES];
            match self.pipe.read(&mut bytes).await {
                Ok(0) | Err(_) => return Err(ProcessLost),
                Ok(count) => self.lines.extend(&bytes[..count]).map_err(|_| ProcessLost)?,
            }
        }
    }
}

/// Writes lines until the process or its owner is gone.
async fn write_lines(mut stdin: ChildStdin, mut lines: mpsc::Receiver<Vec<u8>>) {
    while let Some(line) = lines.recv().await {
        if stdin.write_all(&line).await.is_err() {
            return;
        }
    }
}

/// Sends a message, once there is room.
pub(crate) async fn send(input: &ScriptInput, message: &impl Serialize) -> Result<(), ProcessLost> {
    let line = to_line(message).map_err(|_| ProcessLost)?;
    input.send(line).await.map_err(|_| ProcessLost)
}
