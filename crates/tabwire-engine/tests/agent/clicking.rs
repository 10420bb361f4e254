//! Clicks on difficult pages reach their element.

use serde_json::json;

use crate::agent::stage::Stage;

/// A page whose `#log` lists clicked elements.
fn page(body: &str) -> String {
    format!(
        r#"<style>body {{ margin: 0 }}</style>{body}<p id=log></p><script>
        addEventListener('click', event => log.textContent += event.composedPath()[0].id + ' ');</script>"#
    )
}

async fn clicked(stage: &Stage) -> String {
    let log = stage.eval("log.textContent.trim()").await;
    log.as_str().expect("text").to_owned()
}

/// Clicks once and checks that the element with this id received it.
async fn check(stage: &mut Stage, what: &str, body: &str, spec: serde_json::Value, expected: &str) {
    stage.show(&page(body)).await;
    stage.click(spec).await;
    assert_eq!(clicked(stage).await, expected, "{what}");
}

#[tokio::test]
async fn clicks_reach_the_element() {
    let mut stage = Stage::start().await;
    let css = |selector: &str| json!({"css": selector});
    let stage = &mut stage;
    check(stage, "plain", "<button id=b>B</button>", css("#b"), "b").await;
    check(stage, "far below", "<div style='height:5000px'></div><button id=b>B</button>", css("#b"), "b")
        .await;
    check(
        stage,
        "text in a button",
        "<button id=b><span style='pointer-events:none'>B</span></button>",
        json!({"text": "B"}),
        "b",
    )
    .await;
    check(stage, "link over two lines", TWO_LINES, css("#b"), "b").await;
    check(stage, "centre covered", CENTRE_COVERED, css("#b"), "b").await;
    check(stage, "sticky header and footer", STICKY, css("#b"), "b").await;
    check(stage, "inside a scrolling box", SCROLLER, css("#b"), "b").await;
    check(
        stage,
        "box without size of its own",
        "<a id=a href=#><img id=b style='float:left;width:40px;height:40px'></a>",
        css("#a"),
        "b",
    )
    .await;
    check(
        stage,
        "display contents",
        "<div id=d style='display:contents'><i id=b>text</i></div>",
        css("#d"),
        "b",
    )
    .await;
    check(
        stage,
        "hidden box with a label",
        "<input id=b type=checkbox style='display:none'><label id=l for=b>Tick</label>",
        css("#b"),
        "l b",
    )
    .await;
    check(stage, "label drawn over its box", LABEL_OVER, css("#b"), "l b").await;
    check(stage, "link in a label", LINK_IN_LABEL, css("#b"), "l b").await;
    check(
        stage,
        "half out of view",
        "<div style='height:595px'></div><button id=b style='height:60px;display:block'>B</button>",
        css("#b"),
        "b",
    )
    .await;
    check(
        stage,
        "larger than the view",
        "<button id=b style='width:2000px;height:3000px'>B</button>",
        css("#b"),
        "b",
    )
    .await;
    check(stage, "image map", IMAGE_MAP, css("#b"), "b").await;
    check(
        stage,
        "rotated",
        "<button id=b style='transform:rotate(30deg);margin:200px'>B</button>",
        css("#b"),
        "b",
    )
    .await;
    check(stage, "open shadow root", SHADOW, css("#b"), "b").await;
    check(
        stage,
        "scroll-behavior smooth",
        "<style>html{scroll-behavior:smooth}</style><div style='height:9000px'></div><button id=b>B</button>",
        css("#b"),
        "b",
    )
    .await;
    check(stage, "svg", "<svg width=200 height=200><circle id=b cx=100 cy=100 r=50 /></svg>", css("#b"), "b")
        .await;
    check(stage, "part of the text of a ripple button", "<button id=b><span>Go</span><i id=r style='position:absolute;left:0;top:0;width:200px;height:50px'></i></button>", json!({"text": "Go"}), "r").await;
}

const LINK_IN_LABEL: &str = "<input id=b type=checkbox hidden><label id=l for=b style='display:block;width:300px;text-align:center'><a id=a href='#'>the long, long terms</a></label>";
const TWO_LINES: &str =
    "<div style='width:220px;font:20px monospace'>some words <a id=b href=#>that wrap</a></div>";
const CENTRE_COVERED: &str = "<button id=b style='width:300px;height:200px'></button><div style='position:absolute;left:100px;top:50px;width:100px;height:100px'></div>";
const STICKY: &str = "<div id=h style='position:fixed;inset:0 0 auto 0;height:200px;background:red'>h</div><div style='position:fixed;inset:auto 0 0 0;height:200px;background:red'>f</div>
    <div style='height:1000px'></div><button id=b>B</button><div style='height:1000px'></div>";
const SCROLLER: &str = "<div style='height:1000px'></div><div style='height:200px;overflow:auto'><div style='height:3000px'></div><button id=b>B</button></div>";
const LABEL_OVER: &str = "<div style='position:relative'><input id=b type=checkbox><label id=l for=b style='position:absolute;left:0;top:0;width:50px;height:50px;background:red'></label></div>";
const IMAGE_MAP: &str = "<img usemap='#m' width=200 height=200 src='data:image/gif;base64,R0lGODlhAQABAAAAACw='><map name=m><area href='#x' coords='0,0,50,50'><area id=b href='#y' coords='100,100,180,180'></map>";
const SHADOW: &str = "<my-host></my-host><script>document.querySelector('my-host').attachShadow({mode:'open'}).innerHTML='<div><button id=b>B</button></div>'</script>";

#[tokio::test]
async fn failed_click_names_the_reason() {
    let mut stage = Stage::start().await;
    for (body, condition, message) in IN_THE_WAY {
        stage.show(&page(body)).await;
        let request = json!({"spec": {"css": "#b"}, "for": "click", "timeout": 100});
        let failure = stage.failure("prepare", request).await;
        assert_eq!(failure["code"], "NOT_ACTIONABLE", "{body}");
        assert_eq!(failure["message"], *message, "{body}");
        assert_eq!(failure["details"]["condition"], *condition, "{body}");
        assert!(failure["details"]["element"]["key"].is_u64(), "{failure}");
        assert!(failure["remedy"]["text"].is_string(), "{failure}");
    }
    stage.show(&page(IN_THE_WAY[0].0)).await;
    let request = json!({"spec": {"css": "#b"}, "for": "click", "timeout": 0});
    let failure = stage.failure("prepare", request).await;
    assert_eq!(failure["details"]["by"]["role"], "dialog");
    assert_eq!(failure["details"]["by"]["name"], "Cookies");
}

/// Page, condition, message.
const IN_THE_WAY: &[(&str, &str, &str)] = &[
    (
        "<button id=b>Pay</button><div role=dialog aria-label=Cookies style='position:fixed;inset:0;background:#fff8'><p>We use them</p></div>",
        "covered",
        "button \"Pay\" is covered by dialog \"Cookies\".",
    ),
    (
        "<button id=b>Pay</button><dialog id=d aria-label=Sure>?</dialog><script>d.showModal()</script>",
        "covered",
        "button \"Pay\" is covered by dialog \"Sure\".",
    ),
    (
        "<button id=b>Pay</button><div style='position:fixed;inset:0'><span>Please wait</span></div>",
        "covered",
        "button \"Pay\" is covered by div \"Please wait\".",
    ),
    ("<button id=b disabled>Pay</button>", "enabled", "button \"Pay\" is disabled."),
    (
        "<fieldset disabled aria-label=Card><button id=b>Pay</button></fieldset>",
        "enabled",
        "button \"Pay\" is disabled by group \"Card\".",
    ),
    ("<div aria-disabled=true><button id=b>Pay</button></div>", "enabled", "button \"Pay\" is disabled."),
    ("<button disabled>Pay <span id=b>now</span></button>", "enabled", "span \"now\" is disabled."),
    (
        "<main inert aria-label=Shop><button id=b>Pay</button></main>",
        "enabled",
        "button \"Pay\" is inert because of main \"Shop\".",
    ),
    (
        "<button id=b style='display:none'>Pay</button>",
        "visible",
        "button \"Pay\" is not visible: display: none.",
    ),
    (
        "<section aria-label=Plan hidden><button id=b>Pay</button></section>",
        "visible",
        "button \"Pay\" is not visible: display: none on region \"Plan\".",
    ),
    (
        "<button id=b style='visibility:hidden'>Pay</button>",
        "visible",
        "button \"Pay\" is not visible: visibility: hidden.",
    ),
    ("<a id=b href=x></a>", "visible", "link is not visible: it has no size."),
    (
        "<button id=b style='pointer-events:none'>Pay</button>",
        "hit",
        "button \"Pay\" lets pointer events through (pointer-events: none).",
    ),
    (
        "<button id=b style='position:fixed;left:-500px'>Pay</button>",
        "hit",
        "button \"Pay\" is out of view and cannot be scrolled into it.",
    ),
    (
        "<style>@keyframes m{from{margin-left:0}to{margin-left:300px}}</style><button id=b style='animation:m 1s infinite alternate linear'>Pay</button>",
        "still",
        "button \"Pay\" keeps moving.",
    ),
    (
        "<select><option>A<option id=b>Pay</select>",
        "visible",
        "option \"Pay\" is an option of a native drop-down.",
    ),
];

#[tokio::test]
async fn click_that_would_hit_another_element_is_blocked() {
    let mut stage = Stage::start().await;
    stage.show(&page("<button id=b>B</button><button id=trap style='position:absolute;left:0;top:0;width:0;height:0;padding:0;border:0'>T</button>")).await;
    let prepared = stage.prepare_click(json!({"css": "#b"})).await.expect("ready");
    // Between the check and the press, another element moves there.
    stage.eval("trap.style.cssText = 'position:absolute;inset:0;width:300px;height:300px'").await;
    let settled = stage.press_at(&prepared).await;
    assert_eq!(settled["guard"]["state"], "blocked", "{settled}");
    assert_eq!(settled["guard"]["by"]["name"], "T");
    assert_eq!(clicked(&stage).await, "", "nothing was clicked");
    assert_eq!(stage.eval("document.activeElement.id").await, "", "nothing was focused");
    // The guard covers one press only; the next press is not checked.
    stage.eval("trap.remove()").await;
    stage.click(json!({"css": "#b"})).await;
    let point =
        json!({"x": prepared["point"]["x"], "y": prepared["point"]["y"], "button": "left", "clickCount": 1});
    for kind in ["mousePressed", "mouseReleased"] {
        let mut params = point.clone();
        params["type"] = json!(kind);
        stage.command("Input.dispatchMouseEvent", params).await;
    }
    assert_eq!(clicked(&stage).await, "b b");
}

#[tokio::test]
async fn page_cannot_see_or_stop_the_input_guard() {
    let mut stage = Stage::start().await;
    stage
        .show(
            "<script>window.seen = []; const types = ['pointerdown', 'mousedown', 'mouseup', 'click'];
            for (const type of types) addEventListener(type, event => { seen.push(type + event.isTrusted); event.stopImmediatePropagation(); }, true);
            new MutationObserver(records => seen.push('mutation')).observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
            const names = () => Object.getOwnPropertyNames(window).sort().join(); const before = names();</script><button id=b>B</button>",
        )
        .await;
    stage.eval("seen.length = 0").await;
    let settled = stage.click(json!({"css": "#b"})).await;
    assert_eq!(settled["arrived"], true, "{settled}");
    let seen = stage.eval("seen.join(' ')").await;
    assert_eq!(seen, "pointerdowntrue mousedowntrue mouseuptrue clicktrue", "only the click itself");
    assert_eq!(stage.eval("names() === before").await, true);
}

#[tokio::test]
async fn hover_arrival_is_reported() {
    let mut stage = Stage::start().await;
    stage.show("<button id=b>B</button>").await;
    let prepared = stage
        .run("prepare", json!({"spec": {"css": "#b"}, "for": "hover", "timeout": 1_000, "mark": true}))
        .await;
    stage
        .command(
            "Input.dispatchMouseEvent",
            json!({"type": "mouseMoved", "x": prepared["point"]["x"], "y": prepared["point"]["y"]}),
        )
        .await;
    let settled = stage.run("settle", json!({"since": prepared["mark"], "after": "mousemove"})).await;
    assert_eq!(settled["arrived"], true);
    assert_eq!(stage.eval("b.matches(':hover')").await, true);
}

#[tokio::test]
async fn prepare_of_a_ready_ref_does_not_wait() {
    let mut stage = Stage::start().await;
    let rows: String = (0..200)
        .map(|row| {
            format!("<div><h3>Row {row}</h3><a href=#>Link</a><button id=b{row}>Do {row}</button></div>")
        })
        .collect();
    stage.show(&rows).await;
    let key = stage.key(json!({"css": "#b3"})).await;
    stage.run("prepare", json!({"spec": {"key": key}, "timeout": 5_000})).await;
    // Ten at a time: the clock of Firefox has steps of 1 ms.
    let measured = stage
        .eval_in_agent(&format!(
            "(() => {{ const times = []; let promises = 0; for (let group = 0; group < 11; group++) {{ const start = performance.now();
            for (let at = 0; at < 10; at++) {{
            if (tabwire.run('prepare', {{spec: {{key: {key}}}, for: 'click', timeout: 1000, guard: true, mark: true}}) instanceof Promise) promises++; }}
            times.push((performance.now() - start) / 10); }} times.sort((a, b) => a - b); return {{median: times[5], promises}}; }})()"
        ))
        .await;
    assert_eq!(measured["promises"], 0, "no frame is waited for: {measured}");
    assert!(measured["median"].as_f64().is_some_and(|median| median < 1.0), "{measured}");
}
