//! Page settings survive when other clients join and leave.

use serde_json::json;

use crate::support::stage::Stage;

fn set_media(stage: &mut Stage, client: u64, session: &str, media: &str) {
    stage.ask(client, session, "Emulation.setEmulatedMedia", json!({"media": media}));
}

#[test]
fn settings_are_repeated_when_another_session_ends() {
    let mut stage = Stage::new();
    stage.join(1);
    stage.join(2);
    let (one, two) = (stage.attach(1, "T-002."), stage.attach(2, "T-002."));
    set_media(&mut stage, 1, &one, "print");
    stage.ask(1, &one, "Emulation.setDeviceMetricsOverride", json!({"width": 333}));
    stage.take_inbox(1);
    let repeats = [
        format!("Emulation.setEmulatedMedia {one}"),
        format!("Emulation.clearDeviceMetricsOverride {one}"),
        format!("Emulation.setDeviceMetricsOverride {one}"),
    ];
    stage.take_heard();
    stage.ask(2, "", "Target.detachFromTarget", json!({"sessionId": two}));
    assert_eq!(stage.take_heard()[1..], repeats);
    stage.attach(2, "T-002.");
    stage.take_heard();
    stage.leave(2);
    assert_eq!(stage.take_heard()[1..], repeats);
    assert!(stage.take_inbox(1).is_empty(), "clients do not see the responses");
    assert_eq!(stage.mux.pending(), 0);
}

#[test]
fn settings_of_several_sessions_are_repeated_in_order() {
    let mut stage = Stage::new();
    for client in [1, 2, 3] {
        stage.join(client);
    }
    let (one, two) = (stage.attach(1, "T-002."), stage.attach(2, "T-002."));
    stage.attach(3, "T-002.");
    set_media(&mut stage, 2, &two, "screen");
    set_media(&mut stage, 1, &one, "print");
    stage.take_heard();
    stage.leave(3);
    assert_eq!(
        stage.take_heard()[1..],
        [format!("Emulation.setEmulatedMedia {two}"), format!("Emulation.setEmulatedMedia {one}")]
    );
}

#[test]
fn cleared_settings_and_other_pages_settings_are_not_repeated() {
    let mut stage = Stage::new();
    stage.join(1);
    stage.join(2);
    let page = stage.create(1);
    let (one, elsewhere) = (stage.attach(1, "T-002."), stage.attach(1, &page));
    set_media(&mut stage, 1, &one, "print");
    set_media(&mut stage, 1, &one, "");
    set_media(&mut stage, 1, &elsewhere, "print");
    stage.attach(2, "T-002.");
    stage.take_heard();
    stage.leave(2);
    assert_eq!(stage.take_methods(), ["Target.detachFromTarget"]);
}

#[test]
fn f02_crashed_page_gets_its_settings_after_reload() {
    let mut stage = Stage::new();
    stage.join(1);
    stage.join(2);
    let one = stage.attach(1, "T-002.");
    stage.attach(2, "T-002.");
    set_media(&mut stage, 1, &one, "print");
    let control = stage.control.clone();
    stage.browser.event(&control, "Target.targetCrashed", json!({"targetId": "T-002.", "status": "crashed"}));
    stage.flow();
    stage.take_heard();
    stage.leave(2);
    assert_eq!(stage.take_methods(), ["Target.detachFromTarget"], "a crashed page would not respond to more");
    assert_eq!(stage.mux.pending(), 0);
    stage.browser.event(&one, "Inspector.targetReloadedAfterCrash", json!({}));
    stage.flow();
    assert_eq!(stage.take_heard(), [format!("Emulation.setEmulatedMedia {one}")]);
    stage.browser.event(&one, "Inspector.targetReloadedAfterCrash", json!({}));
    stage.flow();
    assert!(stage.take_heard().is_empty(), "once");
}

#[test]
fn f02_internal_commands_to_a_crashed_page_fail_at_once() {
    let mut stage = Stage::new();
    stage.join(1);
    stage.join(2);
    let one = stage.attach(1, "T-002.");
    stage.attach(2, "T-002.");
    set_media(&mut stage, 1, &one, "print");
    let control = stage.control.clone();
    // The settings are being repeated when the page crashes; the browser responds to the other commands.
    stage.mux.client_left(tabwire_api::ClientId(2), stage.now);
    stage.settle();
    stage.browser.event(&control, "Target.targetCrashed", json!({"targetId": "T-002.", "status": "crashed"}));
    while let Some(frame) = stage.browser.take_from(&control) {
        stage.deliver(&frame);
    }
    assert_eq!(stage.mux.pending(), 0);
}
