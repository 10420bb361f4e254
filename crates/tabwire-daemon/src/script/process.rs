//! A process that runs scripts, as the daemon holds it: two pipes and nothing else.

use std::process::Stdio;

use serde::Serialize;
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_script::message::{FromChild, LineBuffer, to_line};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::config::DaemonConfig;

/// Bytes of one read.
const READ_BYTES: usize = 64 * 1024;

/// A process of scripts. Killed when dropped.
#[derive(Debug)]
pub(crate) struct ScriptProcess {
    child: Child,
    input: ChildStdin,
    output: ScriptOutput,
}

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
    pub(crate) fn start(config: &DaemonConfig) -> Result<Self, Failure> {
        let failed = |error: std::io::Error| {
            Failure::new(ErrorCode::Internal, format!("The process for scripts cannot start: {error}."))
                .with_remedy(Remedy::new(
                    "Run {} to check the installation.",
                    [Step::command("tabwire doctor")],
                ))
        };
        let mut child = Command::new(&config.self_exe)
            .args(&config.script_arguments)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .map_err(failed)?;
        let (Some(input), Some(pipe)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(failed(std::io::ErrorKind::BrokenPipe.into()));
        };
        Ok(Self { child, input, output: ScriptOutput { pipe, lines: LineBuffer::default() } })
    }

    /// The writing and the reading end.
    pub(crate) const fn split(&mut self) -> (&mut ChildStdin, &mut ScriptOutput) {
        (&mut self.input, &mut self.output)
    }

    /// Whether the process has ended.
    pub(crate) fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }
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

/// Sends a message. Not cancel safe: a part of a line would be left.
pub(crate) async fn send(input: &mut ChildStdin, message: &impl Serialize) -> Result<(), ProcessLost> {
    let line = to_line(message).map_err(|_| ProcessLost)?;
    input.write_all(&line).await.map_err(|_| ProcessLost)
}
