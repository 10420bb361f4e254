//! Pages that freeze, pages with invalid text, endless depth or constant movement.

use std::time::Duration;

use serde_json::json;
use tabwire_api::ErrorCode;

use crate::actions::support::stage::Stage;

const TIMEOUT: Duration = Duration::from_secs(20);

#[tokio::test(flavor = "multi_thread")]
async fn f10_frozen_tab_is_resumed_and_blocks_no_other_tab() {
    let stage = Stage::at("/plain").await;
    let tab = Stage::tab(&stage.act("tabs_list", json!({})).await["tabs"][0]);
    let other = Stage::tab(&stage.act("tab_new", json!({"url": stage.site.url("b", "/plain")})).await);
    let second = stage.second_session(tab).await;
    let frozen = json!({"state": "frozen"});
    second.send("Page.setWebLifecycleState", &frozen, TIMEOUT).await.expect("frozen");
    for (tab, name, params) in [
        (other, "click", json!({"target": "#count"})),
        (tab, "snapshot", json!({})),
        (tab, "click", json!({"target": "#count"})),
        (tab, "eval", json!({"expression": "new Promise((done) => setTimeout(done, 10))"})),
    ] {
        let done = stage.try_act_in(Some(tab), name, params, TIMEOUT).await;
        done.unwrap_or_else(|failure| panic!("{name} in {tab}: {failure:?}"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn f12_dialog_closed_by_another_client_is_no_failure() {
    let stage = Stage::at("/plain").await;
    let tab = Stage::tab(&stage.act("tabs_list", json!({})).await["tabs"][0]);
    let second = stage.second_session(tab).await;
    second.enable("Page").await.expect("enabled");
    let opening = json!({"expression": "setTimeout(() => { window.said = confirm('sure?'); }, 0); new Promise(() => {})"});
    let waited = stage.try_act("eval", opening).await.expect_err("blocked");
    assert_eq!(waited.code, ErrorCode::DialogOpen);
    assert!(waited.message.contains("sure?"), "{waited:?}");
    let accept = json!({"accept": true});
    second.send("Page.handleJavaScriptDialog", &accept, TIMEOUT).await.expect("the other client closes it");
    match stage.try_act("dialog", json!({"answer": "dismiss"})).await {
        Ok(_) => {}
        Err(failure) => assert_eq!(failure.code, ErrorCode::NotActionable, "{failure:?}"),
    }
    assert_eq!(stage.eval("window.said").await, true, "the first client's decision counts");
}

/// The next dialog often opens before the response to the first one's closing arrives.
#[tokio::test(flavor = "multi_thread")]
async fn dialogs_in_a_row_are_all_reported() {
    let stage = Stage::at("/plain").await;
    let alerts = "setTimeout(() => { for (let n = 1; n <= 40; n++) alert('number ' + n); }, 0)";
    let opening = json!({"expression": format!("{alerts}; new Promise(() => {{}})")});
    let waited = stage.try_act("eval", opening).await.expect_err("blocked");
    assert_eq!(waited.code, ErrorCode::DialogOpen);
    for number in 1..=40 {
        let accepted = stage.act("dialog", json!({"answer": "accept"})).await;
        assert_eq!(accepted["dialog"]["message"], format!("number {number}"), "{accepted}");
        let next = (number < 40).then(|| format!("number {}", number + 1));
        assert_eq!(accepted["next"]["message"].as_str().map(str::to_owned), next, "{accepted}");
    }
    assert_eq!(stage.eval("1 + 1").await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn f16_broken_text_and_deep_nesting_are_read() {
    let stage = Stage::at("/hostile/surrogates").await;
    let seen = stage.text("snapshot", json!({})).await;
    assert!(seen.starts_with("<page "), "{seen}");
    let odd = stage.act("eval", json!({"expression": "'a\\ud800b'"})).await;
    assert_eq!(odd["value"], "a\u{fffd}b", "{odd}");
    for kind in ["", "&kind=shadow", "&kind=list"] {
        stage.open(&format!("/hostile/depth?depth=10000{kind}")).await;
        stage.text("snapshot", json!({})).await;
        stage.text("find", json!({"text": "bottom"})).await;
        stage.act("wait_for", json!({"target": "#bottom", "state": "attached"})).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn constantly_changing_page_can_be_read_and_clicked() {
    let stage = Stage::at("/churn?milliseconds=0").await;
    stage.text("snapshot", json!({})).await;
    let done = stage.act("click", json!({"target": "#stable"})).await;
    assert!(done["did"] == "clicked", "{done}");
    stage.act("click", json!({"target": "#stop"})).await;
    stage.act("click", json!({"target": "#stable"})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn t28_t29_hostile_pages_cannot_forge_or_hide_text() {
    let stage = Stage::at("/hostile/hidden").await;
    for params in [json!({}), json!({"full": true}), json!({"interactive": true})] {
        let seen = stage.text("snapshot", params.clone()).await;
        assert!(!seen.contains("CANARY-"), "{params}: {}", lines_with(&seen, "CANARY-"));
    }
    assert!(stage.text("snapshot", json!({"full": true})).await.contains("VISIBLE-"));
    stage.open("/hostile/forged").await;
    let seen = stage.text("snapshot", json!({"full": true})).await;
    let fence = seen.lines().next().expect("a fence").split('>').next().expect("closed").replace('<', "</");
    assert_eq!(seen.matches(&format!("{fence}>")).count(), 1, "{seen}");
    assert!(seen.trim_end().ends_with(&format!("{fence}>")), "{seen}");
    assert_eq!(stage.site.request_count("/stolen/image"), 0);
}

fn lines_with(text: &str, word: &str) -> String {
    text.lines().filter(|line| line.contains(word)).collect::<Vec<_>>().join("\n")
}
