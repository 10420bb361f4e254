//! Joins the page agent's parts into one script: `agent.js` and `refs.js` first, `finish.js` last, the rest by name.
//!
//! The order of the rest does not matter: what a part does when it is read uses nothing but the first two.

#![expect(
    clippy::disallowed_methods,
    reason = "a build script reads and writes files; the crate itself does not"
)]

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    // Build scripts run in their crate's folder.
    let folder = Path::new("../../page/agent");
    println!("cargo::rerun-if-changed={}", folder.display());
    let entries = fs::read_dir(folder).expect("the page agent's folder is there");
    let mut parts: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    parts.retain(|path| path.extension().is_some_and(|extension| extension == "js"));
    let rank = |path: &PathBuf| match path.file_stem().and_then(|name| name.to_str()) {
        Some("agent") => 0,
        Some("refs") => 1,
        Some("finish") => 3,
        _ => 2,
    };
    parts.sort_by_key(|path| (rank(path), path.clone()));
    let texts: Vec<String> = parts.iter().map(|path| fs::read_to_string(path).expect("readable")).collect();
    let script =
        format!("if (!globalThis.tabwire) {{ (() => {{ \"use strict\";\n{}\n}})(); }}\n", texts.join("\n"));
    let target = Path::new(&env::var_os("OUT_DIR").expect("set by cargo")).join("page_agent.js");
    // A new file, never the old one written over: it may be shared with another checkout.
    let _ = fs::remove_file(&target);
    fs::write(target, script).expect("written");
}
