//! Nobody gets past the gate without the right secret, whatever else a request says.
//!
//! The input is a request in lines: door (`s` for the socket, else a port), method, path, hosts separated by
//! `|`, Origin, Sec-Fetch-Site, Authorization, Content-Type. `-` or nothing means that a header is absent.

use tabwire_daemon::{Access, Door, Gate, Scope, Secrets, Token, Visit};
use tabwire_wire::SessionKey;
use tabwire_wire::api::SOCKET_HOST;

/// The daemon's token in this test.
const TOKEN: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

/// The one session's address secret.
const SECRET: &str = "ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100";

/// The secret of the address that MCP clients are given.
const MCP: &str = "4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d";

struct OneSession;

impl Secrets for OneSession {
    fn find_session(&self, secret: &str) -> Option<SessionKey> {
        (secret == SECRET).then(SessionKey::default)
    }

    fn is_mcp(&self, secret: &str) -> bool {
        secret == MCP
    }
}

/// The one Origin that is let in, at one place.
const EXTENSION: &str = "chrome-extension://pimdfmoiaojahepkopikadchpocaecik";

/// Lets one request try.
pub(crate) fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let mut lines = text.split('\n');
    let mut line = || lines.next().unwrap_or_default();
    let door = match line() {
        "s" => Door::Socket,
        port => Door::Port(port.parse().unwrap_or(38_017)),
    };
    let (method, path, hosts) = (line(), line(), line());
    let mut header = || Some(line()).filter(|value| !matches!(*value, "" | "-"));
    let visit = Visit {
        method,
        path,
        hosts: if hosts.is_empty() { Vec::new() } else { hosts.split('|').collect() },
        origin: header(),
        fetch_site: header(),
        authorization: header(),
        content_type: header(),
    };
    let gate = Gate::new(Token::find(TOKEN).expect("64 digits"));
    let Ok(admitted) = gate.admit(door, &visit, &OneSession) else { return };
    if admitted.scope == Scope::Extension {
        assert_eq!((visit.origin, visit.path, visit.method), (Some(EXTENSION), "/extension", "GET"));
        assert_eq!(admitted.route.access, Access::Extension, "it opens nothing else");
    } else {
        assert_eq!(visit.origin, None, "no page is let in");
        assert!(matches!(visit.fetch_site, None | Some("same-origin" | "none")));
    }
    assert!(admitted.route.takes(visit.method));
    let [host] = visit.hosts.as_slice() else { panic!("one Host, not {:?}", visit.hosts) };
    match door {
        Door::Socket => assert_eq!((*host, &admitted.scope), (SOCKET_HOST, &Scope::User)),
        Door::Port(port) => {
            assert!(*host == format!("127.0.0.1:{port}") || *host == format!("localhost:{port}"));
            check_secret(&visit, &admitted.scope, admitted.route.access);
        }
    }
    if visit.method == "POST" {
        let kind = visit.content_type.expect("a body has a type").to_ascii_lowercase();
        assert!(kind.trim().starts_with("application/json"));
    }
}

fn check_secret(visit: &Visit<'_>, scope: &Scope, access: Access) {
    match scope {
        Scope::User => assert_eq!(visit.authorization, Some(format!("Bearer {TOKEN}").as_str())),
        Scope::Session(_) => {
            assert!(visit.path.starts_with(&format!("/{SECRET}/")));
            assert!(
                matches!(access, Access::Public | Access::Session),
                "an address opens its session and nothing else"
            );
        }
        Scope::Mcp => {
            assert!(visit.path.starts_with(&format!("/{MCP}/")));
            assert!(matches!(access, Access::Public | Access::Mcp), "an address opens MCP and nothing else");
        }
        Scope::Public => assert_eq!(access, Access::Public),
        Scope::Extension => assert_eq!(access, Access::Extension),
    }
}
