//! Links the program so that it starts fast on Linux, where it is built for use: a command is over in few milliseconds.
//!
//! It lies at a fixed address: a program that may lie anywhere has its eighteen thousand pointers written when it
//! starts, which costs more than all else that a command does before it speaks to the daemon. Stack and heap still lie
//! anywhere. Its libraries are part of it, where the machine has them in that form: none has to be looked for, mapped
//! and bound. And what commands run lies side by side: a command otherwise touches pages all over the program, and each
//! costs as much as thousands of instructions.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The libraries that the program asks for, and where they come from as parts of a program. What unwinds stacks has
/// another name there.
const LIBRARIES: &[(&str, &str)] = &[
    ("libc.a", "libc.a"),
    ("libdl.a", "libdl.a"),
    ("libgcc_s.a", "libgcc_eh.a"),
    ("libm.a", "libm.a"),
    ("libpthread.a", "libpthread.a"),
    ("librt.a", "librt.a"),
    ("libutil.a", "libutil.a"),
];

/// The functions that commands run, as `cargo xtask start-order` wrote them.
const ORDER: &str = "start_order.txt";

/// Set by who needs the program's symbols.
const KEEP_SYMBOLS: &str = "TABWIRE_KEEP_SYMBOLS";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={ORDER}");
    println!("cargo::rerun-if-env-changed={KEEP_SYMBOLS}");
    if !is("CARGO_CFG_TARGET_OS", "linux") || !is("PROFILE", "release") {
        return;
    }
    println!("cargo::rustc-link-arg=-no-pie");
    // Not by the profile: with another profile every symbol has another name.
    if std::env::var_os(KEEP_SYMBOLS).is_none() {
        println!("cargo::rustc-link-arg-bins=-Wl,--strip-all");
    }
    if let Some(directory) = libraries_directory() {
        // Benches and tests too: the linker finds the libraries in this form whatever it links.
        println!("cargo::rustc-link-arg=-static");
        println!("cargo::rustc-link-search=native={}", directory.display());
    }
    if is_usual_linker() {
        let directory = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
        let file = Path::new(&directory).join(ORDER);
        println!("cargo::rustc-link-arg-bins=-Wl,--symbol-ordering-file={}", file.display());
        println!("cargo::rustc-link-arg-bins=-Wl,--no-warn-symbol-ordering");
    }
}

fn is(name: &str, value: &str) -> bool {
    std::env::var(name).is_ok_and(|found| found == value)
}

/// Whether the program is built for the machine it is built on, with the usual C library.
fn is_usual_target() -> bool {
    is("CARGO_CFG_TARGET_ENV", "gnu") && std::env::var("HOST").ok() == std::env::var("TARGET").ok()
}

/// Whether the linker is the one that comes with the compiler, which takes such lists; so it is on these machines
/// unless somebody chose another.
fn is_usual_linker() -> bool {
    let flags = std::env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let is_chosen = std::env::var_os("RUSTC_LINKER").is_some() || flags.contains("link");
    is_usual_target() && is("CARGO_CFG_TARGET_ARCH", "x86_64") && !is_chosen
}

/// A directory in which the linker finds the libraries that the program needs only as parts of a program, so that it
/// takes these. None where the machine does not have them all.
fn libraries_directory() -> Option<PathBuf> {
    if !is_usual_target() {
        return None;
    }
    let directory = PathBuf::from(std::env::var_os("OUT_DIR")?).join("libraries");
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).ok()?;
    for (asked, found) in LIBRARIES {
        std::os::unix::fs::symlink(find_library(found)?, directory.join(asked)).ok()?;
    }
    Some(directory)
}

/// Where the compiler has a library, as it says itself.
fn find_library(name: &str) -> Option<PathBuf> {
    let told = Command::new("cc").arg(format!("-print-file-name={name}")).output().ok()?;
    let path = PathBuf::from(String::from_utf8(told.stdout).ok()?.trim());
    (path.is_absolute() && path.is_file()).then_some(path)
}
