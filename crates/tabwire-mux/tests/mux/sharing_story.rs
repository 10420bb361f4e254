//! Visibility: own, released and shared targets, and every way a client may try to reach another's.

use serde_json::{Value, json};
use tabwire_mux::{OnLoss, Share};

use crate::support::stage::Stage;

#[test]
fn t19_client_cannot_see_or_reach_another_clients_targets() {
    let mut stage = Stage::new();
    stage.join(1);
    stage.join(2);
    let page = stage.create(1);
    let context = stage.ask_for(1, "Target.createBrowserContext", json!({}), "browserContextId");
    let inside =
        stage.ask_for(1, "Target.createTarget", json!({"url": "", "browserContextId": context}), "targetId");
    let session = stage.attach(1, &page);
    let own = stage.attach(2, "T-002.");
    stage.take_heard();
    let tries = [
        ("Target.attachToTarget", json!({"targetId": page, "flatten": true})),
        ("Target.attachToTarget", json!({"targetId": inside, "flatten": true})),
        ("Target.closeTarget", json!({"targetId": page})),
        ("Target.activateTarget", json!({"targetId": page})),
        ("Target.getTargetInfo", json!({"targetId": page})),
        ("Target.createTarget", json!({"url": "", "browserContextId": context})),
        ("Target.disposeBrowserContext", json!({"browserContextId": context})),
        ("Storage.getCookies", json!({"browserContextId": context})),
        ("Browser.getWindowForTarget", json!({"targetId": page})),
        ("Target.detachFromTarget", json!({"sessionId": session})),
        ("Target.sendMessageToTarget", json!({"sessionId": session, "message": "{}"})),
        ("Target.exposeDevToolsProtocol", json!({"targetId": page})),
    ];
    // On the root session, and on a page's session, which the browser would accept as well.
    for on in ["", own.as_str()] {
        for (method, params) in &tries {
            let response = stage.ask(2, on, method, params.clone());
            assert!(response["code"].is_number(), "{method} on '{on}': {response}");
        }
    }
    assert!(stage.take_heard().is_empty(), "nothing of it reached the browser");
    let response = stage.ask(2, "", "Target.getTargets", json!({}));
    let ids: Vec<&Value> =
        response["targetInfos"].as_array().unwrap().iter().map(|info| &info["targetId"]).collect();
    assert_eq!(ids, ["T-002."]);
    let response = stage.ask(2, &own, "Target.getTargets", json!({}));
    assert_eq!(response["targetInfos"].as_array().unwrap().len(), 1);
    assert_eq!(stage.ask(2, "", "Target.getBrowserContexts", json!({}))["browserContextIds"], json!([]));
    assert_eq!(
        stage.ask(1, "", "Target.getBrowserContexts", json!({}))["browserContextIds"],
        json!([context])
    );
    stage.send(2, &session, 7, "Fake.echo", json!({}));
    assert!(stage.take_inbox(2).contains(&format!("7 error -32001 on {session}")));
}

#[test]
fn t19_discovery_on_a_page_session_lists_own_targets_only() {
    let mut stage = Stage::new();
    stage.join(1);
    stage.join(2);
    stage.create(1);
    let own = stage.attach(2, "T-002.");
    stage.take_inbox(2);
    stage.ask(2, &own, "Target.setDiscoverTargets", json!({"discover": true}));
    assert_eq!(stage.take_inbox(2), [format!("targetCreated page T-002. on {own}")]);
    stage.create(1);
    assert!(stage.take_inbox(2).is_empty());
}

#[test]
fn t19_attached_field_does_not_reveal_other_clients() {
    let mut stage = Stage::new();
    stage.join(1);
    stage.join(2);
    stage.attach(1, "T-002.");
    let attached = |response: &Value| response["targetInfos"][0]["attached"] == true;
    assert!(attached(&stage.ask(1, "", "Target.getTargets", json!({}))));
    assert!(!attached(&stage.ask(2, "", "Target.getTargets", json!({}))));
}

#[test]
fn client_with_share_all_sees_all_targets() {
    let mut stage = Stage::new();
    stage.join(1);
    let page = stage.create(1);
    stage.join_with(2, Share::All, OnLoss::Close);
    stage.discover(2);
    assert_eq!(
        stage.take_inbox(2),
        ["targetCreated page T-002.".to_owned(), format!("targetCreated page {page}")]
    );
    let session = stage.attach(2, &page);
    assert_eq!(stage.ask(2, &session, "Fake.echo", json!({}))["echo"]["tag"], "c2-");
}

#[test]
fn released_targets_are_visible_to_clients_that_see_the_session() {
    let mut stage = Stage::new();
    stage.join(1);
    stage.join(2);
    stage.join_with(3, Share::Released, OnLoss::Close);
    for client in [2, 3] {
        stage.discover(client);
        stage.take_inbox(client);
    }
    let page = stage.create(1);
    assert!(stage.take_inbox(3).is_empty());
    stage.leave(1);
    assert!(stage.take_inbox(2).is_empty());
    assert_eq!(stage.take_inbox(3), [format!("targetCreated page {page}")]);
    stage.join(4);
    stage.discover(4);
    assert_eq!(stage.take_inbox(4), ["targetCreated page T-002."], "what a client left is the session's");
    stage.join_with(5, Share::SessionTabs, OnLoss::Close);
    stage.discover(5);
    assert_eq!(
        stage.take_inbox(5),
        ["targetCreated page T-002.".to_owned(), format!("targetCreated page {page}")]
    );
}

#[test]
fn two_clients_on_one_page_have_separate_sessions() {
    let mut stage = Stage::new();
    stage.join(1);
    stage.join(2);
    let (one, two) = (stage.attach(1, "T-002."), stage.attach(2, "T-002."));
    stage.ask(1, &one, "Fake.enable", json!({}));
    stage.take_inbox(1);
    stage.take_inbox(2);
    stage.browser.event(&one, "Fake.event", json!({}));
    stage.flow();
    assert_eq!(stage.take_inbox(1), [format!("Fake.event on {one}")]);
    assert!(stage.take_inbox(2).is_empty());
    stage.ask(1, "", "Target.detachFromTarget", json!({"sessionId": one}));
    assert_eq!(stage.take_inbox(1), ["detachedFromTarget T-002."]);
    assert_eq!(stage.ask(2, &two, "Fake.echo", json!({}))["echo"]["tag"], "c2-");
    stage.send(2, &two, 7, "Fake.echo", json!({}));
    stage.browser.close("T-002.");
    stage.flow();
    assert_eq!(stage.take_inbox(2), [format!("7 ok on {two}"), "detachedFromTarget T-002.".to_owned()]);
}

#[test]
fn closing_the_browser_closes_the_clients_own_part() {
    let mut stage = Stage::new();
    stage.join(1);
    stage.join(2);
    let (mine, other) = (stage.create(1), stage.create(2));
    let context = stage.ask_for(1, "Target.createBrowserContext", json!({}), "browserContextId");
    stage.ask(1, "", "Target.createTarget", json!({"url": "", "browserContextId": context}));
    assert_eq!(stage.ask(1, "", "Browser.close", json!({})), json!({}));
    assert_eq!(
        stage.take_notices(),
        ["close 1: closed by Browser.close; the browser keeps running for its other clients"]
    );
    assert!(!stage.browser.targets.contains_key(&mine) && stage.browser.contexts.is_empty());
    assert!(stage.browser.targets.contains_key(&other) && stage.browser.targets.contains_key("T-002."));
    stage.leave(1);
    assert_eq!(stage.ask(2, "", "Fake.echo", json!({}))["echo"]["tag"], "c2-");
}
