//! Pauses, stops and taken tabs.

use super::*;

fn session(name: &str) -> SessionKey {
    SessionKey::find(name).expect("a session")
}

fn soon() -> Deadline {
    Deadline::after(Duration::from_millis(20))
}

#[tokio::test]
async fn actions_on_a_taken_tab_wait_and_fail_at_their_deadline() {
    let control = Arc::new(UserControl::default());
    let (tab, other) = (TargetId::new("A"), TargetId::new("B"));
    control.take(&tab, Holder(1)).expect("free");
    assert_eq!(control.take(&tab, Holder(2)).expect_err("taken").code, ErrorCode::Busy);
    let running = control.begin(&session("work"), "Codex".to_owned(), "click");
    let failure = control.admit(&running, Some(&tab), soon()).await.expect_err("taken");
    assert_eq!(failure.code, ErrorCode::TakenOver);
    assert!(control.admit(&running, Some(&other), soon()).await.is_ok(), "another tab");
    assert!(control.admit(&running, None, soon()).await.is_ok(), "no tab");
    assert!(!control.give(&tab, Holder(2)), "not its dashboard");
    let waits = control.admit(&running, Some(&tab), Deadline::after(Duration::from_secs(20)));
    let (admitted, given) = tokio::join!(waits, async {
        tokio::task::yield_now().await;
        assert!(control.running_in(&session("work"))[0].is_waiting());
        control.give(&tab, Holder(1))
    });
    assert!(admitted.expect("given back") && given);
    assert!(control.take_notice(&tab, "codex").is_some_and(|notice| notice.contains("snapshot")));
    assert_eq!(control.take_notice(&tab, "codex"), None, "once");
    assert!(control.take_notice(&tab, "other").is_some());
    drop(running);
    assert!(control.running_in(&session("work")).is_empty());
}

#[tokio::test]
async fn paused_actions_wait_and_stopped_ones_fail_at_once() {
    let control = Arc::new(UserControl::default());
    let running = control.begin(&session("work"), "Codex".to_owned(), "click");
    for scope in [Scope::All, Scope::Session("work".to_owned()), Scope::Agent("Codex".to_owned())] {
        control.hold(scope.clone(), Hold::Paused).expect("room");
        assert_eq!(control.admit(&running, None, soon()).await.expect_err("paused").code, ErrorCode::Paused);
        control.resume(&scope);
        assert!(control.admit(&running, None, soon()).await.is_ok(), "{scope:?}");
    }
    for scope in [Scope::Session("other".to_owned()), Scope::Agent("Claude".to_owned())] {
        control.hold(scope, Hold::Stopped).expect("room");
    }
    assert!(control.admit(&running, None, soon()).await.is_ok());
    let stopped = running.unless_stopped(async {
        control.hold(Scope::Agent("Codex".to_owned()), Hold::Stopped).expect("room");
        std::future::pending::<Result<(), Failure>>().await
    });
    assert_eq!(stopped.await.expect_err("stopped").code, ErrorCode::Paused);
    let late = Deadline::after(Duration::from_secs(600));
    assert!(control.admit(&running, None, late).await.is_err(), "at once");
    control.resume(&Scope::All);
    assert!(!control.is_active(), "every hold ends");
}

#[test]
fn cdp_clients_may_look_at_a_taken_tab_and_not_act_on_it() {
    let control = UserControl::default();
    assert_eq!(control.refuses("work", Some("A"), "Input.dispatchKeyEvent"), None);
    control.take(&TargetId::new("A"), Holder(1)).expect("free");
    for method in ["Input.dispatchKeyEvent", "Input.insertText", "Page.navigate", "Page.reload"] {
        assert!(control.refuses("work", Some("A"), method).is_some(), "{method}");
        assert_eq!(control.refuses("work", Some("B"), method), None, "{method} elsewhere");
    }
    assert_eq!(control.refuses("work", Some("A"), "Page.enable"), None);
    control.hold(Scope::Session("work".to_owned()), Hold::Paused).expect("room");
    assert!(control.refuses("work", Some("B"), "Page.navigate").is_some());
    assert_eq!(control.refuses("other", Some("B"), "Page.navigate"), None);
}

#[tokio::test(start_paused = true)]
async fn a_lost_dashboard_gives_back_after_a_bound_unless_it_returns() {
    let (control, tasks) = (Arc::new(UserControl::default()), TaskGroup::new());
    let tab = TargetId::new("A");
    control.take(&tab, Holder(1)).expect("free");
    control.leave(&tab, Holder(1), &tasks, || {});
    assert!(control.rejoin(&tab, Holder(1)));
    tokio::time::sleep(LEFT_DEADLINE * 2).await;
    assert_eq!(control.holder_of(&tab), Some(Holder(1)), "it came back");
    control.leave(&tab, Holder(1), &tasks, || {});
    tokio::time::sleep(LEFT_DEADLINE * 2).await;
    assert_eq!(control.holder_of(&tab), None);
}

#[tokio::test]
async fn the_tab_of_the_latest_admitted_action_is_followed() {
    let control = Arc::new(UserControl::default());
    let (work, first, second) = (session("work"), TargetId::new("A"), TargetId::new("B"));
    let codex = control.begin(&work, "Codex".to_owned(), "click");
    control.admit(&codex, Some(&first), soon()).await.expect("free");
    let claude = control.begin(&work, "Claude".to_owned(), "snapshot");
    control.admit(&claude, Some(&second), soon()).await.expect("free");
    let shown = |is_open: fn(&TargetId) -> bool| control.last_used(&work, is_open);
    assert_eq!(shown(|_| true), Some(second.clone()));
    assert_eq!(shown(|target| target.as_str() == "A"), Some(first.clone()), "the other tab is closed");
    assert_eq!(control.last_used(&session("other"), |_| true), None);
    let driver = control.driver_of(&work, &first).expect("an agent");
    assert_eq!((driver.agent.as_str(), driver.action), ("Codex", "click"));
    assert_eq!(control.driver_of(&session("other"), &first), None);
    // An action that waits for the user drives nothing.
    control.take(&first, Holder(1)).expect("free");
    let waiting = control.begin(&session("idle"), "Codex".to_owned(), "click");
    assert!(control.admit(&waiting, Some(&first), soon()).await.is_err());
    assert_eq!(control.driver_of(&session("idle"), &first), None);
    let long = Duration::from_secs(600);
    assert!(control.has_acted(&work, Some(&second), Duration::ZERO), "it runs");
    drop(claude);
    assert!(control.has_acted(&work, Some(&second), long));
    assert!(!control.has_acted(&work, Some(&second), Duration::ZERO), "it has ended");
    assert!(control.has_acted(&work, None, Duration::ZERO), "another one runs");
    drop(codex);
    assert!(!control.has_acted(&work, None, Duration::ZERO));
    assert!(control.driver_of(&work, &second).is_some(), "a moment ago");
}

#[tokio::test]
async fn used_tabs_are_bounded() {
    let control = Arc::new(UserControl::default());
    for number in 0..REMEMBERED + 10 {
        let key = session(&format!("s{number}"));
        let running = control.begin(&key, "Codex".to_owned(), "click");
        control.use_tab(&running, &TargetId::new(&format!("t{number}")));
    }
    let kept = (0..REMEMBERED + 10)
        .filter(|number| control.last_used(&session(&format!("s{number}")), |_| true).is_some());
    assert_eq!(kept.count(), REMEMBERED);
}
