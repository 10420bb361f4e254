//! `cdp-url --port`: a loopback port without a secret. `/json/...` there and below a secret.

use serde_json::{Value, json};

use crate::chrome_shim::port_process::ask_port;
use crate::clients::suite::Suite;
use crate::support::cdp_client::CdpClient;
use crate::support::fixture_site::FixtureSite;
use crate::support::world::{Outcome, World};

fn port_of(opened: &Outcome) -> u16 {
    let port = opened.text().strip_prefix("http://127.0.0.1:").expect("a URL without a path");
    port.parse().expect("a port")
}

fn host(port: u16) -> String {
    format!("Host: localhost:{port}\r\n")
}

fn get(port: u16, path: &str) -> Value {
    let (status, body) = ask_port(port, "GET", path, &host(port));
    assert_eq!(status, 200, "{path}: {body}");
    serde_json::from_str(&body).expect("JSON")
}

#[test]
fn p7_tools_that_drop_the_path_use_the_open_port() {
    let (world, site) = (World::new(), FixtureSite::start());
    world.open(&[&site.page("/plain")]);
    let opened = world.run(&["cdp-url", "--port"]).succeeded();
    let port = port_of(&opened);
    assert!(opened.stderr.contains("every program of every user"), "{opened:?}");
    assert_eq!(port_of(&world.run(&["cdp-url", "--port"]).succeeded()), port, "one port for a session");

    let mut suite = Suite::first_page(opened.text(), &site, &["--client", "browser-url", "--path", "/form"]);
    assert_eq!(suite.line()["pages"], json!(["about:blank"]));
    suite.await_pause();
    suite.resume();
    assert_eq!(suite.line()["title"], "Form");

    // As chrome-remote-interface and chromedriver: list, then the websocket of the first page.
    let version = get(port, "/json/version");
    assert!(version["webSocketDebuggerUrl"].as_str().is_some_and(|url| url.contains("/devtools/browser/")));
    assert_eq!(ask_port(port, "get", "/json/version", &host(port)).0, 200, "as nodriver sends it");
    let listed = get(port, "/json/list");
    let pages = listed.as_array().expect("a list");
    assert_eq!((pages.len(), &pages[0]["url"]), (1, &json!("about:blank")), "{listed}");
    assert_eq!(get(port, "/json/list")[0]["id"], pages[0]["id"], "the same page for the same process");
    let mut page = CdpClient::connect(pages[0]["webSocketDebuggerUrl"].as_str().expect("a URL"));
    page.call("Page.navigate", json!({"url": site.page("/form")}), None);
    let (status, new) = ask_port(port, "PUT", "/json/new?about:blank", &host(port));
    let new: Value = serde_json::from_str(&new).expect("JSON");
    assert_eq!((status, get(port, "/json").as_array().map(Vec::len)), (200, Some(2)));
    let (status, _) =
        ask_port(port, "PUT", &format!("/json/close/{}", new["id"].as_str().unwrap()), &host(port));
    assert_eq!(status, 200);
    assert_eq!(ask_port(port, "GET", "/json/close/none", &host(port)).0, 404);
    assert_eq!(world.eval("location.pathname"), "/plain", "the session's tab is not shown");

    let status = world.run(&["status"]).succeeded();
    assert!(status.stderr.contains("OPEN PORT") && status.stderr.contains(&port.to_string()), "{status:?}");
    let log = world.run(&["log", "--json"]).succeeded().stdout;
    assert!(log.contains("cdp_port"), "{log}");
    world.run(&["cdp-url", "--port", "--close"]).succeeded();
    assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_err(), "closed");
    let again = port_of(&world.run(&["cdp-url", "--port", "--join"]).succeeded());
    assert_eq!(get(again, "/json/list")[0]["url"], site.page("/plain"), "the view of the port");
    world.run(&["close"]).succeeded();
    assert!(std::net::TcpStream::connect(("127.0.0.1", again)).is_err(), "closed with the session");
}

#[test]
fn p12_the_protocol_and_new_pages_are_served_below_the_secret() {
    let (world, site) = (World::new(), FixtureSite::start());
    world.open(&[&site.page("/plain")]);
    let open = port_of(&world.run(&["cdp-url", "--port"]).succeeded());
    let http = world.run(&["cdp-url", "--http"]).succeeded();
    let rest = http.text().strip_prefix("http://127.0.0.1:").expect("a loopback URL");
    let (port, secret) = rest.split_once('/').expect("a secret");
    let port: u16 = port.parse().expect("a port");
    let below = |method: &str, path: &str| ask_port(port, method, &format!("/{secret}{path}"), &host(port));
    let (status, described) = below("GET", "/json/protocol");
    assert_eq!(status, 200, "{described}");
    let protocol: Value = serde_json::from_str(&described).expect("JSON");
    let domains = protocol["domains"].as_array().expect("domains");
    assert!(domains.iter().any(|domain| domain["domain"] == "Page"), "{} domains", domains.len());
    // One description for both, and for shims.
    let files = || world.files("state/protocols").into_iter().filter(|name| name.ends_with(".json"));
    assert_eq!(files().count(), 1);
    assert_eq!(ask_port(open, "GET", "/json/protocol", &host(open)), (200, described));
    assert_eq!(files().count(), 1);
    let (status, new) = below("PUT", "/json/new?about:blank");
    let new: Value = serde_json::from_str(&new).expect("JSON");
    assert_eq!((status, new["type"].as_str()), (200, Some("page")), "{new}");
    let debugger = new["webSocketDebuggerUrl"].as_str().expect("a URL");
    assert!(debugger.contains(secret), "{debugger}");
    let mut page = CdpClient::connect(debugger);
    page.call("Page.navigate", json!({"url": site.page("/form")}), None);
    assert_eq!(below("GET", "/json/new?about:blank").0, 405, "a page can send a GET");
    // Without the secret the paths do not exist.
    for path in ["/json/protocol", "/json/new"] {
        assert_eq!(ask_port(port, "GET", path, &host(port)).0, 401, "{path}");
    }
}

#[test]
fn p7_pages_and_other_hosts_do_not_reach_the_open_port() {
    let (world, site) = (World::new(), FixtureSite::start());
    world.open(&[&site.page("/plain")]);
    let port = port_of(&world.run(&["cdp-url", "--port"]).succeeded());
    for headers in [
        "Host: evil.test\r\n".to_owned(),
        format!("Host: evil.test:{port}\r\n"),
        format!("{}Origin: http://evil.test\r\n", host(port)),
        format!("{}Origin: http://localhost:{port}\r\n", host(port)),
        format!("{}Sec-Fetch-Site: cross-site\r\n", host(port)),
    ] {
        for path in ["/json/version", "/json/list", "/devtools/browser/x"] {
            assert_eq!(ask_port(port, "GET", path, &headers).0, 403, "{path} {headers}");
        }
    }
    for path in ["/v1/status", "/v1/actions", "/mcp", "/extension"] {
        assert_eq!(ask_port(port, "GET", path, &host(port)).0, 401, "{path}");
    }
    let refused = "new Promise((done) => { const socket = new WebSocket('ws://localhost:PORT/devtools/browser/x'); \
                   socket.onopen = () => done('open'); socket.onerror = () => done('refused'); })";
    assert_eq!(world.eval(&refused.replace("PORT", &port.to_string())), "refused", "a page's websocket");
}

#[test]
fn p7_guarded_sessions_open_no_port_unless_the_user_allows_it() {
    let (world, site) = (World::new(), FixtureSite::start());
    world.run(&["allow", &site.page(""), "--act", "--cdp", "--without-terminal"]).succeeded();
    world.open(&["--policy", "guarded", &site.page("/plain")]);
    let refused = world.run(&["--json", "cdp-url", "--port"]);
    assert_eq!(refused.failure().0, "POLICY_DENIED", "{refused:?}");
    world.run(&["config", "set", "guarded_ports", "true"]).succeeded();
    let port = port_of(&world.run(&["cdp-url", "--port"]).succeeded());
    assert!(get(port, "/json/version")["Browser"].is_string());
}
