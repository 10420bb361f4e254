//! Each name of `names.txt` is declared, and a test of scripts calls it; each option is given by one.

use std::fs;
use std::path::{Path, PathBuf};

use tabwire_script::declarations::TYPES;

/// The names of the API and its options; an option ends with a colon.
const NAMES: &str = include_str!("names.txt");

/// The sources of the tests of scripts, without this file.
fn sources() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/e2e/scripts");
    let files_in = |folder: &Path| fs::read_dir(folder).expect("the folder of the tests");
    let files = files_in(&folder).chain(files_in(&folder.join("api")));
    let paths = files.map(|file| file.expect("readable").path());
    let is_test = |path: &PathBuf| {
        path.extension().is_some_and(|ending| ending == "rs") && !path.ends_with("coverage.rs")
    };
    paths.filter(is_test).map(|path| fs::read_to_string(path).expect("readable")).collect()
}

/// Whether the text has the word, with one of the beginnings before it and one of the ends after it.
fn has(text: &str, beginnings: &[&str], word: &str, ends: &[&str]) -> bool {
    beginnings.iter().any(|start| ends.iter().any(|end| text.contains(&format!("{start}{word}{end}"))))
}

#[test]
fn each_name_and_option_is_declared_and_used_by_a_test() {
    let sources = sources();
    let (api, _) = TYPES.split_once("interface TabwireActions").expect("the actions come last");
    let names: Vec<&str> = NAMES.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let methods = names.iter().filter(|name| !name.ends_with(':')).count();
    assert!(methods >= 130, "{methods}");
    let mut faults = Vec::new();
    for name in names {
        if let Some(option) = name.strip_suffix(':') {
            // An option is an optional member, in a list of its own or in that of a method.
            if !has(api, &["  ", "{ ", "; "], option, &["?: ", ": "]) {
                faults.push(format!("the option {option} is not in tabwire.d.ts"));
            }
            if !has(&sources, &["{ ", ", ", "{{ "], option, &[":", " }", ","]) {
                faults.push(format!("no test gives the option {option}"));
            }
        } else {
            if !has(api, &["  "], name, &["(", "<"]) {
                faults.push(format!("{name} is not in tabwire.d.ts"));
            }
            if !has(&sources, &["."], name, &["("]) {
                faults.push(format!("no test calls {name}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
