//! Links the program so that it starts fast on Linux, where it is built for use: a command is over in few milliseconds.
//!
//! It lies at a fixed address: a program that may lie anywhere has its eighteen thousand pointers written when it
//! starts, which costs more than all else that a command does before it speaks to the daemon. Libraries, stack and
//! heap still lie anywhere. What unwinds its stack is part of it, where the compiler's library for that is found: one
//! library less to look for, map and bind. And what commands run lies side by side: a command otherwise touches pages
//! all over the program, and each costs as much as thousands of instructions.

use std::path::Path;
use std::process::Command;

/// The library that unwinds stacks, to be part of a program.
const UNWINDER: &str = "libgcc_eh.a";

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
    println!("cargo::rustc-link-arg-bins=-no-pie");
    // Not by the profile: with another profile every symbol has another name.
    if std::env::var_os(KEEP_SYMBOLS).is_none() {
        println!("cargo::rustc-link-arg-bins=-Wl,--strip-all");
    }
    if let Some(directory) = unwinder_directory() {
        println!("cargo::rustc-link-search=native={directory}");
        println!("cargo::rustc-link-lib=static:-bundle=gcc_eh");
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

/// Where the compiler has its unwinder, as it says itself.
fn unwinder_directory() -> Option<String> {
    if !is_usual_target() {
        return None;
    }
    let told = Command::new("cc").arg(format!("-print-file-name={UNWINDER}")).output().ok()?;
    let path = String::from_utf8(told.stdout).ok()?;
    let path = Path::new(path.trim());
    let directory = path.parent().filter(|_| path.is_absolute() && path.is_file())?;
    directory.to_str().map(str::to_owned)
}
