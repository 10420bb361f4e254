//! The grant list: serialised, parsed, revoked.

use tabwire_policy::{Capabilities, Capability, EntryKind, GrantList, GrantListError, GrantTerm, Site};

fn sample() -> GrantList {
    let mut grants = GrantList::default();
    let acting = Capabilities::NONE.with(Capability::Read).with(Capability::Act);
    for (site, term) in [
        ("https://a.test", GrantTerm::Always),
        ("https://b.test/app", GrantTerm::Until(77)),
        ("*", GrantTerm::Session("p/s".to_owned())),
    ] {
        let kind = EntryKind::Grant { capabilities: acting, term };
        grants.add(Site::parse(site).expect(site), kind, 5, "terminal").expect("room");
    }
    grants.add(Site::parse_denied("c.test").expect("a site"), EntryKind::Deny, 6, "terminal").expect("room");
    grants
}

#[test]
fn a_grant_list_round_trips() {
    let grants = sample();
    assert_eq!(GrantList::from_json(&grants.to_json()), Ok(grants));
}

#[test]
fn t24_an_invalid_grant_list_is_rejected() {
    let text = sample().to_json();
    for (from, to) in [
        ("\"act\"", "\"fly\""),
        ("\"always\"", "\"often\""),
        ("https://a.test", "https://u@a.test"),
        ("\"next\"", "\"nest\""),
        ("{", ""),
    ] {
        let broken = text.replacen(from, to, 1);
        assert!(
            matches!(GrantList::from_json(&broken), Err(GrantListError::Unreadable { .. })),
            "{from} to {to}"
        );
    }
    assert!(GrantList::from_json("").is_err());
}

#[test]
fn entries_are_removed_by_id_site_expiry_and_session() {
    let mut grants = sample();
    assert_eq!(grants.revoke("g1").len(), 1);
    assert_eq!(grants.revoke("https://b.test/app").len(), 1);
    assert_eq!(grants.revoke("c.test").len(), 1, "a denial by the words it was given with");
    assert_eq!(grants.revoke("g1").len(), 0);
    assert!(!grants.remove_expired(0, Some("p/other")) && grants.remove_expired(0, Some("p/s")));
    assert!(grants.entries().is_empty());
    let mut grants = sample();
    assert!(!grants.remove_expired(76, None) && grants.remove_expired(77, None));
    assert_eq!(grants.entries().len(), 3);
}

#[test]
fn approvals_add_capabilities_and_keep_agents_apart() {
    let mut grants = GrantList::default();
    let site = || Site::parse("https://a.test").expect("a site");
    let mut add = |agent, capability| {
        let given = (Capabilities::NONE.with(capability), GrantTerm::Always);
        grants.extend(agent, site(), given, 5, "terminal").expect("room")
    };
    add(None, Capability::Act);
    let both = add(None, Capability::Eval);
    add(Some("Codex"), Capability::Upload);
    let acting = Capabilities::NONE.with(Capability::Act).with(Capability::Eval);
    assert_eq!(both.kind, EntryKind::Grant { capabilities: acting, term: GrantTerm::Always });
    assert_eq!(grants.entries().len(), 2, "one for every agent, one for Codex");
    assert!(grants.names_agents());
    assert_eq!(GrantList::from_json(&grants.to_json()), Ok(grants));
}

#[test]
fn a_grant_given_again_is_replaced_and_ids_are_never_used_twice() {
    let mut grants = sample();
    let kind = EntryKind::Grant { capabilities: Capabilities::EVERYTHING, term: GrantTerm::Always };
    let entry = grants.add(Site::parse("a.test").expect("a site"), kind, 9, "terminal").expect("room");
    assert_eq!((entry.id.as_str(), grants.entries().len()), ("g5", 4));
    grants.revoke("g5");
    let again =
        grants.add(Site::parse("a.test").expect("a site"), EntryKind::Deny, 9, "terminal").expect("room");
    assert_eq!(again.id.as_str(), "d6");
}
