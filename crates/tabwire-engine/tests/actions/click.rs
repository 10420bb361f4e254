//! `click`: reaches what it is meant for, or says why not.

use serde_json::json;
use tabwire_wire::ErrorCode;

use crate::stage::Stage;

#[tokio::test(flavor = "multi_thread")]
async fn a_click_says_what_changed() {
    let stage = Stage::start().await;
    stage.show("<title>A</title><button onclick=\"document.title = 'B'\">Pay</button>").await;
    let done = stage.act("click", json!({"target": "text=Pay"})).await;
    assert_eq!(done["element"], "button \"Pay\"");
    assert_eq!(done["title"], "B");
    assert!(done.get("url").is_none(), "{done}");
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_targets_are_refused() {
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
async fn a_click_at_the_wrong_moment_fails_well() {
    let stage = Stage::start().await;
    stage.check_wrong_moments("click", json!({"target": "body"})).await;
}
