//! The headers of the dashboard: the exact content security policy, and no cookie ever.

use std::path::Path;

use crate::live::support::live_daemon::LiveDaemon;
use crate::live::support::raw_http::Reply;

/// The value of a header; panics when there is not exactly one.
fn header<'a>(reply: &'a Reply, name: &str) -> &'a str {
    let lines = reply.head.lines().filter_map(|line| line.split_once(": "));
    let found: Vec<&str> =
        lines.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value).collect();
    assert_eq!(found.len(), 1, "{name} in {}", reply.head);
    found[0]
}

fn sets_no_cookie(reply: &Reply) {
    assert!(!reply.head.to_ascii_lowercase().contains("set-cookie"), "{}", reply.head);
}

/// The paths of the files that are in the folder of the dashboard.
fn files() -> Vec<String> {
    let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web");
    let mut paths = vec!["/dashboard".to_owned()];
    for (folder, below) in [
        ("dashboard", ""),
        ("dashboard/live", "live/"),
        ("dashboard/views", "views/"),
        ("shared", "shared/"),
        ("shared/chat", "shared/chat/"),
    ] {
        for entry in std::fs::read_dir(web.join(folder)).expect("a folder").flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.ends_with(".js") || name.ends_with(".css") || name.ends_with(".svg") {
                paths.push(format!("/dashboard/{below}{name}"));
            }
        }
    }
    paths
}

#[test]
fn every_file_has_the_policy_and_nothing_sets_a_cookie() {
    let daemon = LiveDaemon::start();
    let port = daemon.port;
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; media-src blob:; \
         connect-src 'self' ws://127.0.0.1:{port}; frame-ancestors 'none'; form-action 'none'; base-uri 'none'; \
         require-trusted-types-for 'script'; trusted-types 'none'"
    );
    let mut served = 0;
    for path in files() {
        let reply = daemon.request(&format!("GET {path}"), &[], "");
        sets_no_cookie(&reply);
        // A file that the page does not use is not served.
        if reply.status == 404 {
            continue;
        }
        assert_eq!(reply.status, 200, "{path}");
        served += 1;
        assert_eq!(header(&reply, "content-security-policy"), policy, "{path}");
        assert_eq!(header(&reply, "referrer-policy"), "no-referrer", "{path}");
        assert_eq!(header(&reply, "x-content-type-options"), "nosniff", "{path}");
        assert_eq!(header(&reply, "cross-origin-opener-policy"), "same-origin", "{path}");
        assert_eq!(header(&reply, "cross-origin-resource-policy"), "same-origin", "{path}");
    }
    assert!(served > 20, "{served} files");
    let own = format!("origin: http://127.0.0.1:{port}");
    let json = "content-type: application/json";
    let body = r#"{"ticket":"0000"}"#;
    let refused = [
        daemon.request("GET /dashboard/none.js", &[], ""),
        daemon.request("POST /dashboard/enter", &[&own, json], body),
        daemon.request("POST /dashboard/enter", &[json], body),
        daemon.request("GET /dashboard/line", &[&own], ""),
        daemon.request("GET /dashboard/live", &[&own], ""),
        daemon.request("POST /v1/dashboard", &[&daemon.bearer(), json], "{}"),
    ];
    for reply in &refused {
        assert!((400..500).contains(&reply.status), "{reply:?}");
        sets_no_cookie(reply);
    }
    assert_eq!(refused[5].status, 403, "the token gets no ticket over the port: {:?}", refused[5]);
    // The way in itself: the ticket becomes a key, once, and neither is a cookie.
    let url = daemon.request_as_user("POST", "/v1/dashboard", &serde_json::json!({}));
    sets_no_cookie(&url);
    let text = url.json()["url"].as_str().expect("a URL").to_owned();
    let ticket = text.split_once("#ticket=").expect("a ticket").1.to_owned();
    let body = serde_json::json!({"ticket": ticket}).to_string();
    let entered = daemon.request("POST /dashboard/enter", &[&own, json], &body);
    assert_eq!(entered.status, 200);
    sets_no_cookie(&entered);
    let again = daemon.request("POST /dashboard/enter", &[&own, json], &body);
    assert!(again.status >= 400, "once: {again:?}");
    sets_no_cookie(&again);
}
