//! Waiting for elements that are not ready yet. The pages change by themselves.

use serde_json::{Value, json};

use crate::agent::stage::Stage;

/// Starts the page's own change, then prepares a click while it happens.
async fn check(stage: &mut Stage, what: &str, body: &str, change: &str) -> Value {
    stage.show(&format!("<style>body{{margin:0}}</style>{body}")).await;
    stage.eval(&format!("setTimeout(() => {{ {change} }}, 150), 0")).await;
    let settled = stage.prepare_click(json!({"css": "#b"})).await;
    settled.unwrap_or_else(|failure| panic!("{what}: {failure}"))
}

#[tokio::test]
async fn prepare_waits_until_the_element_is_ready() {
    let mut stage = Stage::start().await;
    let stage = &mut stage;
    check(stage, "late", "", "document.body.innerHTML = '<button id=b>B</button>'").await;
    check(
        stage,
        "late in a shadow root",
        "<my-x></my-x>",
        "document.querySelector('my-x').attachShadow({mode:'open'}).innerHTML = '<button id=b>B</button>'",
    )
    .await;
    check(stage, "shown late", "<button id=b hidden>B</button>", "b.hidden = false").await;
    check(stage, "enabled late", "<button id=b disabled>B</button>", "b.disabled = false").await;
    check(
        stage,
        "fieldset enabled late",
        "<fieldset id=f disabled><button id=b>B</button></fieldset>",
        "f.disabled = false",
    )
    .await;
    check(
        stage,
        "uncovered late",
        "<button id=b>B</button><div id=o style='position:fixed;inset:0'></div>",
        "o.remove()",
    )
    .await;
    check(
        stage,
        "shown by a style sheet",
        "<style id=s>#b{display:none}</style><button id=b>B</button>",
        "s.sheet.deleteRule(0)",
    )
    .await;
    check(
        stage,
        "dialog closed late",
        "<button id=b>B</button><dialog id=d>?</dialog><script>d.showModal()</script>",
        "d.close()",
    )
    .await;
    check(stage, "second match gone", "<button id=b>B</button><input id=x>", "x.remove()").await;
    let grown = "<my-x></my-x><script>customElements.define('my-x', class extends HTMLElement { constructor() { super(); this.attachShadow({mode:'open'}); } })</script>";
    check(
        stage,
        "late in an old shadow root",
        grown,
        "document.querySelector('my-x').shadowRoot.innerHTML = '<button id=b>B</button>'",
    )
    .await;
    let list = "<select id=s></select>";
    stage.show(list).await;
    stage.eval("setTimeout(() => s.innerHTML = '<option>One<option>Two', 150), 0").await;
    let chosen = stage
        .run(
            "prepare",
            json!({"spec": {"css": "#s"}, "for": "select", "choices": [{"any": "Two"}], "timeout": 5_000}),
        )
        .await;
    assert_eq!(chosen["chosen"][0]["label"], "Two");
}

#[tokio::test]
async fn moving_element_is_clicked_after_it_stops() {
    let mut stage = Stage::start().await;
    let stage = &mut stage;
    let sliding = "<style>@keyframes m{from{transform:translateX(0)}to{transform:translateX(400px)}}</style>
        <button id=b style='animation:m .3s linear forwards'>B</button>";
    stage.show(sliding).await;
    let ready = stage.prepare_click(json!({"css": "#b"})).await.expect("comes to rest");
    assert_eq!(ready["box"]["x"], 408, "at the end of its way: {ready}");
    let stepping = "<button id=b style='position:absolute;left:0'>B</button><script>let x = 0;
        const step = () => { b.style.left = (x += 5) + 'px'; if (x < 100) requestAnimationFrame(step); }; step();</script>";
    stage.show(stepping).await;
    let ready = stage.prepare_click(json!({"css": "#b"})).await.expect("comes to rest");
    assert_eq!(ready["box"]["x"], 100);
    stage.eval("new Promise(moving => { let y = 0; setInterval(() => { b.style.left = (y++ % 50) + 'px'; if (y === 3) moving(); }, 4); })").await;
    let never = stage.failure("prepare", json!({"spec": {"css": "#b"}, "timeout": 200})).await;
    assert_eq!(never["details"]["condition"], "still", "{never}");
    let forced = stage.run("prepare", json!({"spec": {"css": "#b"}, "timeout": 200, "force": true})).await;
    assert!(forced["point"].is_object(), "force skips the checks: {forced}");
}

#[tokio::test]
async fn rerendered_element_is_clicked_by_text_and_not_by_ref() {
    let mut stage = Stage::start().await;
    stage
        .show("<div id=d></div><script>window.clicks = 0; const draw = () => { d.innerHTML = '<button onclick=\"clicks++\">Again</button>'; requestAnimationFrame(draw); }; draw();</script>")
        .await;
    for _ in 0..5 {
        // A press and release on two different elements is no click, so check only that the press arrived.
        stage.click(json!({"text": "Again"})).await;
    }
    let key = stage.run("locate", json!({"spec": {"text": "Again"}})).await["matches"][0]["key"].clone();
    stage.eval("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))").await;
    let expired = stage.failure("prepare", json!({"spec": {"key": key}, "timeout": 1_000})).await;
    assert_eq!(expired["code"], "REF_EXPIRED");
}

#[tokio::test]
async fn wait_for_waits_for_element_states() {
    let mut stage = Stage::start().await;
    let stage = &mut stage;
    for (body, change, spec, state) in STATES {
        stage.show(body).await;
        let spec: Value = serde_json::from_str(spec).expect("a target");
        let before = stage.failure("waitFor", json!({"spec": spec, "state": state, "timeout": 0})).await;
        assert_eq!(before["code"], "TIMEOUT", "{body} is not {state} at first");
        stage.eval(&format!("setTimeout(() => {{ {change} }}, 60), 0")).await;
        let waited = stage.run("waitFor", json!({"spec": spec, "state": state, "timeout": 5_000})).await;
        assert_eq!(waited["state"], *state, "{body}");
    }
    stage.show("<p id=p>x</p>").await;
    let key = stage.key(json!({"css": "p"})).await;
    stage.eval("setTimeout(() => p.remove(), 60), 0").await;
    stage.run("waitFor", json!({"spec": {"key": key}, "state": "detached", "timeout": 5_000})).await;
    let expired =
        stage.failure("waitFor", json!({"spec": {"key": key}, "state": "visible", "timeout": 5_000})).await;
    assert_eq!(expired["code"], "REF_EXPIRED");
    // Another frame took the rest of the time: the message names the time that the caller allowed.
    let last_round = json!({"spec": {"css": "#none"}, "timeout": 1, "allowed": 15_000});
    let late = stage.failure("waitFor", last_round).await;
    assert!(late["message"].as_str().is_some_and(|text| text.contains("within 15000 ms")), "{late}");
    let unknown =
        stage.failure("waitFor", json!({"spec": {"css": "p"}, "state": "purple", "timeout": 0})).await;
    assert_eq!(unknown["code"], "BAD_ARGS");
}

/// Page, change, target, state.
const STATES: &[(&str, &str, &str, &str)] = &[
    ("", "document.body.innerHTML = '<p>Done</p>'", r#"{"text": "done"}"#, "visible"),
    ("<p id=p>Busy</p>", "p.remove()", r#"{"text": "busy"}"#, "detached"),
    ("<p id=p>Busy</p>", "p.hidden = true", r#"{"text": "busy"}"#, "hidden"),
    ("", "document.body.innerHTML = '<p hidden>x</p>'", r#"{"css": "p"}"#, "attached"),
    ("<button id=b disabled>B</button>", "b.disabled = false", r##"{"css": "#b"}"##, "enabled"),
    ("<input id=b type=checkbox>", "b.checked = true", r##"{"css": "#b"}"##, "checked"),
    ("<input id=b readonly>", "b.readOnly = false", r##"{"css": "#b"}"##, "editable"),
];

#[tokio::test]
async fn wait_ends_on_a_constantly_changing_page() {
    let mut stage = Stage::start().await;
    stage.show("<div id=d></div><script>setInterval(() => { d.innerHTML = '<i>' + Math.random() + '</i>' }, 0)</script><button id=b disabled>B</button>").await;
    stage.eval("setTimeout(() => b.disabled = false, 100), 0").await;
    let settled = stage.click(json!({"css": "#b"})).await;
    assert_eq!(settled["mutating"], true, "the page is still changing: {settled}");
}

#[tokio::test]
async fn cancelled_wait_ends_and_others_continue() {
    let mut stage = Stage::start().await;
    stage.show("<p>nothing to wait for</p><button id=b disabled>never</button>").await;
    let waiting = r##"(async () => {
        const begin = (name, more, wait) => tabwire.run(name, { spec: { css: "#b" }, timeout: 60000, ...more }, wait);
        const off = [begin("waitFor", { state: "enabled" }, 7), begin("prepare", { purpose: "click" }, 8)];
        const stays = begin("waitFor", { state: "enabled" }, 9);
        for (const wait of [7, 8, 8, 1000]) tabwire.cancelWait({ wait });
        const ended = await Promise.all(off);
        document.getElementById("b").disabled = false;
        return { ended: ended.map((each) => each.failure.message), stays: (await stays).ok.state };
    })()"##;
    let response = stage.eval_in_agent(waiting).await;
    let off = "The wait was cancelled.";
    assert_eq!(response, json!({"ended": [off, off], "stays": "enabled"}));
}
