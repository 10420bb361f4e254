//! The browser goes away and comes back.

use serde_json::json;
use tabwire_mux::{LinkState, LossVerdict, OnLoss, Share};

use crate::fake_browser::DEFAULT_CONTEXT;
use crate::stage::Stage;

fn lose(stage: &mut Stage) {
    stage.browser.restart();
    stage.mux.browser_lost(stage.now);
    stage.settle();
}

fn start(stage: &mut Stage) {
    stage.mux.start(None, stage.now);
    stage.flow();
}

#[test]
fn a_lost_browser_answers_everything_and_lets_go_of_those_that_do_not_stay() {
    let mut stage = Stage::new();
    stage.join(1);
    stage.join_with(2, Share::Own, OnLoss::Keep);
    let session = stage.attach(2, "T-002.");
    stage.discover(2);
    stage.take_inbox(2);
    stage.send(1, "", 7, "Fake.echo", json!({}));
    stage.send(2, &session, 8, "Fake.echo", json!({}));
    lose(&mut stage);
    assert_eq!(stage.take_inbox(1), ["7 error OUTCOME_UNKNOWN"]);
    assert_eq!(
        stage.take_inbox(2),
        [
            format!("8 error OUTCOME_UNKNOWN on {session}"),
            "detachedFromTarget T-002.".to_owned(),
            "targetDestroyed T-002.".to_owned(),
        ]
    );
    assert_eq!(
        stage.take_notices(),
        ["close 1: BROWSER_GONE: the browser has exited or its connection closed"]
    );
    assert_eq!((stage.mux.pending(), stage.mux.link()), (0, LinkState::Degraded));
    stage.send(1, "", 9, "Fake.echo", json!({}));
    assert!(stage.take_inbox(1).is_empty() && stage.take_notices().is_empty());
}

#[test]
fn wishes_are_in_force_again_before_the_queue_is_flushed() {
    let mut stage = Stage::new();
    stage.join_with(1, Share::Own, OnLoss::Keep);
    stage.auto_attach(1);
    stage.discover(1);
    lose(&mut stage);
    stage.take_inbox(1);
    stage.send(1, "", 7, "Target.createTarget", json!({"url": ""}));
    stage.send(1, "", 8, "Fake.echo", json!({}));
    assert_eq!(stage.take_notices(), ["want browser"], "asked for once");
    let page = stage.browser.open("page", DEFAULT_CONTEXT, None, None);
    stage.take_heard();
    start(&mut stage);
    assert_eq!(
        stage.take_inbox(1),
        [
            format!("targetCreated page {page}"),
            format!("attachedToTarget page {page}"),
            "targetCreated page T-014.".to_owned(),
            "8 ok".to_owned(),
            "attachedToTarget page T-014. waiting".to_owned(),
            "7 ok".to_owned(),
        ]
    );
    let methods = stage.take_methods();
    let attach = methods.iter().position(|method| method == "Target.attachToTarget").unwrap();
    let create = methods.iter().position(|method| method == "Target.createTarget").unwrap();
    assert!(attach < create);
    assert_eq!(stage.take_notices(), ["connected"]);
}

#[test]
fn closing_a_browser_that_is_gone_needs_no_browser() {
    let mut stage = Stage::new();
    stage.join_with(1, Share::Own, OnLoss::Keep);
    let session = stage.attach(1, "T-002.");
    lose(&mut stage);
    stage.take_inbox(1);
    stage.send(1, "", 7, "Browser.close", json!({}));
    stage.send_raw(1, "{");
    stage.send(1, &session, 8, "Fake.echo", json!({}));
    assert_eq!(
        stage.take_inbox(1),
        ["7 ok".to_owned(), "? error -32700".to_owned(), format!("8 error -32001 on {session}")]
    );
    assert!(stage.take_notices().is_empty(), "nothing of it asks for the browser back");
}

#[test]
fn what_was_not_sent_yet_outlives_a_second_loss() {
    let mut stage = Stage::new();
    stage.join_with(1, Share::Own, OnLoss::Keep);
    lose(&mut stage);
    stage.send(1, "", 7, "Fake.echo", json!({}));
    stage.mux.start(None, stage.now);
    lose(&mut stage);
    start(&mut stage);
    assert_eq!(stage.take_inbox(1), ["7 ok"]);
}

#[test]
fn a_recovery_that_fails_ends_the_client_with_a_clear_error() {
    let mut stage = Stage::new();
    stage.join_with(1, Share::Own, OnLoss::Keep);
    lose(&mut stage);
    stage.send(1, "", 7, "Fake.echo", json!({}));
    stage.take_notices();
    stage.mux.recovery_failed(stage.now);
    stage.settle();
    assert_eq!(stage.take_inbox(1), ["7 error NO_BACKEND"]);
    assert_eq!(
        stage.take_notices(),
        ["close 1: NO_BACKEND: the browser did not open a session for this connection"]
    );
    stage.leave(1);
    assert_eq!(stage.mux.leftovers().clients, 0);
}

#[test]
fn a_recovery_that_never_ends_fails_by_its_deadline() {
    let mut stage = Stage::new();
    stage.join_with(1, Share::Own, OnLoss::Keep);
    lose(&mut stage);
    stage.send(1, "", 7, "Fake.echo", json!({}));
    stage.advance(89);
    assert!(stage.take_inbox(1).is_empty());
    stage.advance(2);
    assert_eq!(stage.take_inbox(1), ["7 error NO_BACKEND"]);
}

#[test]
fn a_house_that_is_detached_is_a_lost_browser() {
    let mut stage = Stage::new();
    stage.join(1);
    let house = stage.browser.sessions.keys().next().unwrap().clone();
    stage.browser.detach(&house);
    stage.flow();
    assert_eq!(stage.take_notices().len(), 1);
    assert_eq!(stage.mux.link(), LinkState::Degraded);
}

#[test]
fn weak_signs_of_a_loss_are_remembered() {
    let mut stage = Stage::new();
    stage.join(1);
    let session = stage.attach(1, "T-002.");
    stage.ask(1, &session, "Fake.enable", json!({}));
    assert_eq!(stage.mux.loss_signals().verdict(stage.now), LossVerdict::Unclear);
    stage.browser.close("T-002.");
    stage.flow();
    assert_eq!(stage.mux.loss_signals().iter().count(), 3, "inspector, house and client");
    assert_eq!(stage.mux.loss_signals().verdict(stage.now), LossVerdict::Gone);
}
