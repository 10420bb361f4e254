//! Scripts under the policy: each call is judged as if the client had made it.

use serde_json::json;

use crate::mcp::client::McpClient;
use crate::support::fixture_site::FixtureSite;
use crate::support::world::World;

#[test]
fn a_script_of_a_guarded_client_does_only_what_is_allowed() {
    let (world, site) = (World::new(), FixtureSite::start());
    world.run(&["allow", &site.page(""), "--without-terminal"]).succeeded();
    let mut client = McpClient::start(&world, &["--tools", "execute", "--timeout", "20s"]);
    let start = format!("await page.goto({});", json!(site.page("/form")));
    let text = client.text("execute", json!({"code": format!("{start} await page.title()")}));
    assert!(text.starts_with("<page "), "{text}");
    for code in [
        "await page.locator('input').first().fill('x')",
        "await page.evaluate(() => document.cookie)",
        "await page.locator('body').evaluate((e) => e.innerHTML)",
        "await tabwire.click({ target: 'input', nth: 1 })",
        "await page.locator('input').first().click()",
    ] {
        let failure = client.failure("execute", json!({"code": format!("// first line\n{code}")}));
        assert!(failure.starts_with("POLICY_DENIED: "), "{code}: {failure}");
        assert!(failure.contains("tabwire allow") && failure.contains("execute:2:"), "{code}: {failure}");
    }
    let elsewhere = format!("await page.goto({})", json!(site.url("b", "/plain")));
    let failure = client.failure("execute", json!({"code": elsewhere}));
    assert!(failure.starts_with("POLICY_DENIED: "), "{failure}");
    assert_eq!(site.request_count("/plain"), 0, "nothing was requested of the other site");
    // A script that catches the refusal goes on without what was refused.
    let caught = "try { await page.locator('input').first().fill('x') } catch (error) { error.code }";
    assert!(client.text("execute", json!({"code": caught})).contains("POLICY_DENIED"));
}

#[test]
fn urls_of_tabs_that_may_not_be_read_are_hidden_from_scripts() {
    let (world, site) = (World::new(), FixtureSite::start());
    world.open(&[&site.url("b", "/plain?token=canary")]);
    let script = ["execute", "context.pages().map((page) => page.url()).join()"];
    let seen = world.run(&script).succeeded().text().to_owned();
    assert!(seen.contains("canary"), "an open session shows them: {seen}");
    let guarded = world.run(&[&script[..], &["--policy", "guarded"]].concat()).succeeded().text().to_owned();
    assert!(guarded.contains("b.localhost") && !guarded.contains("canary"), "{guarded}");
}

#[test]
fn session_actions_are_not_for_scripts() {
    let world = World::new();
    let code = "[typeof tabwire.session_stop, typeof tabwire.close, typeof tabwire.open].join()";
    let outcome = world.run(&["execute", code]).succeeded();
    assert_eq!(outcome.text(), "undefined,undefined,undefined");
}
