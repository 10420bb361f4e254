//! The user takes over a tab, pauses and stops agents; and what agents and CDP clients notice of it.

use serde_json::{Value, json};

use crate::support::cdp_client::CdpClient;
use crate::support::chromium::Chromium;
use crate::support::dashboard_page::{Dashboard, dashboard_url};
use crate::support::fixture_site::FixtureSite;
use crate::support::process::kill;
use crate::support::wait::eventually;
use crate::support::world::{World, wait};

/// A session with a form, the stage of it, and a CDP client that sees its page.
struct Scene {
    page: Dashboard,
    client: CdpClient,
    session: String,
    browser: Chromium,
    _site: FixtureSite,
    /// The last: it checks that the others have left nothing.
    world: World,
}

impl Scene {
    fn new() -> Self {
        let (world, site, browser) = (World::new(), FixtureSite::start(), Chromium::with_port());
        world.run(&["open", &site.page("/form")]).succeeded();
        let mut client = CdpClient::connect(&format!("{}?share=all", world.cdp_url()));
        let targets = client.call("Target.getTargets", json!({}), None)["targetInfos"].take();
        let shown = |one: &&Value| one["url"].as_str().is_some_and(|url| url.ends_with("/form"));
        let target =
            targets.as_array().into_iter().flatten().find(shown).expect("the form")["targetId"].clone();
        let session = client.attach(target.as_str().expect("an id"));
        let mut page = Dashboard::open(&browser, &format!("{}&session=default", dashboard_url(&world)));
        page.shows_frame();
        Self { world, browser, page, client, session, _site: site }
    }

    fn take_over(&mut self) {
        self.page.press("Take over");
        self.page.shows("You have mouse and keyboard.");
    }

    /// Evaluates in the page as a CDP client, which may look while the user drives.
    fn look(&mut self, expression: &str) -> Value {
        self.client.evaluate(expression, &self.session)
    }

    fn place_of(&mut self, selector: &str) -> Value {
        self.look(&format!(
            "(() => {{ const {{x, y, width, height}} = document.querySelector('{selector}').getBoundingClientRect(); \
             return [(x + width / 2) / innerWidth, (y + height / 2) / innerHeight]; }})()"
        ))
    }

    /// The id of the form's tab.
    fn tab(&self) -> String {
        let tabs = self.world.json(&["tabs"])["result"]["tabs"].clone();
        tabs[0]["tab"].as_str().expect("a tab").to_owned()
    }

    fn holds(&mut self, selector: &str, text: &str) {
        let value = format!("document.querySelector('{selector}').value");
        eventually(text, 20, || self.look(&value) == text);
    }
}

#[test]
fn the_user_types_into_the_page_and_the_agent_waits() {
    let mut scene = Scene::new();
    scene.take_over();
    scene.page.save_screenshot("live-taken");
    let name = scene.place_of("#name");
    scene.page.click_page(&name);
    scene.page.type_keys("Zo");
    // A dead key and a paste report their text without a key.
    scene.page.insert_text("ë");
    scene.holds("#name", "Zoë");
    let click = ["--json", "--as", "codex", "click", "#agree", "--timeout", "60s", "--tab", &scene.tab()];
    let waiting = scene.world.start(&click);
    scene.page.shows("waits");
    scene.page.save_screenshot("live-agent-waits");
    assert_eq!(scene.look("document.querySelector('#agree').checked"), false, "it waits");
    let refused = scene.client.ask("Input.insertText", json!({"text": "x"}), Some(&scene.session));
    assert!(
        refused["error"]["message"].as_str().is_some_and(|text| text.contains("taken over")),
        "{refused}"
    );
    let refused = scene.client.ask("Page.navigate", json!({"url": "about:blank"}), Some(&scene.session));
    assert!(refused.get("error").is_some(), "{refused}");
    let late = scene.world.run(&["--json", "click", "#agree", "--timeout", "500ms"]);
    assert_eq!(late.failure(), ("TAKEN_OVER".to_owned(), 1), "{late:?}");
    scene.page.press_keys(&["Escape", "Escape"]);
    let clicked = wait(waiting, &["click"]).succeeded();
    assert!(clicked.json()["notices"].to_string().contains("take a new snapshot"), "{clicked:?}");
    assert_eq!(scene.look("document.querySelector('#agree').checked"), true);
    scene.page.shows("Take over");
    // What was typed is in no row; that it was taken over is.
    let log = scene.world.run(&["log", "--json"]).succeeded().text().to_owned();
    assert!(log.contains("take_over") && log.contains("give_back") && !log.contains("Zo"), "{log}");
    assert_eq!(scene.page.run("violations"), json!([]));
}

#[test]
fn the_stage_takes_wheel_touch_compositions_and_a_paste() {
    let mut scene = Scene::new();
    scene.look("void (document.body.style.height = '5000px', window.touched = [], ['touchstart', 'touchend'].forEach((kind) => addEventListener(kind, () => touched.push(kind))))");
    scene.take_over();
    let name = scene.place_of("#name");
    scene.page.click_page(&name);
    let page = scene.page.session.clone();
    // An input method: the text while it is composed, and then the finished one.
    let composed = json!({"text": "´", "selectionStart": 1, "selectionEnd": 1});
    scene.page.client.call("Input.imeSetComposition", composed, Some(&page));
    scene.page.insert_text("é");
    scene.holds("#name", "é");
    let paste = "(() => { const data = new DataTransfer(); data.setData('text/plain', ' pasted'); \
        return document.activeElement.dispatchEvent(new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true})); })()";
    assert_eq!(scene.page.run(paste), true, "a paste of a script is ignored");
    scene.page.insert_text(" pasted text");
    scene.holds("#name", "é pasted text");
    let place = scene.page.run(
        "(() => { const {x, y, width, height} = document.querySelector('canvas.frames').getBoundingClientRect(); return [x + width / 2, y + height * .9]; })()",
    );
    let wheel = json!({"type": "mouseWheel", "x": place[0], "y": place[1], "deltaX": 0, "deltaY": 300});
    scene.page.client.call("Input.dispatchMouseEvent", wheel, Some(&page));
    eventually("the page scrolls", 20, || scene.look("scrollY > 0") == true);
    for (kind, points) in [("touchStart", json!([{"x": place[0], "y": place[1]}])), ("touchEnd", json!([]))] {
        let touch = json!({"type": kind, "touchPoints": points});
        scene.page.client.call("Input.dispatchTouchEvent", touch, Some(&page));
    }
    eventually("the page is touched", 20, || scene.look("touched.join()") == "touchstart,touchend");
    assert_eq!(scene.page.run("violations"), json!([]));
}

#[test]
fn another_dashboard_sees_a_taken_tab_and_a_closed_one_gives_it_back() {
    let mut scene = Scene::new();
    scene.take_over();
    let other = Chromium::with_port();
    let mut second = Dashboard::open(&other, &format!("{}&session=default", dashboard_url(&scene.world)));
    second.shows("Another dashboard has taken over this tab.");
    assert_eq!(
        second.run(
            "[...document.querySelectorAll('button')].find((one) => one.textContent === 'Take over').disabled"
        ),
        true
    );
    second.save_screenshot("live-elsewhere");
    scene.browser.kill();
    second.shows_frame();
    scene.world.run(&["click", "#agree"]).succeeded();
    let log = scene.world.run(&["log", "--json"]).succeeded().text().to_owned();
    assert!(log.contains("give_back"), "{log}");
}

#[test]
fn the_user_pauses_resumes_and_stops_agents() {
    let mut scene = Scene::new();
    scene.page.press("Pause");
    scene.page.shows("Actions wait until you press Resume.");
    scene.page.save_screenshot("live-paused");
    let late = scene.world.run(&["--json", "click", "#agree", "--timeout", "500ms"]);
    assert_eq!(late.failure(), ("PAUSED".to_owned(), 1), "{late:?}");
    let waiting = scene.world.start(&["--json", "click", "#agree", "--timeout", "60s"]);
    scene.page.shows("waits");
    scene.page.press("Resume");
    wait(waiting, &["click"]).succeeded();
    // A running action ends, new ones fail at once, and CDP clients are disconnected.
    let running = scene.world.start(&["--json", "wait-for", "--text", "never there", "--timeout", "60s"]);
    scene.page.shows("Command line");
    scene.page.press("Stop");
    let ended = wait(running, &["wait-for"]);
    assert_eq!(ended.failure(), ("PAUSED".to_owned(), 1), "{ended:?}");
    scene.page.shows("Actions fail until you press Resume.");
    scene.page.save_screenshot("live-stopped");
    let refused = scene.world.run(&["--json", "click", "#agree"]);
    assert_eq!(refused.failure().0, "PAUSED");
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while let Ok(message) = scene.client.read_message(deadline) {
        assert!(message.is_some(), "the client is disconnected");
    }
    scene.page.press("Resume");
    eventually("resumed", 20, || scene.world.run(&["click", "#agree"]).code == 0);
}

#[test]
fn the_last_frame_is_grey_when_the_connection_is_lost() {
    let mut scene = Scene::new();
    scene.page.shows_frame();
    kill(scene.world.daemon_pid());
    scene.page.shows("Connection lost");
    assert_eq!(scene.page.run("document.querySelector('.cover').hidden"), true, "the last frame stays");
    assert_eq!(
        scene.page.run("getComputedStyle(document.querySelector('canvas.frames')).filter"),
        "grayscale(1)"
    );
    scene.page.save_screenshot("live-lost");
    scene.world.run(&["tabs"]).succeeded();
}
