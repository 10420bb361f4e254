//! Slow peers, on a paused clock: the daemon runs in the test's own runtime.

use std::future::Future;
use std::time::Duration;

use tabwire_daemon::limits::{BODY_DEADLINE, HANDSHAKE_DEADLINE, HEAD_DEADLINE};
use tabwire_daemon::{Daemon, DaemonConfig, Handshake, Paths};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::live::support::live_daemon::{PROGRAM, new_home};
use crate::live::support::raw_websocket::UPGRADE;

/// Runs a client against a daemon, on the same paused clock.
async fn with_daemon<F: Future<Output = ()>>(client: impl FnOnce(Handshake) -> F) {
    let home = new_home();
    let paths = Paths::below(home.path());
    let config = DaemonConfig {
        paths: paths.clone(),
        port: 0,
        self_exe: PROGRAM.into(),
        keep_arguments: vec!["keep".to_owned()],
        script_arguments: vec!["script-child".to_owned()],
        browser: None,
        path_env: None,
        config_home: None,
        home: None,
        linger: None,
        skills: Vec::new(),
        chat_history: false,
        agent_programs: Vec::new(),
        audit_log: true,
        lock_timeout: Duration::ZERO,
        idle_exit: Duration::from_secs(3600),
        mcp_extras: None,
    };
    let ready = Notify::new();
    let visit = async {
        ready.notified().await;
        client(Handshake::find(&paths.handshake()).expect("a handshake file")).await;
    };
    tokio::select! {
        ended = Daemon::run(config, || ready.notify_one()) => panic!("the daemon ended: {ended:?}"),
        () = visit => {}
    }
}

async fn connect(handshake: &Handshake) -> TcpStream {
    TcpStream::connect(("127.0.0.1", handshake.port)).await.expect("the port is open")
}

/// Reads until the daemon closes; returns the data and the time it took.
async fn wait_for_close(stream: &mut TcpStream, since: Instant) -> (String, Duration) {
    let mut received = Vec::new();
    let _ = stream.read_to_end(&mut received).await;
    (String::from_utf8_lossy(&received).into_owned(), since.elapsed())
}

fn is_about(elapsed: Duration, deadline: Duration) -> bool {
    elapsed + Duration::from_millis(50) >= deadline && elapsed <= deadline + Duration::from_secs(2)
}

#[tokio::test(start_paused = true)]
async fn t41_a_head_that_never_ends_is_cut_off_at_the_deadline() {
    with_daemon(|handshake| async move {
        for beginning in ["", "G", "GET /v1/status HTTP/1.1\r\nhost: 127.0.0.1\r\n"] {
            let mut stream = connect(&handshake).await;
            let since = Instant::now();
            stream.write_all(beginning.as_bytes()).await.expect("taken");
            let (_, elapsed) = wait_for_close(&mut stream, since).await;
            assert!(is_about(elapsed, HEAD_DEADLINE), "{beginning:?} stayed open for {elapsed:?}");
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn t41_a_head_that_drips_is_cut_off_at_the_same_deadline() {
    with_daemon(|handshake| async move {
        let (mut reader, mut writer) = connect(&handshake).await.into_split();
        let since = Instant::now();
        let drip = async {
            writer.write_all(b"GET /v1/status HTTP/1.1\r\n").await.expect("taken");
            // Ends with an error when the daemon has closed.
            while writer.write_all(b"x: y\r\n").await.is_ok() {
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
        };
        let close = async {
            let mut received = Vec::new();
            let _ = reader.read_to_end(&mut received).await;
            since.elapsed()
        };
        let ((), elapsed) = tokio::join!(drip, close);
        assert!(is_about(elapsed, HEAD_DEADLINE), "it stayed open for {elapsed:?}");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn t41_an_endless_body_gets_408_at_the_deadline() {
    with_daemon(|handshake| async move {
        let token = handshake.expose_token().expect("a token");
        let mut stream = connect(&handshake).await;
        let head = format!(
            "POST /v1/actions/open HTTP/1.1\r\nhost: 127.0.0.1:{}\r\nauthorization: Bearer {}\r\n\
             content-type: application/json\r\ncontent-length: 100\r\nconnection: close\r\n\r\n{{",
            handshake.port,
            token.expose()
        );
        let since = Instant::now();
        stream.write_all(head.as_bytes()).await.expect("taken");
        let (received, elapsed) = wait_for_close(&mut stream, since).await;
        assert!(received.starts_with("HTTP/1.1 408 ") && received.contains("\"TIMEOUT\""), "{received}");
        assert!(is_about(elapsed, BODY_DEADLINE), "it stayed open for {elapsed:?}");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn m4_an_unauthenticated_extension_is_closed_at_the_deadline() {
    with_daemon(|handshake| async move {
        let head = format!(
            "GET /extension HTTP/1.1\r\nhost: 127.0.0.1:{}\r\norigin: {}\r\n{}\r\n\r\n",
            handshake.port,
            tabwire_extension::package::extension_origin(),
            UPGRADE.join("\r\n")
        );
        // Nothing at all, or a message that never ends.
        for more in [&b""[..], b"\x81\xfe\x10\x00\0\0\0\0{"] {
            let mut stream = connect(&handshake).await;
            let since = Instant::now();
            stream.write_all(head.as_bytes()).await.expect("taken");
            stream.write_all(more).await.expect("taken");
            let (received, elapsed) = wait_for_close(&mut stream, since).await;
            assert!(received.starts_with("HTTP/1.1 101 "), "{received}");
            assert!(is_about(elapsed, HANDSHAKE_DEADLINE), "it stayed open for {elapsed:?}");
        }
    })
    .await;
}
