//! Links the program for a fixed address on Linux, where it is built for use.
//!
//! A program that may lie anywhere has its eighteen thousand pointers written when it starts, which costs more than all
//! else that a command does before it speaks to the daemon. Libraries, stack and heap still lie anywhere.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|found| found == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("PROFILE", "release") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
