//! Values that a session remembers between commands: URL, target, file and base URL.

use crate::support::fixture_site::FixtureSite;
use crate::support::process::kill;
use crate::support::world::World;

#[test]
fn later_commands_may_omit_remembered_values() {
    let world = World::new();
    let page =
        "data:text/html,<title>0</title><button%20onclick='document.title++'>Go</button><input%20id=i>";
    let opened = world.json(&["open", page]);
    assert_eq!(opened["session"], "default");
    assert!(opened["tab"].is_string(), "{opened}");
    world.run(&["click", "text=Go"]).succeeded();
    world.run(&["click"]).succeeded();
    world.run(&["click", "_"]).succeeded();
    assert_eq!(world.eval("document.title"), "3");
    world.run(&["navigate", "data:text/html,<title>next</title>"]).succeeded();
    world.run(&["eval", "document.title = 'changed'"]).succeeded();
    world.run(&["navigate"]).succeeded();
    assert_eq!(world.eval("document.title"), "next", "the last address");
    let shot = world.home().join("a.png");
    world.run(&["screenshot", "--output", &shot.display().to_string()]).succeeded();

    let shown = world.json(&["context", "show"])["result"].clone();
    assert_eq!(shown["target"], "text=Go", "{shown}");
    assert!(shown["output"].as_str().is_some_and(|path| path.ends_with("a.png")), "{shown}");
    assert!(
        shown["url"].as_str().is_some_and(|url| url.contains("next")) && shown["tab"].is_string(),
        "{shown}"
    );
    let shown = world.run(&["context", "show"]).succeeded();
    assert!(shown.text().contains("target   text=Go"), "{}", shown.text());

    // They outlive the daemon.
    kill(world.daemon_pid());
    assert_eq!(world.json(&["context", "show"])["result"]["target"], "text=Go");
    world.run(&["context", "set", "--target", "#i"]).succeeded();
    world.run(&["navigate", page]).succeeded();
    world.run(&["fill", "_", "typed"]).succeeded();
    assert_eq!(world.eval("i.value"), "typed");
    world.run(&["context", "clear"]).succeeded();
    let nothing = world.run(&["--json", "click"]);
    assert_eq!(nothing.failure(), ("BAD_ARGS".to_owned(), 2));
    assert!(nothing.stdout.contains("remembers none"), "{nothing:?}");
}

#[test]
fn relative_urls_resolve_against_the_base_url() {
    let world = World::new();
    let site = FixtureSite::start();
    let relative = world.run(&["--json", "open", "/plain"]);
    assert_eq!(relative.failure(), ("BAD_ARGS".to_owned(), 2));
    assert!(relative.stdout.contains("tabwire context set --base URL"), "{relative:?}");
    assert!(world.browser_processes().is_empty(), "an invalid URL starts no browser");

    let base = site.url("a", "/");
    let response = world.json(&["--base-url", &base, "open", "/plain"]);
    assert_eq!(response["base_url"], base, "{response}");
    assert_eq!(response["result"]["url"], site.url("a", "/plain"));
    world.run(&["navigate", "form"]).succeeded();
    assert_eq!(world.run(&["get", "url"]).succeeded().text(), site.url("a", "/form"));
    world.run(&["tab-new", "/inputs"]).succeeded();
    assert_eq!(world.run(&["get", "url"]).succeeded().text(), site.url("a", "/inputs"));
    assert_eq!(world.json(&["get", "url"])["base_url"], base, "every response has it");

    std::fs::write(world.home().join("tabwire.toml"), format!("base_url = \"{}\"\n", site.url("b", "/")))
        .expect("written");
    world.run(&["session", "start", "configured"]).succeeded();
    world.run(&["--session", "configured", "open", "/plain"]).succeeded();
    let at = world.run(&["--session", "configured", "get", "url"]).succeeded();
    assert_eq!(at.text(), site.url("b", "/plain"), "the project file sets the base URL");
    std::fs::write(world.home().join("tabwire.toml"), format!("base_url = \"{}\"\n", site.url("a", "/")))
        .expect("written");
    world.run(&["--session", "configured", "open", "/plain"]).succeeded();
    let at = world.run(&["--session", "configured", "get", "url"]).succeeded();
    assert_eq!(at.text(), site.url("a", "/plain"), "a file's base URL is not remembered");
}

#[test]
fn projects_have_separate_sessions() {
    let world = World::new();
    let run_in = |directory: &str, arguments: &[&str]| {
        let place = world.home().join(directory);
        std::fs::create_dir_all(place.join(".git")).expect("a project");
        let mut command = world.command(env!("CARGO_BIN_EXE_tabwire"), arguments);
        crate::support::world::wait(command.current_dir(place).spawn().expect("started"), arguments)
            .succeeded()
    };
    run_in("here/app", &["open", "data:text/html,<title>here</title>"]);
    run_in("there/app", &["open", "data:text/html,<title>there</title>"]);
    assert_eq!(run_in("here/app", &["eval", "document.title"]).text(), "here");
    assert_eq!(run_in("there/app", &["eval", "document.title"]).text(), "there");
    let listed = |directory: &str, more: &[&str]| {
        let list = run_in(directory, &[&["--json", "session", "list"], more].concat()).json();
        list["sessions"].as_array().expect("a list").len()
    };
    assert_eq!((listed("here/app", &[]), listed("here/app", &["--all"])), (1, 2));
    run_in("here/app", &["--global", "open", "data:text/html,<title>global</title>"]);
    assert_eq!(run_in("there/app", &["--global", "eval", "document.title"]).text(), "global");
    assert_eq!(listed("there/app", &["--all"]), 3);
}

#[test]
fn a_frame_in_its_pages_process_runs_scripts_after_a_daemon_restart() {
    let (world, site) = (World::new(), FixtureSite::start());
    world.open(&[&site.page("/plain")]);
    world.eval("document.body.insertAdjacentHTML('beforeend', '<iframe name=own srcdoc=text></iframe>')");
    world.run(&["frame", "own"]).succeeded();
    kill(world.daemon_pid());
    assert_eq!(world.eval("window.name"), "own");
}

#[test]
fn a_selected_frame_is_remembered_until_it_is_gone() {
    let (world, site) = (World::new(), FixtureSite::start());
    let tab = world.open(&[&site.page("/frames")]);
    world.run(&["wait-for", "#press"]).succeeded();
    let chosen = world.run(&["frame", "inner"]).succeeded();
    assert!(chosen.text().lines().any(|line| line.starts_with("* ") && line.contains("inner")), "{chosen:?}");
    assert_eq!(world.eval("document.title"), "Inner frame");
    world.run(&["click", "#press"]).succeeded();
    let frame = world.json(&["context", "show"])["result"]["frame"].clone();
    assert!(frame.as_str().is_some_and(|url| url.ends_with("/frames/inner")), "{frame}");
    // The next daemon remembers it too.
    kill(world.daemon_pid());
    assert_eq!(world.eval("window.presses"), "1");
    assert_eq!(world.run(&["frame", "--raw"]).succeeded().text(), site.url("c", "/frames/inner"));
    let gone = world.run(&["navigate", &site.page("/plain")]).succeeded();
    assert!(gone.stderr.contains(&format!("selected frame of tab {tab} is gone")), "{gone:?}");
    let quiet = world.run(&["eval", "location.pathname"]).succeeded();
    assert_eq!((quiet.text(), quiet.stderr.as_str()), ("/plain", ""));
    let new = world.run(&["tab-new", "--raw"]).succeeded();
    assert_eq!(world.run(&["eval", "--tab", new.text(), "location.href"]).succeeded().text(), "about:blank");
}
