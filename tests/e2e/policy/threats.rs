//! Policy threats: an edited policy file, approvals during an action, and data taken from the user's own browser.

use std::fs;

use serde_json::json;

use crate::policy::grants::{allow, guarded, remedy};
use crate::support::cdp_client::CdpClient;
use crate::support::chromium::Chromium;
use crate::support::fixture_site::FixtureSite;
use crate::support::wait::{eventually, find_eventually};
use crate::support::world::{World, wait};

#[test]
fn t24_an_edited_policy_applies_at_once_and_a_broken_one_denies() {
    let (world, site) = (World::new(), FixtureSite::start());
    let (page, origin) = (site.page("/plain"), site.page("").trim_end_matches('/').to_owned());
    fs::create_dir_all(world.home().join("config")).expect("a directory");
    let file = world.home().join("config/policy.toml");
    let write = |text: &str| {
        let next = world.home().join("config/next");
        fs::write(&next, text).expect("written");
        fs::rename(&next, &file).expect("in place");
    };
    world.run(&["open", &page]).succeeded();
    let mut client = CdpClient::connect(&world.cdp_url());
    let opened = client.open_page(&page);
    let read = json!({"expression": "document.readyState"});
    client.call("Runtime.evaluate", read.clone(), Some(&opened.session));

    write(&format!("[[rule]]\nsite = \"{origin}\"\ndeny = [\"all\"]\n"));
    let denied = world.run(&["--json", "get-text"]);
    assert_eq!(denied.failure().0, "POLICY_DENIED", "{denied:?}");
    assert!(denied.stdout.contains("policy.toml denies it"), "{denied:?}");
    let response = client.ask("Runtime.evaluate", read.clone(), Some(&opened.session));
    assert_eq!(response["error"]["data"], "POLICY_DENIED", "it also applies to CDP clients: {response}");

    write("[[rule]]\nsite = \"https://a.test\"\n\nallow = [\"reed\"]\n");
    for arguments in [&["get-text"][..], &["open", &page], &["eval", "1"], &["tab-new", &page]] {
        let broken = world.run(&[&["--json"], arguments].concat());
        assert_eq!(broken.failure(), ("POLICY_DENIED".to_owned(), 3), "{arguments:?}: {broken:?}");
        assert!(broken.stdout.contains("line 4") && broken.stdout.contains("reed"), "{broken:?}");
    }
    let shown = world.run(&["policy", "show"]).succeeded();
    assert!(shown.stdout.contains("line 4") && shown.stdout.contains("nothing is allowed"), "{shown:?}");
    // It applies without any request.
    write(&format!("[[rule]]\nsite = \"{origin}\"\ndeny = [\"eval\"]\n"));
    eventually("it is applied", 10, || {
        let response = client.ask("Runtime.evaluate", read.clone(), Some(&opened.session));
        response.get("result").is_some()
    });
    world.run(&["get-text"]).succeeded();
    assert_eq!(world.run(&["--json", "eval", "1"]).failure().0, "POLICY_DENIED");
    fs::remove_file(&file).expect("gone");
    let gone = world.run(&["--json", "get-text"]);
    assert!(gone.code == 3 && gone.stdout.contains("the file was removed"), "{gone:?}");
    write("");
    let empty = world.run(&["--json", "get-text"]);
    assert!(empty.code == 3 && empty.stdout.contains("line 1"), "{empty:?}");
    write("# nothing is said any more\nunlisted = \"ask\"\n");
    world.run(&["get-text"]).succeeded();
}

#[test]
fn t15_a_login_without_a_rule_asks_for_approval() {
    let (world, site) = (guarded(), FixtureSite::start());
    let origin = site.page("").trim_end_matches('/').to_owned();
    fs::create_dir_all(world.home().join("config")).expect("a directory");
    let rule = format!("[[rule]]\nsite = \"{origin}\"\nallow = [\"read\"]\nask = [\"act\"]\n");
    fs::write(world.home().join("config/policy.toml"), rule).expect("written");
    fs::write(world.home().join("user/password"), "Zw8-canary-kF2\n").expect("written");
    let url = site.page("/login");
    let save =
        ["auth", "save", "shop", "--url", &url, "--username", "alice", "--password-file", "user/password"];
    world.run(&save).succeeded();
    let arguments = ["--json", "--as", "shopper", "auth", "login", "shop"];
    let asked = |response: &str| {
        let child = world.start(&arguments);
        let mut answers = 0;
        let outcome = find_eventually(60, || {
            let pending = world.json(&["approvals"])["pending"].clone();
            if let Some(question) = pending.as_array().expect("a list").first() {
                assert_eq!((&question["action"], &question["capability"]), (&"login".into(), &"act".into()));
                assert_eq!(question["site"], origin.as_str(), "{question}");
                let who = question["who"].as_str().unwrap_or_default();
                assert!(who.contains("shopper"), "{question}");
                let id = question["id"].as_str().expect("an id");
                world.run(&["approvals", "answer", id, response, "--without-terminal"]);
                answers += 1;
            }
            (answers > 0).then_some(())
        });
        assert!(outcome.is_some(), "an approval is requested");
        wait(child, &arguments)
    };
    let refused = asked("no");
    assert_eq!(refused.failure(), ("POLICY_DENIED".to_owned(), 3), "{refused:?}");
    assert!(refused.stdout.contains("denied it"), "{refused:?}");
    let done = asked("once").succeeded().json();
    assert_eq!(done["result"]["filled"], json!(["name", "password"]), "{done}");
    assert!(world.json(&["grants", "list"])["entries"].as_array().is_some_and(Vec::is_empty));
    let audit_log = world.run(&["--json", "log", "-n", "5"]).succeeded().stdout;
    assert!(audit_log.contains("denied it") && !audit_log.contains("canary"), "{audit_log}");
}

#[test]
fn t40_a_client_cannot_clear_data_of_an_attached_browser() {
    let (world, site, mut browser) = (World::new(), FixtureSite::start(), Chromium::with_port());
    world.open(&["--cdp", &browser.port().to_string(), "--new-tab", &site.page("/plain")]);
    world.eval("document.cookie = 'kept=1; max-age=1000'");
    let mut client = CdpClient::connect(&world.cdp_url());
    let page = client.open_page(&site.page("/plain"));
    let origin = site.page("").trim_end_matches('/').to_owned();
    let everything = json!({"origin": origin, "storageTypes": "all"});
    let attempts = [
        ("Network.clearBrowserCookies", json!({}), Some(page.session.as_str())),
        ("Network.clearBrowserCache", json!({}), Some(&page.session)),
        ("Storage.clearCookies", json!({}), None),
        ("Storage.clearCookies", json!({}), Some(&page.session)),
        ("Storage.clearDataForOrigin", everything.clone(), Some(&page.session)),
        ("Browser.resetPermissions", json!({}), None),
    ];
    for (method, params, session) in &attempts {
        let response = client.ask(method, params.clone(), *session);
        assert_eq!(response["error"]["data"], "POLICY_DENIED", "{method}: {response}");
        let output = response["error"]["message"].as_str().unwrap_or_default();
        assert!(output.contains("tabwire allow '*' --cdp"), "{method}: {response}");
    }
    assert!(world.eval("document.cookie").contains("kept=1"));
    // The client may clear its own context, and its pages keep working.
    let context = client.call("Target.createBrowserContext", json!({}), None)["browserContextId"].clone();
    client.call("Storage.clearCookies", json!({"browserContextId": context}), None);
    client.call("Runtime.evaluate", json!({"expression": "1"}), Some(&page.session));
    client.call("Browser.close", json!({}), None);
    assert!(browser.is_running(), "closing the browser closes the client's part of it");

    // A grant for everything includes this. A launched browser holds nothing of the user's.
    allow(&world, &["*", "--cdp"]);
    let mut client = CdpClient::connect(&world.cdp_url());
    let page = client.open_page(&site.page("/plain"));
    client.call("Network.clearBrowserCookies", json!({}), Some(&page.session));
    eventually("they are gone", 10, || !world.eval("document.cookie").contains("kept=1"));
    let guarded = remedy(&world, &["--session", "other", "cookies", "--policy", "guarded"]);
    assert_eq!(guarded, "tabwire allow '*' --act");
}
