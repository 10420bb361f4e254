//! A daemon in this process that offers the additions of the suites and serves MCP over HTTP.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::Value;
use tabwire_api::VERSION;
use tabwire_api::api::{MCP_UPGRADE, McpOpening, McpTransport, SOCKET_HOST, VERSION_HEADER};
use tabwire_daemon::{Daemon, DaemonConfig, Paths};
use tempfile::TempDir;
use tokio::sync::oneshot;

use crate::conformance::suite_extras::SuiteExtras;

/// Longest wait for anything on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A running daemon; ended on drop.
pub(crate) struct SuiteServer {
    /// The URL for clients.
    pub(crate) address: String,
    /// Keeps the HTTP endpoint open.
    connection: Option<UnixStream>,
    stop: Option<oneshot::Sender<()>>,
    serving: Option<JoinHandle<()>>,
    _home: TempDir,
}

impl SuiteServer {
    pub(crate) fn start() -> Self {
        let home = tempfile::Builder::new().prefix("twc-").tempdir_in("/tmp").expect("a home");
        let paths = Paths::below(home.path());
        let (stop, stopped) = oneshot::channel();
        let (announce, announced) = mpsc::channel();
        let config = config(paths.clone());
        let serving = std::thread::spawn(move || {
            let runtime = tokio::runtime::Runtime::new().expect("a runtime");
            runtime.block_on(async {
                tokio::select! {
                    ended = Daemon::run(config, || announce.send(()).expect("the test waits")) => {
                        panic!("the daemon ended: {ended:?}");
                    }
                    _ = stopped => {}
                }
            });
        });
        announced.recv_timeout(TIMEOUT).expect("the daemon is ready");
        let (connection, address) = open_http(&paths);
        Self { address, connection: Some(connection), stop: Some(stop), serving: Some(serving), _home: home }
    }
}

impl Drop for SuiteServer {
    fn drop(&mut self) {
        drop(self.connection.take());
        drop(self.stop.take());
        if let Some(serving) = self.serving.take() {
            // A panic of the thread was printed already.
            let _ = serving.join();
        }
    }
}

fn config(paths: Paths) -> DaemonConfig {
    DaemonConfig {
        paths,
        port: 0,
        self_exe: env!("CARGO_BIN_EXE_daemon-for-tests").into(),
        keep_arguments: vec!["keep".to_owned()],
        script_arguments: vec!["script-child".to_owned()],
        browser: None,
        path_env: std::env::var_os("PATH"),
        config_home: None,
        home: None,
        linger: None,
        skills: Vec::new(),
        chat_history: false,
        agent_programs: Vec::new(),
        audit_log: true,
        lock_timeout: Duration::ZERO,
        idle_exit: Duration::from_secs(3600),
        mcp_extras: Some(Arc::new(SuiteExtras::default())),
    }
}

/// Opens the connection as `tabwire mcp --http` does.
fn open_http(paths: &Paths) -> (UnixStream, String) {
    let mut stream = UnixStream::connect(paths.socket()).expect("the socket");
    stream.set_read_timeout(Some(TIMEOUT)).expect("a deadline");
    let opening = McpOpening { transport: McpTransport::Http, ..McpOpening::default() };
    let opening = serde_json::to_string(&opening).expect("an opening");
    let request = format!(
        "GET /v1/mcp HTTP/1.1\r\nHost: {SOCKET_HOST}\r\n{VERSION_HEADER}: {VERSION}\r\nConnection: Upgrade\r\n\
         Upgrade: {MCP_UPGRADE}\r\n\r\n{opening}\n"
    );
    stream.write_all(request.as_bytes()).expect("taken");
    let mut read = Vec::new();
    let mut byte = [0_u8];
    let line = loop {
        stream.read_exact(&mut byte).expect("more");
        read.extend(byte);
        let text = String::from_utf8_lossy(&read);
        let rest = text.split_once("\r\n\r\n").map(|(_, rest)| rest).unwrap_or_default();
        if rest.ends_with('\n') {
            break rest.to_owned();
        }
    };
    let greeting: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
    let address = greeting["address"].as_str().unwrap_or_else(|| panic!("no URL: {line}"));
    (stream, address.to_owned())
}
