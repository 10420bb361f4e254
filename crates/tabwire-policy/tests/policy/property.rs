//! Properties of all URLs and sites.

use proptest::prelude::*;
use tabwire_policy::{
    AccessRequest, Capabilities, Capability, EntryKind, GrantTerm, PageUrl, Policy, Profile, Site,
};

fn policy(site: Site, kind: EntryKind) -> Policy {
    let mut policy = Policy::default();
    policy.grants.add(site, kind, 0, "a test").expect("room");
    policy
}

fn allows(policy: &Policy, url: &PageUrl, profile: Profile) -> bool {
    let question = AccessRequest { profile, url, capability: Capability::Act, session: None, now: 0 };
    policy.decide(&question).is_allowed()
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
    fn t23_the_site_of_a_url_covers_it_and_round_trips(
        scheme in "https?", host in hosts(), port in prop::option::of(1u16..), path in "[a-z/.%0-9]{0,8}",
    ) {
        let port = port.map(|port| format!(":{port}")).unwrap_or_default();
        let url = PageUrl::parse(&format!("{scheme}://{host}{port}/{path}"));
        if let Some(site) = Site::of(&url) {
            prop_assert_eq!(Site::parse(&site.to_string()), Ok(site.clone()));
            prop_assert!(site.grants(&url) && site.forbids(&url));
            let grant = EntryKind::Grant { capabilities: Capabilities::EVERYTHING, term: GrantTerm::Always };
            prop_assert!(allows(&policy(site.clone(), grant), &url, Profile::Guarded));
            for profile in [Profile::Guarded, Profile::Open] {
                prop_assert!(!allows(&policy(site.clone(), EntryKind::Deny), &url, profile));
            }
        }
    }

    #[test]
    fn t22_without_a_grant_nothing_of_the_web_is_allowed(text in ".{0,40}") {
        for text in [text.clone(), format!("https://{text}"), format!("http:{text}")] {
            let url = PageUrl::parse(&text);
            if !matches!(url, PageUrl::Blank) {
                prop_assert!(!allows(&Policy::default(), &url, Profile::Guarded), "{}", text);
            }
        }
    }

    #[test]
    fn a_parsed_site_round_trips(text in "[a-z*:/.@0-9\\[\\]-]{1,24}") {
        for site in [Site::parse(&text), Site::parse_denied(&text)].into_iter().flatten() {
            prop_assert_eq!(Site::parse(&site.to_string()), Ok(site.clone()), "{} as {}", text, site);
        }
    }
}
