//! A newer program takes over from an older one that runs, and an older one refuses what a newer one left.

use std::path::{Path, PathBuf};

use tabwire_testkit::by_size;

use super::pack::{find, program};
use crate::support::world::{Outcome, World, wait};

/// A directory for the package manager's root, as a new machine has it.
fn dpkg_root(world: &World) -> PathBuf {
    let root = world.home().join("root");
    for directory in ["info", "updates", "triggers"] {
        std::fs::create_dir_all(root.join("var/lib/dpkg").join(directory)).expect("a directory");
    }
    for file in ["status", "available"] {
        std::fs::write(root.join("var/lib/dpkg").join(file), "").expect("written");
    }
    root
}

fn run(world: &World, program: &str, arguments: &[&str]) -> Outcome {
    wait(world.command(program, arguments).spawn().expect("the program starts"), arguments)
}

/// The program under test with another version of the same length, which every place of the file gets.
fn with_version(folder: &Path, version: &str) -> PathBuf {
    let own = env!("CARGO_PKG_VERSION");
    assert_eq!(own.len(), version.len(), "the bytes keep their places");
    let mut bytes = std::fs::read(program(folder)).expect("the program");
    let places: Vec<usize> = bytes
        .windows(own.len())
        .enumerate()
        .filter(|(_, window)| *window == own.as_bytes())
        .map(|(at, _)| at)
        .collect();
    for at in places {
        bytes[at..at + version.len()].copy_from_slice(version.as_bytes());
    }
    let path = folder.join(format!("tabwire-{version}"));
    std::fs::write(&path, bytes).expect("written");
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("executable");
    path
}

fn pack(world: &World, program: &Path, kind: &str) -> PathBuf {
    let out = world.home().join(format!("{kind}-{}", program.file_name().expect("a name").to_string_lossy()));
    let (program, out_text) = (program.display().to_string(), out.display().to_string());
    let arguments =
        ["dist", "--binary", &program, "--allow-glibc", "2.99", "--no-man", "--no-site", "--level", "1"];
    super::pack::xtask(&[&arguments[..], &["--only", kind, "--out", &out_text]].concat()).succeeded();
    out
}

#[test]
fn a_newer_debian_package_takes_over_the_daemon_and_keeps_sessions() {
    let world = World::new();
    let root = dpkg_root(&world);
    let root_option = format!("--root={}", root.display());
    let install = |program: &Path| {
        let package = find(&pack(&world, program, "deb"), "tabwire_", ".deb");
        let options = [root_option.as_str(), "--force-not-root", "--force-depends", "--log=/dev/null"];
        run(&world, "dpkg", &[&options[..], &["-i", &package]].concat()).succeeded();
    };
    check_takeover(&world, &root.join("usr/bin/tabwire").display().to_string(), install);
}

#[test]
fn a_newer_npm_package_takes_over_the_daemon_in_full_runs() {
    if by_size(true, false) {
        return;
    }
    let world = World::new().with("npm_config_offline", "true");
    let prefix = world.home().join("project").display().to_string();
    let install = |program: &Path| {
        let packages = pack(&world, program, "npm");
        let (main, platform) =
            (find(&packages, "tabwire-0", ".tgz"), find(&packages, "tabwire-linux", ".tgz"));
        let options = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefix", &prefix];
        run(&world, "npm", &[&["install"], &options[..], &[&main, &platform]].concat()).succeeded();
    };
    check_takeover(&world, &format!("{prefix}/node_modules/.bin/tabwire"), install);
}

/// Installs an older program, uses it, and installs the program under test over it: the page stays, and the older program
/// is refused from then on.
fn check_takeover(world: &World, installed: &str, install: impl Fn(&Path)) {
    let (older, newer) = (with_version(world.home(), "0.0.9"), program(world.home()));
    install(&older);
    assert_eq!(run(world, installed, &["--version"]).succeeded().text(), "tabwire 0.0.9");
    run(world, installed, &["open", "about:blank"]).succeeded();
    run(world, installed, &["eval", "window.kept = 41"]).succeeded();
    let daemon = run(world, installed, &["--json", "daemon", "status"]).succeeded().json();
    install(&newer);
    let kept = run(world, installed, &["eval", "window.kept + 1"]).succeeded();
    assert_eq!(kept.text(), "42", "the page is the same one");
    let taken_over = run(world, installed, &["--json", "daemon", "status"]).succeeded().json();
    assert_eq!(taken_over["version"], env!("CARGO_PKG_VERSION"));
    assert_ne!(taken_over["pid"], daemon["pid"]);

    let refused = run(world, &older.display().to_string(), &["--json", "eval", "1"]);
    assert_eq!(refused.failure(), ("VERSION_MISMATCH".to_owned(), 1), "{refused:?}");
}

#[test]
fn stored_files_of_a_newer_version_are_refused_unchanged() {
    let world = World::new();
    std::fs::create_dir_all(world.home().join("state")).expect("a directory");
    let marker = world.home().join("state/format.json");
    let content = "{\"format\": 99, \"version\": \"9.8.7\"}";
    std::fs::write(&marker, content).expect("written");
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(world.home().join("state"), std::fs::Permissions::from_mode(0o700))
        .expect("private");
    std::fs::set_permissions(&marker, std::fs::Permissions::from_mode(0o600)).expect("private");
    let refused = world.run(&["--json", "open", "about:blank"]);
    assert_eq!(refused.failure(), ("VERSION_MISMATCH".to_owned(), 1), "{refused:?}");
    assert!(refused.stdout.contains("written by Tabwire 9.8.7"), "{refused:?}");
    assert_eq!(std::fs::read_to_string(&marker).expect("kept"), content);
    std::fs::remove_file(&marker).expect("removed");
    world.open(&["about:blank"]);
    assert!(world.files("state").contains(&"format.json".to_owned()));
}
