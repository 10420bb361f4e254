//! Starts and stops a real Chromium for a test.

use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use command_fds::{CommandFdExt, FdMapping};
use rustix::pipe::{PipeFlags, pipe_with};
use tabwire_cdp::limits::BROWSER_MESSAGE_CEILING;
use tabwire_cdp::{Connection, PipeSink, PipeSource, TaskGroup, WebSocketUrl};
use tempfile::TempDir;
use tokio::sync::{Semaphore, SemaphorePermit};

/// Longer than any step takes in a healthy Chromium on a busy machine.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(25);

/// Two browsers at once: more only slow each other down.
static PLACES: Semaphore = Semaphore::const_new(2);

/// The transport that a test uses.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Link {
    Pipe,
    WebSocket,
}

/// A running Chromium with its own profile; stopped at the end of the test.
pub(crate) struct Chromium {
    pub(crate) connection: Connection,
    pub(crate) tasks: TaskGroup,
    child: Child,
    _profile: TempDir,
    _place: SemaphorePermit<'static>,
}

impl Chromium {
    /// Starts Chromium and connects.
    pub(crate) async fn start(link: Link) -> Self {
        let place = PLACES.acquire().await.expect("never closed");
        let profile = TempDir::new().expect("a profile directory");
        let tasks = TaskGroup::new();
        let (child, connection) = match link {
            Link::Pipe => start_on_pipe(&profile, &tasks),
            Link::WebSocket => start_on_websocket(&profile, &tasks).await,
        };
        Self { connection, tasks, child, _profile: profile, _place: place }
    }

    /// Kills the browser with SIGKILL and returns when it is dead.
    ///
    /// Waits for the kernel, which may take long to end a browser on a busy machine; tests measure after
    /// that.
    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("the browser can be killed");
        self.child.wait().expect("the browser dies");
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn command(profile: &TempDir) -> Command {
    let mut command = Command::new("/usr/bin/chromium");
    command
        .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

fn start_on_pipe(profile: &TempDir, tasks: &TaskGroup) -> (Child, Connection) {
    let pipe = || pipe_with(PipeFlags::CLOEXEC).expect("a pipe");
    let ((browser_input, our_output), (our_input, browser_output)) = (pipe(), pipe());
    let mapping = |parent_fd: OwnedFd, child_fd| FdMapping { parent_fd, child_fd };
    let mut command = command(profile);
    command
        .arg("--remote-debugging-pipe")
        .fd_mappings(vec![mapping(browser_input, 3), mapping(browser_output, 4)])
        .expect("the descriptors are distinct");
    let child = command.spawn().expect("chromium starts");
    let source = PipeSource::new(our_input, BROWSER_MESSAGE_CEILING).expect("a source");
    let sink = PipeSink::new(our_output).expect("a sink");
    (child, Connection::start(source, sink, tasks))
}

async fn start_on_websocket(profile: &TempDir, tasks: &TaskGroup) -> (Child, Connection) {
    let child = command(profile).arg("--remote-debugging-port=0").spawn().expect("chromium starts");
    let file = profile.path().join("DevToolsActivePort");
    let written = async {
        loop {
            let text = std::fs::read_to_string(&file).unwrap_or_default();
            if let Some((port, path)) = text.split_once('\n').filter(|(_, path)| !path.is_empty()) {
                return format!("ws://127.0.0.1:{port}{}", path.trim());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let address = tokio::time::timeout(TIMEOUT, written).await.expect("the port is published");
    let address = WebSocketUrl::parse(&address).expect("a websocket address");
    let (source, sink) = address.connect().await.expect("connects");
    (child, Connection::start(source, sink, tasks))
}
