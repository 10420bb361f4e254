//! The files that install Tabwire into agents, checked, installed and listed by the agents' own commands. The packages are
//! large: full runs only.

use std::path::{Path, PathBuf};

use tabwire_testkit::by_size;

use crate::support::world::{World, wait};

const CLAUDE: &str = "@anthropic-ai/claude-code-linux-x64/claude";
const GEMINI: &str = ".bin/gemini";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

/// Runs an agent's program from `tests/agents` in the repository, with a home of its own. Returns what it prints.
fn ask(world: &World, program: &str, arguments: &[&str]) -> String {
    let modules = root().join("tests/agents/node_modules");
    assert!(modules.is_dir(), "the agents are not installed: run `cargo xtask setup --full`");
    let mut command = world.command(modules.join(program), arguments);
    // Its temporary files stay, and are not ours.
    let own = world.home().join("user");
    let started = command.current_dir(root()).env("DISABLE_AUTOUPDATER", "1").env("TMPDIR", own).spawn();
    let outcome = wait(started.expect("the agent starts"), arguments).succeeded();
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
        let shown = ask(&world, CLAUDE, &["plugin", "validate", folder]);
        assert!(shown.contains("Validation passed"), "{shown}");
    }
    ask(&world, CLAUDE, &["plugin", "marketplace", "add", &root().display().to_string()]);
    ask(&world, CLAUDE, &["plugin", "install", "tabwire@tabwire"]);
    let listed = ask(&world, CLAUDE, &["plugin", "list"]);
    for words in ["tabwire@tabwire", concat!("Version: ", env!("CARGO_PKG_VERSION")), "enabled"] {
        assert!(listed.contains(words), "{words}: {listed}");
    }
}

#[test]
fn claude_code_connects_to_the_server_of_mcp_install_in_full_runs() {
    if is_skipped() {
        return;
    }
    let world = World::new();
    world.run(&["mcp", "install", "--client", "claude-code"]).succeeded();
    let listed = ask(&world, CLAUDE, &["mcp", "list"]);
    assert!(listed.contains("Connected"), "{listed}");
}

#[test]
fn gemini_cli_accepts_the_extension_and_lists_its_server_in_full_runs() {
    if is_skipped() {
        return;
    }
    let (world, folder) = (World::new(), "packaging/agents/gemini-cli");
    let shown = ask(&world, GEMINI, &["extensions", "validate", folder]);
    assert!(shown.contains("successfully validated"), "{shown}");
    ask(&world, GEMINI, &["extensions", "link", folder, "--consent"]);
    let listed = ask(&world, GEMINI, &["extensions", "list"]);
    let (name, servers) = listed.split_once("MCP servers:").unwrap_or_else(|| panic!("no server: {listed}"));
    assert!(name.contains(concat!("tabwire (", env!("CARGO_PKG_VERSION"), ")")), "{listed}");
    assert!(servers.trim_start().starts_with("tabwire"), "{listed}");
    assert!(name.contains("GEMINI.md"), "{listed}");
}
