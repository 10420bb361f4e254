//! Decisions: precedence, terms, messages and remedies.

use tabwire_policy::{AccessRequest, EntryKind, GrantTerm, Policy, Profile, Site};
use tabwire_policy::{
    Approval, ApprovalWait, Capabilities, Capability, Decision, Effect, EventReach, MethodRule, PageUrl,
    PolicyFile, Reach,
};

fn ask(policy: &Policy, url: &PageUrl, capability: Capability, session: Option<&str>, now: u64) -> Decision {
    policy.decide(&AccessRequest { profile: Profile::Guarded, url, capability, session, now })
}

fn policy(text: &str) -> Policy {
    Policy { file: PolicyFile::parse(text).expect("a policy"), ..Policy::default() }
}

#[test]
fn refusals_name_the_command_that_would_allow_them() {
    let policy = Policy::default();
    for (url, capability, command) in [
        ("https://example.org/a?token=canary", Capability::Read, "tabwire allow https://example.org"),
        ("https://example.org/", Capability::Act, "tabwire allow https://example.org --act"),
        ("http://127.0.0.1:81/", Capability::Eval, "tabwire allow http://127.0.0.1:81 --eval"),
        ("http://[::1]:81/", Capability::Download, "tabwire allow http://[::1]:81 --download"),
        (
            "https://bücher.example/",
            Capability::Upload,
            "tabwire allow https://xn--bcher-kva.example --upload",
        ),
    ] {
        let read = PageUrl::parse(url);
        let Decision::Ask { why, remedy, wait, site, .. } = ask(&policy, &read, capability, None, 0) else {
            panic!("{url} is asked about");
        };
        assert_eq!((remedy.as_str(), wait), (command, ApprovalWait::IfApproverConnected));
        assert!(!why.contains("canary"), "the reason has no path or query: {why}");
        // The command has the stated effect.
        let mut granted = policy.clone();
        let capabilities = Capabilities::NONE.with(capability);
        let kind = EntryKind::Grant { capabilities, term: GrantTerm::Always };
        granted.grants.add(site, kind, 0, "a test").expect("room");
        assert!(ask(&granted, &read, capability, None, 0).is_allowed());
        assert!(ask(&granted, &read, Capability::Read, None, 0).is_allowed(), "every grant includes reading");
    }
}

#[test]
fn grants_end_with_their_time_and_with_their_session() {
    let mut policy = Policy::default();
    let site = |text| Site::parse(text).expect("a site");
    let grant = |term| EntryKind::Grant { capabilities: Capabilities::NONE.with(Capability::Act), term };
    policy.grants.add(site("https://hour.test"), grant(GrantTerm::Until(100)), 0, "a test").expect("room");
    policy
        .grants
        .add(site("https://session.test"), grant(GrantTerm::Session("a".into())), 0, "a test")
        .expect("room");
    let allowed = |url: &str, session, now| {
        ask(&policy, &PageUrl::parse(url), Capability::Act, session, now).is_allowed()
    };
    assert!(allowed("https://hour.test/", None, 99) && !allowed("https://hour.test/", None, 100));
    assert!(allowed("https://session.test/", Some("a"), 0));
    assert!(!allowed("https://session.test/", Some("b"), 0) && !allowed("https://session.test/", None, 0));
}

#[test]
fn a_grant_for_one_agent_holds_for_it_alone_and_in_its_sessions() {
    let mut policy = Policy::default();
    let site = Site::parse("https://agent.test").expect("a site");
    let kind = (Capabilities::NONE.with(Capability::Act), GrantTerm::Always);
    policy.grants.extend(Some("Claude Code"), site, kind, 0, "a test").expect("room");
    policy.agents.add("mine", "Claude Code");
    policy.agents.add("theirs", "Codex");
    let url = PageUrl::parse("https://agent.test/");
    let at = |policy: &Policy, session| ask(policy, &url, Capability::Act, session, 0).is_allowed();
    assert!(at(&policy, Some("mine")), "pages of a session are judged by all of its agents");
    assert!(!at(&policy, Some("theirs")) && !at(&policy, None));
    let profile = Profile::Guarded;
    let question =
        AccessRequest { profile, url: &url, capability: Capability::Act, session: Some("mine"), now: 0 };
    assert!(policy.decide_for(&question, "Claude Code").is_allowed());
    assert!(!policy.decide_for(&question, "Codex").is_allowed(), "in the same session");
    assert!(policy.agents.remove("mine") && !at(&policy, Some("mine")), "the session has ended");
}

#[test]
fn our_own_pages_are_refused_in_every_profile_whatever_is_granted() {
    let mut policy = Policy { own_port: Some(9417), ..Policy::default() };
    let kind = EntryKind::Grant { capabilities: Capabilities::EVERYTHING, term: GrantTerm::Always };
    for site in ["*", "http://127.0.0.1:9417", "http://localhost:9417"] {
        policy.grants.add(Site::parse(site).expect("a site"), kind.clone(), 0, "a test").expect("room");
    }
    for profile in [Profile::Open, Profile::Guarded] {
        let at = |url: &str| {
            let url = PageUrl::parse(url);
            let capability = Capability::Read;
            policy
                .decide(&AccessRequest { profile, url: &url, capability, session: None, now: 0 })
                .is_allowed()
        };
        for host in ["127.0.0.1", "localhost", "127.1", "[::1]", "0.0.0.0", "2130706433", "a.localhost"] {
            assert!(!at(&format!("http://{host}:9417/dashboard")), "{host}");
            assert!(!at(&format!("http://{host}:9417/dashboard/line#x")), "{host}");
        }
        assert!(at("http://127.0.0.1:9417/demo"), "the demo page shows nothing");
        assert!(!at("http://127.0.0.1:9417/demo/../dashboard"));
    }
    let other = PageUrl::parse("http://127.0.0.1:9418/dashboard");
    let profile = Profile::Open;
    let request = AccessRequest { profile, url: &other, capability: Capability::Read, session: None, now: 0 };
    assert!(policy.decide(&request).is_allowed(), "another port is another server");
}

#[test]
fn rules_of_the_file_allow_ask_and_deny() {
    let policy = policy(
        "[[rule]]\nsite = \"https://*.example.org\"\nallow = [\"act\"]\nask = [\"eval\"]\n\
         [[rule]]\nsite = \"bank.example.org\"\ndeny = [\"all\"]\n",
    );
    let at = |url: &str, capability| ask(&policy, &PageUrl::parse(url), capability, None, 0);
    assert!(at("https://a.example.org/", Capability::Act).is_allowed());
    assert!(at("https://a.example.org/", Capability::Read).is_allowed());
    let Decision::Ask { wait, by, .. } = at("https://a.example.org/", Capability::Eval) else {
        panic!("asked about")
    };
    assert_eq!(
        (wait, by.to_string().as_str()),
        (ApprovalWait::UntilTimeout, "the rule on line 1 of policy.toml")
    );
    for denied in ["https://bank.example.org/", "http://bank.example.org:81/"] {
        assert_eq!(at(denied, Capability::Read).as_str(), "deny", "{denied}");
    }
    let strict =
        Policy { file: PolicyFile::parse("unlisted = \"deny\"").expect("a policy"), ..Policy::default() };
    let url = PageUrl::parse("https://x.test/");
    assert!(matches!(ask(&strict, &url, Capability::Read, None, 0), Decision::Deny { remedy: Some(_), .. }));
}

#[test]
fn an_approval_covers_its_session_capability_and_reading() {
    let mut policy = Policy::default();
    let site = Site::parse("https://a.test").expect("a site");
    let pass = Approval { number: 1, site, capability: Capability::Act, session: "s".to_owned() };
    policy.approvals.push(pass);
    let url = PageUrl::parse("https://a.test/x");
    for (capability, session, allowed) in [
        (Capability::Act, Some("s"), true),
        (Capability::Read, Some("s"), true),
        (Capability::Eval, Some("s"), false),
        (Capability::Act, Some("t"), false),
        (Capability::Act, None, false),
    ] {
        assert_eq!(
            ask(&policy, &url, capability, session, 0).is_allowed(),
            allowed,
            "{capability:?} {session:?}"
        );
    }
}

#[test]
fn t22_an_empty_page_is_readable_unless_another_page_opened_it() {
    let policy = Policy::default();
    for blank in ["about:blank", "", "about:srcdoc", "about:blank#x"] {
        let url = PageUrl::parse(blank);
        assert!(ask(&policy, &url, Capability::Read, None, 0).is_allowed(), "{blank}");
        assert!(!ask(&policy, &url, Capability::Eval, None, 0).is_allowed(), "{blank}");
        let opened = url.opened_by_page();
        assert_eq!(ask(&policy, &opened, Capability::Read, None, 0).as_str(), "deny", "{blank}");
    }
}

#[test]
fn t19_only_a_grant_for_every_site_reaches_the_browser_as_a_whole() {
    let mut policy = Policy::default();
    let kind = EntryKind::Grant { capabilities: Capabilities::EVERYTHING, term: GrantTerm::Always };
    policy.grants.add(Site::parse("https://*").expect("a site"), kind.clone(), 0, "a test").expect("room");
    let everywhere = |policy: &Policy| ask(policy, &PageUrl::Everywhere, Capability::Cdp, None, 0);
    let Decision::Ask { remedy, .. } = everywhere(&policy) else { panic!("not granted") };
    assert_eq!(remedy, "tabwire allow '*' --cdp");
    policy.grants.add(Site::parse("*").expect("a site"), kind, 0, "a test").expect("room");
    assert!(everywhere(&policy).is_allowed());
}

#[test]
fn h2_methods_have_their_reach_and_unknown_ones_are_refused() {
    for (method, reach, effect) in [
        ("Runtime.evaluate", Reach::Frame, Effect::Changes),
        ("DOM.getDocument", Reach::Document, Effect::Reads),
        ("DOMSnapshot.captureSnapshot", Reach::Document, Effect::Reads),
        ("Page.captureScreenshot", Reach::Page, Effect::Reads),
        ("Page.captureSnapshot", Reach::Page, Effect::Reads),
        ("Page.getAnnotatedPageContent", Reach::Page, Effect::Reads),
        ("Input.dispatchMouseEvent", Reach::Page, Effect::Changes),
        ("Page.setDocumentContent", Reach::Frame, Effect::Changes),
        ("Network.getResponseBody", Reach::Request, Effect::Reads),
        ("Fetch.fulfillRequest", Reach::Request, Effect::Changes),
        ("IO.read", Reach::Stream, Effect::Reads),
        ("Page.enable", Reach::Setting, Effect::Reads),
        ("Page.navigate", Reach::Navigation, Effect::Reads),
        ("Target.createTarget", Reach::Navigation, Effect::Reads),
        ("Storage.getCookies", Reach::EverySite, Effect::Changes),
        ("HeapProfiler.takeHeapSnapshot", Reach::EverySite, Effect::Reads),
        ("Network.loadNetworkResource", Reach::Refused, Effect::Reads),
        ("Surprise.enable", Reach::Refused, Effect::Changes),
        ("Runtime.", Reach::Refused, Effect::Changes),
        ("", Reach::Refused, Effect::Changes),
    ] {
        assert_eq!(MethodRule::of(method), MethodRule { reach, effect }, "{method}");
    }
    assert_eq!(EventReach::of("Runtime.consoleAPICalled"), EventReach::Frame);
    assert_eq!(EventReach::of("Page.frameNavigated"), EventReach::Plain);
    assert_eq!(EventReach::of("Network.responseReceived"), EventReach::Request);
    assert_eq!(EventReach::of("Surprise.happened"), EventReach::EverySite);
}

#[test]
fn t21_a_host_name_is_judged_by_its_address_too() {
    let grants = |patterns: &[&str]| {
        let mut policy = Policy::default();
        for pattern in patterns {
            let kind = EntryKind::Grant { capabilities: Capabilities::EVERYTHING, term: GrantTerm::Always };
            policy.grants.add(Site::parse(pattern).expect("a site"), kind, 0, "a test").expect("room");
        }
        policy
    };
    let named = PageUrl::parse("http://name.test:8080/x");
    let there = |url: &str| named.reached_at(url.parse().expect("an address"));
    for public in ["93.184.216.34", "2606:2800:220:1::1"] {
        assert_eq!(there(public), None, "a public address is judged by its name");
    }
    for private in [
        "10.0.0.8",
        "192.168.1.1",
        "127.0.0.1",
        "169.254.169.254",
        "0.0.0.0",
        "100.64.0.1",
        "::1",
        "fe80::1",
        "fd00:ec2::254",
        "::ffff:10.0.0.8",
        "64:ff9b::a00:8",
    ] {
        let reached = there(private).expect("a private address");
        for patterns in [&["*"][..], &["http://name.test:8080"], &["http://*.test:8080", "*"]] {
            let decision = ask(&grants(patterns), &reached, Capability::Read, None, 0);
            assert!(!decision.is_allowed(), "{private} with {patterns:?}");
        }
        let (why, remedy) = match ask(&grants(&["*"]), &reached, Capability::Read, None, 0) {
            Decision::Ask { why, remedy, .. } | Decision::Deny { why, remedy: Some(remedy), .. } => {
                (why, remedy)
            }
            other => panic!("{private} can be allowed by name: {other:?}"),
        };
        assert!(why.starts_with("name.test resolves to "), "{why}");
        let site = remedy.strip_prefix("tabwire allow ").expect("a command");
        assert!(ask(&grants(&[site]), &reached, Capability::Read, None, 0).is_allowed(), "{remedy}");
    }
    // Even open sessions refuse link-local addresses; private networks are allowed.
    for (url, allowed) in [("169.254.1.1", false), ("fe80::2", false), ("10.0.0.8", true)] {
        let reached = there(url).expect("no internet");
        let question = AccessRequest {
            profile: Profile::Open,
            url: &reached,
            capability: Capability::Read,
            session: None,
            now: 0,
        };
        assert_eq!(Policy::default().decide(&question).is_allowed(), allowed, "{url}");
    }
    // Names that are special themselves are judged once.
    let local = PageUrl::parse("http://a.localhost:8080/");
    assert_eq!(local.reached_at("127.0.0.1".parse().expect("an address")), None);
    assert!(local.reached_at("10.0.0.8".parse().expect("an address")).is_some());
}

#[test]
fn a_cookie_is_judged_by_its_host_for_any_scheme_and_port() {
    let mut policy = Policy::default();
    let grant = EntryKind::Grant { capabilities: Capabilities::EVERYTHING, term: GrantTerm::Always };
    for site in ["*", "http://127.0.0.1:8080"] {
        policy.grants.add(Site::parse(site).expect("a site"), grant.clone(), 0, "a test").expect("room");
    }
    let denied = Site::parse_denied("bank.example").expect("a site");
    policy.grants.add(denied, EntryKind::Deny, 0, "a test").expect("room");
    let allowed = |domain: &str| {
        ask(&policy, &PageUrl::of_cookie_domain(domain), Capability::Read, None, 0).is_allowed()
    };
    for (domain, is_allowed) in [
        ("shop.example", true),
        (".shop.example", true),
        ("127.0.0.1", true),
        ("localhost", false),
        ("10.0.0.1", false),
        ("169.254.169.254", false),
        ("bank.example", false),
        (".bank.example", false),
        ("", false),
        ("a b", false),
    ] {
        assert_eq!(allowed(domain), is_allowed, "{domain:?}");
    }
    // An open session leaves out denied sites.
    let open = |domain: &str| {
        let (profile, url) = (Profile::Open, &PageUrl::of_cookie_domain(domain));
        let question = AccessRequest { profile, url, capability: Capability::Read, session: None, now: 0 };
        policy.decide(&question).is_allowed()
    };
    assert!(open("localhost") && !open("bank.example") && !open("169.254.169.254"));
}
