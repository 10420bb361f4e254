//! The grants that an action needs follow from its parameters: code, files, headers and other origins.

use crate::policy::grants::{allow, guarded, remedy};
use crate::support::fixture_site::FixtureSite;
use crate::support::world::World;

/// A guarded session on a page of a site that has the given grants.
fn on_own_page(grants: &[&str]) -> (World, FixtureSite, String) {
    let (world, site) = (guarded(), FixtureSite::start());
    let own = site.page("").trim_end_matches('/').to_owned();
    allow(&world, &[&[own.as_str()], grants].concat());
    world.run(&["open", &site.page("/form")]).succeeded();
    (world, site, own)
}

#[test]
fn c1_waiting_for_a_function_needs_eval() {
    let (world, site, own) = on_own_page(&[]);
    let code = "fetch('/mutated', {method: 'POST'}), true";
    assert_eq!(remedy(&world, &["wait-for", "--function", code]), format!("tabwire allow {own} --eval"));
    assert_eq!(site.request_count("/mutated"), 0, "the code did not run");
    world.run(&["wait-for", "--load"]).succeeded();
    allow(&world, &[&own, "--eval"]);
    world.run(&["wait-for", "--function", code]).succeeded();
}

#[test]
fn c1_no_code_runs_in_a_blank_page_without_a_grant_for_every_site() {
    let (world, site) = (guarded(), FixtureSite::start());
    world.run(&["open", "about:blank"]).succeeded();
    let code = format!("fetch('{}', {{method: 'POST', mode: 'no-cors'}}), true", site.url("b", "/mutated"));
    for attempt in [&["wait-for", "--function", &code][..], &["eval", &code]] {
        assert_eq!(remedy(&world, attempt), "tabwire allow '*' --eval", "{attempt:?}");
    }
    assert_eq!(remedy(&world, &["press", "a"]), "tabwire allow '*' --act");
    assert_eq!(site.request_count("/mutated"), 0, "nothing was sent");
    // It can be read, and the tab can be configured before a navigation.
    world.run(&["get-text"]).succeeded();
    world.run(&["emulate", "--viewport", "400x300"]).succeeded();
    allow(&world, &["*", "--eval"]);
    assert_eq!(world.eval("1 + 1"), "2");
}

#[test]
fn c2_fulfilling_or_changing_requests_needs_eval() {
    let (world, _site, own) = on_own_page(&["--act"]);
    let needed = format!("tabwire allow {own} --eval");
    assert_eq!(remedy(&world, &["route", "*", "--body", "<script>1</script>"]), needed);
    assert_eq!(remedy(&world, &["route", "*", "--status", "204"]), needed);
    assert_eq!(remedy(&world, &["route", "*", "--set-header", "Origin: https://b.example"]), needed);
    world.run(&["route", "*/none", "--abort"]).succeeded();
    let file = world.home().join("archive.har");
    std::fs::write(&file, "{}").expect("written");
    let replay = ["har", "replay", &file.display().to_string()];
    assert!(remedy(&world, &replay).starts_with(&format!("tabwire allow {own} --")));
}

#[test]
fn m5_writing_what_a_page_sent_needs_download() {
    let (world, _site, own) = on_own_page(&[]);
    let needed = format!("tabwire allow {own} --download");
    for attempt in [
        &["pdf", "--output", "page.pdf"][..],
        &["screenshot", "--output", "page.png"],
        &["request", "1", "--save", "response-body", "--output", "page.bin"],
        &["diff", "snapshot", "--save", "page.txt"],
        &["har", "stop"],
        &["record", "start"],
        &["capture", "on"],
    ] {
        assert_eq!(remedy(&world, attempt), needed, "{attempt:?}");
    }
    world.run(&["screenshot"]).succeeded();
    world.run(&["pdf"]).succeeded();
}

#[test]
fn m6_a_file_in_a_response_needs_upload() {
    let (world, _site, own) = on_own_page(&["--act", "--eval"]);
    let file = world.home().join("local.txt");
    std::fs::write(&file, "CANARY of this machine").expect("written");
    let route = ["route", "*/local", "--body-file", &file.display().to_string()];
    assert_eq!(remedy(&world, &route), format!("tabwire allow {own} --upload"));
    assert_eq!(
        remedy(&world, &["http-auth", "anna", "--password-file", &file.display().to_string()]),
        format!("tabwire allow {own} --upload")
    );
}

#[test]
fn m7_permissions_and_headers_are_judged_by_their_sites() {
    let (world, site, own) = on_own_page(&["--act", "--eval"]);
    let other = site.url("b", "").trim_end_matches('/').to_owned();
    let elsewhere = ["emulate", "--grant", "geolocation", "--origin", &other];
    assert_eq!(remedy(&world, &elsewhere), format!("tabwire allow {other} --act"));
    world.run(&["emulate", "--grant", "geolocation"]).succeeded();
    world.run(&["emulate", "--grant", "geolocation", "--origin", &own]).succeeded();
    assert_eq!(remedy(&world, &["emulate", "--grant", "clipboard-read"]), "tabwire allow '*' --act");
    // Headers are added to requests of sites with `act` only.
    world.run(&["headers", "X-Added: secret"]).succeeded();
    let seen = |url: &str| world.eval(&format!("fetch('{url}').then((response) => response.text())"));
    assert_eq!(seen("/api/headers"), "secret");
    assert_eq!(seen(&site.url("b", "/api/headers")), "absent");
    let auth = ["http-auth", "anna", "--password", "secret", "--origin", &other];
    assert_eq!(remedy(&world, &auth), format!("tabwire allow {other} --act"));
}

#[test]
fn h3_secrets_of_requests_and_fields_need_more_than_read() {
    let (world, _site, own) = on_own_page(&[]);
    let needed = format!("tabwire allow {own} --eval");
    assert_eq!(remedy(&world, &["request", "1", "--show-secrets"]), needed);
    assert_eq!(remedy(&world, &["get", "value", "#password", "--reveal"]), needed);
    world.run(&["request", "1"]).succeeded();
    world.run(&["get", "value", "#password"]).succeeded();
}

#[test]
fn a_url_given_as_the_target_of_a_download_is_judged() {
    let (world, site, _own) = on_own_page(&["--act", "--download"]);
    let other = site.url("b", "").trim_end_matches('/').to_owned();
    let url = site.url("b", "/plain");
    let needed = format!("tabwire allow {other} --download");
    assert_eq!(remedy(&world, &["download-file", &url]), needed);
    assert_eq!(remedy(&world, &["download-file", "--url", &url]), needed);
    assert_eq!(site.request_count("/plain"), 0, "nothing was requested");
}
