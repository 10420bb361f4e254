//! `click`: reaches its element, or fails with the reason.

use serde_json::{Value, json};
use tabwire_api::ErrorCode;

use crate::actions::support::stage::Stage;

const LOG: &str = "document.getElementById('log').textContent";

async fn log(stage: &Stage) -> String {
    stage.eval(LOG).await.as_str().expect("text").to_owned()
}

/// Clicks and expects this line in the page's log.
async fn check(stage: &Stage, params: Value, line: &str) {
    stage.act("click", params.clone()).await;
    let log = log(stage).await;
    assert!(log.contains(line), "{params}: {line:?} is not in {log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn click_reports_changes() {
    let stage = Stage::start().await;
    stage.show("<title>A</title><button onclick=\"document.title = 'B'\">Pay</button>").await;
    let done = stage.act("click", json!({"target": "text=Pay"})).await;
    assert_eq!(done["element"], "button \"Pay\"");
    assert_eq!(done["title"], "B");
    assert!(done.get("url").is_none(), "{done}");
}

#[tokio::test(flavor = "multi_thread")]
async fn click_uses_button_count_modifiers_and_position() {
    let stage = Stage::at("/click/targets").await;
    check(&stage, json!({"target": "#context", "button": "right"}), "contextmenu context button=2").await;
    check(&stage, json!({"target": "#plain", "button": "middle"}), "auxclick plain button=1 count=1").await;
    check(&stage, json!({"target": "#plain", "count": 3}), "click plain button=0 count=3").await;
    check(
        &stage,
        json!({"target": "#plain", "modifiers": ["alt", "shift"]}),
        "click plain button=0 count=1 keys=alt+shift",
    )
    .await;
    check(
        &stage,
        json!({"target": "#pad", "position": [30, 70]}),
        "click pad button=0 count=1 keys=none at=30,70",
    )
    .await;
    check(&stage, json!({"target": "#wrapped"}), "click wrapped").await;
    check(&stage, json!({"target": "#turned"}), "click turned").await;
    check(&stage, json!({"target": "#far-right"}), "click far-right").await;
    check(&stage, json!({"target": "#below"}), "click below").await;
    check(&stage, json!({"target": "#remover"}), "click remover").await;
    stage.act("click", json!({"target": "#label"})).await;
    assert_eq!(stage.eval("document.getElementById('labelled').checked").await, true);
    stage.fails(ErrorCode::BadArgs, "click", json!({"target": "#plain", "count": 4})).await;
    stage.fails(ErrorCode::BadArgs, "click", json!({"target": "#plain", "button": "fourth"})).await;
    stage.fails(ErrorCode::NotActionable, "click", json!({"target": "#hidden"})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn covering_element_is_named_with_its_ref() {
    let stage = Stage::at("/click/covered?milliseconds=300").await;
    let failure = stage.fails(ErrorCode::NotActionable, "click", json!({"target": "#pay"})).await;
    assert!(
        failure.message.starts_with("button \"Pay\" is covered by dialog \"Cookie notice\" [e"),
        "{failure:?}"
    );
    let by = failure.details["covered_by"]["ref"].as_str().expect("a ref").to_owned();
    let failure = stage.fails(ErrorCode::BadArgs, "fill", json!({"target": by, "value": "x"})).await;
    assert!(failure.message.contains("Cookie notice"), "the ref is that of the cover: {failure:?}");
    // With `force` the covering element gets the click.
    check(&stage, json!({"target": "#pay", "force": true}), "click banner trusted=true").await;
    stage.act("click", json!({"target": "#dismiss"})).await;
    for id in ["pay", "half", "passing", "later", "nested"] {
        check(&stage, json!({"target": format!("#{id}")}), &format!("click {id} trusted=true")).await;
    }
    let failure = stage.fails(ErrorCode::NotActionable, "click", json!({"target": "#never"})).await;
    assert!(
        failure.message.contains("image \"Shield\"") || failure.message.contains("img \"Shield\""),
        "{failure:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn click_waits_for_moving_late_and_disabled_elements() {
    let stage = Stage::at("/click/moving?milliseconds=300").await;
    check(&stage, json!({"target": "#ends"}), "click ends trusted=true at rest").await;
    let failure = stage.fails(ErrorCode::NotActionable, "click", json!({"target": "#endless"})).await;
    assert!(failure.message.contains("keeps moving"), "{failure:?}");
    stage.open("/click/late?milliseconds=300").await;
    check(&stage, json!({"target": "text=\"Appears late\""}), "click late trusted=true late").await;
    check(&stage, json!({"target": "#unveiled"}), "click unveiled trusted=true late").await;
    stage.open("/click/enabled?milliseconds=300").await;
    check(&stage, json!({"target": "#late"}), "click late trusted=true enabled").await;
    check(&stage, json!({"target": "#grouped"}), "click grouped trusted=true enabled").await;
    for (id, why) in [("never", "is disabled"), ("inert", "is inert")] {
        let failure =
            stage.fails(ErrorCode::NotActionable, "click", json!({"target": format!("#{id}")})).await;
        assert!(failure.message.contains(why), "{failure:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn click_scrolls_elements_from_below_sticky_headers() {
    let stage = Stage::at("/click/sticky").await;
    for id in ["item-30", "item-1", "item-60", "inner-30", "inner-1", "buy"] {
        check(&stage, json!({"target": format!("#{id}")}), &format!("click {id} trusted=true")).await;
    }
    // Right below the header and right above the footer.
    stage.eval("scrollTo(0, document.getElementById('item-20').offsetTop - 60)").await;
    check(&stage, json!({"target": "#item-20"}), "click item-20 trusted=true").await;
    stage.eval("scrollTo(0, document.getElementById('item-40').offsetTop - innerHeight + 60)").await;
    check(&stage, json!({"target": "#item-40"}), "click item-40 trusted=true").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn click_reaches_shadow_roots_and_frames() {
    let stage = Stage::chromium_at("/shadow").await;
    check(&stage, json!({"target": "text=\"Slotted button\""}), "click slotted").await;
    check(&stage, json!({"target": "#declared-button"}), "click declared").await;
    check(&stage, json!({"target": "role=switch[name=\"Fancy toggle\"]"}), "toggle true").await;
    stage.open("/frames/mix").await;
    for name in
        ["same", "sibling", "cross", "srcdoc", "blank", "sandbox", "blob", "object", "shadow", "wrapped"]
    {
        stage.act("click", json!({"target": format!("role=button[name=\"Save {name}\"]")})).await;
        stage.until(&format!("{LOG}.includes('saved {name}:')")).await;
    }
    stage.open("/frames/deep").await;
    stage.act("click", json!({"target": "text=\"Save deep\""})).await;
    stage.until(&format!("{LOG}.includes('saved deep: , none, false from c.localhost')")).await;
    stage.act("click", json!({"target": "#middle-button"})).await;
    stage.until(&format!("{LOG}.includes('click middle')")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn click_reports_new_tabs() {
    let stage = Stage::at("/popup/kinds").await;
    for id in ["open", "noopener", "link", "cross"] {
        let done = stage.act("click", json!({"target": format!("#{id}")})).await;
        assert_eq!(done["new_tabs"].as_array().map(Vec::len), Some(1), "{id}: {done}");
    }
    let done = stage.act("click", json!({"target": "#two"})).await;
    assert!(done["new_tabs"].as_array().is_some_and(|tabs| !tabs.is_empty()), "{done}");
    stage.open("/click/effects").await;
    let done = stage.act("click", json!({"target": "#link", "new_tab": true})).await;
    let tab = serde_json::from_value(done["new_tabs"][0].clone()).expect("a tab");
    assert_eq!(stage.eval("location.pathname").await, "/click/effects");
    let title = stage.try_act_in(Some(tab), "eval", json!({"expression": "new Promise((done) => { const look = () => location.search ? done(location.search) : setTimeout(look, 5); look(); })"}), crate::actions::support::stage::SHORT * 20).await;
    assert_eq!(title.expect("evaluated")["value"], "?from=link");
    let none =
        stage.try_act("click", json!({"target": "#nothing", "new_tab": true})).await.expect_err("no link");
    assert_eq!(none.code, ErrorCode::NotActionable);
}

#[tokio::test(flavor = "multi_thread")]
async fn click_rejects_bad_targets() {
    let stage = Stage::start().await;
    stage.show("<button>A</button><button>B</button>").await;
    stage.fails(ErrorCode::BadArgs, "click", json!({"target": "button"})).await;
    stage.fails(ErrorCode::BadArgs, "click", json!({"target": "!!"})).await;
    stage.fails(ErrorCode::BadArgs, "click", json!({"target": "button", "nht": 1})).await;
    stage.fails(ErrorCode::SelectorNotFound, "click", json!({"target": "text=C"})).await;
    stage.fails(ErrorCode::RefExpired, "click", json!({"target": "e99"})).await;
    stage.act("click", json!({"target": "button", "nth": 2})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn click_at_the_wrong_moment_fails_with_its_error() {
    let stage = Stage::start().await;
    stage.check_wrong_moments("click", json!({"target": "body"})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn closed_shadow_roots_are_read_and_clicked() {
    let stage = Stage::start().await;
    stage
        .show(
            "<h1>Player</h1><media-player></media-player><plain-element>text</plain-element><script>\
             customElements.define('plain-element', class extends HTMLElement {});\
             customElements.define('media-player', class extends HTMLElement { connectedCallback() {\
             const root = this.attachShadow({mode: 'closed'});\
             root.innerHTML = '<button>Play</button><button>Subtitles</button>';\
             root.lastChild.onclick = () => { document.title = 'clicked'; }; } });</script>",
        )
        .await;
    let seen = stage.text("snapshot", json!({})).await;
    assert!(seen.contains("\"Play\"") && seen.contains("\"Subtitles\"") && seen.contains("text"), "{seen}");
    let line = seen.lines().find(|line| line.contains("Subtitles")).expect("a line");
    let after = line.split("\"Subtitles\" [").nth(1).expect("a ref");
    let name = after.split(']').next().expect("a ref").to_owned();
    let clicked = stage.act("click", json!({"target": name})).await;
    assert_eq!(clicked["element"], "button \"Subtitles\"");
    assert_eq!(stage.eval("document.title").await, "clicked");
    // Targets find it too.
    stage.eval("document.title = ''").await;
    stage.act("click", json!({"target": "role=button[name=\"Subtitles\"]"})).await;
    assert_eq!(stage.eval("document.title").await, "clicked");
}
