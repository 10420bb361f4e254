//! Starting with a taken port, beside another daemon, and after a crash.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use serde_json::json;
use tabwire_daemon::Paths;

use crate::live::support::live_daemon::{LiveDaemon, first_line, new_home, spawn, start_process};

#[test]
fn f37_if_the_port_is_taken_the_handshake_names_another() {
    let other_server = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let taken = other_server.local_addr().expect("bound").port();
    let daemon = LiveDaemon::start_in(new_home(), taken);
    assert_ne!(daemon.port, taken);
    daemon.expect_alive();
    let status = daemon.request("GET /v1/status", &[&daemon.bearer()], "").json();
    assert_eq!(status["port"], daemon.port);
    other_server.set_nonblocking(true).expect("a mode");
    assert!(other_server.accept().is_err(), "the other server got no connection");
}

#[test]
fn b4_a_port_taken_instead_of_another_is_kept_by_the_next_daemon() {
    let other_server = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let taken = other_server.local_addr().expect("bound").port();
    let home = new_home();
    let file = Paths::below(home.path()).last_port();
    let first = LiveDaemon::start_in(home, taken);
    let remembered = fs::read_to_string(file).expect("it is remembered");
    assert_eq!(remembered, format!("{taken} {}\n", first.port));
    drop(first);
    drop(other_server);
    // A home in which another daemon has remembered a free port.
    let probe = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let free = probe.local_addr().expect("bound").port();
    drop(probe);
    let home = new_home();
    let paths = Paths::below(home.path());
    tabwire_browser::PrivateDir::create(&paths.state).expect("a directory");
    fs::write(paths.last_port(), format!("{taken} {free}\n")).expect("written");
    assert_eq!(LiveDaemon::start_in(home, taken).port, free, "URLs with that port stay valid");
}

#[test]
fn f37_a_free_port_is_used_as_requested() {
    let probe = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let wanted = probe.local_addr().expect("bound").port();
    drop(probe);
    assert_eq!(LiveDaemon::start_in(new_home(), wanted).port, wanted);
}

#[test]
fn f38_of_two_concurrent_daemons_one_serves() {
    for _ in 0..3 {
        let home = new_home();
        let mut children = [spawn(home.path(), 0), spawn(home.path(), 0)];
        let lines = children.each_mut().map(first_line);
        let [first, second] = children;
        let (winner, line, mut loser, other) = if lines[0] == json!({"ready": true}) {
            (first, &lines[0], second, &lines[1])
        } else {
            (second, &lines[1], first, &lines[0])
        };
        assert_eq!(other, &json!({"running": true}));
        assert!(!loser.wait().expect("it ends").success());
        LiveDaemon::new(winner, line, home).expect_alive();
    }
}

#[test]
fn f39_a_socket_left_by_a_crash_is_replaced() {
    let daemon = LiveDaemon::start();
    let (first_token, socket) = (daemon.token.clone(), daemon.paths.socket());
    let home = daemon.crash();
    assert!(socket.exists(), "a crash removes nothing");
    let daemon = LiveDaemon::start_in(home, 0);
    daemon.expect_alive();
    assert_ne!(daemon.token, first_token, "each run has its own token");
    let old = format!("authorization: Bearer {first_token}");
    assert_eq!(daemon.request("GET /v1/status", &[&old], "").status, 401);
}

#[test]
fn f39_a_foreign_socket_is_replaced_and_other_files_are_errors() {
    let home = new_home();
    let paths = Paths::below(home.path());
    fs::create_dir(&paths.runtime).expect("made");
    drop(UnixListener::bind(paths.socket()).expect("bound"));
    LiveDaemon::start_in(home, 0).expect_alive();

    let obstacles: [fn(&std::path::Path); 3] = [
        |path| fs::write(path, "notes").expect("made"),
        |path| fs::create_dir(path).expect("made"),
        |path| symlink("/tmp/somewhere.sock", path).expect("linked"),
    ];
    for obstacle in obstacles {
        let home = new_home();
        let paths = Paths::below(home.path());
        fs::create_dir(&paths.runtime).expect("made");
        obstacle(&paths.socket());
        let (mut child, line) = start_process(home.path(), 0);
        assert!(!child.wait().expect("it ends").success());
        let message = line["failed"]["message"].as_str().unwrap_or_default();
        assert!(message.contains("daemon.sock") && message.contains("not a socket"), "{line}");
        assert!(line["failed"]["hint"].is_string());
        assert!(fs::symlink_metadata(paths.socket()).is_ok(), "it was left where it is");
        assert!(!paths.handshake().exists());
    }
}
