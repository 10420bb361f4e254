//! Packs the program under test, or takes the packages of a finished `cargo xtask dist`.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::world::Outcome;

/// `cargo xtask test --full` sets it to the folder with the packages of the `dist` build.
const PACKAGES_VARIABLE: &str = "TABWIRE_TEST_DIST";

/// Runs `xtask dist`; builds xtask where only the tests were built.
pub(crate) fn xtask(arguments: &[&str]) -> Outcome {
    let binary = Path::new(env!("CARGO_BIN_EXE_tabwire")).with_file_name("xtask");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    if !binary.exists() {
        let built = Command::new(env!("CARGO")).args(["build", "-p", "xtask"]).current_dir(&root).status();
        assert!(built.expect("cargo starts").success(), "xtask does not build");
    }
    let output = Command::new(binary)
        .args(arguments)
        .env("CARGO_MANIFEST_DIR", root.join("xtask"))
        .output()
        .expect("xtask starts");
    Outcome {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// The program under test without its debug information, which would be most of what is packed.
pub(crate) fn program(folder: &Path) -> PathBuf {
    let stripped = folder.join("stripped-tabwire");
    if !stripped.exists() {
        let strip =
            Command::new("strip").arg("-o").arg(&stripped).arg(env!("CARGO_BIN_EXE_tabwire")).status();
        assert!(strip.expect("strip starts, which comes with the C compiler").success());
    }
    stripped
}

/// Whether the packages are those of a `dist` build.
pub(crate) fn is_release() -> bool {
    std::env::var_os(PACKAGES_VARIABLE).is_some()
}

/// A folder with packages of the given kinds.
pub(crate) fn packages(folder: &Path, kinds: &str) -> PathBuf {
    if let Some(built) = std::env::var_os(PACKAGES_VARIABLE) {
        return built.into();
    }
    let out = folder.join("packages");
    let out_text = out.display().to_string();
    let program = program(folder).display().to_string();
    let arguments = ["dist", "--binary", &program, "--allow-glibc", "2.99", "--no-man", "--no-site"];
    let further = ["--level", "1", "--only", kinds, "--out", &out_text];
    xtask(&[&arguments[..], &further[..]].concat()).succeeded();
    out
}

/// The package whose file name begins and ends so.
pub(crate) fn find(folder: &Path, start: &str, end: &str) -> String {
    let names = std::fs::read_dir(folder).expect("packages").flatten();
    let mut paths = names.map(|entry| entry.path());
    let is_it = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(start) && name.ends_with(end)
    };
    let path = paths.find(is_it).unwrap_or_else(|| panic!("no {start}*{end} in {}", folder.display()));
    path.display().to_string()
}
