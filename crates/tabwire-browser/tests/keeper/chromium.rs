//! Tests of a real keeper with a real Chromium.
//! Tests that need no Chromium are in `fake_browser.rs` or beside the code.

use std::collections::HashSet;
use std::fs;
use std::time::Duration;

use crate::support::{KeeperHome, RawPipe, eventually, tree, within};
use serde_json::Value;
use tabwire_api::ErrorCode;
use tabwire_browser::keeper::KeeperState;
use tabwire_browser::{AttachTarget, BrowserError, Signal, SignalResult, attach, keeper_client, lock_state};

#[test]
fn browser_is_launched_claimed_queried_and_stopped() {
    let home = KeeperHome::new();
    let request = home.request();
    let descriptor = home.keep(&request).unwrap();
    assert!(descriptor.version.as_ref().unwrap().starts_with("Chrome/"), "{descriptor:?}");
    assert_eq!(descriptor.labels["session"], "default");
    let file = home.browsers().join(format!("{}.json", descriptor.id));
    assert_eq!(tabwire_browser::BrowserDescriptor::read(&file).unwrap(), descriptor);

    let mut pipe = RawPipe::claim(&descriptor);
    let version = pipe.ask(7, "Browser.getVersion", &Value::Null, None);
    assert_eq!(version["result"]["product"].as_str(), descriptor.version.as_deref());
    let hello = keeper_client::hello(&descriptor.socket, within(5)).unwrap();
    assert_eq!((hello.instance, hello.state), (request.instance, KeeperState::Claimed));

    keeper_client::stop(&descriptor.socket, None, within(15)).unwrap();
    assert!(!descriptor.browser.is_alive());
    home.expect_nothing_left(5);
    let error = keeper_client::hello(&descriptor.socket, within(1)).unwrap_err();
    assert_eq!(error.code(), ErrorCode::BrowserGone);
}

#[test]
fn next_holder_finds_the_same_page_after_a_partial_frame() {
    let home = KeeperHome::new();
    let descriptor = home.keep(&home.request()).unwrap();
    let mut first = RawPipe::claim(&descriptor);
    let session = first.attach_to_page(10);
    assert_eq!(first.evaluate(20, &session, "window.kept = 41"), 41);
    keeper_client::note_control_session(&first.claim.control, Some(&session), within(5)).unwrap();
    let refused = keeper_client::claim(&descriptor.socket, &"other".into_id(), within(5)).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::Busy);
    first.write(b"{\"id\":5,\"meth");
    drop(first);
    eventually("the release of the claim", 5, || {
        keeper_client::hello(&descriptor.socket, within(5)).unwrap().state == KeeperState::Unclaimed
    });

    let mut second = RawPipe::claim(&descriptor);
    assert_eq!(second.claim.control_session.as_deref(), Some(session.as_str()));
    second.write(b"\0");
    // Chromium 156 responds to the partial frame with one error frame without an id, and continues.
    let complaint = second.find_frame(within(5)).expect("Chromium responds to a partial frame");
    assert_eq!(complaint["error"]["code"], -32700, "{complaint}");
    assert!(complaint.get("id").is_none(), "{complaint}");
    // It responds to an empty frame in the same way.
    second.write(b"\0");
    let complaint = second.find_frame(within(5)).expect("Chromium responds to an empty frame");
    assert_eq!(complaint["error"]["code"], -32700, "{complaint}");
    // The earlier holder's CDP session and the page's state still exist.
    assert_eq!(second.evaluate(30, &session, "window.kept + 1"), 42);

    keeper_client::stop(&descriptor.socket, None, within(15)).unwrap();
    home.expect_nothing_left(5);
}

#[test]
fn f24_browser_ends_with_its_killed_keeper_and_sweep_cleans_up() {
    let home = KeeperHome::new();
    let descriptor = home.keep(&home.request()).unwrap();
    assert_eq!(descriptor.keeper.signal(Signal::KILL), SignalResult::Sent);
    eventually("the browser's own end", 5, || home.processes().is_empty());
    assert!(descriptor.profile.exists());
    let swept = tabwire_browser::sweep(&home.runtime_dir()).unwrap();
    assert!(swept.kept.is_empty() && swept.live.is_empty(), "{swept:?}");
    home.expect_nothing_left(1);
}

#[test]
fn f24_claimed_browser_ends_with_its_killed_keeper() {
    let home = KeeperHome::new();
    let descriptor = home.keep(&home.request()).unwrap();
    let pipe = RawPipe::claim(&descriptor);
    assert_eq!(descriptor.keeper.signal(Signal::KILL), SignalResult::Sent);
    // A holder must close the pipe when the control connection ends.
    let mut byte = [0];
    assert_eq!(std::io::Read::read(&mut &pipe.claim.control, &mut byte).unwrap(), 0);
    drop(pipe);
    eventually("the browser's own end", 5, || home.processes().is_empty());
    tabwire_browser::sweep(&home.runtime_dir()).unwrap();
    home.expect_nothing_left(1);
}

#[test]
fn an_unclaimed_browser_ends_after_its_linger() {
    let home = KeeperHome::new();
    let mut request = home.request();
    request.spec.linger_ms = 300;
    let descriptor = home.keep(&request).unwrap();
    home.expect_nothing_left(9);
    assert!(!descriptor.browser.is_alive());
    eventually("the keeper's end", 5, || !descriptor.keeper.is_alive());
}

#[test]
fn files_of_a_killed_browser_are_removed() {
    let home = KeeperHome::new();
    let descriptor = home.keep(&home.request()).unwrap();
    assert_eq!(descriptor.browser.signal(Signal::KILL), SignalResult::Sent);
    home.expect_nothing_left(5);
    eventually("the keeper's end", 5, || !descriptor.keeper.is_alive());
}

#[test]
fn f31_second_browser_on_a_live_profile_is_refused() {
    let home = KeeperHome::new();
    let mut request = home.request();
    request.spec.temporary = false;
    request.spec.profile = home.home.path().join("own-profile");
    let descriptor = home.keep(&request).unwrap();
    assert!(matches!(lock_state(&descriptor.profile), tabwire_browser::LockState::Live { .. }));
    let mut second = home.request();
    second.spec.temporary = false;
    second.spec.profile.clone_from(&descriptor.profile);
    let error = home.keep(&second).unwrap_err();
    assert_eq!(error.code(), ErrorCode::ProfileLocked);
    let BrowserError::Reported(failure) = error else { panic!("{error:?}") };
    assert!(failure.message.contains(&descriptor.browser.pid().to_string()), "{failure:?}");
    assert!(failure.hint().contains("another profile"));
    assert!(descriptor.browser.is_alive());

    // F30: a killed browser leaves its lock. The next launch detects that it is stale.
    assert_eq!(descriptor.browser.signal(Signal::KILL), SignalResult::Sent);
    eventually("the keeper's end", 5, || !descriptor.keeper.is_alive());
    assert!(matches!(lock_state(&descriptor.profile), tabwire_browser::LockState::Stale { .. }));
    let third = home.keep(&second).unwrap();
    keeper_client::stop(&third.socket, None, within(15)).unwrap();
    home.expect_nothing_left(5);
    assert!(descriptor.profile.exists(), "a profile that is not temporary stays");
}

/// The inodes of all sockets that listen on TCP.
fn listening() -> HashSet<String> {
    let tables =
        ["/proc/net/tcp", "/proc/net/tcp6"].map(|table| fs::read_to_string(table).unwrap_or_default());
    let columns = |line: &str| {
        let columns: Vec<_> = line.split_ascii_whitespace().collect();
        (columns.get(3) == Some(&"0A")).then(|| format!("socket:[{}]", columns[9]))
    };
    tables.iter().flat_map(|table| table.lines().filter_map(columns)).collect()
}

fn listens(root: i32) -> bool {
    let listening = listening();
    tree(root).into_iter().any(|pid| {
        let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        let mut targets = descriptors.filter_map(|entry| fs::read_link(entry.path()).ok());
        targets.any(|target| listening.contains(target.to_str().unwrap_or_default()))
    })
}

#[test]
fn t37_browser_listens_on_no_port_by_default() {
    let home = KeeperHome::new();
    let descriptor = home.keep(&home.request()).unwrap();
    assert!(tree(descriptor.browser.pid()).len() > 2, "the browser has children");
    assert!(!listens(descriptor.keeper.pid()));
    keeper_client::stop(&descriptor.socket, None, within(15)).unwrap();

    let mut request = home.request();
    request.spec.debugging_port = Some(0);
    let descriptor = home.keep(&request).unwrap();
    let address = AttachTarget::Profile(descriptor.profile.clone());
    eventually("the port file", 5, || descriptor.profile.join("DevToolsActivePort").exists());
    let websocket = attach::discover(&address, None, within(5)).unwrap();
    assert!(websocket.expose().path().starts_with("/devtools/browser/"), "{}", websocket.expose());
    assert!(listens(descriptor.keeper.pid()));
    keeper_client::stop(&descriptor.socket, Some(Duration::from_secs(5)), within(15)).unwrap();
    home.expect_nothing_left(5);
}

/// Turns a text into an id, for readable tests.
trait IntoId {
    fn into_id(self) -> tabwire_api::InstanceId;
}

impl IntoId for &str {
    fn into_id(self) -> tabwire_api::InstanceId {
        tabwire_api::InstanceId::new(self)
    }
}
