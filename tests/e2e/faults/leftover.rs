//! Files of killed processes: the next start finds them, removes them only when proven stale, and reports them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::{Child, Command};

use serde_json::{Value, json};

use crate::support::process::Process;
use crate::support::world::World;

/// Creates a directory of the world that only its user can enter.
pub(crate) fn private(world: &World, path: &str) -> PathBuf {
    let directory = world.home().join(path);
    fs::create_dir_all(&directory).expect("a directory");
    for each in directory.ancestors().take_while(|each| *each != world.home()) {
        fs::set_permissions(each, fs::Permissions::from_mode(0o700)).expect("private");
    }
    directory
}

/// Writes a descriptor of a browser that does not run.
pub(crate) fn plant_descriptor(world: &World, id: &str, keeper: &Value, browser: &Value) -> PathBuf {
    let directory = private(world, "runtime/browsers");
    let content = json!({
        "format": 1, "id": id, "instance": "planted", "keeper": keeper, "browser": browser,
        "executable": "/usr/bin/chromium", "profile": world.runtime().join("profiles").join(id),
        "temporary": true, "upstream": "pipe", "socket": directory.join(format!("{id}.sock")),
        "display": "headless", "options_digest": "0", "created_at": 1, "labels": {"session": "default"},
    });
    let file = directory.join(format!("{id}.json"));
    fs::write(&file, content.to_string()).expect("written");
    file
}

/// A process that does not exist: an unused pid with an impossible start time.
pub(crate) fn dead_process() -> Value {
    json!({"pid": 4_194_305, "start_time": 1})
}

/// Binds a socket and closes the listener, as a killed process does.
pub(crate) fn dead_socket(path: &PathBuf) {
    drop(UnixListener::bind(path).expect("bound"));
    assert!(path.exists());
}

/// An unrelated process that must survive.
struct Bystander(Child);

impl Bystander {
    fn start() -> Self {
        Self(Command::new("sleep").arg("60").spawn().expect("a process"))
    }

    fn pid(&self) -> i32 {
        i32::try_from(self.0.id()).expect("a process number")
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn f35_a_reused_process_number_is_never_signalled() {
    let world = World::new();
    let bystander = Bystander::start();
    let reused = json!({"pid": bystander.pid(), "start_time": 1});
    let file = plant_descriptor(&world, "reused", &reused, &reused);
    world.run(&["daemon", "start"]).succeeded();
    assert!(!file.exists(), "{}", world.log());
    assert!(Process::find(bystander.pid()).is_some(), "an unrelated process was ended");
}

#[test]
fn f36_f39_leftovers_without_a_responding_socket_are_removed() {
    let world = World::new();
    let file = plant_descriptor(&world, "silent", &dead_process(), &dead_process());
    dead_socket(&file.with_extension("sock"));
    let orphan = file.with_file_name("orphan.sock");
    dead_socket(&orphan);
    dead_socket(&world.socket());
    world.run(&["daemon", "start"]).succeeded();
    for path in [&file, &file.with_extension("sock"), &orphan] {
        assert!(!path.exists(), "{} is left\n{}", path.display(), world.log());
    }
}

#[test]
fn f47_the_next_start_sweeps_and_reports_in_the_log() {
    let world = World::new();
    let file = plant_descriptor(&world, "killed", &dead_process(), &dead_process());
    let profile = private(&world, "runtime/profiles/killed");
    fs::write(profile.join(".tabwire-throw-away"), json!({"owner": dead_process()}).to_string())
        .expect("a mark");
    fs::write(profile.join("Cookies"), "old").expect("a file");
    let unmarked = private(&world, "runtime/profiles/precious");
    fs::write(unmarked.join("letter"), "dear").expect("a file");
    world.run(&["daemon", "start"]).succeeded();
    assert!(!file.exists() && !profile.exists(), "{}", world.log());
    assert!(unmarked.join("letter").exists(), "a directory without a mark is not ours");
    let log = world.log();
    assert!(log.contains("removed stale files") && log.contains("killed.json"), "{log}");
    assert_eq!(world.eval("1"), "1", "and the session works");
    fs::remove_dir_all(&unmarked).expect("removed");
}

#[test]
fn damaged_files_of_ours_do_not_stop_a_start() {
    let world = World::new();
    let browsers = private(&world, "runtime/browsers");
    let sessions = private(&world, "state/sessions");
    let planted = [browsers.join("torn.json"), sessions.join("default.json")];
    for path in &planted {
        fs::write(path, "{\"format\": 1, \"id\"").expect("written");
    }
    fs::write(world.runtime().join("handshake.json"), [0xff, 0xfe]).expect("written");
    assert_eq!(world.eval("1"), "1");
    fs::remove_file(&planted[0]).expect("an unreadable file stays");
}

#[test]
fn f39_a_file_at_the_socket_path_is_reported() {
    let world = World::new();
    private(&world, "runtime");
    fs::write(world.socket(), "not a socket").expect("written");
    let outcome = world.run(&["--json", "daemon", "start"]);
    assert_eq!(outcome.code, 1, "{outcome:?}");
    assert!(outcome.stdout.contains("daemon.sock"), "{outcome:?}");
    fs::remove_file(world.socket()).expect("removed");
}
