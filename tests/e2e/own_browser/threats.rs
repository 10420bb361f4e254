//! Threats to the user's own browser through Tabwire.

use std::net::TcpListener;

use serde_json::{Value, json};

use crate::own_browser::driving::{check_other_origins, daemon_port};
use crate::own_browser::tabs::{connected_browser, extension_page};
use crate::support::cdp_client::CdpClient;
use crate::support::chromium::Chromium;
use crate::support::extension_pages::ExtensionView;
use crate::support::fixture_site::FixtureSite;
use crate::support::wait::{eventually, find_eventually};
use crate::support::world::World;

const OPEN: [&str; 4] = ["--upstream", "extension", "--policy", "open"];

/// A tab of the user, as the user's own tools see it: its target and a CDP session on it.
fn users_tab(user: &mut CdpClient, url: &str) -> (String, String) {
    let made = user.call("Target.createTarget", json!({"url": url}), None);
    let target = made["targetId"].as_str().expect("a target").to_owned();
    let session = user.attach(&target);
    let loaded = "document.readyState === 'complete' && location.protocol === 'http:'";
    find_eventually(20, || (user.evaluate(loaded, &session) == true).then_some(())).expect("the page loads");
    (target, session)
}

/// The result of a websocket that a page opens.
fn dialled(user: &mut CdpClient, page: &str, address: &str) -> Value {
    let script = format!(
        "new Promise((done) => {{ const socket = new WebSocket({address:?});\
         socket.onopen = () => done('open'); socket.onerror = () => done('refused'); }})"
    );
    user.evaluate(&script, page)
}

#[test]
fn t04_t05_t06_t12_pages_and_local_programs_are_refused() {
    let (world, site) = (World::new(), FixtureSite::start());
    let browser = connected_browser(&world);
    world.open(&[&OPEN[..], &[&site.page("/plain")]].concat());
    let (address, port) = (world.cdp_url(), daemon_port(&world));
    let mut user = CdpClient::connect(&browser.websocket());
    let (_, page) = users_tab(&mut user, &site.url("b", "/plain"));

    // T04: a page that has the secret is refused because it is a page.
    for address in
        [&address, &format!("ws://127.0.0.1:{port}/extension"), &format!("ws://127.0.0.1:{port}/cdp")]
    {
        assert_eq!(dialled(&mut user, &page, address), "refused", "{address}");
    }
    let discovery = address.replace("ws://", "http://").replace("/cdp", "/json/version");
    let fetched = format!("fetch({discovery:?}).then((response) => response.text(), () => 'nothing')");
    let output = user.evaluate(&fetched, &page).to_string();
    assert!(!output.contains("webSocketDebuggerUrl"), "{output}");
    // T05, T06: other origins, and no origin.
    check_other_origins(port);

    // T12, T15: a link with another port changes nothing, and no extension page can be framed or opened by a
    // page.
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    listener.set_nonblocking(true).expect("an option");
    let elsewhere = listener.local_addr().expect("an address").port();
    let query = format!("?port={elsewhere}&key={}#port={elsewhere}", "0".repeat(64));
    let mut options = ExtensionView::options_at(&browser, &query);
    options.shows("Connected to Tabwire");
    options.press("Reconnect");
    options.shows("Connected to Tabwire");
    assert!(listener.accept().is_err(), "a link made the extension connect elsewhere");
    check_framing(&mut user, &page, &query);
    world.run(&["close"]).succeeded();
}

/// A web page can neither frame nor open an extension page.
fn check_framing(user: &mut CdpClient, page: &str, query: &str) {
    for path in ["popup/popup.html", "options/options.html"] {
        let url = format!("chrome-extension://{}/{path}{query}", tabwire_extension::package::EXTENSION_ID);
        let framed = format!(
            "new Promise((done) => {{ const frame = document.createElement('iframe'); frame.src = {url:?};\
             frame.onload = frame.onerror = () => done(true); document.body.append(frame); }})"
        );
        assert_eq!(user.evaluate(&framed, page), true);
        let tree = user.call("Page.getFrameTree", json!({}), Some(page)).to_string();
        assert!(!tree.contains("\"url\":\"chrome-extension://"), "{tree}");
    }
}

#[test]
fn t17_t18_t19_t40_clients_reach_only_shared_tabs() {
    let (world, site) = (World::new(), FixtureSite::start());
    let browser = connected_browser(&world);
    let mut user = CdpClient::connect(&browser.websocket());
    let (private, own_page) = users_tab(&mut user, &site.page("/plain?private"));
    user.evaluate("document.cookie = 'kept=1; max-age=1000'", &own_page);
    let shared = share(&mut user, &site.page("/plain?shared"));
    world.run(&[&["tabs"], &OPEN[..]].concat()).succeeded();
    let address = world.cdp_url();
    let (mut one, mut other) = (CdpClient::connect(&address), CdpClient::connect(&address));
    let pages = [&mut one, &mut other].map(|client| client.open_page(&site.page("/form")).session);

    // T18: equal ids at the same time; each client gets its own responses.
    for round in 0..50 {
        let ask = |who: &str| json!({"expression": format!("'{who}{round}'"), "returnByValue": true});
        let first = one.send("Runtime.evaluate", ask("one"), Some(&pages[0]));
        let second = other.send("Runtime.evaluate", ask("other"), Some(&pages[1]));
        assert_eq!(first, second, "both use the same id");
        assert_eq!(other.response(second)["result"]["result"]["value"], format!("other{round}"));
        assert_eq!(one.response(first)["result"]["result"]["value"], format!("one{round}"));
    }
    // T17: the id of another client's CDP session is useless.
    let response = other.ask("Runtime.evaluate", json!({"expression": "1"}), Some(&pages[0]));
    assert!(response.get("error").is_some(), "{response}");
    // T19: no client sees the other's tab or the user's, and naming it does not help.
    let listed = |client: &mut CdpClient| client.call("Target.getTargets", json!({}), None).to_string();
    let (seen, foreign) = (listed(&mut one), listed(&mut other));
    assert!(!seen.contains(&private) && !foreign.contains(&private), "{seen}");
    assert!(seen.contains(&shared) && foreign.contains(&shared), "{seen}");
    assert_eq!(
        (seen.matches("/form").count(), foreign.matches("/form").count()),
        (1, 1),
        "{seen}\n{foreign}"
    );
    check_refused_commands(&mut one, &pages[0], (&private, &shared), &site);
    one.call("Browser.close", json!({}), None);

    assert_eq!(user.evaluate("document.cookie", &own_page), "kept=1");
    let there = user.call("Target.getTargets", json!({}), None).to_string();
    assert!(there.contains(&private) && there.contains(&shared), "the user's tabs stay: {there}");
    assert_eq!(other.evaluate("document.title", &pages[1]), "Form", "and so do the other client's");
    drop(other);
    world.run(&["close"]).succeeded();
}

/// Commands that would affect other clients' tabs or the user's profile are refused.
fn check_refused_commands(
    client: &mut CdpClient,
    page: &str,
    (private, shared): (&str, &str),
    site: &FixtureSite,
) {
    let everything = json!({"origin": site.page(""), "storageTypes": "all"});
    for (method, params, session) in [
        ("Target.attachToTarget", json!({"targetId": private, "flatten": true}), None),
        ("Target.closeTarget", json!({"targetId": private}), None),
        ("Target.closeTarget", json!({"targetId": shared}), None),
        ("Network.clearBrowserCookies", json!({}), Some(page)),
        ("Network.clearBrowserCache", json!({}), Some(page)),
        ("Storage.clearCookies", json!({}), None),
        ("Storage.clearCookies", json!({}), Some(page)),
        ("Storage.clearDataForOrigin", everything, Some(page)),
        ("Page.navigate", json!({"url": "chrome://settings/"}), Some(page)),
        ("Surprise.method", json!({}), Some(page)),
    ] {
        let response = client.ask(method, params.clone(), session);
        let failed = response.get("error").is_some()
            || response["result"]["success"] == false
            || response["result"]["errorText"].is_string();
        assert!(failed, "{method} {params}: {response}");
    }
}

/// Opens and shares a tab as the user; returns its target.
fn share(user: &mut CdpClient, url: &str) -> String {
    let (target, _) = users_tab(user, url);
    let page = extension_page(user);
    let asked = format!(
        "chrome.tabs.query({{url: {url:?}}})\
         .then(([tab]) => chrome.runtime.sendMessage({{ask: 'share', tab: tab.id}})).then((now) => now.tabs.length)"
    );
    assert_eq!(user.evaluate(&asked, &page), 1);
    target
}

#[test]
fn f37_a_daemon_moves_to_another_port_when_its_own_is_taken() {
    let stranger = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = stranger.local_addr().expect("bound").port();
    let world = World::new().with("TABWIRE_PORT", port.to_string());
    let _browser: Chromium = connected_browser(&world);
    assert_ne!(daemon_port(&world), port);
    stranger.set_nonblocking(true).expect("an option");
    eventually("the extension is there", 10, || {
        world.run(&["extension", "status"]).stdout.contains("Chromium")
    });
    assert!(stranger.accept().is_err(), "the extension connected to the other program");
    drop(stranger);
}
