//! Firefox over WebDriver BiDi: the commands that agents use most, and what survives what. One browser start in all.

use crate::support::fixture_site::FixtureSite;
use crate::support::process::kill;
use crate::support::world::World;

#[test]
fn firefox_is_driven_like_chromium_and_survives_the_daemon() {
    let (world, site) = (World::new(), FixtureSite::start());
    world.open(&["--browser", "firefox", &site.page("/plain")]);
    let clicked = world.run(&["click", "#count"]).succeeded();
    assert!(clicked.stdout.starts_with("clicked button"), "{clicked:?}");
    assert_eq!(world.eval("({a: [1, {b: null}]}).a[1].b === null"), "true");
    world
        .run(&["eval", "document.body.innerHTML = '<input id=i><iframe srcdoc=\"<b>inside\"></iframe>'"])
        .succeeded();
    world.run(&["fill", "#i", "grüße"]).succeeded();
    let seen = world.run(&["snapshot"]).succeeded().stdout;
    assert!(seen.contains("value=\"grüße\"") && seen.contains("inside"), "{seen}");
    world.run(&["eval", "document.querySelector('iframe').style = 'width:0;height:0;border:0'"]).succeeded();
    let seen = world.run(&["snapshot"]).succeeded().stdout;
    assert!(!seen.contains("inside"), "the text of a frame without size: {seen}");
    world.run(&["eval", "setTimeout(() => alert('m'), 50)"]).succeeded();
    let closed = crate::support::wait::find_eventually(10, || {
        let closed = world.run(&["dialog", "accept"]);
        (closed.code == 0).then_some(closed)
    });
    assert!(closed.is_some_and(|closed| closed.stdout.contains("accepted alert \"m\"")));
    for (arguments, code) in
        [(&["trace", "start"][..], "UNSUPPORTED_HERE"), (&["cdp-url"][..], "UNSUPPORTED_HERE")]
    {
        let arguments: Vec<&str> = ["--json"].iter().chain(arguments).copied().collect();
        assert_eq!(world.run(&arguments).failure().0, code, "{arguments:?}");
    }
    kill(world.daemon_pid());
    assert_eq!(world.eval("document.querySelector('#i').value"), "grüße");
    world.run(&["close"]).succeeded();
}
