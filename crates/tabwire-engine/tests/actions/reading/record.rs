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
async fn without_an_encoder_a_recording_is_an_animated_webp() {
    let stage = Stage::start().await;
    stage.show(PAGE).await;
    let started = stage.text("record", json!({"verb": "start"})).await;
    assert!(started.contains("no encoder"), "{started}");
    stage.fails(ErrorCode::Busy, "record", json!({"verb": "start"})).await;
    paint(&stage, "lime").await;
    // An image in between does not end it.
    stage.act("screenshot", json!({})).await;
    paint(&stage, "blue").await;
    let told = stage.act("record", json!({"verb": "stop"})).await;
    assert_eq!(told["format"], "webp");
    assert!(told["note"].as_str().is_some_and(|note| note.contains("animated WebP")), "{told}");
    assert!(told["frames"].as_u64().is_some_and(|frames| frames >= 3), "{told}");
    assert!(told["seconds"].as_f64().is_some_and(|seconds| seconds >= 0.6), "{told}");
    let file = std::fs::read(told["path"].as_str().expect("a path")).expect("written");
    assert_eq!(told["bytes"], file.len());
    assert!(file.starts_with(b"RIFF") && file.windows(4).filter(|part| part == b"ANMF").count() >= 3);
    // Chromium itself can show it.
    let encoded: String = file.iter().map(|byte| format!("%{byte:02x}")).collect();
    let look = format!(
        "new Promise((done, fail) => {{ const image = new Image(); image.onload = () => done([image.width, image.height]); \
         image.onerror = () => fail(new Error('no picture')); image.src = 'data:image/webp,{encoded}'; }})"
    );
    assert_eq!(stage.eval(&look).await, json!([told["width"], told["height"]]));
    stage.fails(ErrorCode::NotActionable, "record", json!({"verb": "stop"})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recording_outlives_its_tab_and_may_be_a_directory() {
    let stage = Stage::start().await;
    stage.show(PAGE).await;
    let second = stage.act("tab_new", json!({})).await;
    let tab = Stage::tab(&second);
    stage.show(PAGE).await;
    stage.act("record", json!({"verb": "start", "format": "frames", "output": "shots"})).await;
    paint(&stage, "lime").await;
    stage.act("tab_close", json!({"id": tab})).await;
    let told = stage.act("record", json!({"verb": "stop"})).await;
    assert_eq!((&told["format"], &told["cut"]), (&json!("frames"), &json!("the tab was closed")));
    let path = told["path"].as_str().expect("a path");
    let images = std::fs::read_dir(path).expect("a directory").count();
    assert_eq!(told["frames"], images);
    assert!(images >= 2, "{told}");
}

#[derive(Debug, Default)]
struct FakeMaker {
    added: Arc<Mutex<Vec<usize>>>,
}

#[derive(Debug)]
struct FakeMovie(Arc<Mutex<Vec<usize>>>);

impl VideoEncoder for FakeMaker {
    fn begin(&self, frames_per_second: u32) -> Option<Box<dyn Video>> {
        assert_eq!(frames_per_second, 10);
        Some(Box::new(FakeMovie(Arc::clone(&self.added))))
    }
}

impl Video for FakeMovie {
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
        file.add(b"movie")?;
        Ok(5)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn with_an_encoder_a_recording_is_a_movie_of_even_ticks() {
    let stage = Stage::start().await;
    stage.show(PAGE).await;
    let maker = FakeMaker::default();
    let added = Arc::clone(&maker.added);
    let context =
        Context { video_encoder: Some(Arc::new(maker)), ..stage.context(None, Duration::from_secs(30)) };
    let record = find_action("record").expect("there");
    record
        .run(&context, json!({"verb": "start", "output": stage.files.at("mine.webm")}))
        .await
        .expect("started");
    paint(&stage, "lime").await;
    let told: Value = record.run(&context, json!({"verb": "stop"})).await.expect("stopped").value;
    assert_eq!(
        (&told["format"], &told["bytes"], &told["note"]),
        (&json!("webm"), &json!(5), &json!("encoded by a test"))
    );
    assert_eq!(std::fs::read(told["path"].as_str().expect("a path")).expect("written"), b"movie");
    // A tick each tenth of a second, whatever came when.
    let ticks = added.lock().expect("free").len();
    let seconds = told["seconds"].as_f64().expect("a number");
    let wanted = seconds * 10.0 + 1.0;
    let ticks = f64::from(u32::try_from(ticks).expect("few"));
    assert!((ticks - wanted).abs() <= 2.0, "{ticks} {wanted}");
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_recordings_are_refused_and_wrong_moments_fail_well() {
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
