//! No task or thread without a parent: they are started through a crate's `task_group.rs`.

use super::Finding;
use super::permit::{Permit, is_permitted, unneeded};
use crate::rust_code::RustCode;
use crate::source_tree::{SourceFile, SourceTree};
use crate::test_code::TestCode;

const SPAWNS: [&str; 4] = ["tokio::spawn(", "task::spawn(", "thread::spawn(", "thread::Builder"];
const OWNER: &str = "task_group.rs";
const LIST: &str = "xtask/src/tidy/bare_spawns.rs";

/// Files that may start threads on their own.
const PERMITS: &[Permit] = &[
    Permit {
        path: "crates/tabwire/src/interruption.rs",
        reason: "waits for the signal that ends the process it is in, and is never joined",
    },
    Permit {
        path: "crates/tabwire/src/commands/mcp/shim.rs",
        reason: "copies one way while the other is copied; it is joined, and a runtime would cost more than the rest",
    },
    Permit {
        path: "crates/tabwire/src/chrome/frame_tap.rs",
        reason: "copies a launcher's pipe both ways where no runtime is; what is left to say is waited for, in bounds",
    },
    Permit {
        path: "crates/tabwire/src/commands/mcp/doctor.rs",
        reason: "reads a child's answers so that each can have a deadline; ends with the child's output",
    },
    Permit {
        path: "crates/tabwire/src/commands/mcp/isolated.rs",
        reason: "the daemon of this process; it is told to stop and joined",
    },
    Permit {
        path: "crates/tabwire-mcp/src/waiting_call.rs",
        reason: "a call that outlives the request that began it; it is ended when its connection drops it",
    },
    Permit {
        path: "crates/tabwire-browser/src/keeper_client.rs",
        reason: "waits for a keeper that outlives us; the crate has no runtime, and nothing is lost when it ends",
    },
    Permit {
        path: "crates/tabwire-journal/src/journal.rs",
        reason: "the one thread that writes; it is told to close and waited for, and the crate has no runtime",
    },
];

/// Finds spawns outside task groups and test code.
pub(super) fn check(tree: &SourceTree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust_files().filter(|file| !is_permitted(PERMITS, &file.path)) {
        findings.extend(spawns(tree, file));
    }
    findings.extend(unneeded(PERMITS, tree, LIST, |path| {
        tree.find_file(path).is_some_and(|file| !spawns(tree, file).is_empty())
    }));
    findings
}

fn spawns(tree: &SourceTree, file: &SourceFile) -> Vec<Finding> {
    // The programs of the test kit are test code as a whole: they misbehave on purpose.
    if file.name() == OWNER || file.path.starts_with("crates/tabwire-testkit/") {
        return Vec::new();
    }
    let code = RustCode::of(&file.text);
    let test_code = TestCode::of(tree, file, &code);
    let advice =
        |pattern: &str| format!("`{pattern}` starts something nobody joins: start it through {OWNER}");
    let hits = SPAWNS
        .iter()
        .flat_map(|pattern| code.lines_with(pattern).into_iter().map(move |line| (line, *pattern)));
    hits.filter(|(line, _)| !test_code.contains(*line))
        .map(|(line, pattern)| Finding::new(&file.path, line, advice(pattern)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::{assert_repository_passes, findings_in};
    use super::*;

    #[test]
    fn the_repository_passes() {
        assert_repository_passes(check);
    }

    #[test]
    fn a_bare_spawn_is_found_outside_task_groups_and_tests() {
        let samples = [
            ("crates/a/src/b.rs", "fn f() {\n    tokio::spawn(g());\n    std::thread::Builder::new();\n}\n"),
            (
                "crates/a/src/c.rs",
                "// tokio::spawn(\n#[cfg(test)]\nmod tests {\n    fn f() { tokio::task::spawn(g()); }\n}\n",
            ),
            ("crates/a/src/task_group.rs", "fn f() { tokio::spawn(g()); }\n"),
            ("crates/a/tests/d.rs", "fn f() { std::thread::spawn(g); }\n"),
        ];
        let found = findings_in(check, &samples);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("crates/a/src/b.rs:2: `tokio::spawn(` starts"), "{found:?}");
        assert!(found[1].starts_with("crates/a/src/b.rs:3:"), "{found:?}");
    }
}
