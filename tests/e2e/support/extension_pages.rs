//! The extension's popup and pages, read and clicked with a real pointer.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::support::cdp_client::CdpClient;
use crate::support::chromium::Chromium;
use crate::support::page_checks::{KeyPage, send_key};
use crate::support::wait::find_eventually;

const ORIGIN: &str = "chrome-extension://pimdfmoiaojahepkopikadchpocaecik/";

/// The extension's worker.
pub(crate) struct ExtensionWorker {
    client: CdpClient,
    session: String,
}

impl ExtensionWorker {
    pub(crate) fn of(browser: &Chromium) -> Self {
        let mut client = CdpClient::connect(&browser.websocket());
        let worker = format!("{ORIGIN}worker.js");
        let target = await_target(&mut client, &worker);
        let session = client.attach(&target);
        Self { client, session }
    }

    /// The worker of another extension.
    pub(crate) fn other_in(browser: &Chromium) -> Self {
        let mut client = CdpClient::connect(&browser.websocket());
        let found = find_eventually(30, || {
            let targets = client.call("Target.getTargets", json!({}), None);
            let is_other = |target: &&Value| {
                target["type"] == "service_worker"
                    && target["url"].as_str().is_some_and(|url| url.ends_with("/stranger.js"))
            };
            let target = targets["targetInfos"].as_array()?.iter().find(is_other)?;
            target["targetId"].as_str().map(str::to_owned)
        });
        let session = client.attach(&found.expect("another extension"));
        Self { client, session }
    }

    /// Evaluates in it and awaits promises.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        self.client.evaluate(expression, &self.session)
    }

    /// Stops it through an open page, as Chrome stops an idle worker. The next event that it listens for
    /// starts it again.
    pub(crate) fn stop(mut self, page: &str) {
        self.client.call("Target.detachFromTarget", json!({"sessionId": self.session}), None);
        let target = await_target(&mut self.client, page);
        let session = self.client.attach(&target);
        self.client.call("ServiceWorker.enable", json!({}), Some(&session));
        self.client.call("ServiceWorker.stopAllWorkers", json!({}), Some(&session));
    }

    /// The text of the badge.
    pub(crate) fn badge(&mut self) -> String {
        self.evaluate("chrome.action.getBadgeText({})").as_str().unwrap_or_default().to_owned()
    }
}

/// One of the extension's pages.
pub(crate) struct ExtensionView {
    client: CdpClient,
    session: String,
}

impl ExtensionView {
    /// The popup, opened as by the toolbar button, over the active tab.
    pub(crate) fn popup(browser: &Chromium) -> Self {
        let mut worker = ExtensionWorker::of(browser);
        let opened = "chrome.windows.getAll({windowTypes: ['normal']})\
            .then(([first]) => chrome.windows.update(first.id, {focused: true}))\
            .then(() => chrome.action.openPopup()).then(() => '', String)";
        // A new window is not active at once.
        let is_open = find_eventually(20, || (worker.evaluate(opened) == "").then_some(()));
        assert!(is_open.is_some(), "the popup opens");
        Self::attached(worker.client, "popup/popup.html")
    }

    /// The side panel, opened by a click on Chat in the popup.
    pub(crate) fn panel(browser: &Chromium) -> Self {
        let mut popup = Self::popup(browser);
        let url = format!("{ORIGIN}panel/panel.html");
        // A click misses a button that moves because the popup shows a new state; the user clicks again.
        let came = find_eventually(30, || {
            popup.click_on_chat();
            find_eventually(5, || find_target(&mut popup.client, &url))
        });
        assert!(came.is_some(), "the side panel opens");
        Self::attached(popup.client, "panel/panel.html")
    }

    /// Clicks on Chat, unless the popup has closed. It closes itself, maybe before it has answered.
    fn click_on_chat(&mut self) {
        if find_target(&mut self.client, &format!("{ORIGIN}popup/popup.html")).is_none() {
            return;
        }
        let place = self.place_of("Chat");
        for kind in ["mousePressed", "mouseReleased"] {
            let event =
                json!({"type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1});
            self.client.send("Input.dispatchMouseEvent", event, Some(&self.session));
        }
    }

    /// The options page, in its own window.
    pub(crate) fn options(browser: &Chromium) -> Self {
        Self::options_at(browser, "")
    }

    /// The options page with a query string.
    pub(crate) fn options_at(browser: &Chromium, query: &str) -> Self {
        let mut client = CdpClient::connect(&browser.websocket());
        let path = format!("options/options.html{query}");
        client.call(
            "Target.createTarget",
            json!({"url": format!("{ORIGIN}{path}"), "newWindow": true}),
            None,
        );
        Self::attached(client, &path)
    }

    fn attached(mut client: CdpClient, path: &str) -> Self {
        let target = await_target(&mut client, &format!("{ORIGIN}{path}"));
        let session = client.attach(&target);
        Self { client, session }
    }

    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        self.client.evaluate(expression, &self.session)
    }

    /// Its visible text.
    pub(crate) fn text(&mut self) -> String {
        self.evaluate("document.body.innerText").as_str().unwrap_or_default().to_owned()
    }

    /// Waits until it shows a text.
    pub(crate) fn shows(&mut self, wanted: &str) {
        let mut last = String::new();
        let shown = find_eventually(20, || {
            last = self.text();
            last.contains(wanted).then_some(())
        });
        assert!(shown.is_some(), "{wanted:?} is not shown: {last}");
    }

    /// Waits until it no longer shows a text.
    pub(crate) fn shows_no_more(&mut self, unwanted: &str) {
        let gone = find_eventually(20, || (!self.text().contains(unwanted)).then_some(()));
        assert!(gone.is_some(), "{unwanted:?} is still shown: {}", self.text());
    }

    /// The middle of the control with this text, once it is enabled and has stopped moving.
    fn place_of(&mut self, text: &str) -> Value {
        let find = format!(
            "(() => {{\
               const names = (one) => [one.textContent.trim(), one.getAttribute('aria-label') ?? ''];\
               const fits = (one) => names(one).some((name) => name.startsWith({text:?})) && !one.disabled;\
               const found = [...document.querySelectorAll('button, summary, label')].find(fits);\
               if (!found) return null;\
               found.scrollIntoView({{block: 'center'}});\
               const {{x, y, width, height}} = found.getBoundingClientRect();\
               const before = window.pressedAt;\
               window.pressedAt = width > 0 ? [x + width / 2, y + height / 2] : null;\
               return String(before) === String(window.pressedAt) ? window.pressedAt : null;\
             }})()"
        );
        let place = find_eventually(20, || Some(self.evaluate(&find)).filter(Value::is_array));
        place.unwrap_or_else(|| panic!("nothing says {text:?}: {}", self.text()))
    }

    /// Clicks the control with this text.
    pub(crate) fn press(&mut self, text: &str) {
        let place = self.place_of(text);
        for kind in ["mousePressed", "mouseReleased"] {
            let event =
                json!({"type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1});
            self.client.call("Input.dispatchMouseEvent", event, Some(&self.session));
        }
    }

    /// Waits until an expression is true.
    pub(crate) fn becomes(&mut self, what: &str, expression: &str) {
        let mut last = Value::Null;
        let came = find_eventually(20, || {
            last = self.evaluate(expression);
            (last == true).then_some(())
        });
        assert!(came.is_some(), "{what}: {expression} is {last}; {}", self.text());
    }

    /// Uses a colour scheme, and no transitions: a page in the background draws no frames for them.
    pub(crate) fn use_scheme(&mut self, scheme: &str) {
        let feature = |name: &str, value: &str| json!({"name": name, "value": value});
        let features = [feature("prefers-color-scheme", scheme), feature("prefers-reduced-motion", "reduce")];
        self.client.call("Emulation.setEmulatedMedia", json!({"features": features}), Some(&self.session));
    }

    /// Lays the page out in a window of this width.
    pub(crate) fn use_width(&mut self, width: u32) {
        let size = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
        self.client.call("Emulation.setDeviceMetricsOverride", size, Some(&self.session));
    }

    /// Writes a screenshot in each colour scheme to `target/screenshots/NAME-SCHEME.png`; `is_whole` includes
    /// what is below the window.
    pub(crate) fn save_screenshots(&mut self, name: &str, is_whole: bool) {
        for scheme in ["light", "dark"] {
            self.use_scheme(scheme);
            let options = json!({"format": "png", "captureBeyondViewport": is_whole});
            let image = self.client.call("Page.captureScreenshot", options, Some(&self.session));
            let bytes = STANDARD.decode(image["data"].as_str().expect("an image")).expect("base64");
            let directory = screenshot_directory();
            std::fs::create_dir_all(&directory).expect("a directory");
            std::fs::write(directory.join(format!("{name}-{scheme}.png")), bytes).expect("written");
        }
    }

    /// Emulates focus, so that it receives keys.
    pub(crate) fn take_keys(&mut self) {
        let on = json!({"enabled": true});
        self.client.call("Emulation.setFocusEmulationEnabled", on, Some(&self.session));
    }

    /// Presses and releases a key.
    pub(crate) fn key(&mut self, key: &str) {
        send_key(&mut self.client, &self.session, key);
    }

    /// Chooses files of this machine in a file input.
    pub(crate) fn choose_files(&mut self, selector: &str, files: &[&str]) {
        let expression = json!({"expression": format!("document.querySelector({selector:?})")});
        let found = self.client.call("Runtime.evaluate", expression, Some(&self.session));
        let params = json!({"objectId": found["result"]["objectId"], "files": files});
        self.client.call("DOM.setFileInputFiles", params, Some(&self.session));
    }

    /// Types into the element of a selector.
    pub(crate) fn type_into(&mut self, selector: &str, text: &str) {
        self.evaluate(&format!("document.querySelector({selector:?}).focus()"));
        self.client.call("Input.insertText", json!({"text": text}), Some(&self.session));
    }
}

impl KeyPage for ExtensionView {
    fn evaluate(&mut self, expression: &str) -> Value {
        Self::evaluate(self, expression)
    }

    fn key(&mut self, key: &str) {
        Self::key(self, key);
    }
}

/// Where screenshots of the tests are.
pub(crate) fn screenshot_directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/screenshots")
}

/// Reloads the extension on chrome://extensions, as a user does. Chrome keeps unpacked extensions only in
/// developer mode.
pub(crate) fn reload_extension(browser: &Chromium) {
    let mut client = CdpClient::connect(&browser.websocket());
    let page = client.call("Target.createTarget", json!({"url": "chrome://extensions/"}), None);
    let target = page["targetId"].as_str().expect("a target").to_owned();
    let session = client.attach(&target);
    let ready = "document.readyState === 'complete' && typeof chrome.developerPrivate?.reload === 'function'";
    let is_ready = find_eventually(20, || (client.evaluate(ready, &session) == true).then_some(()));
    assert!(is_ready.is_some(), "the page of extensions does not load");
    let id = ORIGIN.split('/').nth(2).expect("an id");
    let reload = format!(
        "chrome.developerPrivate.updateProfileConfiguration({{inDeveloperMode: true}})\
         .then(() => chrome.developerPrivate.reload({id:?}, {{failQuietly: true}})).then(() => '', String)"
    );
    assert_eq!(client.evaluate(&reload, &session), "");
    client.call("Target.closeTarget", json!({"targetId": target}), None);
}

fn await_target(client: &mut CdpClient, url: &str) -> String {
    let found = find_eventually(30, || find_target(client, url));
    found.unwrap_or_else(|| panic!("there is no {url}"))
}

fn find_target(client: &mut CdpClient, url: &str) -> Option<String> {
    let targets = client.call("Target.getTargets", json!({}), None);
    let fits = |target: &&Value| target["url"] == url && target["type"] != "tab";
    let target = targets["targetInfos"].as_array()?.iter().find(fits)?;
    target["targetId"].as_str().map(str::to_owned)
}
