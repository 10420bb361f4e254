//! Files of a repository narrow the policy and never widen it (C3, C4, L7).

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::mcp::client::McpClient;
use crate::support::wait::eventually;
use crate::support::world::World;

/// A public key of a test extension, and the extension's id.
const EXTENSION_KEY: &str = concat!(
    "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA8RgeicPY4Tg1qcutk0L+0xE+G0i8tMZ5Jt1MuJXU0fpghMeLWOGStebX",
    "qizl0PBwZARrL6IjXeGWG7GbH2q0a3hLqnD5jE+ADb5/Dm+qTenVPeaDevkrglnCEnipOd03gsfkMQoa0TPv3hj4As1Y/HC/DMTL",
    "ftKLpcGvBt8x2z6qgt8w9XgqgchmZGqCrApx/csL3GV96DdQRVD+oF+rXNUaMQBkNa9dGSxZCPx0zrlcN0cMxlcHd40acHIF+xAR",
    "O2YI77uNosKUUUmyJZ628m8xubcvXdrsEf5VMjUC5XFV9+Oz64HoYkdnoVOQwGooYsVvzE3uUS53ow86DeD/sQIDAQAB",
);
const EXTENSION_ID: &str = "fkiedmkhdppgciocbanleojpjnahofao";

/// Writes a file below the world's home, with the directories above it.
fn write(world: &World, path: &str, text: &str) {
    let path = world.home().join(path);
    fs::create_dir_all(path.parent().expect("a directory above")).expect("directories");
    fs::write(path, text).expect("written");
}

#[test]
fn c3_l7_a_project_file_cannot_open_a_guarded_mcp_session() {
    let world = World::new();
    for line in [
        "policy = \"open\"",
        "profile = \"work\"",
        "profile = \"./p\"",
        "profile_extensions = true",
        "cdp = \"9222\"",
        "cdp = \"http://127.0.0.1:9222\"",
        "browser = \"chromium\"",
        "proxy = \"http://127.0.0.1:80\"",
        "upstream = \"extension\"",
        "isolation = \"shared\"",
        "save_state = true",
        "roots = [\".git\"]",
    ] {
        write(&world, "project/tabwire.toml", &format!("session = \"shop\"\n{line}\n"));
        let name = line.split(' ').next().unwrap_or_default();
        for command in [&["mcp"][..], &["open", "about:blank"], &["config", "check"]] {
            let outcome = world.run_in("project", &[&["--json"], command].concat());
            assert_eq!(outcome.failure(), ("POLICY_DENIED".to_owned(), 3), "{line}: {command:?}");
            let error = outcome.json()["error"].clone();
            let error_has =
                |field: &str, word: &str| error[field].as_str().is_some_and(|text| text.contains(word));
            assert!(
                error_has("message", "project/tabwire.toml:2: ") && error_has("message", name),
                "{error}"
            );
            assert!(error_has("hint", "config/config.toml") && error_has("hint", "config set"), "{error}");
        }
    }
    assert!(world.find_status().is_none(), "a refused project started a daemon");
    let own = "session = \"shop\"\npolicy = \"guarded\"\nviewport = \"800x600\"\ntimeout = 20\n";
    write(&world, "project/tabwire.toml", own);
    let mut command = world.command(env!("CARGO_BIN_EXE_tabwire"), &["mcp"]);
    command.current_dir(world.home().join("project"));
    let mut client = McpClient::start_by(command);
    let params = json!({"name": "navigate", "arguments": {"url": "https://example.org/"}});
    let refused = client.ask("tools/call", params);
    assert!(refused.to_string().contains("POLICY_DENIED"), "{refused}");
    let sessions = world.run_in("project", &["--json", "session", "list"]).succeeded().json();
    assert!(!sessions.to_string().contains("\"shop\""), "a project put a client into a session: {sessions}");
}

/// A profile in a repository: an unpacked extension that calls a native messaging host, and the host, which
/// writes a file.
fn ship_profile(project: &Path) {
    let profile = project.join("p");
    let extension = profile.join("Default/Extensions/shipped/1.0_0");
    for folder in [&extension, &profile.join("NativeMessagingHosts")] {
        fs::create_dir_all(folder).expect("a directory");
    }
    let file = |path: &Path, content: &Value| fs::write(path, content.to_string()).expect("written");
    // The key determines the extension's id, independent of its path.
    let (key, id) = (EXTENSION_KEY, EXTENSION_ID);
    let manifest = json!({
        "manifest_version": 3, "name": "shipped", "version": "1.0", "key": key, "permissions": ["nativeMessaging"],
        "background": {"service_worker": "worker.js"},
    });
    file(&extension.join("manifest.json"), &manifest);
    fs::write(extension.join("worker.js"), "chrome.runtime.sendNativeMessage('shipped.host', {}, () => {});")
        .expect("written");
    let host = project.join("host.sh");
    fs::write(&host, format!("#!/bin/sh\ntouch '{}'\n", project.join("ran").display())).expect("written");
    fs::set_permissions(&host, fs::Permissions::from_mode(0o755)).expect("a program");
    let registration = json!({
        "name": "shipped.host", "description": "x", "path": host, "type": "stdio",
        "allowed_origins": [format!("chrome-extension://{id}/")],
    });
    file(&profile.join("NativeMessagingHosts/shipped.host.json"), &registration);
    let permissions = json!({"api": ["nativeMessaging"]});
    let known = json!({
        "location": 4, "path": extension, "creation_flags": 38, "from_webstore": false, "state": 1,
        "active_permissions": permissions, "granted_permissions": permissions,
    });
    let preferences = json!({"extensions": {"ui": {"developer_mode": true}, "settings": {id: known}}});
    file(&profile.join("Default/Preferences"), &preferences);
    file(&profile.join("Local State"), &json!({}));
}

#[test]
fn c4_a_profile_in_a_repository_runs_no_program() {
    let world = World::new().with_whole_chromium();
    let project = world.home().join("project");
    write(&world, "project/.git/HEAD", "");
    ship_profile(&project);
    let open = ["open", "--profile", "./p", "about:blank"];
    world.run_in("project", &open).succeeded();
    assert!(world.processes().iter().any(|process| process.mentions("--disable-extensions")));
    assert_eq!(world.run_in("project", &["eval", "1 + 1"]).succeeded().text(), "2");
    world.run_in("project", &["close"]).succeeded();
    assert!(!project.join("ran").exists(), "a program of the repository ran");
    // With `--trust-profile` the host runs, so the check above could have failed.
    world.run_in("project", &[&open[..], &["--profile-extensions"]].concat()).succeeded();
    eventually("the extension's host runs", 20, || project.join("ran").exists());
    world.run_in("project", &["close"]).succeeded();
}
