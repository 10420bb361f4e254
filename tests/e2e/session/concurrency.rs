//! Many commands at once, on one session and on many.

use crate::support::world::{Outcome, World, wait};

/// Callers at once. Each runs five commands, one after the other.
const CALLERS: usize = 10;

/// Runs the five commands of every caller, all callers at the same time.
///
/// `who` returns the options of a caller's commands, `opening` those of its first command.
fn storm(world: &World, who: impl Fn(usize) -> [String; 2] + Sync, opening: &[&str]) {
    std::thread::scope(|scope| {
        for number in 0..CALLERS {
            let who = &who;
            scope.spawn(move || {
                let who = who(number);
                let run = |arguments: &[&str]| -> Outcome {
                    let arguments = [&[who[0].as_str(), who[1].as_str()], arguments].concat();
                    wait(world.start(&arguments), &arguments).succeeded()
                };
                let page = format!("data:text/html,<title>caller-{number}</title><h1>Page-{number}</h1>");
                run(&[&["open"], opening, &[&page]].concat());
                run(&["eval", &format!("window.mine = {number}")]);
                assert_eq!(run(&["get", "title"]).text(), format!("caller-{number}"));
                assert_eq!(run(&["eval", "window.mine"]).text(), number.to_string());
                let snapshot = run(&["snapshot"]);
                assert!(snapshot.text().contains(&format!("Page-{number}")), "{snapshot:?}");
            });
        }
    });
}

/// Checks that one daemon was started, which launched one browser.
fn check_one_of_each(world: &World) {
    let log = world.log();
    assert_eq!(log.matches("the daemon starts").count(), 1, "{log}");
    assert_eq!(log.matches("a browser was launched").count(), 1, "{log}");
    assert!(!log.contains("panicked"), "{log}");
}

#[test]
fn f38_fifty_commands_of_ten_callers_start_one_session() {
    let world = World::new();
    storm(&world, |number| ["--as".to_owned(), format!("caller-{number}")], &[]);
    check_one_of_each(&world);
    let sessions = world.json(&["session", "list"])["sessions"].clone();
    assert_eq!(sessions.as_array().map(Vec::len), Some(1), "{sessions}");
    assert_eq!((&sessions[0]["active"], &sessions[0]["tabs"]), (&true.into(), &CALLERS.into()), "{sessions}");
    assert_eq!((world.number("misrouted"), world.number("astray")), (0, 0));
    world.settles();
}

#[test]
fn f38_fifty_commands_on_ten_sessions_are_served_by_one_browser() {
    let world = World::new();
    storm(&world, |number| ["--session".to_owned(), format!("s{number}")], &["--isolation", "context"]);
    check_one_of_each(&world);
    let sessions = world.json(&["session", "list"])["sessions"].clone();
    let sessions = sessions.as_array().expect("a list");
    assert_eq!(sessions.len(), CALLERS, "{sessions:?}");
    for session in sessions {
        assert_eq!((&session["active"], &session["tabs"]), (&true.into(), &1.into()), "{session}");
        assert_eq!(session["browser_pid"], sessions[0]["browser_pid"], "{session}");
        assert_eq!(session["misrouted"].as_u64().unwrap_or(0), 0, "{session}");
    }
    world.settles();
    // All are stopped at once; the last one ends the browser.
    let stops: Vec<_> = (0..CALLERS)
        .map(|number| world.start(&["--json", "session", "stop", &format!("s{number}")]))
        .collect();
    for stop in stops {
        let stopped = wait(stop, &["session", "stop"]).succeeded().json();
        assert_eq!(stopped["result"]["stopped"], true, "{stopped}");
    }
    crate::support::wait::eventually("the browser ends", 10, || world.browser_processes().is_empty());
}
