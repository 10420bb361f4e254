//! Every action, with every parameter that the policy classifies, on every kind of page, under every single grant.
//!
//! `expected` has the rules over the needs that an action declares. Every result is searched for the canary
//! of the ungranted sites, and at the end the files and the log.

use std::path::Path;

use serde_json::{Value, json};
use tabwire_engine::{ACTIONS, Definition, SCRIPT_ACTIONS};
use tabwire_policy::{Capability, Needs, ResultCheck, Scope};

use crate::browser::action::batch;
use crate::policy::grants::{allow, guarded, revoke_all};
use crate::support::fixture_site::FixtureSite;
use crate::support::wait::eventually;
use crate::support::world::World;

/// Text in every part of an ungranted page.
const CANARY: &str = "CANARY";

/// Kinds of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Page {
    /// A page of the site that gets the grants.
    Own,
    /// A page of another site.
    Other,
    /// An own page with a frame of another origin of the same site, in the same process.
    SameProcessFrame,
    /// An own page with a frame of another site, in its own process.
    OtherProcessFrame,
    /// A page that was opened without a URL.
    Blank,
    /// An own page that sent a request to another site.
    RequestElsewhere,
}

/// Actions that are left out, each with the reason.
const LEFT_OUT: &[(&str, &str)] = &[
    ("tab_new", "opens a tab with each call; its URL is judged as that of navigate"),
    ("tab_close", "closes the tab that the other calls are for"),
    ("back", "moves the tab; hostile::bypass tests it"),
    ("forward", "moves the tab; hostile::bypass tests it"),
    ("clipboard", "needs every site; actions::registry tests it"),
];

/// The rules. True when the call must get past the policy, false when it must be refused.
fn expected(needs: &Needs, page: Page, grant: Capability) -> bool {
    let is_granted = |capability: Capability| capability == grant || capability == Capability::Read;
    let holds = |scope: &Scope, capability: Capability| match (scope, page) {
        // Nothing was granted for every site or for the URL in the parameters.
        (Scope::EverySite | Scope::Url(_), _) => false,
        (Scope::Tab, Page::Blank) => true,
        (Scope::Page, Page::Blank) => capability == Capability::Read,
        (Scope::Page | Scope::Tab, Page::Other) => false,
        (Scope::Page | Scope::Tab, _) => is_granted(capability),
    };
    let has_frame = matches!(page, Page::SameProcessFrame | Page::OtherProcessFrame);
    needs.iter().all(|need| holds(&need.scope, need.capability))
        && !(page == Page::Other && needs.result() == ResultCheck::Page)
        && !(has_frame && needs.shows_every_frame())
}

/// Parameters to call an action with: the required ones, and those with each classified parameter.
fn variants(action: &Definition, other: &str, tab: &str) -> Vec<Value> {
    let mut plain = action.sample_parameters();
    for (name, value) in [("target", "#field"), ("id", tab), ("url", other)] {
        if plain.get(name).is_some() {
            plain[name] = json!(value);
        }
    }
    let schema = (action.parameters)();
    let mut all = vec![plain.clone()];
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let value = match property["x-carries"].as_str().unwrap_or_default() {
            "code" => json!("document.cookie"),
            "url" | "origin" | "target_or_url" => json!(other),
            "file_written" => json!("written.bin"),
            "file_given" | "file_written_or_given" | "file_read" => json!("given.bin"),
            "response" | "request" | "header" => json!("X-Corpus: 1"),
            "permission" => json!("geolocation"),
            _ => continue,
        };
        let is_list = property["type"].to_string().contains("array");
        let mut variant = plain.clone();
        variant[name] = if is_list { json!([value]) } else { value };
        all.push(variant);
    }
    all
}

/// One call: the action, its parameters, and the kind of page it is for.
struct Cell {
    action: &'static Definition,
    params: Value,
    page: Page,
    tab: String,
}

impl Cell {
    fn line(&self) -> String {
        let call = json!({
            "action": self.action.name, "params": self.params, "tab": self.tab, "timeout_ms": 150,
        });
        call.to_string()
    }
}

/// Opens a tab of every kind.
fn open_pages(world: &World, site: &FixtureSite) -> Vec<(Page, String)> {
    let secret = |host: &str| site.url(host, "/policy/secret");
    let with = |name: &str, url: &str| {
        let encoded = url.replace(':', "%3A").replace('/', "%2F");
        site.page(&format!("/policy/page?{name}={encoded}"))
    };
    for host in ["a", "b", "x.a"] {
        allow(world, &[site.url(host, "").trim_end_matches('/'), "--carry"]);
    }
    let open = |url: &str| world.open(&["--new-tab", url]);
    let pages = vec![
        (Page::Own, open(&site.page("/policy/page"))),
        (Page::Other, open(&secret("b"))),
        (Page::SameProcessFrame, open(&with("frame", &secret("x.a")))),
        (Page::OtherProcessFrame, open(&with("frame", &secret("b")))),
        (Page::RequestElsewhere, open(&with("fetch", &secret("b")))),
        (Page::Blank, open("about:blank")),
    ];
    eventually("the frames are there", 15, || {
        pages
            .iter()
            .filter(|(page, _)| format!("{page:?}").ends_with("Frame"))
            .all(|(_, tab)| world.run(&["get-text", "--tab", tab]).stdout.contains(CANARY))
    });
    revoke_all(world);
    pages
}

fn cells(pages: &[(Page, String)], other: &str) -> Vec<Cell> {
    let is_used = |action: &&Definition| !LEFT_OUT.iter().any(|(name, _)| *name == action.name);
    let of_page = |(page, tab): &(Page, String)| {
        let actions = ACTIONS.iter().chain(SCRIPT_ACTIONS).filter(is_used);
        actions
            .flat_map(|action| {
                let calls = variants(action, other, tab).into_iter();
                calls.map(|params| Cell { action, params, page: *page, tab: tab.clone() }).collect::<Vec<_>>()
            })
            .collect::<Vec<_>>()
    };
    pages.iter().flat_map(of_page).collect()
}

/// Every file below a directory that contains the canary.
pub(crate) fn files_with_canary(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        // The browser's own files contain every visited page, canaries included.
        if path.is_dir() && !path.ends_with("profiles") {
            found.extend(files_with_canary(&path));
        } else if std::fs::read(&path).is_ok_and(|bytes| contains(&bytes, CANARY.as_bytes())) {
            found.push(path.display().to_string());
        }
    }
    found
}

fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

#[test]
fn every_action_follows_the_rules_on_every_page_and_grant() {
    let (world, site) = (guarded().with_whole_chromium(), FixtureSite::start());
    let pages = open_pages(&world, &site);
    let other = site.url("b", "/policy/secret");
    let own = site.page("").trim_end_matches('/').to_owned();
    let cells = cells(&pages, &other);
    let input: Vec<String> = cells.iter().map(Cell::line).collect();
    let input = input.join("\n");
    let mut faults = Vec::new();
    for grant in Capability::ALL.iter().copied().filter(|grant| *grant != Capability::Carry) {
        revoke_all(&world);
        // The other site was read while the tabs were opened. `flow.rs` tests `carry`.
        let flag = format!("--{}", grant.as_str());
        let more: &[&str] = if grant == Capability::Read { &[] } else { &[&flag] };
        allow(&world, &[&[own.as_str(), "--carry"], more].concat());
        let (_, responses) = batch(&world, &["batch"], &input);
        assert_eq!(responses.len(), cells.len());
        for (cell, response) in cells.iter().zip(&responses) {
            let Cell { action, params, page, .. } = cell;
            let name = || format!("{} {params} on {page:?} with {}", action.name, grant.as_str());
            if response.to_string().contains(CANARY) {
                faults.push(format!("{} leaks: {response}", name()));
            }
            let code = response["error"]["code"].as_str().unwrap_or("none");
            let Ok(needs) = action.needs(params) else {
                assert_eq!(code, "BAD_ARGS", "{}", name());
                continue;
            };
            let is_allowed = expected(&needs, *page, grant);
            if is_allowed != (code != "POLICY_DENIED") {
                faults.push(format!("{}: allowed must be {is_allowed}, got {response}", name()));
            }
        }
    }
    let count = faults.len();
    faults.truncate(40);
    assert!(faults.is_empty(), "{count} faults:\n{}", faults.join("\n"));
    world.run(&["daemon", "stop"]).succeeded();
    let found = files_with_canary(world.home());
    assert!(found.is_empty(), "files contain the canary: {found:?}");
}
