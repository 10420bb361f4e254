//! The Host header: forty refused spellings, and a reference parser for all others.

use proptest::prelude::*;
use tabwire_daemon::{Access, ROUTES, Refusal, Transport};

use crate::gate::attempt::{Attempt, Credential, PORT, every_attempt};

/// Names of this machine in other spellings, or names that resemble them.
const FOREIGN_HOSTS: [&str; 44] = [
    "",
    "rebind.test:38017",
    "rebind.test",
    "127.0.0.1",
    "localhost",
    "127.0.0.1:",
    "127.0.0.1:80",
    "127.0.0.1:38018",
    "127.0.0.1:038017",
    "127.0.0.1:+38017",
    "127.0.0.1:38017.0",
    "127.0.0.1:38017:38017",
    "127.0.0.1:38017 ",
    " 127.0.0.1:38017",
    "127.0.0.1 :38017",
    "127.0.0.1\t:38017",
    "127.0.0.1.:38017",
    "127.1:38017",
    "127.0.1:38017",
    "127.0.0.01:38017",
    "127.0.0.2:38017",
    "0177.0.0.1:38017",
    "0x7f.0.0.1:38017",
    "0x7f000001:38017",
    "2130706433:38017",
    "0:38017",
    "0.0.0.0:38017",
    "1.09.0.0:38017",
    "[::1]:38017",
    "[::]:38017",
    "[::ffff:127.0.0.1]:38017",
    "localhost6:38017",
    "localhost.:38017",
    "LOCALHOST:38017",
    "Localhost:38017",
    "localhost.rebind.test:38017",
    "localhost.localdomain:38017",
    "a.localhost:38017",
    "127.0.0.1.nip.io:38017",
    "user@127.0.0.1:38017",
    "rebind.test#@localhost:38017",
    "http://127.0.0.1:38017",
    "tabwire.local",
    "127.0.0.1:38017,rebind.test",
];

#[test]
fn t01_foreign_hosts_are_refused_with_any_credential() {
    for (_, _, valid) in every_attempt().filter(|(_, _, attempt)| attempt.transport != Transport::Socket) {
        for host in FOREIGN_HOSTS {
            let attempt = Attempt { hosts: vec![host.to_owned()], ..valid.clone() };
            assert_eq!(attempt.refusal(), Refusal::Foreign, "{host:?}");
        }
    }
}

#[test]
fn t01_a_request_with_no_host_or_with_two_is_refused() {
    for (_, _, valid) in every_attempt() {
        let own = valid.hosts[0].clone();
        for hosts in [vec![], vec![own.clone(), own.clone()], vec![own, "rebind.test".to_owned()]] {
            assert_eq!(Attempt { hosts, ..valid.clone() }.refusal(), Refusal::Foreign);
        }
    }
}

#[test]
fn t02_the_socket_host_is_accepted_on_the_socket_only() {
    for (_, _, valid) in every_attempt().filter(|(_, _, attempt)| attempt.transport == Transport::Socket) {
        let odd = ["127.0.0.1:38017", "localhost", "TABWIRE.LOCAL", "tabwire.local.", "tabwire.local:80"];
        for host in odd {
            let attempt = Attempt { hosts: vec![host.to_owned()], ..valid.clone() };
            assert_eq!(attempt.refusal(), Refusal::Foreign, "{host:?}");
        }
    }
}

/// Parses a Host by the grammar of the two accepted names.
fn reference(host: &str, port: u16) -> bool {
    let mut parts = host.split(':');
    let (Some(name), Some(digits), None) = (parts.next(), parts.next(), parts.next()) else { return false };
    let plain_number = !digits.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && (digits == "0" || !digits.starts_with('0'));
    let four: Vec<&str> = name.split('.').collect();
    let is_loopback = four == ["127", "0", "0", "1"];
    plain_number && digits.parse() == Ok(port) && (is_loopback || name == "localhost")
}

fn is_admitted(host: &str, port: u16) -> bool {
    let demo = ROUTES.iter().find(|route| route.access == Access::Public).expect("a public route");
    let valid = Attempt::valid(demo, Transport::Port(port), Credential::None);
    Attempt { hosts: vec![host.to_owned()], ..valid }.admit().is_ok()
}

/// Valid, nearly valid and arbitrary hosts.
fn hosts() -> impl Strategy<Value = String> {
    let name = prop_oneof![
        Just("127.0.0.1".to_owned()),
        Just("localhost".to_owned()),
        "(0?127|0177|0x7f|2130706433)(\\.0{1,3}){0,2}(\\.0?1)?",
        "[lL]ocalhost[.6]{0,2}",
        "[0-9a-fx.:\\[\\]@]{0,18}",
    ];
    let port = prop_oneof![Just("38017".to_owned()), "0{0,2}38017", "[+-]?[0-9]{0,6}", "\\PC{0,4}"];
    let separator = prop_oneof![8 => Just(":".to_owned()), 1 => "[: ,;@]{0,2}"];
    let near = (name, separator, port).prop_map(|(name, separator, port)| name + &separator + &port);
    prop_oneof![4 => near, 1 => any::<String>()]
}

fn ports() -> impl Strategy<Value = u16> {
    prop_oneof![Just(PORT), any::<u16>()]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn t02_the_gate_and_the_reference_agree_on_every_host(host in hosts(), port in ports()) {
        prop_assert_eq!(is_admitted(&host, port), reference(&host, port), "{:?}", host);
    }
}
