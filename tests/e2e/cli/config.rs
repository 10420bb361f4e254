//! Project detection, settings and their origin.

use std::fs;

use serde_json::{Value, json};

use crate::support::world::World;

/// Writes a file below the world's home, with its parent directories.
fn write(world: &World, path: &str, text: &str) {
    let path = world.home().join(path);
    fs::create_dir_all(path.parent().expect("a directory above")).expect("directories");
    fs::write(path, text).expect("written");
}

/// The project's key in a directory.
fn key_in(world: &World, directory: &str, more: &[&str]) -> String {
    let outcome = world.run_in(directory, &[&["--json", "config", "path"], more].concat()).succeeded();
    outcome.json()["key"].as_str().expect("a key").to_owned()
}

#[test]
fn a_command_belongs_to_the_nearest_project() {
    let world = World::new();
    write(&world, "one/shop/.git/HEAD", "");
    write(&world, "two/shop/tabwire.toml", "");
    write(&world, "one/shop/front/src/x", "");
    write(&world, "user/.git/HEAD", "");
    assert_eq!(key_in(&world, ".", &[]), "global");
    assert_eq!(key_in(&world, "user", &[]), "global", "a home directory is not a project");
    let shop = key_in(&world, "one/shop", &[]);
    assert!(shop.starts_with("shop-") && shop.len() == "shop-".len() + 8, "{shop}");
    assert_eq!(key_in(&world, "one/shop/front/src", &[]), shop);
    assert_ne!(key_in(&world, "two/shop", &[]), shop, "projects with equal names differ");
    assert_eq!(key_in(&world, "one/shop", &["--global"]), "global");
    let response: Value = world.run_in("two/shop", &["--json", "config", "path"]).succeeded().json();
    let root = world.home().join("two/shop").canonicalize().expect("its path");
    assert_eq!(response["project"], json!({"path": root.join("tabwire.toml"), "exists": true}));
    assert_eq!(response["user"]["exists"], false);
    let world = world.with("TABWIRE_GLOBAL", "1");
    assert_eq!(key_in(&world, "one/shop", &[]), "global");
    assert!(world.find_status().is_none(), "the command started a daemon");
}

/// One setting in the output of `config show`.
fn shown(response: &Value, name: &str) -> Value {
    let settings = response["settings"].as_array().expect("a list");
    settings.iter().find(|setting| setting["name"] == name).unwrap_or_else(|| panic!("{name}")).clone()
}

#[test]
fn every_value_is_listed_with_its_source() {
    let world = World::new().with_whole_chromium();
    write(&world, "config/config.toml", "browser = \"chromium\"\nheaded = true\nlinger = \"3s\"\n");
    write(&world, "project/tabwire.toml", "# ours\nheaded = false\nsession = \"shop\"\nroots = [\"data\"]\n");
    let world = world.with("TABWIRE_WINDOW", "800x600");
    let response =
        world.run_in("project", &["--json", "--timeout", "7s", "config", "show"]).succeeded().json();
    let root = world.home().join("project").canonicalize().expect("its path");
    let user = world.home().join("config/config.toml");
    for (name, value, origin) in [
        ("browser", json!("chromium"), json!({"kind": "user", "path": user, "line": 1})),
        ("headed", json!(false), json!({"kind": "project", "path": root.join("tabwire.toml"), "line": 2})),
        ("session", json!("shop"), json!({"kind": "project", "path": root.join("tabwire.toml"), "line": 3})),
        (
            "roots",
            json!([root.join("data")]),
            json!({"kind": "project", "path": root.join("tabwire.toml"), "line": 4}),
        ),
        ("window", json!("800x600"), json!({"kind": "environment", "name": "TABWIRE_WINDOW"})),
        ("port", json!(0), json!({"kind": "environment", "name": "TABWIRE_PORT"})),
        ("timeout", json!(7.0), json!({"kind": "flag", "name": "--timeout"})),
        ("idle_exit", json!(600.0), json!({"kind": "built-in"})),
        ("proxy", Value::Null, Value::Null),
    ] {
        assert_eq!(shown(&response, name), json!({"name": name, "value": value, "origin": origin}));
    }
    let flagged = world.run_in("project", &["--session", "other", "config", "get", "session"]).succeeded();
    assert_eq!(flagged.text(), "other");
    assert_eq!(world.run_in("project", &["config", "get", "headed"]).succeeded().text(), "false");
    let outside = world.run_in("project", &["--global", "config", "get", "headed"]).succeeded();
    assert_eq!(outside.text(), "true", "without the project");
    let table = world.run_in("project", &["config", "show"]).succeeded();
    assert!(table.stdout.contains("config.toml:1"), "{table:?}");
    let wrong = world.run(&["--json", "config", "get", "hedaed"]);
    assert_eq!(wrong.failure(), ("BAD_ARGS".to_owned(), 2));
    assert!(wrong.stdout.contains("`headed`"), "{wrong:?}");
    assert!(world.find_status().is_none(), "the command started a daemon");
}

#[test]
fn a_broken_file_stops_commands_and_is_named() {
    let world = World::new();
    for (path, text, place, word) in [
        ("project/tabwire.toml", "headed = true\nbrowzer = \"chrome\"\n", "tabwire.toml:2: ", "`browser`"),
        ("project/tabwire.toml", "headed = \"yes\"\n", "tabwire.toml:1: ", "true or false"),
        ("project/tabwire.toml", "headed\n", "tabwire.toml:1: ", "TOML"),
        ("config/config.toml", "\n\nport = -1\n", "config.toml:3: ", "65535"),
    ] {
        write(&world, "project/tabwire.toml", "");
        write(&world, path, text);
        let outcome = world.run_in("project", &["--json", "open", "about:blank"]);
        assert_eq!(outcome.failure(), ("BAD_ARGS".to_owned(), 2), "{text}");
        assert!(outcome.stdout.contains(place) && outcome.stdout.contains(word), "{outcome:?}");
        let checked = world.run_in("project", &["--json", "config", "check"]);
        assert_eq!(checked.stdout, outcome.stdout, "`config check` says the same");
    }
    assert_eq!(world.run(&["--json", "daemon", "start"]).failure().0, "BAD_ARGS", "the user's file counts");
    world.run_in("project", &["config", "path"]).succeeded();
    write(&world, "config/config.toml", "");
    let world = world.with("TABWIRE_HEADED", "perhaps");
    let outcome = world.run(&["--json", "tabs"]);
    assert!(outcome.stdout.contains("TABWIRE_HEADED"), "{outcome:?}");
    assert!(world.find_status().is_none(), "a broken configuration started a daemon");
}

#[test]
fn t36_a_project_file_has_no_effect_outside_its_project() {
    let world = World::new();
    write(&world, "project/evil", "#!/bin/sh\ntouch \"$TABWIRE_HOME/ran\"\n");
    for (line, name) in [
        ("browser = \"./evil\"", "browser"),
        ("browser = \"/bin/sh\"", "browser"),
        ("browser_args = [\"--renderer-cmd-prefix=./evil\"]", "browser_args"),
        ("allow_dangerous_browser_args = true", "allow_dangerous_browser_args"),
        ("cdp_headers = [\"Authorization: x\"]", "cdp_headers"),
        ("cdp = \"ws://192.0.2.1:9222/x\"", "cdp"),
        ("proxy = \"http://192.0.2.1:80\"", "proxy"),
        ("roots = [\"..\"]", "roots"),
        ("profile = \"../profile\"", "profile"),
        ("port = 1", "port"),
    ] {
        write(&world, "project/tabwire.toml", &format!("# ours\n{line}\n"));
        let outcome = world.run_in("project", &["--json", "open", "about:blank"]);
        assert_eq!(outcome.failure(), ("POLICY_DENIED".to_owned(), 3), "{line}");
        let error = outcome.json()["error"].clone();
        assert!(error["message"].as_str().is_some_and(|text| text.contains("tabwire.toml:2: ")), "{error}");
        let hint = format!("config set {name}");
        assert!(error["hint"].as_str().is_some_and(|text| text.contains(&hint)), "{error}");
    }
    write(&world, "config/config.toml", "policy = \"guarded\"\n");
    write(&world, "project/tabwire.toml", "policy = \"open\"\n");
    assert_eq!(world.run_in("project", &["--json", "tabs"]).failure().0, "POLICY_DENIED");
    assert!(!world.home().join("ran").exists());
    assert!(world.find_status().is_none(), "a refused project started a daemon");
}

#[test]
fn settings_are_changed_without_touching_the_rest() {
    let world = World::new();
    world.run(&["config", "set", "headed", "yes"]).succeeded();
    let user = world.home().join("config/config.toml");
    assert_eq!(fs::read_to_string(&user).expect("a file"), "headed = true\n");
    fs::write(&user, "# mine\nheaded = true   # for now\nlinger = 3\n").expect("written");
    world.run(&["config", "set", "headed", "off"]).succeeded();
    world.run(&["config", "set", "base-url", "http://localhost:3000"]).succeeded();
    let text = "# mine\nheaded = false   # for now\nlinger = 3\nbase_url = \"http://localhost:3000\"\n";
    assert_eq!(fs::read_to_string(&user).expect("a file"), text);
    use std::os::unix::fs::PermissionsExt as _;
    let mode = fs::metadata(&user).expect("a file").permissions().mode() & 0o777;
    assert_eq!(
        world.run(&["--json", "config", "set", "headed", "maybe"]).failure(),
        ("BAD_ARGS".to_owned(), 2)
    );
    assert_eq!(world.run(&["--json", "config", "set", "nothing", "x"]).failure().0, "BAD_ARGS");
    assert_eq!(world.run(&["--json", "config", "set", "--project", "headed", "1"]).failure().0, "BAD_ARGS");
    write(&world, "project/.git", "");
    world.run_in("project", &["config", "set", "--project", "session", "shop"]).succeeded();
    let refused = world.run_in("project", &["--json", "config", "set", "--project", "port", "1"]);
    assert_eq!(refused.failure(), ("POLICY_DENIED".to_owned(), 3));
    let project = fs::read_to_string(world.home().join("project/tabwire.toml")).expect("a file");
    assert_eq!(project, "session = \"shop\"\n");
    assert_eq!(world.files("project"), [".git", "tabwire.toml"], "nothing else is left");
    assert_eq!(fs::read_to_string(&user).expect("a file"), text);
    assert_eq!(fs::metadata(&user).expect("a file").permissions().mode() & 0o777, mode);
    let schema = world.run(&["config", "schema"]).succeeded().json();
    assert_eq!(schema["properties"]["headed"]["type"], "boolean");
    assert_eq!(world.json(&["config", "check"])["checked"][0]["settings"], 3);
}

#[test]
fn a_setting_can_be_removed_again() {
    let world = World::new();
    world.run(&["config", "set", "headed", "true"]).succeeded();
    let removed = world.run(&["--json", "config", "unset", "headed"]).succeeded().json();
    assert_eq!(removed["removed"], true);
    let again = world.run(&["config", "unset", "headed"]).succeeded();
    assert!(again.stdout.contains("was not set"), "{again:?}");
    assert_eq!(world.run(&["config", "unset", "no_such_setting"]).code, 2);
}
