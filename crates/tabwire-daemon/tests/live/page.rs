//! Pages in a real Chromium that attack the daemon's port, and secrets in the browser's processes.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use serde_json::{Value, json};

use crate::live::support::live_daemon::LiveDaemon;
use crate::live::support::process_facts::{all_processes, internet_listeners, peak_memory, proc_file, tree};
use crate::live::support::raw_websocket::RawWebsocket;

/// The URL and the secret for CDP clients of a session.
fn address(daemon: &LiveDaemon, options: &Value) -> (String, String) {
    let reply = daemon.request_as_user("POST", "/v1/cdp-url", &json!({"options": options}));
    assert_eq!(reply.status, 200, "{}", reply.body);
    let response = reply.json();
    let websocket = response["websocket"].as_str().expect("a URL").to_owned();
    let path = websocket.split_once("://").and_then(|(_, rest)| rest.split_once('/')).expect("a path").1;
    let secret = path.split('/').next().expect("a secret").to_owned();
    (websocket, secret)
}

/// A server that delivers one page and then forwards to the daemon, as DNS rebinding does.
fn rebinding_server(daemon_port: u16) -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let own = listener.local_addr().expect("bound").port();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream.try_clone().expect("a handle"));
            let mut head = String::new();
            while reader.read_line(&mut head).is_ok_and(|length| length > 2) {}
            if head.starts_with("GET /lure ") {
                let page = "<title>lure</title>";
                let length = page.len();
                let _ = write!(
                    stream,
                    "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{page}"
                );
                continue;
            }
            let Ok(mut daemon) = TcpStream::connect(("127.0.0.1", daemon_port)) else { return };
            thread::spawn(move || {
                let _ = daemon.write_all(head.replace("keep-alive", "close").as_bytes());
                let _ = std::io::copy(&mut daemon, &mut stream);
                let _ = stream.shutdown(std::net::Shutdown::Both);
            });
        }
    });
    own
}

#[test]
fn t01_t04_pages_reach_nothing_by_rebinding_or_by_websocket() {
    let daemon = LiveDaemon::start();
    let port = daemon.port;
    let lure = rebinding_server(port);
    // The page has the daemon's port in its origin, so the rebound host is its own origin.
    let rule = format!("--host-resolver-rules=MAP rebind.test:{port} 127.0.0.1:{lure}");
    let options = json!({"browser_arguments": [rule], "allow_dangerous_arguments": true});
    let (websocket, secret) = address(&daemon, &options);
    daemon.act("open", &json!({"params": {"url": format!("http://rebind.test:{port}/lure")}}));
    let evaluate = |expression: &str| {
        daemon.act("eval", &json!({"params": {"expression": expression}}))["value"].clone()
    };
    assert_eq!(evaluate("document.title"), "lure");

    let status = |path: &str, headers: &str| {
        evaluate(&format!("fetch('{path}', {{headers: {headers}}}).then(response => response.status)"))
    };
    let bearer = format!("{{authorization: 'Bearer {}'}}", daemon.token);
    assert_eq!(status("/v1/status", "{}"), 403);
    assert_eq!(status("/v1/status", &bearer), 403, "not even with the token");
    assert_eq!(status(&format!("/{secret}/json/version"), "{}"), 403, "nor with a session's secret");
    assert_eq!(status("/demo", "{}"), 403);

    let connects = |address: &str| {
        evaluate(&format!(
            "new Promise(done => {{ const socket = new WebSocket('{address}');
               socket.onopen = () => done('open'); socket.onerror = () => done('refused'); }})"
        ))
    };
    assert_eq!(connects(&format!("ws://127.0.0.1:{port}/cdp")), "refused");
    assert_eq!(connects(&websocket), "refused", "a page is refused with the right secret too");
    assert_eq!(connects(&websocket.replace("127.0.0.1", "localhost")), "refused");
    assert_eq!(connects(&websocket.replace("127.0.0.1", "rebind.test")), "refused");
    let mut client = RawWebsocket::open(daemon.connect(), port, &format!("/{secret}/cdp"));
    client.say(r#"{"id":1,"method":"Browser.getVersion"}"#);
    assert!(
        client.wait_for_response(1)["result"]["product"].is_string(),
        "a client that is not a page is admitted"
    );
}

#[test]
fn t11_t37_no_secret_in_command_lines_and_no_browser_port() {
    let daemon = LiveDaemon::start();
    let (_, secret) = address(&daemon, &json!({}));
    daemon.act("open", &json!({}));
    let status = daemon.request_as_user("GET", "/v1/status", &Value::Null).json();
    let pid_of = |name: &str| {
        status["sessions"][0][name].as_u64().and_then(|pid| u32::try_from(pid).ok()).expect("a pid")
    };
    let ours = [daemon.pid(), pid_of("keeper_pid"), pid_of("browser_pid")];
    let holds = |content: &[u8], text: &str| content.windows(text.len()).any(|part| part == text.as_bytes());
    for pid in all_processes() {
        for file in ["cmdline", "environ"] {
            let content = proc_file(pid, file);
            assert!(!holds(&content, &daemon.token) && !holds(&content, &secret), "{file} of {pid}");
        }
    }
    for pid in ours {
        assert!(!proc_file(pid, "cmdline").is_empty(), "{pid} is readable");
    }
    let family = tree(pid_of("keeper_pid"));
    assert!(family.len() > 3, "a browser has many processes: {family:?}");
    for pid in family {
        let listening: Vec<String> =
            internet_listeners(pid).into_iter().filter(|it| it.starts_with("tcp")).collect();
        assert_eq!(listening, [""; 0], "process {pid}");
    }
    let log = std::fs::read_to_string(daemon.paths.log()).unwrap_or_default();
    assert!(!log.contains(&daemon.token) && !log.contains(&secret));
}

#[test]
fn t10_a_query_cannot_select_another_session() {
    let daemon = LiveDaemon::start();
    let (_, secret) = address(&daemon, &json!({}));
    let reply = daemon.request(&format!("GET /{secret}/json/version?session=other"), &[], "");
    assert_eq!(reply.status, 200);
    let socket = reply.json()["webSocketDebuggerUrl"].as_str().expect("a URL").to_owned();
    assert!(socket.contains(&secret));
    let sessions = daemon.request_as_user("GET", "/v1/status", &Value::Null).json()["sessions"].clone();
    assert_eq!(sessions.as_array().map(Vec::len), Some(1), "no other session was made");
}

#[test]
fn f15_f16_t41_huge_messages_affect_only_their_sender() {
    let daemon = LiveDaemon::start();
    let (_, secret) = address(&daemon, &json!({}));
    let open = || RawWebsocket::open(daemon.connect(), daemon.port, &format!("/{secret}/cdp"));
    let mut bystander = open();
    let before = peak_memory(daemon.pid());

    let mut giant = open();
    giant.announce(0x81, 100 * 1024 * 1024);
    assert_eq!(giant.wait_for_close(), Some(1009), "refused when its length is read");
    let mut endless = open();
    endless.announce(0x81, u64::MAX >> 1);
    assert_eq!(endless.wait_for_close(), Some(1009));
    assert!(peak_memory(daemon.pid()) < before + 16 * 1024 * 1024, "no memory was allocated for them");

    let mut deep = open();
    let nested = format!(
        r#"{{"id":1,"method":"Runtime.evaluate","params":{}1{}}}"#,
        "[".repeat(10_000),
        "]".repeat(10_000)
    );
    deep.say(&nested);
    deep.say(r#"{"id":2,"method":"Browser.getVersion","params":{"x":"\ud800"}}"#);
    deep.say(r#"{"id":3,"method":"Browser.getVersion"}"#);
    assert!(deep.wait_for_response(3)["result"]["product"].is_string(), "the client is still served");
    let mut no_text = open();
    no_text.send(0x81, b"{\"id\":1,\"method\":\"\xff\xfe\"}");
    assert_eq!(no_text.wait_for_close(), Some(1007));
    let mut no_frame = open();
    no_frame.send(0xf3, b"x");
    assert_eq!(no_frame.wait_for_close(), Some(1002));

    bystander.say(r#"{"id":9,"method":"Browser.getVersion"}"#);
    assert!(bystander.wait_for_response(9)["result"]["product"].is_string());
    daemon.expect_alive();
}
