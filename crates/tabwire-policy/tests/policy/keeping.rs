//! The ledger: written, read again, revoked.

use tabwire_policy::{Capabilities, Capability, Ledger, LedgerFault, Site, Stance, Term};

fn sample() -> Ledger {
    let mut ledger = Ledger::default();
    let acting = Capabilities::NONE.with(Capability::Read).with(Capability::Act);
    for (site, term) in [
        ("https://a.test", Term::Always),
        ("https://b.test/app", Term::Until(77)),
        ("*", Term::Session("p/s".to_owned())),
    ] {
        let stance = Stance::Grant { capabilities: acting, term };
        ledger.add(Site::read(site).expect(site), stance, 5, "terminal").expect("room");
    }
    ledger.add(Site::read_denied("c.test").expect("a site"), Stance::Deny, 6, "terminal").expect("room");
    ledger
}

#[test]
fn a_ledger_reads_back_as_it_was_written() {
    let ledger = sample();
    assert_eq!(Ledger::read(&ledger.write()), Ok(ledger));
}

#[test]
fn t24_a_ledger_that_says_anything_else_is_not_read() {
    let text = sample().write();
    for (from, to) in [
        ("\"act\"", "\"fly\""),
        ("\"always\"", "\"often\""),
        ("https://a.test", "https://u@a.test"),
        ("\"next\"", "\"nest\""),
        ("{", ""),
    ] {
        let broken = text.replacen(from, to, 1);
        assert!(matches!(Ledger::read(&broken), Err(LedgerFault::Unreadable { .. })), "{from} to {to}");
    }
    assert!(Ledger::read("").is_err());
}

#[test]
fn entries_go_by_id_by_site_by_time_and_with_their_session() {
    let mut ledger = sample();
    assert_eq!(ledger.revoke("g1").len(), 1);
    assert_eq!(ledger.revoke("https://b.test/app").len(), 1);
    assert_eq!(ledger.revoke("c.test").len(), 1, "a denial by the words it was given with");
    assert_eq!(ledger.revoke("g1").len(), 0);
    assert!(!ledger.forget_over(0, Some("p/other")) && ledger.forget_over(0, Some("p/s")));
    assert!(ledger.entries().is_empty());
    let mut ledger = sample();
    assert!(!ledger.forget_over(76, None) && ledger.forget_over(77, None));
    assert_eq!(ledger.entries().len(), 3);
}

#[test]
fn a_grant_given_again_is_replaced_and_ids_are_never_used_twice() {
    let mut ledger = sample();
    let stance = Stance::Grant { capabilities: Capabilities::EVERYTHING, term: Term::Always };
    let entry = ledger.add(Site::read("a.test").expect("a site"), stance, 9, "terminal").expect("room");
    assert_eq!((entry.id.as_str(), ledger.entries().len()), ("g5", 4));
    ledger.revoke("g5");
    let again = ledger.add(Site::read("a.test").expect("a site"), Stance::Deny, 9, "terminal").expect("room");
    assert_eq!(again.id.as_str(), "d6");
}
