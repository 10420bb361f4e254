//! `cargo xtask start-order`: writes which functions of the program commands run, so that the linker lays them side by
//! side (`crates/tabwire/build.rs` says why).
//!
//! The program is built with its symbols, and common commands are run under valgrind, which counts every function.
//! Names that a later build does not have are skipped by the linker: an old list is slower, never wrong.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::process::Command;

use crate::repository::Repository;
use crate::step::{Step, succeeds};
use crate::trouble::Trouble;

/// The list, beside the build script that hands it to the linker.
const LIST: &str = "crates/tabwire/start_order.txt";

/// Commands that people and agents type most, on the demo page. Those that find nothing there run as well.
const COMMANDS: &[&[&str]] = &[
    &["get", "url"],
    &["snapshot"],
    &["snapshot", "--interactive"],
    &["click", "h1"],
    &["fill", "input", "text", "--timeout", "1s"],
    &["type", "text"],
    &["press", "Tab"],
    &["hover", "h1"],
    &["get-text"],
    &["get-text", "--json"],
    &["eval", "document.title"],
    &["navigate", "_"],
    &["tabs"],
    &["session", "list"],
];

/// Builds, runs and writes.
pub(crate) fn run(repository: &Repository) -> Result<(), Trouble> {
    if !succeeds("valgrind", &["--version"]) {
        return Err(Trouble::NeedsPerson {
            what: "valgrind is not installed".to_owned(),
            hint: "Install it, e.g. `apt-get install valgrind`.".to_owned(),
        });
    }
    Step::cargo("build", &["build", "--release", "-p", "tabwire", "--bin", "tabwire"])
        .with_variable("TABWIRE_KEEP_SYMBOLS", "1")
        .run(repository.root())?;
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    let program = repository.root().join(target).join("release/tabwire");
    let home = std::env::temp_dir().join(format!("tabwire-start-order-{}", std::process::id()));
    std::fs::create_dir_all(&home).map_err(|source| Trouble::file(&home, source))?;
    let listed = list(&program, &home);
    // What is left of the directory is of no use to anybody, and nothing depends on it.
    let _ = tabwire(&program, &home).args(["daemon", "stop"]).output();
    let _ = std::fs::remove_dir_all(&home);
    let names = listed?;
    let path = repository.root().join(LIST);
    std::fs::write(&path, names.join("\n") + "\n").map_err(|source| Trouble::file(&path, source))?;
    println!("Wrote {} functions to {LIST}. Build again to use the list.", names.len());
    Ok(())
}

fn tabwire(program: &Path, home: &Path) -> Command {
    let mut command = Command::new(program);
    command.env("TABWIRE_HOME", home).arg("--global");
    command
}

/// The names of all functions that the commands run, in the order they are met.
fn list(program: &Path, home: &Path) -> Result<Vec<String>, Trouble> {
    let started = |source| Trouble::CannotStart { program: "valgrind".to_owned(), source };
    let opened = tabwire(program, home).arg("open").output().map_err(started)?;
    if !opened.status.success() {
        let told = String::from_utf8_lossy(&opened.stderr).trim().to_owned();
        return Err(Trouble::NeedsPerson { what: told, hint: "Run `cargo xtask setup`.".to_owned() });
    }
    let (mut names, mut known) = (Vec::new(), BTreeSet::new());
    for words in COMMANDS {
        let counted = home.join("counted");
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["--tool=callgrind", "--demangle=no"]);
        valgrind.arg(format!("--callgrind-out-file={}", counted.display()));
        valgrind.arg(program).arg("--global").args(*words).env("TABWIRE_HOME", home);
        valgrind.output().map_err(started)?;
        let text = std::fs::read_to_string(&counted).map_err(|source| Trouble::file(&counted, source))?;
        let found = functions(&text, &program.display().to_string());
        names.extend(found.into_iter().filter(|name| known.insert(name.clone())));
    }
    Ok(names)
}

/// The functions of one program in what valgrind wrote. A name is written once, with a number that stands for it later.
fn functions(text: &str, program: &str) -> Vec<String> {
    let (mut objects, mut names) = (HashMap::new(), HashMap::new());
    let (mut object, mut called) = (String::new(), None);
    let mut found = Vec::new();
    for line in text.lines() {
        let Some((kind, rest)) = line.split_once("=(") else { continue };
        let Some((number, name)) = rest.split_once(')') else { continue };
        let table = if kind.ends_with("ob") { &mut objects } else { &mut names };
        if !name.is_empty() {
            table.insert(number.to_owned(), name.trim().to_owned());
        }
        let Some(meant) = table.get(number).cloned() else { continue };
        match kind {
            "ob" => object = meant,
            "cob" => called = Some(meant),
            "fn" if object == program => found.push(meant),
            "cfn" if called.take().as_ref().unwrap_or(&object) == program => found.push(meant),
            _ => {}
        }
    }
    // Calls of a function by itself are told apart with a number.
    let plain = found.iter().map(|name| name.split('\'').next().unwrap_or(name));
    plain.filter(|name| is_symbol(name)).map(str::to_owned).collect()
}

/// Whether a name is one that a linker knows. Valgrind makes up others for what has none.
fn is_symbol(name: &str) -> bool {
    name.starts_with(|first: char| first == '_' || first.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_other_objects_are_left_out() {
        let text = "ob=(1) /lib/ld.so\nfn=(1) _dl_start\n10 5\nob=(2) /x/tabwire\nfn=(2) _RNvX\n3 4\ncob=(1)\ncfn=(1)\ncalls=1 0\n\
            cfn=(3) _RNvY'2\ncalls=1 0\nfn=(4) 0x123\nfn=(5) memcpy\n\
            fn=(6) (below main)\nfl=(7) src/main.rs\n";
        assert_eq!(functions(text, "/x/tabwire"), ["_RNvX", "_RNvY", "memcpy"]);
    }
}
