//! Profiles on the command line: kept, shared, relative and locked.

use std::fs;
use std::os::unix::fs::symlink;

use crate::support::chromium::Chromium;
use crate::support::fixture_site::FixtureSite;
use crate::support::world::World;

#[test]
fn a_named_profile_keeps_what_pages_store() {
    let (world, site) = (World::new(), FixtureSite::start());
    let page = site.page("/plain");
    world.open(&["--profile", "work", &page]);
    world.eval("localStorage.setItem('kept', 'yes'); document.cookie = 'sweet=1; max-age=1000'");
    world.run(&["close"]).succeeded();
    assert_eq!(world.files("data/profiles"), ["work"]);
    world.open(&["--profile", "work", &page]);
    assert_eq!(world.eval("localStorage.getItem('kept') + ' ' + document.cookie"), "yes sweet=1");
    world.run(&["close"]).succeeded();
    world.open(&[&page]);
    assert_eq!(world.eval("localStorage.getItem('kept')"), "null", "a temporary profile is separate");
}

#[test]
fn a_relative_profile_path_uses_the_working_directory() {
    let world = World::new();
    world.open(&["--profile", "./mine", "about:blank"]);
    assert!(world.home().join("mine/Local State").exists() || world.home().join("mine/Default").exists());
    let status = world.json(&["status"]);
    assert_eq!(status["sessions"][0]["profile"], world.home().join("mine").display().to_string());
    for bad in ["-x", "..", ".hidden"] {
        let outcome = world.run(&["--json", "--session", "bad", "tabs", &format!("--profile={bad}")]);
        assert_eq!(outcome.failure().1, 2, "{bad}: {outcome:?}");
    }
}

#[test]
fn two_sessions_on_one_profile_share_the_browser() {
    let (world, site) = (World::new(), FixtureSite::start());
    let page = site.page("/plain");
    world.open(&["--profile", "both", &page]);
    world.eval("localStorage.setItem('seen', 'by both')");
    world.run(&["--session", "b", "open", "--profile", "both", "--new-tab", &page]).succeeded();
    let read = world.run(&["--session", "b", "eval", "localStorage.getItem('seen')"]).succeeded();
    assert_eq!(read.text(), "by both");
    let status = world.json(&["status"]);
    assert_eq!(status["sessions"][0]["browser_pid"], status["sessions"][1]["browser_pid"], "{status}");
    let closed = world.run(&["close"]).succeeded();
    assert!(closed.stdout.contains("another session uses it"), "{closed:?}");
    assert_eq!(world.run(&["--session", "b", "eval", "1 + 1"]).succeeded().text(), "2");
    assert!(world.run(&["--session", "b", "close"]).succeeded().stdout.contains("ended"));
}

#[test]
fn f30_a_stale_lock_is_removed_and_the_profile_used() {
    let world = World::new();
    let profile = world.home().join("locked");
    fs::create_dir(&profile).expect("a profile");
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(&profile, fs::Permissions::from_mode(0o700)).expect("private");
    let host = fs::read_to_string("/proc/sys/kernel/hostname").expect("a host name");
    // A pid above every possible one.
    symlink(format!("{}-4194305", host.trim()), profile.join("SingletonLock")).expect("a lock");
    world.open(&["--profile", &profile.display().to_string(), "about:blank"]);
    assert_eq!(world.eval("1"), "1");
}

#[test]
fn f31_a_live_lock_is_respected_and_explained() {
    let (world, mut owner) = (World::new().with_whole_chromium(), Chromium::without_port());
    let profile = owner.profile().display().to_string();
    let outcome = world.run(&["--json", "open", "--profile", &profile, "about:blank"]);
    assert_eq!(outcome.failure(), ("PROFILE_LOCKED".to_owned(), 1));
    let error = outcome.json()["error"].clone();
    assert!(error["message"].as_str().is_some_and(|message| message.contains("process")), "{error}");
    assert!(error["hint"].as_str().is_some_and(|hint| hint.contains(" or ")), "two remedies: {error}");
    assert!(owner.is_running());
}

#[test]
fn f31_a_live_lock_with_a_debugging_port_is_attached_to() {
    let (world, mut owner) = (World::new().with_whole_chromium(), Chromium::whole_with_port());
    world.open(&["--profile", &owner.profile().display().to_string(), "about:blank"]);
    assert_eq!(world.json(&["status"])["sessions"][0]["ownership"], "attached");
    assert!(world.run(&["close"]).succeeded().stdout.contains("left running"));
    assert!(owner.is_running());
}

#[test]
fn profiles_are_managed_and_one_in_use_is_never_removed() {
    let world = World::new().with_whole_chromium();
    assert_eq!(world.json(&["profile", "list"])["profiles"].as_array().map(Vec::len), Some(0));
    assert_eq!(world.json(&["profile", "create", "spare"])["created"], true);
    assert_eq!(world.json(&["profile", "create", "spare"])["created"], false);
    world.open(&["--profile", "work", "about:blank"]);
    let directory = world.home().join("data/profiles/work");
    assert_eq!(world.run(&["profile", "path", "work"]).succeeded().text(), directory.display().to_string());

    let listed = world.json(&["profile", "list"])["profiles"].clone();
    assert_eq!((&listed[0]["name"], &listed[1]["name"]), (&"spare".into(), &"work".into()));
    assert!(listed[1]["bytes"].as_u64() > Some(1000) && listed[1]["last_use"].is_u64(), "{listed}");
    let browser = world.pid("browser_pid");
    let owner = world.json(&["profile", "lock-owner", "work"])["lock"].clone();
    assert_eq!((&owner["state"], &owner["pid"]), (&"live".into(), &browser.into()), "{owner}");
    assert!(owner["program"].as_str().is_some_and(|program| program.contains("chrom")), "{owner}");
    assert!(world.run(&["profile", "list"]).succeeded().stdout.contains(&format!("process {browser}")));
    assert_eq!(world.json(&["profile", "lock-owner", "spare"])["lock"]["state"], "free");

    for arguments in [&["profile", "delete", "work"][..], &["profile", "delete", "work", "--force"]] {
        let refused = world.run(&[&["--json"], arguments].concat());
        assert_eq!(refused.failure(), ("PROFILE_LOCKED".to_owned(), 1), "{refused:?}");
        assert!(refused.stdout.contains(&browser.to_string()), "{refused:?}");
    }
    assert_eq!(world.eval("1 + 1"), "2", "the browser keeps running");
    world.run(&["close"]).succeeded();
    assert_eq!(world.json(&["profile", "delete", "work"])["deleted"], true);
    assert_eq!(world.json(&["profile", "delete", "spare"])["deleted"], true);
    assert_eq!(world.files("data/profiles"), [""; 0]);
    assert_eq!(world.run(&["--json", "profile", "delete", "work"]).failure(), ("BAD_ARGS".to_owned(), 2));
    for bad in ["..", "a/b", ".x"] {
        assert_eq!(world.run(&["--json", "profile", "delete", bad]).failure().0, "BAD_ARGS", "{bad}");
    }
}

#[test]
fn other_engines_are_refused_with_the_supported_ones() {
    let world = World::new();
    for (engine, word) in [("webkit", "persistent sessions do not exist"), ("safari", "safaridriver")] {
        let outcome = world.run(&["--json", "open", "--browser", engine, "about:blank"]);
        assert_eq!(outcome.failure(), ("NO_BACKEND".to_owned(), 1), "{engine}");
        let error = outcome.json()["error"].clone();
        assert!(error["message"].as_str().is_some_and(|text| text.contains(word)), "{error}");
        assert!(error["hint"].as_str().is_some_and(|text| text.contains("chromium")), "{error}");
    }
    assert_eq!(world.browser_processes().len(), 0);
}
