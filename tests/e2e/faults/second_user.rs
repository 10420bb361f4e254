//! A second user of the machine reaches neither sockets nor files of the daemon and the keepers.
//!
//! Switching users needs root. Without root the test only checks file modes, and prints that.

use std::fs::{self, OpenOptions, Permissions};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rustix::process::Uid;
use tabwire_extension::package::extension_origin;

use crate::own_browser::driving::daemon_port;
use crate::support::cdp_client::CdpClient;
use crate::support::wait::eventually;
use crate::support::world::World;

/// The id of another user.
const OTHER: u32 = 65_534;

const TIMEOUT: Duration = Duration::from_secs(10);

/// Prints what could not be checked.
fn say(what: &str) {
    let _ = writeln!(std::io::stderr(), "{what}");
}

/// Runs code as another user: on Linux, a thread can have its own user id.
fn as_other<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let other = thread::spawn(|| {
        rustix::thread::set_thread_uid(Uid::from_raw(OTHER)).expect("root can change its user id");
        work()
    });
    other.join().expect("done")
}

/// Every path below Tabwire's directories.
fn everything(world: &World) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        ["runtime", "state", "data", "config"].iter().map(|name| world.home().join(name)).collect();
    found.retain(|path| path.exists());
    let mut at = 0;
    while let Some(path) = found.get(at).cloned() {
        at += 1;
        if fs::symlink_metadata(&path).is_ok_and(|facts| facts.is_dir()) {
            found.extend(fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()));
        }
    }
    found
}

/// The paths that another user can read, list, write or connect to.
fn reached(paths: Vec<PathBuf>) -> Vec<PathBuf> {
    let is_reached = |path: &PathBuf| {
        fs::File::open(path).is_ok()
            || fs::read_dir(path).is_ok()
            || OpenOptions::new().append(true).open(path).is_ok()
            || OpenOptions::new().write(true).create_new(true).open(path.join("planted")).is_ok()
            || UnixStream::connect(path).is_ok()
    };
    paths.into_iter().filter(is_reached).collect()
}

fn sockets(paths: &[PathBuf]) -> Vec<PathBuf> {
    let is_socket =
        |path: &&PathBuf| fs::symlink_metadata(path).is_ok_and(|facts| facts.file_type().is_socket());
    paths.iter().filter(is_socket).cloned().collect()
}

/// A world with a browser, a pairing key and grants.
fn world_with_secrets() -> World {
    let world = World::new();
    world.open(&["about:blank"]);
    let profile = format!("{}/profile/", world.home().display());
    world.json(&["extension", "install", "--browser", &profile, "--wait", "0s"]);
    world.run(&["allow", "https://a.test", "--without-terminal"]).succeeded();
    world
}

#[test]
fn a_second_user_reaches_no_socket_no_file_and_no_secret() {
    let world = world_with_secrets();
    let paths = everything(&world);
    let sockets = sockets(&paths);
    assert!(sockets.len() >= 2, "the daemon's and a keeper's: {sockets:?}");
    check_modes(&paths, &sockets);
    if !rustix::process::geteuid().is_root() {
        say("not root: cannot act as another user, so only file modes were checked");
        return;
    }
    // Tabwire's own directories must protect their content; parent directories stay open here.
    fs::set_permissions(world.home(), Permissions::from_mode(0o755)).expect("ours");
    let all = paths.clone();
    assert_eq!(as_other(move || reached(all)), Vec::<PathBuf>::new());
    check_open_modes(&world, sockets);
    check_port(&world);
    check_program(&world);
    assert_eq!(world.eval("1 + 1"), "2", "the user's own work goes on");
    world.run(&["close"]).succeeded();
}

/// Checks that directories, sockets and secrets are accessible to their owner only.
fn check_modes(paths: &[PathBuf], sockets: &[PathBuf]) {
    let is_top =
        |path: &&PathBuf| ["runtime", "state", "data", "config"].iter().any(|name| path.ends_with(name));
    let secrets =
        paths.iter().filter(|path| path.ends_with("handshake.json") || path.ends_with("extension-key"));
    for path in paths.iter().filter(is_top).chain(sockets).chain(secrets) {
        let facts = fs::symlink_metadata(path).expect("there");
        assert_eq!(facts.mode() & 0o077, 0, "{}: {:o}", path.display(), facts.mode());
        assert_eq!(facts.uid(), rustix::process::geteuid().as_raw(), "{}", path.display());
    }
}

/// Opens all file modes: the sockets still check the peer's user id.
fn check_open_modes(world: &World, sockets: Vec<PathBuf>) {
    let folders: Vec<PathBuf> = sockets.iter().filter_map(|path| path.parent().map(Path::to_owned)).collect();
    let set = |path: &PathBuf, mode| fs::set_permissions(path, Permissions::from_mode(mode)).expect("ours");
    set(&world.runtime(), 0o755);
    folders.iter().for_each(|path| set(path, 0o755));
    sockets.iter().for_each(|path| set(path, 0o666));
    let all = sockets.clone();
    let responses = as_other(move || all.iter().map(|path| speak(path)).collect::<Vec<_>>());
    assert!(responses.iter().all(Vec::is_empty), "{responses:?}");
    sockets.iter().for_each(|path| set(path, 0o600));
    folders.iter().for_each(|path| set(path, 0o700));
    set(&world.runtime(), 0o700);
}

/// Sends valid requests of daemon and keeper to a socket; returns the response.
fn speak(path: &Path) -> Vec<u8> {
    let mut stream = UnixStream::connect(path).expect("the files let it in");
    stream.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
    let _ = stream.write_all(b"{\"hello\":{}}\n{\"claim\":{\"holder\":\"x\"}}\nGET /v1/status HTTP/1.1\r\nhost: tabwire.local\r\n\r\n");
    let mut received = Vec::new();
    let _ = stream.read_to_end(&mut received);
    received
}

/// The port gives another user nothing without a secret, and `/proc` shows nothing of the daemon.
fn check_port(world: &World) {
    let port = daemon_port(world);
    let pid = world.find_status().expect("a daemon")["pid"].as_u64().expect("a process");
    let responses = as_other(move || {
        let ask = |path: &str| {
            let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("the port is open");
            stream.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
            let request = format!("GET {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\n\r\n");
            stream.write_all(request.as_bytes()).expect("taken");
            let mut received = String::new();
            let _ = stream.read_to_string(&mut received);
            received
        };
        ["/v1/status", "/json/version", "/mcp", "/v1/mcp", "/cdp"].map(ask)
    });
    for response in responses {
        assert!(response.starts_with("HTTP/1.1 401"), "{response}");
    }
    let read = as_other(move || {
        ["environ", "mem", "fd", "cwd"].map(|name| {
            let path = format!("/proc/{pid}/{name}");
            fs::File::open(&path).is_ok_and(|mut file| file.read(&mut [0; 16]).is_ok_and(|length| length > 0))
                || fs::read_dir(path).is_ok()
        })
    });
    assert_eq!(read, [false; 4], "environment, memory, descriptors, directory");
    // It can claim to be the extension, but does not have the key.
    as_other(move || {
        let address = format!("ws://127.0.0.1:{port}/extension");
        let mut line = CdpClient::connect_as(&address, Some(&extension_origin()));
        let browser = serde_json::json!({"product": "x", "name": "x", "agent": "x"});
        let (install, nonce) = ("a".repeat(32), "5".repeat(64));
        line.say(&serde_json::json!({"hello":
            {"protocol": 1, "version": "0", "install": install, "nonce": nonce, "browser": browser}}));
        let deadline = std::time::Instant::now() + TIMEOUT;
        let challenge = line.read_message(deadline).expect("open").expect("a challenge");
        line.say(&serde_json::json!({"proof": challenge["challenge"]["proof"]}));
        assert!(line.read_message(deadline).is_err(), "the daemon's proof is no valid client proof");
    });
}

/// The program, run by another user on these directories, prints nothing and changes nothing.
fn check_program(world: &World) {
    let key = fs::read_to_string(world.home().join("state/extension-key")).expect("a key");
    for arguments in [&["status"][..], &["extension", "status", "--key"], &["eval", "1"], &["native-host"]] {
        let mut command = world.command(env!("CARGO_BIN_EXE_tabwire"), arguments);
        let run = command.uid(OTHER).gid(OTHER).output();
        let Ok(run) = run else {
            say("the program cannot be run by another user here, so it was not");
            return;
        };
        let said =
            format!("{}{}", String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
        assert!(!said.contains(key.trim()), "{arguments:?}: {said}");
        assert!(!run.status.success() || arguments != ["eval", "1"], "{arguments:?}: {said}");
    }
    eventually("the same daemon is there", 5, || world.find_status().is_some());
}
