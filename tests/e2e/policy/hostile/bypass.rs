//! Attempts to get around a guarded session: none shows an ungranted page.

use serde_json::{Value, json};

use crate::policy::grants::{allow, guarded, remedy, revoke_all};
use crate::support::cdp_client::CdpClient;
use crate::support::fixture_site::FixtureSite;
use crate::support::wait::eventually;
use crate::support::world::{Outcome, World};

/// Text of pages that must not be shown.
const CANARY: &str = "CANARY";

struct Attempt {
    world: World,
    site: FixtureSite,
    /// Allowed for reading, acting and code.
    own: String,
    /// Not allowed at all.
    other: String,
    /// A page there with the canary.
    target: String,
}

impl Attempt {
    fn new() -> Self {
        let (world, site) = (guarded(), FixtureSite::start());
        let origin = |name: &str| site.url(name, "").trim_end_matches('/').to_owned();
        let (own, other) = (origin("a"), origin("b"));
        allow(&world, &[&own, "--act", "--eval", "--download", "--carry"]);
        let target = site.url("b", "/frames/denied");
        Self { world, site, own, other, target }
    }

    fn refused(&self, arguments: &[&str]) -> Outcome {
        let outcome = self.world.run(&[&["--json"], arguments].concat());
        assert_eq!(outcome.failure().0, "POLICY_DENIED", "{arguments:?}: {outcome:?}");
        assert!(!outcome.stdout.contains(CANARY) && !outcome.stderr.contains(CANARY), "{outcome:?}");
        outcome
    }

    /// Checks that the current tab is on the denied page, and that no command shows it.
    fn sees_nothing_of_the_page(&self, how: &str) {
        for arguments in
            [&["get-text"][..], &["snapshot"], &["screenshot"], &["get", "title"], &["eval", "1"]]
        {
            let refused = || self.world.run(&[&["--json"], arguments].concat()).code == 3;
            eventually(&format!("{how}: {arguments:?} is refused"), 15, refused);
            self.refused(arguments);
        }
        let tabs = self.world.run(&["--json", "tabs"]).succeeded();
        assert!(!tabs.stdout.contains("/frames/denied") && !tabs.stdout.contains("\"Denied\""), "{tabs:?}");
    }
}

#[test]
fn t20_redirects_to_ungranted_sites_are_blocked() {
    let attempt = Attempt::new();
    let Attempt { world, site, target, own, other } = &attempt;
    revoke_all(world);
    allow(world, &[own, "--act", "--eval"]);
    let to = |path: &str| site.page(&format!("{path}?to={}", target.replace(':', "%3A").replace('/', "%2F")));
    assert_eq!(remedy(world, &["open", &to("/redirect/to")]), format!("tabwire allow {other}"));
    for path in ["/redirect/to", "/redirect/meta", "/redirect/script"] {
        let outcome = world.run(&["--json", "open", &to(path)]);
        assert!(!outcome.stdout.contains(CANARY), "{outcome:?}");
        attempt.sees_nothing_of_the_page(path);
        // Navigating away is allowed.
        world.run(&["open", &site.page("/plain")]).succeeded();
        world.run(&["get-text"]).succeeded();
    }
    // A link and a form of the page, which a click would follow.
    for leaving in [
        format!(
            "const a = document.createElement('a'); a.href = '{target}'; document.body.append(a); a.click()"
        ),
        format!(
            "const f = document.createElement('form'); f.method = 'post'; f.action = '{target}'; document.body.append(f); f.submit()"
        ),
    ] {
        world.run(&["open", &site.page("/plain")]).succeeded();
        world.eval(&format!("{{ {leaving} }}"));
        attempt.sees_nothing_of_the_page(&leaving);
    }
    assert_eq!(site.request_count("/frames/denied"), 0, "no request went to the other site");
    // Only the response shows whether a link leads to a page or a file. A client with `download` may follow
    // it, and still sees nothing of the page.
    allow(world, &[own, "--act", "--eval", "--download"]);
    world.run(&["open", &site.page("/plain")]).succeeded();
    world.eval(&format!("void (location = '{target}')"));
    attempt.sees_nothing_of_the_page("download");
    eventually("it was followed", 10, || site.request_count("/frames/denied") == 1);
    // After a grant, the page is shown.
    allow(world, &[other]);
    world.run(&["open", &to("/redirect/to")]).succeeded();
    assert!(world.run(&["get-text"]).succeeded().stdout.contains(CANARY));
}

#[test]
fn t22_history_popups_and_code_reach_no_ungranted_site() {
    let attempt = Attempt::new();
    let Attempt { world, site, own, other, target } = &attempt;
    // Back to a page that was allowed before.
    allow(world, &[other]);
    world.run(&["open", target]).succeeded();
    world.run(&["open", &site.page("/plain")]).succeeded();
    world.run(&["grants", "revoke", other, "--without-terminal"]).succeeded();
    attempt.refused(&["back"]);
    attempt.sees_nothing_of_the_page("back");

    // A page that opens another, and one that writes into it.
    world.run(&["open", &site.page("/plain")]).succeeded();
    world.eval(&format!("void window.open('{target}')"));
    world.eval("void window.open('about:blank').document.write('CANARY written')");
    let tabs = || world.json(&["tabs"])["result"]["tabs"].as_array().expect("tabs").clone();
    eventually("both are there", 10, || tabs().len() == 3);
    for tab in tabs().iter().filter(|tab| tab["current"] == false) {
        let id = tab["tab"].as_str().expect("an id").to_owned();
        eventually("it is refused", 10, || world.run(&["--json", "get-text", "--tab", &id]).code == 3);
        attempt.refused(&["get-text", "--tab", &id]);
        attempt.refused(&["eval", "document.body.innerText", "--tab", &id]);
        attempt.refused(&["tab-select", &id]);
        assert!(!tab.to_string().contains("Denied") && !tab.to_string().contains("/frames/denied"), "{tab}");
        world.run(&["tab-close", &id]).succeeded();
    }

    // Code of an allowed page, from the page and from a worker.
    let closed = site.url("b", "/frames/denied");
    let fetched = world.eval(&format!("fetch('{closed}').then((r) => r.text()).catch(() => 'refused')"));
    assert_eq!(fetched, "refused");
    let worker = format!(
        "new Promise((done) => {{ const code = \"fetch('{closed}').then((r) => r.text()).catch(() => 'refused').then(postMessage)\"; \
         const worker = new Worker(URL.createObjectURL(new Blob([code]))); worker.onmessage = (event) => {{ worker.terminate(); done(event.data); }}; }})"
    );
    assert_eq!(world.eval(&worker), "refused");
    // A request to another site, and a download from there.
    attempt.refused(&["route", "/plain", "--to-url", target]);
    attempt.refused(&["download-file", "--url", target]);
    let relative = world.run(&["--json", "download-file", "--url", "//b.localhost/x"]);
    assert_eq!(relative.failure().0, "POLICY_DENIED", "{relative:?}");
    assert_eq!(remedy(world, &["tab-new", target]), format!("tabwire allow {other}"));
    assert!(!own.is_empty());
}

#[test]
fn t22_frames_of_ungranted_sites_are_omitted_with_a_note() {
    let attempt = Attempt::new();
    let Attempt { world, site, other, .. } = &attempt;
    world.run(&["open", &site.page("/frames")]).succeeded();
    let inner = |outcome: &Outcome| {
        let leaks = ["h1 \"middle\"", "h1 \"inner\"", "\">middle<", "\">inner<", "\nmiddle\n", "# middle"];
        leaks.iter().any(|text| outcome.stdout.contains(text))
    };
    allow(world, &[other]);
    allow(world, &[site.url("c", "").trim_end_matches('/')]);
    eventually("all frames are there", 10, || inner(&world.run(&["snapshot"]).succeeded()));
    world.run(&["screenshot"]).succeeded();
    for origin in [other.as_str(), site.url("c", "").trim_end_matches('/')] {
        world.run(&["grants", "revoke", origin, "--without-terminal"]).succeeded();
    }
    // The frames are loaded all the same, since most pages need theirs.
    world.run(&["reload"]).succeeded();
    let is_left_out = || world.run(&["snapshot"]).stderr.contains("left out");
    eventually("they are loaded and left out", 10, is_left_out);
    for arguments in
        [&["snapshot"][..], &["get-text"], &["read-as-markdown"], &["find", "middle"], &["get-html"]]
    {
        let outcome = world.run(arguments);
        assert!(!inner(&outcome), "{arguments:?}: {outcome:?}");
        if arguments == ["snapshot"] {
            assert!(
                outcome.stderr.contains("left out") && outcome.stderr.contains(other.as_str()),
                "{outcome:?}"
            );
        }
    }
    attempt.refused(&["screenshot"]);
    attempt.refused(&["pdf"]);
    world.run(&["open", "about:blank"]).succeeded();
}

#[test]
fn t31_a_page_writes_no_file_without_a_grant() {
    let begin = "{ const a = document.createElement('a'); a.href = '/download/report.txt'; a.download = ''; a.click() }";
    write_no_file_until_granted(&guarded(), &FixtureSite::start(), &["eval", begin]);
}

/// A download that a page starts writes no file without a grant.
pub(crate) fn write_no_file_until_granted(world: &World, site: &FixtureSite, begin: &[&str]) {
    let origin = site.page("").trim_end_matches('/').to_owned();
    allow(world, &[&origin, "--act", "--eval"]);
    // Only to read the list of downloads.
    allow(world, &["*", "--download"]);
    world.run(&["open", &site.page("/downloads")]).succeeded();
    let downloads = || world.run(&["--json", "downloads"]).succeeded().stdout;
    world.run(begin).succeeded();
    eventually("it was stopped", 15, || downloads().contains("the policy does not let files be written"));
    assert!(world.files("state/downloads").is_empty(), "{:?}", world.files("state/downloads"));
    allow(world, &[&origin, "--act", "--eval", "--download"]);
    world.run(begin).succeeded();
    eventually("it was kept", 15, || downloads().contains("report"));
    eventually("it is there", 15, || world.files("state/downloads") == ["report.txt"]);
    eventually("nothing is left of the one that was stopped", 15, || {
        world.files("state/incoming").is_empty()
    });
}

fn error_of(response: &Value) -> &str {
    response["error"]["data"].as_str().unwrap_or_default()
}

#[test]
fn t19_raw_cdp_reaches_only_granted_sites() {
    let attempt = Attempt::new();
    let Attempt { world, site, own, target, .. } = &attempt;
    let address = world.cdp_url();
    let request = "GET /json/list HTTP/1.1\r\nHost: tabwire.local\r\nConnection: close\r\n\r\n";
    let (head, body) = world.http(request);
    assert!(head.starts_with("HTTP/1.1 403") && body.contains("POLICY_DENIED"), "{head} {body}");
    allow(world, &[own, "--cdp"]);
    let mut client = CdpClient::connect(&address);
    let page = client.open_page(&site.page("/plain"));
    client.call("Page.enable", json!({}), Some(&page.session));
    client.call("Runtime.enable", json!({}), Some(&page.session));
    eventually("it may be read", 10, || {
        let read = json!({"expression": "document.readyState + location.host", "returnByValue": true});
        let response = client.ask("Runtime.evaluate", read, Some(&page.session));
        response["result"]["result"]["value"].as_str().is_some_and(|text| text.contains("a.localhost"))
    });
    for (method, params, session) in [
        ("Page.navigate", json!({"url": target}), Some(page.session.as_str())),
        ("Page.navigate", json!({"url": "file:///etc/passwd"}), Some(&page.session)),
        ("Target.createTarget", json!({"url": target}), None),
        ("Target.createTarget", json!({"url": "chrome://version"}), None),
        ("Storage.getCookies", json!({}), None),
        ("Network.getAllCookies", json!({}), Some(&page.session)),
        ("Browser.setDownloadBehavior", json!({"behavior": "allow", "downloadPath": "/tmp"}), None),
        ("Page.addScriptToEvaluateOnNewDocument", json!({"source": "1"}), Some(&page.session)),
        ("Surprise.method", json!({}), Some(&page.session)),
        ("Surprise.method", json!({}), None),
    ] {
        let response = client.ask(method, params.clone(), session);
        assert_eq!(error_of(&response), "POLICY_DENIED", "{method} {params}: {response}");
    }
    // The page navigates to an ungranted site; the client stays attached and sees nothing.
    let leave = json!({"expression": format!("console.log('here'); location = '{target}'")});
    client.ask("Runtime.evaluate", leave, Some(&page.session));
    eventually("it is refused", 15, || {
        let read = json!({"expression": "document.documentElement.outerHTML", "returnByValue": true});
        let response = client.ask("Runtime.evaluate", read, Some(&page.session));
        assert!(!response.to_string().contains(CANARY), "{response}");
        error_of(&response) == "POLICY_DENIED"
    });
    for method in
        ["Page.captureScreenshot", "DOM.getDocument", "Accessibility.getFullAXTree", "DOMSnapshot.enable"]
    {
        let response = client.ask(method, json!({}), Some(&page.session));
        assert_eq!(error_of(&response), "POLICY_DENIED", "{method}: {response}");
    }
    assert!(client.unread_events().all(|event| !event.to_string().contains(CANARY)));
    // It may navigate back, and a revocation applies at once.
    client.call("Page.navigate", json!({"url": site.page("/plain")}), Some(&page.session));
    revoke_all(world);
    let read = json!({"expression": "1"});
    eventually("it is refused", 10, || {
        error_of(&client.ask("Runtime.evaluate", read.clone(), Some(&page.session))) == "POLICY_DENIED"
    });
}

/// Makes a page open other sites' URLs in new tabs in every way, and waits until all requests were made: the
/// last one goes to the page's own site.
fn send_tabs(world: &World, site: &FixtureSite) {
    let report_url = |way: &str| site.url("b", &format!("/report/{way}"));
    let redirect = |kind: &str, way: &str| {
        format!("/redirect/{kind}?to={}", report_url(way).replace(':', "%3A").replace('/', "%2F"))
    };
    world.eval(&format!("void window.open('{}')", report_url("popup")));
    world.eval(&format!("void window.open('{}', '_blank', 'noopener')", report_url("noopener")));
    world.eval(&format!(
        "{{ const a = document.createElement('a'); a.href = '{}'; a.target = '_blank'; document.body.append(a); a.click() }}",
        report_url("link")
    ));
    world.eval(&format!(
        "{{ const f = document.createElement('form'); f.method = 'post'; f.action = '{}'; f.target = '_blank'; document.body.append(f); f.submit() }}",
        report_url("form")
    ));
    // Popups without a client, which navigate by themselves.
    for kind in ["to", "meta", "script"] {
        world.eval(&format!("void window.open('{}')", redirect(kind, kind)));
    }
    // A popup that its opener navigates, until it shows a page that its opener cannot read.
    let sent = world.eval(&format!(
        "new Promise((done) => {{ const sent = window.open('/plain?sent'); let was = false; const look = () => {{ \
         try {{ if (sent.document.title && !was) {{ was = true; sent.location = '{}'; }} setTimeout(look, 20); }} \
         catch {{ done('gone'); }} }}; look(); }})",
        report_url("sent")
    ));
    assert_eq!(sent, "gone");
    // A popup without a client that sends a beacon.
    let beacon = format!(
        "new Promise((done) => {{ const popup = window.open('/plain?beacon'); const look = () => \
         popup.location.search && popup.document.readyState === 'complete' \
         ? done(popup.navigator.sendBeacon('{}', 'told')) : setTimeout(look, 20); look(); }})",
        report_url("beacon")
    );
    assert_eq!(world.eval(&beacon), "true");
    world.eval("void window.open('/report/own')");
    eventually("the last one went", 20, || site.request_count("/report/own") > 0);
}

/// Every way of `send_tabs`.
const WAYS_TO_SEND: [&str; 9] =
    ["popup", "noopener", "link", "form", "to", "meta", "script", "sent", "beacon"];

#[test]
fn t22_popups_and_unused_tabs_send_no_request_to_ungranted_sites() {
    // All of them work in an open session.
    let (open, site) = (World::new(), FixtureSite::start());
    open.run(&["open", "--browser-arg=--disable-popup-blocking", &site.page("/plain")]).succeeded();
    send_tabs(&open, &site);
    for way in WAYS_TO_SEND {
        eventually(&format!("{way} arrives"), 20, || site.request_count(&format!("/report/{way}")) > 0);
    }
    drop((open, site));

    let (world, site) = (guarded(), FixtureSite::start());
    let (own, other) = (site.url("a", ""), site.url("b", ""));
    let (own, other) = (own.trim_end_matches('/'), other.trim_end_matches('/'));
    allow(&world, &[own, "--act", "--eval", "--cdp"]);
    world.run(&["open", "--browser-arg=--disable-popup-blocking", &site.page("/plain")]).succeeded();
    send_tabs(&world, &site);
    // A tab of a CDP client, navigated by its page and by the client.
    let mut client = CdpClient::connect(&world.cdp_url());
    let page = client.open_page(&site.page("/plain"));
    client.call("Page.enable", json!({}), Some(&page.session));
    for leaving in ["location", "popup"] {
        client.call("Page.navigate", json!({"url": site.page("/plain")}), Some(&page.session));
        let report_url = site.url("b", &format!("/report/cdp-{leaving}"));
        let code = match leaving {
            "location" => format!("location = '{report_url}'"),
            _ => format!("void window.open('{report_url}')"),
        };
        client.ask("Runtime.evaluate", json!({"expression": code, "userGesture": true}), Some(&page.session));
        let after = json!({"expression": "void window.open('/report/own')", "userGesture": true});
        let visits = site.request_count("/report/own");
        client.call("Page.navigate", json!({"url": site.page("/plain")}), Some(&page.session));
        eventually("the next one went", 20, || {
            client.ask("Runtime.evaluate", after.clone(), Some(&page.session));
            site.request_count("/report/own") > visits
        });
    }
    for way in WAYS_TO_SEND.iter().chain(&["cdp-location", "cdp-popup"]) {
        assert_eq!(site.request_count(&format!("/report/{way}")), 0, "{way} was asked for");
    }
    // After a grant, popups may go there too.
    allow(&world, &[other]);
    world.run(&["open", &site.page("/plain")]).succeeded();
    world.eval(&format!("void window.open('{other}/report/popup')"));
    eventually("it went", 20, || site.request_count("/report/popup") > 0);
}
