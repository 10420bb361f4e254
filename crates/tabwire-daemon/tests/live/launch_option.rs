//! Launch options that the API refuses. The tables of flags and profiles have their own tests.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::Instant;

use serde_json::{Value, json};

use crate::live::support::live_daemon::{LiveDaemon, TIMEOUT};
use crate::live::support::process_facts::tree;

/// Requests a browser with refused options; returns the failure.
fn refused(daemon: &LiveDaemon, options: &Value) -> Value {
    let requests = [
        ("/v1/cdp-url", json!({"options": options})),
        ("/v1/actions/open", json!({"options": options})),
        ("/v1/actions/tabs", json!({"options": options})),
    ];
    let failures = requests.map(|(path, request)| {
        let reply = daemon.request_as_user("POST", path, &request);
        assert!(reply.status >= 400, "{options}: {}", reply.body);
        reply.json()["error"].clone()
    });
    // The keeper that refused it ends soon, without a browser.
    let until = Instant::now() + TIMEOUT;
    while tree(daemon.pid()).len() > 1 {
        assert!(Instant::now() < until, "something was started for {options}");
        std::thread::yield_now();
    }
    failures.into_iter().next().expect("three")
}

#[test]
fn t36_flags_that_run_programs_are_refused_by_the_api() {
    let daemon = LiveDaemon::start();
    let marker = daemon.home.path().join("marker");
    let touch = format!("touch {}", marker.display());
    let dangerous = [
        format!("--renderer-cmd-prefix={touch}"),
        format!("--gpu-launcher={touch}"),
        format!("--utility-cmd-prefix={touch}"),
        "--no-sandbox".to_owned(),
        "--disable-web-security".to_owned(),
        "--load-extension=/tmp".to_owned(),
        "--remote-debugging-port=9222".to_owned(),
        "--remote-debugging-address=0.0.0.0".to_owned(),
        "--user-data-dir=/root".to_owned(),
        format!("; {touch}"),
        format!("$({touch})"),
        "file:///etc/passwd".to_owned(),
    ];
    for argument in dangerous {
        let failure = refused(&daemon, &json!({"browser_arguments": [argument]}));
        assert!(
            matches!(failure["code"].as_str(), Some("POLICY_DENIED" | "BAD_ARGS")),
            "{argument}: {failure}"
        );
    }
    let programs = [touch.clone(), format!("chromium; {touch}"), "../../bin/sh".to_owned(), "sh".to_owned()];
    for program in programs {
        refused(&daemon, &json!({"browser": program}));
    }
    assert!(!marker.exists(), "nothing ran");
    daemon.expect_alive();
}

#[test]
fn t38_the_users_own_profile_is_refused_by_the_api() {
    let daemon = LiveDaemon::start();
    let own = daemon.home.path().join("user/.config/chromium");
    fs::create_dir_all(&own).expect("made");
    let link = daemon.home.path().join("innocent");
    symlink(&own, &link).expect("linked");
    let spellings = [
        own.clone(),
        own.join("Default"),
        own.join("../chromium"),
        link,
        daemon.home.path().join("user/.config/google-chrome"),
    ];
    for profile in spellings {
        let failure = refused(&daemon, &json!({"profile": profile}));
        assert_eq!(failure["code"], "BAD_ARGS", "{profile:?}: {failure}");
        assert!(failure["hint"].is_string(), "{failure}");
    }
    for name in ["..", ".", "a\u{0}b", "-x"] {
        refused(&daemon, &json!({"profile": name}));
    }
    assert_eq!(fs::read_dir(&own).expect("there").count(), 0, "it was not touched");
}
