//! The files that install Tabwire into agents, checked by the agents' own commands. The packages are large: full runs only.

use std::path::{Path, PathBuf};

use tabwire_testkit::by_size;

use crate::support::world::{World, wait};

/// Checks a folder with an agent's program from `tests/agents`.
fn check(world: &World, program: &str, arguments: &[&str], folder: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let modules: PathBuf = root.join("tests/agents/node_modules");
    assert!(modules.is_dir(), "the agents are not installed: run `cargo xtask setup --full`");
    let folder = root.join(folder).display().to_string();
    let command = world
        .command(modules.join(program), &[arguments, &[&folder]].concat())
        .env("DISABLE_AUTOUPDATER", "1")
        .spawn();
    let outcome = wait(command.expect("the agent starts"), arguments).succeeded();
    outcome.stdout + &outcome.stderr
}

#[expect(clippy::print_stderr, reason = "says why nothing was run")]
fn is_skipped() -> bool {
    let is_skipped = by_size(true, false);
    if is_skipped {
        eprintln!("the agents are large: `cargo xtask test --full` runs them");
    }
    is_skipped
}

#[test]
fn claude_code_accepts_the_plugin_and_its_marketplace_in_full_runs() {
    if is_skipped() {
        return;
    }
    let world = World::new();
    for folder in ["packaging/agents/claude-code", "."] {
        let program = "@anthropic-ai/claude-code-linux-x64/claude";
        let shown = check(&world, program, &["plugin", "validate"], folder);
        assert!(shown.contains("Validation passed"), "{shown}");
    }
}

#[test]
fn gemini_cli_accepts_the_extension_in_full_runs() {
    if is_skipped() {
        return;
    }
    let shown =
        check(&World::new(), ".bin/gemini", &["extensions", "validate"], "packaging/agents/gemini-cli");
    assert!(shown.contains("successfully validated"), "{shown}");
}
