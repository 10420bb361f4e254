//! `capture` and `--capture`: the files of each action, which contain no secret.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use tabwire_api::ErrorCode;
use tabwire_engine::{Context, find_action};
use tabwire_image::Image;

use crate::actions::support::stage::Stage;

/// A secret that no file may contain.
const CANARY: &str = "CANARY&93<x";

fn index(directory: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(directory.join("index.jsonl")).expect("an index");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn directory(response: &Value) -> PathBuf {
    PathBuf::from(response["directory"].as_str().expect("a directory"))
}

#[tokio::test(flavor = "multi_thread")]
async fn every_action_gets_capture_files() {
    let stage = Stage::at("/console/errors").await;
    let on = stage.act("capture", json!({"verb": "on"})).await;
    let place = directory(&on);
    stage.show("<title>A</title><h1>Shop</h1><button onclick=\"console.log('paid'); this.textContent = 'Done'\">Pay</button>").await;
    stage.act("click", json!({"target": "text=Pay"})).await;
    stage.fails(ErrorCode::SelectorNotFound, "click", json!({"target": "text=Missing"})).await;
    let read = |name: &str| std::fs::read_to_string(place.join(name)).unwrap_or_else(|_| panic!("{name}"));
    assert!(read("0002-click.md").contains("# Shop"), "{}", read("0002-click.md"));
    assert!(read("0002-click.html").contains("<h1>Shop</h1>"));
    assert!(read("0002-click.console.txt").contains("\"paid\""));
    let delta = read("0002-click.delta.txt");
    assert!(delta.contains("~ ") && delta.contains("Done") && !delta.contains("Shop\" level"), "{delta}");
    let image = std::fs::read(place.join("0002-click.png")).expect("an image");
    assert!(Image::from_png(&image).expect("a PNG").width() > 300);
    let lines = index(&place);
    let listed: Vec<(&str, bool)> = lines
        .iter()
        .map(|line| (line["action"].as_str().expect("a name"), line["ok"].as_bool().expect("a flag")))
        .collect();
    assert_eq!(listed, [("navigate", true), ("click", true), ("click", false)]);
    assert_eq!(lines[1]["params"], json!({"target": "text=Pay"}));
    assert_eq!(lines[1]["result"]["element"], "button \"Pay\"");
    assert_eq!(lines[2]["error"]["code"], "SELECTOR_NOT_FOUND");
    assert_eq!(lines[2]["files"].as_array().map(Vec::len), Some(5), "{}", lines[2]);

    // Nothing is captured while paused, and only an index line while a dialog is open.
    stage.act("capture", json!({"verb": "pause"})).await;
    stage.act("eval", json!({"expression": "1"})).await;
    stage.act("capture", json!({"verb": "resume"})).await;
    let opening = json!({"expression": "setTimeout(() => alert('hello'), 0); new Promise(() => {})"});
    assert_eq!(stage.try_act("eval", opening).await.expect_err("blocked").code, ErrorCode::DialogOpen);
    stage.act("dialog", json!({"answer": "accept"})).await;
    let off = stage.act("capture", json!({"verb": "off"})).await;
    assert_eq!((off["sets"].as_u64(), directory(&off)), (Some(5), place.clone()));
    let lines = index(&place);
    assert!(lines[3]["skipped"].as_str().is_some_and(|why| why.contains("hello")), "{}", lines[3]);
    assert!(!place.join("0004-eval.png").exists() && place.join("0005-dialog.png").exists());
    stage.act("eval", json!({"expression": "2"})).await;
    assert_eq!(index(&place).len(), 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn t39_captures_contain_no_secret() {
    let stage = Stage::at("/login").await;
    let on = stage.act("capture", json!({"verb": "on"})).await;
    let place = directory(&on);
    stage.act("fill", json!({"target": "#user", "value": "alice"})).await;
    stage.act("fill", json!({"target": "#password", "value": CANARY})).await;
    let bounds = stage.act("get", json!({"what": "box", "target": "#password"})).await;
    stage.act("focus", json!({"target": "#password"})).await;
    stage.act("press", json!({"keys": ["End", "z"]})).await;
    stage.act("press", json!({"keys": ["Backspace"]})).await;
    // The page shows the secret everywhere.
    let leak = "const secret = document.querySelector('#password').value; console.log('typed ' + secret); \
        const text = document.createElement('p'); text.textContent = 'It is ' + secret; document.body.append(text); \
        const shown = document.createElement('textarea'); shown.value = secret; document.body.append(shown); \
        history.replaceState(null, '', '?password=' + encodeURIComponent(secret)); secret.length";
    stage.act("eval", json!({"expression": leak})).await;
    let form = json!({"form": json!({"#user": "bob", "#password": CANARY}).to_string(), "submit": true});
    stage.act("fill_form", form).await;
    stage.act("cookies", json!({"verb": "set", "name": "sid", "value": CANARY})).await;
    stage.act("cookies", json!({"verb": "list", "values": true})).await;
    stage.act("capture", json!({"verb": "off"})).await;

    let mut files = 0;
    for entry in std::fs::read_dir(&place).expect("there").flatten() {
        let content = std::fs::read(entry.path()).expect("readable");
        let text = String::from_utf8_lossy(&content);
        // No file contains a part of the secret, in any escaping.
        assert!(!text.contains("CANARY"), "{}: {text}", entry.path().display());
        files += 1;
    }
    assert!(files > 25, "{files}");
    let lines = index(&place);
    assert_eq!(lines[0]["params"]["value"], "alice", "other values are kept");
    assert_eq!(lines[1]["params"]["value"], "•••");
    let pressed = lines.iter().find(|line| line["action"] == "press").expect("a line");
    assert_eq!(pressed["params"]["keys"], "•••", "{pressed}");
    let read = |name: &str| std::fs::read_to_string(place.join(name)).unwrap_or_else(|_| panic!("{name}"));
    let eval = lines.iter().find(|line| line["action"] == "eval").expect("a line");
    let stem = format!("{:04}-eval", eval["number"].as_u64().expect("a number"));
    assert!(read(&format!("{stem}.md")).contains("It is •••"));
    assert!(read(&format!("{stem}.console.txt")).contains("typed •••"));

    // The field is painted over in the image.
    let image = std::fs::read(place.join("0002-fill.png")).expect("an image");
    let image = Image::from_png(&image).expect("a PNG");
    let number = |name: &str| bounds["value"][name].as_f64().unwrap_or_else(|| panic!("{name}: {bounds}"));
    let inside = |part: f64| {
        let place = |start: f64, length: f64| (start + length * part).round();
        let (x, y) = (place(number("x"), number("width")), place(number("y"), number("height")));
        image.pixel(format!("{x}").parse().expect("whole"), format!("{y}").parse().expect("whole"))
    };
    for part in [0.1, 0.5, 0.9] {
        assert_eq!(inside(part), Some([32, 32, 32, 255]), "{bounds}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn capture_flag_captures_one_action() {
    let stage = Stage::at("/plain").await;
    let context = Context { capture: true, ..stage.context(None, Duration::from_secs(30)) };
    for number in 1..=2 {
        let click = find_action("click").expect("there");
        let done = click.run(&context, json!({"target": "#count"})).await.expect("clicked");
        assert!(
            done.notices[0].starts_with(&format!("captured 000{number}-click in ")),
            "{:?}",
            done.notices
        );
    }
    let status = stage.act("capture", json!({})).await;
    assert_eq!((status["state"].as_str(), status["sets"].as_u64()), (Some("off"), Some(2)));
    let place = directory(&status);
    let delta = std::fs::read_to_string(place.join("0001-click.delta.txt")).expect("written");
    assert!(delta.contains("(changes since the last snapshot)"), "{delta}");
    // A closed tab gets an index line and no files.
    let second = stage.act("tab_new", json!({})).await;
    let tab = Stage::tab(&second);
    stage.act("tab_close", json!({"id": tab})).await;
    let gone = Context { tab: Some(tab), ..context };
    let failed = find_action("get_text").expect("there").run(&gone, json!({})).await;
    assert_eq!(failed.expect_err("gone").code, ErrorCode::TabNotFound);
    let last = index(&place).pop().expect("a line");
    assert!(last["ok"] == false && last["skipped"].is_string(), "{last}");
}

#[tokio::test(flavor = "multi_thread")]
async fn capture_in_the_wrong_state_fails() {
    let stage = Stage::at("/plain").await;
    for bad in [json!({"verb": "maybe"}), json!({"verb": "off", "directory": "x"}), json!({"quality": 1})] {
        stage.fails(ErrorCode::BadArgs, "capture", bad).await;
    }
    for verb in ["off", "pause", "resume"] {
        stage.fails(ErrorCode::NotActionable, "capture", json!({"verb": verb})).await;
    }
    let on = stage.act("capture", json!({"verb": "on", "directory": "mine"})).await;
    assert!(directory(&on).ends_with("mine"), "{on}");
    for verb in ["on", "resume"] {
        stage.fails(ErrorCode::NotActionable, "capture", json!({"verb": verb})).await;
    }
    stage.act("capture", json!({"verb": "off"})).await;
    let taken = stage.fails(ErrorCode::BadArgs, "capture", json!({"verb": "on", "directory": "mine"})).await;
    assert!(taken.hint().contains("another"), "{}", taken.message);
    assert_eq!(stage.text("capture", json!({})).await, "capturing is off");
}
