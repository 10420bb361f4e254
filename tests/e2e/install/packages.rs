//! npm, wheel, Debian package and tarball: install, first commands, an MCP round trip, remove.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tabwire_testkit::by_size;

use super::pack::{find, is_release, xtask};
use super::place::{Place, has_normal_user};
use crate::support::wait::eventually;
use crate::support::world::{World, wait};

/// The most that the npm package's wrapper may add to a start.
const WRAPPER_SECONDS: f64 = 0.04;

/// Every file below a directory of the world, without those that Tabwire and npm keep for the user.
fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The user of the tests, and in full runs also a normal user without a network.
fn places() -> Vec<Place> {
    let mut places = vec![Place::new()];
    if by_size(false, true) && has_normal_user() {
        places.push(Place::of_normal_user());
    }
    places
}

#[test]
fn npm_packages_install_without_scripts_and_start_the_binary() {
    places().iter().for_each(use_npm);
}

fn use_npm(place: &Place) {
    let packages = place.packages("npm");
    let prefix = place.home().join("user/project").display().to_string();
    place.run("mkdir", &[&prefix]).succeeded();
    let (main, platform) = (find(&packages, "tabwire-0", ".tgz"), find(&packages, "tabwire-linux", ".tgz"));
    let options = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefix", &prefix];
    place.run("npm", &[&["install"], &options[..], &[&main, &platform]].concat()).succeeded();
    let program = format!("{prefix}/node_modules/.bin/tabwire");
    place.check_program(&program);
    // As the files for agents start it.
    let mut npx = place.command("npx", &["--no-install", "tabwire", "mcp", "--policy", "open"]);
    npx.current_dir(&prefix);
    place.check_mcp(&program, npx);
    place.run(&program, &["daemon", "stop"]).succeeded();
    let script = "require('tabwire').connect().then((url) => console.log(url.startsWith('ws://127.0.0.1:')))";
    let mut node = place.command("node", &["-e", script]);
    let connected = wait(node.current_dir(&prefix).spawn().expect("node"), &[]);
    assert_eq!(connected.succeeded().text(), "true");
    place.run(&program, &["daemon", "stop"]).succeeded();
    let names = ["tabwire", "@tabwire/linux-x64"];
    place.run("npm", &[&["uninstall"], &options[..], &names].concat()).succeeded();
    let left: Vec<_> = files(Path::new(&prefix))
        .into_iter()
        .filter(|path| path.to_string_lossy().contains("tabwire"))
        .collect();
    assert_eq!(left, Vec::<PathBuf>::new());
}

#[test]
fn the_npm_wrapper_replaces_itself_and_explains_a_missing_platform() {
    let place = Place::new();
    let packages = place.packages("npm");
    let unpack = |package: &str, into: &str| {
        let directory = place.home().join(into).display().to_string();
        std::fs::create_dir_all(&directory).expect("a directory");
        place.run("tar", &["xzf", package, "-C", &directory, "--strip-components=1"]).succeeded();
    };
    unpack(&find(&packages, "tabwire-0", ".tgz"), "modules/tabwire");
    let wrapper = place.home().join("modules/tabwire/bin/tabwire").display().to_string();
    let missing = place.run(&wrapper, &["--version"]);
    assert_eq!(missing.code, 1);
    assert!(missing.stderr.contains("@tabwire/linux-x64 is missing"), "{missing:?}");
    unpack(&find(&packages, "tabwire-linux", ".tgz"), "modules/@tabwire/linux-x64");
    let program = place.home().join("modules/@tabwire/linux-x64/bin/tabwire").display().to_string();
    let added = start_time(&place, &wrapper) - start_time(&place, &program);
    assert!(added <= WRAPPER_SECONDS, "the wrapper adds {added} s");
    let mut child = place.command(&wrapper, &["daemon", "run"]).spawn().expect("the wrapper starts");
    let program = format!("/proc/{}/exe", child.id());
    eventually("the wrapper has become the program", 20, || {
        std::fs::read_link(&program).is_ok_and(|path| path.ends_with("linux-x64/bin/tabwire"))
            && place.world.socket().exists()
    });
    place.run(&wrapper, &["daemon", "stop"]).succeeded();
    child.wait().expect("our own child");
}

/// Seconds of processor time of a start, which other work on the machine does not change.
fn start_time(place: &Place, program: &str) -> f64 {
    let script = "for turn in 1 2 3 4 5 6 7 8; do \"$0\" --version >/dev/null; done; times";
    let shown = place.run("bash", &["-c", script, program]).succeeded();
    // The second line has the times of the started programs, such as `0m0.123s 0m0.045s`.
    let parts = shown.text().lines().nth(1).expect("two lines").split_whitespace();
    let seconds = |part: &str| {
        let (minutes, seconds) = part.trim_end_matches('s').split_once('m')?;
        Some(60.0 * minutes.parse::<f64>().ok()? + seconds.parse::<f64>().ok()?)
    };
    parts.map(|part| seconds(part).expect("a time")).sum::<f64>() / 8.0
}

#[test]
fn the_tarball_installs_checks_sums_and_uninstalls() {
    places().iter().for_each(use_tarball);
}

fn use_tarball(place: &Place) {
    let packages = place.packages("tarball");
    let installer = packages.join("install.sh").display().to_string();
    let installed = place.run(&installer, &[]).succeeded();
    let local = place.home().join("user/.local");
    let program = local.join("bin/tabwire").display().to_string();
    assert!(installed.stdout.contains(&program), "{installed:?}");
    place.check_program(&program);
    check_pages(place, &program);
    // Again, over itself.
    place.run(&installer, &[]).succeeded();
    place.run(&installer, &["--uninstall"]).succeeded();
    assert_eq!(files(&local), Vec::<PathBuf>::new());
    assert_eq!(place.run(&installer, &["--uninstall"]).code, 1);

    let broken = place.home().join("broken");
    std::fs::create_dir(&broken).expect("a directory");
    let archive = find(&packages, "tabwire-0", ".tar.gz");
    let name = Path::new(&archive).file_name().expect("a name");
    std::fs::write(broken.join(name), "not the archive").expect("written");
    for file in ["install.sh", "SHA256SUMS"] {
        std::fs::copy(packages.join(file), broken.join(file)).expect("copied");
    }
    let refused = place.run(&broken.join("install.sh").display().to_string(), &[]);
    assert!(refused.code == 1 && refused.stderr.contains("does not match"), "{refused:?}");
    assert_eq!(files(&local), Vec::<PathBuf>::new());
}

/// `docs --open`, with an opener that writes down what it was given. Only a `dist` build has the pages.
fn check_pages(place: &Place, program: &str) {
    let (folder, opened) = (place.home().join("openers"), place.home().join("user/opened"));
    let opener = folder.join("xdg-open");
    std::fs::create_dir(&folder).expect("a directory");
    std::fs::write(&opener, "#!/bin/sh\nprintf %s \"$1\" > \"$HOME/opened\"\n").expect("written");
    std::fs::set_permissions(&opener, PermissionsExt::from_mode(0o755)).expect("executable");
    let path = format!("PATH={}:/usr/bin:/bin", folder.display());
    let shown = place.run("/usr/bin/env", &[&path, program, "--json", "docs", "--open", "REF_EXPIRED"]);
    if !is_release() {
        assert_eq!(shown.failure(), ("BAD_ARGS".to_owned(), 2), "{shown:?}");
        return;
    }
    shown.succeeded();
    let url = std::fs::read_to_string(opened).expect("a page was opened");
    let (page, text) = url.split_once("#:~:text=").expect("the text of the code");
    assert_eq!(text, "REF_EXPIRED");
    assert!(Path::new(page.trim_start_matches("file://")).is_file(), "{url}");
}

#[test]
fn the_debian_package_installs_below_a_root_and_is_purged() {
    places().iter().for_each(use_debian_package);
}

fn use_debian_package(place: &Place) {
    let package = find(&place.packages("deb"), "tabwire_", ".deb");
    let root = place.home().join("user/root");
    let root_text = root.display().to_string();
    let create = "mkdir -p \"$0\"/var/lib/dpkg/info \"$0\"/var/lib/dpkg/updates \"$0\"/var/lib/dpkg/triggers \
                  && touch \"$0\"/var/lib/dpkg/status \"$0\"/var/lib/dpkg/available";
    place.run("sh", &["-c", create, &root_text]).succeeded();
    let root_option = format!("--root={root_text}");
    let options = [root_option.as_str(), "--force-not-root", "--force-depends", "--log=/dev/null"];
    place.run("dpkg", &[&options[..], &["-i", &package]].concat()).succeeded();
    place.check_program(&root.join("usr/bin/tabwire").display().to_string());
    let shown = place.run("dpkg-deb", &["-f", &package]).succeeded();
    assert!(shown.stdout.contains("Recommends: chromium | google-chrome-stable"), "{shown:?}");
    assert!(root.join("usr/share/bash-completion/completions/tabwire").exists());
    if is_release() {
        assert!(root.join("usr/share/man/man1/tabwire.1").exists());
        assert!(root.join("usr/share/doc/tabwire/html/index.html").exists());
    }
    place.run("dpkg", &[&options[..], &["--purge", "tabwire"]].concat()).succeeded();
    assert_eq!(files(&root.join("usr")), Vec::<PathBuf>::new());
}

#[test]
fn the_wheel_installs_into_a_venv_and_connects_clients() {
    places().iter().for_each(use_wheel);
}

fn use_wheel(place: &Place) {
    let wheel = find(&place.packages("wheel"), "tabwire-", ".whl");
    let python = place.python();
    let venv = place.home().join("user/venv");
    place.run(&python, &["-m", "venv", &venv.display().to_string()]).succeeded();
    let (pip, python) =
        (venv.join("bin/pip").display().to_string(), venv.join("bin/python").display().to_string());
    place.run(&pip, &["install", "--quiet", &wheel]).succeeded();
    let program = venv.join("bin/tabwire").display().to_string();
    place.check_program(&program);
    let script = "import tabwire\n\
                  assert tabwire.connect().startswith('ws://127.0.0.1:')\n\
                  assert tabwire.connect(http=True, join=True).startswith('http://127.0.0.1:')\n\
                  try: tabwire.connect(session='no such name')\n\
                  except tabwire.TabwireError as error: print(error.code)";
    assert_eq!(place.run(&python, &["-c", script]).succeeded().text(), "BAD_ARGS");
    let version = place.run(&python, &["-m", "tabwire", "--version"]).succeeded();
    assert!(version.stdout.starts_with("tabwire "), "{version:?}");
    place.run(&program, &["daemon", "stop"]).succeeded();
    place.run(&pip, &["uninstall", "--yes", "--quiet", "tabwire"]).succeeded();
    let is_ours = |path: &PathBuf| {
        path.to_string_lossy().rsplit("/venv/").next().is_some_and(|rest| rest.contains("tabwire"))
    };
    let left: Vec<_> = files(&venv).into_iter().filter(is_ours).collect();
    assert_eq!(left, Vec::<PathBuf>::new());
}

#[test]
fn dist_refuses_a_program_that_needs_a_newer_glibc() {
    let world = World::new();
    let out = world.home().join("out").display().to_string();
    let program = env!("CARGO_BIN_EXE_tabwire");
    let refused = xtask(&[
        "dist",
        "--binary",
        program,
        "--allow-glibc",
        "2.3",
        "--no-man",
        "--no-site",
        "--only",
        "npm",
        "--out",
        &out,
    ]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.stderr.contains("packages are for 2.3 and newer"), "{refused:?}");
    assert!(!Path::new(&out).exists());
}
