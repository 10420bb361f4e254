//! Symlinks, outputs and profile directories of guarded sessions (M2, M3, M5).

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use crate::support::fixture_site::FixtureSite;
use crate::support::world::World;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("there").permissions().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
}

/// A project, and a directory outside of it with a valuable file.
fn project(world: &World) -> (std::path::PathBuf, std::path::PathBuf) {
    let (project, outside) = (world.home().join("project"), world.home().join("outside"));
    fs::create_dir_all(project.join(".git")).expect("a project");
    fs::create_dir_all(outside.join("folder")).expect("a directory");
    fs::write(outside.join("precious"), "{}").expect("written");
    (project, outside)
}

fn denied(world: &World, arguments: &[&str]) {
    let outcome = world.run_in("project", &[&["--json"], arguments].concat());
    assert_eq!(outcome.failure(), ("POLICY_DENIED".to_owned(), 3), "{arguments:?}: {outcome:?}");
}

#[test]
fn m2_installing_in_a_project_follows_no_link_out_of_it() {
    let world = World::new();
    let (project, outside) = project(&world);
    let install = ["mcp", "install", "--client", "claude-code", "--project"];
    let skill = ["install-skill", "--project", "--for", "claude-code"];
    symlink(outside.join("precious"), project.join(".mcp.json")).expect("a link");
    symlink(outside.join("precious"), project.join("tabwire.toml")).expect("a link");
    symlink(outside.join("folder"), project.join(".claude")).expect("a link");
    denied(&world, &["config", "set", "--project", "session", "shop"]);
    fs::remove_file(project.join("tabwire.toml")).expect("removed");
    denied(&world, &install);
    denied(&world, &["mcp", "uninstall", "--client", "claude-code", "--project"]);
    denied(&world, &skill);
    denied(&world, &[&skill[..], &["--uninstall"]].concat());
    assert_eq!(fs::read_to_string(outside.join("precious")).expect("there"), "{}");
    assert_eq!(world.files("outside/folder"), [""; 0]);

    // A plain file whose backup would follow a link, and a link that stays inside.
    for name in [".mcp.json", ".claude"] {
        fs::remove_file(project.join(name)).expect("removed");
    }
    fs::write(project.join(".mcp.json"), "{\"mine\": 1}").expect("written");
    set_mode(&project.join(".mcp.json"), 0o640);
    symlink(outside.join("precious"), project.join(".mcp.json.before-tabwire")).expect("a link");
    fs::create_dir(project.join(".agents")).expect("a directory");
    symlink(".agents", project.join(".claude")).expect("a link");
    world.run_in("project", &install).succeeded();
    world.run_in("project", &skill).succeeded();
    assert_eq!(fs::read_to_string(outside.join("precious")).expect("there"), "{}");
    let copy = fs::read_to_string(project.join(".mcp.json.before-tabwire-2")).expect("a copy");
    assert_eq!((copy.as_str(), mode(&project.join(".mcp.json"))), ("{\"mine\": 1}", 0o640));
    assert!(project.join(".agents/skills/tabwire/SKILL.md").is_file());

    let marker = outside.join("ran");
    let evil = project.join("evil.sh");
    fs::write(&evil, format!("#!/bin/sh\ntouch '{}'\n", marker.display())).expect("written");
    set_mode(&evil, 0o755);
    let entry = format!(
        "{{\"mcpServers\":{{\"tabwire\":{{\"command\":\"{}\",\"args\":[\"mcp\"]}}}}}}",
        evil.display()
    );
    fs::write(project.join(".mcp.json"), entry).expect("written");
    denied(&world, &["mcp", "doctor", "--client", "claude-code", "--project"]);
    assert!(!marker.exists(), "the doctor ran a program of the project");
}

#[test]
fn m3_a_directory_with_other_files_is_refused_as_profile() {
    let world = World::new();
    for (name, content) in [("letters", Some("letter.txt")), ("empty", None)] {
        let directory = world.home().join(name);
        fs::create_dir(&directory).expect("a directory");
        set_mode(&directory, 0o755);
        if let Some(file) = content {
            fs::write(directory.join(file), "x").expect("written");
        }
    }
    let user = world.home().join("user").display().to_string();
    for (profile, word) in [("./letters", "letter.txt"), (user.as_str(), "home directory")] {
        let refused = world.run(&["--json", "open", "--profile", profile, "about:blank"]);
        assert_eq!(refused.failure(), ("BAD_ARGS".to_owned(), 2), "{refused:?}");
        assert!(refused.stdout.contains(word), "{refused:?}");
    }
    assert_eq!(world.files("letters"), ["letter.txt"]);
    assert_eq!(world.files("user"), [""; 0]);
    world.open(&["--profile", "./empty", "about:blank"]);
    assert_eq!(world.eval("1 + 1"), "2");
    for name in ["letters", "empty"] {
        assert_eq!(mode(&world.home().join(name)), 0o755, "{name}");
    }
}

#[test]
fn m5_dot_files_tool_configuration_and_hooks_are_no_outputs() {
    let (world, site) = (World::new(), FixtureSite::start());
    let (project, outside) = project(&world);
    fs::create_dir(project.join(".git/hooks")).expect("a directory");
    fs::write(project.join("package.json"), "{}").expect("written");
    fs::write(project.join("mine.png"), "mine").expect("written");
    symlink(&outside, project.join("away")).expect("a link");
    world.run_in("project", &["open", &site.page("/downloads/routes")]).succeeded();
    let names = [
        ".mcp.json",
        ".envrc",
        "tabwire.toml",
        ".git/hooks/pre-commit",
        "package.json",
        "sub/.vscode/tasks.json",
    ];
    for name in names {
        denied(&world, &["screenshot", "-o", name]);
        denied(&world, &["pdf", "-o", name]);
        denied(&world, &["download-file", "--url", "/download/plain.txt", "-o", name]);
        denied(&world, &["--root", ".git", "--root", ".", "screenshot", "-o", name]);
        denied(&world, &["log", "export", name]);
    }
    denied(&world, &["screenshot", "-o", "away/new.png"]);
    let taken = world.run_in("project", &["--json", "screenshot", "-o", "mine.png"]);
    assert_eq!(taken.failure(), ("BAD_ARGS".to_owned(), 2), "{taken:?}");
    let exported = world.run_in("project", &["--json", "log", "export", "mine.png"]);
    assert_eq!(exported.failure(), ("BAD_ARGS".to_owned(), 2), "{exported:?}");
    assert_eq!(world.files("project"), [".git", "away", "mine.png", "package.json"], "something was written");
    assert_eq!(world.files("project/.git/hooks"), [""; 0]);
    assert_eq!(fs::read_to_string(project.join("mine.png")).expect("there"), "mine");
    world.run_in("project", &["screenshot", "-o", "shots/page.png"]).succeeded();
    assert!(project.join("shots/page.png").is_file());
}
