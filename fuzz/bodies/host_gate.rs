//! No request passes the gate without the right secret, whatever else it contains.
//!
//! The input is a request in lines: transport (`s` for the socket, else a port), method, path, hosts separated by
//! `|`, Origin, Sec-Fetch-Site, Authorization, Content-Type. `-` or nothing means that a header is absent.

use tabwire_api::SessionKey;
use tabwire_api::api::SOCKET_HOST;
use tabwire_daemon::{Access, Gate, RequestHead, Scope, Secrets, Token, Transport};

/// The daemon's token in this test.
const TOKEN: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

/// The secret of the session's CDP URL.
const SECRET: &str = "ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100";

/// The secret of the MCP URL.
const MCP: &str = "4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d";

struct OneSession;

impl Secrets for OneSession {
    fn find_session(&self, secret: &str) -> Option<SessionKey> {
        (secret == SECRET).then(SessionKey::default)
    }

    fn is_mcp(&self, secret: &str) -> bool {
        secret == MCP
    }

    fn find_open_port(&self, port: u16) -> Option<SessionKey> {
        let _ = port;
        None
    }
}

/// The extension's Origin, which is accepted on one route only.
const EXTENSION: &str = "chrome-extension://pimdfmoiaojahepkopikadchpocaecik";

/// Passes one request to the gate.
pub(crate) fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let mut lines = text.split('\n');
    let mut line = || lines.next().unwrap_or_default();
    let transport = match line() {
        "s" => Transport::Socket,
        port => Transport::Port(port.parse().unwrap_or(38_017)),
    };
    let (method, path, hosts) = (line(), line(), line());
    let mut header = || Some(line()).filter(|value| !matches!(*value, "" | "-"));
    let head = RequestHead {
        method,
        path,
        hosts: if hosts.is_empty() { Vec::new() } else { hosts.split('|').collect() },
        origin: header(),
        fetch_site: header(),
        authorization: header(),
        content_type: header(),
    };
    let gate = Gate::new(Token::find(TOKEN).expect("64 digits"));
    let Ok(admitted) = gate.admit(transport, &head, &OneSession) else { return };
    if admitted.scope == Scope::Extension {
        assert_eq!((head.origin, head.path, head.method), (Some(EXTENSION), "/extension", "GET"));
        assert_eq!(admitted.route.access, Access::Extension, "it opens nothing else");
    } else {
        assert_eq!(head.origin, None, "no page is let in");
        assert!(matches!(head.fetch_site, None | Some("same-origin" | "none")));
    }
    assert!(admitted.route.takes(head.method));
    let [host] = head.hosts.as_slice() else { panic!("one Host, not {:?}", head.hosts) };
    match transport {
        Transport::Socket => assert_eq!((*host, &admitted.scope), (SOCKET_HOST, &Scope::User)),
        Transport::Port(port) => {
            assert!(*host == format!("127.0.0.1:{port}") || *host == format!("localhost:{port}"));
            check_secret(&head, &admitted.scope, admitted.route.access);
        }
        // No session has an open port here.
        Transport::OpenPort(_) => assert_eq!(admitted.scope, Scope::Public),
    }
    if head.method == "POST" {
        let kind = head.content_type.expect("a body has a type").to_ascii_lowercase();
        assert!(kind.trim().starts_with("application/json"));
    }
}

fn check_secret(head: &RequestHead<'_>, scope: &Scope, access: Access) {
    match scope {
        Scope::User => assert_eq!(head.authorization, Some(format!("Bearer {TOKEN}").as_str())),
        Scope::Session(_) => {
            assert!(head.path.starts_with(&format!("/{SECRET}/")));
            assert!(
                matches!(access, Access::Public | Access::Session),
                "an address opens its session and nothing else"
            );
        }
        Scope::Mcp => {
            assert!(head.path.starts_with(&format!("/{MCP}/")));
            assert!(matches!(access, Access::Public | Access::Mcp), "an address opens MCP and nothing else");
        }
        Scope::Public => assert_eq!(access, Access::Public),
        Scope::Extension => assert_eq!(access, Access::Extension),
    }
}
