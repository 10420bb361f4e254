//! `eval` and tab ids on the command line.

use std::time::{Duration, Instant};

use crate::support::fixture_site::FixtureSite;
use crate::support::wait::eventually;
use crate::support::world::World;

#[test]
fn values_are_printed_by_type() {
    let world = World::new();
    world.open(&["about:blank"]);
    for (expression, printed) in [
        ("'text with \"quotes\"'", "text with \"quotes\""),
        ("6 * 7", "42"),
        ("undefined", "undefined"),
        ("NaN", "NaN"),
        ("0 * -1", "-0"),
        ("10n ** 20n", "100000000000000000000n"),
        ("null", "null"),
        ("[1, 'two']", "[\n  1,\n  \"two\"\n]"),
        ("'\\u{1F980} zażółć'", "🦀 zażółć"),
        ("await Promise.resolve(5)", "5"),
        ("let x = 1; x + 1", "2"),
        ("''", ""),
    ] {
        assert_eq!(world.eval(expression), printed, "{expression}");
    }
    let undefined = world.json(&["eval", "undefined"]);
    assert_eq!(undefined["result"]["described"], "undefined");
    assert!(undefined["result"]["value"].is_null());
}

#[test]
fn promises_are_awaited() {
    let world = World::new();
    world.open(&["about:blank"]);
    assert_eq!(world.eval("Promise.resolve(5)"), "5");
    assert_eq!(world.eval("new Promise((done) => setTimeout(() => done('later'), 50))"), "later");
    assert_eq!(world.eval("(async () => { return {a: 1} })()"), "{\n  \"a\": 1\n}");
    let rejected = world.run(&["--json", "eval", "Promise.reject(new Error('no'))"]);
    assert_eq!(rejected.failure(), ("EVAL_FAILED".to_owned(), 1));
}

#[test]
fn an_exception_is_reported_with_its_message() {
    let world = World::new();
    world.open(&["about:blank"]);
    for (expression, words) in [
        ("throw new TypeError('on purpose')", "TypeError: on purpose"),
        ("missing.member", "missing is not defined"),
        ("this is no script", "SyntaxError"),
        ("throw 'bare'", "bare"),
        ("await Promise.reject(new Error('late'))", "late"),
    ] {
        let outcome = world.run(&["--json", "eval", expression]);
        assert_eq!(outcome.failure(), ("EVAL_FAILED".to_owned(), 1), "{expression}");
        assert!(outcome.stdout.contains(words), "{expression}: {}", outcome.stdout);
    }
    let shown = world.run(&["eval", "throw new Error('seen')"]);
    assert_eq!((shown.code, shown.stdout.as_str()), (1, ""));
    assert!(shown.stderr.contains("seen") && shown.stderr.contains("EVAL_FAILED"), "{shown:?}");
    let large = world.json(&["eval", "'x'.repeat(1_000_000)"]);
    assert_eq!(large["result"]["cut_from_bytes"], 1_000_002);
    assert_eq!(large["result"]["value"].as_str().map(str::len), Some(256 * 1024));
}

#[test]
fn an_unresponsive_page_times_out_with_code_4() {
    let world = World::new();
    let stuck = world.open(&["about:blank"]);
    let started = Instant::now();
    let endless = world.run(&["--json", "--timeout", "700ms", "eval", "while (true) {}"]);
    assert_eq!(endless.failure(), ("TIMEOUT".to_owned(), 4));
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    let tab = world.open(&["--new-tab", "about:blank"]);
    assert_eq!(world.run(&["eval", "1", "--tab", &tab]).succeeded().text(), "1", "another tab is unaffected");
    let pending = world.run(&["--json", "--timeout", "300ms", "eval", "await new Promise(() => {})"]);
    assert_eq!(pending.failure(), ("TIMEOUT".to_owned(), 4));
    // A command without a response stays pending until its page closes.
    for each in [stuck, tab] {
        world.run(&["close", "--tab", &each]).succeeded();
    }
    eventually("nothing is pending", 5, || world.number("pending") == 0);
}

#[test]
fn a_slow_page_times_out_and_an_unreachable_one_is_reported() {
    let (world, site) = (World::new(), FixtureSite::start());
    let slow = world.run(&["--json", "--timeout", "500ms", "open", &site.page("/slow?milliseconds=20000")]);
    assert_eq!(slow.failure(), ("TIMEOUT".to_owned(), 4));
    let refused = world.run(&["--json", "open", "http://127.0.0.1:9/"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.stdout.contains("ERR_"), "{refused:?}");
    let nowhere = world.run(&["--json", "open", "http://no-such-host.invalid/"]);
    assert!(nowhere.code == 1 && nowhere.stdout.contains("ERR_NAME"), "f48: {nowhere:?}");
    world.open(&[&site.page("/plain")]);
    assert_eq!(world.eval("document.title"), "Plain page");
}

#[test]
fn tabs_are_listed_with_current_titles() {
    let (world, site) = (World::new(), FixtureSite::start());
    world.open(&[&site.page("/plain")]);
    let title = |world: &World| world.json(&["tabs"])["result"]["tabs"][0]["title"].clone();
    assert_eq!(title(&world), "Plain page");
    world.eval("document.title = 'Renamed'");
    assert_eq!(title(&world), "Renamed");
}

#[test]
fn tab_ids_name_one_page_and_are_never_reused() {
    let (world, site) = (World::new(), FixtureSite::start());
    let first = world.open(&[&site.page("/plain")]);
    let second = world.open(&["--new-tab", &site.page("/form")]);
    assert_ne!(first, second);
    assert_eq!(world.run(&["eval", "location.pathname", "--tab", &first]).succeeded().text(), "/plain");
    assert_eq!(world.eval("location.pathname"), "/form", "the tab opened last is current");
    assert_eq!(world.open(&[&site.page("/console")]), second, "opening goes to the current tab");

    world.run(&["close", "--tab", &second]).succeeded();
    let closed = world.run(&["--json", "eval", "1", "--tab", &second]);
    assert_eq!(closed.failure(), ("TAB_NOT_FOUND".to_owned(), 1));
    assert_eq!(world.run(&["--json", "close", "--tab", &second]).failure().0, "TAB_NOT_FOUND");
    assert_eq!(world.eval("location.pathname"), "/plain", "another tab became current");
    let third = world.open(&["--new-tab", "about:blank"]);
    assert!(third != first && third != second, "{third} was used before");

    world.run(&["close"]).succeeded();
    world.open(&["about:blank"]);
    let stale = world.run(&["--json", "eval", "1", "--tab", &first]);
    assert_eq!(stale.failure(), ("STALE_TAB".to_owned(), 1));
    assert!(stale.stdout.contains("tabwire tabs"), "{}", stale.stdout);
    let unknown =
        world.run(&["--json", "eval", "1", "--tab", &with_number(&world.open(&["about:blank"]), 999)]);
    assert_eq!(unknown.failure(), ("TAB_NOT_FOUND".to_owned(), 1));
}

fn with_number(tab: &str, number: u32) -> String {
    let (front, _) = tab.rsplit_once(':').expect("a tab id");
    format!("{front}:{number}")
}
