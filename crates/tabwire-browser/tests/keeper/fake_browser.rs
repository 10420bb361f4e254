//! A real keeper with fake browsers, each with one fault.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{self, KeeperHome, RawPipe, SENDS_VERSION, eventually, within};
use tabwire_api::{ErrorCode, InstanceId};
use tabwire_browser::keeper::KeeperState;
use tabwire_browser::{
    BrowserDescriptor, BrowserError, KeepOutcome, ProcessIdentity, Removed, Signal, SignalResult,
    StaleReason, SweepReport, Verdict, keeper_client, limits, sweep,
};

/// Responds once, then ignores commands and signals. Its child process does the same.
fn unresponsive() -> String {
    format!(
        "trap '' TERM INT HUP\n{SENDS_VERSION}\n(trap '' TERM INT HUP; sleep 1000) &\nwhile :; do sleep 1000; done"
    )
}

/// Responds once, and exits when its pipe closes, as Chromium does.
fn obedient() -> String {
    format!("{SENDS_VERSION}\ncat <&3 >/dev/null")
}

fn holder() -> InstanceId {
    InstanceId::new("holder")
}

#[test]
fn f46_browser_that_ignores_close_is_killed_with_its_group() {
    let home = KeeperHome::new();
    let descriptor = home.keep(&home.fake(&unresponsive())).unwrap();
    let family = support::tree(descriptor.browser.pid());
    eventually("the children of the fake browser", 5, || support::tree(descriptor.browser.pid()).len() >= 3);
    let family: Vec<_> = support::tree(descriptor.browser.pid()).into_iter().chain(family).collect();
    let started = Instant::now();
    keeper_client::stop(&descriptor.socket, Some(Duration::from_millis(300)), within(9)).unwrap();
    assert!(started.elapsed() >= Duration::from_millis(300), "it had its grace");
    for pid in family {
        assert!(ProcessIdentity::of(pid.unsigned_abs()).is_none(), "{pid} is still there");
    }
    home.expect_nothing_left(1);
}

#[test]
fn f46_descendants_outside_the_group_are_killed() {
    let home = KeeperHome::new();
    let script = format!("setsid sleep 1000 &\n{SENDS_VERSION}\ncat <&3 >/dev/null & wait $!");
    let descriptor = home.keep(&home.fake(&script)).unwrap();
    eventually("the stray", 5, || support::tree(descriptor.browser.pid()).len() >= 3);
    let family = support::tree(descriptor.browser.pid());
    keeper_client::stop(&descriptor.socket, Some(Duration::ZERO), within(9)).unwrap();
    for pid in family {
        assert!(ProcessIdentity::of(pid.unsigned_abs()).is_none(), "{pid} is still there");
    }
    home.expect_nothing_left(1);
}

#[test]
fn f27_second_sigterm_kills_the_browser() {
    let home = KeeperHome::new();
    let mut request = home.fake(&unresponsive());
    request.spec.close_grace_ms = 60_000;
    let descriptor = home.keep(&request).unwrap();
    assert_eq!(descriptor.keeper.signal(Signal::TERM), SignalResult::Sent);
    eventually("the stopping", 5, || {
        keeper_client::hello(&descriptor.socket, within(5)).unwrap().state == KeeperState::Stopping
    });
    let gone = keeper_client::claim(&descriptor.socket, &holder(), within(5)).unwrap_err();
    assert_eq!(gone.code(), ErrorCode::BrowserGone);
    assert!(descriptor.browser.is_alive());
    assert_eq!(descriptor.keeper.signal(Signal::TERM), SignalResult::Sent);
    home.expect_nothing_left(5);
    eventually("the keeper's end", 5, || !descriptor.keeper.is_alive());
}

#[test]
fn f27_sigterm_during_the_start_leaves_no_process_or_file() {
    let home = KeeperHome::new();
    let mut request = home.fake("trap '' TERM\nwhile :; do sleep 1000; done");
    request.spec.close_grace_ms = 100;
    let mut keeper =
        Command::new(support::KEEPER).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    keeper.stdin.take().unwrap().write_all(&serde_json::to_vec(&request).unwrap()).unwrap();
    eventually("the start", 5, || !home.processes().is_empty());
    assert_eq!(ProcessIdentity::of(keeper.id()).unwrap().signal(Signal::TERM), SignalResult::Sent);
    let mut outcome = String::new();
    keeper.stdout.take().unwrap().read_to_string(&mut outcome).unwrap();
    assert!(!keeper.wait().unwrap().success());
    let KeepOutcome::Failed(failure) = serde_json::from_str(&outcome).unwrap() else { panic!("{outcome}") };
    assert_eq!(failure.code, ErrorCode::LaunchFailed);
    home.expect_nothing_left(1);
}

#[test]
fn failed_launch_quotes_stderr_and_leaves_no_files() {
    let home = KeeperHome::new();
    let cases = [
        ("echo 'cannot open display' >&2; exit 7", "cannot open display"),
        ("printf 'nonsense\\000' >&4; exec sleep 1000", "not the debugging protocol"),
        ("kill -9 $$", "signal: 9"),
    ];
    for (script, words) in cases {
        let BrowserError::Reported(failure) = home.keep(&home.fake(script)).unwrap_err() else { panic!() };
        assert_eq!(failure.code, ErrorCode::LaunchFailed);
        assert!(failure.message.contains(words), "{failure:?}");
        home.expect_nothing_left(1);
    }
    let mut request = home.request();
    request.spec.executable = "/nonexistent/browser".into();
    let error = home.keep(&request).unwrap_err();
    assert!(error.to_string().contains("could not be executed"), "{error}");
    request.spec.extra_arguments = vec!["--renderer-cmd-prefix=x".to_owned()];
    assert_eq!(home.keep(&request).unwrap_err().code(), ErrorCode::BadArgs);
    home.expect_nothing_left(1);
}

#[test]
fn start_after_the_deadline_leaves_no_files() {
    let home = KeeperHome::new();
    let mut request = home.fake("exec sleep 1000");
    request.spec.close_grace_ms = 0;
    let soon = Instant::now() + Duration::from_millis(200);
    let late = keeper_client::spawn_keeper(support::KEEPER.as_ref(), &[], &request, soon).unwrap_err();
    assert_eq!(late.code(), ErrorCode::Timeout);
    home.expect_nothing_left(5);
    let silent = keeper_client::spawn_keeper("/bin/true".as_ref(), &[], &request, within(5)).unwrap_err();
    assert_eq!(silent.code(), ErrorCode::LaunchFailed);
}

#[test]
fn f28_browser_outlives_the_thread_that_started_it() {
    let home = KeeperHome::new();
    let request = home.fake(&obedient());
    let descriptor = std::thread::scope(|scope| scope.spawn(|| home.keep(&request)).join()).unwrap().unwrap();
    let pipe = RawPipe::claim(&descriptor);
    assert!(descriptor.browser.is_alive() && pipe.claim.browser == descriptor.browser);
    // F29: other children of this process can still be reaped.
    assert!(Command::new("true").status().unwrap().success());
    keeper_client::stop(&descriptor.socket, Some(Duration::ZERO), within(9)).unwrap();
    home.expect_nothing_left(1);
}

#[test]
fn linger_starts_at_the_end_of_a_claim() {
    let home = KeeperHome::new();
    let mut request = home.fake(&obedient());
    request.spec.linger_ms = 400;
    request.spec.close_grace_ms = 50;
    let descriptor = home.keep(&request).unwrap();
    let pipe = RawPipe::claim(&descriptor);
    let claimed_at = Instant::now();
    eventually("twice the linger", 5, || claimed_at.elapsed() > Duration::from_millis(800));
    assert!(descriptor.browser.is_alive());
    drop(pipe);
    home.expect_nothing_left(5);
}

#[test]
fn unclaimed_browser_with_much_output_is_not_blocked() {
    let home = KeeperHome::new();
    let done = home.home.path().join("done");
    let flood =
        format!("head -c 3000000 /dev/zero >&4; head -c 300000 /dev/zero >&2; : > {}", done.display());
    let descriptor = home.keep(&home.fake(&format!("{SENDS_VERSION}\n{flood}\ncat <&3 >/dev/null"))).unwrap();
    eventually("the end of the flood", 9, || done.exists());
    let kept = keeper_client::stderr(&descriptor.socket, within(5)).unwrap();
    assert_eq!(kept.len(), limits::STDERR_RING_BYTES);
    keeper_client::stop(&descriptor.socket, Some(Duration::ZERO), within(9)).unwrap();
    home.expect_nothing_left(1);
}

#[test]
fn control_connections_are_bounded_and_accept_invalid_lines() {
    let home = KeeperHome::new();
    let descriptor = home.keep(&home.fake(&obedient())).unwrap();
    let mut talker = UnixStream::connect(&descriptor.socket).unwrap();
    let mut responses = BufReader::new(talker.try_clone().unwrap());
    for (line, word) in [
        ("nonsense", "UNKNOWN_METHOD"),
        ("{\"note\":{\"control_session\":null}}", "BUSY"),
        ("{\"hello\":{}}", "instance"),
    ] {
        talker.write_all(format!("{line}\n").as_bytes()).unwrap();
        let mut response = String::new();
        responses.read_line(&mut response).unwrap();
        assert!(response.contains(word), "{line}: {response}");
    }
    let mut others: Vec<_> = (1..limits::CONTROL_CONNECTIONS)
        .map(|_| {
            let mut stream = UnixStream::connect(&descriptor.socket).unwrap();
            stream.write_all(b"{\"hello\":{}}\n").unwrap();
            assert!(stream.read(&mut [0; 1]).unwrap() > 0);
            stream
        })
        .collect();
    let over = keeper_client::hello(&descriptor.socket, within(5)).unwrap_err();
    assert_eq!(over.code(), ErrorCode::Busy, "{over}");
    let _ = others[0].write_all(&vec![b'x'; 2 * limits::CONTROL_LINE_BYTES]);
    eventually("room again", 5, || keeper_client::hello(&descriptor.socket, within(5)).is_ok());
    drop(others);
    keeper_client::stop(&descriptor.socket, Some(Duration::ZERO), within(9)).unwrap();
    home.expect_nothing_left(1);
}

#[test]
fn browser_inherits_only_its_pipe_and_keeper_memory_is_small() {
    let home = KeeperHome::new();
    // Leaked on purpose: a descriptor that every child would inherit.
    let leaked = fs::File::open("/dev/null").unwrap();
    rustix::io::fcntl_setfd(&leaked, rustix::io::FdFlags::empty()).unwrap();
    let descriptor = home.keep(&home.fake(&format!("{SENDS_VERSION}\nexec sleep 1000"))).unwrap();
    drop(leaked);
    eventually("the exec", 5, || descriptor.browser.executable().is_some_and(|path| path.ends_with("sleep")));
    let directory = format!("/proc/{}/fd", descriptor.browser.pid());
    let inherited = || -> std::collections::BTreeSet<String> {
        let entries = fs::read_dir(&directory).unwrap().flatten();
        entries.map(|entry| entry.file_name().into_string().unwrap()).collect()
    };
    // The dynamic loader opens libraries for a short time.
    let expected = ["0", "1", "2", "3", "4"].map(str::to_owned).into();
    eventually("a browser with its pipe and nothing else", 5, || inherited() == expected);
    let keeper = descriptor.keeper.pid();
    for stream in 0..3 {
        let link = format!("/proc/{keeper}/fd/{stream}");
        let is_redirected = || fs::read_link(&link).unwrap() == std::path::Path::new("/dev/null");
        eventually("the redirection of the keeper's streams", 5, is_redirected);
    }
    let rollup = fs::read_to_string(format!("/proc/{keeper}/smaps_rollup")).unwrap();
    let pss = rollup.lines().find_map(|line| line.strip_prefix("Pss:")).unwrap();
    let pss: u64 = pss.split_ascii_whitespace().next().unwrap().parse().unwrap();
    assert!(pss < 2048, "{pss} KiB");
    assert_eq!(fs::read_dir(format!("/proc/{keeper}/task")).unwrap().count(), 1, "one thread");
    keeper_client::stop(&descriptor.socket, Some(Duration::ZERO), within(9)).unwrap();
    home.expect_nothing_left(1);
}

fn verdict(swept: &SweepReport, descriptor: &BrowserDescriptor) -> Verdict {
    let name = format!("{}.json", descriptor.id);
    swept.verdicts.iter().find(|(path, _)| path.ends_with(&name)).expect("a verdict").1.clone()
}

#[test]
fn f47_sweep_keeps_live_browsers_and_removes_leftovers() {
    let home = KeeperHome::new();
    let living = home.keep(&home.fake(&obedient())).unwrap();
    // Ignores the end of its pipe, so it outlives its keeper as an orphan.
    let orphan = home.keep(&home.fake(&unresponsive())).unwrap();
    eventually("the children of the orphan", 5, || support::tree(orphan.browser.pid()).len() >= 3);
    let family = support::tree(orphan.browser.pid());
    assert_eq!(orphan.keeper.signal(Signal::KILL), SignalResult::Sent);
    eventually("the keeper's end", 5, || !orphan.keeper.is_alive());
    fs::write(home.browsers().join("damaged.json"), "{").unwrap();
    fs::copy(home.browsers().join(format!("{}.json", living.id)), home.browsers().join("copy.json")).unwrap();

    let swept = sweep(&home.runtime_dir()).unwrap();
    assert_eq!(verdict(&swept, &living), Verdict::Live);
    assert_eq!(swept.live, std::slice::from_ref(&living));
    assert_eq!(verdict(&swept, &orphan), Verdict::Stale { reason: StaleReason::KeeperDead });
    for gone in [
        Removed::Browser(orphan.browser),
        Removed::Profile(orphan.profile.clone()),
        Removed::Socket(orphan.socket.clone()),
        Removed::Descriptor(home.browsers().join(format!("{}.json", orphan.id))),
    ] {
        assert!(swept.removed.contains(&gone), "{gone:?} not in {swept:?}");
    }
    assert!(!orphan.profile.exists() && living.profile.exists());
    for pid in family {
        eventually("the end of the orphan's children", 5, || {
            ProcessIdentity::of(pid.unsigned_abs()).is_none()
        });
    }
    let unreadable = swept.verdicts.iter().filter(|(_, verdict)| *verdict == Verdict::Unreadable).count();
    assert_eq!(unreadable, 2, "the damaged one and the copy: {swept:?}");
    for name in ["damaged.json", "copy.json"] {
        fs::remove_file(home.browsers().join(name)).unwrap();
    }
    keeper_client::stop(&living.socket, Some(Duration::ZERO), within(9)).unwrap();
    home.expect_nothing_left(1);
}

#[test]
fn f35_f39_stale_descriptors_do_not_harm_other_processes() {
    let home = KeeperHome::new();
    let request = home.fake(&obedient());
    let real = home.keep(&request).unwrap();
    keeper_client::stop(&real.socket, Some(Duration::ZERO), within(9)).unwrap();
    home.expect_nothing_left(1);
    let mut other_process = Command::new("sleep").arg("1000").spawn().unwrap();
    let identity = ProcessIdentity::of(other_process.id()).unwrap();
    // The same pid with another start time, like a reused pid.
    let earlier: ProcessIdentity = serde_json::from_value(
        serde_json::json!({"pid": identity.pid(), "start_time": identity.start_time() - 1}),
    )
    .unwrap();
    let reused = BrowserDescriptor { keeper: earlier, browser: earlier, ..real.clone() };
    reused.write(&home.browsers()).unwrap();
    // A socket file without a listener, and a socket without a descriptor.
    drop(UnixListener::bind(&real.socket).unwrap());
    drop(UnixListener::bind(home.browsers().join("lost.sock")).unwrap());
    let swept = sweep(&home.runtime_dir()).unwrap();
    assert_eq!(verdict(&swept, &reused), Verdict::Stale { reason: StaleReason::PidReused });
    assert!(identity.is_alive(), "the other process was not signalled");
    assert!(other_process.try_wait().unwrap().is_none());
    home.expect_nothing_left(1);
    other_process.kill().unwrap();
    other_process.wait().unwrap();
}

#[test]
fn descriptor_of_an_earlier_keeper_is_stale() {
    let home = KeeperHome::new();
    let living = home.keep(&home.fake(&obedient())).unwrap();
    let earlier = BrowserDescriptor { instance: InstanceId::new("earlier"), ..living.clone() };
    earlier.write(&home.browsers()).unwrap();
    let swept = sweep(&home.runtime_dir()).unwrap();
    assert_eq!(verdict(&swept, &living), Verdict::Stale { reason: StaleReason::WrongInstance });
    assert!(living.browser.is_alive() && living.socket.exists() && living.profile.exists());
    keeper_client::stop(&living.socket, Some(Duration::ZERO), within(9)).unwrap();
    home.expect_nothing_left(1);
}

#[test]
fn f36_keeper_that_does_not_respond_is_removed() {
    let home = KeeperHome::new();
    let frozen = home.keep(&home.fake(&obedient())).unwrap();
    assert_eq!(frozen.keeper.signal(Signal::STOP), SignalResult::Sent);
    let swept = sweep(&home.runtime_dir()).unwrap();
    assert_eq!(verdict(&swept, &frozen), Verdict::Stale { reason: StaleReason::SocketUnresponsive });
    assert!(swept.removed.contains(&Removed::Keeper(frozen.keeper)), "{swept:?}");
    home.expect_nothing_left(5);
}

#[test]
fn f39_keeper_replaces_only_sockets_without_listener() {
    let home = KeeperHome::new();
    let request = home.fake(&obedient());
    let first = home.keep(&request).unwrap();
    assert_eq!(home.keep(&request).unwrap_err().code(), ErrorCode::Busy);
    assert!(keeper_client::hello(&first.socket, within(5)).is_ok(), "the first one is untouched");
    assert_eq!(first.keeper.signal(Signal::KILL), SignalResult::Sent);
    eventually("the browser's end", 5, || !first.browser.is_alive());
    let second = home.keep(&request).unwrap();
    keeper_client::stop(&second.socket, Some(Duration::ZERO), within(9)).unwrap();
    home.expect_nothing_left(1);
}
