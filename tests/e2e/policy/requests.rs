//! Requests of ungranted sites from a granted page: not listed, not fulfilled and not changed.

use crate::policy::frames::origin;
use crate::policy::grants::{allow, guarded};
use crate::support::fixture_site::FixtureSite;
use crate::support::wait::eventually;
use crate::support::world::World;

/// Same-process and cross-process sites beside `a`.
const OTHERS: [&str; 2] = ["x.a", "b"];

/// Prints every request of the tab in full, with its secrets.
fn read_all_requests(world: &World) -> String {
    let mut output = String::new();
    for number in 1..=12 {
        let outcome = world.run(&["request", &number.to_string(), "--show-secrets"]);
        output.push_str(&outcome.stdout);
        output.push_str(&outcome.stderr);
    }
    output
}

#[test]
fn h3_l5_ungranted_requests_are_hidden_and_secrets_need_eval() {
    let (world, site) = (guarded(), FixtureSite::start());
    let own = origin(&site, "a");
    allow(&world, &[&own, "--act", "--eval", "--download"]);
    world.run(&["open", &site.page("/framed?of=none")]).succeeded();
    for other in OTHERS {
        let fetch = format!(
            "fetch('{}', {{mode: 'no-cors', credentials: 'include'}})",
            site.url(other, "/framed/secret")
        );
        let twice = format!("{fetch}.then(() => {fetch}).then(() => 1)");
        world.run(&["eval", &twice]).succeeded();
        let listed = world.run(&["requests", "--all"]).succeeded();
        assert!(!listed.stdout.contains("/framed/secret"), "{other}: {listed:?}");
        assert!(
            listed.stderr.contains("omitted") && listed.stderr.contains(&origin(&site, other)),
            "{listed:?}"
        );
    }
    let output = read_all_requests(&world);
    assert!(!output.contains("CANARY"), "{output}");
    // The page's own requests are shown, with secrets while `eval` is granted.
    world
        .run(&["eval", "fetch('/framed/secret').then(() => fetch('/framed/secret')).then(() => 1)"])
        .succeeded();
    assert!(read_all_requests(&world).contains("CANARY-cookie"));
    world.run(&["har", "start"]).succeeded();
    world
        .run(&[
            "eval",
            &format!("fetch('{}', {{mode: 'no-cors'}}).then(() => 1)", site.url("b", "/framed/secret")),
        ])
        .succeeded();
    let stopped = world.run(&["har", "stop", "kept.har", "--show-secrets"]).succeeded();
    assert!(stopped.stderr.contains("omitted"), "{stopped:?}");
    let kept = std::fs::read_to_string(world.home().join("kept.har")).expect("an archive");
    assert!(!kept.contains("CANARY") && !kept.contains("/framed/secret"), "{kept}");
    // A site whose grant was revoked is no longer listed.
    allow(&world, &[&origin(&site, "b")]);
    world.run(&["open", &site.url("b", "/framed/inner")]).succeeded();
    eventually("its lines are there", 10, || world.run(&["console", "--all"]).stdout.contains("CANARY-line"));
    world.run(&["open", &site.page("/framed?of=none")]).succeeded();
    world.run(&["grants", "revoke", &origin(&site, "b"), "--without-terminal"]).succeeded();
    for arguments in [&["console", "--all"][..], &["errors", "--all"], &["requests", "--all"]] {
        let output = world.run(arguments).succeeded();
        assert!(
            !output.stdout.contains("CANARY") && !output.stdout.contains("b.localhost"),
            "{arguments:?}: {output:?}"
        );
    }
    world.run(&["grants", "revoke", &own, "--without-terminal"]).succeeded();
    allow(&world, &[&own]);
    let masked = read_all_requests(&world);
    assert!(!masked.contains("CANARY-cookie"), "{masked}");
}

/// Routes a script body for everything, and loads frames and scripts of another site in a page of `a`.
fn route_other_site(world: &World, site: &FixtureSite, other: &str) {
    let script = "<script>new Image().src = '/framed/routed'</script>";
    world
        .run(&["route", "*/framed/inner", "--body", script, "--header", "content-type: text/html"])
        .succeeded();
    world.run(&["route", "*/framed/script.js", "--body", "document.title = 'routed'"]).succeeded();
    let before = site.request_count("/framed/inner");
    world.run(&["open", &site.page(&format!("/framed?of={other}"))]).succeeded();
    eventually("the server receives the request of the frame", 15, || {
        site.request_count("/framed/inner") > before
    });
    let listed = world.run(&["route"]).succeeded();
    assert!(listed.stdout.contains("refused by the browser or the policy: 1"), "{other}: {listed:?}");
    let load = format!(
        "new Promise((done) => {{ const s = document.createElement('script'); s.src = '{}'; s.onload = () => \
         done(document.title); document.body.append(s); }})",
        site.url(other, "/framed/script.js")
    );
    assert_eq!(world.eval(&load), "from the server", "{other}");
}

/// The session's headers go to sites with `act` only.
fn add_headers_to_own_requests(world: &World, site: &FixtureSite) {
    world.run(&["open", &site.page("/framed?of=none")]).succeeded();
    world.run(&["headers", "X-Added: 1"]).succeeded();
    let seen = |url: &str| world.eval(&format!("fetch('{url}').then((response) => response.text())"));
    assert_eq!(seen("/api/headers"), "1");
    for other in OTHERS {
        assert_eq!(seen(&site.url(other, "/api/headers")), "absent", "{other}");
    }
    world.run(&["headers", "--clear"]).succeeded();
    assert_eq!(seen("/api/headers"), "absent");
}

#[test]
fn c2_a_route_fulfils_no_request_of_a_site_without_eval() {
    let (world, site) = (guarded(), FixtureSite::start());
    allow(&world, &[&origin(&site, "a"), "--act", "--eval"]);
    for other in OTHERS {
        world.run(&["open", &site.page("/framed?of=none")]).succeeded();
        route_other_site(&world, &site, other);
        world.run(&["unroute", "--all"]).succeeded();
    }
    assert_eq!(site.request_count("/framed/routed"), 0);
    add_headers_to_own_requests(&world, &site);
    // The same for a denied site in an open session.
    let open = World::new();
    open.run(&["open", &site.page("/framed?of=none")]).succeeded();
    open.run(&["deny", "x.a.localhost"]).succeeded();
    route_other_site(&open, &site, "x.a");
    assert_eq!(site.request_count("/framed/routed"), 0);
    open.run(&["unroute", "--all"]).succeeded();
    // With `eval`, routes apply.
    allow(&world, &[&origin(&site, "x.a"), "--eval"]);
    world
        .run(&[
            "route",
            "*/framed/inner",
            "--body",
            "<script>new Image().src = '/framed/routed'</script>",
            "--header",
            "content-type: text/html",
        ])
        .succeeded();
    world.run(&["open", &site.page("/framed?of=x.a")]).succeeded();
    eventually("the granted request is fulfilled", 10, || site.request_count("/framed/routed") == 1);
    for world in [&world, &open] {
        world.run(&["open", "about:blank"]).succeeded();
    }
}

#[test]
fn c2_har_replay_fulfils_no_request_of_a_site_without_eval() {
    let (world, site) = (guarded(), FixtureSite::start());
    let own = origin(&site, "a");
    allow(&world, &[&own, "--act", "--eval", "--upload"]);
    let entry = |url: &str| {
        serde_json::json!({
            "request": {"method": "GET", "url": url, "headers": []},
            "response": {
                "status": 200, "headers": [{"name": "content-type", "value": "text/html"}],
                "content": {"mimeType": "text/html", "text": "<script>new Image().src = '/framed/routed'</script>"},
            },
        })
    };
    let urls = ["a", "x.a", "b"].map(|host| site.url(host, "/framed/inner"));
    let archive =
        serde_json::json!({"log": {"version": "1.2", "entries": urls.each_ref().map(|url| entry(url))}});
    std::fs::write(world.home().join("replayed.har"), archive.to_string()).expect("written");
    world.run(&["open", &site.page("/framed?of=none")]).succeeded();
    world.run(&["har", "replay", "replayed.har"]).succeeded();
    for other in OTHERS {
        let before = site.request_count("/framed/inner");
        world.run(&["open", &site.page(&format!("/framed?of={other}"))]).succeeded();
        eventually("the server receives the request of the frame", 15, || {
            site.request_count("/framed/inner") > before
        });
    }
    assert_eq!(site.request_count("/framed/routed"), 0, "no code of the archive ran");
    // The page's own site is served from the archive, and its code runs.
    let before = site.request_count("/framed/inner");
    world.run(&["open", &urls[0]]).succeeded();
    eventually("the archive's code runs", 15, || site.request_count("/framed/routed") > 0);
    assert_eq!(site.request_count("/framed/inner"), before, "no request reached the server");
}
