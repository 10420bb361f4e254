//! Joins the files of the API (`api/**/*.js`) into one function: `start.js` first, `entry.js` last, the rest by file name.
//!
//! All files share one function scope. At load time a file uses only its own constants and those of files before it.

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let folder = Path::new("api");
    println!("cargo::rerun-if-changed=api");
    let mut files = script_files(folder);
    files.sort_by_key(|path| (rank(path), path.file_name().map(ToOwned::to_owned)));
    let texts: Vec<String> = files.iter().map(|path| fs::read_to_string(path).expect("readable")).collect();
    let script = format!("(function (host) {{ \"use strict\";\n{}\nreturn entry;\n}})", texts.join("\n"));
    let target = Path::new(&env::var_os("OUT_DIR").expect("set by cargo")).join("script_api.js");
    let _ = fs::remove_file(&target);
    fs::write(target, script).expect("written");
}

/// Every `.js` file below a folder.
fn script_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder of the API exists");
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

fn rank(path: &Path) -> u8 {
    match path.file_stem().and_then(|name| name.to_str()) {
        Some("start") => 0,
        Some("values") => 1,
        Some("inspect") => 2,
        Some("selectors") => 3,
        Some("web_api") => 4,
        Some("entry") => 9,
        _ => 5,
    }
}
