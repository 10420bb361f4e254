//! The browser is lost, or never starts.

use serde_json::json;
use tabwire_api::ClientId;
use tabwire_mux::{ClientOptions, LinkState, LossVerdict, Mux, OnLoss, Share};

use crate::support::stage::Stage;

fn lose(stage: &mut Stage) {
    stage.browser.restart();
    stage.mux.browser_lost(stage.now);
    stage.settle();
}

#[test]
fn a_lost_browser_fails_pending_commands_and_disconnects_all_clients() {
    let mut stage = Stage::new();
    stage.join(1);
    stage.join_with(2, Share::UserTabs, OnLoss::SendDetachEvents);
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
    let gone = "BROWSER_GONE: the browser has exited or its connection closed";
    assert_eq!(stage.take_notices(), [format!("close 1: {gone}"), format!("close 2: {gone}")]);
    assert_eq!((stage.mux.pending(), stage.mux.link()), (0, LinkState::Lost));
    stage.send(1, "", 9, "Fake.echo", json!({}));
    assert!(stage.take_inbox(1).is_empty() && stage.take_notices().is_empty());
    stage.join(3);
    assert_eq!(stage.take_notices(), [format!("close 3: {gone}")], "a late client is disconnected at once");
    for client in 1..=3 {
        stage.leave(client);
    }
    assert_eq!(stage.mux.resource_counts().clients, 0);
}

#[test]
fn a_browser_that_never_starts_fails_queued_commands_by_the_deadline() {
    let mut stage = Stage::new();
    stage.mux = Mux::new();
    stage.browser.restart();
    stage.mux.start(None, stage.now);
    stage.inboxes.insert(1, Vec::new());
    stage.mux.client_joined(ClientId(1), ClientOptions::default(), stage.now);
    stage.send(1, "", 7, "Fake.echo", json!({}));
    stage.send(1, "S-404.", 8, "Fake.echo", json!({}));
    stage.send_raw(1, "{");
    stage.browser.drop_frames();
    assert_eq!(stage.take_inbox(1), ["8 error -32001 on S-404.", "? error -32700"]);
    stage.advance(89);
    assert!(stage.take_inbox(1).is_empty());
    stage.advance(2);
    assert_eq!(stage.take_inbox(1), ["7 error NO_BACKEND"]);
    assert_eq!(
        stage.take_notices(),
        ["close 1: NO_BACKEND: the browser did not open a session for this connection"]
    );
}

#[test]
fn a_detached_control_session_is_a_lost_browser() {
    let mut stage = Stage::new();
    stage.join(1);
    let control = stage.browser.sessions.keys().next().unwrap().clone();
    stage.browser.detach(&control);
    stage.flow();
    assert_eq!(stage.take_notices().len(), 1);
    assert_eq!(stage.mux.link(), LinkState::Lost);
}

#[test]
fn weak_loss_signals_are_recorded() {
    let mut stage = Stage::new();
    stage.join(1);
    let session = stage.attach(1, "T-002.");
    stage.ask(1, &session, "Fake.enable", json!({}));
    assert_eq!(stage.mux.loss_signals().verdict(stage.now), LossVerdict::Unclear);
    stage.browser.close("T-002.");
    stage.flow();
    assert_eq!(stage.mux.loss_signals().iter().count(), 3, "inspector, control and client");
    assert_eq!(stage.mux.loss_signals().verdict(stage.now), LossVerdict::Gone);
}
