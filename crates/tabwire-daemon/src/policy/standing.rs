//! What the policy allows at a URL in guarded sessions, for the user of a browser.

use tabwire_extension::notification::{Access, UrlAccess};
use tabwire_policy::{AccessRequest, Capability, Decision, EntryKind, GrantTerm, PageUrl, Policy, Profile};

use crate::policy::store::now;

/// The standing of a URL.
pub(crate) fn standing_of(policy: &Policy, url: &str) -> UrlAccess {
    let page = PageUrl::parse(url);
    let access = |capability| access(policy, &page, capability);
    UrlAccess { url: url.to_owned(), read: access(Capability::Read), act: access(Capability::Act) }
}

fn access(policy: &Policy, url: &PageUrl, capability: Capability) -> Access {
    let decide = |session: Option<&str>| {
        policy.decide(&AccessRequest { profile: Profile::Guarded, url, capability, session, now: now() })
    };
    match decide(None) {
        Decision::Allow { .. } => Access::Allowed,
        _ if sessions(policy).any(|session| decide(Some(session)).is_allowed()) => Access::Some,
        Decision::Ask { .. } => Access::Asks,
        Decision::Deny { .. } => Access::Denied,
    }
}

/// The sessions that grants can hold for.
fn sessions(policy: &Policy) -> impl Iterator<Item = &str> {
    let granted = policy.grants.entries().iter().filter_map(|entry| match &entry.kind {
        EntryKind::Grant { term: GrantTerm::Session(session), .. } => Some(session.as_str()),
        _ => None,
    });
    granted.chain(policy.agents.sessions())
}

#[cfg(test)]
mod tests {
    use tabwire_policy::{Capabilities, Site};

    use super::*;

    #[test]
    fn a_standing_follows_grants_of_all_kinds() {
        let mut policy = Policy::default();
        let at = |policy: &Policy| {
            let UrlAccess { read, act, .. } = standing_of(policy, "https://a.test/path");
            (read, act)
        };
        assert_eq!(at(&policy), (Access::Asks, Access::Asks));
        let site = || Site::parse("https://a.test").expect("a site");
        let acting = Capabilities::NONE.with(Capability::Act);
        let session = (acting, GrantTerm::Session("default".to_owned()));
        policy.grants.extend(None, site(), session, 0, "a test").expect("room");
        assert_eq!(at(&policy), (Access::Some, Access::Some));
        let reading = (Capabilities::NONE.with(Capability::Read), GrantTerm::Always);
        policy.grants.extend(None, site(), reading, 0, "a test").expect("room");
        assert_eq!(at(&policy), (Access::Allowed, Access::Some));
        policy.grants.add(site(), EntryKind::Deny, 0, "a test").expect("room");
        assert_eq!(at(&policy), (Access::Denied, Access::Denied));
    }
}
