//! The rows of the threat table that the gate alone defends against.

use tabwire_daemon::{Access, ROUTES, Refusal, RouteName, Scope, Transport};

use crate::gate::attempt::{Attempt, Credential, ONE, PORT, TOKEN, TWO, every_attempt};

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
    for (_, _, valid) in every_attempt().filter(|(route, _, _)| chosen(route.name)) {
        for origin in origins {
            let attempt = Attempt { origin: Some((*origin).to_owned()), ..valid.clone() };
            assert_eq!(attempt.refusal(), Refusal::Foreign, "{origin}");
            tried += 1;
        }
    }
    assert!(tried > 0);
}

#[test]
fn t03_any_origin_is_refused_even_with_the_right_credential() {
    check_origins(&ORIGINS, |_| true);
}

#[test]
fn t04_an_origin_on_cdp_is_refused_with_the_right_secret_too() {
    check_origins(&ORIGINS, |name| name == RouteName::Cdp);
    let cdp = ROUTES.iter().find(|route| route.name == RouteName::Cdp).expect("the CDP route");
    let opened = Attempt::valid(cdp, Transport::Port(PORT), Credential::Address).admit();
    assert!(opened.is_ok(), "the same request without an Origin is admitted");
}

#[test]
fn t14_other_extensions_reach_no_route_with_any_credential() {
    let extensions = [
        "chrome-extension://abcdefghijklmnopabcdefghijklmnop",
        "moz-extension://11111111-2222-3333-4444-555555555555",
        "safari-web-extension://AAAAAAAA-0000-0000-0000-000000000000",
        "extension://abcdefghijklmnopabcdefghijklmnop",
    ];
    check_origins(&extensions, |_| true);
    // Without an Origin, `Sec-Fetch-Site` still distinguishes a fetch of an extension from a request of a program.
    let mut tried = 0;
    for (route, _, valid) in every_attempt().filter(|(route, _, _)| route.access != Access::Public) {
        for site in ["cross-site", "none", "same-site"] {
            let attempt = Attempt { fetch_site: Some(site.to_owned()), ..valid.clone() };
            assert_eq!(attempt.refusal(), Refusal::Foreign, "{} {site}", route.path);
            tried += 1;
        }
    }
    assert!(tried > 100);
}

#[test]
fn t45_only_demo_and_live_are_public() {
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
fn t05_only_our_extension_is_admitted_at_one_route() {
    let own = "chrome-extension://pimdfmoiaojahepkopikadchpocaecik";
    let valid = Attempt {
        method: "GET".to_owned(),
        path: "/extension".to_owned(),
        origin: Some(own.to_owned()),
        ..Attempt::valid(&ROUTES[0], Transport::Port(PORT), Credential::None)
    };
    assert_eq!(valid.admit().expect("ours").scope, Scope::Extension);
    let localhost = Attempt { hosts: vec![format!("localhost:{PORT}")], ..valid.clone() };
    assert!(localhost.admit().is_ok());
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
        let attempt = Attempt { origin: Some(origin.clone()), ..valid.clone() };
        assert_eq!(attempt.refusal(), Refusal::Foreign, "{origin}");
    }
    let without = Attempt { origin: None, ..valid.clone() };
    assert_eq!(without.refusal(), Refusal::Unauthorised, "a request without Origin is refused");
    for path in ["/extension/", "/Extension", "/v1/status", "/cdp", "/demo", "/extension/x"] {
        let attempt = Attempt { path: path.to_owned(), ..valid.clone() };
        assert_eq!(attempt.refusal(), Refusal::Foreign, "{path}");
    }
    for method in ["POST", "HEAD", "OPTIONS", "get"] {
        let attempt = Attempt { method: method.to_owned(), ..valid.clone() };
        assert_eq!(attempt.refusal(), Refusal::Foreign, "{method}");
    }
    for hosts in [vec![], vec!["evil.test:38017".to_owned()], vec![valid.hosts[0].clone(); 2]] {
        assert_eq!(Attempt { hosts, ..valid.clone() }.refusal(), Refusal::Foreign);
    }
    let bearer = Some(format!("Bearer {TOKEN}"));
    let token = Attempt { authorization: bearer, origin: None, ..valid.clone() };
    assert_eq!(token.refusal(), Refusal::NotFound, "the token is valid on the port");
    let socket = Attempt { transport: Transport::Socket, hosts: vec!["tabwire.local".to_owned()], ..valid };
    assert_eq!(socket.refusal(), Refusal::Foreign);
}

#[test]
fn t06_requests_without_a_valid_token_are_refused() {
    let without = [Credential::None, Credential::WrongToken, Credential::BareToken, Credential::WrongSecret];
    for (route, credential, attempt) in every_attempt() {
        if !matches!(attempt.transport, Transport::Port(_)) || !without.contains(&credential) {
            continue;
        }
        if route.access != Access::Public || credential == Credential::WrongSecret {
            assert_eq!(attempt.refusal(), Refusal::Unauthorised, "{attempt:?}");
        }
    }
}

#[test]
fn t07_a_loopback_peer_gets_no_extra_rights() {
    // The gate knows only which listener accepted a request. A loopback port gives no rights.
    for route in ROUTES.iter().filter(|route| route.access != Access::Public) {
        for port in [1, 80, PORT, u16::MAX] {
            let attempt = Attempt::valid(route, Transport::Port(port), Credential::None);
            assert_eq!(attempt.refusal().status(), 401);
        }
    }
}

#[test]
fn t09_content_types_that_forms_send_are_refused() {
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
    for (_, credential, valid) in every_attempt().filter(|(route, ..)| route.takes("POST")) {
        if valid.admit().is_err() {
            continue;
        }
        for kind in simple.iter().map(|kind| Some((*kind).to_owned())).chain([None]) {
            let attempt = Attempt { method: "POST".to_owned(), content_type: kind, ..valid.clone() };
            assert_eq!(attempt.refusal(), Refusal::NotJson, "{credential:?} {attempt:?}");
            assert_eq!(attempt.refusal().status(), 415);
        }
    }
}

#[test]
fn the_dashboard_is_served_to_its_own_origin_at_the_literal_address_only() {
    let own = format!("http://127.0.0.1:{PORT}");
    let base = Attempt {
        method: "GET".to_owned(),
        hosts: vec![format!("127.0.0.1:{PORT}")],
        ..Attempt::valid(&ROUTES[0], Transport::Port(PORT), Credential::None)
    };
    let at = |method: &str, path: &str, origin: Option<&str>| Attempt {
        method: method.to_owned(),
        path: path.to_owned(),
        origin: origin.map(str::to_owned),
        content_type: Some("application/json".to_owned()),
        ..base.clone()
    };
    let pages = ["/dashboard", "/dashboard/dashboard.js", "/dashboard/shared/element.js"];
    for path in pages {
        for origin in [None, Some(own.as_str())] {
            assert_eq!(at("GET", path, origin).admit().expect("its files").scope, Scope::Public, "{path}");
        }
        assert_eq!(at("POST", path, Some(&own)).refusal(), Refusal::Method, "{path}");
    }
    for (method, path) in [
        ("POST", "/dashboard/enter"),
        ("GET", "/dashboard/line"),
        ("GET", "/dashboard/live"),
        ("GET", "/dashboard/chats"),
    ] {
        assert!(at(method, path, Some(&own)).admit().is_ok(), "{path}");
        assert_eq!(at(method, path, None).refusal(), Refusal::Foreign, "{path} without its page");
    }
    let near = [
        format!("http://localhost:{PORT}"),
        format!("https://127.0.0.1:{PORT}"),
        format!("http://127.0.0.1:{}", PORT + 1),
        format!("http://127.0.0.1:{PORT}/"),
        "http://127.0.0.1".to_owned(),
        "null".to_owned(),
        "https://evil.test".to_owned(),
        "chrome-extension://pimdfmoiaojahepkopikadchpocaecik".to_owned(),
    ];
    for (method, path) in pages.iter().map(|path| ("GET", *path)).chain([
        ("POST", "/dashboard/enter"),
        ("GET", "/dashboard/line"),
        ("GET", "/dashboard/live"),
        ("GET", "/dashboard/chats"),
    ]) {
        for origin in &near {
            assert_eq!(at(method, path, Some(origin)).refusal(), Refusal::Foreign, "{path} {origin}");
        }
        for host in [
            format!("localhost:{PORT}"),
            format!("[::1]:{PORT}"),
            "127.0.0.1".to_owned(),
            "evil.test".to_owned(),
        ] {
            let attempt = Attempt { hosts: vec![host.clone()], ..at(method, path, Some(&own)) };
            assert_eq!(attempt.refusal(), Refusal::Foreign, "{path} {host}");
        }
        for site in ["cross-site", "same-site"] {
            let attempt = Attempt { fetch_site: Some(site.to_owned()), ..at(method, path, Some(&own)) };
            assert_eq!(attempt.refusal(), Refusal::Foreign, "{path} {site}");
        }
    }
    // Its origin opens nothing else.
    for path in ["/v1/status", "/v1/dashboard", "/v1/events", "/cdp", "/demo"] {
        assert_eq!(at("GET", path, Some(&own)).refusal(), Refusal::Foreign, "{path}");
    }
}

#[test]
fn a_file_of_the_user_leads_to_the_dashboards_page_and_nothing_else() {
    let own = format!("http://127.0.0.1:{PORT}");
    let led = |path: &str, origin: Option<&str>| Attempt {
        method: "GET".to_owned(),
        path: path.to_owned(),
        hosts: vec![format!("127.0.0.1:{PORT}")],
        origin: origin.map(str::to_owned),
        fetch_site: Some("cross-site".to_owned()),
        ..Attempt::valid(&ROUTES[0], Transport::Port(PORT), Credential::None)
    };
    assert_eq!(led("/dashboard", None).admit().expect("the page").scope, Scope::Public);
    for origin in [own.as_str(), "null", "https://evil.test"] {
        assert_eq!(led("/dashboard", Some(origin)).refusal(), Refusal::Foreign, "{origin}");
    }
    for path in ["/dashboard/dashboard.js", "/dashboard/shared/element.js", "/dashboard/line", "/demo"] {
        assert_eq!(led(path, None).refusal(), Refusal::Foreign, "{path}");
    }
}

#[test]
fn t09_get_requests_change_nothing() {
    for route in ROUTES {
        // Add each new route here, and decide whether it only reads.
        let only_reads = match route.name {
            RouteName::Demo
            | RouteName::Live
            | RouteName::JsonVersion
            | RouteName::JsonList
            | RouteName::JsonProtocol
            | RouteName::ClientSlot
            | RouteName::Actions
            | RouteName::Complete
            | RouteName::Progress
            | RouteName::Events
            | RouteName::ChatEvents
            | RouteName::ChatAgents
            | RouteName::DashboardFile
            | RouteName::DashboardLine
            | RouteName::DashboardLive
            | RouteName::DashboardChats
            | RouteName::Status => true,
            // Handshakes: browsers send an Origin with them, which is refused.
            RouteName::Cdp
            | RouteName::CdpPage
            | RouteName::McpStream
            | RouteName::ChromeStream
            | RouteName::Extension => true,
            // As Chrome's: its clients close pages with GET. A page cannot: its browser adds Sec-Fetch-Site, which is
            // refused, and it does not know the target's id.
            RouteName::JsonActivate | RouteName::JsonClose => {
                assert_eq!(route.methods, "GET PUT");
                continue;
            }
            // Their GET only reads.
            RouteName::Chats => {
                assert_eq!(route.methods, "GET POST");
                continue;
            }
            RouteName::Chat => {
                assert_eq!(route.methods, "GET DELETE");
                continue;
            }
            RouteName::JsonNew => {
                assert_eq!(route.methods, "PUT");
                continue;
            }
            // Its GET only receives messages. Requests are POSTs.
            RouteName::Mcp => false,
            RouteName::Action
            | RouteName::Execute
            | RouteName::Reset
            | RouteName::CdpUrl
            | RouteName::DashboardUrl
            | RouteName::DashboardEnter
            | RouteName::Policy
            | RouteName::ChatCommand
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
    for (route, _, valid) in every_attempt() {
        for site in ["cross-site", "same-site", "", "SAME-ORIGIN", "same-origin, cross-site", "\u{fffd}"] {
            let attempt = Attempt { fetch_site: Some(site.to_owned()), ..valid.clone() };
            assert_eq!(attempt.refusal(), Refusal::Foreign, "{site:?}");
        }
        if route.access != Access::Public {
            let attempt = Attempt { fetch_site: Some("none".to_owned()), ..valid };
            assert_eq!(attempt.refusal(), Refusal::Foreign, "typed by the user, yet not public");
        }
    }
}

#[test]
fn t09_each_route_accepts_only_its_methods() {
    for (route, _, valid) in every_attempt().filter(|(_, _, attempt)| attempt.admit().is_ok()) {
        let methods =
            ["GET", "POST", "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "TRACE", "CONNECT", "X", ""];
        for method in methods.into_iter().filter(|method| !route.takes(method)) {
            let attempt = Attempt { method: method.to_owned(), ..valid.clone() };
            assert_eq!(attempt.refusal(), Refusal::Method, "{method}");
        }
    }
}

#[test]
fn t10_existing_and_unknown_paths_get_the_same_refusal() {
    let without = [Credential::None, Credential::WrongToken, Credential::WrongSecret];
    let methods = ["GET", "POST", "HEAD", "OPTIONS", "DELETE"];
    for route in ROUTES.iter().filter(|route| route.access != Access::Public) {
        for credential in without {
            for method in methods {
                for fetch_site in [None, Some("none"), Some("same-origin"), Some("cross-site")] {
                    let there = Attempt {
                        method: method.to_owned(),
                        fetch_site: fetch_site.map(str::to_owned),
                        ..Attempt::valid(route, Transport::Port(PORT), credential)
                    };
                    let nowhere = Attempt { path: "/5f1c9a".to_owned(), ..there.clone() };
                    assert_eq!(there.refusal(), nowhere.refusal(), "{there:?}");
                }
            }
        }
    }
}

#[test]
fn t10_a_session_url_reaches_no_other_route() {
    for route in ROUTES.iter().filter(|route| route.access == Access::User) {
        let there = Attempt::valid(route, Transport::Port(PORT), Credential::Address);
        let nowhere = Attempt { path: format!("/{ONE}/nowhere"), ..there.clone() };
        assert_eq!((there.refusal(), nowhere.refusal()), (Refusal::Unauthorised, Refusal::Unauthorised));
    }
}

#[test]
fn t12_a_secret_is_valid_only_in_its_place() {
    let cdp = ROUTES.iter().find(|route| route.name == RouteName::Cdp).expect("the CDP route");
    let valid = Attempt::valid(cdp, Transport::Port(PORT), Credential::None);
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
            Attempt { path: path.clone(), ..valid.clone() }.refusal(),
            Refusal::Unauthorised,
            "{path}"
        );
    }
    for authorization in
        [ONE, &format!("Bearer {ONE}"), &format!("Basic {TOKEN}"), &format!("Bearer  {TOKEN}")]
    {
        let attempt = Attempt { authorization: Some(authorization.to_owned()), ..valid.clone() };
        assert_eq!(attempt.refusal(), Refusal::Unauthorised, "{authorization}");
    }
}

#[test]
fn every_route_admits_the_user_on_both_transports() {
    for route in ROUTES {
        for transport in [Transport::Socket, Transport::Port(PORT)] {
            let admitted =
                Attempt::valid(route, transport, Credential::RightToken).admit().expect("the user");
            assert_eq!(admitted.route, route);
            assert_eq!(admitted.variable.as_deref(), route.path.contains('*').then_some("open"));
        }
    }
}
