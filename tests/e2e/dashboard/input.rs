//! Live view and take-over in every kind of browser: mouse, wheel, touch, keys, composition, paste, and files.

use serde_json::{Value, json};

use crate::own_browser::tabs::connected_browser;
use crate::support::cdp_client::CdpClient;
use crate::support::chromium::Chromium;
use crate::support::dashboard_socket::{DashboardKey, DashboardSocket};
use crate::support::fixture_site::FixtureSite;
use crate::support::virtual_display::VirtualDisplay;
use crate::support::wait::{eventually, find_eventually};
use crate::support::world::World;

/// A page that notes its events, with a field at the top left and a file input below it.
const PAGE: &str = "void (() => { window.seen = []; \
    const note = (event) => seen.push(`${event.type} ${event.data ?? event.key ?? event.ctrlKey ?? ''}`); \
    for (const kind of ['wheel', 'touchstart', 'touchmove', 'touchend', 'compositionstart', 'compositionend', 'mousedown', 'click', 'keydown']) \
        addEventListener(kind, note, {capture: true, passive: true}); \
    const add = (name, more, top, height) => { const one = document.createElement(name); Object.assign(one, more); \
        one.style.cssText = `position: fixed; left: 0; top: ${top}px; width: 200px; height: ${height}px`; document.body.append(one); }; \
    add('textarea', {id: 'field'}, 0, 100); add('input', {id: 'files', type: 'file', multiple: true}, 120, 60); \
    document.body.style.height = '5000px'; })()";

/// A page that the user has taken over, and a CDP client that looks.
struct Scene {
    key: DashboardKey,
    stage: DashboardSocket,
    client: CdpClient,
    session: String,
    /// The browser of the user, if it is used.
    browser: Option<Chromium>,
    /// The last: it checks that the others have left nothing.
    world: World,
}

impl Scene {
    fn new(world: World, site: &FixtureSite, browser: Option<Chromium>, upstream: &[&str]) -> Self {
        let url = site.page("/plain?input");
        world.run(&[&["open", "--policy", "open"], upstream, &[url.as_str()]].concat()).succeeded();
        world.eval(PAGE);
        let mut client = CdpClient::connect(&format!("{}?share=all", world.cdp_url()));
        let targets = client.call("Target.getTargets", json!({}), None)["targetInfos"].take();
        let is_it = |one: &&Value| one["url"] == url.as_str();
        let target =
            targets.as_array().into_iter().flatten().find(is_it).expect("the page")["targetId"].clone();
        let session = client.attach(target.as_str().expect("an id"));
        let key = DashboardKey::new(&world);
        let mut stage = key.stage("default");
        // A tab in front is drawn.
        if upstream.contains(&"--headed") {
            stage.image();
        }
        let taken = find_eventually(20, || {
            stage.say(&json!({"type": "take"}));
            stage.find("an answer", |message| match message["type"].as_str() {
                Some("failed") => Some(None),
                Some("view") if message["taken"] == "you" => Some(Some(())),
                _ => None,
            })
        });
        assert!(taken.is_some(), "the tab is taken");
        Self { key, stage, client, session, browser, world }
    }

    fn input(&mut self, input: &Value) {
        self.stage.say(&json!({"type": "input", "input": input}));
    }

    fn look(&mut self, expression: &str) -> Value {
        self.client.evaluate(expression, &self.session)
    }

    fn sees(&mut self, wanted: &str) {
        let mut seen = Value::Null;
        let found = find_eventually(20, || {
            seen = self.look("seen.join('\\n')");
            seen.as_str()?.contains(wanted).then_some(())
        });
        assert!(found.is_some(), "{wanted:?} is not in {seen}");
    }

    fn click(&mut self, x: f64, y: f64, modifiers: u8) {
        for (what, buttons) in [("mouseMoved", 0), ("mousePressed", 1), ("mouseReleased", 0)] {
            let (button, clicks) = if what == "mouseMoved" { ("none", 0) } else { ("left", 1) };
            self.input(&json!({
                "kind": "mouse", "what": what, "x": x, "y": y, "button": button, "buttons": buttons,
                "clicks": clicks, "modifiers": modifiers,
            }));
        }
    }

    fn key(&mut self, key: &str, code: &str, key_code: u16, text: &str) {
        for is_down in [true, false] {
            self.input(&json!({
                "kind": "key", "is_down": is_down, "key": key, "code": code, "key_code": key_code,
                "text": if is_down { text } else { "" }, "location": 0, "repeat": false, "modifiers": 0,
            }));
        }
    }

    fn takes_every_input(&mut self) {
        self.click(50.0, 50.0, 0);
        self.sees("mousedown false");
        self.key("a", "KeyA", 65, "a");
        self.sees("keydown a");
        // A dead key, or an input method: the text while it is composed, and then the finished one.
        self.input(&json!({"kind": "compose", "text": "´"}));
        self.sees("compositionstart");
        self.input(&json!({"kind": "text", "text": "é"}));
        self.sees("compositionend é");
        self.input(&json!({"kind": "text", "text": " pasted words\nof two lines"}));
        eventually("the text", 20, || self.look("field.value") == "aé pasted words\nof two lines");
        self.click(400.0, 300.0, 2);
        self.sees("mousedown true");
        self.input(&json!({"kind": "wheel", "x": 400, "y": 300, "dx": 0, "dy": 400, "modifiers": 0}));
        self.sees("wheel");
        eventually("the page scrolls", 20, || self.look("scrollY > 0") == true);
        for (what, points) in [
            ("touchStart", json!([{"x": 400, "y": 300, "id": 0}])),
            ("touchMove", json!([{"x": 402, "y": 303, "id": 0}])),
            ("touchEnd", json!([])),
        ] {
            self.input(&json!({"kind": "touch", "what": what, "points": points, "modifiers": 0}));
        }
        self.sees("touchend");
    }

    /// Opens the file chooser; whether it takes several files.
    fn opens_chooser(&mut self) -> bool {
        self.click(60.0, 150.0, 0);
        self.stage.find("the file chooser", |message| message["chooser"].as_bool())
    }

    fn no_chooser(&mut self) {
        self.stage.find("no file chooser", |message| {
            (message["type"] == "view" && message["chooser"].is_null()).then_some(())
        });
    }

    fn takes_files(&mut self) {
        assert!(self.opens_chooser(), "several files");
        for (number, name, content) in [(0, "one.txt", "first"), (1, "two.txt", "second one")] {
            let length = u8::try_from(name.len()).expect("short");
            self.stage.say_bytes(&[&[1, number, length][..], name.as_bytes(), content.as_bytes()].concat());
        }
        self.stage.say(&json!({"type": "choose"}));
        let names = "[...files.files].map((one) => `${one.name} ${one.size}`).join()";
        eventually("the files", 20, || self.look(names) == "one.txt 5,two.txt 10");
        self.no_chooser();
        // Cancelled: the page keeps what it has.
        self.opens_chooser();
        self.stage.say(&json!({"type": "choose"}));
        self.no_chooser();
        assert_eq!(self.look(names), "one.txt 5,two.txt 10");
    }

    fn ends(mut self) {
        self.stage.say(&json!({"type": "give"}));
        self.stage.find("given back", |message| {
            (message["type"] == "view" && message["taken"].is_null()).then_some(())
        });
        self.world.run(&["eval", "1"]).succeeded();
        drop(self.client);
        drop(self.stage);
        self.world.run(&["close"]).succeeded();
        drop(self.browser);
    }
}

#[test]
fn a_launched_browser_takes_every_input_and_files() {
    let site = FixtureSite::start();
    let mut scene = Scene::new(World::new(), &site, None, &[]);
    scene.takes_every_input();
    scene.takes_files();
    scene.ends();
}

#[test]
fn an_attached_browser_takes_every_input_and_files() {
    let (site, browser) = (FixtureSite::start(), Chromium::with_port());
    let port = browser.port().to_string();
    let mut scene = Scene::new(World::new(), &site, Some(browser), &["--cdp", &port]);
    scene.takes_every_input();
    scene.takes_files();
    scene.ends();
}

#[test]
fn the_own_browser_takes_every_input() {
    let (world, site) = (World::new(), FixtureSite::start());
    let browser = connected_browser(&world);
    let mut scene = Scene::new(world, &site, Some(browser), &["--upstream", "extension"]);
    scene.takes_every_input();
    scene.ends();
}

#[test]
fn a_browser_with_a_window_is_shown_and_takes_every_input() {
    let display = VirtualDisplay::start();
    let (world, site) =
        (World::new().with_whole_chromium().with("DISPLAY", &display.name), FixtureSite::start());
    let mut scene = Scene::new(world, &site, None, &["--headed"]);
    scene.takes_every_input();
    // The wall of the same dashboard: another one does not see what the user types.
    let mut wall = scene.key.wall();
    let image = wall.image();
    assert_eq!(&image[8..12], b"WEBP");
    assert!(image.len() > 100, "{}", image.len());
    drop(wall);
    scene.ends();
}
