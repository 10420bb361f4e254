//! An agent over MCP with `--policy open` tries to open the dashboard, to speak to the daemon as its page, and to press
//! its buttons: in a launched, an attached and the user's own browser.

use serde_json::{Value, json};

use crate::mcp::client::{McpClient, text_of};
use crate::own_browser::tabs::{connected_browser, share_all};
use crate::support::cdp_client::CdpClient;
use crate::support::chromium::Chromium;
use crate::support::dashboard_page::{Dashboard, dashboard_url};
use crate::support::dashboard_socket::DashboardKey;
use crate::support::extension_pages::ExtensionWorker;
use crate::support::fixture_site::FixtureSite;
use crate::support::process::kill;
use crate::support::wait::eventually;
use crate::support::world::World;

/// The user's dashboard with a question that waits, and an agent that may do everything.
struct Scene {
    /// The user's dashboard.
    page: Dashboard,
    /// Its target in the browser that it is open in.
    target: String,
    origin: String,
    key: DashboardKey,
    agent: McpClient,
    asked: std::process::Child,
    site: FixtureSite,
    /// Where the user has the dashboard open.
    browser: Chromium,
    /// The last: it checks that the others have left nothing.
    world: World,
}

impl Scene {
    /// `upstream` is how the agent reaches its browser.
    fn new(world: World, browser: Chromium, upstream: &[&str]) -> Self {
        let site = FixtureSite::start();
        let mut page = Dashboard::open(&browser, &dashboard_url(&world));
        page.shows("connected");
        let info = page.client.call("Target.getTargetInfo", json!({}), Some(&page.session));
        let target = info["targetInfo"]["targetId"].as_str().expect("an id").to_owned();
        let origin = page.run("location.origin").as_str().expect("an origin").to_owned();
        let key = DashboardKey::new(&world);
        let plain = site.page("/plain");
        let opened = [&["open", "--policy", "open"], upstream, &[plain.as_str()]].concat();
        world.run(&opened).succeeded();
        let mut agent =
            McpClient::start(&world, &["--session", "default", "--policy", "open", "--tools", "all"]);
        agent.text("navigate", json!({"url": plain}));
        let asked = world.start(&[
            "--json",
            "--as",
            "reviewer",
            "open",
            "--session",
            "asking",
            "--policy",
            "guarded",
            &plain,
        ]);
        page.shows("reviewer wants to see and open pages of");
        Self { page, target, origin, key, agent, asked, site, browser, world }
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> String {
        let result = self.agent.call(tool, arguments.clone());
        text_of(&result)
    }

    /// The tool fails, and its result says nothing of the dashboard's page.
    fn is_refused(&mut self, tool: &str, arguments: &Value) {
        let result = self.agent.call(tool, arguments.clone());
        let text = text_of(&result);
        assert_eq!(result["isError"], true, "{tool} {arguments}: {text}");
        assert!(text.contains("POLICY_DENIED"), "{tool} {arguments}: {text}");
    }

    /// A fresh page of the site for the next attempt.
    fn fresh_page(&mut self) {
        let url = self.site.page("/plain");
        self.agent.text("tab_new", json!({"url": url}));
    }

    fn opens_nothing(&mut self) {
        let (origin, port) =
            (self.origin.clone(), self.origin.rsplit(':').next().expect("a port").to_owned());
        for url in [
            format!("{origin}/dashboard"),
            format!("{origin}/dashboard/shared/element.js"),
            format!("{origin}/dashboard#ticket=0"),
            format!("http://127.0.0.1.:{port}/dashboard"),
            format!("http://127.1:{port}/dashboard"),
            format!("http://localhost:{port}/dashboard"),
        ] {
            for tool in ["navigate", "tab_new"] {
                let result = self.agent.call(tool, json!({"url": url}));
                assert_eq!(result["isError"], true, "{tool} {url}: {}", text_of(&result));
            }
        }
        let url = format!("{origin}/dashboard");
        self.is_refused("cdp", &json!({"method": "Page.navigate", "params": {"url": url}}));
        // A redirect of the page, a popup and a frame show at most what everybody may read, and not to the agent.
        self.fresh_page();
        self.call("eval", &json!({"expression": format!("void setTimeout(() => location.href = {url:?})")}));
        eventually("the page is withheld or was refused", 20, || {
            let result = self.agent.call("snapshot", json!({}));
            text_of(&result).contains("POLICY_DENIED")
                || self.call("get", &json!({"what": "url"})).contains("/plain")
        });
        for reading in ["snapshot", "get_text", "get_html", "screenshot"] {
            let text = self.call(reading, &json!({}));
            assert!(!text.contains("wants to see") && !text.contains("reviewer"), "{reading}: {text}");
        }
        self.fresh_page();
        self.call("eval", &json!({"expression": format!("void window.open({url:?})")}));
        let frame = format!(
            "new Promise((done) => {{ const one = document.createElement('iframe'); one.onload = done; one.src = {url:?}; \
             document.body.append(one); setTimeout(done, 3000); }}).then(() => document.querySelector('iframe').contentDocument?.title ?? 'none')"
        );
        let framed = self.call("eval", &json!({"expression": frame}));
        assert!(!framed.contains("Tabwire"), "{framed}");
        let tabs = self.call("tabs_list", &json!({}));
        assert!(!tabs.contains("/dashboard") || tabs.contains("POLICY_DENIED"), "{tabs}");
    }

    /// From a page and from a script, with everything that is secret.
    fn speaks_to_nothing(&mut self) {
        self.fresh_page();
        let (origin, key) = (self.origin.clone(), self.key.text().to_owned());
        let address = dashboard_url(&self.world);
        let ticket = address.split_once("#ticket=").expect("a ticket").1.to_owned();
        let enter = format!(
            "fetch('{origin}/dashboard/enter', {{method: 'POST', headers: {{'content-type': 'application/json'}}, \
             body: JSON.stringify({{ticket: '{ticket}'}})}}).then((response) => response.text(), () => 'failed')"
        );
        let blind = enter.replace("method: 'POST'", "mode: 'no-cors', method: 'POST'");
        for attempt in [&enter, &blind] {
            let response = self.call("eval", &json!({"expression": attempt}));
            assert!(!response.contains("\"key\""), "{response}");
        }
        for path in ["line", "live"] {
            let socket = format!(
                "new Promise((done) => {{ const socket = new WebSocket('{}/dashboard/{path}'); \
                 socket.onopen = () => socket.send(JSON.stringify({{key: '{key}'}})); \
                 socket.onmessage = () => done('answered'); socket.onerror = () => done('refused'); \
                 socket.onclose = () => done('refused'); }})",
                origin.replace("http:", "ws:")
            );
            let response = self.call("eval", &json!({"expression": socket}));
            assert!(response.contains("refused"), "{path}: {response}");
        }
        let body = format!(
            "{{ method: 'POST', headers: {{ 'content-type': 'application/json', origin: '{origin}' }}, data: {{ ticket: '{ticket}' }}, body: JSON.stringify({{ ticket: '{ticket}' }}) }}"
        );
        for code in [
            format!("return (await (await fetch('{origin}/dashboard/enter', {body})).text())"),
            format!("return (await (await page.request.post('{origin}/dashboard/enter', {body})).text())"),
            format!("return (await page.goto('{origin}/dashboard')) + ''"),
            format!(
                "return typeof WebSocket === 'undefined' ? 'none' : new WebSocket('{}/dashboard/line') + ''",
                origin.replace("http:", "ws:")
            ),
        ] {
            let response = self.call("execute", &json!({"code": code}));
            assert!(!response.contains("\"key\"") && !response.contains("key\\\""), "{code}: {response}");
        }
        let listed = self.call(
            "request",
            &json!({"url": format!("{origin}/dashboard/enter"), "method": "POST", "data": ticket}),
        );
        assert!(!listed.contains("\"key\""), "{listed}");
        // The ticket is unused.
        drop(DashboardKey::enter(&address));
    }

    /// With the id of the dashboard's target, as another program could know it.
    fn presses_nothing(&mut self) {
        let target = self.target.clone();
        for (method, params) in [
            ("Target.attachToTarget", json!({"targetId": target, "flatten": true})),
            ("Target.activateTarget", json!({"targetId": target})),
            ("Target.closeTarget", json!({"targetId": target})),
            ("Target.createTarget", json!({"url": format!("{}/dashboard", self.origin)})),
            ("Target.exposeDevToolsProtocol", json!({"targetId": target})),
        ] {
            let result = self.agent.call("cdp", json!({"method": method, "params": params}));
            assert_eq!(result["isError"], true, "{method}: {}", text_of(&result));
        }
        let mut client = CdpClient::connect(&format!("{}?share=all", self.world.cdp_url()));
        let listed = client.call("Target.getTargets", json!({}), None).to_string();
        assert!(!listed.contains("/dashboard") && !listed.contains(&target), "{listed}");
        for method in ["Target.attachToTarget", "Target.closeTarget", "Target.activateTarget"] {
            let response = client.ask(method, json!({"targetId": target, "flatten": true}), None);
            assert!(response["error"].is_object(), "{method}: {response}");
        }
        let event = json!({"type": "mousePressed", "x": 10, "y": 10, "button": "left", "clickCount": 1});
        let pressed = client.ask("Input.dispatchMouseEvent", event, Some(&target));
        assert!(pressed["error"].is_object(), "{pressed}");
    }

    /// Nothing was granted and nothing answered; the user still can.
    fn ends(mut self) {
        self.page.shows("connected");
        let granted = self.world.run(&["--json", "grants", "list"]).succeeded();
        let granted = granted.json();
        let list = granted["result"]["grants"].as_array().or(granted["grants"].as_array());
        assert!(list.is_none_or(Vec::is_empty), "{granted}");
        let log = self.world.run(&["log", "--json", "-n", "1000"]).succeeded().text().to_owned();
        for action in ["approval_answer", "policy_allow", "client_disconnect", "\"pause\""] {
            assert!(!log.contains(action), "{action}");
        }
        self.agent.close();
        kill(i32::try_from(self.asked.id()).expect("a process number"));
        self.asked.wait().expect("ended");
    }

    fn tries_everything(mut self) -> Self {
        self.opens_nothing();
        self.speaks_to_nothing();
        self.presses_nothing();
        self
    }
}

#[test]
fn an_agent_in_a_launched_browser_reaches_no_dashboard() {
    let browser = Chromium::with_port();
    Scene::new(World::new(), browser, &[]).tries_everything().ends();
}

#[test]
fn an_agent_in_an_attached_browser_reaches_no_dashboard() {
    let browser = Chromium::with_port();
    let port = browser.port().to_string();
    Scene::new(World::new(), browser, &["--cdp", &port]).tries_everything().ends();
}

#[test]
fn an_agent_in_the_own_browser_reaches_no_dashboard() {
    let world = World::new();
    let browser = connected_browser(&world);
    let mut scene = Scene::new(world, browser, &["--upstream", "extension"]).tries_everything();
    // Every ordinary tab is shared, and the dashboard is none. Dragging it into the agent's group shares it as little.
    let mut user = CdpClient::connect(&scene.browser.websocket());
    share_all(&mut user);
    scene.presses_nothing();
    let mut worker = ExtensionWorker::of(&scene.browser);
    let drag = "(async () => { const [one] = (await chrome.tabs.query({})).filter((tab) => tab.url.includes('/dashboard')); \
        const groups = await chrome.tabGroups.query({}); \
        await chrome.tabs.group({tabIds: [one.id], ...(groups.length > 0 ? {groupId: groups[0].id} : {})}); return groups.length; })()";
    assert!(worker.evaluate(drag).as_u64().is_some_and(|groups| groups > 0), "the agent has a group");
    scene.presses_nothing();
    let tabs = scene.call("tabs_list", &json!({}));
    assert!(!tabs.contains("/dashboard"), "{tabs}");
    scene.ends();
}
