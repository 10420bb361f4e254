//! Full disks during every kind of write (F32): data survives, the error names the remedy, and work continues with free
//! space.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::faults::leftover::private;
use crate::support::fixture_site::FixtureSite;
use crate::support::wait::eventually;
use crate::support::world::{Outcome, World};

/// A small file system mounted in a directory of a world. Unmounted on drop, before the world's own cleanup.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(world: &World, directory: &str, size: &str) -> Self {
        let place = private(world, directory);
        let options = format!("size={size},mode=0700");
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(&place).status();
        assert!(mounted.expect("mount runs").success(), "the tests run as root and may mount");
        Self(place)
    }

    /// Writes until the disk is full.
    fn fill(&self) {
        let mut ballast = fs::File::create(self.0.join("ballast")).expect("a file");
        for size in [64 * 1024, 4096, 512, 1] {
            while ballast.write_all(&vec![b'x'; size]).is_ok() {}
        }
    }

    fn make_room(&self) {
        fs::remove_file(self.0.join("ballast")).expect("the ballast");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // A lazy unmount works even while a failed test's daemon still runs.
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// Checks that a failure reports the full disk and a remedy.
#[track_caller]
fn check_disk_full_error(outcome: &Outcome) {
    let error = outcome.json()["error"].clone();
    assert_eq!(outcome.code, error_exit(&error), "{outcome:?}");
    let message = error["message"].as_str().expect("a sentence");
    assert!(message.contains("No space left"), "{outcome:?}");
    assert!(error["hint"].as_str().is_some_and(|hint| hint.contains("space")), "{outcome:?}");
}

fn error_exit(error: &Value) -> i32 {
    if error["code"] == "BAD_ARGS" { 2 } else { 1 }
}

/// Checks that no partly written file is left.
#[track_caller]
fn check_no_parts(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        assert!(!name.ends_with(".new") && !name.ends_with(".part"), "{name} in {}", directory.display());
    }
}

#[test]
fn f32_a_full_state_directory_keeps_old_data_and_the_daemon() {
    let (world, site) = (World::new().with_whole_chromium(), FixtureSite::start());
    let disk = SmallDisk::mount(&world, "state", "4m");
    world.open(&["--save-state", &site.url("a", "/storage")]);
    world.eval("localStorage.setItem('k', 'first'); 1");
    world.run(&["context", "set", "--target", "#first"]).succeeded();
    let (daemon, browser) = (world.daemon_pid(), world.pid("browser_pid"));
    let record = world.json(&["session", "status"])["result"]["record"].as_str().expect("a file").to_owned();
    let record = PathBuf::from(record);
    let state = record.with_extension("state");
    eventually("the state is saved", 15, || state.exists());
    let saved = fs::read(&state).expect("readable");
    let rows = world.run(&["log"]).succeeded().stdout.lines().count();

    disk.fill();
    // The session's record: an error, and the old record stays.
    check_disk_full_error(&world.run(&["--json", "context", "set", "--target", "#second"]));
    assert!(fs::read_to_string(&record).expect("readable").contains("#first"));
    // The audit log: actions continue, and the response has a notice.
    let acted = world.run(&["eval", "1 + 1"]).succeeded();
    assert_eq!(acted.text(), "2");
    // Images and downloads: an error.
    let shot = world.run(&["--json", "screenshot", "--output", "state/shot.png"]);
    check_disk_full_error(&shot);
    assert!(!world.home().join("state/shot.png").exists(), "no part of an image");
    let download = world.run(&["--json", "download-file", "--url", &site.url("a", "/download/report.txt")]);
    assert_eq!(download.code, 1, "{download:?}");
    assert!(download.json()["error"]["hint"].is_string(), "{download:?}");
    // Saved state stays as it was when it cannot be replaced.
    world.eval("localStorage.setItem('k', 'second'); 1");
    world.run(&["session", "stop"]).succeeded();
    assert_eq!(fs::read(&state).expect("readable"), saved);
    check_no_parts(state.parent().expect("a directory"));
    assert_eq!(world.daemon_pid(), daemon, "the daemon lives");
    assert!(!crate::support::process::is_running(browser));

    disk.make_room();
    world.open(&[&site.url("a", "/storage")]);
    assert_eq!(world.eval("localStorage.getItem('k')"), "first", "the good save came back");
    world.run(&["context", "set", "--target", "#third"]).succeeded();
    assert!(fs::read_to_string(&record).expect("readable").contains("#third"));
    world.run(&["screenshot", "--output", "state/shot.png"]).succeeded();
    world.run(&["download-file", "--url", &site.url("a", "/download/report.txt")]).succeeded();
    assert!(world.run(&["log"]).succeeded().stdout.lines().count() > rows, "the audit log is written again");
    world.settles();
    world.run(&["daemon", "stop"]).succeeded();
}

#[test]
fn f32_a_full_runtime_directory_fails_the_start_only_while_full() {
    let world = World::new();
    let disk = SmallDisk::mount(&world, "runtime", "64m");
    // No space for the daemon's handshake.
    disk.fill();
    check_disk_full_error(&world.run(&["--json", "daemon", "start"]));
    assert!(!world.runtime().join("handshake.json").exists());
    check_no_parts(&world.runtime());
    disk.make_room();
    world.run(&["daemon", "start"]).succeeded();
    let daemon = world.daemon_pid();
    // No space for the browser's descriptor.
    disk.fill();
    check_disk_full_error(&world.run(&["--json", "open", "about:blank"]));
    eventually("no browser is left", 10, || world.browser_processes().is_empty());
    check_no_parts(&world.runtime().join("browsers"));
    assert_eq!(world.daemon_pid(), daemon, "the daemon lives");
    disk.make_room();
    world.open(&["about:blank"]);
    assert_eq!(world.eval("1"), "1");
    world.settles();
    world.run(&["daemon", "stop"]).succeeded();
    eventually("all is gone", 10, || world.processes().is_empty());
    for directory in ["runtime/browsers", "runtime/profiles"] {
        assert_eq!(world.files(directory), [""; 0], "{}", world.log());
    }
}

#[test]
fn f32_a_setting_that_does_not_fit_leaves_the_file_as_it_was() {
    let world = World::new();
    let disk = SmallDisk::mount(&world, "config", "64k");
    world.run(&["config", "set", "headed", "false"]).succeeded();
    let file = disk.0.join("config.toml");
    let before = fs::read(&file).expect("readable");
    disk.fill();
    check_disk_full_error(&world.run(&["--json", "config", "set", "timeout", "20s"]));
    assert_eq!(fs::read(&file).expect("readable"), before);
    disk.make_room();
    world.run(&["config", "set", "timeout", "20s"]).succeeded();
    check_no_parts(&disk.0);
}
