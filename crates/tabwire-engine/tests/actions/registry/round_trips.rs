//! How many round trips to the browser an action takes.

use serde_json::{Value, json};

use crate::actions::support::counting_link::RoundTrips;
use crate::actions::support::stage::Stage;

/// The fewest round trips of a few tries: a page that has just loaded may need one more.
async fn round_trips(stage: &Stage, trips: &RoundTrips, name: &str, params: Value) -> u32 {
    let mut fewest = u32::MAX;
    for _ in 0..3 {
        trips.take();
        stage.act(name, params.clone()).await;
        // A command that is sent while another one runs costs a round trip too.
        fewest = fewest.min(trips.take().max(1));
    }
    fewest
}

#[tokio::test(flavor = "multi_thread")]
async fn actions_use_few_round_trips() {
    let trips = RoundTrips::default();
    let stage = Stage::start_over(|browser, tasks| trips.link(browser, tasks)).await;
    stage.open("/click/effects").await;
    let clicked = round_trips(&stage, &trips, "click", json!({"target": "#nothing"})).await;
    stage.open("/form").await;
    let filled = round_trips(&stage, &trips, "fill", json!({"target": "#name", "value": "Anna"})).await;
    let seen = round_trips(&stage, &trips, "snapshot", json!({})).await;
    let read = round_trips(&stage, &trips, "get_text", json!({})).await;
    assert!((1..=3).contains(&clicked), "click: {clicked}");
    assert!((1..=3).contains(&filled), "fill: {filled}");
    assert_eq!((seen, read), (1, 1), "snapshot and get_text");
    // The frames are read in parallel.
    stage.open("/frames/deep").await;
    stage.act("snapshot", json!({})).await;
    let seen = round_trips(&stage, &trips, "snapshot", json!({})).await;
    assert!((1..=3).contains(&seen), "snapshot of three processes: {seen}");
}
