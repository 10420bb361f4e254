//! Joins the files of the page agent (`page/agent/`) into one script: `agent.js` and `refs.js` first, the rest by path.
//!
//! All files share one function scope. At load time a file uses only its own constants and those of the first two, so
//! the order of the rest is free.

#![expect(
    clippy::disallowed_methods,
    reason = "a build script reads and writes files; the crate itself does not"
)]

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    // Cargo runs build scripts in the folder of their crate.
    let folder = Path::new("page/agent");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files = script_files(folder);
    files.sort_by_key(|path| (load_rank(path), path.clone()));
    let texts: Vec<String> =
        files.iter().map(|path| without_comments(&fs::read_to_string(path).expect("readable"))).collect();
    let script = format!(
        "if (!globalThis.tabwire) {{ (() => {{ \"use strict\";\n{}\nglobalThis.tabwire = agent;\n}})(); }}\n",
        texts.join("\n")
    );
    let target = Path::new(&env::var_os("OUT_DIR").expect("set by cargo")).join("page_agent.js");
    // Replace the file instead of overwriting it: another checkout may share it by a hard link.
    let _ = fs::remove_file(&target);
    fs::write(target, script).expect("written");
}

fn script_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder of the page agent exists");
    let mut files = Vec::new();
    for path in entries.map(|entry| entry.expect("readable").path()) {
        if path.is_dir() {
            files.extend(script_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "js") {
            files.push(path);
        }
    }
    files
}

fn load_rank(path: &Path) -> u8 {
    match path.file_stem().and_then(|name| name.to_str()) {
        Some("agent") => 0,
        Some("refs") => 1,
        _ => 2,
    }
}

/// Drops lines that are only a comment: every document parses the script, and no user reads it.
fn without_comments(text: &str) -> String {
    let mut in_block = false;
    let mut kept = String::with_capacity(text.len());
    for line in text.lines() {
        let trimmed = line.trim_start();
        let starts_block = trimmed.starts_with("/**");
        if !in_block && !starts_block && !trimmed.starts_with("//") {
            kept.push_str(line);
            kept.push('\n');
        }
        in_block = (in_block || starts_block) && !trimmed.ends_with("*/");
    }
    kept
}
