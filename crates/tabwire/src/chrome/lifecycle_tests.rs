//! Every rule of how a stand-in lives and recovers, one test each.

use std::time::Duration;

use super::*;

fn connected(front: Front) -> Lifecycle {
    let mut life = Lifecycle::new(front);
    assert!(!life.obtained(Found::Launched));
    life
}

fn degraded() -> Lifecycle {
    let mut life = connected(Front::Port);
    assert_eq!(life.lost(Instant::now()).0, LossFate::Stay);
    life
}

#[test]
fn starting_becomes_connected_when_a_browser_is_attached_or_launched() {
    for found in [Found::Attached, Found::Launched] {
        let mut life = Lifecycle::new(Front::Port);
        assert_eq!(life.state_name(), "starting");
        assert!(!life.obtained(found), "no bootstrap at the first start: the client sends its own");
        assert_eq!((life.state_name(), life.found()), ("connected", Some(found)));
    }
}

#[test]
fn a_request_before_the_browser_is_there_waits() {
    assert_eq!(Lifecycle::new(Front::Port).request("Browser.getVersion"), RequestFate::Queue);
}

#[test]
fn a_request_while_connected_is_forwarded_and_browser_close_too() {
    let mut life = connected(Front::Port);
    for method in ["Page.navigate", "Browser.close"] {
        assert_eq!(life.request(method), RequestFate::Forward);
    }
}

#[test]
fn a_loss_in_pipe_mode_ends_the_stand_in() {
    let mut life = connected(Front::Pipe);
    assert_eq!(life.lost(Instant::now()).0, LossFate::Close);
    assert_eq!(life.state_name(), "closing");
}

#[test]
fn a_loss_in_port_mode_degrades_at_once() {
    assert_eq!(degraded().state_name(), "degraded");
}

#[test]
fn a_loss_before_the_first_browser_ends_the_stand_in_in_either_mode() {
    for front in [Front::Pipe, Front::Port] {
        let mut life = Lifecycle::new(front);
        assert_eq!(life.lost(Instant::now()).0, LossFate::Close);
    }
}

#[test]
fn weak_signals_alone_change_nothing() {
    let mut life = connected(Front::Port);
    for signal in [WeakSignal::InspectorDetached, WeakSignal::DetachedFromTarget] {
        life.weak_signal(signal, Instant::now());
    }
    assert_eq!(life.state_name(), "connected");
    assert_eq!(life.request("Page.navigate"), RequestFate::Forward);
}

#[test]
fn a_weak_signal_within_two_seconds_of_a_strong_one_says_that_the_browser_is_gone() {
    let start = Instant::now();
    for (milliseconds, verdict) in
        [(0, LossVerdict::Gone), (2_000, LossVerdict::Gone), (2_001, LossVerdict::Unclear)]
    {
        let mut life = connected(Front::Port);
        life.weak_signal(WeakSignal::InspectorDetached, start);
        assert_eq!(life.lost(start + Duration::from_millis(milliseconds)), (LossFate::Stay, verdict));
    }
}

#[test]
fn a_strong_signal_without_a_weak_one_is_a_loss_all_the_same() {
    let mut life = connected(Front::Port);
    assert_eq!(life.lost(Instant::now()), (LossFate::Stay, LossVerdict::Unclear));
}

#[test]
fn ten_weak_signals_are_remembered() {
    let mut life = connected(Front::Port);
    for _ in 0..15 {
        life.weak_signal(WeakSignal::DetachedFromTarget, Instant::now());
    }
    assert_eq!(life.signal_names(), ["Target.detachedFromTarget"; 10]);
}

#[test]
fn degraded_waits_for_the_next_request_without_a_limit() {
    // There is no clock in here that could run out: only a request or an end leads out of it.
    let mut life = degraded();
    let long_after = Instant::now() + Duration::from_secs(30 * 24 * 3600);
    assert_eq!(life.lost(long_after).0, LossFate::Stay);
    assert_eq!(life.request("Target.createTarget"), RequestFate::QueueAndRecover);
}

#[test]
fn the_next_request_starts_one_recovery_and_the_others_wait_for_it() {
    let mut life = degraded();
    assert_eq!(life.request("Target.createTarget"), RequestFate::QueueAndRecover);
    assert_eq!(life.request("Page.navigate"), RequestFate::Queue);
    assert!(life.obtained(Found::Attached));
    assert_eq!(life.request("Page.reload"), RequestFate::Queue);
    assert_eq!(life.attempts(), 1);
}

#[test]
fn nothing_is_flushed_before_the_bootstrap_is_acknowledged() {
    let mut life = degraded();
    assert!(!life.bootstrapped(), "nobody has asked for the browser");
    life.request("Target.createTarget");
    assert!(!life.bootstrapped(), "the browser is not there");
    assert!(life.obtained(Found::Launched), "the bootstrap is due");
    assert_eq!((life.state_name(), life.request("Page.navigate")), ("degraded", RequestFate::Queue));
    assert!(life.bootstrapped(), "now");
    assert_eq!((life.state_name(), life.request("Page.navigate")), ("connected", RequestFate::Forward));
    assert!(!life.bootstrapped(), "and once only");
}

#[test]
fn browser_close_while_the_browser_is_gone_is_answered_here_and_starts_nothing() {
    let mut life = degraded();
    assert_eq!(life.request("Browser.close"), RequestFate::AnswerHere);
    assert_eq!((life.state_name(), life.attempts()), ("degraded", 0));
    assert_eq!(life.request("Browser.getVersion"), RequestFate::QueueAndRecover);
}

#[test]
fn a_failed_recovery_ends_the_stand_in() {
    let mut life = degraded();
    life.request("Page.navigate");
    life.recovery_failed();
    assert_eq!((life.state_name(), life.request("Page.navigate")), ("closing", RequestFate::Refuse));
    assert!(!life.obtained(Found::Launched), "and stays ended");
}

#[test]
fn a_browser_lost_during_recovery_is_a_loss_like_any_other() {
    let mut life = degraded();
    life.request("Page.navigate");
    life.obtained(Found::Launched);
    assert_eq!(life.lost(Instant::now()).0, LossFate::Stay);
    assert_eq!(life.request("Page.navigate"), RequestFate::QueueAndRecover);
    assert_eq!(life.attempts(), 2);
}

#[test]
fn a_signal_or_a_fatal_error_closes_from_every_state() {
    for mut life in [Lifecycle::new(Front::Port), connected(Front::Port), degraded(), connected(Front::Pipe)]
    {
        life.end();
        assert_eq!(life.state_name(), "closing");
        assert_eq!(life.lost(Instant::now()).0, LossFate::Nothing);
    }
}

#[test]
fn what_is_logged_has_the_names_that_are_documented() {
    assert_eq!((Found::Attached.name(), Found::Attached.recovery()), ("attached", "attached"));
    assert_eq!((Found::Launched.name(), Found::Launched.recovery()), ("launched", "relaunched"));
}
