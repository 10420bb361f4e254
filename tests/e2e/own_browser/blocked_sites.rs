//! Sites that the user blocks: a daemon with the key gets neither their cookies nor their pages from the extension.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::own_browser::tabs::{connected_browser, extension_page};
use crate::support::cdp_client::CdpClient;
use crate::support::chromium::Chromium;
use crate::support::fake_daemon::{FakeDaemon, command};
use crate::support::fixture_site::FixtureSite;
use crate::support::wait::{eventually, find_eventually};
use crate::support::world::World;

const DENIED: Option<&str> = Some("POLICY_DENIED");

/// Blocked sites: a separate one, and a subdomain of a site that is not blocked.
const BLOCKED: [&str; 2] = ["b.localhost", "x.a.localhost"];

/// The user's browser, the user's CDP client, and a hostile fake daemon.
struct HostileDaemonTest {
    daemon: FakeDaemon,
    user: CdpClient,
    /// The user's CDP session on a page of the extension.
    options: String,
    stale: PathBuf,
    site: FixtureSite,
    _browser: Chromium,
    _world: World,
}

impl HostileDaemonTest {
    fn begin() -> Self {
        let (world, site) = (World::new(), FixtureSite::start());
        let browser = connected_browser(&world);
        let (daemon, _, stale) = FakeDaemon::replace(&world);
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

    /// A tab that was opened for the daemon, on a page of site `a`.
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

impl Drop for HostileDaemonTest {
    fn drop(&mut self) {
        // The native host of a later world must not find it.
        let _ = fs::remove_file(&self.stale);
    }
}

/// The names of the user's cookies.
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
    let mut test = HostileDaemonTest::begin();
    let (own, other) = (test.site.page("/plain"), test.site.url("b", "/plain"));
    let cookies = json!([
        {"name": "blocked", "value": "1", "url": other, "httpOnly": true},
        {"name": "wide", "value": "2", "domain": ".a.localhost", "httpOnly": true},
        {"name": "own", "value": "3", "url": own},
        {"name": "spare", "value": "4", "url": own},
    ]);
    test.user.call("Storage.setCookies", json!({"cookies": cookies}), None);
    test.block(&BLOCKED);
    let tab = test.open("/plain");
    for (method, params) in [
        ("Network.getAllCookies", json!({})),
        ("Storage.getCookies", json!({})),
        ("Network.getCookies", json!({"urls": [own, other, test.site.url("x.a", "/plain")]})),
    ] {
        let output = test.daemon.send(&tab, method, &params).to_string();
        assert!(output.contains("\"own\""), "{method}: {output}");
        assert!(!output.contains("\"blocked\"") && !output.contains("\"wide\""), "{method}: {output}");
    }
    let set_cookie = |name: &str, value: &str| json!({"requestId": "1", "responseCode": 200, "responseHeaders": [{"name": name, "value": value}]});
    test.refusals(
        &tab,
        &[
            ("Network.setCookie", json!({"name": "n", "value": "v", "url": other})),
            ("Network.setCookie", json!({"name": "n", "value": "v", "domain": "b.localhost", "path": "/"})),
            ("Network.setCookie", json!({"name": "n", "value": "v", "url": own, "domain": "A.localhost."})),
            ("Network.setCookies", json!({"cookies": [{"name": "n", "value": "v", "url": own}, {"name": "n", "value": "v", "url": other}]})),
            ("Storage.setCookies", json!({"cookies": [{"name": "n", "value": "v", "domain": ".b.localhost"}]})),
            ("Network.deleteCookies", json!({"name": "blocked", "url": other})),
            ("Network.deleteCookies", json!({"name": "blocked", "domain": "b.localhost"})),
            // The cookie belongs to the parent domain, so requests to a sibling site send it too.
            ("Network.deleteCookies", json!({"name": "wide", "url": own})),
            ("Network.clearBrowserCookies", json!({})),
            ("Storage.clearCookies", json!({})),
            ("Fetch.fulfillRequest", set_cookie("Set-Cookie", "n=v; Domain=a.localhost")),
            ("Fetch.continueResponse", set_cookie("set-cookie", "n=v; path=/; domain=.a.localhost")),
        ],
    );
    // Commands about other sites still work.
    test.daemon.send(&tab, "Network.deleteCookies", &json!({"name": "spare", "url": own}));
    test.daemon.send(&tab, "Network.setCookie", &json!({"name": "new", "value": "5", "url": own}));
    assert_eq!(cookie_jar(&mut test.user), ["blocked=1", "new=5", "own=3", "wide=2"]);
    check_cookie_rules(&mut test);

    test.daemon.send(&tab, "Network.enable", &json!({}));
    let fetch = json!({
        "expression": "fetch('/cookie/show').then((said) => said.text())",
        "awaitPromise": true,
    });
    let asked = test.daemon.ask("send", &command(&tab, "Runtime.evaluate", &fetch));
    let mut events = test.daemon.read_to(asked);
    assert!(events.last().is_some_and(|sent| sent.to_string().contains("wide=2")), "it is sent: {events:?}");
    let settled = test.daemon.ask("settle", &json!({"tab": tab}));
    events.extend(test.daemon.read_to(settled));
    let output: Vec<String> = events
        .iter()
        .filter(|event| event["method"] == "Network.requestWillBeSentExtraInfo")
        .map(Value::to_string)
        .collect();
    assert!(output.iter().any(|event| event.contains("own=3")), "{events:?}");
    assert!(!output.iter().any(|event| event.contains("wide")), "{output:?}");
}

/// Checks with the extension's own modules which cookies belong to blocked sites.
fn check_cookie_rules(test: &mut HostileDaemonTest) {
    test.block(&["bank.example", "*.shop.example", "mail.site.co.uk"]);
    let show_cookies = |cookies: &Value| {
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
    let kept = test.user.evaluate(&show_cookies(&cookies), &test.options);
    let expected = ["below", "wide below", "wildcard's own", "sibling", "alike", "partition beside"];
    assert_eq!(kept, json!(expected));
    test.block(&BLOCKED);
}

/// Ways of a page to a blocked site, as scripts that the daemon runs in the page.
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
    let mut test = HostileDaemonTest::begin();
    // The blocked site has a service worker that responds for it, and one of its tabs was open before.
    let before = test.user.open_page(&test.site.url("b", "/worker/service")).session;
    eventually("the worker is there", 20, || {
        test.user.evaluate("document.getElementById('answer')?.textContent", &before) == "ping pong"
    });
    test.block(&BLOCKED);
    let script = format!(
        "if (location.hostname === 'b.localhost') fetch({:?}, {{mode: 'no-cors'}})",
        test.site.page("/image.svg")
    );
    for (way, go) in ways(&test.site) {
        let tab = match way {
            "history" => was_there(&mut test, &before),
            _ => test.open("/plain"),
        };
        test.daemon.send(&tab, "Page.addScriptToEvaluateOnNewDocument", &json!({"source": script}));
        // Not waited for: the navigation can end the script before its response.
        test.daemon.ask("send", &command(&tab, "Runtime.evaluate", &json!({"expression": go})));
        assert_eq!(test.daemon.wait_for_detached(&tab), "blocked", "{way}");
        let refused = test.daemon.response("attach", &json!({"tab": tab}));
        assert_eq!(refused["error"]["code"].as_str(), DENIED, "{way}: {refused}");
        assert_eq!(
            test.daemon.refusal(&tab, "Runtime.evaluate", &json!({"expression": "1"})).as_deref(),
            DENIED
        );
    }
    assert_eq!(test.site.request_count("/article"), 0, "no page was fetched");
    assert_eq!(test.site.request_count("/image.svg"), 0, "no script ran on the blocked site");
    check_commands(&mut test);
    check_frames(&mut test);
}

/// A shared tab of the user that was on the blocked site and is elsewhere now.
fn was_there(test: &mut HostileDaemonTest, session: &str) -> Value {
    let url = test.site.page("/plain?was-there");
    test.user.evaluate(&format!("void (location.href = {url:?})"), session);
    let share = format!(
        "chrome.tabs.query({{url: {url:?}, status: 'complete'}}).then(([tab]) => tab && chrome.runtime.sendMessage(\
         {{ask: 'share', tab: tab.id}}).then(() => tab.id))"
    );
    let tab = find_eventually(10, || test.user.evaluate(&share, &test.options).as_i64());
    let tab = json!(tab.expect("the tab is shared"));
    test.daemon.call("attach", &json!({"tab": tab}));
    let history = test.daemon.send(&tab, "Page.getNavigationHistory", &json!({}));
    assert!(!history.to_string().contains("b.localhost"), "{history}");
    tab
}

/// Commands with an effect outside of the page.
fn check_commands(test: &mut HostileDaemonTest) {
    let there = test.site.url("b", "/article");
    let tab = test.open("/plain");
    let frame = test.daemon.send(&tab, "Page.getFrameTree", &json!({}))["frameTree"]["frame"]["id"].take();
    let options = json!({"disableCache": false, "includeCredentials": true});
    test.refusals(
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
    // These would let service workers respond again, so the extension returns success without sending them.
    test.daemon.send(&tab, "Network.disable", &json!({}));
    test.daemon.send(&tab, "Network.setBypassServiceWorker", &json!({"bypass": false}));
    test.daemon.send(&tab, "Network.enable", &json!({}));
    let worker = test.site.url("b", "/worker/scope/from-worker");
    let fetches = format!(
        "Promise.all([{there:?}, {worker:?}].map((url) => fetch(url, {{mode: 'no-cors', credentials: 'include'}})\
         .then(() => 'came', () => 'blocked')))"
    );
    assert_eq!(test.evaluate(&tab, &fetches), json!(["blocked", "blocked"]));
    let shared = format!(
        "new Promise((resolve) => {{\
           const code = `onconnect = ({{ ports: [port] }}) => fetch({there:?}, {{mode: 'no-cors', credentials: 'include'}})\
             .then(() => 'came', () => 'blocked').then((how) => port.postMessage(how))`;\
           const worker = new SharedWorker(URL.createObjectURL(new Blob([code])));\
           worker.port.onmessage = ({{ data }}) => resolve(data);\
         }})"
    );
    assert_eq!(test.evaluate(&tab, &shared), "blocked", "a worker that belongs to no tab");
    check_interception(test, &tab);
    assert_eq!(test.site.request_count("/article"), 0);
    let download = test.daemon.response("download", &json!({"tab": tab, "url": there}));
    assert_eq!(download["error"]["code"].as_str(), DENIED, "{download}");
    let any = test.daemon.response("download", &json!({"tab": tab}));
    assert_eq!(any["error"]["code"], "BAD_ARGS", "{any}");
}

/// Paused requests that are redirected: a redirect to the blocked site is not followed.
fn check_interception(test: &mut HostileDaemonTest, tab: &Value) {
    let there = test.site.url("b", "/article");
    let redirect =
        test.site.page(&format!("/redirect/to?to={}", there.replace(':', "%3A").replace('/', "%2F")));
    test.daemon.send(tab, "Fetch.enable", &json!({"patterns": [{"urlPattern": "*/moment"}]}));
    let location = json!([{"name": "location", "value": there}]);
    for (method, more) in [
        ("Fetch.continueRequest", json!({"url": redirect})),
        ("Fetch.fulfillRequest", json!({"responseCode": 302, "responseHeaders": location})),
    ] {
        let expression = "fetch('/moment', {mode: 'no-cors'}).then(() => 'came', () => 'blocked')";
        let params = json!({"expression": expression, "awaitPromise": true});
        let asked = test.daemon.ask("send", &command(tab, "Runtime.evaluate", &params));
        let held = test.daemon.wait_for_event("Fetch.requestPaused");
        let mut params = more;
        params["requestId"] = held["params"]["requestId"].clone();
        test.daemon.ask("send", &command(tab, method, &params));
        let response = test.daemon.read_to(asked).pop().expect("a response");
        assert_eq!(response["result"]["result"]["value"], "blocked", "{method}: {response}");
    }
    test.daemon.send(tab, "Fetch.disable", &json!({}));
}

/// Frames of blocked sites in a driven page, and in a page that is attached later.
fn check_frames(test: &mut HostileDaemonTest) {
    let tab = test.open("/plain");
    let auto = json!({"autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true});
    test.daemon.send(&tab, "Target.setAutoAttach", &auto);
    let frames: Vec<String> = ["b", "x.a"].iter().map(|name| test.site.url(name, "/article")).collect();
    let worker = test.site.url("b", "/worker/scope/from-worker");
    let add = format!(
        "Promise.all([...{frames:?}, {worker:?}].map((src) => new Promise((resolve) => {{\
           const frame = Object.assign(document.createElement('iframe'), {{src, onload: resolve}});\
           document.body.append(frame);\
         }}))).then(() => 'loaded')"
    );
    assert_eq!(test.evaluate(&tab, &add), "loaded");
    assert_eq!(test.site.request_count("/article"), 0, "no frame was fetched");
    let text =
        test.daemon.send(&tab, "DOMSnapshot.captureSnapshot", &json!({"computedStyles": []})).to_string();
    assert!(!text.contains("made by the service worker"), "{text}");

    check_inherited_origin(test);

    // Without the list the frames load; with it, the tab is detached and not attached again.
    test.block(&[]);
    assert_eq!(test.evaluate(&tab, &add), "loaded");
    assert!(test.site.request_count("/article") > 0);
    test.block(&BLOCKED);
    assert_eq!(test.daemon.wait_for_detached(&tab), "blocked");
    let refused = test.daemon.response("attach", &json!({"tab": tab}));
    assert_eq!(refused["error"]["code"].as_str(), DENIED, "{refused}");
}

/// An empty tab that a page of the blocked site opened has that site's origin and cookies, although its URL
/// is blank.
fn check_inherited_origin(test: &mut HostileDaemonTest) {
    let there = test.user.open_page(&test.site.url("b", "/form")).session;
    eventually("the page is there", 10, || test.user.evaluate("document.title", &there) == "Form");
    test.user.evaluate("window.made = open('about:blank'); 1", &there);
    let share = "chrome.tabs.query({}).then((all) => all.filter((tab) => tab.openerTabId !== undefined && tab.url === 'about:blank'))\
        .then(([tab]) => tab && chrome.runtime.sendMessage({ask: 'share', tab: tab.id}).then(() => tab.id))";
    let made = find_eventually(10, || test.user.evaluate(share, &test.options).as_i64());
    let refused = test.daemon.response("attach", &json!({"tab": made.expect("an empty tab")}));
    assert_eq!(refused["error"]["code"].as_str(), DENIED, "{refused}");
}

#[test]
fn l8_names_of_built_in_properties_are_invalid_tab_ids() {
    let mut test = HostileDaemonTest::begin();
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
            let response = test.daemon.response(name, &with);
            assert_eq!(response["error"]["code"], "BAD_ARGS", "{name} {tab}: {response}");
        }
    }
    let tab = test.open("/plain");
    for (method, params) in
        [(json!(["Network.clearBrowserCookies"]), json!({})), (json!("Page.enable"), json!([]))]
    {
        let response = test.daemon.response("send", &json!({"tab": tab, "method": method, "params": params}));
        assert_eq!(response["error"]["code"], "BAD_ARGS", "{response}");
    }
    let unknown = test.daemon.response("toString", &json!({}));
    assert_eq!(unknown["error"]["code"], "UNKNOWN_METHOD", "{unknown}");
}
