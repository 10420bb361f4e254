//! The cost of a decision: a URL parsed and checked against many rules and grants, as for every guarded CDP
//! command.
#![expect(clippy::print_stdout, reason = "a bench prints its table")]

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

use serde_json::json;
use tabwire_engine::ACTIONS;
use tabwire_policy::{
    AccessRequest, Capabilities, Capability, GrantList, MethodRule, PageUrl, PolicyFile, Profile,
};
use tabwire_policy::{EntryKind, GrantTerm, Policy, Site};
use tabwire_testkit::bench::{Sample, micros};

const ROUNDS: u32 = 20_000;
const RULES: usize = 50;
const FRAMES: usize = 20;

fn per_round(mut work: impl FnMut()) -> Duration {
    let mut sample = Sample::default();
    for _ in 0..7 {
        let before = Instant::now();
        for _ in 0..ROUNDS {
            work();
        }
        sample.add(before.elapsed() / ROUNDS);
    }
    sample.minimum()
}

/// Fifty rules and fifty grants, of which the last allows.
fn rulebook() -> Policy {
    let mut text = String::new();
    for number in 0..RULES {
        let _ = writeln!(text, "[[rule]]\nsite = \"https://*.rule{number}.example/app\"\nallow = [\"act\"]");
    }
    let mut ledger = GrantList::default();
    for number in 0..RULES {
        let stance = EntryKind::Grant { capabilities: Capabilities::EVERYTHING, term: GrantTerm::Always };
        let site = Site::parse(&format!("https://site{number}.example")).expect("a site");
        ledger.add(site, stance, 0, "a bench").expect("room");
    }
    Policy { file: PolicyFile::parse(&text).expect("a policy"), grants: ledger, ..Policy::default() }
}

fn judge(rulebook: &Policy, url: &str, profile: Profile) -> bool {
    let address = PageUrl::parse(url);
    let question =
        AccessRequest { profile, url: &address, capability: Capability::Read, session: None, now: 1 };
    rulebook.decide(&question).is_allowed()
}

const URL: &str = "https://site49.example/a/path/of/usual/length?with=a&query=too";

fn main() {
    let book = rulebook();
    for (name, url) in
        [("granted last", URL), ("not granted", "https://nowhere.example/"), ("data", "data:text/html,x")]
    {
        let cost = per_round(|| {
            black_box(MethodRule::of("Runtime.evaluate"));
            black_box(judge(&book, url, Profile::Guarded));
        });
        println!("decision, {name}: {} (limit 20 us)", micros(cost));
    }
    // The cost of a page with many frames when one has changed; the result is cached for a second.
    let urls: Vec<String> =
        (0..FRAMES).map(|number| format!("https://site49.example/frame/{number}")).collect();
    let frames = per_round(|| {
        black_box(urls.iter().all(|url| judge(&book, url, Profile::Guarded)));
    });
    println!("{FRAMES} frames, once for each change of one: {}", micros(frames));
    // The needs of an action are computed from its parameters with every call.
    for (name, params) in [
        ("click", json!({"target": "e12"})),
        ("route", json!({"url": "*/api/*", "body": "{}", "header": ["x-own: 1"]})),
    ] {
        let action = ACTIONS.iter().find(|action| action.name == name).expect("an action");
        let needs = per_round(|| {
            let needs = action.needs(&params).expect("valid parameters");
            black_box(needs.iter().all(|_| judge(&book, URL, Profile::Guarded)));
        });
        println!("action {name}, needs and decision: {} (limit 300 us)", micros(needs));
    }
    let open = per_round(|| {
        black_box(judge(&book, URL, Profile::Open));
    });
    println!("decision, open profile: {}", micros(open));
}
