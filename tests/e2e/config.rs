//! Projects and settings: which project a command is in, what is set, and where that came from.

use std::fs;

use serde_json::{Value, json};

use crate::world::World;

/// Writes a file below the world's home, with the directories above it.
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
    assert_eq!(key_in(&world, "user", &[]), "global", "a home directory is no project");
    let shop = key_in(&world, "one/shop", &[]);
    assert!(shop.starts_with("shop-") && shop.len() == "shop-".len() + 8, "{shop}");
    assert_eq!(key_in(&world, "one/shop/front/src", &[]), shop);
    assert_ne!(key_in(&world, "two/shop", &[]), shop, "projects of one name are two");
    assert_eq!(key_in(&world, "one/shop", &["--global"]), "global");
    let answer: Value = world.run_in("two/shop", &["--json", "config", "path"]).succeeded().json();
    let root = world.home().join("two/shop").canonicalize().expect("its path");
    assert_eq!(answer["project"], json!({"path": root.join("tabwire.toml"), "exists": true}));
    assert_eq!(answer["user"]["exists"], false);
    let world = world.with("TABWIRE_GLOBAL", "1");
    assert_eq!(key_in(&world, "one/shop", &[]), "global");
    assert!(world.find_status().is_none(), "asking started a daemon");
}
