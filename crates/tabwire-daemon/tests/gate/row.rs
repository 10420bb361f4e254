//! The rows of the threat table that the gate answers alone.

use tabwire_daemon::{Access, ROUTES, Refusal, RouteName, Scope, Transport};

use crate::gate::attempt::{Attempt, Credential, ONE, PORT, TOKEN, TRANSPORTS, TWO, every_attempt};

const ORIGINS: [&str; 16] = [
    "",
    "null",
    "NULL",
    "https://evil.test",
    "HTTPS://EVIL.TEST",
    "https://evil.test:443",
    "http://127.0.0.1",
    "http://127.0.0.1:38017",
    "http://localhost:38017",
    "https://127.0.0.1:38017",
    "http://tabwire.local",
    "file://",
    "devtools://devtools",
    "moz-extension://11111111-2222-3333-4444-555555555555",
    "chrome-extension://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "\u{fffd}",
];

fn check_origins(origins: &[&str], chosen: impl Fn(RouteName) -> bool) {
    let mut tried = 0;
    for (_, _, friendly) in every_attempt().filter(|(route, _, _)| chosen(route.name)) {
        for origin in origins {
            let attempt = Attempt { origin: Some((*origin).to_owned()), ..friendly.clone() };
            assert_eq!(attempt.refusal(), Refusal::Foreign, "{origin}");
            tried += 1;
        }
    }
    assert!(tried > 0);
}

#[test]
fn t03_any_origin_is_refused_on_every_route_even_with_the_right_credential() {
    check_origins(&ORIGINS, |_| true);
}

#[test]
fn t04_an_origin_on_cdp_is_refused_with_the_right_secret_too() {
    check_origins(&ORIGINS, |name| name == RouteName::Cdp);
    let cdp = ROUTES.iter().find(|route| route.name == RouteName::Cdp).expect("the CDP route");
    let opened = Attempt::friendly(cdp, Transport::Port(PORT), Credential::Address).made();
    assert!(opened.is_ok(), "the same request without an Origin is let in");
}

#[test]
fn t14_nothing_is_reachable_from_an_extension_whatever_it_holds() {
    let extensions = [
        "chrome-extension://abcdefghijklmnopabcdefghijklmnop",
        "moz-extension://11111111-2222-3333-4444-555555555555",
        "safari-web-extension://AAAAAAAA-0000-0000-0000-000000000000",
        "extension://abcdefghijklmnopabcdefghijklmnop",
    ];
    check_origins(&extensions, |_| true);
    // What an extension fetches without an Origin is still told apart from what a program of the user's sends.
    let mut tried = 0;
    for (route, _, friendly) in every_attempt().filter(|(route, _, _)| route.access != Access::Public) {
        for site in ["cross-site", "none", "same-site"] {
            let attempt = Attempt { fetch_site: Some(site.to_owned()), ..friendly.clone() };
            assert_eq!(attempt.refusal(), Refusal::Foreign, "{} {site}", route.path);
            tried += 1;
        }
    }
    assert!(tried > 100);
}

#[test]
fn t45_only_the_demo_and_that_it_lives_are_public() {
    let public: Vec<RouteName> =
        ROUTES.iter().filter(|route| route.access == Access::Public).map(|route| route.name).collect();
    assert_eq!(public, [RouteName::Demo, RouteName::Live]);
}

#[test]
fn t05_no_extension_subdomain_or_other_scheme_is_exempt() {
    let near = [
        "chrome-extension://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab",
        "chrome-extension://AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "chrome-extension://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.evil.test",
        "https://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "http://192.168.0.1",
        "vscode-webview://x",
        "app://localhost",
        "capacitor://localhost",
    ];
    check_origins(&near, |_| true);
}

#[test]
fn t05_one_extension_is_let_in_at_one_place_and_nobody_else() {
    let own = "chrome-extension://pimdfmoiaojahepkopikadchpocaecik";
    let friendly = Attempt {
        method: "GET".to_owned(),
        path: "/extension".to_owned(),
        origin: Some(own.to_owned()),
        ..Attempt::friendly(&ROUTES[0], Transport::Port(PORT), Credential::Nothing)
    };
    assert_eq!(friendly.made().expect("ours").scope, Scope::Extension);
    let localhost = Attempt { hosts: vec![format!("localhost:{PORT}")], ..friendly.clone() };
    assert!(localhost.made().is_ok());
    let near = [
        own.to_uppercase(),
        format!("{own}/"),
        format!("{own}.evil.test"),
        format!("x{own}"),
        own.replace("chrome-extension", "moz-extension"),
        own.replace("pim", "pin"),
        "chrome-extension://".to_owned(),
        "null".to_owned(),
    ];
    for origin in near {
        let attempt = Attempt { origin: Some(origin.clone()), ..friendly.clone() };
        assert_eq!(attempt.refusal(), Refusal::Foreign, "{origin}");
    }
    let without = Attempt { origin: None, ..friendly.clone() };
    assert_eq!(without.refusal(), Refusal::Unauthorised, "no Origin is no friend");
    for path in ["/extension/", "/Extension", "/v1/status", "/cdp", "/demo", "/extension/x"] {
        let attempt = Attempt { path: path.to_owned(), ..friendly.clone() };
        assert_eq!(attempt.refusal(), Refusal::Foreign, "{path}");
    }
    for method in ["POST", "HEAD", "OPTIONS", "get"] {
        let attempt = Attempt { method: method.to_owned(), ..friendly.clone() };
        assert_eq!(attempt.refusal(), Refusal::Foreign, "{method}");
    }
    for hosts in [vec![], vec!["evil.test:38017".to_owned()], vec![friendly.hosts[0].clone(); 2]] {
        assert_eq!(Attempt { hosts, ..friendly.clone() }.refusal(), Refusal::Foreign);
    }
    let bearer = Some(format!("Bearer {TOKEN}"));
    let token = Attempt { authorization: bearer, origin: None, ..friendly.clone() };
    assert_eq!(token.refusal(), Refusal::NotFound, "the token is valid on the port");
    let socket =
        Attempt { transport: Transport::Socket, hosts: vec!["tabwire.local".to_owned()], ..friendly };
    assert_eq!(socket.refusal(), Refusal::Foreign);
}

#[test]
fn t06_no_origin_and_no_token_is_not_a_friend() {
    let without =
        [Credential::Nothing, Credential::WrongToken, Credential::BareToken, Credential::WrongAddress];
    for (route, credential, attempt) in every_attempt() {
        if attempt.transport == Transport::Socket || !without.contains(&credential) {
            continue;
        }
        if route.access != Access::Public || credential == Credential::WrongAddress {
            assert_eq!(attempt.refusal(), Refusal::Unauthorised, "{attempt:?}");
        }
    }
}

#[test]
fn t07_the_gate_is_not_told_where_a_peer_connects_from() {
    // The transport says which listener a request came through; that it is a loopback port opens nothing.
    for route in ROUTES.iter().filter(|route| route.access != Access::Public) {
        for port in [1, 80, PORT, u16::MAX] {
            let attempt = Attempt::friendly(route, Transport::Port(port), Credential::Nothing);
            assert_eq!(attempt.refusal().status(), 401);
        }
    }
}

#[test]
fn t09_a_body_that_a_form_could_send_is_not_taken() {
    let simple = [
        "",
        "text/plain",
        "text/plain; charset=utf-8",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonp",
        "application/json5",
        "text/json",
        "application/vnd.api+json",
        "text/plain; application/json",
        "text/plain, application/json",
        "application /json",
        "\u{fffd}",
    ];
    for (_, credential, friendly) in every_attempt().filter(|(route, ..)| route.takes("POST")) {
        if friendly.made().is_err() {
            continue;
        }
        for kind in simple.iter().map(|kind| Some((*kind).to_owned())).chain([None]) {
            let attempt = Attempt { content_type: kind, ..friendly.clone() };
            assert_eq!(attempt.refusal(), Refusal::NotJson, "{credential:?} {attempt:?}");
            assert_eq!(attempt.refusal().status(), 415);
        }
    }
}

#[test]
fn t09_nothing_is_changed_by_a_get() {
    for route in ROUTES {
        // A new route has to be named here, and whether it only reads has to be thought about.
        let only_reads = match route.name {
            RouteName::Demo
            | RouteName::Live
            | RouteName::JsonVersion
            | RouteName::JsonList
            | RouteName::ClientSlot
            | RouteName::Actions
            | RouteName::Complete
            | RouteName::Progress
            | RouteName::Status => true,
            // Handshakes: browsers send an Origin with them, which is refused.
            RouteName::Cdp | RouteName::McpStream | RouteName::ChromeStream | RouteName::Extension => true,
            // Its GET only listens; what a client wants done it posts.
            RouteName::Mcp => false,
            RouteName::Action
            | RouteName::CdpUrl
            | RouteName::Policy
            | RouteName::Drain
            | RouteName::ExtensionStatus
            | RouteName::Stop => false,
        };
        let usual = route.methods.split(' ').next();
        assert_eq!(usual, Some(if only_reads { "GET" } else { "POST" }), "{route:?}");
        assert!(route.methods == "GET" || route.methods == "POST" || route.name == RouteName::Mcp);
    }
}

#[test]
fn t09_a_fetch_from_elsewhere_is_refused_on_every_route() {
    for (route, _, friendly) in every_attempt() {
        for site in ["cross-site", "same-site", "", "SAME-ORIGIN", "same-origin, cross-site", "\u{fffd}"] {
            let attempt = Attempt { fetch_site: Some(site.to_owned()), ..friendly.clone() };
            assert_eq!(attempt.refusal(), Refusal::Foreign, "{site:?}");
        }
        if route.access != Access::Public {
            let attempt = Attempt { fetch_site: Some("none".to_owned()), ..friendly };
            assert_eq!(attempt.refusal(), Refusal::Foreign, "typed by the user, yet not public");
        }
    }
}

#[test]
fn t09_each_route_takes_its_methods_and_no_other() {
    for (route, _, friendly) in every_attempt().filter(|(_, _, attempt)| attempt.made().is_ok()) {
        let methods =
            ["GET", "POST", "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "TRACE", "CONNECT", "X", ""];
        for method in methods.into_iter().filter(|method| !route.takes(method)) {
            let attempt = Attempt { method: method.to_owned(), ..friendly.clone() };
            assert_eq!(attempt.refusal(), Refusal::Method, "{method}");
        }
    }
}

#[test]
fn t10_what_is_there_and_what_is_not_are_refused_alike() {
    let without = [Credential::Nothing, Credential::WrongToken, Credential::WrongAddress];
    let methods = ["GET", "POST", "HEAD", "OPTIONS", "DELETE"];
    for route in ROUTES.iter().filter(|route| route.access != Access::Public) {
        for credential in without {
            for method in methods {
                for fetch_site in [None, Some("none"), Some("same-origin"), Some("cross-site")] {
                    let there = Attempt {
                        method: method.to_owned(),
                        fetch_site: fetch_site.map(str::to_owned),
                        ..Attempt::friendly(route, Transport::Port(PORT), credential)
                    };
                    let nowhere = Attempt { path: "/5f1c9a".to_owned(), ..there.clone() };
                    assert_eq!(there.refusal(), nowhere.refusal(), "{there:?}");
                }
            }
        }
    }
}

#[test]
fn t10_an_address_shows_nothing_of_what_lies_outside_its_session() {
    for route in ROUTES.iter().filter(|route| route.access == Access::User) {
        let there = Attempt::friendly(route, Transport::Port(PORT), Credential::Address);
        let nowhere = Attempt { path: format!("/{ONE}/nowhere"), ..there.clone() };
        assert_eq!((there.refusal(), nowhere.refusal()), (Refusal::Unauthorised, Refusal::Unauthorised));
    }
}

#[test]
fn t12_a_secret_counts_only_where_it_belongs() {
    let cdp = ROUTES.iter().find(|route| route.name == RouteName::Cdp).expect("the CDP route");
    let friendly = Attempt::friendly(cdp, Transport::Port(PORT), Credential::Nothing);
    let paths = [
        format!("/cdp?token={TOKEN}"),
        format!("/cdp?secret={ONE}"),
        format!("/cdp/{ONE}"),
        format!("/demo/{ONE}/cdp"),
        format!("/{ONE}cdp"),
        format!("/{ONE}//cdp"),
        format!("//{ONE}/cdp"),
        format!("/./{ONE}/cdp"),
        format!("/{ONE}/../cdp"),
        format!("/{ONE}/{TWO}/cdp"),
        format!("/{ONE}%2Fcdp"),
        format!("/{TOKEN}/cdp"),
        format!("{ONE}/cdp"),
        format!("http://127.0.0.1:{PORT}/{ONE}/cdp"),
        format!("/{ONE}"),
        format!("/{ONE}/"),
    ];
    for path in paths {
        assert_eq!(
            Attempt { path: path.clone(), ..friendly.clone() }.refusal(),
            Refusal::Unauthorised,
            "{path}"
        );
    }
    for authorization in
        [ONE, &format!("Bearer {ONE}"), &format!("Basic {TOKEN}"), &format!("Bearer  {TOKEN}")]
    {
        let attempt = Attempt { authorization: Some(authorization.to_owned()), ..friendly.clone() };
        assert_eq!(attempt.refusal(), Refusal::Unauthorised, "{authorization}");
    }
}

#[test]
fn every_route_opens_for_the_user_through_both_doors() {
    for route in ROUTES {
        for transport in TRANSPORTS {
            let admitted =
                Attempt::friendly(route, transport, Credential::RightToken).made().expect("the user");
            assert_eq!(admitted.route, route);
            assert_eq!(admitted.variable.as_deref(), route.path.ends_with('*').then_some("open"));
        }
    }
}
