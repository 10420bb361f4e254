//! Saved browser state and emulation on the command line.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use serde_json::Value;

use crate::support::fixture_site::FixtureSite;
use crate::support::world::World;

#[test]
fn cookies_and_storage_values_are_masked_in_lists() {
    let (world, site) = (World::new(), FixtureSite::start());
    world.open(&[&site.page("/plain")]);
    world.run(&["cookies", "set", "token", "canary", "--http-only", "--same-site", "lax"]).succeeded();
    let listed = world.run(&["cookies"]).succeeded();
    assert!(listed.stdout.contains("token=[6 bytes]") && !listed.stdout.contains("canary"), "{listed:?}");
    let shown = world.run(&["cookies", "get", "token"]).succeeded();
    assert!(shown.stdout.contains("canary"), "{shown:?}");
    let data = world.json(&["cookies", "list", "--values"]);
    assert_eq!(data["result"]["cookies"][0]["value"], "canary", "{data}");
    assert_eq!(data["result"]["cookies"][0]["http_only"], true, "{data}");
    world.open(&[&site.page("/cookie/show")]);
    assert!(world.eval("document.body.innerText").contains("token=canary"));
    world.run(&["cookies", "clear", "token"]).succeeded();
    assert_eq!(world.json(&["cookies"])["result"]["cookies"], serde_json::json!([]));

    for area in ["local", "session"] {
        world.run(&["storage", area, "set", "theme", "dark"]).succeeded();
        assert_eq!(world.eval(&format!("{area}Storage.theme")), "dark");
        let listed = world.run(&["storage", area]).succeeded();
        assert!(listed.stdout.contains("\"theme\" [4 bytes]"), "{listed:?}");
        let got = world.json(&["storage", area, "get", "theme"]);
        assert_eq!(got["result"]["entries"][0]["value"], "dark", "{got}");
        world.run(&["storage", area, "clear"]).succeeded();
        assert_eq!(world.eval(&format!("{area}Storage.length")), "0");
    }
    assert_eq!(world.run(&["--json", "storage", "cloud"]).code, 2);
}

#[test]
fn a_login_is_saved_and_loaded_into_another_browser() {
    let (world, site) = (World::new(), FixtureSite::start());
    world.open(&[&site.page("/login")]);
    world.run(&["fill", "#user", "alice", "--then", "fill", "#password", "secret"]).succeeded();
    world.run(&["click", "#submit"]).succeeded();
    world.eval("localStorage.setItem('theme', 'dark')");
    let saved = world.run(&["state", "save", "login.json"]).succeeded();
    assert!(saved.stdout.contains("login.json"), "{saved:?}");
    let path = world.home().join("login.json");
    assert_eq!(path.metadata().expect("there").mode() & 0o777, 0o600, "as good as a password");
    let file: Value = serde_json::from_slice(&fs::read(&path).expect("read")).expect("JSON");
    assert_eq!(file["origins"][0]["localStorage"][0]["name"], "theme", "{file}");
    fs::write(world.home().join("words"), "open sesame\n").expect("written");
    world.run(&["state", "save", "sealed.json", "--passphrase-file", "words"]).succeeded();
    let sealed = fs::read_to_string(world.home().join("sealed.json")).expect("read");
    assert!(!sealed.contains("theme") && !sealed.contains("alice"), "{sealed}");

    let second = ["--session", "second"];
    world.run(&[&second[..], &["open", "about:blank"]].concat()).succeeded();
    let locked = world.run(&[&["--json"], &second[..], &["state", "load", "sealed.json"]].concat());
    assert_eq!(locked.code, 2, "{locked:?}");
    let load = ["state", "load", "sealed.json", "--passphrase-file", "words"];
    let loaded = world.run(&[&["--json"], &second[..], &load].concat()).succeeded().json();
    assert_eq!(loaded["result"]["entries"], 1, "{loaded}");
    world.run(&[&second[..], &["open", &site.page("/account/private")]].concat()).succeeded();
    let who = world.run(&[&second[..], &["get-text", "#who"]].concat()).succeeded();
    assert!(who.stdout.contains("alice"), "{who:?}");
    let theme = world.run(&[&second[..], &["eval", "localStorage.theme"]].concat()).succeeded();
    assert_eq!(theme.text(), "dark");
}

#[test]
fn a_tab_emulates_a_device_and_runs_init_scripts() {
    let (world, site) = (World::new(), FixtureSite::start());
    world.open(&[&site.page("/device")]);
    assert_eq!(world.run(&["emulate"]).succeeded().text(), "nothing is emulated");
    let output =
        world.json(&["emulate", "--device", "Pixel 9", "--color-scheme", "dark", "--timezone", "Asia/Tokyo"]);
    assert_eq!(output["result"]["viewport"]["width"], 412, "{output}");
    let shown = world.run(&["emulate"]).succeeded();
    assert!(shown.stdout.contains("412x923") && shown.stdout.contains("Asia/Tokyo"), "{shown:?}");
    world.open(&[&site.page("/device")]);
    assert_eq!(world.eval("screen.width"), "412");
    assert_eq!(world.eval("matchMedia('(prefers-color-scheme: dark)').matches"), "true");
    assert_eq!(world.eval("Intl.DateTimeFormat().resolvedOptions().timeZone"), "Asia/Tokyo");
    assert!(world.run(&["emulate", "--list-devices"]).succeeded().stdout.contains("iPhone 15"));
    let unknown = world.run(&["--json", "emulate", "--device", "Abacus"]);
    assert_eq!(unknown.failure(), ("BAD_ARGS".to_owned(), 2), "{unknown:?}");
    world.run(&["emulate", "--reset"]).succeeded();

    fs::write(world.home().join("first.js"), "window.first = document.readyState;").expect("written");
    let added = world.json(&["init-script", "add", "--file", "first.js"]);
    let id = added["result"]["id"].as_str().expect("an id").to_owned();
    world.open(&[&site.page("/plain")]);
    assert_eq!(world.eval("window.first"), "loading");
    assert!(world.run(&["init-script"]).succeeded().stdout.contains(&id));
    world.run(&["init-script", "remove", &id]).succeeded();
    world.open(&[&site.page("/plain")]);
    assert_eq!(world.eval("window.first"), "undefined");
    assert_eq!(world.run(&["init-script"]).succeeded().text(), "no init scripts");
}

#[test]
fn auth_loads_a_saved_state_before_the_page_opens() {
    let (world, site) = (World::new(), FixtureSite::start());
    let elsewhere = tempfile::tempdir().expect("a directory");
    let file = elsewhere.path().join("state.json");
    let cookie = serde_json::json!({
        "name": "token", "value": "canary", "domain": "a.localhost", "path": "/", "expires": -1,
        "httpOnly": false, "secure": false, "sameSite": "Lax",
    });
    let state = serde_json::json!({"cookies": [cookie], "origins": []}).to_string();
    fs::write(&file, state).expect("written");
    let file = file.to_string_lossy().into_owned();
    world.open(&[&site.page("/cookie/show"), "--auth", &file]);
    assert!(world.eval("document.body.innerText").contains("token=canary"), "not logged in");
    world.run(&["session", "start", "second", "--auth", &file]).succeeded();
    world.run(&["--session", "second", "open", &site.page("/cookie/show")]).succeeded();
    let shown = world.run(&["--session", "second", "eval", "document.body.innerText"]).succeeded();
    assert!(shown.stdout.contains("token=canary"), "{shown:?}");
    let missing = world.run(&["--json", "--session", "third", "open", "about:blank", "--auth", "none.json"]);
    assert_eq!(missing.failure(), ("BAD_ARGS".to_owned(), 2), "{missing:?}");
}
