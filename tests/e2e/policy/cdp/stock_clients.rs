//! Playwright and Puppeteer on a guarded session: clear denials, and work once granted.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::chrome_shim::port_process::PortChrome;
use crate::policy::grants::{allow, guarded};
use crate::support::cdp_client::CdpClient;
use crate::support::fixture_site::FixtureSite;
use crate::support::wait::find_eventually;
use crate::support::world::World;

/// Runs a short script of a client; returns its report.
fn attempt(world: &World, site: &FixtureSite, client: &str, endpoint: &str) -> Value {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/clients");
    let program = directory.join("guarded-client.mjs").display().to_string();
    let (allowed, denied) = (site.page("/plain"), site.url("b", "/frames/denied"));
    let arguments = [
        program.as_str(),
        "--client",
        client,
        "--endpoint",
        endpoint,
        "--allowed",
        &allowed,
        "--denied",
        &denied,
    ];
    world.run_program("node", &arguments).succeeded().json()
}

#[test]
fn t19_stock_clients_get_a_clear_denial_and_work_once_granted() {
    let (world, site) = (guarded(), FixtureSite::start());
    let own = site.page("").trim_end_matches('/').to_owned();
    allow(&world, &[&own]);
    world.run(&["open", &site.page("/plain")]).succeeded();
    let endpoint = world.cdp_url();
    let clients = ["playwright", "puppeteer"];
    let failed = |client: &str, expected: &str| {
        let output = attempt(&world, &site, client, &endpoint);
        assert_ne!(output["stage"], "done", "{client}: {output}");
        let error = output["error"].as_str().unwrap_or_default().to_owned();
        assert!(!error.contains("HUNG") && !error.to_lowercase().contains("timeout"), "{client}: {output}");
        assert!(error.contains(expected), "{client} gets {expected}: {output}");
    };
    for client in clients {
        failed(client, "403");
    }
    // A grant for one site is not enough to set up a whole browser; the error contains the command that is.
    allow(&world, &[&own, "--cdp"]);
    failed("playwright", "tabwire allow '*' --cdp");
    allow(&world, &["*", "--cdp"]);
    for client in clients {
        let output = attempt(&world, &site, client, &endpoint);
        assert_eq!(output["stage"], "done", "{client}: {output}");
        assert!(output["text"].as_str().is_some_and(|text| !text.is_empty()), "{client}: {output}");
        let refusal = output["refusal"].as_str().unwrap_or_default();
        assert!(refusal.contains("b.localhost") && refusal.contains("tabwire allow"), "{client}: {output}");
        assert!(output["leaked"].is_null() && !output.to_string().contains("CANARY"), "{client}: {output}");
    }
    // The session continues, and nothing of the clients is left in it.
    world.run(&["get-text"]).succeeded();
    world.settles();
}

#[test]
fn the_user_is_asked_when_a_cdp_client_connects() {
    let (world, site) = (guarded(), FixtureSite::start());
    std::fs::create_dir_all(world.home().join("config")).expect("a directory");
    // With this rule the question waits until a person comes.
    std::fs::write(world.home().join("config/policy.toml"), "[[rule]]\nsite = \"*\"\nask = [\"cdp\"]\n")
        .expect("written");
    allow(&world, &[site.page("").trim_end_matches('/')]);
    world.run(&["open", &site.page("/plain")]).succeeded();
    let endpoint = world.cdp_url();
    let ask = |answer: &str| {
        std::thread::scope(|scope| {
            let connecting = scope.spawn(|| CdpClient::try_connect(&endpoint));
            let question = find_eventually(20, || {
                let pending = world.json(&["approvals"])["pending"].clone();
                pending.as_array().expect("a list").first().cloned()
            });
            let question = question.expect("an approval is requested");
            assert_eq!(
                (&question["capability"], &question["site"]),
                (&json!("cdp"), &json!("*")),
                "{question}"
            );
            let id = question["id"].as_str().expect("an id");
            world.run(&["approvals", "answer", id, answer, "--without-terminal"]).succeeded();
            connecting.join().expect("an end")
        })
    };
    let refused = ask("no").err().expect("refused");
    assert!(refused.starts_with("HTTP/1.1 403"), "{refused}");
    // Once is for this connection.
    let mut client = ask("once").expect("connected");
    let page = client.open_page("about:blank");
    assert_eq!(client.evaluate("1 + 1", &page.session), 2);
    drop(client);
    drop(ask("session").expect("connected"));
    CdpClient::try_connect(&endpoint).expect("the session has a grant");
}

#[test]
fn a_launcher_on_a_guarded_browser_is_bound_by_its_policy() {
    let (world, site) = (guarded(), FixtureSite::start());
    let own = site.page("").trim_end_matches('/').to_owned();
    allow(&world, &[&own]);
    let profile = world.home().join("profile").to_string_lossy().into_owned();
    world.run(&["open", &site.page("/plain"), "--profile", &profile]).succeeded();
    let launch = ["chrome", "--headless", "--remote-debugging-port=0", "--user-data-dir", &profile];
    let refused = world.run(&launch);
    assert_eq!((refused.code, refused.stderr.contains("POLICY_DENIED")), (1, true), "{refused:?}");
    assert!(refused.stderr.contains("tabwire allow"), "{refused:?}");
    // With a grant to connect, it has the same rights as any client of the session.
    allow(&world, &["*", "--cdp"]);
    let chrome = PortChrome::start(&world, &["--user-data-dir", &profile]);
    let mut client = CdpClient::connect(&chrome.address);
    let page = client.open_page("about:blank");
    let denied = json!({"url": site.url("b", "/frames/denied")});
    let response = client.ask("Page.navigate", denied, Some(&page.session));
    assert!(
        response["error"]["message"].as_str().is_some_and(|output| output.contains("tabwire allow")),
        "{response}"
    );
    drop(chrome);
    world.run(&["get-text"]).succeeded();
}
