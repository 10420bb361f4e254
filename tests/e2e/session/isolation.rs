//! Sessions that share a browser: with their own cookies, or with shared cookies and their own tabs.

use serde_json::Value;

use crate::support::fixture_site::FixtureSite;
use crate::support::process::kill;
use crate::support::world::World;

fn status(world: &World, session: &str) -> Value {
    world.json(&["session", "status", session])["result"].clone()
}

fn eval(world: &World, session: &str, code: &str) -> String {
    world.run(&["--session", session, "eval", code]).succeeded().text().to_owned()
}

fn titles(world: &World, session: &str) -> Vec<String> {
    let tabs = world.json(&["--session", session, "tabs"])["result"]["tabs"].clone();
    tabs.as_array().expect("tabs").iter().map(|tab| tab["title"].as_str().unwrap_or("?").to_owned()).collect()
}

#[test]
fn contexts_in_one_browser_share_neither_cookies_nor_tabs() {
    let (world, site) = (World::new(), FixtureSite::start());
    for name in ["a", "b"] {
        world
            .run(&["--session", name, "open", "--isolation", "context", &site.url("a", "/plain")])
            .succeeded();
        eval(&world, name, &format!("document.cookie = 'who={name}'; document.title = '{name}'"));
    }
    assert_eq!(status(&world, "a")["browser_pid"], status(&world, "b")["browser_pid"]);
    assert_eq!(eval(&world, "a", "document.cookie"), "who=a");
    assert_eq!(eval(&world, "b", "document.cookie"), "who=b");
    assert_eq!((titles(&world, "a"), titles(&world, "b")), (vec!["a".to_owned()], vec!["b".to_owned()]));
    let tab = |name: &str| world.json(&["--session", name, "tabs"])["result"]["tabs"][0]["tab"].clone();
    let foreign =
        world.run(&["--json", "--session", "b", "get", "url", "--tab", tab("a").as_str().expect("a tab")]);
    assert_eq!(foreign.failure().0, "STALE_TAB", "{foreign:?}");

    // The next daemon finds both again after a kill, each with its own tabs.
    kill(world.daemon_pid());
    assert_eq!(eval(&world, "a", "document.cookie + document.title"), "who=aa");
    assert_eq!(eval(&world, "b", "document.cookie + document.title"), "who=bb");
    assert_eq!(titles(&world, "a"), ["a"]);

    let browser = status(&world, "a")["browser_pid"].clone();
    let stopped = world.json(&["session", "stop", "a"]);
    assert!(stopped["result"]["browser"].as_str().is_some_and(|text| text.starts_with("kept")), "{stopped}");
    assert_eq!(status(&world, "b")["browser_pid"], browser);
    assert_eq!(eval(&world, "b", "document.cookie"), "who=b");
    let ended = world.json(&["session", "stop", "b"]);
    assert_eq!(ended["result"]["browser"], "ended");
}

#[test]
fn shared_logins_have_separate_tabs() {
    let (world, site) = (World::new(), FixtureSite::start());
    for name in ["a", "b"] {
        world
            .run(&["--session", name, "open", "--isolation", "shared", &site.url("a", "/plain")])
            .succeeded();
        eval(&world, name, &format!("document.title = '{name}'"));
    }
    eval(&world, "a", "document.cookie = 'login=yes'");
    assert_eq!(eval(&world, "b", "document.cookie"), "login=yes");
    assert_eq!((titles(&world, "a"), titles(&world, "b")), (vec!["a".to_owned()], vec!["b".to_owned()]));
    kill(world.daemon_pid());
    assert_eq!((titles(&world, "a"), titles(&world, "b")), (vec!["a".to_owned()], vec!["b".to_owned()]));
    // A session with another isolation shares nothing with them.
    world.run(&["--session", "c", "open", &site.url("a", "/plain")]).succeeded();
    assert_ne!(status(&world, "c")["browser_pid"], status(&world, "a")["browser_pid"]);
    assert_eq!(eval(&world, "c", "document.cookie"), "");
}
