//! MCP clients outlive the daemon, the binary, the parent process and the reader of the log.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rmcp::model::{CallToolRequestParams, CallToolResult};
use rmcp::service::{NotificationContext, RoleClient, RunningService};
use rmcp::{ClientHandler, ServiceExt};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::mcp::client::{McpClient, text_of};
use crate::support::fixture_site::FixtureSite;
use crate::support::process::is_running;
use crate::support::wait::{eventually, find_eventually};
use crate::support::world::World;

const TABWIRE: &str = env!("CARGO_BIN_EXE_tabwire");

fn kill(pid: i32) {
    kill_process(Pid::from_raw(pid).expect("a process"), Signal::KILL).expect("it runs");
}

/// Kills the daemon and waits until it is gone.
fn kill_daemon(world: &World) {
    let daemon = world.daemon_pid();
    kill(daemon);
    eventually("the daemon is gone", 5, || !is_running(daemon));
}

/// A client that counts `tools/list_changed` notifications.
#[derive(Clone, Debug, Default)]
struct Counting(Arc<AtomicUsize>);

impl ClientHandler for Counting {
    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

type SdkClient = RunningService<RoleClient, Counting>;

async fn call(client: &SdkClient, name: &'static str, arguments: Value) -> CallToolResult {
    let arguments = arguments.as_object().cloned().expect("an object");
    let call = client.call_tool(CallToolRequestParams::new(name).with_arguments(arguments));
    call.await.expect("no protocol error")
}

fn shown(result: &CallToolResult) -> String {
    text_of(&serde_json::to_value(result).expect("data"))
}

/// Starts a call whose request the site never completes, and waits until the page has sent it.
#[expect(clippy::disallowed_methods, reason = "the test that starts it waits for its end")]
async fn begin_long_call(
    client: &SdkClient,
    site: &FixtureSite,
    gate: &str,
) -> tokio::task::JoinHandle<CallToolResult> {
    let peer = client.peer().clone();
    let held = site.page(&format!("/held?gate={gate}"));
    let arguments =
        json!({"expression": format!("fetch('{held}', {{mode: 'no-cors'}})"), "timeout_ms": 90_000});
    let arguments = arguments.as_object().cloned().expect("an object");
    let long = tokio::task::spawn(async move {
        let call = peer.call_tool(CallToolRequestParams::new("eval").with_arguments(arguments));
        call.await.expect("no protocol error")
    });
    assert!(site.is_held(gate).await, "the page asks");
    long
}

#[test]
fn f22_a_client_stays_connected_while_the_daemon_is_killed_or_replaced() {
    let (world, site) = (World::new(), FixtureSite::start());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let command = world.command(TABWIRE, &["mcp", "--policy", "open"]);
    runtime.block_on(async {
        let mut command = tokio::process::Command::from(command);
        let mut process = command.stdin(Stdio::piped()).spawn().expect("the binary starts");
        let ends = (process.stdout.take().expect("piped"), process.stdin.take().expect("piped"));
        let handler = Counting::default();
        let changes = Arc::clone(&handler.0);
        let client = handler.serve(ends).await.expect("greeted");
        call(&client, "navigate", json!({"url": site.page("/plain")})).await;

        // During a call: that call may or may not have been done; the next one works.
        let long = begin_long_call(&client, &site, "killed").await;
        kill_daemon(&world);
        let unknown = long.await.expect("no panic");
        assert_eq!(unknown.is_error, Some(true));
        assert!(shown(&unknown).starts_with("OUTCOME_UNKNOWN: "), "{}", shown(&unknown));
        assert!(shown(&unknown).contains("\nnext: "), "{}", shown(&unknown));
        let tabs = call(&client, "tabs_list", json!({})).await;
        assert!(shown(&tabs).contains("this is a new browser"), "{}", shown(&tabs));
        let opened = call(&client, "navigate", json!({"url": site.page("/form")})).await;
        assert!(shown(&opened).contains("# \"Form\""), "{}", shown(&opened));

        // Between two calls.
        kill_daemon(&world);
        let first = call(&client, "eval", json!({"expression": "6 * 7"})).await;
        assert!(shown(&first).contains("42"), "{}", shown(&first));

        // A newer version makes the daemon exit during a call.
        let long = begin_long_call(&client, &site, "drained").await;
        let daemon = world.daemon_pid();
        let drain = "POST /v1/daemon/drain HTTP/1.1\r\nHost: tabwire.local\r\nx-tabwire-version: 99.0.0\r\n\
                     Connection: close\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
        assert!(world.http(drain).0.contains(" 200 "));
        eventually("the daemon leaves", 20, || !is_running(daemon));
        assert!(shown(&long.await.expect("no panic")).starts_with("OUTCOME_UNKNOWN: "));
        let after = call(&client, "eval", json!({"expression": "7 * 7"})).await;
        assert!(shown(&after).contains("49"), "{}", shown(&after));

        assert_eq!(changes.load(Ordering::SeqCst), 0, "the tools are the same");
        client.cancel().await.expect("it was there");
        assert!(process.wait().await.expect("it ends").success());
    });
    eventually("no browser of the client is left", 5, || world.browser_processes().is_empty());
}

#[test]
fn f22_a_named_session_continues_under_the_next_daemon() {
    let (world, site) = (World::new().with("TABWIRE_LINGER", "30"), FixtureSite::start());
    let users = world.open(&[&site.page("/plain"), "--session", "mine"]);
    let mut client = McpClient::start(&world, &["--session", "mine", "--policy", "open"]);
    client.text("eval", json!({"expression": "window.kept = 'still here'"}));
    kill_daemon(&world);
    let output = client.text("eval", json!({"expression": "window.kept"}));
    assert!(output.contains("still here") && output.contains("new refs"), "{output}");
    assert_eq!(world.json(&["--session", "mine", "tabs"])["result"]["tabs"][0]["tab"], users.as_str());
    // A client that disconnects while no daemon runs starts none.
    kill_daemon(&world);
    client.close();
    assert!(client.process.wait().expect("it ends").success());
    assert!(UnixStream::connect(world.socket()).is_err(), "no daemon was started for a client that left");
    world.json(&["--session", "mine", "tabs"]);
}

/// Responds to every request as a far newer daemon, until it is dropped.
struct NewerDaemon {
    path: std::path::PathBuf,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl NewerDaemon {
    fn listen(path: &Path) -> Self {
        // The killed daemon has left its socket.
        let _ = fs::remove_file(path);
        let listener = UnixListener::bind(path).expect("a socket");
        let thread = std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let mut request = [0_u8; 4096];
                let count = stream.read(&mut request).unwrap_or_default();
                if request[..count].starts_with(b"END") {
                    break;
                }
                let failure = json!({"error": {
                    "code": "VERSION_MISMATCH",
                    "message": "The daemon is version 99.0.0, the caller 0.1.0.",
                    "hint": "A newer daemon runs. Use the newer tabwire, or run `tabwire daemon stop` first.",
                }})
                .to_string();
                let head = "HTTP/1.1 426 Upgrade Required\r\nContent-Type: application/json\r\n";
                let response =
                    format!("{head}Content-Length: {}\r\nConnection: close\r\n\r\n{failure}", failure.len());
                let _ = stream.write_all(response.as_bytes());
            }
        });
        Self { path: path.to_owned(), thread: Some(thread) }
    }
}

impl Drop for NewerDaemon {
    fn drop(&mut self) {
        let sent = UnixStream::connect(&self.path).and_then(|mut stream| stream.write_all(b"END"));
        if let (Ok(()), Some(thread)) = (sent, self.thread.take()) {
            let _ = thread.join();
        }
        let _ = fs::remove_file(&self.path);
    }
}

#[test]
fn f40_an_mcp_process_of_another_version_works_or_gets_a_remedy() {
    let world = World::new();
    let mut client = McpClient::start(&world, &[]);
    // The supported range: an older process of the same minor version is served; other versions get an error.
    let greet = |version: &str| {
        world.http(&format!(
            "GET /v1/mcp HTTP/1.1\r\nHost: tabwire.local\r\nx-tabwire-version: {version}\r\nConnection: Upgrade\r\n\
             Upgrade: tabwire-mcp\r\n\r\nno opening\n"
        ))
    };
    let version = world.find_status().expect("a daemon runs")["version"].as_str().expect("one").to_owned();
    let (status, line) = greet(&format!("{version}-before"));
    assert!(status.contains(" 101 ") && line.contains("BAD_ARGS"), "served: {status} {line}");
    // Refused before the upgrade, so we close the connection.
    let refused = |version: &str| {
        let close = format!(
            "GET /v1/mcp HTTP/1.1\r\nHost: tabwire.local\r\nx-tabwire-version: {version}\r\nConnection: close\r\n\r\n"
        );
        world.http(&close)
    };
    for (version, code) in [("0.0.9", "VERSION_MISMATCH"), ("99.0.0", "DAEMON_OLDER")] {
        let (status, body) = refused(version);
        assert!(status.contains(" 426 ") && body.contains(code), "{version}: {status} {body}");
    }

    // A daemon outside the supported range has taken over: each call gets a remedy, and the client stays.
    kill_daemon(&world);
    let newer = NewerDaemon::listen(&world.socket());
    for _ in 0..2 {
        let output = client.failure("status", json!({}));
        assert!(
            output.starts_with("VERSION_MISMATCH: ") && output.contains("\nnext: A newer daemon"),
            "{output}"
        );
    }
    let list = client.ask("tools/list", json!({}));
    assert_eq!(list["error"]["data"]["code"], "VERSION_MISMATCH", "{list}");
    drop(newer);
    assert!(client.text("status", json!({})).contains("No browser is running"), "its own daemon again");
    // A process that starts now gets the error at once.
    kill_daemon(&world);
    let newer = NewerDaemon::listen(&world.socket());
    let refused = world.run(&["mcp"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.stdout.is_empty() && refused.stderr.contains("newer tabwire"), "{refused:?}");
    drop(newer);
    assert!(client.text("status", json!({})).contains("No browser is running"));
    client.close();
    assert!(client.process.wait().expect("it ends").success());
}

#[test]
fn f40_the_program_is_replaced_under_a_client_that_stays() {
    let world = World::new();
    let program = world.home().join("tabwire");
    let install = || fs::hard_link(TABWIRE, &program).or_else(|_| fs::copy(TABWIRE, &program).map(drop));
    install().expect("a program");
    let mut client = McpClient::start_by(world.command(&program, &["mcp"]));
    let pid = i32::try_from(client.process.id()).expect("a process");
    let running = || fs::read_link(format!("/proc/{pid}/exe")).expect("it runs").display().to_string();
    fs::remove_file(&program).expect("replaced");
    install().expect("a new program");
    assert!(running().ends_with("(deleted)"), "{}", running());
    kill_daemon(&world);
    assert!(client.text("status", json!({})).contains("No browser is running"));
    assert_eq!(running(), program.display().to_string(), "the new program serves the client");
}

#[test]
fn f26_a_server_ends_with_its_parent_though_stdin_stays_open() {
    let (world, site) = (World::new(), FixtureSite::start());
    let start = |arguments: &str| -> Command {
        world.command("sh", &["-c", &format!("\"$0\" mcp {arguments}; true"), TABWIRE])
    };
    let is_server = |process: &crate::support::process::Process| process.command.ends_with("tabwire relay");
    let servers = || world.processes().iter().filter(|process| is_server(process)).count();
    // The test holds its stdin open, as a wrapper does whose client has died.
    let mut client = McpClient::start_by(start("--policy open"));
    client.text("navigate", json!({"url": site.page("/plain")}));
    assert!(!world.browser_processes().is_empty() && servers() == 1);
    client.begin(
        "tools/call",
        json!({"name": "wait_for", "arguments": {"time": 60_000, "timeout_ms": 90_000}}),
    );
    kill(i32::try_from(client.process.id()).expect("a process"));
    eventually("the server ends", 3, || servers() == 0);
    eventually("its browser ends", 3, || world.browser_processes().is_empty());
    client.process.wait().expect("it was killed");

    // So does a server without a daemon that waits for its client's next message.
    let mut client = McpClient::start_by(start(""));
    kill_daemon(&world);
    kill(i32::try_from(client.process.id()).expect("a process"));
    eventually("the server ends", 3, || servers() == 0);
    client.process.wait().expect("it was killed");
    // The next daemon sweeps what a killed one leaves.
    world.run(&["daemon", "start"]).succeeded();
}

#[test]
fn f42_an_unread_log_blocks_no_work_and_counts_lost_lines() {
    let world = World::new().with("TABWIRE_LOG", "trace");
    // A pipe of one page without a reader.
    let (mut log, writer) = std::io::pipe().expect("a pipe");
    rustix::pipe::fcntl_setpipe_size(&log, 4096).expect("a small pipe");
    let mut command = world.command(TABWIRE, &["daemon", "run"]);
    let mut daemon = command.stderr(writer).spawn().expect("the daemon starts");
    // The command holds the last copy of the write end.
    drop(command);
    eventually("the daemon listens", 10, || UnixStream::connect(world.socket()).is_ok());
    let mut client = McpClient::start(&world, &["--policy", "open"]);
    let lost = find_eventually(30, || {
        client.text("eval", json!({"expression": "1 + 1"}));
        world.find_status()?["lost_log_lines"].as_u64().filter(|lost| *lost > 0)
    });
    assert!(lost.is_some(), "trace fills a page at some time");
    assert!(client.text("eval", json!({"expression": "6 * 7"})).contains("42"), "work continues");
    assert!(world.run(&["status"]).succeeded().stdout.contains("lines of its log were lost"));
    // A reader that returns sees how many lines are missing.
    let reading = std::thread::spawn(move || {
        let mut text = String::new();
        log.read_to_string(&mut text).expect("text");
        text
    });
    client.text("eval", json!({"expression": "7 * 7"}));
    client.close();
    client.process.wait().expect("it ends");
    world.run(&["daemon", "stop"]).succeeded();
    assert!(daemon.wait().expect("it ends").success());
    let text = reading.join().expect("read");
    assert!(text.contains("log lines were dropped here"), "{text}");
}
