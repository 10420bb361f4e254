//! Connections of another user, and directories that another user has prepared.

use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::os::unix::net::UnixStream;
use std::thread;

use rustix::thread::set_thread_uid;
use tabwire_daemon::Paths;

use crate::live::support::live_daemon::{LiveDaemon, TIMEOUT, new_home, start_process};

/// The user id of another user.
const OTHER_USER: u32 = 65_534;

/// Runs a closure as another user. On Linux a single thread can change its user id.
fn as_other_user<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let other = thread::spawn(|| {
        set_thread_uid(rustix::process::Uid::from_raw(OTHER_USER)).expect("the tests run as root");
        work()
    });
    other.join().expect("done")
}

#[test]
fn t34_connections_of_other_users_are_refused() {
    let daemon = LiveDaemon::start();
    let socket = daemon.paths.socket();
    let theirs = socket.clone();
    let blocked = as_other_user(move || UnixStream::connect(theirs).map(drop));
    assert!(blocked.is_err(), "the directory is closed");
    for (path, mode) in [(daemon.home.path(), 0o755), (&daemon.paths.runtime, 0o755), (&socket, 0o777)] {
        fs::set_permissions(path, Permissions::from_mode(mode)).expect("ours");
    }
    let theirs = socket.clone();
    let received = as_other_user(move || {
        let mut stream = UnixStream::connect(theirs).expect("the modes allow it");
        stream.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
        let _ = stream.write_all(b"GET /v1/status HTTP/1.1\r\nhost: tabwire.local\r\n\r\n");
        let mut received = Vec::new();
        let _ = stream.read_to_end(&mut received);
        received
    });
    assert_eq!(received, b"", "the response is empty");
    daemon.expect_alive();
}

#[test]
fn t33_secrets_are_written_for_the_owner_only() {
    let daemon = LiveDaemon::start();
    let mode = |path: &std::path::Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
    assert_eq!((mode(&daemon.paths.runtime), mode(&daemon.paths.state)), (0o700, 0o700));
    let files = [daemon.paths.socket(), daemon.paths.handshake(), daemon.paths.lock()];
    assert_eq!(files.map(|file| mode(&file)), [0o600; 3]);
}

#[test]
fn t33_an_unsafe_directory_fails_the_start_and_is_named() {
    type Prepare = fn(&std::path::Path);
    let prepared: [(&str, Prepare); 4] = [
        ("link", |path| {
            let elsewhere = path.with_extension("elsewhere");
            fs::create_dir(&elsewhere).expect("made");
            symlink(elsewhere, path).expect("linked");
        }),
        ("other owner", |path| {
            fs::create_dir(path).expect("made");
            chown(path, Some(OTHER_USER), None).expect("the tests run as root");
        }),
        ("world-writable", |path| {
            fs::create_dir(path).expect("made");
            fs::set_permissions(path, Permissions::from_mode(0o777)).expect("ours");
        }),
        ("file", |path| fs::write(path, "").expect("made")),
    ];
    for (what, prepare) in prepared {
        for chosen in [|paths: &Paths| paths.runtime.clone(), |paths: &Paths| paths.state.clone()] {
            let home = new_home();
            let path = chosen(&Paths::below(home.path()));
            prepare(&path);
            let (mut child, line) = start_process(home.path(), 0);
            assert!(!child.wait().expect("it ends").success(), "{what}");
            let failure = &line["failed"];
            assert!(
                failure["message"].as_str().is_some_and(|text| text.contains(path.to_str().expect("text"))),
                "{line}"
            );
            assert!(failure["hint"].is_string(), "{line}");
        }
    }
}

#[test]
fn t33_planted_links_in_place_of_our_files_are_not_followed() {
    let home = new_home();
    let paths = Paths::below(home.path());
    let victim = home.path().join("victim");
    fs::write(&victim, "precious").expect("made");
    fs::create_dir(&paths.runtime).expect("made");
    symlink(&victim, paths.handshake()).expect("linked");
    let daemon = LiveDaemon::start_in(home, 0);
    assert_eq!(fs::read_to_string(&victim).expect("there"), "precious");
    assert!(
        fs::symlink_metadata(daemon.paths.handshake()).expect("there").is_file(),
        "the link was replaced"
    );
    daemon.expect_alive();

    let home = new_home();
    let paths = Paths::below(home.path());
    fs::create_dir(&paths.runtime).expect("made");
    symlink(home.path().join("nowhere"), paths.lock()).expect("linked");
    let (mut child, line) = start_process(home.path(), 0);
    assert!(!child.wait().expect("it ends").success());
    assert!(line["failed"]["message"].as_str().is_some_and(|text| text.contains("daemon.lock")), "{line}");
}
