//! Builds the program that packages contain: fully optimised, for an old glibc, without paths of this machine.

use std::path::PathBuf;

use super::options::GLIBC;
use super::platform::Platform;
use crate::error::Error;
use crate::repository::Repository;
use crate::step::{Step, succeeds};

/// cargo-zigbuild brings zig as a Python package: its linker has the symbol tables of every glibc.
const ZIGBUILD: &str = "cargo-zigbuild==0.24.0";

/// Where it is installed.
const ZIG_FOLDER: &str = "target/zig";

/// Builds the program with a cargo profile; returns its path.
pub(super) fn build(repository: &Repository, profile: &str) -> Result<PathBuf, Error> {
    let platform = Platform::here()?;
    let built = repository.path(&format!("target/{}/{}/tabwire", platform.target, folder(profile)));
    if !platform.is_linux() {
        let arguments =
            ["build", "--locked", "--package", "tabwire", "--profile", profile, "--target", platform.target];
        with_mapped_paths(repository, Step::cargo("program", &arguments)).run(repository.root())?;
        return Ok(built);
    }
    let program = zigbuild(repository)?;
    let target = format!("{}.{GLIBC}", platform.target);
    let arguments =
        ["zigbuild", "--locked", "--package", "tabwire", "--profile", profile, "--target", &target];
    let step = with_mapped_paths(repository, Step::new("program", &program, &arguments));
    step.with_variable("PATH", &search_path(repository)).run(repository.root())?;
    Ok(built)
}

/// The folder of a profile's output.
fn folder(profile: &str) -> &str {
    if profile == "dev" { "debug" } else { profile }
}

/// cargo-zigbuild; installs it below `target` where it is missing.
fn zigbuild(repository: &Repository) -> Result<String, Error> {
    if succeeds("cargo-zigbuild", &["zigbuild", "--help"]) {
        return Ok("cargo-zigbuild".to_owned());
    }
    let bin = repository.path(ZIG_FOLDER).join("bin");
    let program = bin.join("cargo-zigbuild").to_string_lossy().into_owned();
    if !succeeds(&program, &["zigbuild", "--help"]) {
        Step::new("zig", "python3", &["-m", "venv", ZIG_FOLDER]).run(repository.root())?;
        let pip = bin.join("pip").to_string_lossy().into_owned();
        Step::new("zig", &pip, &["install", "--quiet", ZIGBUILD]).run(repository.root())?;
    }
    Ok(program)
}

fn search_path(repository: &Repository) -> String {
    let rest = std::env::var("PATH").unwrap_or_default();
    format!("{}:{rest}", repository.path(ZIG_FOLDER).join("bin").display())
}

/// Names of folders of this machine become fixed ones: two checkouts build the same program.
fn with_mapped_paths(repository: &Repository, step: Step) -> Step {
    let home = std::env::var("HOME").unwrap_or_default();
    let cargo = std::env::var("CARGO_HOME").unwrap_or_else(|_| format!("{home}/.cargo"));
    let root = repository.root().display().to_string();
    let flags: Vec<String> = [(cargo, "/cargo"), (root, "/tabwire")]
        .iter()
        .map(|(folder, name)| format!("--remap-path-prefix={folder}={name}"))
        .collect();
    step.with_variable("RUSTFLAGS", &flags.join(" "))
}
