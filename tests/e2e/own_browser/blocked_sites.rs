//! Sites that the user blocks: a daemon with the key gets neither their cookies nor their pages from the extension.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::own_browser::tabs::{connected_browser, extension_page};
use crate::support::cdp_client::CdpClient;
use crate::support::chromium::Chromium;
use crate::support::fake_daemon::{PlayedDaemon, command};
use crate::support::fixture_site::FixtureSite;
use crate::support::wait::{eventually, find_eventually};
use crate::support::world::World;

const DENIED: Option<&str> = Some("POLICY_DENIED");

/// What the user blocks: a site of its own, and one below a site that is not blocked.
const BLOCKED: [&str; 2] = ["b.localhost", "x.a.localhost"];

/// The user's browser, the user at its debugging port, and a daemon that means no good.
struct Siege {
    daemon: PlayedDaemon,
    user: CdpClient,
    /// The user's cdp session on a page of the extension.
    options: String,
    stale: PathBuf,
    site: FixtureSite,
    _browser: Chromium,
    _world: World,
}

impl Siege {
    fn begin() -> Self {
        let (world, site) = (World::new(), FixtureSite::start());
        let browser = connected_browser(&world);
        let (daemon, _, stale) = PlayedDaemon::replace(&world);
        let mut user = CdpClient::connect(&browser.websocket());
        let options = extension_page(&mut user);
        Self { daemon, user, options, stale, site, _browser: browser, _world: world }
    }

    fn block(&mut self, sites: &[&str]) {
        let asked = format!(
            "chrome.runtime.sendMessage({{ask: 'sites', blocked: {sites:?}}}).then((now) => now.blocked.length)"
        );
        assert_eq!(self.user.evaluate(&asked, &self.options), sites.len());
    }

    /// A tab that was opened for the daemon, at a page of site `a`.
    fn open(&mut self, path: &str) -> Value {
        let tab = self.daemon.call("open", &json!({}))["tab"].clone();
        self.daemon.call("attach", &json!({"tab": tab}));
        self.daemon.send(&tab, "Page.navigate", &json!({"url": self.site.page(path)}));
        self.await_loaded(&tab);
        tab
    }

    fn await_loaded(&mut self, tab: &Value) {
        let look = format!("chrome.tabs.get({tab}).then((one) => one.status)");
        let loaded =
            find_eventually(20, || (self.user.evaluate(&look, &self.options) == "complete").then_some(()));
        assert!(loaded.is_some(), "the page does not load");
    }

    fn evaluate(&mut self, tab: &Value, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        self.daemon.send(tab, "Runtime.evaluate", &params)["result"]["value"].take()
    }

    fn refusals(&mut self, tab: &Value, commands: &[(&str, Value)]) {
        for (method, params) in commands {
            let code = self.daemon.refusal(tab, method, params);
            assert_eq!(code.as_deref(), DENIED, "{method} {params}");
        }
    }
}

impl Drop for Siege {
    fn drop(&mut self) {
        // The native host of no later world is to find it.
        let _ = fs::remove_file(&self.stale);
    }
}

/// The cookies that the user has, by name.
fn cookie_jar(user: &mut CdpClient) -> Vec<String> {
    let cookies = user.call("Storage.getCookies", json!({}), None)["cookies"].take();
    let mut names: Vec<String> = cookies
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| format!("{}={}", one["name"].as_str().unwrap_or(""), one["value"].as_str().unwrap_or("")))
        .collect();
    names.sort();
    names
}

#[test]
fn h4_cookies_of_blocked_sites_are_neither_read_nor_changed() {
    let mut siege = Siege::begin();
    let (own, other) = (siege.site.page("/plain"), siege.site.url("b", "/plain"));
    let cookies = json!([
        {"name": "blocked", "value": "1", "url": other, "httpOnly": true},
        {"name": "wide", "value": "2", "domain": ".a.localhost", "httpOnly": true},
        {"name": "own", "value": "3", "url": own},
        {"name": "spare", "value": "4", "url": own},
    ]);
    siege.user.call("Storage.setCookies", json!({"cookies": cookies}), None);
    siege.block(&BLOCKED);
    let tab = siege.open("/plain");
    for (method, params) in [
        ("Network.getAllCookies", json!({})),
        ("Storage.getCookies", json!({})),
        ("Network.getCookies", json!({"urls": [own, other, siege.site.url("x.a", "/plain")]})),
    ] {
        let told = siege.daemon.send(&tab, method, &params).to_string();
        assert!(told.contains("\"own\""), "{method}: {told}");
        assert!(!told.contains("\"blocked\"") && !told.contains("\"wide\""), "{method}: {told}");
    }
    let set_cookie = |name: &str, value: &str| json!({"requestId": "1", "responseCode": 200, "responseHeaders": [{"name": name, "value": value}]});
    siege.refusals(
        &tab,
        &[
            ("Network.setCookie", json!({"name": "n", "value": "v", "url": other})),
            ("Network.setCookie", json!({"name": "n", "value": "v", "domain": "b.localhost", "path": "/"})),
            ("Network.setCookie", json!({"name": "n", "value": "v", "url": own, "domain": "A.localhost."})),
            ("Network.setCookies", json!({"cookies": [{"name": "n", "value": "v", "url": own}, {"name": "n", "value": "v", "url": other}]})),
            ("Storage.setCookies", json!({"cookies": [{"name": "n", "value": "v", "domain": ".b.localhost"}]})),
            ("Network.deleteCookies", json!({"name": "blocked", "url": other})),
            ("Network.deleteCookies", json!({"name": "blocked", "domain": "b.localhost"})),
            // It lies at the domain above, and the address of a site beside takes it along.
            ("Network.deleteCookies", json!({"name": "wide", "url": own})),
            ("Network.clearBrowserCookies", json!({})),
            ("Storage.clearCookies", json!({})),
            ("Fetch.fulfillRequest", set_cookie("Set-Cookie", "n=v; Domain=a.localhost")),
            ("Fetch.continueResponse", set_cookie("set-cookie", "n=v; path=/; domain=.a.localhost")),
        ],
    );
    // What is about other sites goes on.
    siege.daemon.send(&tab, "Network.deleteCookies", &json!({"name": "spare", "url": own}));
    siege.daemon.send(&tab, "Network.setCookie", &json!({"name": "new", "value": "5", "url": own}));
    assert_eq!(cookie_jar(&mut siege.user), ["blocked=1", "new=5", "own=3", "wide=2"]);
    check_cookie_rules(&mut siege);

    siege.daemon.send(&tab, "Network.enable", &json!({}));
    let fetch = json!({
        "expression": "fetch('/cookie/show').then((said) => said.text())",
        "awaitPromise": true,
    });
    let asked = siege.daemon.ask("send", &command(&tab, "Runtime.evaluate", &fetch));
    let mut events = siege.daemon.read_to(asked);
    assert!(events.last().is_some_and(|sent| sent.to_string().contains("wide=2")), "it is sent: {events:?}");
    let settled = siege.daemon.ask("settle", &json!({"tab": tab}));
    events.extend(siege.daemon.read_to(settled));
    let told: Vec<String> = events
        .iter()
        .filter(|event| event["method"] == "Network.requestWillBeSentExtraInfo")
        .map(Value::to_string)
        .collect();
    assert!(told.iter().any(|event| event.contains("own=3")), "{events:?}");
    assert!(!told.iter().any(|event| event.contains("wide")), "{told:?}");
}

/// Which cookies count as a blocked site's, asked of the extension's own modules.
fn check_cookie_rules(siege: &mut Siege) {
    siege.block(&["bank.example", "*.shop.example", "mail.site.co.uk"]);
    let told = |cookies: &Value| {
        format!(
            "Promise.all([import('/policy/sites.js'), import('/policy/blocked_cookies.js')])\
             .then(async ([sites, cookies]) => {{\
               await sites.load();\
               return cookies.allowedCookies({cookies}).map((one) => one.name);\
             }})"
        )
    };
    let cookie = |name: &str, domain: &str| json!({"name": name, "domain": domain});
    let partitioned = |name: &str, site: &str| json!({"name": name, "domain": "cdn.test", "partitionKey": {"topLevelSite": site, "hasCrossSiteAncestor": true}});
    let cookies = json!([
        cookie("host", "bank.example"),
        cookie("wide", ".bank.example"),
        cookie("below", "www.bank.example"),
        cookie("wide below", ".www.bank.example"),
        cookie("wildcard", "a.shop.example"),
        cookie("wildcard's own", "shop.example"),
        cookie("wildcard's wide", ".shop.example"),
        cookie("sibling", "www.site.co.uk"),
        cookie("shared", ".site.co.uk"),
        cookie("alike", "notbank.example"),
        cookie("dotted", "BANK.example."),
        partitioned("partition", "https://bank.example"),
        partitioned("partition above", "https://site.co.uk"),
        partitioned("partition beside", "https://other.example"),
    ]);
    let kept = siege.user.evaluate(&told(&cookies), &siege.options);
    let expected = ["below", "wide below", "wildcard's own", "sibling", "alike", "partition beside"];
    assert_eq!(kept, json!(expected));
    siege.block(&BLOCKED);
}

/// Ways of a page to a blocked site, as scripts that the daemon has the page run.
fn ways(site: &FixtureSite) -> [(&'static str, String); 4] {
    let there = site.url("b", "/article");
    let redirect = site.page(&format!("/redirect/to?to={}", there.replace(':', "%3A").replace('/', "%2F")));
    [
        ("location", format!("location.href = {there:?}")),
        ("redirect", format!("location.href = {redirect:?}")),
        ("service worker", format!("location.href = {:?}", site.url("b", "/worker/scope/from-worker"))),
        ("history", "history.back()".to_owned()),
    ]
}

#[test]
fn h4_pages_of_blocked_sites_are_neither_entered_nor_fetched() {
    let mut siege = Siege::begin();
    // The blocked site has a worker that answers for it, and one tab was there before.
    let before = siege.user.open_page(&siege.site.url("b", "/worker/service")).session;
    eventually("the worker is there", 20, || {
        siege.user.evaluate("document.getElementById('answer')?.textContent", &before) == "ping pong"
    });
    siege.block(&BLOCKED);
    let script = format!(
        "if (location.hostname === 'b.localhost') fetch({:?}, {{mode: 'no-cors'}})",
        siege.site.page("/image.svg")
    );
    for (way, go) in ways(&siege.site) {
        let tab = match way {
            "history" => was_there(&mut siege, &before),
            _ => siege.open("/plain"),
        };
        siege.daemon.send(&tab, "Page.addScriptToEvaluateOnNewDocument", &json!({"source": script}));
        siege.evaluate(&tab, &go);
        assert_eq!(siege.daemon.wait_for_detached(&tab), "blocked", "{way}");
        let refused = siege.daemon.answer("attach", &json!({"tab": tab}));
        assert_eq!(refused["error"]["code"].as_str(), DENIED, "{way}: {refused}");
        assert_eq!(
            siege.daemon.refusal(&tab, "Runtime.evaluate", &json!({"expression": "1"})).as_deref(),
            DENIED
        );
    }
    assert_eq!(siege.site.request_count("/article"), 0, "no page was fetched");
    assert_eq!(siege.site.request_count("/image.svg"), 0, "no script ran there");
    check_commands(&mut siege);
    check_frames(&mut siege);
}

/// A tab of the user's that was at the blocked site, is elsewhere now, and is shared.
fn was_there(siege: &mut Siege, session: &str) -> Value {
    let url = siege.site.page("/plain?was-there");
    siege.user.evaluate(&format!("void (location.href = {url:?})"), session);
    let share = format!(
        "chrome.tabs.query({{url: {url:?}, status: 'complete'}}).then(([tab]) => tab && chrome.runtime.sendMessage(\
         {{ask: 'share', tab: tab.id}}).then(() => tab.id))"
    );
    let tab = find_eventually(10, || siege.user.evaluate(&share, &siege.options).as_i64());
    let tab = json!(tab.expect("the tab is shared"));
    siege.daemon.call("attach", &json!({"tab": tab}));
    let history = siege.daemon.send(&tab, "Page.getNavigationHistory", &json!({}));
    assert!(!history.to_string().contains("b.localhost"), "{history}");
    tab
}

/// Commands that reach beyond the page.
fn check_commands(siege: &mut Siege) {
    let there = siege.site.url("b", "/article");
    let tab = siege.open("/plain");
    let frame = siege.daemon.send(&tab, "Page.getFrameTree", &json!({}))["frameTree"]["frame"]["id"].take();
    let options = json!({"disableCache": false, "includeCredentials": true});
    siege.refusals(
        &tab,
        &[
            ("Page.navigate", json!({"url": there})),
            ("Page.navigate", json!({"url": format!("view-source:{there}")})),
            ("Network.loadNetworkResource", json!({"frameId": frame, "url": there, "options": options})),
            ("Network.loadNetworkResource", json!({"frameId": frame, "url": "x", "options": options})),
            ("Fetch.continueRequest", json!({"requestId": "1", "url": there})),
            ("Page.getResourceContent", json!({"frameId": frame, "url": there})),
            ("Storage.getUsageAndQuota", json!({"origin": there})),
            ("CacheStorage.requestCacheNames", json!({"securityOrigin": there})),
            ("Tracing.start", json!({})),
            ("Target.sendMessageToTarget", json!({"message": "{}", "targetId": "x"})),
            ("Network.futureMethod", json!({})),
        ],
    );
    // These would let service workers answer again: they are taken for done.
    siege.daemon.send(&tab, "Network.disable", &json!({}));
    siege.daemon.send(&tab, "Network.setBypassServiceWorker", &json!({"bypass": false}));
    siege.daemon.send(&tab, "Network.enable", &json!({}));
    let worker = siege.site.url("b", "/worker/scope/from-worker");
    let fetches = format!(
        "Promise.all([{there:?}, {worker:?}].map((url) => fetch(url, {{mode: 'no-cors', credentials: 'include'}})\
         .then(() => 'came', () => 'blocked')))"
    );
    assert_eq!(siege.evaluate(&tab, &fetches), json!(["blocked", "blocked"]));
    let shared = format!(
        "new Promise((resolve) => {{\
           const code = `onconnect = ({{ ports: [port] }}) => fetch({there:?}, {{mode: 'no-cors', credentials: 'include'}})\
             .then(() => 'came', () => 'blocked').then((how) => port.postMessage(how))`;\
           const worker = new SharedWorker(URL.createObjectURL(new Blob([code])));\
           worker.port.onmessage = ({{ data }}) => resolve(data);\
         }})"
    );
    assert_eq!(siege.evaluate(&tab, &shared), "blocked", "a worker that belongs to no tab");
    check_interception(siege, &tab);
    assert_eq!(siege.site.request_count("/article"), 0);
    let download = siege.daemon.answer("download", &json!({"tab": tab, "url": there}));
    assert_eq!(download["error"]["code"].as_str(), DENIED, "{download}");
    let any = siege.daemon.answer("download", &json!({"tab": tab}));
    assert_eq!(any["error"]["code"], "BAD_ARGS", "{any}");
}

/// Requests that are held and sent on elsewhere: a redirect to the blocked site is not followed.
fn check_interception(siege: &mut Siege, tab: &Value) {
    let there = siege.site.url("b", "/article");
    let redirect =
        siege.site.page(&format!("/redirect/to?to={}", there.replace(':', "%3A").replace('/', "%2F")));
    siege.daemon.send(tab, "Fetch.enable", &json!({"patterns": [{"urlPattern": "*/moment"}]}));
    let location = json!([{"name": "location", "value": there}]);
    for (method, more) in [
        ("Fetch.continueRequest", json!({"url": redirect})),
        ("Fetch.fulfillRequest", json!({"responseCode": 302, "responseHeaders": location})),
    ] {
        let expression = "fetch('/moment', {mode: 'no-cors'}).then(() => 'came', () => 'blocked')";
        let params = json!({"expression": expression, "awaitPromise": true});
        let asked = siege.daemon.ask("send", &command(tab, "Runtime.evaluate", &params));
        let held = siege.daemon.wait_for_event("Fetch.requestPaused");
        let mut params = more;
        params["requestId"] = held["params"]["requestId"].clone();
        siege.daemon.ask("send", &command(tab, method, &params));
        let answer = siege.daemon.read_to(asked).pop().expect("an answer");
        assert_eq!(answer["result"]["result"]["value"], "blocked", "{method}: {answer}");
    }
    siege.daemon.send(tab, "Fetch.disable", &json!({}));
}

/// Frames of blocked sites in a page that is driven, and in one that is to be.
fn check_frames(siege: &mut Siege) {
    let tab = siege.open("/plain");
    let auto = json!({"autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true});
    siege.daemon.send(&tab, "Target.setAutoAttach", &auto);
    let frames: Vec<String> = ["b", "x.a"].iter().map(|name| siege.site.url(name, "/article")).collect();
    let worker = siege.site.url("b", "/worker/scope/from-worker");
    let add = format!(
        "Promise.all([...{frames:?}, {worker:?}].map((src) => new Promise((resolve) => {{\
           const frame = Object.assign(document.createElement('iframe'), {{src, onload: resolve}});\
           document.body.append(frame);\
         }}))).then(() => 'loaded')"
    );
    assert_eq!(siege.evaluate(&tab, &add), "loaded");
    assert_eq!(siege.site.request_count("/article"), 0, "no frame was fetched");
    let text =
        siege.daemon.send(&tab, "DOMSnapshot.captureSnapshot", &json!({"computedStyles": []})).to_string();
    assert!(!text.contains("made by the service worker"), "{text}");

    check_inherited_origin(siege);

    // Without the list they come up; with it, the tab is let go of, and not taken up again.
    siege.block(&[]);
    assert_eq!(siege.evaluate(&tab, &add), "loaded");
    assert!(siege.site.request_count("/article") > 0);
    siege.block(&BLOCKED);
    assert_eq!(siege.daemon.wait_for_detached(&tab), "blocked");
    let refused = siege.daemon.answer("attach", &json!({"tab": tab}));
    assert_eq!(refused["error"]["code"].as_str(), DENIED, "{refused}");
}

/// An empty tab that a page of the blocked site made has that site's origin and cookies, though its address is blank.
fn check_inherited_origin(siege: &mut Siege) {
    let there = siege.user.open_page(&siege.site.url("b", "/form")).session;
    eventually("the page is there", 10, || siege.user.evaluate("document.title", &there) == "Form");
    siege.user.evaluate("window.made = open('about:blank'); 1", &there);
    let share = "chrome.tabs.query({}).then((all) => all.filter((tab) => tab.openerTabId !== undefined && tab.url === 'about:blank'))\
        .then(([tab]) => tab && chrome.runtime.sendMessage({ask: 'share', tab: tab.id}).then(() => tab.id))";
    let made = find_eventually(10, || siege.user.evaluate(share, &siege.options).as_i64());
    let refused = siege.daemon.answer("attach", &json!({"tab": made.expect("an empty tab")}));
    assert_eq!(refused["error"]["code"].as_str(), DENIED, "{refused}");
}

#[test]
fn l8_names_of_built_in_properties_are_no_tabs() {
    let mut siege = Siege::begin();
    for tab in [
        json!("toString"),
        json!("__proto__"),
        json!("constructor"),
        json!("1"),
        json!(1.5),
        json!(null),
        json!({}),
    ] {
        for name in ["attach", "close", "activate", "download", "send"] {
            let with = json!({"tab": tab, "method": "Page.enable", "url": "http://a.localhost/"});
            let answer = siege.daemon.answer(name, &with);
            assert_eq!(answer["error"]["code"], "BAD_ARGS", "{name} {tab}: {answer}");
        }
    }
    let tab = siege.open("/plain");
    for (method, params) in
        [(json!(["Network.clearBrowserCookies"]), json!({})), (json!("Page.enable"), json!([]))]
    {
        let answer = siege.daemon.answer("send", &json!({"tab": tab, "method": method, "params": params}));
        assert_eq!(answer["error"]["code"], "BAD_ARGS", "{answer}");
    }
    let unknown = siege.daemon.answer("toString", &json!({}));
    assert_eq!(unknown["error"]["code"], "UNKNOWN_METHOD", "{unknown}");
}
