//! Table: URLs that have fooled guards, and which of three sites each belongs to.

use tabwire_policy::{
    AccessRequest, Capabilities, Capability, Decision, GrantList, PageUrl, PolicyFile, Profile,
};
use tabwire_policy::{EntryKind, GrantTerm, Policy, Site};

const OWN: &str = "https://example.org";
const BELOW: &str = "https://*.example.net";
const FOLDER: &str = "http://127.0.0.1:8080/app";

/// The site that a URL belongs to, or how it is refused.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Counts {
    Own,
    Below,
    Folder,
    /// No grant covers it: the user is asked.
    Asked,
    /// Refused even with a grant for `*`.
    Never,
}
use Counts::{Asked, Below, Folder, Never, Own};

/// Spellings of the host with a trailing dot.
const DOTTED: &[&str] = &[
    "https://example.org./",
    "https://example.org../",
    "https://EXAMPLE.ORG.:443/",
    "https://example.org%2e/",
    "https://example.org。/",
];

const CORPUS: &[(&str, Counts)] = &[
    ("https://example.org/", Own),
    ("https://example.org", Own),
    ("HTTPS://EXAMPLE.ORG/a?b#c", Own),
    ("https://example.org:443/", Own),
    ("https://example.org./", Asked),
    ("https://example.org../", Asked),
    ("https://EXAMPLE.ORG.:443/", Asked),
    ("https://example.org%2e/", Asked),
    ("https://example.org。/", Asked),
    ("https://ex%61mple.org/", Own),
    ("https://example。org/", Own),
    ("https://ｅxample.org/", Own),
    ("  https://example.org/", Own),
    ("https:\\\\example.org\\x", Own),
    ("https:/example.org/", Own),
    ("https:example.org/", Own),
    ("https://exam\tple.org/", Own),
    ("blob:https://example.org/4a3b", Own),
    ("https://example.org:8443/", Asked),
    ("http://example.org/", Asked),
    ("https://www.example.org/", Asked),
    ("https://notexample.org/", Asked),
    ("https://example.org.evil.test/", Asked),
    ("https://evil.test/https://example.org/", Asked),
    ("https://evil.test/?https://example.org/", Asked),
    ("https://evil.test#https://example.org/", Asked),
    ("https://evil.test\\@example.org/", Asked),
    ("https://exаmple.org/", Asked),
    ("https://example.org%2eevil.test/", Asked),
    ("https://example.org%2f.evil.test/", Never),
    ("https://example.org@evil.test/", Never),
    ("https://example.org:pass@evil.test/", Never),
    ("https://user@example.org/", Never),
    ("https://:pass@example.org/", Never),
    ("https://a.example.net/", Below),
    ("https://a.b.example.net./x", Asked),
    ("https://example.net/", Asked),
    ("https://evilexample.net/", Asked),
    ("https://a.example.net.evil.test/", Asked),
    ("https://.example.net/", Asked),
    ("http://a.example.net/", Asked),
    ("https://evil.com/a.example.net/x", Asked),
    ("http://127.0.0.1:8080/app", Folder),
    ("http://127.0.0.1:8080/app/x", Folder),
    ("http://0x7f.1:8080/app/", Folder),
    ("http://2130706433:8080/app/", Folder),
    ("http://0177.0.0.1:8080/app/", Folder),
    ("http://127.1:8080/./app/b/../c", Folder),
    ("http://127.0.0.1:8080/x/%2e%2e/app", Folder),
    ("http://127.0.0.1:8080/apple", Asked),
    ("http://127.0.0.1:8080/app/../secret", Asked),
    ("http://127.0.0.1:8080/app/%2e%2e/secret", Asked),
    ("http://127.0.0.1:8080/app%2fx", Asked),
    ("http://localhost:8080/app", Asked),
    ("http://[::1]:8080/app", Asked),
    ("http://[::ffff:127.0.0.1]:8080/app", Asked),
    ("http://169.254.169.254/latest/meta-data/", Never),
    ("http://2852039166/", Never),
    ("http://0xa9fea9fe/", Never),
    ("http://0251.0376.0251.0376/", Never),
    ("http://169.254.43518/", Never),
    ("http://169.254.169.254./", Never),
    ("http://[::ffff:169.254.169.254]/", Never),
    ("http://[::ffff:a9fe:a9fe]/", Never),
    ("http://[64:ff9b::a9fe:a9fe]/", Never),
    ("http://[2002:a9fe:a9fe::1]/", Never),
    ("http://[fd00:ec2::254]/", Never),
    ("http://[fe80::1]/", Never),
    ("http://metadata.google.internal/", Never),
    ("http://METADATA.google.internal./", Never),
    ("http://100.100.100.200/", Never),
    ("http://0.0.0.0:8080/app", Never),
    ("http://0/", Never),
    ("http://[::]/", Never),
    ("file:///etc/passwd", Never),
    ("FILE:/etc/passwd", Never),
    ("file://example.org/x", Never),
    ("chrome://settings", Never),
    ("chrome-extension://abc/x.html", Never),
    ("chrome-error://chromewebdata/", Never),
    ("devtools://devtools/bundled/inspector.html", Never),
    ("view-source:https://example.org/", Never),
    ("filesystem:https://example.org/temporary/x", Never),
    ("data:text/html,https://example.org/", Never),
    ("da\nta:text/html,x", Never),
    ("javascript:location='https://example.org/'", Never),
    ("blob:null/4a3b", Never),
    ("blob:file:///4a3b", Never),
    ("blob:blob:https://example.org/1", Never),
    ("about:config", Never),
    ("ftp://example.org/", Never),
    ("ws://example.org/", Never),
    ("https://*.example.net/", Never),
    ("https://", Never),
    ("not an url", Never),
];

fn granted(sites: &[&str]) -> Policy {
    let mut grants = GrantList::default();
    for site in sites {
        let kind = EntryKind::Grant { capabilities: Capabilities::EVERYTHING, term: GrantTerm::Always };
        grants.add(Site::parse(site).expect(site), kind, 0, "a test").expect("room");
    }
    Policy { file: PolicyFile::default(), grants, ..Policy::default() }
}

fn decide(policy: &Policy, url: &str, profile: Profile) -> Decision {
    let url = PageUrl::parse(url);
    policy.decide(&AccessRequest { profile, url: &url, capability: Capability::Read, session: None, now: 1 })
}

#[test]
fn t20_t21_t23_every_url_of_the_corpus_is_judged_as_browsers_parse_it() {
    assert!(CORPUS.len() >= 60);
    let policies = [(Own, granted(&[OWN])), (Below, granted(&[BELOW])), (Folder, granted(&[FOLDER]))];
    let nothing = granted(&[]);
    for (url, counts) in CORPUS {
        for (meant, policy) in &policies {
            let allowed = decide(policy, url, Profile::Guarded).is_allowed();
            assert_eq!(allowed, counts == meant, "{url} with the grant of {meant:?}");
        }
        let word = decide(&nothing, url, Profile::Guarded).as_str();
        let expected = if *counts == Never { "deny" } else { "ask" };
        assert_eq!(word, expected, "{url} without a grant");
    }
}

#[test]
fn t21_a_star_grants_no_machine_network_or_metadata() {
    let star = granted(&["*"]);
    for (url, counts) in CORPUS {
        let special = matches!(counts, Folder) || url.contains("localhost") || url.contains("[::");
        let local = special || url.contains("127.0.0.1") || *counts == Never;
        assert_eq!(decide(&star, url, Profile::Guarded).is_allowed(), !local, "{url}");
    }
    for private in ["http://10.0.0.1/", "http://192.168.1.1/", "http://172.16.9.9/", "http://100.64.0.1/"] {
        assert!(!decide(&star, private, Profile::Guarded).is_allowed(), "{private}");
        assert!(decide(&star, private, Profile::Open).is_allowed(), "{private}");
    }
}

#[test]
fn t21_metadata_is_refused_in_open_sessions_too_unless_it_is_named() {
    let named = granted(&["http://169.254.169.254"]);
    for spelling in ["http://169.254.169.254/x", "http://2852039166/", "http://0xa9fea9fe/"] {
        assert_eq!(decide(&granted(&[]), spelling, Profile::Open).as_str(), "deny", "{spelling}");
        assert!(decide(&named, spelling, Profile::Open).is_allowed(), "{spelling}");
        assert!(decide(&named, spelling, Profile::Guarded).is_allowed(), "{spelling}");
    }
    assert!(decide(&granted(&[]), "http://127.0.0.1:3000/", Profile::Open).is_allowed());
    let file = granted(&["file:///srv/site"]);
    assert!(decide(&file, "file:///srv/site/a.html", Profile::Guarded).is_allowed());
    for other in ["file:///srv/site/../secret", "file:///srv/sites", "file:///etc/passwd"] {
        assert!(!decide(&file, other, Profile::Guarded).is_allowed(), "{other}");
    }
}

#[test]
fn t23_a_denial_beats_every_spelling_and_every_grant() {
    let mut policy = granted(&["*", OWN, "http://example.org:*"]);
    let denied = Site::parse_denied("example.org").expect("a site");
    policy.grants.add(denied, EntryKind::Deny, 0, "a test").expect("room");
    for (url, counts) in CORPUS {
        let is_there = *counts == Own
            || DOTTED.contains(url)
            || url.starts_with("http://example.org/")
            || url.starts_with("https://example.org:8443");
        if is_there {
            for profile in [Profile::Guarded, Profile::Open] {
                assert_eq!(decide(&policy, url, profile).as_str(), "deny", "{url}");
            }
        }
    }
    assert!(decide(&policy, "https://www.example.org/", Profile::Guarded).is_allowed());
}

#[test]
fn l9_a_grant_for_a_host_does_not_cover_the_host_with_a_last_dot() {
    let (plain, dotted) = ("http://a.localhost:8080", "http://a.localhost.:8080");
    for (granted_site, other) in [(plain, dotted), (dotted, plain)] {
        let policy = granted(&[granted_site]);
        assert!(decide(&policy, granted_site, Profile::Guarded).is_allowed(), "{granted_site}");
        assert!(
            !decide(&policy, other, Profile::Guarded).is_allowed(),
            "{other} with a grant for {granted_site}"
        );
    }
    let below = granted(&["http://*.localhost:8080"]);
    assert!(decide(&below, plain, Profile::Guarded).is_allowed());
    assert!(!decide(&below, dotted, Profile::Guarded).is_allowed());
    // The refusal names the site to grant, which parses back to the same site.
    let site = Site::of(&PageUrl::parse(dotted)).expect("a site");
    assert_eq!(site.to_string(), dotted);
    assert_eq!(site.url_pattern().as_deref(), Some("http://a.localhost.:8080/*"));
}

#[test]
fn l9_a_denial_and_a_rule_that_asks_cover_both_spellings() {
    for text in ["bank.example", "bank.example.", "https://bank.example", "*.example"] {
        let denied = Site::parse_denied(text).expect("a site");
        for url in ["https://bank.example/", "https://bank.example./", "https://BANK.example../"] {
            assert!(denied.forbids(&PageUrl::parse(url)), "{text} denies {url}");
        }
    }
    let file = "[[rule]]\nsite = \"*\"\nallow = [\"read\"]\n[[rule]]\nsite = \"https://bank.example\"\nask = [\"read\"]\n";
    let policy = Policy { file: PolicyFile::parse(file).expect("a file"), ..Policy::default() };
    assert!(decide(&policy, "https://other.example./", Profile::Guarded).is_allowed());
    for url in ["https://bank.example/", "https://bank.example./"] {
        assert_eq!(decide(&policy, url, Profile::Guarded).as_str(), "ask", "{url}");
    }
    let patterns = Site::parse_denied("https://bank.example").expect("a site").denied_url_patterns();
    assert_eq!(patterns, ["https://bank.example/*", "https://bank.example./*"]);
    assert_eq!(Site::parse_denied("http://127.0.0.1").expect("a site").denied_url_patterns().len(), 1);
}
