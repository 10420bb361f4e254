//! `screenshot` and `pdf` files.

use std::time::Duration;

use serde_json::{Value, json};
use tabwire_api::ErrorCode;
use tabwire_image::Image;

use crate::actions::support::stage::Stage;

const COLOURS: &str = "<title>P</title><body style='margin:0;background:rgb(0,0,255)'>
    <div id=red style='position:absolute;left:20px;top:30px;width:100px;height:50px;background:rgb(255,0,0)'></div>
    <button style='position:absolute;left:200px;top:100px;width:80px;height:60px'>Pay</button>
    <a href=/x style='position:absolute;left:20px;top:3000px;width:80px;height:60px'>Low</a>";

fn read_image(taken: &Value) -> Image {
    let bytes = std::fs::read(taken["path"].as_str().expect("a path")).expect("a file");
    assert_eq!(taken["bytes"].as_u64(), u64::try_from(bytes.len()).ok());
    let image = Image::from_png(&bytes).expect("a png");
    assert_eq!(taken["width"], image.width());
    assert_eq!(taken["height"], image.height());
    image
}

#[tokio::test(flavor = "multi_thread")]
async fn screenshot_shows_the_viewport_the_page_or_an_element() {
    let stage = Stage::start().await;
    stage.show(COLOURS).await;
    let view = read_image(&stage.act("screenshot", json!({})).await);
    assert_eq!(view.pixel(70, 55), Some([255, 0, 0, 255]));
    assert_eq!(view.pixel(10, 10), Some([0, 0, 255, 255]));
    stage.eval("scrollTo(0, 500)").await;
    let taken = stage.act("screenshot", json!({"target": "#red"})).await;
    let red = read_image(&taken);
    assert_eq!((red.width(), red.height()), (100, 50));
    assert_eq!((red.pixel(0, 0), red.pixel(99, 49)), (Some([255, 0, 0, 255]), Some([255, 0, 0, 255])));
    let output = stage.files.put("seed", b"").with_file_name("full.png");
    let full = stage.act("screenshot", json!({"full_page": true, "original": true, "output": output})).await;
    assert_eq!((full["height"].as_u64(), full["truncated"].as_bool()), (Some(3_060), Some(false)));
    assert!(full["path"].as_str().is_some_and(|path| path.ends_with("full.png")));
    assert_eq!(read_image(&full).pixel(70, 55), Some([255, 0, 0, 255]));
    let small = stage.act("screenshot", json!({"full_page": true})).await;
    assert_eq!((small["height"].as_u64(), small["full_height"].as_f64()), (Some(1_568), Some(3_060.0)));
    read_image(&small);
    let text = stage.text("screenshot", json!({"full_page": true})).await;
    assert!(text.contains("1568 pixels") && text.contains("the page is 3060 CSS pixels high"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn screenshots_have_the_requested_format() {
    let stage = Stage::start().await;
    stage.show(COLOURS).await;
    for (format, start) in [("jpeg", [0xff, 0xd8]), ("webp", *b"RI")] {
        let taken = stage.act("screenshot", json!({"format": format})).await;
        let bytes = std::fs::read(taken["path"].as_str().expect("a path")).expect("a file");
        assert!(bytes.starts_with(&start), "{taken}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn very_tall_pages_are_cut_and_reported() {
    let stage = Stage::start().await;
    stage.show("<body style='margin:0'><a style='position:absolute;top:40000px;height:60px'>Low</a>").await;
    let tall = stage.act("screenshot", json!({"full_page": true})).await;
    assert_eq!((tall["truncated"].as_bool(), tall["full_height"].as_f64()), (Some(true), Some(40_060.0)));
    assert_eq!(tall["height"], 1_568);
}

#[tokio::test(flavor = "multi_thread")]
async fn annotation_labels_are_refs_and_invisible_to_the_page() {
    let stage = Stage::start().await;
    stage.show(COLOURS).await;
    stage.eval("window.seen = 0; new MutationObserver((all) => { seen += all.length; }).observe(document, {subtree: true, childList: true, attributes: true})").await;
    let taken = stage.act("screenshot", json!({"annotate": true})).await;
    let marks = taken["annotations"].as_array().expect("marks");
    assert_eq!(marks.len(), 1, "{taken}");
    assert_eq!((marks[0]["role"].as_str(), marks[0]["name"].as_str()), (Some("button"), Some("Pay")));
    assert_ne!(
        read_image(&taken).pixel(200, 140),
        read_image(&stage.act("screenshot", json!({})).await).pixel(200, 140)
    );
    assert_eq!(stage.eval("seen").await, 0);
    let clicked = stage.act("click", json!({"target": marks[0]["ref"]})).await;
    assert_eq!(clicked["element"], "button \"Pay\"");
    let full = stage.act("screenshot", json!({"annotate": true, "full_page": true})).await;
    assert_eq!(full["annotations"].as_array().map(Vec::len), Some(2), "{full}");
    stage.open("/frames/deep").await;
    let deep = stage.act("screenshot", json!({"annotate": true})).await;
    let save = deep["annotations"]
        .as_array()
        .expect("marks")
        .iter()
        .find(|mark| mark["name"] == "Save deep")
        .expect("in a frame");
    let place = stage.act("get", json!({"what": "box", "target": save["ref"]})).await;
    for side in ["x", "y", "width", "height"] {
        let off = place["value"][side].as_f64().unwrap_or(-9.0) - save["box"][side].as_f64().unwrap_or(9.0);
        assert!(off.abs() < 1.0, "{side}: {place} {save}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn screenshot_works_in_background_tabs() {
    let stage = Stage::at("/plain").await;
    let behind = Stage::tab(&stage.act("tab_new", json!({})).await);
    stage.act("navigate", json!({"url": stage.site.url("a", "/plain")})).await;
    stage.act("tab_new", json!({"background": false})).await;
    for _ in 0..6 {
        let taken = stage.try_act_in(Some(behind), "screenshot", json!({}), Duration::from_secs(8)).await;
        read_image(&taken.expect("taken"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pdf_prints_the_page() {
    let stage = Stage::start().await;
    stage.show("<p>one</p><p style='break-before:page'>two</p>").await;
    let printed = stage
        .act("pdf", json!({"paper": "letter", "landscape": true, "margin": "1cm", "background": true}))
        .await;
    let bytes = std::fs::read(printed["path"].as_str().expect("a path")).expect("a file");
    assert!(bytes.starts_with(b"%PDF-") && printed["bytes"].as_u64() == u64::try_from(bytes.len()).ok());
    let text = String::from_utf8_lossy(&bytes).into_owned();
    if stage.is_chromium() {
        assert!(
            text.contains("/MediaBox [0 0 792 612]") || text.contains("[0 0 792 612]"),
            "landscape letter"
        );
        assert_eq!(text.matches("/Type /Page\n").count(), 2);
    }
    let output = stage.files.put("seed", b"").with_file_name("first.pdf");
    let first = stage.act("pdf", json!({"pages": "1", "output": output})).await;
    let one = std::fs::read(first["path"].as_str().expect("a path")).expect("a file");
    // Firefox compresses the list of pages.
    match stage.is_chromium() {
        true => assert_eq!(String::from_utf8_lossy(&one).matches("/Type /Page\n").count(), 1),
        false => assert!(one.starts_with(b"%PDF-") && one.len() < bytes.len(), "one of two pages"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn screenshots_reject_bad_input_and_wrong_moments() {
    let stage = Stage::start().await;
    stage.show("<p>a</p><i hidden>b</i>").await;
    for bad in [
        json!({"quality": 50}),
        json!({"format": "jpeg", "quality": 0}),
        json!({"format": "gif"}),
        json!({"target": "p", "full_page": true}),
    ] {
        stage.fails(ErrorCode::BadArgs, "screenshot", bad).await;
    }
    stage.fails(ErrorCode::SelectorNotFound, "screenshot", json!({"target": "b"})).await;
    stage.fails(ErrorCode::NotActionable, "screenshot", json!({"target": "i"})).await;
    for bad in [
        json!({"margin": "wide"}),
        json!({"margin": "1cm,2cm"}),
        json!({"pages": "3-1"}),
        json!({"pages": "x"}),
        json!({"scale": 3.0}),
        json!({"paper": "b5"}),
    ] {
        stage.fails(ErrorCode::BadArgs, "pdf", bad).await;
    }
    for action in ["screenshot", "pdf"] {
        stage.fails(ErrorCode::PolicyDenied, action, json!({"output": "/somewhere/else.bin"})).await;
    }
    for action in ["screenshot", "pdf"] {
        stage.check_wrong_moments(action, json!({})).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pdf_of_pages_beyond_the_end_fails() {
    let stage = Stage::start().await;
    stage.show("<p>a</p>").await;
    let many = stage.try_act("pdf", json!({"pages": "90-91"})).await;
    assert_eq!(many.expect_err("too many").code, ErrorCode::BadArgs);
}
