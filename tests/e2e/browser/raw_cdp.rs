//! `cdp`: one CDP command from the command line, judged like a command of a CDP client.

use serde_json::Value;

use crate::policy::grants::{allow, guarded, remedy};
use crate::support::fixture_site::FixtureSite;
use crate::support::world::World;

fn origin(site: &FixtureSite, host: &str) -> String {
    site.url(host, "").trim_end_matches('/').to_owned()
}

#[test]
fn a_cdp_command_runs_in_the_page() {
    let (world, site) = (World::new(), FixtureSite::start());
    world.open(&[&site.page("/plain")]);
    let metrics = world.json(&["cdp", "Page.getLayoutMetrics"]);
    assert_eq!(metrics["result"]["result"]["cssVisualViewport"]["clientWidth"], 1280, "{metrics}");
    let code = r#"{"expression": "document.title", "returnByValue": true}"#;
    let title = world.run(&["cdp", "Runtime.evaluate", code, "--raw"]).succeeded();
    assert!(title.stdout.contains("Plain page"), "{title:?}");
    let fenced = world.run(&["cdp", "Runtime.evaluate", code]).succeeded();
    assert!(fenced.stdout.starts_with("<page "), "{fenced:?}");
    // The domain is enabled where it must be.
    let found = world.json(&["cdp", "Performance.getMetrics"]);
    assert!(found["result"]["result"]["metrics"].as_array().is_some_and(|all| !all.is_empty()), "{found}");
    // Interception ends with the command, so the page still loads.
    world.run(&["cdp", "Fetch.enable"]).succeeded();
    world.run(&["reload"]).succeeded();
    let code_of = |arguments: &[&str]| world.run(&[&["--json", "cdp"], arguments].concat()).failure().0;
    assert_eq!(code_of(&["Page.noSuchMethod"]), "UNKNOWN_METHOD");
    assert_eq!(code_of(&["Runtime.evaluate", r#"{"expression": 3}"#]), "CDP_ERROR");
    assert_eq!(code_of(&["Runtime.evaluate", "[1]"]), "BAD_ARGS");
    assert_eq!(code_of(&["layout"]), "BAD_ARGS");
    assert_eq!(code_of(&["Target.closeTarget", r#"{"targetId": "x"}"#]), "POLICY_DENIED");
    assert_eq!(world.number("clients"), 1, "no client is left");
}

#[test]
fn h2_a_cdp_command_needs_the_grant_of_what_it_touches() {
    let (world, site) = (guarded(), FixtureSite::start());
    let a = origin(&site, "a");
    allow(&world, &[&a, "--act", "--eval"]);
    world.run(&["open", &site.url("a", "/plain")]).succeeded();
    assert_eq!(remedy(&world, &["cdp", "Page.getLayoutMetrics"]), format!("tabwire allow {a} --cdp"));
    allow(&world, &[&a, "--act", "--eval", "--cdp"]);
    world.run(&["cdp", "Page.getLayoutMetrics"]).succeeded();
    let refused = |arguments: &[&str]| -> Value {
        let outcome = world.run(&[&["--json", "cdp"], arguments].concat());
        assert_eq!(outcome.failure(), ("POLICY_DENIED".to_owned(), 3), "{arguments:?}: {outcome:?}");
        outcome.json()["error"].clone()
    };
    // Every site, another site, and a method that the table does not know.
    refused(&["Network.getCookies", &format!(r#"{{"urls": ["{}"]}}"#, site.url("b", "/"))]);
    refused(&["Storage.getCookies"]);
    refused(&["Page.addScriptToEvaluateOnNewDocument", r#"{"source": "1"}"#]);
    refused(&["Page.navigate", &format!(r#"{{"url": "{}"}}"#, site.url("b", "/plain"))]);
    refused(&["Surprise.method"]);
}
