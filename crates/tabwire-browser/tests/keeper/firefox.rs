//! Tests of a real keeper with a real Firefox.

use tabwire_browser::{BrowserEngine, KeepRequest, Signal, SignalResult, keeper_client};

use crate::support::{KeeperHome, eventually, within};

const FIREFOX: &str = "/usr/bin/firefox-esr";

fn request(home: &KeeperHome) -> KeepRequest {
    let mut request = home.request();
    request.spec.executable = FIREFOX.into();
    request.spec.engine = BrowserEngine::Firefox;
    request
}

#[test]
fn firefox_is_claimed_twice_with_the_same_session_and_stopped() {
    let home = KeeperHome::new();
    let descriptor = home.keep(&request(&home)).unwrap();
    assert!(descriptor.version.as_ref().unwrap().starts_with("Firefox/"), "{descriptor:?}");
    let claim = |name: &str| {
        let holder = tabwire_api::InstanceId::new(name);
        keeper_client::claim(&descriptor.socket, &holder, within(5)).unwrap()
    };
    let first = claim("first");
    let session = first.bidi.clone().expect("a session");
    assert!(session.url.starts_with("ws://127.0.0.1:") && session.anchor.is_some(), "{session:?}");
    drop(first);
    eventually("the release of the claim", 5, || {
        let holder = tabwire_api::InstanceId::new("second");
        let second = keeper_client::claim(&descriptor.socket, &holder, within(5));
        second.is_ok_and(|second| second.bidi.as_ref() == Some(&session))
    });
    keeper_client::stop(&descriptor.socket, None, within(15)).unwrap();
    assert!(!descriptor.browser.is_alive());
    home.expect_nothing_left(5);
}

#[test]
fn firefox_dies_with_its_keeper() {
    let home = KeeperHome::new();
    let descriptor = home.keep(&request(&home)).unwrap();
    assert_eq!(descriptor.keeper.signal(Signal::KILL), SignalResult::Sent);
    eventually("the end of Firefox", 10, || !descriptor.browser.is_alive());
    eventually("the end of its processes", 10, || home.processes().is_empty());
}
