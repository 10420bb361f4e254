//! Checks the Host header against the few exact spellings that name this daemon.

/// A Host that names this daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LocalAuthority;

impl LocalAuthority {
    /// Accepts `127.0.0.1` or `localhost` with our port. Other spellings of the address, a missing port and a trailing
    /// dot are refused, because DNS rebinding uses them (T02).
    pub(crate) fn parse(host: &str, port: u16) -> Option<Self> {
        let name = host.strip_suffix(&format!(":{port}"))?;
        matches!(name, "127.0.0.1" | "localhost").then_some(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::LocalAuthority;

    #[test]
    fn t02_only_two_spellings_are_local() {
        let port = 38_017;
        for good in ["127.0.0.1:38017", "localhost:38017"] {
            assert!(LocalAuthority::parse(good, port).is_some(), "{good}");
        }
        let bad = [
            "",
            "127.0.0.1",
            "localhost",
            "127.0.0.1:1",
            "127.0.0.1:038017",
            "127.0.0.1:38017 ",
            " 127.0.0.1:38017",
            "127.0.0.1:38017:38017",
            "127.1:38017",
            "127.0.0.01:38017",
            "0177.0.0.1:38017",
            "0x7f.0.0.1:38017",
            "2130706433:38017",
            "127.0.0.2:38017",
            "0.0.0.0:38017",
            "[::1]:38017",
            "[::ffff:127.0.0.1]:38017",
            "localhost6:38017",
            "localhost.:38017",
            "LOCALHOST:38017",
            "localhost.evil.test:38017",
            "evil.test:38017",
            "127.0.0.1.evil.test:38017",
            "evil.test@127.0.0.1:38017",
            "user@localhost:38017",
            "127.0.0.1.nip.io:38017",
            "127.0.0.1#:38017",
            "127.0.0.1/:38017",
            "http://127.0.0.1:38017",
            "127.0.0.1,evil.test:38017",
            "127.0.0.1\t:38017",
            "١٢٧.0.0.1:38017",
            "1.2.3.4:38017",
            "host.docker.internal:38017",
            "a.localhost:38017",
            "ip6-localhost:38017",
            "127.0.0.1:+38017",
            "127.0.0.1:38017\0",
            "%31%32%37.0.0.1:38017",
            "tabwire.local",
        ];
        for host in bad {
            assert!(LocalAuthority::parse(host, port).is_none(), "{host}");
        }
    }
}
