//! `record`: a video of the tab, in a format that has an encoder.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure};
use tabwire_engine::{Context, NewFile, Video, VideoEncoder, find_action};

use crate::actions::support::stage::Stage;

const PAGE: &str = "<body style='margin: 0; background: red'>";

/// Paints the page and waits until it has been drawn.
async fn paint(stage: &Stage, colour: &str) {
    let painting = format!(
        "document.body.style.background = '{colour}'; \
         new Promise((done) => requestAnimationFrame(() => setTimeout(done, 300)))"
    );
    stage.eval(&painting).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn recording_without_encoder_is_an_animated_webp() {
    let stage = Stage::start().await;
    stage.show(PAGE).await;
    let started = stage.text("record", json!({"verb": "start"})).await;
    assert!(started.contains("no encoder"), "{started}");
    stage.fails(ErrorCode::Busy, "record", json!({"verb": "start"})).await;
    paint(&stage, "lime").await;
    // A screenshot meanwhile does not end it.
    stage.act("screenshot", json!({})).await;
    paint(&stage, "blue").await;
    let result = stage.act("record", json!({"verb": "stop"})).await;
    assert_eq!(result["format"], "webp");
    assert!(result["note"].as_str().is_some_and(|note| note.contains("animated WebP")), "{result}");
    assert!(result["frames"].as_u64().is_some_and(|frames| frames >= 3), "{result}");
    assert!(result["seconds"].as_f64().is_some_and(|seconds| seconds >= 0.6), "{result}");
    let file = std::fs::read(result["path"].as_str().expect("a path")).expect("written");
    assert_eq!(result["bytes"], file.len());
    assert!(file.starts_with(b"RIFF") && file.windows(4).filter(|part| part == b"ANMF").count() >= 3);
    // Chromium itself can decode it.
    let encoded: String = file.iter().map(|byte| format!("%{byte:02x}")).collect();
    let look = format!(
        "new Promise((done, fail) => {{ const image = new Image(); image.onload = () => done([image.width, image.height]); \
         image.onerror = () => fail(new Error('no image')); image.src = 'data:image/webp,{encoded}'; }})"
    );
    assert_eq!(stage.eval(&look).await, json!([result["width"], result["height"]]));
    stage.fails(ErrorCode::NotActionable, "record", json!({"verb": "stop"})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn recording_survives_its_tab_and_can_be_a_directory() {
    let stage = Stage::start().await;
    stage.show(PAGE).await;
    let second = stage.act("tab_new", json!({})).await;
    let tab = Stage::tab(&second);
    stage.show(PAGE).await;
    stage.act("record", json!({"verb": "start", "format": "frames", "output": "shots"})).await;
    paint(&stage, "lime").await;
    stage.act("tab_close", json!({"id": tab})).await;
    let result = stage.act("record", json!({"verb": "stop"})).await;
    assert_eq!((&result["format"], &result["cut"]), (&json!("frames"), &json!("the tab was closed")));
    let path = result["path"].as_str().expect("a path");
    let images = std::fs::read_dir(path).expect("a directory").count();
    assert_eq!(result["frames"], images);
    assert!(images >= 2, "{result}");
}

#[derive(Debug, Default)]
struct FakeEncoder {
    added: Arc<Mutex<Vec<usize>>>,
}

#[derive(Debug)]
struct FakeVideo(Arc<Mutex<Vec<usize>>>);

impl VideoEncoder for FakeEncoder {
    fn begin(&self, frames_per_second: u32) -> Option<Box<dyn Video>> {
        assert_eq!(frames_per_second, 10);
        Some(Box::new(FakeVideo(Arc::clone(&self.added))))
    }
}

impl Video for FakeVideo {
    fn extension(&self) -> &'static str {
        "webm"
    }

    fn encoder(&self) -> &str {
        "a test"
    }

    fn add(&mut self, png: &[u8]) -> Result<(), Failure> {
        self.0.lock().expect("free").push(png.len());
        Ok(())
    }

    fn finish(&mut self, file: &mut NewFile) -> Result<u64, Failure> {
        file.add(b"video")?;
        Ok(5)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn recording_with_encoder_is_a_video_with_even_frames() {
    let stage = Stage::start().await;
    stage.show(PAGE).await;
    let maker = FakeEncoder::default();
    let added = Arc::clone(&maker.added);
    let context =
        Context { video_encoder: Some(Arc::new(maker)), ..stage.context(None, Duration::from_secs(30)) };
    let record = find_action("record").expect("there");
    record
        .run(&context, json!({"verb": "start", "output": stage.files.at("mine.webm")}))
        .await
        .expect("started");
    paint(&stage, "lime").await;
    let result: Value = record.run(&context, json!({"verb": "stop"})).await.expect("stopped").value;
    assert_eq!(
        (&result["format"], &result["bytes"], &result["note"]),
        (&json!("webm"), &json!(5), &json!("encoded by a test"))
    );
    assert_eq!(std::fs::read(result["path"].as_str().expect("a path")).expect("written"), b"video");
    // One frame each tenth of a second, independent of when the screencast sent images.
    let ticks = added.lock().expect("free").len();
    let seconds = result["seconds"].as_f64().expect("a number");
    let wanted = seconds * 10.0 + 1.0;
    let ticks = f64::from(u32::try_from(ticks).expect("few"));
    assert!((ticks - wanted).abs() <= 2.0, "{ticks} {wanted}");
}

#[tokio::test(flavor = "multi_thread")]
async fn record_rejects_bad_input_and_wrong_moments() {
    let stage = Stage::at("/plain").await;
    for bad in [
        json!({}),
        json!({"verb": "start", "format": "gif"}),
        json!({"verb": "start", "format": "webm"}),
        json!({"verb": "stop", "output": "x"}),
    ] {
        stage.fails(ErrorCode::BadArgs, "record", bad).await;
    }
    stage.fails(ErrorCode::NotActionable, "record", json!({"verb": "stop"})).await;
    stage.check_wrong_moments("record", json!({"verb": "start"})).await;
}
