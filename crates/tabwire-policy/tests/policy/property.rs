//! What must hold of every address and every site.

use proptest::prelude::*;
use tabwire_policy::{Address, Capabilities, Capability, Profile, Question, Rulebook, Site, Stance, Term};

fn book(site: Site, stance: Stance) -> Rulebook {
    let mut book = Rulebook::default();
    book.ledger.add(site, stance, 0, "a test").expect("room");
    book
}

fn allows(book: &Rulebook, address: &Address, profile: Profile) -> bool {
    let question = Question { profile, address, capability: Capability::Act, session: None, now: 0 };
    book.decide(&question).is_allowed()
}

fn hosts() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,5}(\\.[a-z]{2,5}){1,3}\\.?",
        "[0-9]{1,3}(\\.[0-9]{1,3}){0,3}",
        "[a-z.*@:%\\[\\]0-9]{1,12}",
    ]
}

proptest! {
    #[test]
    fn t23_the_site_of_an_address_means_that_address_and_reads_back(
        scheme in "https?", host in hosts(), port in prop::option::of(1u16..), path in "[a-z/.%0-9]{0,8}",
    ) {
        let port = port.map(|port| format!(":{port}")).unwrap_or_default();
        let address = Address::read(&format!("{scheme}://{host}{port}/{path}"));
        if let Some(site) = Site::of(&address) {
            prop_assert_eq!(Site::read(&site.to_string()), Ok(site.clone()));
            prop_assert!(site.grants(&address) && site.forbids(&address));
            let grant = Stance::Grant { capabilities: Capabilities::EVERYTHING, term: Term::Always };
            prop_assert!(allows(&book(site.clone(), grant), &address, Profile::Guarded));
            for profile in [Profile::Guarded, Profile::Open] {
                prop_assert!(!allows(&book(site.clone(), Stance::Deny), &address, profile));
            }
        }
    }

    #[test]
    fn t22_without_a_grant_nothing_of_the_web_is_allowed(text in ".{0,40}") {
        for text in [text.clone(), format!("https://{text}"), format!("http:{text}")] {
            let address = Address::read(&text);
            if !matches!(address, Address::Blank) {
                prop_assert!(!allows(&Rulebook::default(), &address, Profile::Guarded), "{}", text);
            }
        }
    }

    #[test]
    fn what_is_read_as_a_site_is_written_the_same(text in "[a-z*:/.@0-9\\[\\]-]{1,24}") {
        for site in [Site::read(&text), Site::read_denied(&text)].into_iter().flatten() {
            prop_assert_eq!(Site::read(&site.to_string()), Ok(site.clone()), "{} as {}", text, site);
        }
    }
}
