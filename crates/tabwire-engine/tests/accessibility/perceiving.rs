//! Which exposed elements are visible to a user.

use serde_json::Value;

use crate::accessibility::stage::{Stage, Tab};

/// Ways to hide an element, with the reported reason. The element has the id `x`.
const HIDDEN: &[(&str, &str)] = &[
    ("opacity", r#"<p id="x" style="opacity: 0">a</p>"#),
    ("font-size", r#"<p id="x" style="font-size: 0">a</p>"#),
    ("colour", r#"<p id="x" style="color: white">a</p>"#),
    ("colour", r#"<div style="background: #123456"><p id="x" style="color: #123456">a</p></div>"#),
    ("colour", r#"<p id="x" style="color: transparent">a</p>"#),
    ("off-screen", r#"<p id="x" style="position: absolute; left: -9999px">a</p>"#),
    ("off-screen", r#"<p id="x" style="text-indent: -9999px">a</p>"#),
    ("off-screen", r#"<p id="x" style="position: absolute; top: -500px">a</p>"#),
    ("clipped", r#"<p id="x" style="height: 0; overflow: hidden">a</p>"#),
    ("clipped", r#"<p id="x" style="transform: scale(0)">a</p>"#),
    ("screen-reader-only", r#"<p id="x" style="position: absolute; clip: rect(0 0 0 0)">a</p>"#),
    ("screen-reader-only", r#"<p id="x" style="position: absolute; clip-path: inset(50%)">a</p>"#),
    ("screen-reader-only", r#"<p id="x" style="width: 1px; height: 1px; overflow: hidden">a</p>"#),
];

/// Visible elements with suspicious styles.
const SEEN: &[&str] = &[
    r#"<p id="x">a</p>"#,
    r#"<p id="x" style="color: white; background: black">a</p>"#,
    r#"<p id="x" style="color: white; background: linear-gradient(red, blue)">a</p>"#,
    r#"<p id="x" style="opacity: 0.4">a</p>"#,
    r#"<div style="height: 3000px"></div><p id="x">far below</p>"#,
    r#"<div style="display: contents"><p id="x">a</p></div>"#,
    r#"<p id="x" style="position: relative; left: -5px">a</p>"#,
    r#"<div style="font-size: 0"><p id="x" style="font-size: 16px">a</p></div>"#,
];

#[tokio::test]
async fn every_way_to_hide_text_has_its_reason() {
    let stage = Stage::start().await;
    let mut tab = stage.tab().await;
    for (why, html) in HIDDEN {
        let seeing = seeing(&mut tab, html).await;
        assert_eq!(seeing["why"], *why, "{html}");
        assert_eq!(seeing["perceivable"], false, "{html}");
        assert_eq!(seeing["reader"], *why == "screen-reader-only", "{html}");
    }
    for html in SEEN {
        let seeing = seeing(&mut tab, html).await;
        assert_eq!(seeing["why"], "", "{html}");
        assert_eq!(seeing["perceivable"], true, "{html}");
    }
    for style in ["opacity: 0", "height: 0; overflow: hidden", "visibility: hidden", "display: none"] {
        let seeing = seeing(&mut tab, &format!("<div style='{style}'><p id=x>a</p></div>")).await;
        assert_eq!(seeing["perceivable"], false, "inside something with {style}");
    }
}

async fn seeing(tab: &mut Tab, html: &str) -> Value {
    tab.show(&format!("<!doctype html>{html}")).await;
    tab.eval_in_agent("probe.seeing('x')").await
}
