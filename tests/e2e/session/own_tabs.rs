//! Every session and every MCP client works in tabs of its own, whatever browser it uses. What the user has open is used
//! only when it is selected.

use serde_json::{Value, json};
use tabwire_testkit::by_size;

use crate::mcp::client::McpClient;
use crate::own_browser::tabs::connected_browser;
use crate::support::cdp_client::CdpClient;
use crate::support::chromium::Chromium;
use crate::support::fixture_site::FixtureSite;
use crate::support::wait::{eventually, find_eventually};
use crate::support::world::World;

/// Steps of the four actors together.
fn steps() -> usize {
    by_size(200, 2_000)
}

/// One of the clients that work at the same time.
enum Actor<'a> {
    Session { world: &'a World, name: String },
    Mcp(Box<McpClient>),
}

impl Actor<'_> {
    fn eval(&mut self, expression: &str) -> String {
        match self {
            Self::Session { world, name } => {
                world.run(&["--session", name, "eval", expression]).succeeded().text().to_owned()
            }
            Self::Mcp(client) => client.text("eval", json!({"expression": expression})),
        }
    }

    fn open(&mut self, url: &str, options: &[&str]) {
        match self {
            Self::Session { world, name } => {
                let arguments = [&["--session", name, "open"], options, &[url]].concat();
                world.run(&arguments).succeeded();
            }
            Self::Mcp(client) => drop(client.text("navigate", json!({"url": url}))),
        }
    }

    /// Works in one page and checks before each step that nothing else has touched it.
    fn work(&mut self, number: usize, site: &FixtureSite, options: &[&str], steps: usize) {
        let page = |step: usize| site.page(&format!("/plain?actor={number}&step={step}"));
        self.open(&page(0), options);
        let mut shown = 0;
        for step in 1..steps {
            let found = self.eval("location.search + ' ' + (window.mine ?? '')");
            let expected = format!("?actor={number}&step={shown}");
            assert!(found.contains(&expected), "actor {number}, step {step}: {found}");
            if step % 3 == 0 {
                self.open(&page(step), &[]);
                shown = step;
            } else {
                let mine = format!("actor{number}.{step}");
                self.eval(&format!("window.mine = '{mine}'"));
                let kept = self.eval("window.mine");
                assert!(kept.contains(&mine), "actor {number}, step {step}: {kept}");
            }
        }
    }

    fn end(self) {
        match self {
            Self::Session { world, name } => drop(world.run(&["--session", &name, "close"]).succeeded()),
            Self::Mcp(mut client) => {
                client.close();
                client.process.wait().expect("it ends");
            }
        }
    }
}

/// Two sessions and two MCP clients at once, each in its own page.
fn work_at_once(world: &World, site: &FixtureSite, options: &[&str]) {
    let mcp = || Actor::Mcp(Box::new(McpClient::start(world, options)));
    let session = |name: &str| Actor::Session { world, name: name.to_owned() };
    let mut actors = [mcp(), session("one"), mcp(), session("two")];
    let each = steps() / actors.len();
    std::thread::scope(|scope| {
        for (number, actor) in actors.iter_mut().enumerate() {
            scope.spawn(move || actor.work(number, site, options, each));
        }
    });
    for actor in actors {
        actor.end();
    }
}

/// The pages that a browser has open, as its user sees them.
fn pages(user: &mut CdpClient) -> Vec<String> {
    let targets = user.call("Target.getTargets", json!({}), None);
    let targets = targets["targetInfos"].as_array().cloned().unwrap_or_default();
    let pages = targets.iter().filter(|target| target["type"] == "page");
    let mut urls: Vec<String> = pages.filter_map(|page| page["url"].as_str().map(str::to_owned)).collect();
    urls.sort();
    urls
}

/// A user with a page open, on a connection of their own.
struct User {
    client: CdpClient,
    session: String,
    url: String,
}

impl User {
    fn with_page(browser: &Chromium, url: &str) -> Self {
        let mut client = CdpClient::connect(&browser.websocket());
        let page = client.open_page(url);
        let session = page.session;
        let is_there = format!("document.readyState === 'complete' && location.href === '{url}'");
        find_eventually(10, || (client.evaluate(&is_there, &session) == true).then_some(()))
            .expect("the page loads");
        client.evaluate("window.typed = 'by the user'", &session);
        Self { client, session, url: url.to_owned() }
    }

    fn check_untouched(&mut self) {
        let shown = self.client.evaluate("location.href + ' ' + window.typed", &self.session);
        assert_eq!(shown, format!("{} by the user", self.url), "the user's page was changed");
    }
}

#[test]
fn b1_clients_of_an_attached_browser_never_meet() {
    let (world, site, mut browser) = (World::new(), FixtureSite::start(), Chromium::with_port());
    let mut user = User::with_page(&browser, &site.page("/form?user"));
    let before = pages(&mut user.client);
    let port = browser.port().to_string();
    work_at_once(&world, &site, &["--cdp", &port, "--policy", "open"]);
    user.check_untouched();
    eventually("the tabs of ended clients close", 5, || pages(&mut user.client) == before);
    assert!(browser.is_running());
}

#[test]
fn b1_clients_of_the_users_own_browser_never_meet() {
    let (world, site) = (World::new(), FixtureSite::start());
    let browser = connected_browser(&world);
    let mut user = User::with_page(&browser, &site.page("/form?user"));
    let before = pages(&mut user.client);
    work_at_once(&world, &site, &["--upstream", "extension", "--policy", "open"]);
    user.check_untouched();
    eventually("the tabs of ended clients close", 5, || pages(&mut user.client) == before);
}

#[test]
fn b1_clients_of_launched_browsers_never_meet() {
    let (world, site) = (World::new(), FixtureSite::start());
    work_at_once(&world, &site, &["--profile", "both", "--policy", "open"]);
    eventually("the browser ends with its last client", 10, || world.browser_processes().is_empty());
}

#[test]
fn b1_mcp_clients_of_one_named_session_never_meet() {
    let (world, site) = (World::new(), FixtureSite::start());
    let mine = world.open(&[&site.page("/form"), "--session", "mine"]);
    let options = ["--session", "mine", "--policy", "open"];
    let mut actors = [0, 1].map(|_| Actor::Mcp(Box::new(McpClient::start(&world, &options))));
    std::thread::scope(|scope| {
        for (number, actor) in actors.iter_mut().enumerate() {
            let site = &site;
            scope.spawn(move || actor.work(number, site, &[], 25));
        }
    });
    let title = world.run(&["--session", "mine", "get", "title"]).succeeded();
    assert_eq!(title.text(), "Form", "the terminal's tab is not used");
    for actor in actors {
        actor.end();
    }
    eventually("only the terminal's tab is left", 5, || {
        let tabs = world.json(&["--session", "mine", "tabs"])["result"]["tabs"].clone();
        tabs.as_array().is_some_and(|tabs| tabs.len() == 1 && tabs[0]["tab"] == mine.as_str())
    });
}

#[test]
fn b1_the_users_tabs_are_listed_and_used_only_when_selected() {
    let (world, site, browser) = (World::new(), FixtureSite::start(), Chromium::with_port());
    let mut user = User::with_page(&browser, &site.page("/form?user"));
    let port = browser.port().to_string();
    world.run(&["connect", &port]).succeeded();
    let before = pages(&mut user.client);
    let listed = world.json(&["tabs"])["result"]["tabs"].clone();
    let tabs = listed.as_array().expect("tabs");
    assert!(tabs.iter().all(|tab| tab["shared"] == true && tab["current"] == false), "{listed}");
    assert_eq!(pages(&mut user.client), before, "a list opens no tab");

    world.open(&[&site.page("/plain?own")]);
    user.check_untouched();
    let status = world.json(&["session", "status"])["result"].clone();
    assert_eq!((&status["isolation"], &status["tabs"]), (&json!("shared"), &json!(1)), "{status}");
    assert_eq!(status["shared_tabs"], tabs.len(), "{status}");
    let current = status["tab_list"].as_array().expect("tabs").iter().find(|tab| tab["current"] == true);
    assert_eq!(current.expect("a current tab")["shared"], false, "{status}");

    // By title, by position and by id.
    let position = world.json(&["tabs"])["result"]["tabs"]
        .as_array()
        .and_then(|tabs| tabs.iter().position(|tab| tab["url"] == user.url.as_str()))
        .expect("the user's tab");
    let id = world.json(&["tabs"])["result"]["tabs"][position]["tab"].as_str().expect("an id").to_owned();
    for name in ["form".to_owned(), (position + 1).to_string(), id] {
        world.run(&["tab-select", &name]).succeeded();
        assert_eq!(world.eval("window.typed"), "by the user", "{name}");
        world.run(&["tab-select", "Plain page"]).succeeded();
    }
    let unknown = world.run(&["--json", "tab-select", "no such title"]);
    assert_eq!(unknown.failure().0, "TAB_NOT_FOUND", "{unknown:?}");
    user.check_untouched();
    world.run(&["close"]).succeeded();
    eventually("its own tab is closed", 5, || pages(&mut user.client) == before);
}

#[test]
fn b1_the_next_session_has_nothing_of_the_one_before() {
    let (world, site, browser) = (World::new(), FixtureSite::start(), Chromium::with_port());
    let port = browser.port().to_string();
    world.open(&["--cdp", &port, &site.page("/plain?first")]);
    world.run(&["close"]).succeeded();
    world.run(&["--session", "next", "connect", &port]).succeeded();
    let listed = world.json(&["--session", "next", "tabs"])["result"]["tabs"].clone();
    let has_first = |tab: &Value| tab["url"].as_str().is_some_and(|url| url.contains("first"));
    assert!(!listed.as_array().expect("tabs").iter().any(has_first), "{listed}");
    assert_eq!(world.run(&["--session", "next", "eval", "location.href"]).succeeded().text(), "about:blank");
    world.run(&["--session", "next", "close"]).succeeded();
}

#[test]
fn b1_own_tabs_stay_own_after_a_restart_of_the_daemon() {
    let (world, site, browser) = (World::new(), FixtureSite::start(), Chromium::with_port());
    let port = browser.port().to_string();
    for name in ["one", "two"] {
        let page = site.page(&format!("/plain?{name}"));
        world.run(&["--session", name, "open", "--cdp", &port, &page]).succeeded();
    }
    crate::support::process::kill(world.daemon_pid());
    for name in ["two", "one"] {
        let shown = world.run(&["--session", name, "eval", "location.search"]).succeeded();
        assert_eq!(shown.text(), format!("?{name}"));
    }
    for name in ["one", "two"] {
        let status = world.json(&["--session", name, "session", "status"])["result"].clone();
        assert_eq!(status["tabs"], 1, "{status}");
        world.run(&["--session", name, "close"]).succeeded();
    }
    let mut user = CdpClient::connect(&browser.websocket());
    eventually("their tabs are closed", 5, || pages(&mut user) == ["about:blank"]);
}

#[test]
fn b3_the_list_marks_the_tab_that_a_named_client_reads() {
    let (world, site) = (World::new(), FixtureSite::start());
    world.open(&[&site.page("/form")]);
    world.run(&["--as", "anna", "open", &site.page("/plain")]).succeeded();
    let made = world.json(&["--as", "anna", "tab-new", &site.page("/inputs")])["result"]["tab"].clone();
    let current = |arguments: &[&str]| -> Vec<Value> {
        let listed = world.json(&[arguments, &["tabs"]].concat())["result"]["tabs"].clone();
        let tabs = listed.as_array().expect("tabs").iter().filter(|tab| tab["current"] == true);
        tabs.map(|tab| tab["tab"].clone()).collect()
    };
    assert_eq!(current(&["--as", "anna"]), std::slice::from_ref(&made));
    let read = world.run(&["--as", "anna", "get", "url"]).succeeded();
    assert_eq!(read.text(), site.page("/inputs"));
    assert_ne!(current(&[]), std::slice::from_ref(&made));
    let closed = world.json(&["--as", "anna", "tab-close"])["result"].clone();
    assert_eq!(closed["closed"], made, "{closed}");
    assert_eq!(current(&["--as", "anna"]), [closed["current"].clone()]);
    let read = world.run(&["--as", "anna", "get", "url"]).succeeded();
    assert_eq!(read.text(), site.page("/plain"), "the tab that it opened before");
}
