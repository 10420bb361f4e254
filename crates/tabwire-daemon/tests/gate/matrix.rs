//! Every combination of headers, against a second implementation of the rules.

use tabwire_daemon::{Access, Refusal, Route, Scope, Transport};

use crate::gate::attempt::{Attempt, Credential, every_attempt, scope_of};

const METHODS: [&str; 7] = ["GET", "POST", "HEAD", "OPTIONS", "PUT", "DELETE", "get"];
const SITES: [Option<&str>; 6] =
    [None, Some("same-origin"), Some("none"), Some("same-site"), Some("cross-site"), Some("")];
const CONTENT_TYPES: [Option<&str>; 5] = [
    None,
    Some("application/json"),
    Some("Application/JSON; charset=utf-8"),
    Some("text/plain"),
    Some("application/x-www-form-urlencoded"),
];

/// The expected response, decided without the gate's code.
fn expected(route: &Route, credential: Credential, attempt: &Attempt) -> Result<Scope, Refusal> {
    let host = match attempt.transport {
        Transport::Socket => ["tabwire.local".to_owned(), "tabwire.local".to_owned()],
        Transport::Port(port) | Transport::OpenPort(port) => {
            [format!("127.0.0.1:{port}"), format!("localhost:{port}")]
        }
    };
    let from_here = attempt.hosts.len() == 1 && host.contains(&attempt.hosts[0]);
    if !from_here || attempt.origin.is_some() {
        return Err(Refusal::Foreign);
    }
    let scope = scope_of(credential, attempt.transport, route.access);
    // A wrong secret makes the path unknown, as does any secret on the socket.
    let leads_somewhere = match credential {
        Credential::WrongSecret => false,
        Credential::Address | Credential::OtherAddress | Credential::McpAddress => {
            matches!(attempt.transport, Transport::Port(_))
        }
        _ => true,
    };
    let public = route.access == Access::Public && leads_somewhere;
    match attempt.fetch_site.as_deref() {
        None | Some("same-origin") => {}
        Some("none") if public => {}
        Some(_) => return Err(Refusal::Foreign),
    }
    let Some(scope) = scope else {
        let user = attempt.transport == Transport::Socket;
        return Err(if user { Refusal::NotFound } else { Refusal::Unauthorised });
    };
    if !route.takes(&attempt.method) {
        return Err(Refusal::Method);
    }
    let json = attempt
        .content_type
        .as_deref()
        .is_some_and(|kind| kind.to_ascii_lowercase().starts_with("application/json"));
    if attempt.method == "POST" && !json { Err(Refusal::NotJson) } else { Ok(scope) }
}

#[test]
fn every_combination_gets_the_expected_response() {
    let mut tried = 0_usize;
    let mut admitted = 0_usize;
    for (route, credential, valid) in every_attempt() {
        let other_hosts: [Vec<String>; 4] = [
            valid.hosts.clone(),
            vec!["evil.test:38017".to_owned()],
            Vec::new(),
            vec![valid.hosts[0].clone(), valid.hosts[0].clone()],
        ];
        for hosts in &other_hosts {
            for origin in [None, Some("null"), Some("https://evil.test")] {
                for (fetch_site, method, content_type) in headers() {
                    let attempt = Attempt {
                        method: method.to_owned(),
                        hosts: hosts.clone(),
                        origin: origin.map(str::to_owned),
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
    assert!(tried > 300_000 && admitted > 100 && admitted * 100 < tried, "{admitted} of {tried}");
}

fn headers() -> impl Iterator<Item = (Option<&'static str>, &'static str, Option<&'static str>)> {
    SITES.into_iter().flat_map(|site| {
        METHODS
            .into_iter()
            .flat_map(move |method| CONTENT_TYPES.into_iter().map(move |kind| (site, method, kind)))
    })
}
