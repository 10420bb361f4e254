//! Providers: recipes in the user's configuration, and their secrets.

use std::fs;

use super::records;
use crate::support::fake_grid::FakeGrid;
use crate::support::wait::eventually;
use crate::support::world::World;

/// `me:s3cr3t` in base64.
const SECRET: &str = "bWU6czNjcjN0";

/// Writes the recipe of a provider that is the fake Grid.
fn add(world: &World, grid: &FakeGrid, more: &str) {
    let (port, url) = (grid.port, grid.url());
    let recipe = format!(
        r#"
description = "A fleet for tests"
address = "ws://127.0.0.1:{port}/session/${{id}}/se/cdp"
id = "/value/sessionId"

[create]
url = "{url}/session"
headers = {{ Authorization = "Basic ${{secret:fleet}}" }}
body = {{ capabilities = {{ alwaysMatch = {{ "se:name" = "${{rental}}" }} }} }}

[release]
url = "{url}/session/${{id}}"
headers = {{ Authorization = "Basic ${{secret:fleet}}" }}

[connect]
headers = {{ Authorization = "Basic ${{secret:fleet}}" }}

{more}
"#
    );
    let file = world.home().join("fleet.toml");
    fs::write(&file, recipe).expect("written");
    world.run(&["provider", "add", "fleet", file.to_str().expect("plain"), "--force"]).succeeded();
}

fn save_secret(world: &World, url: &str) {
    let file = world.home().join("secret");
    fs::write(&file, SECRET).expect("written");
    let file = file.to_str().expect("plain");
    world.run(&["auth", "save", "fleet", "--url", url, "--password-file", file]).succeeded();
    fs::remove_file(file).expect("removed");
}

#[test]
fn t39_a_provider_rents_with_a_secret_that_no_output_shows() {
    let grid = FakeGrid::start(&["--credentials", "me:s3cr3t"]);
    let world = World::new();
    add(&world, &grid, "[lifetime]\nseconds = 600\nidle_seconds = 60");
    let missing = world.run(&["--json", "session", "start", "--provider", "fleet"]);
    assert_eq!(missing.failure().0, "BAD_ARGS", "{missing:?}");
    assert!(missing.stdout.contains("The secret `fleet`"), "{missing:?}");
    save_secret(&world, "http://127.0.0.1:1/");
    let elsewhere = world.run(&["--json", "session", "start", "--provider", "fleet"]);
    assert_eq!(elsewhere.failure().0, "POLICY_DENIED", "{elsewhere:?}");
    save_secret(&world, &grid.url());

    let tested = world.run(&["--json", "provider", "test", "fleet"]).succeeded();
    assert_eq!(tested.json()["released"], true, "{tested:?}");
    grid.empties(10);
    let started = world.run(&["--json", "session", "start", "--provider", "fleet"]).succeeded();
    let remote = started.json()["result"]["remote"].clone();
    assert_eq!((&remote["place"], &remote["idle_limit_seconds"]), (&"provider fleet".into(), &60.into()));
    assert!(remote["seconds_left"].as_u64().is_some_and(|left| left > 500 && left <= 600), "{remote}");
    let status = world.run(&["session", "status"]).succeeded();
    assert!(status.stdout.contains("left") && status.stdout.contains("provider fleet"), "{status:?}");
    let listed = world.run(&["provider", "list"]).succeeded();
    assert!(listed.stdout.contains("fleet") && listed.stdout.contains(&grid.url()), "{listed:?}");
    world.run(&["close"]).succeeded();
    assert_eq!((grid.count("alive"), records(&world).len()), (0, 0));
    for text in [&tested.stdout, &started.stdout, &status.stdout, &listed.stdout, &world.log()] {
        assert!(!text.contains(SECRET) && !text.contains("s3cr3t"), "{text}");
    }
    let record = fs::read_dir(world.home().join("state/sessions/global")).into_iter().flatten().flatten();
    for file in record {
        let text = fs::read_to_string(file.path()).unwrap_or_default();
        assert!(!text.contains(SECRET), "{text}");
    }
}

#[test]
fn a_provider_is_released_by_its_recipe_even_after_it_was_removed() {
    let grid = FakeGrid::start(&["--credentials", "me:s3cr3t"]);
    let world = World::new();
    add(&world, &grid, "");
    save_secret(&world, &grid.url());
    world.run(&["session", "start", "--provider", "fleet"]).succeeded();
    world.run(&["provider", "remove", "fleet"]).succeeded();
    crate::support::process::kill(world.daemon_pid());
    world.run(&["daemon", "start"]).succeeded();
    grid.empties(20);
    eventually("no record is left", 10, || records(&world).is_empty());
    let gone = world.run(&["--json", "session", "start", "--provider", "fleet"]);
    assert_eq!(gone.failure().0, "BAD_ARGS", "{gone:?}");
}

#[test]
fn providers_are_added_from_valid_recipes_only() {
    let world = World::new();
    for example in ["browserless", "rest", "kubernetes"] {
        world.run(&["provider", "add", example, "--example", example]).succeeded();
    }
    let again = world.run(&["--json", "provider", "add", "rest", "--example", "rest"]);
    assert_eq!(again.failure().0, "BAD_ARGS", "{again:?}");
    let list = world.json(&["provider", "list"]);
    assert_eq!(list["providers"].as_array().map(Vec::len), Some(3), "{list}");
    assert_eq!(list["providers"][0]["secrets"][0], "browserless");
    let file = world.home().join("bad.toml");
    for (name, recipe) in
        [("x", "run = 'rm'"), ("../x", "address = 'ws://a/'"), ("x", "address = 'file:///x'")]
    {
        fs::write(&file, recipe).expect("written");
        let refused = world.run(&["--json", "provider", "add", name, file.to_str().expect("plain")]);
        assert_eq!(refused.failure().0, "BAD_ARGS", "{recipe}: {refused:?}");
    }
    world.run(&["provider", "remove", "rest"]).succeeded();
    let gone = world.run(&["--json", "provider", "remove", "rest"]);
    assert_eq!(gone.failure().0, "BAD_ARGS", "{gone:?}");
}
