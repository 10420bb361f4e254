//! One test per rule of the shim's state machine.

use std::time::Duration;

use super::*;

fn connected(transport: LauncherTransport) -> Lifecycle {
    let mut life = Lifecycle::new(transport);
    assert!(!life.browser_ready(BrowserOrigin::Launched));
    life
}

fn degraded() -> Lifecycle {
    let mut life = connected(LauncherTransport::Port);
    assert_eq!(life.connection_lost(Instant::now()).0, LossDecision::Stay);
    life
}

#[test]
fn starting_becomes_connected_when_a_browser_is_attached_or_launched() {
    for origin in [BrowserOrigin::Attached, BrowserOrigin::Launched] {
        let mut life = Lifecycle::new(LauncherTransport::Port);
        assert_eq!(life.state_name(), "starting");
        assert!(!life.browser_ready(origin), "no bootstrap at the first start: the client sends its own");
        assert_eq!((life.state_name(), life.origin()), ("connected", Some(origin)));
    }
}

#[test]
fn a_request_before_the_browser_is_connected_is_queued() {
    assert_eq!(Lifecycle::new(LauncherTransport::Port).request("Browser.getVersion"), RequestDecision::Queue);
}

#[test]
fn a_request_while_connected_is_forwarded_and_browser_close_too() {
    let mut life = connected(LauncherTransport::Port);
    for method in ["Page.navigate", "Browser.close"] {
        assert_eq!(life.request(method), RequestDecision::Forward);
    }
}

#[test]
fn a_loss_in_pipe_mode_ends_the_shim() {
    let mut life = connected(LauncherTransport::Pipe);
    assert_eq!(life.connection_lost(Instant::now()).0, LossDecision::Close);
    assert_eq!(life.state_name(), "closing");
}

#[test]
fn a_loss_in_port_mode_degrades_at_once() {
    assert_eq!(degraded().state_name(), "degraded");
}

#[test]
fn a_loss_before_the_first_browser_ends_the_shim_in_either_mode() {
    for transport in [LauncherTransport::Pipe, LauncherTransport::Port] {
        let mut life = Lifecycle::new(transport);
        assert_eq!(life.connection_lost(Instant::now()).0, LossDecision::Close);
    }
}

#[test]
fn weak_signals_alone_change_nothing() {
    let mut life = connected(LauncherTransport::Port);
    for signal in [WeakSignal::InspectorDetached, WeakSignal::DetachedFromTarget] {
        life.weak_signal(signal, Instant::now());
    }
    assert_eq!(life.state_name(), "connected");
    assert_eq!(life.request("Page.navigate"), RequestDecision::Forward);
}

#[test]
fn a_weak_signal_within_two_seconds_of_a_strong_one_means_browser_gone() {
    let start = Instant::now();
    for (milliseconds, verdict) in
        [(0, LossVerdict::Gone), (2_000, LossVerdict::Gone), (2_001, LossVerdict::Unclear)]
    {
        let mut life = connected(LauncherTransport::Port);
        life.weak_signal(WeakSignal::InspectorDetached, start);
        assert_eq!(
            life.connection_lost(start + Duration::from_millis(milliseconds)),
            (LossDecision::Stay, verdict)
        );
    }
}

#[test]
fn strong_signal_without_a_weak_one_is_a_loss() {
    let mut life = connected(LauncherTransport::Port);
    assert_eq!(life.connection_lost(Instant::now()), (LossDecision::Stay, LossVerdict::Unclear));
}

#[test]
fn ten_weak_signals_are_kept() {
    let mut life = connected(LauncherTransport::Port);
    for _ in 0..15 {
        life.weak_signal(WeakSignal::DetachedFromTarget, Instant::now());
    }
    assert_eq!(life.signal_names(), ["Target.detachedFromTarget"; 10]);
}

#[test]
fn degraded_waits_for_the_next_request_without_a_limit() {
    // The state machine has no clock: only a request or an end leaves this state.
    let mut life = degraded();
    let long_after = Instant::now() + Duration::from_secs(30 * 24 * 3600);
    assert_eq!(life.connection_lost(long_after).0, LossDecision::Stay);
    assert_eq!(life.request("Target.createTarget"), RequestDecision::QueueAndRecover);
}

#[test]
fn the_next_request_starts_one_recovery_and_later_ones_are_queued() {
    let mut life = degraded();
    assert_eq!(life.request("Target.createTarget"), RequestDecision::QueueAndRecover);
    assert_eq!(life.request("Page.navigate"), RequestDecision::Queue);
    assert!(life.browser_ready(BrowserOrigin::Attached));
    assert_eq!(life.request("Page.reload"), RequestDecision::Queue);
    assert_eq!(life.attempts(), 1);
}

#[test]
fn nothing_is_flushed_before_the_bootstrap_is_acknowledged() {
    let mut life = degraded();
    assert!(!life.bootstrap_done(), "no request has come");
    life.request("Target.createTarget");
    assert!(!life.bootstrap_done(), "the browser is not connected");
    assert!(life.browser_ready(BrowserOrigin::Launched), "the bootstrap is due");
    assert_eq!((life.state_name(), life.request("Page.navigate")), ("degraded", RequestDecision::Queue));
    assert!(life.bootstrap_done(), "now");
    assert_eq!((life.state_name(), life.request("Page.navigate")), ("connected", RequestDecision::Forward));
    assert!(!life.bootstrap_done(), "and once only");
}

#[test]
fn browser_close_without_a_browser_gets_a_local_response() {
    let mut life = degraded();
    assert_eq!(life.request("Browser.close"), RequestDecision::RespondLocally);
    assert_eq!((life.state_name(), life.attempts()), ("degraded", 0));
    assert_eq!(life.request("Browser.getVersion"), RequestDecision::QueueAndRecover);
}

#[test]
fn a_failed_recovery_ends_the_shim() {
    let mut life = degraded();
    life.request("Page.navigate");
    life.recovery_failed();
    assert_eq!((life.state_name(), life.request("Page.navigate")), ("closing", RequestDecision::Refuse));
    assert!(!life.browser_ready(BrowserOrigin::Launched), "and stays ended");
}

#[test]
fn browser_lost_during_recovery_is_a_loss() {
    let mut life = degraded();
    life.request("Page.navigate");
    life.browser_ready(BrowserOrigin::Launched);
    assert_eq!(life.connection_lost(Instant::now()).0, LossDecision::Stay);
    assert_eq!(life.request("Page.navigate"), RequestDecision::QueueAndRecover);
    assert_eq!(life.attempts(), 2);
}

#[test]
fn a_signal_or_a_fatal_error_closes_from_every_state() {
    for mut life in [
        Lifecycle::new(LauncherTransport::Port),
        connected(LauncherTransport::Port),
        degraded(),
        connected(LauncherTransport::Pipe),
    ] {
        life.end();
        assert_eq!(life.state_name(), "closing");
        assert_eq!(life.connection_lost(Instant::now()).0, LossDecision::Ignore);
    }
}

#[test]
fn log_fields_have_their_documented_values() {
    assert_eq!(
        (BrowserOrigin::Attached.name(), BrowserOrigin::Attached.recovery_result()),
        ("attached", "attached")
    );
    assert_eq!(
        (BrowserOrigin::Launched.name(), BrowserOrigin::Launched.recovery_result()),
        ("launched", "relaunched")
    );
}
