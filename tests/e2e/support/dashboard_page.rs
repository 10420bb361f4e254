//! The page of the dashboard in a real browser.

use serde_json::{Value, json};

use crate::support::cdp_client::CdpClient;
use crate::support::chromium::Chromium;
use crate::support::extension_pages::screenshot_directory;
use crate::support::page_checks::{FAULTS, KeyPage, send_key};
use crate::support::wait::find_eventually;
use crate::support::world::World;

/// The dashboard in a browser of the user.
pub(crate) struct Dashboard {
    pub(crate) client: CdpClient,
    pub(crate) session: String,
}

impl Dashboard {
    pub(crate) fn open(browser: &Chromium, url: &str) -> Self {
        Self::open_with(browser, url, "")
    }

    /// Opens it with a script that runs before its own.
    pub(crate) fn open_with(browser: &Chromium, url: &str, more: &str) -> Self {
        let mut client = CdpClient::connect(&browser.websocket());
        let page = client.open_page("about:blank");
        let watch = "window.violations = []; addEventListener('securitypolicyviolation', (event) => violations.push(event.violatedDirective))";
        let script = json!({"source": format!("{watch};\n{more}")});
        client.call("Page.enable", json!({}), Some(&page.session));
        client.call("Page.addScriptToEvaluateOnNewDocument", script, Some(&page.session));
        client.call("Page.navigate", json!({"url": url}), Some(&page.session));
        Self { client, session: page.session }
    }

    pub(crate) fn run(&mut self, expression: &str) -> Value {
        self.client.evaluate(expression, &self.session)
    }

    pub(crate) fn shows(&mut self, wanted: &str) {
        let mut text = Value::Null;
        let shown = find_eventually(20, || {
            text = self.run("document.body?.innerText ?? ''");
            text.as_str()?.contains(wanted).then_some(())
        });
        assert!(shown.is_some(), "{wanted:?} is not shown: {text}");
    }

    /// Clicks the button with this text, once it is enabled.
    pub(crate) fn press(&mut self, text: &str) {
        let find = format!(
            "(() => {{ const one = [...document.querySelectorAll('button')].find((one) => one.textContent === {text:?} && !one.disabled); \
             if (!one) return null; const {{x, y, width, height}} = one.getBoundingClientRect(); return [x + width / 2, y + height / 2]; }})()"
        );
        let place = find_eventually(20, || Some(self.run(&find)).filter(Value::is_array)).expect("a button");
        for kind in ["mousePressed", "mouseReleased"] {
            let event =
                json!({"type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1});
            self.client.call("Input.dispatchMouseEvent", event, Some(&self.session));
        }
    }

    /// Clicks the live page at a part of its width and height.
    pub(crate) fn click_page(&mut self, part: &Value) {
        let find = format!(
            "(() => {{ const one = document.querySelector('canvas.frames'), box = one.getBoundingClientRect(); \
             const scale = Math.min(box.width / one.width, box.height / one.height), [width, height] = [one.width * scale, one.height * scale]; \
             return [box.x + (box.width - width) / 2 + {part}[0] * width, box.y + (box.height - height) / 2 + {part}[1] * height]; }})()"
        );
        let place = self.run(&find);
        for kind in ["mousePressed", "mouseReleased"] {
            let event =
                json!({"type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1});
            self.client.call("Input.dispatchMouseEvent", event, Some(&self.session));
        }
    }

    /// Types letters, each as a key.
    pub(crate) fn type_keys(&mut self, text: &str) {
        for letter in text.chars() {
            let code = u32::from(letter.to_ascii_uppercase());
            let down =
                json!({"type": "keyDown", "key": letter, "text": letter, "windowsVirtualKeyCode": code});
            self.client.call("Input.dispatchKeyEvent", down, Some(&self.session));
            let up = json!({"type": "keyUp", "key": letter, "windowsVirtualKeyCode": code});
            self.client.call("Input.dispatchKeyEvent", up, Some(&self.session));
        }
    }

    /// Presses keys without text.
    pub(crate) fn press_keys(&mut self, keys: &[&str]) {
        for (key, kind) in keys.iter().flat_map(|key| [(key, "rawKeyDown"), (key, "keyUp")]) {
            self.client.call(
                "Input.dispatchKeyEvent",
                json!({"type": kind, "key": key}),
                Some(&self.session),
            );
        }
    }

    /// Inserts text without keys, as a finished composition does.
    pub(crate) fn insert_text(&mut self, text: &str) {
        self.client.call("Input.insertText", json!({"text": text}), Some(&self.session));
    }

    /// Chooses files of this machine in a file input of the dashboard.
    pub(crate) fn choose_files(&mut self, selector: &str, files: &[&str]) {
        let expression = json!({"expression": format!("document.querySelector({selector:?})")});
        let found = self.client.call("Runtime.evaluate", expression, Some(&self.session));
        let params = json!({"objectId": found["result"]["objectId"], "files": files});
        self.client.call("DOM.setFileInputFiles", params, Some(&self.session));
    }

    /// Opens a view.
    pub(crate) fn show_view(&mut self, id: &str) {
        self.run(&format!("void (location.hash = '{id}')"));
    }

    /// Waits until an expression is true.
    pub(crate) fn becomes(&mut self, expression: &str) {
        let is_true = find_eventually(20, || (self.run(expression) == true).then_some(()));
        assert!(is_true.is_some(), "{expression}: {}", self.run("document.body.innerText"));
    }

    /// Waits until the stage has drawn a frame.
    pub(crate) fn shows_frame(&mut self) {
        self.becomes("document.querySelector('.now')?.textContent === 'Live' && document.querySelector('canvas.frames').width > 16");
    }

    /// Emulates focus, so that it receives keys.
    pub(crate) fn take_keys(&mut self) {
        let on = json!({"enabled": true});
        self.client.call("Emulation.setFocusEmulationEnabled", on, Some(&self.session));
    }

    pub(crate) fn use_size(&mut self, width: u32, height: u32) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.client.call("Emulation.setDeviceMetricsOverride", size, Some(&self.session));
    }

    pub(crate) fn use_scheme(&mut self, scheme: &str) {
        let features = json!({"features": [
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]});
        self.client.call("Emulation.setEmulatedMedia", features, Some(&self.session));
    }

    /// Checks the page in both schemes at two widths, and saves its screenshots.
    pub(crate) fn save_screenshot(&mut self, name: &str) {
        // Chromium takes no screenshot of a hidden tab.
        self.client.call("Page.bringToFront", json!({}), Some(&self.session));
        for (scheme, width) in [("light", 1280), ("dark", 1280), ("light", 400), ("dark", 400)] {
            self.use_size(width, 800);
            self.use_scheme(scheme);
            let faults = self.run(FAULTS);
            assert_eq!(faults, json!([]), "{name} at {width} in the {scheme} scheme");
            let moving = "document.getAnimations().filter(({playState}) => playState === 'running').length";
            assert_eq!(self.run(moving), 0, "{name} moves although the user wants no motion");
            self.save_image(&format!("{name}-{width}-{scheme}.png"), &json!({}));
        }
        self.use_size(1280, 800);
    }

    /// Saves a small image for the pages of `docs/`.
    pub(crate) fn save_docs_image(&mut self, name: &str, width: u32) {
        self.client.call("Page.bringToFront", json!({}), Some(&self.session));
        self.use_size(width, 800);
        for scheme in ["light", "dark"] {
            self.use_scheme(scheme);
            let options = json!({"format": "webp", "quality": 82});
            self.save_image(&format!("{name}-{scheme}.webp"), &options);
        }
        self.use_size(1280, 800);
    }

    /// Saves a screenshot of the page as it is.
    pub(crate) fn save_image(&mut self, file: &str, options: &Value) {
        use base64::Engine as _;
        let image = self.client.call("Page.captureScreenshot", options.clone(), Some(&self.session));
        let data = image["data"].as_str().expect("an image");
        let bytes = base64::engine::general_purpose::STANDARD.decode(data).expect("base64");
        std::fs::create_dir_all(screenshot_directory()).expect("a directory");
        std::fs::write(screenshot_directory().join(file), bytes).expect("written");
    }
}

impl KeyPage for Dashboard {
    fn evaluate(&mut self, expression: &str) -> Value {
        self.run(expression)
    }

    fn key(&mut self, key: &str) {
        send_key(&mut self.client, &self.session, key);
    }
}

/// A URL that opens the dashboard once.
pub(crate) fn dashboard_url(world: &World) -> String {
    let url = world.json(&["dashboard", "--print", "--without-terminal"])["url"].clone();
    url.as_str().expect("a URL").to_owned()
}
