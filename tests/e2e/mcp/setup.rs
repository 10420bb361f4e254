//! `mcp install`, `uninstall` and `doctor` change one entry in a client's configuration file.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::world::World;

/// Clients, and their files below the home directory.
const FILES: [(&str, &str, &str); 7] = [
    ("claude-code", ".claude.json", "mcpServers"),
    ("claude-desktop", ".config/Claude/claude_desktop_config.json", "mcpServers"),
    ("cursor", ".cursor/mcp.json", "mcpServers"),
    ("vscode", ".config/Code/User/mcp.json", "servers"),
    ("gemini", ".gemini/settings.json", "mcpServers"),
    ("windsurf", ".codeium/windsurf/mcp_config.json", "mcpServers"),
    ("zed", ".config/zed/settings.json", "context_servers"),
];

fn file(world: &World, path: &str) -> PathBuf {
    world.home().join("user").join(path)
}

#[test]
fn each_client_gets_one_entry_and_loses_nothing() {
    let world = World::new();
    for (client, path, group) in FILES {
        let file = file(&world, path);
        fs::create_dir_all(file.parent().expect("a folder")).expect("made");
        let mine =
            format!("{{\n\t\"mine\" : 1.50,\n\t\"{group}\": {{\"other\": {{\"command\": \"x\"}}}}\n}}\n");
        fs::write(&file, &mine).expect("written");
        let install = ["mcp", "install", "--client", client, "--", "--tools", "network"];
        world.run(&install).succeeded();
        let after = fs::read_to_string(&file).expect("there");
        let read: Value = serde_json::from_str(&after).expect("JSON");
        // No client needs an option to show results: text is the default.
        let expected = json!(["mcp", "--tools", "network"]);
        assert_eq!(read[group]["tabwire"]["args"], expected, "{client}: {after}");
        assert!(
            after.contains("\t\"mine\" : 1.50") && read[group]["other"]["command"] == "x",
            "{client}: {after}"
        );
        assert_eq!(fs::read_to_string(format!("{}.before-tabwire", file.display())).expect("a copy"), mine);
        world.run(&install).succeeded();
        assert_eq!(fs::read_to_string(&file).expect("there"), after, "a second install changes nothing");
        world.run(&["mcp", "uninstall", "--client", client]).succeeded();
        let removed: Value = serde_json::from_str(&fs::read_to_string(&file).expect("there")).expect("JSON");
        assert_eq!(removed[group], json!({"other": {"command": "x"}}), "{client}");
    }
    let printed = world.run(&["mcp", "install", "--client", "json"]).succeeded();
    assert!(
        printed.text().contains("\"mcpServers\"") && printed.text().contains("\"mcp\""),
        "{}",
        printed.text()
    );
}

#[test]
fn unknown_settings_are_kept_and_mcp_doctor_acts_as_a_client() {
    let world = World::new();
    let zed = file(&world, ".config/zed/settings.json");
    fs::create_dir_all(zed.parent().expect("a folder")).expect("made");
    let commented = "// my settings\n{\"theme\": \"dark\"}\n";
    fs::write(&zed, commented).expect("written");
    let refused = world.run(&["--json", "mcp", "install", "--client", "zed"]);
    assert_eq!(refused.failure(), ("BAD_ARGS".to_owned(), 2), "{refused:?}");
    assert_eq!(fs::read_to_string(&zed).expect("there"), commented);

    let missing = world.run(&["--json", "mcp", "doctor", "--client", "codex"]);
    assert_eq!(missing.failure().0, "NOT_ACTIONABLE", "{missing:?}");
    let codex = file(&world, ".codex/config.toml");
    fs::create_dir_all(codex.parent().expect("a folder")).expect("made");
    fs::write(&codex, "# mine\nmodel = \"x\"\n").expect("written");
    world.run(&["mcp", "install", "--client", "codex"]).succeeded();
    let text = fs::read_to_string(&codex).expect("there");
    assert!(text.starts_with("# mine\nmodel = \"x\"\n") && text.contains("[mcp_servers.tabwire]"), "{text}");
    let output = world.json(&["mcp", "doctor", "--client", "codex"]);
    assert_eq!((&output["tools"], &output["protocol"]), (&json!(29), &json!("2025-11-25")), "{output}");
    // Without a browser no tool that needs a page works.
    let blind = World::new().with("TABWIRE_BROWSER", "/nowhere/chrome");
    let failed = blind.run(&["--json", "mcp", "doctor"]);
    assert_eq!(failed.failure(), ("NO_BACKEND".to_owned(), 1), "{failed:?}");
    fs::write(&codex, "[mcp_servers.tabwire]\ncommand = \"/nowhere/tabwire\"\nargs = [\"mcp\"]\n")
        .expect("written");
    let broken = world.run(&["--json", "mcp", "doctor", "--client", "codex"]);
    assert_eq!(broken.failure().0, "NOT_ACTIONABLE", "{broken:?}");
}
