//! System packages: Chromium and chromedriver, Firefox, Xvfb, Node and Python for the client tests, and the shells for completion tests.

use std::path::{Path, PathBuf};

use super::{Consent, report};
use crate::error::Error;
use crate::repository::Repository;
use crate::step::{Step, find_output, succeeds};

/// Browser programs, in search order.
const BROWSERS: [&str; 5] =
    ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome-headless-shell"];
const USE_OWN_BROWSER: &str = "set TABWIRE_BROWSER to the path of any Chrome or Chromium that is not a snap";
/// Packages besides the browser, and the program of each that has `--version`.
const PROGRAMS: [(&str, &str); 7] = [
    ("nodejs", "node"),
    ("npm", "npm"),
    ("zsh", "zsh"),
    ("fish", "fish"),
    ("chromium-driver", "chromedriver"),
    ("chromium-headless-shell", "chromium-headless-shell"),
    ("firefox-esr", "firefox-esr"),
];
/// Packages of full tests, with a command that shows whether they are there: Java runs the Selenium server, Ruby and Nix read
/// the Homebrew formula and the flake.
const FULL_PROGRAMS: [(&str, &str, &str); 3] = [
    // Java prints its version to stderr.
    ("default-jre-headless", "java", "-version"),
    ("ruby", "ruby", "--version"),
    ("nix-bin", "nix-instantiate", "--version"),
];
/// A program this small that names the snap folder is a wrapper, not a browser.
const WRAPPER_BYTES: u64 = 64 * 1024;

/// Installs the missing packages with apt-get; elsewhere prints how to install them.
pub(super) fn provide(repository: &Repository, consent: Consent) -> Result<(), Error> {
    let missing = find_missing(repository);
    if missing.is_empty() {
        return Ok(());
    }
    let names = missing.join(" ");
    if cfg!(target_os = "macos") {
        report("system packages", &mac_advice(&missing));
        return Ok(());
    }
    if !succeeds("apt-get", &["--version"]) {
        report("system packages", &format!("no apt-get here; install by hand: {names}"));
        return Ok(());
    }
    if !consent.allows(&format!("Install {names} with apt-get?")) {
        report("system packages", &format!("skipped: {names}"));
        return Ok(());
    }
    install(repository, missing)
}

/// Installs what only full tests need. Without it those tests fail.
pub(super) fn provide_for_full_tests(repository: &Repository) -> Result<(), Error> {
    let is_missing = |(package, program, flag): (&'static str, &str, &str)| {
        let is_there = succeeds(program, &[flag]);
        if is_there {
            report(package, "installed");
        }
        (!is_there).then_some(package)
    };
    let missing: Vec<&str> = FULL_PROGRAMS.into_iter().filter_map(is_missing).collect();
    if missing.is_empty() {
        return Ok(());
    }
    if cfg!(target_os = "macos") || !succeeds("apt-get", &["--version"]) {
        report(&missing.join(" "), "no apt-get here; install Java 11 or later, Ruby and Nix by hand");
        return Ok(());
    }
    install(repository, missing)
}

fn install(repository: &Repository, mut missing: Vec<&'static str>) -> Result<(), Error> {
    let folder = repository.root();
    apt_get(&["update", "-q"])?.run(folder)?;
    missing.retain(|name| {
        let is_offered = !is_snap_only(folder, name);
        if !is_offered && *name == "chromium" {
            report(name, &format!("apt offers only a snap, which cannot be driven; {USE_OWN_BROWSER}"));
        } else if !is_offered {
            report(name, "not available from apt; the tests that need it fail until it is on PATH");
        }
        is_offered
    });
    if missing.is_empty() {
        return Ok(());
    }
    let mut arguments = vec!["install", "-y", "-q", "--no-install-recommends"];
    arguments.extend_from_slice(&missing);
    apt_get(&arguments)?.run(folder)?;
    report("system packages", &format!("installed {}", missing.join(" ")));
    Ok(())
}

/// A non-interactive apt-get step, with sudo unless the user is root.
fn apt_get(arguments: &[&str]) -> Result<Step, Error> {
    let is_root = find_output("id", &["-u"], Path::new("/")).is_some_and(|id| id.trim() == "0");
    let mut words = vec!["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"];
    words.extend_from_slice(arguments);
    if is_root {
        return Ok(Step::new("system packages", words[0], &words[1..]));
    }
    if succeeds("sudo", &["-V"]) {
        return Ok(Step::new("system packages", "sudo", &words));
    }
    let hint = format!("Run as root: apt-get {}", arguments.join(" "));
    Err(Error::NeedsUser { what: "installing packages needs root or sudo".to_owned(), hint })
}

fn find_missing(repository: &Repository) -> Vec<&'static str> {
    let mut missing = Vec::new();
    match find_browser() {
        Some(path) if is_snap_wrapper(&path) => {
            report(
                "chromium",
                &format!("{} is a snap, which cannot be driven; {USE_OWN_BROWSER}", path.display()),
            );
        }
        Some(path) => report("chromium", &format!("installed ({})", path.display())),
        None => missing.push("chromium"),
    }
    for (package, program) in PROGRAMS {
        match find_output(program, &["--version"], repository.root()) {
            Some(version) => report(package, &format!("installed ({})", version.trim())),
            None => missing.push(package),
        }
    }
    // Debian has the module for virtual environments in a package of its own.
    if succeeds("python3", &["-c", "import venv, ensurepip"]) {
        report("python3-venv", "installed");
    } else {
        missing.push("python3-venv");
    }
    // Xvfb has no `--version`.
    match find_program("Xvfb") {
        Some(path) => report("xvfb", &format!("installed ({})", path.display())),
        None => missing.push("xvfb"),
    }
    missing
}

fn find_program(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.is_file())
}

fn find_browser() -> Option<PathBuf> {
    if let Some(chosen) = std::env::var_os("TABWIRE_BROWSER").filter(|chosen| !chosen.is_empty()) {
        return Some(PathBuf::from(chosen));
    }
    let mac = PathBuf::from("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome");
    if mac.exists() {
        return Some(mac);
    }
    BROWSERS.iter().find_map(|name| find_program(name))
}

/// Whether a program starts a snap. Confinement hides our pipes and profiles from a snap.
fn is_snap_wrapper(path: &Path) -> bool {
    let resolved = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    if resolved.starts_with("/snap") || resolved.ends_with("bin/snap") {
        return true;
    }
    let is_small = std::fs::metadata(&resolved).is_ok_and(|metadata| metadata.len() <= WRAPPER_BYTES);
    is_small && std::fs::read_to_string(&resolved).is_ok_and(|text| text.contains("/snap/"))
}

fn is_snap_only(folder: &Path, package: &str) -> bool {
    find_output("apt-cache", &["policy", package], folder).is_none_or(|policy| offers_no_program(&policy))
}

/// Reads `apt-cache policy`: no candidate, or one whose version says it is a snap stub.
fn offers_no_program(policy: &str) -> bool {
    let candidate = policy.lines().find_map(|line| line.trim().strip_prefix("Candidate:"));
    candidate.is_none_or(|version| version.contains("snap") || version.trim() == "(none)")
}

fn mac_advice(missing: &[&str]) -> String {
    let mut commands = Vec::new();
    if missing.contains(&"chromium") {
        commands.push("brew install --cask google-chrome");
    }
    for (command, packages) in [
        ("brew install node", &["nodejs", "npm"][..]),
        ("brew install zsh", &["zsh"]),
        ("brew install fish", &["fish"]),
        ("brew install chromedriver", &["chromium-driver"]),
    ] {
        if missing.iter().any(|name| packages.contains(name)) {
            commands.push(command);
        }
    }
    format!("install by hand: {}", commands.join(" && "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snap_candidate_or_none_at_all_is_not_a_program() {
        assert!(offers_no_program("chromium:\n  Installed: (none)\n  Candidate: 2:1snap1-0ubuntu2\n"));
        assert!(offers_no_program("chromium:\n  Installed: (none)\n  Candidate: (none)\n"));
        assert!(offers_no_program(""));
        assert!(!offers_no_program("chromium:\n  Installed: (none)\n  Candidate: 156.0.8078.79-1~deb12u1\n"));
    }

    #[test]
    fn a_small_script_that_names_the_snap_folder_is_a_wrapper() {
        let folder = std::env::temp_dir().join(format!("tabwire-xtask-snap-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let wrapper = folder.join("chromium-browser");
        std::fs::write(&wrapper, "#!/bin/sh\nexec /snap/bin/chromium \"$@\"\n").unwrap();
        let plain = folder.join("chromium");
        std::fs::write(&plain, "#!/bin/sh\nexec /usr/lib/chromium/chromium \"$@\"\n").unwrap();
        let seen = (is_snap_wrapper(&wrapper), is_snap_wrapper(&plain));
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(seen, (true, false));
    }

    #[test]
    fn the_mac_advice_names_only_what_is_missing() {
        assert_eq!(mac_advice(&["npm"]), "install by hand: brew install node");
        let both = "install by hand: brew install --cask google-chrome && brew install node";
        assert_eq!(mac_advice(&["chromium", "nodejs", "npm"]), both);
        assert_eq!(mac_advice(&["fish"]), "install by hand: brew install fish");
    }
}
