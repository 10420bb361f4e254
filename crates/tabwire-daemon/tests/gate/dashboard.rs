//! Every route of the dashboard with every sender, against a second implementation of the rules.

use tabwire_daemon::{Access, DASHBOARD_ROUTES, Refusal, Route, Scope, Transport};

use crate::gate::attempt::{Attempt, Credential, MCP, ONE, OPEN_PORT, PORT, TRANSPORTS};

const METHODS: [&str; 6] = ["GET", "POST", "HEAD", "OPTIONS", "PUT", "get"];
const SITES: [Option<&str>; 5] =
    [None, Some("same-origin"), Some("none"), Some("same-site"), Some("cross-site")];
const CONTENT_TYPES: [Option<&str>; 3] = [None, Some("application/json"), Some("text/plain")];

/// Who sends a request, by its Origin header.
const ORIGINS: [Option<&str>; 9] = [
    None,
    Some("http://127.0.0.1:38017"),
    Some("http://localhost:38017"),
    Some("http://127.0.0.1:38018"),
    Some("https://127.0.0.1:38017"),
    Some("http://127.0.0.1:38117"),
    Some("null"),
    Some("https://evil.test"),
    Some("chrome-extension://pimdfmoiaojahepkopikadchpocaecik"),
];

fn hosts(transport: Transport) -> [Vec<String>; 5] {
    let own = match transport {
        Transport::Socket => "tabwire.local".to_owned(),
        Transport::Port(port) | Transport::OpenPort(port) => format!("127.0.0.1:{port}"),
    };
    [
        vec![own.clone()],
        vec![format!("localhost:{PORT}")],
        vec!["evil.test:38017".to_owned()],
        Vec::new(),
        vec![own.clone(), own],
    ]
}

/// The expected response, decided without the gate's code.
fn expected(route: &Route, credential: Credential, attempt: &Attempt) -> Result<Scope, Refusal> {
    let has_secret = matches!(
        credential,
        Credential::Address | Credential::OtherAddress | Credential::WrongSecret | Credential::McpAddress
    );
    let host = attempt.hosts.as_slice();
    if attempt.transport == Transport::Port(PORT) && !has_secret {
        let is_page = route.access == Access::Public;
        let is_own = attempt.origin.as_deref() == Some("http://127.0.0.1:38017");
        let is_sender = is_own || (is_page && attempt.origin.is_none());
        let is_site = match attempt.fetch_site.as_deref() {
            None | Some("same-origin") => true,
            Some("cross-site") => route.path == "/dashboard" && attempt.origin.is_none(),
            other => is_page && other == Some("none"),
        };
        if host != ["127.0.0.1:38017"] || !is_sender || !is_site {
            return Err(Refusal::Foreign);
        }
        return match (route.methods == attempt.method, attempt.method.as_str()) {
            (false, _) => Err(Refusal::Method),
            (true, "POST") if attempt.content_type.as_deref() != Some("application/json") => {
                Err(Refusal::NotJson)
            }
            // The token gives no more than nothing: the handler wants a ticket or a key.
            _ => Ok(Scope::Public),
        };
    }
    // Anywhere else these are no routes at all.
    let is_host = match attempt.transport {
        Transport::Socket => host == ["tabwire.local"],
        Transport::Port(_) => host == ["127.0.0.1:38017"] || host == ["localhost:38017"],
        Transport::OpenPort(_) => host == ["127.0.0.1:38117"],
    };
    let is_site = matches!(attempt.fetch_site.as_deref(), None | Some("same-origin"));
    if !is_host || attempt.origin.is_some() || !is_site {
        return Err(Refusal::Foreign);
    }
    let is_user = attempt.transport == Transport::Socket;
    Err(if is_user { Refusal::NotFound } else { Refusal::Unauthorised })
}

#[test]
fn every_dashboard_route_decides_on_every_sender() {
    let (mut tried, mut admitted) = (0_usize, 0_usize);
    for route in DASHBOARD_ROUTES {
        for transport in TRANSPORTS {
            for credential in Credential::ALL {
                let valid = Attempt::valid(route, transport, credential);
                for (hosts, origin) in hosts(transport)
                    .into_iter()
                    .flat_map(|hosts| ORIGINS.map(|origin| (hosts.clone(), origin.map(str::to_owned))))
                {
                    for (fetch_site, method, content_type) in headers() {
                        let attempt = Attempt {
                            method: method.to_owned(),
                            hosts: hosts.clone(),
                            origin: origin.clone(),
                            fetch_site: fetch_site.map(str::to_owned),
                            content_type: content_type.map(str::to_owned),
                            ..valid.clone()
                        };
                        let response = attempt.admit().map(|admitted| {
                            assert_eq!(admitted.route, route);
                            admitted.scope
                        });
                        assert_eq!(response, expected(route, credential, &attempt), "{attempt:?}");
                        tried += 1;
                        admitted += usize::from(response.is_ok());
                    }
                }
            }
        }
    }
    assert!(tried > 500_000 && admitted > 50 && admitted * 100 < tried, "{admitted} of {tried}");
}

fn headers() -> impl Iterator<Item = (Option<&'static str>, &'static str, Option<&'static str>)> {
    SITES.into_iter().flat_map(|site| {
        METHODS
            .into_iter()
            .flat_map(move |method| CONTENT_TYPES.into_iter().map(move |kind| (site, method, kind)))
    })
}

#[test]
fn the_dashboard_has_no_other_paths_and_no_secret_leads_there() {
    let own = Some("http://127.0.0.1:38017".to_owned());
    let page = DASHBOARD_ROUTES.iter().find(|route| route.path == "/dashboard").expect("the page");
    let valid = Attempt::valid(page, Transport::Port(PORT), Credential::None);
    assert!(valid.admit().is_ok());
    for path in [
        "/dashboard/",
        "/Dashboard",
        "//dashboard",
        "/dashboard//line",
        "/dashboard/views/",
        "/dashboard/views/a/b.js",
        "/dashboard/live/a/b.js",
        "/dashboard/other/a.js",
        "/dashboard%2Fline",
        "/demo/dashboard",
        &format!("/{ONE}/dashboard"),
        &format!("/{MCP}/dashboard/line"),
    ] {
        let attempt = Attempt { path: path.to_owned(), ..valid.clone() };
        assert_eq!(attempt.refusal(), Refusal::Unauthorised, "{path}");
        let with_origin = Attempt { origin: own.clone(), ..attempt };
        assert_eq!(with_origin.refusal(), Refusal::Foreign, "{path}");
    }
    let open = Attempt::valid(page, Transport::OpenPort(OPEN_PORT), Credential::None);
    assert_eq!(open.refusal(), Refusal::Unauthorised, "an open port is one session's");
}
