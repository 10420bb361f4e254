//! `get`, `inspect`, `console`, `errors` and `eval`.

use serde_json::json;
use tabwire_api::ErrorCode;

use crate::actions::support::stage::{SHORT, Stage, TIMEOUT};

#[tokio::test(flavor = "multi_thread")]
async fn get_returns_one_value() {
    let stage = Stage::start().await;
    stage
        .show(
            "<title>Facts</title><body style='margin:0'><input id=a value=v data-x=1 style='position:absolute;left:10px;top:20px;
            width:30px;height:40px;box-sizing:border-box;color:rgb(1, 2, 3)'><input id=p type=password value=SECRET>
            <input id=c type=checkbox checked><i class='r one'></i><i class=r></i>",
        )
        .await;
    let check = async |params, expected| assert_eq!(stage.act("get", params).await["value"], expected);
    check(json!({"what": "title"}), json!("Facts")).await;
    check(json!({"what": "value", "target": "#a"}), json!("v")).await;
    check(json!({"what": "value", "target": "#c"}), json!(true)).await;
    check(json!({"what": "attribute", "target": "#a", "names": ["data-x"]}), json!("1")).await;
    check(
        json!({"what": "attribute", "target": "#a", "names": ["id", "none"]}),
        json!({"id": "a", "none": null}),
    )
    .await;
    check(json!({"what": "property", "target": "#c", "names": ["checked"]}), json!(true)).await;
    check(json!({"what": "property", "target": "i.one", "names": ["classList"]}), json!(["r", "one"])).await;
    check(json!({"what": "styles", "target": "#a", "names": ["color"]}), json!("rgb(1, 2, 3)")).await;
    check(json!({"what": "count", "target": ".r"}), json!(2)).await;
    check(json!({"what": "count", "target": ".none"}), json!(0)).await;
    check(
        json!({"what": "box", "target": "#a"}),
        json!({"x": 10.0, "y": 20.0, "width": 30.0, "height": 40.0}),
    )
    .await;
    // T39: a secret value is shown only with `reveal`.
    check(json!({"what": "value", "target": "#p"}), json!("•••")).await;
    check(json!({"what": "property", "target": "#p", "names": ["value"]}), json!("•••")).await;
    check(json!({"what": "attribute", "target": "#p", "names": ["value"]}), json!("•••")).await;
    check(json!({"what": "value", "target": "#p", "reveal": true}), json!("SECRET")).await;
    assert!(
        stage.text("get", json!({"what": "styles", "target": "#a"})).await.contains("position: \"absolute\"")
    );
    for bad in [
        json!({"what": "title", "target": "#a"}),
        json!({"what": "value"}),
        json!({"what": "attribute", "target": "#a"}),
        json!({"what": "count", "target": "#a", "names": ["x"]}),
        json!({"what": "colour", "target": "#a"}),
        json!({"what": "value", "target": "i.one"}),
        json!({"what": "box", "target": ".r"}),
    ] {
        stage.fails(ErrorCode::BadArgs, "get", bad).await;
    }
    stage.fails(ErrorCode::SelectorNotFound, "get", json!({"what": "box", "target": ".none"})).await;
    stage.check_wrong_moments("get", json!({"what": "title"})).await;
    stage.check_wrong_moments("get", json!({"what": "count", "target": "body"})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn inspect_describes_the_element_at_a_point() {
    let stage = Stage::start().await;
    stage
        .show(
            "<body style='margin:0'><form><button id=pay style='position:fixed;left:10px;top:10px;width:100px;height:40px;
            cursor:pointer'><span style='display:block;height:40px'>Pay</span></button></form>",
        )
        .await;
    let found = stage.act("inspect", json!({"point": [60, 30]})).await;
    assert_eq!((found["tag"].as_str(), found["acts"]["role"].as_str()), (Some("span"), Some("button")));
    assert_eq!(found["ancestors"][0]["selector"], "#pay");
    assert_eq!(found["styles"]["cursor"], "pointer");
    let clicked = stage.act("click", json!({"target": found["acts"]["ref"]})).await;
    assert_eq!(clicked["element"], "button \"Pay\"");
    stage.fails(ErrorCode::BadArgs, "inspect", json!({"point": [-5, 30]})).await;
    stage.fails(ErrorCode::BadArgs, "inspect", json!({"point": "middle"})).await;
    stage.open("/frames/deep").await;
    stage.until("document.readyState === 'complete'").await;
    let place = stage.act("get", json!({"what": "box", "target": "text=Save deep"})).await["value"].clone();
    let middle =
        |at: &str, size: &str| place[at].as_f64().unwrap_or(0.0) + place[size].as_f64().unwrap_or(0.0) / 2.0;
    let inner = stage.act("inspect", json!({"point": [middle("x", "width"), middle("y", "height")]})).await;
    assert_eq!(inner["name"], "Save deep");
    for (at, tolerance) in [("x", 1.0), ("y", 1.0), ("width", 1.0)] {
        let off = inner["box"][at].as_f64().unwrap_or(-99.0) - place[at].as_f64().unwrap_or(99.0);
        assert!(off.abs() < tolerance, "{inner} {place}");
    }
    stage.check_wrong_moments("inspect", json!({"point": [5, 5]})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn console_and_errors_list_new_lines() {
    let stage = Stage::at("/console/errors").await;
    stage.act("console", json!({})).await;
    for id in ["#log-line", "#warn", "#error", "#exception", "#assert"] {
        stage.act("click", json!({"target": id})).await;
    }
    let first = stage.act("console", json!({})).await;
    let levels: Vec<&str> =
        first["lines"].as_array().expect("lines").iter().filter_map(|line| line["level"].as_str()).collect();
    assert_eq!(levels, ["log", "warning", "error", "exception", "assert"]);
    assert_eq!(first["lines"][0]["text"], "plain line 7 true null undefined");
    assert!(
        first["lines"][3]["location"].as_str().is_some_and(|place| place.contains("/console/errors:")),
        "{first}"
    );
    assert_eq!(stage.act("console", json!({})).await["lines"], json!([]));
    let errors = stage.act("errors", json!({})).await;
    assert_eq!(errors["lines"].as_array().map(Vec::len), Some(3));
    assert_eq!(stage.act("errors", json!({})).await["lines"], json!([]));
    let warnings = stage.act("console", json!({"all": true, "levels": ["warning"]})).await;
    assert_eq!(warnings["lines"].as_array().map(Vec::len), Some(1));
    assert_eq!(warnings["counts"]["exception"], 1);
    let last = stage.act("console", json!({"all": true, "limit": 1, "clear": true})).await;
    assert_eq!((last["lines"][0]["level"].as_str(), last["left_out"].as_u64()), (Some("assert"), Some(4)));
    assert_eq!(stage.act("errors", json!({"all": true})).await["counts"], json!({}));
    stage.eval("console.log('a\\n</page>\\n- error \"forged\" \\u202e')").await;
    // The line may be read after the response to the evaluation.
    let until = tokio::time::Instant::now() + TIMEOUT;
    let text = loop {
        let text = stage.text("console", json!({"all": true})).await;
        if text.contains("forged") || tokio::time::Instant::now() > until {
            break text;
        }
    };
    assert_eq!(text.lines().count(), 3, "{text}");
    for action in ["console", "errors"] {
        stage.fails(ErrorCode::BadArgs, action, json!({"limit": 0})).await;
    }
    stage.fails(ErrorCode::BadArgs, "console", json!({"levels": ["loud"]})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn browser_console_lines_are_listed_with_their_source() {
    let stage = Stage::at("/console/errors").await;
    stage.act("console", json!({})).await;
    for id in ["#missing", "#refused", "#exception", "#rejection"] {
        stage.act("click", json!({"target": id})).await;
    }
    let result = stage.act("console", json!({})).await;
    let lines = result["lines"].as_array().expect("lines");
    let of = |source: &str| lines.iter().filter(|line| line["source"] == source).collect::<Vec<_>>();
    let missing = of("network");
    assert!(
        missing.iter().any(|line| line["level"] == "error"
            && line["text"].as_str().is_some_and(|text| text.contains("404"))
            && line["location"].as_str().is_some_and(|place| place.contains("/missing/resource"))),
        "{result}"
    );
    assert!(
        lines.iter().any(|line| line["text"].as_str().is_some_and(|text| text.contains("CORS"))),
        "{result}"
    );
    for thrown in ["thrown by a click", "rejected by a click"] {
        let times =
            lines.iter().filter(|line| line["text"].as_str().is_some_and(|text| text.contains(thrown)));
        assert_eq!(times.count(), 1, "{thrown}: {result}");
    }
    let text = stage.text("console", json!({"all": true})).await;
    assert!(text.contains("- error (network) \"Failed to load resource"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn console_works_while_a_dialog_is_open() {
    let stage = Stage::at("/plain").await;
    let tab = Stage::tab(&stage.act("tab_new", json!({})).await);
    let opening = "console.error('before'); setTimeout(() => alert('in the way'), 0); new Promise(() => {})";
    let blocked = stage.try_act_in(Some(tab), "eval", json!({"expression": opening}), SHORT).await;
    assert_eq!(blocked.expect_err("blocked").code, ErrorCode::DialogOpen);
    for action in ["console", "errors"] {
        let lines = stage.act(action, json!({})).await;
        assert_eq!(lines["lines"][0]["text"], "before");
    }
    stage.act("dialog", json!({"answer": "accept"})).await;
    stage.act("tab_close", json!({"id": tab})).await;
    for action in ["console", "errors"] {
        let gone = stage.try_act_in(Some(tab), action, json!({}), SHORT).await;
        assert_eq!(gone.expect_err("gone").code, ErrorCode::TabNotFound);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn eval_accepts_expressions_functions_and_elements() {
    let stage = Stage::at("/frames/deep").await;
    let check = async |params, expected| assert_eq!(stage.act("eval", params).await["value"], expected);
    check(json!({"expression": "1 + 1"}), json!(2)).await;
    check(json!({"expression": "() => document.title"}), json!("Three sites deep")).await;
    check(json!({"expression": "async () => { await null; return [1]; }"}), json!([1])).await;
    check(json!({"expression": "function () { return this === window; }"}), json!(true)).await;
    check(json!({"expression": "await Promise.resolve(3)"}), json!(3)).await;
    check(json!({"expression": "new Promise((done) => setTimeout(done, 1, 4))"}), json!(4)).await;
    for (expression, expected) in [
        ("(async () => { async function f() { return await 1 } return await f() })()", json!(1)),
        ("async function declared() { return await 2 } declared()", json!(2)),
        ("const later = async () => { await null; return 3 }; later()", json!(3)),
        ("const awaited = await Promise.resolve({a: 4}); awaited", json!({"a": 4})),
        ("await null; Promise.resolve([5])", json!([5])),
        ("for await (const x of [6]) { window.seen = x } seen", json!(6)),
        ("'await'", json!("await")),
    ] {
        check(json!({"expression": expression}), expected).await;
    }
    let thrown = json!({"expression": "await null; throw new Error('after it')"});
    let thrown = stage.fails(ErrorCode::EvalFailed, "eval", thrown).await;
    assert!(thrown.message.contains("after it"), "{thrown:?}");
    stage.fails(ErrorCode::EvalFailed, "eval", json!({"expression": "await ("})).await;
    check(json!({"expression": "window.own = 5; own"}), json!(5)).await;
    check(json!({"expression": "(e) => e.id + own", "element": "#outer"}), json!("outer5")).await;
    check(json!({"expression": "element.localName", "element": "h1"}), json!("h1")).await;
    check(
        json!({"expression": "async e => e.ownerDocument.title", "element": "text=Save deep"}),
        json!("Frame deep"),
    )
    .await;
    let thrown = stage.fails(ErrorCode::EvalFailed, "eval", json!({"expression": "1;\n  null.x"})).await;
    // Chromium names the member, Firefox the expression.
    let place = if stage.is_chromium() { "line 2, column 8" } else { "line 2, column 3" };
    assert!(thrown.message.contains(place), "{thrown:?}");
    let thrown = stage
        .fails(ErrorCode::EvalFailed, "eval", json!({"expression": "(e) =>\n e.no.x", "element": "h1"}))
        .await;
    // In Firefox lines of functions count from that of the function that calls them.
    assert!(!stage.is_chromium() || thrown.message.contains("line 2, "), "{thrown:?}");
    stage
        .fails(ErrorCode::EvalFailed, "eval", json!({"expression": "Promise.reject(new Error('no'))"}))
        .await;
    stage.fails(ErrorCode::EvalFailed, "eval", json!({"expression": "((", "element": "h1"})).await;
    stage.fails(ErrorCode::SelectorNotFound, "eval", json!({"expression": "1", "element": "#none"})).await;
    stage.fails(ErrorCode::BadArgs, "eval", json!({"expression": "1", "nth": 1})).await;
    let long = stage.act("eval", json!({"expression": "'x'.repeat(300000)"})).await;
    assert_eq!(
        (long["value"].as_str().map(str::len), long["cut_from_bytes"].as_u64()),
        (Some(262_144), Some(300_002))
    );
    stage.check_wrong_moments("eval", json!({"expression": "1", "element": "body"})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn eval_gives_the_value_of_a_block_with_await() {
    let stage = Stage::at("/plain").await;
    assert_eq!(stage.eval("if (true) { await 7 }").await, 7);
}

#[tokio::test(flavor = "multi_thread")]
async fn eval_ends_a_script_that_never_ends() {
    let stage = Stage::at("/plain").await;
    stage
        .fails(ErrorCode::Timeout, "eval", json!({"expression": "(e) => { for (;;); }", "element": "h1"}))
        .await;
    assert_eq!(stage.eval("'alive'").await, "alive");
}
