//! Nearly valid and arbitrary secrets.

use proptest::prelude::*;
use tabwire_daemon::{Access, ROUTES, Refusal, Route, Transport};

use crate::gate::attempt::{Attempt, Credential, ONE, PORT, TOKEN, TWO};

/// Texts similar to a secret, and arbitrary texts.
fn near(secret: &'static str) -> impl Strategy<Value = String> {
    let changed = (0..64_usize, any::<char>()).prop_map(move |(at, letter)| {
        let mut letters: Vec<char> = secret.chars().collect();
        letters[at] = letter;
        letters.into_iter().collect::<String>()
    });
    prop_oneof![
        changed,
        (0..=64_usize).prop_map(move |length| secret[..length].to_owned()),
        (0..=64_usize).prop_map(move |start| secret[start..].to_owned()),
        "[ \\t,;\u{0}]{1,2}".prop_map(move |tail| format!("{secret}{tail}")),
        "[ \\t,;\u{0}]{1,2}".prop_map(move |head| format!("{head}{secret}")),
        Just(secret.to_uppercase()),
        Just(format!("{secret}{secret}")),
        "[0-9a-f]{64}",
        any::<String>(),
    ]
}

fn closed_routes() -> impl Strategy<Value = &'static Route> {
    let closed: Vec<&'static Route> = ROUTES.iter().filter(|route| route.access != Access::Public).collect();
    prop::sample::select(closed)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn t06_only_the_exact_token_is_accepted(presented in near(TOKEN), route in closed_routes()) {
        prop_assume!(presented != TOKEN);
        let valid = Attempt::valid(route, Transport::Port(PORT), Credential::None);
        let schemes = [format!("Bearer {presented}"), presented.clone(), format!("bearer {TOKEN}")];
        for authorization in schemes {
            let attempt = Attempt { authorization: Some(authorization), ..valid.clone() };
            prop_assert_eq!(attempt.refusal(), Refusal::Unauthorised);
        }
    }

    #[test]
    fn t10_only_an_exact_session_secret_is_accepted(presented in near(ONE), route in closed_routes()) {
        prop_assume!(presented != ONE && presented != TWO);
        let valid = Attempt::valid(route, Transport::Port(PORT), Credential::None);
        let attempt = Attempt { path: format!("/{presented}{}", valid.path), ..valid };
        prop_assert_eq!(attempt.refusal(), Refusal::Unauthorised);
    }
}
