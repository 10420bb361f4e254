//! Clicks Cancel on Chrome's debugger bar, a button in the browser's own user interface.

use serde_json::{Value, json};

use crate::support::cdp_client::CdpClient;
use crate::support::chromium::Chromium;
use crate::support::wait::find_eventually;

/// Arguments that give Chromium's own user interface a debugging port.
pub(crate) const REACHABLE: [&str; 2] =
    ["--enable-ui-devtools=0", "--enable-features=ui-debug-tools-enable-synthetic-events"];

/// Clicks *Cancel* on the bar.
pub(crate) fn press_cancel(browser: &Chromium) {
    let mut window = CdpClient::connect(&format!("ws://127.0.0.1:{}/0", browser.window_port()));
    window.call("DOM.enable", json!({}), None);
    let button = find_eventually(20, || {
        let document = window.call("DOM.getDocument", json!({}), None);
        let bar = find_view(&document["root"], "ConfirmInfoBarWithNormalLabel")?;
        find_view(bar, "MdTextButton")?["nodeId"].as_i64()
    });
    let button = button.expect("the bar is there and has a button");
    for kind in ["mousePressed", "mouseReleased"] {
        let event = json!({"type": kind, "x": 10, "y": 10, "button": "left", "wheelDirection": "none"});
        window.call("DOM.dispatchMouseEvent", json!({"nodeId": button, "event": event}), None);
    }
}

/// The first view with this class in the tree of the user interface.
fn find_view<'a>(view: &'a Value, class: &str) -> Option<&'a Value> {
    let attributes = view["attributes"].as_array().into_iter().flatten();
    if attributes.filter_map(Value::as_str).any(|text| text == class) {
        return Some(view);
    }
    view["children"].as_array()?.iter().find_map(|child| find_view(child, class))
}
