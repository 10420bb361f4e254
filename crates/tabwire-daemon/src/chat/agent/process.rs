//! The process of an agent, in a process group of its own.

use std::ffi::OsString;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tabwire_acp::LineBuffer;
use tabwire_api::{ErrorCode, Failure};
use tabwire_cdp::TaskGroup;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc;

use crate::chat::agent::table::AgentSpec;

/// Bytes of one read.
const READ_BYTES: usize = 64 * 1024;

/// Lines that wait for an agent that does not read.
const QUEUED_LINES: usize = 256;

/// How long an agent may take to end by itself, after its input was closed.
const END_TIMEOUT: Duration = Duration::from_secs(5);

/// Why there are no more lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputEnd {
    /// The process has ended or closed its output.
    Closed,
    /// It sent a line that is too long.
    LineTooLong,
}

/// A running agent. Its process group is killed when this is dropped.
#[derive(Debug)]
pub(crate) struct AgentProcess {
    child: Child,
    group: Option<Pid>,
    input: Option<mpsc::Sender<String>>,
    output: ChildStdout,
    lines: LineBuffer,
}

impl AgentProcess {
    pub(crate) fn start(
        program: &Path,
        (agent, variables): (&AgentSpec, &[(&'static str, OsString)]),
        directory: &Path,
        tasks: &TaskGroup,
    ) -> Result<Self, Failure> {
        let failed = |error: std::io::Error| {
            Failure::new(ErrorCode::LaunchFailed, format!("{} cannot start: {error}.", agent.name))
                .with_remedy(format!("Check that {} runs in a terminal.", program.display()))
        };
        let mut child = Command::new(program)
            .args(agent.arguments)
            .envs(agent.environment.iter().copied())
            .envs(variables.iter().map(|(name, value)| (name, value)))
            .current_dir(directory)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // Agents write notes there that no client reads.
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .map_err(failed)?;
        let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let (Some(stdin), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(failed(std::io::ErrorKind::BrokenPipe.into()));
        };
        let (input, lines) = mpsc::channel(QUEUED_LINES);
        tasks.start("chat-input", write_lines(stdin, lines));
        Ok(Self { child, group, input: Some(input), output, lines: LineBuffer::default() })
    }

    /// Sends a line. False when too many wait, because the agent does not read.
    pub(crate) fn send(&self, line: String) -> bool {
        self.input.as_ref().is_some_and(|input| input.try_send(line).is_ok())
    }

    /// The next line. Cancel safe: a part of a line is kept.
    pub(crate) async fn next_line(&mut self) -> Result<Vec<u8>, OutputEnd> {
        loop {
            if let Some(line) = self.lines.take_line() {
                return Ok(line);
            }
            let mut bytes = vec![0; READ_BYTES];
            match self.output.read(&mut bytes).await {
                Ok(0) | Err(_) => return Err(OutputEnd::Closed),
                Ok(count) => self.lines.extend(&bytes[..count]).map_err(|_| OutputEnd::LineTooLong)?,
            }
        }
    }

    /// Ends the agent and all processes of its group: closes its input, waits, then kills.
    pub(crate) async fn end(mut self, wait: bool) {
        self.input = None;
        if wait {
            let _ = tokio::time::timeout(END_TIMEOUT, self.child.wait()).await;
        }
        self.kill_group();
        let _ = tokio::time::timeout(END_TIMEOUT, self.child.wait()).await;
    }

    fn kill_group(&self) {
        if let Some(group) = self.group {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Drop for AgentProcess {
    fn drop(&mut self) {
        self.kill_group();
    }
}

/// Writes lines until the agent or its owner is gone.
async fn write_lines(mut stdin: ChildStdin, mut lines: mpsc::Receiver<String>) {
    while let Some(line) = lines.recv().await {
        let written = async {
            stdin.write_all(line.as_bytes()).await?;
            stdin.write_all(b"\n").await?;
            stdin.flush().await
        };
        if written.await.is_err() {
            return;
        }
    }
}
