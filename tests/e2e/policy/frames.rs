//! Ungranted frames in a granted page: no input, code or file reaches them, and no output shows them. Same-site frames
//! share the process of the page; others have their own.

use std::path::Path;

use tabwire_image::Image;

use crate::policy::grants::{allow, guarded, remedy};
use crate::support::fixture_site::FixtureSite;
use crate::support::wait::eventually;
use crate::support::world::World;

/// Text of the frames that must not be shown.
const CANARY: &str = "CANARY";

/// Same-process and cross-process sites beside `a`.
const OTHERS: [&str; 2] = ["x.a", "b"];

pub(crate) fn origin(site: &FixtureSite, name: &str) -> String {
    site.url(name, "").trim_end_matches('/').to_owned()
}

/// A guarded world with `act` and `eval` for site `a`.
fn with_own_site() -> (World, FixtureSite) {
    let (world, site) = (guarded(), FixtureSite::start());
    allow(&world, &[&origin(&site, "a"), "--act", "--eval", "--download", "--upload", "--carry"]);
    (world, site)
}

/// Opens a page of `a` with a frame, and waits until the frame is loaded.
fn open_framed(world: &World, site: &FixtureSite, query: &str) {
    let before = site.request_count("/framed/inner");
    world.run(&["open", &site.page(&format!("/framed?{query}"))]).succeeded();
    eventually("the frame is asked for", 15, || site.request_count("/framed/inner") > before);
    eventually("the frame is left out", 15, || world.run(&["snapshot"]).stderr.contains("left out"));
}

/// Moves the focus into the frame.
fn give_focus_to_frame(world: &World) {
    world
        .run(&["eval", "document.querySelector('#frame').contentWindow.postMessage('focus', '*')"])
        .succeeded();
}

#[test]
fn b5_frames_of_the_page_before_refuse_no_screenshot() {
    let (world, site) = with_own_site();
    allow(&world, &[&origin(&site, "c"), "--download"]);
    for other in OTHERS {
        open_framed(&world, &site, &format!("of={other}"));
        let refused = world.run(&["--json", "screenshot"]);
        assert_eq!(refused.failure().0, "POLICY_DENIED", "{other}: the frame would show");
        world.run(&["navigate", &site.url("c", "/plain")]).succeeded();
        world.run(&["screenshot"]).succeeded();
        world.run(&["find", "Plain"]).succeeded();
        assert_eq!(world.run(&["frame"]).succeeded().stdout.lines().count(), 1, "{other}");
    }
}

#[test]
fn h1_no_click_or_key_reaches_an_ungranted_frame() {
    let (world, site) = with_own_site();
    for other in OTHERS {
        open_framed(&world, &site, &format!("of={other}"));
        let wanted = format!("tabwire allow {} --act", origin(&site, other));
        let clicks: &[&[&str]] = &[
            &["click", "#frame", "--position", "20,20"],
            &["click", "#frame", "--position", "20,20", "--force"],
            &["dblclick", "#frame"],
            &["hover", "#frame"],
            &["tap", "#frame"],
            &["drag", "#own", "#frame"],
            &["drag", "#own", "--by", "120,220"],
            &["mouse", "move", "120,220"],
            &["mouse", "down", "120,220"],
            &["mouse", "wheel", "120,220", "--by", "0,50"],
        ];
        for arguments in clicks {
            assert_eq!(remedy(&world, arguments), wanted, "{other}: {arguments:?}");
        }
        // The element stays focused in its own document while the frame receives the keys.
        world.run(&["focus", "#field"]).succeeded();
        give_focus_to_frame(&world);
        for arguments in [&["type", "hello"][..], &["press", "a"], &["press", "Enter"]] {
            assert_eq!(remedy(&world, arguments), wanted, "{other}: {arguments:?}");
        }
        // The page's own elements still work.
        world.run(&["click", "#own"]).succeeded();
        assert_eq!(world.eval("output.textContent"), "clicked");
        world.run(&["type", "hello", "--target", "#field"]).succeeded();
        world.run(&["press", "!"]).succeeded();
        world.run(&["fill", "#field", "other"]).succeeded();
        assert_eq!(world.eval("field.value"), "other");
        assert_eq!(
            (site.request_count("/framed/clicked"), site.request_count("/framed/typed")),
            (0, 0),
            "{other}"
        );
    }
    open_framed(&world, &site, "of=x.a&closed=1");
    let wanted = format!("tabwire allow {} --act", origin(&site, "x.a"));
    assert_eq!(remedy(&world, &["mouse", "down", "120,220"]), wanted, "through a closed shadow root");
    assert_eq!(site.request_count("/framed/clicked"), 0);
    allow(&world, &[&origin(&site, "x.a"), "--act"]);
    world.run(&["mouse", "down", "120,220"]).succeeded();
    eventually("what was granted arrives", 10, || site.request_count("/framed/clicked") == 1);
}

#[test]
fn h1_a_frame_with_a_read_grant_gets_no_input() {
    let (world, site) = with_own_site();
    for other in OTHERS {
        allow(&world, &[&origin(&site, other)]);
        world.run(&["open", &site.page(&format!("/framed?of={other}"))]).succeeded();
        eventually("the frame is read", 15, || world.run(&["snapshot"]).stdout.contains("CANARY-inside"));
        let wanted = |capability: &str| format!("tabwire allow {} --{capability}", origin(&site, other));
        let acts: &[&[&str]] = &[
            &["click", "#inside"],
            &["fill", "#inner-field", "x"],
            &["type", "x", "--target", "#inner-field"],
            &["press", "--target", "#inner-field", "a"],
            &["focus", "#inner-field"],
            &["scroll", "--target", "#inside"],
            &["drag", "#own", "#inside"],
            &["drag", "#inside", "#own"],
            &["fill-form", "--field", "#inner-field=x"],
        ];
        for arguments in acts {
            assert_eq!(remedy(&world, arguments), wanted("act"), "{other}: {arguments:?}");
        }
        assert_eq!(remedy(&world, &["eval", "e => e.id", "--element", "#inside"]), wanted("eval"));
        assert!(world.run(&["get-text", "#inside"]).succeeded().stdout.contains("CANARY-inside"), "{other}");
        world.run(&["frame", "/framed/inner"]).succeeded();
        assert_eq!(remedy(&world, &["eval", "document.title"]), wanted("eval"));
        world.run(&["get-text"]).succeeded();
        world.run(&["frame", "main"]).succeeded();
        world.run(&["click", "#own"]).succeeded();
        assert_eq!(
            (site.request_count("/framed/clicked"), site.request_count("/framed/typed")),
            (0, 0),
            "{other}"
        );
    }
    world.run(&["open", "about:blank"]).succeeded();
}

#[test]
fn l1_l2_ungranted_frames_log_nothing_and_old_frames_are_gone() {
    let (world, site) = with_own_site();
    for other in OTHERS {
        open_framed(&world, &site, &format!("of={other}"));
        for arguments in [&["console", "--all"][..], &["errors", "--all"]] {
            let report = world.run(arguments).succeeded();
            assert!(
                !report.stdout.contains(CANARY) && !report.stderr.contains(CANARY),
                "{other}: {report:?}"
            );
        }
        assert!(world.run(&["console", "--all"]).succeeded().stdout.contains("line of the page"), "{other}");
        if other == "x.a" {
            let report = world.run(&["console", "--all"]).succeeded();
            assert!(
                report.stderr.contains("console line") && report.stderr.contains("left out"),
                "{report:?}"
            );
        }
        let listed = world.run(&["frame"]).succeeded();
        assert!(!listed.stdout.contains("/framed/inner"), "no path of what may not be read: {listed:?}");
        assert_eq!(world.json(&["frame"])["result"]["frames"].as_array().map(Vec::len), Some(2), "{other}");
        world.run(&["open", &site.page("/framed?of=none")]).succeeded();
        assert_eq!(world.json(&["frame"])["result"]["frames"].as_array().map(Vec::len), Some(1), "{other}");
        world.run(&["screenshot"]).succeeded();
        world.run(&["find", "Own"]).succeeded();
        world.run(&["back"]).succeeded();
        eventually("its frame is known again", 10, || {
            world.json(&["frame"])["result"]["frames"].as_array().map(Vec::len) == Some(2)
        });
    }
    world.run(&["open", "about:blank"]).succeeded();
}

/// Whether an image shows the frame, which is red.
fn shows_frame(path: &Path) -> bool {
    let image = Image::from_png(&std::fs::read(path).expect("an image")).expect("a PNG");
    let is_red = |pixel: &[u8]| pixel[0] > 200 && pixel[1] < 60 && pixel[2] < 60;
    image.pixels().chunks_exact(4).any(is_red)
}

/// A script that adds a frame of another site to the page, and resolves when it is loaded.
fn add_frame(site: &FixtureSite, other: &str) -> String {
    format!(
        "new Promise((done) => {{ const f = document.createElement('iframe'); f.id = 'late'; \
         f.onload = () => done(1); f.src = '{}'; f.style = 'width:300px;height:150px'; document.body.append(f); }})",
        site.url(other, "/framed/inner")
    )
}

/// Changes the page for sixty animation frames.
const MOVE: &str = "new Promise((done) => { let n = 0; const step = () => { document.body.style.padding = `${n}px`; \
     n++ < 60 ? requestAnimationFrame(step) : done(1); }; step(); })";

#[test]
fn m1_no_image_shows_an_ungranted_frame() {
    let (world, site) = with_own_site();
    for other in OTHERS {
        world.run(&["open", &site.page("/framed?of=none")]).succeeded();
        world.run(&["record", "start", "--format", "frames", "-o", other]).succeeded();
        for script in [&add_frame(&site, other), MOVE, "late.remove()", MOVE] {
            world.run(&["eval", script]).succeeded();
        }
        let stopped = world.run(&["record", "stop"]).succeeded();
        assert!(stopped.stderr.contains("images were left out"), "{other}: {stopped:?}");
        let frames = world.files(other);
        assert!(!frames.is_empty(), "{stopped:?}");
        for name in frames.iter().filter(|name| name.ends_with(".png")) {
            assert!(!shows_frame(&world.home().join(other).join(name)), "{other}: {name}");
        }
        // The capture of an action on such a page has no image.
        world.run(&["eval", &add_frame(&site, other)]).succeeded();
        let refused = world.run(&["capture", "on", "--directory", &format!("evidence-{other}")]);
        assert_eq!(refused.code, 3, "{refused:?}");
        world.run(&["eval", "late.remove()"]).succeeded();
        world.run(&["capture", "on", "--directory", &format!("evidence-{other}")]).succeeded();
        world.run(&["eval", &add_frame(&site, other)]).succeeded();
        world.run(&["click", "#own"]).succeeded();
        world.run(&["eval", "late.remove()"]).succeeded();
        world.run(&["capture", "off"]).succeeded();
        let evidence = world.files(&format!("evidence-{other}"));
        assert!(evidence.iter().any(|name| name.ends_with("-click.md")), "{evidence:?}");
        assert!(!evidence.iter().any(|name| name.ends_with("-click.png")), "{evidence:?}");
        check_images_while_frames_change(&world, &site, other);
    }
    world.run(&["open", "about:blank"]).succeeded();
}

fn check_images_while_frames_change(world: &World, site: &FixtureSite, other: &str) {
    let blink = format!(
        "{{ const blink = () => {}.then(() => setTimeout(() => {{ document.querySelector('#late').remove(); \
         setTimeout(blink, 40); }}, 40)); blink(); }}",
        add_frame(site, other)
    );
    world.run(&["eval", &blink]).succeeded();
    let mut refused = 0;
    for round in 0..8 {
        let name = format!("{other}-{round}.png");
        let taken = world.run(&["--json", "screenshot", "--full-page", "-o", &name]);
        if taken.code == 0 {
            assert!(!shows_frame(&world.home().join(&name)), "{other}: {taken:?}");
        } else {
            assert_eq!(taken.failure().0, "POLICY_DENIED", "{other}: {taken:?}");
            refused += 1;
        }
    }
    assert!(refused > 0, "{other}: no screenshot was taken while the frame was there");
}
