//! Decisions: order, terms, what is said, and the command that would change it.

use tabwire_policy::{
    Address, Capabilities, Capability, Decision, Effect, EventReach, MethodRule, Pass, Patience, PolicyFile,
    Reach,
};
use tabwire_policy::{Profile, Question, Rulebook, Site, Stance, Term};

fn ask(
    book: &Rulebook,
    address: &Address,
    capability: Capability,
    session: Option<&str>,
    now: u64,
) -> Decision {
    book.decide(&Question { profile: Profile::Guarded, address, capability, session, now })
}

fn book(text: &str) -> Rulebook {
    Rulebook { file: PolicyFile::read(text).expect("a policy"), ..Rulebook::default() }
}

#[test]
fn what_is_refused_names_the_command_that_would_allow_it() {
    let book = Rulebook::default();
    for (address, capability, command) in [
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
        let read = Address::read(address);
        let Decision::Ask { why, remedy, patience, site, .. } = ask(&book, &read, capability, None, 0) else {
            panic!("{address} is asked about");
        };
        assert_eq!((remedy.as_str(), patience), (command, Patience::IfSomebodyIsThere));
        assert!(!why.contains("canary"), "a path or query is not told: {why}");
        // The command does what it says.
        let mut granted = book.clone();
        let capabilities = Capabilities::NONE.with(capability);
        let stance = Stance::Grant { capabilities, term: Term::Always };
        granted.ledger.add(site, stance, 0, "a test").expect("room");
        assert!(ask(&granted, &read, capability, None, 0).is_allowed());
        assert!(
            ask(&granted, &read, Capability::Read, None, 0).is_allowed(),
            "reading comes with everything"
        );
    }
}

#[test]
fn grants_end_with_their_time_and_with_their_session() {
    let mut book = Rulebook::default();
    let site = |text| Site::read(text).expect("a site");
    let grant = |term| Stance::Grant { capabilities: Capabilities::NONE.with(Capability::Act), term };
    book.ledger.add(site("https://hour.test"), grant(Term::Until(100)), 0, "a test").expect("room");
    book.ledger
        .add(site("https://session.test"), grant(Term::Session("a".into())), 0, "a test")
        .expect("room");
    let allowed = |address: &str, session, now| {
        ask(&book, &Address::read(address), Capability::Act, session, now).is_allowed()
    };
    assert!(allowed("https://hour.test/", None, 99) && !allowed("https://hour.test/", None, 100));
    assert!(allowed("https://session.test/", Some("a"), 0));
    assert!(!allowed("https://session.test/", Some("b"), 0) && !allowed("https://session.test/", None, 0));
}

#[test]
fn rules_of_the_file_allow_ask_and_deny() {
    let book = book(
        "[[rule]]\nsite = \"https://*.example.org\"\nallow = [\"act\"]\nask = [\"eval\"]\n\
         [[rule]]\nsite = \"bank.example.org\"\ndeny = [\"all\"]\n",
    );
    let at = |address: &str, capability| ask(&book, &Address::read(address), capability, None, 0);
    assert!(at("https://a.example.org/", Capability::Act).is_allowed());
    assert!(at("https://a.example.org/", Capability::Read).is_allowed());
    let Decision::Ask { patience, by, .. } = at("https://a.example.org/", Capability::Eval) else {
        panic!("asked about")
    };
    assert_eq!((patience, by.to_string().as_str()), (Patience::Wait, "the rule on line 1 of policy.toml"));
    for denied in ["https://bank.example.org/", "http://bank.example.org:81/"] {
        assert_eq!(at(denied, Capability::Read).as_str(), "deny", "{denied}");
    }
    let strict =
        Rulebook { file: PolicyFile::read("unlisted = \"deny\"").expect("a policy"), ..Rulebook::default() };
    let address = Address::read("https://x.test/");
    assert!(matches!(
        ask(&strict, &address, Capability::Read, None, 0),
        Decision::Deny { remedy: Some(_), .. }
    ));
}

#[test]
fn a_pass_holds_for_its_session_what_it_is_for_and_reading() {
    let mut book = Rulebook::default();
    let site = Site::read("https://a.test").expect("a site");
    let pass = Pass { number: 1, site, capability: Capability::Act, session: "s".to_owned() };
    book.passes.push(pass);
    let address = Address::read("https://a.test/x");
    for (capability, session, allowed) in [
        (Capability::Act, Some("s"), true),
        (Capability::Read, Some("s"), true),
        (Capability::Eval, Some("s"), false),
        (Capability::Act, Some("t"), false),
        (Capability::Act, None, false),
    ] {
        assert_eq!(
            ask(&book, &address, capability, session, 0).is_allowed(),
            allowed,
            "{capability:?} {session:?}"
        );
    }
}

#[test]
fn t22_an_empty_page_is_readable_unless_another_page_opened_it() {
    let book = Rulebook::default();
    for blank in ["about:blank", "", "about:srcdoc", "about:blank#x"] {
        let address = Address::read(blank);
        assert!(ask(&book, &address, Capability::Read, None, 0).is_allowed(), "{blank}");
        assert!(!ask(&book, &address, Capability::Eval, None, 0).is_allowed(), "{blank}");
        let opened = address.opened_by_page();
        assert_eq!(ask(&book, &opened, Capability::Read, None, 0).as_str(), "deny", "{blank}");
    }
}

#[test]
fn t19_only_a_grant_for_every_site_reaches_the_browser_as_a_whole() {
    let mut book = Rulebook::default();
    let stance = Stance::Grant { capabilities: Capabilities::EVERYTHING, term: Term::Always };
    book.ledger.add(Site::read("https://*").expect("a site"), stance.clone(), 0, "a test").expect("room");
    let everywhere = |book: &Rulebook| ask(book, &Address::Everywhere, Capability::Cdp, None, 0);
    let Decision::Ask { remedy, .. } = everywhere(&book) else { panic!("not granted") };
    assert_eq!(remedy, "tabwire allow '*' --cdp");
    book.ledger.add(Site::read("*").expect("a site"), stance, 0, "a test").expect("room");
    assert!(everywhere(&book).is_allowed());
}

#[test]
fn h2_methods_are_known_by_what_they_touch_and_unknown_ones_are_refused() {
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
fn t21_a_name_is_judged_by_where_it_leads_too() {
    let grants = |patterns: &[&str]| {
        let mut book = Rulebook::default();
        for pattern in patterns {
            let stance = Stance::Grant { capabilities: Capabilities::EVERYTHING, term: Term::Always };
            book.ledger.add(Site::read(pattern).expect("a site"), stance, 0, "a test").expect("room");
        }
        book
    };
    let named = Address::read("http://name.test:8080/x");
    let there = |address: &str| named.reached_at(address.parse().expect("an address"));
    for public in ["93.184.216.34", "2606:2800:220:1::1"] {
        assert_eq!(there(public), None, "what is on the internet is judged by its name");
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
        let reached = there(private).expect("somewhere else than the internet");
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
        assert!(why.starts_with("name.test leads to "), "{why}");
        let site = remedy.strip_prefix("tabwire allow ").expect("a command");
        assert!(ask(&grants(&[site]), &reached, Capability::Read, None, 0).is_allowed(), "{remedy}");
    }
    // Not even an open session reads what is link-local; what is private is its own business.
    for (address, allowed) in [("169.254.1.1", false), ("fe80::2", false), ("10.0.0.8", true)] {
        let reached = there(address).expect("no internet");
        let question = Question {
            profile: Profile::Open,
            address: &reached,
            capability: Capability::Read,
            session: None,
            now: 0,
        };
        assert_eq!(Rulebook::default().decide(&question).is_allowed(), allowed, "{address}");
    }
    // Names that say it themselves are judged once.
    let local = Address::read("http://a.localhost:8080/");
    assert_eq!(local.reached_at("127.0.0.1".parse().expect("an address")), None);
    assert!(local.reached_at("10.0.0.8".parse().expect("an address")).is_some());
}

#[test]
fn a_cookie_is_judged_by_its_host_whatever_the_scheme_and_port() {
    let mut book = Rulebook::default();
    let grant = Stance::Grant { capabilities: Capabilities::EVERYTHING, term: Term::Always };
    for site in ["*", "http://127.0.0.1:8080"] {
        book.ledger.add(Site::read(site).expect("a site"), grant.clone(), 0, "a test").expect("room");
    }
    let denied = Site::read_denied("bank.example").expect("a site");
    book.ledger.add(denied, Stance::Deny, 0, "a test").expect("room");
    let allowed =
        |domain: &str| ask(&book, &Address::of_cookie_domain(domain), Capability::Read, None, 0).is_allowed();
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
    // An open session leaves out what was denied.
    let open = |domain: &str| {
        let (profile, address) = (Profile::Open, &Address::of_cookie_domain(domain));
        let question = Question { profile, address, capability: Capability::Read, session: None, now: 0 };
        book.decide(&question).is_allowed()
    };
    assert!(open("localhost") && !open("bank.example") && !open("169.254.169.254"));
}
