//! A frame of another extension: Chrome detaches the debugger from the tab, so actions fail with a reason until the
//! frame is gone.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use crate::own_browser::driving::{await_connected, install_into};
use crate::support::cdp_client::CdpClient;
use crate::support::chromium::Chromium;
use crate::support::fixture_site::FixtureSite;
use crate::support::wait::{eventually, find_eventually};
use crate::support::world::World;

/// An extension that adds its own frame to a page on request, as password managers do.
fn framing_extension(world: &World) -> PathBuf {
    let folder = world.home().join("framing");
    fs::create_dir(&folder).expect("a folder");
    let manifest = json!({
        "manifest_version": 3, "name": "Framing", "version": "1",
        "content_scripts": [{"matches": ["http://*/plain*"], "js": ["content.js"]}],
        "web_accessible_resources": [{"resources": ["frame.html"], "matches": ["<all_urls>"]}],
    });
    let content = "addEventListener('message', ({ data }) => {\n\
        const frame = document.getElementById('foreign') ?? document.createElement('iframe');\n\
        if (data !== 'frame') return frame.remove();\n\
        Object.assign(frame, { id: 'foreign', src: chrome.runtime.getURL('frame.html') });\n\
        document.body.append(frame);\n\
        });\n\
        document.documentElement.dataset.framing = 'ready';\n";
    for (name, text) in [
        ("manifest.json", manifest.to_string()),
        ("content.js", content.to_owned()),
        ("frame.html", "<!doctype html><title>Foreign</title><p>Foreign</p>".to_owned()),
    ] {
        fs::write(folder.join(name), text).expect("written");
    }
    folder
}

/// The user's own CDP session on a page.
fn attach_as_user(user: &mut CdpClient, url: &str) -> String {
    let found = find_eventually(10, || {
        let targets = user.call("Target.getTargets", json!({}), None);
        let is_it = |target: &&serde_json::Value| target["type"] == "page" && target["url"] == url;
        let target = targets["targetInfos"].as_array()?.iter().find(is_it)?;
        target["targetId"].as_str().map(str::to_owned)
    });
    user.attach(&found.expect("the page is there"))
}

#[test]
fn f08_a_foreign_extension_frame_blocks_work_until_it_is_gone() {
    let (world, site) = (World::new(), FixtureSite::start());
    let framing = framing_extension(&world);
    let browser = Chromium::with_extensions(|profile| install_into(&world, profile), &[framing]);
    await_connected(&world);
    let beside = world.open(&["--upstream", "extension", "--policy", "open", &site.page("/form")]);
    let url = site.page("/plain?framed");
    let tab = world.run(&["--json", "tab-new", &url]).succeeded().json();
    let tab = tab["result"]["tab"].as_str().expect("a tab").to_owned();
    world.run(&["eval", "window.kept = 42", "--tab", &tab]).succeeded();
    let mut user = CdpClient::connect(&browser.websocket());
    let page = attach_as_user(&mut user, &url);
    let is_ready = "document.documentElement.dataset.framing";
    find_eventually(10, || (user.evaluate(is_ready, &page) == "ready").then_some(()))
        .expect("the other extension is there");

    user.evaluate("postMessage('frame', '*')", &page);
    let refused = find_eventually(20, || {
        let outcome = world.run(&["--json", "eval", "1", "--tab", &tab]);
        (outcome.code != 0 && outcome.stdout.contains("Another extension has a frame")).then_some(outcome)
    });
    let refused =
        refused.unwrap_or_else(|| panic!("{:?}", world.run(&["--json", "eval", "1", "--tab", &tab])));
    assert_eq!(refused.failure().0, "DETACHED", "{refused:?}");
    assert_eq!(world.run(&["eval", "document.title", "--tab", &beside]).succeeded().text(), "Form");

    user.evaluate("postMessage('gone', '*')", &page);
    eventually("work continues", 20, || world.run(&["eval", "1", "--tab", &tab]).code == 0);
    assert_eq!(world.run(&["eval", "window.kept", "--tab", &tab]).succeeded().text(), "42");
    world.run(&["close"]).succeeded();
}
