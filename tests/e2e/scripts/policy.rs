//! Scripts under the policy: each call is judged as if the client had made it.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::mcp::client::McpClient;
use crate::support::fixture_site::FixtureSite;
use crate::support::wait::{eventually, find_eventually};
use crate::support::world::{World, wait};

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
fn time_spent_waiting_for_an_approval_does_not_count() {
    let (world, site) = (World::new().with("TABWIRE_POLICY", "guarded"), FixtureSite::start());
    std::fs::create_dir_all(world.home().join("config")).expect("a directory");
    let rule = format!("[[rule]]\nsite = \"{}\"\nask = [\"all\"]\n", site.page("").trim_end_matches('/'));
    std::fs::write(world.home().join("config/policy.toml"), rule).expect("written");
    // The browser starts outside of the measured time.
    world.open(&["about:blank"]);
    let question = || {
        let pending = world.json(&["approvals"])["pending"].clone();
        pending.as_array().expect("a list").first().cloned()
    };
    // From now on a user watches; without one, requests are denied at once.
    assert_eq!(question(), None);
    let timeout = Duration::from_secs(5);
    let code = format!("await page.goto({}); await page.title()", json!(site.page("/plain")));
    let arguments = ["--timeout", "5s", "execute", &code];
    let child = world.start(&arguments);
    let asked = find_eventually(20, question).expect("an approval is requested");
    let since = Instant::now();
    eventually("the time of the run is over", 40, || question().is_some() && since.elapsed() > timeout * 2);
    let id = asked["id"].as_str().expect("an id");
    world.run(&["approvals", "answer", id, "session", "--without-terminal"]).succeeded();
    wait(child, &arguments).succeeded();
}

#[test]
fn a_denied_approval_refuses_one_call_of_a_script() {
    let (world, site) = (World::new().with("TABWIRE_POLICY", "guarded"), FixtureSite::start());
    std::fs::create_dir_all(world.home().join("config")).expect("a directory");
    let rule = format!("[[rule]]\nsite = \"{}\"\nask = [\"all\"]\n", site.page("").trim_end_matches('/'));
    std::fs::write(world.home().join("config/policy.toml"), rule).expect("written");
    world.open(&["about:blank"]);
    let question = || {
        let pending = world.json(&["approvals"])["pending"].clone();
        pending.as_array().expect("a list").first().cloned()
    };
    assert_eq!(question(), None);
    let code = format!(
        "const code = await page.goto({}).catch((error) => error.code);\nconsole.log(code, page.url());\nawait page.goto({})",
        json!(site.page("/plain")),
        json!(site.page("/form"))
    );
    let arguments = ["--json", "execute", &code];
    let child = world.start(&arguments);
    for answer in ["no", "no"] {
        let asked = find_eventually(40, question).expect("an approval is requested");
        let id = asked["id"].as_str().expect("an id");
        world.run(&["approvals", "answer", id, answer, "--without-terminal"]).succeeded();
        eventually("the question is gone", 20, || question().is_none_or(|next| next["id"] != asked["id"]));
    }
    let outcome = wait(child, &arguments);
    assert_eq!(outcome.code, 3, "{outcome:?}");
    assert!(outcome.stdout.contains("POLICY_DENIED about:blank"), "the script goes on: {outcome:?}");
    assert!(outcome.stdout.contains("execute:3:"), "{outcome:?}");
    assert_eq!(site.request_count("/plain") + site.request_count("/form"), 0, "nothing was requested");
}

#[test]
fn t26_a_script_carries_no_long_text_to_another_site() {
    let (world, site) = (World::new().with("TABWIRE_POLICY", "guarded"), FixtureSite::start());
    for origin in [site.url("a", ""), site.url("b", "")] {
        world.run(&["allow", &origin, "--act", "--without-terminal"]).succeeded();
    }
    let read = format!(
        "await page.goto({}); state.text = await page.innerText('body')",
        json!(site.url("a", "/plain"))
    );
    world.run(&["execute", &read]).succeeded();
    let give = format!(
        "await page.goto({});\nawait page.fill('#text', (state.text + 'x'.repeat(250)).slice(-250))",
        json!(site.url("b", "/inputs"))
    );
    let refused = world.run(&["--json", "execute", &give]);
    assert_eq!(refused.failure(), ("POLICY_DENIED".to_owned(), 3), "{refused:?}");
    let error = refused.json()["error"].to_string();
    assert!(error.contains("--carry") && error.contains("execute:2:"), "{error}");
    assert_eq!(world.run(&["get", "value", "#text"]).succeeded().text(), "", "nothing was typed");
    // Text in a URL of a script is judged too.
    let far = format!("await page.goto({} + '?q=' + 'x'.repeat(300))", json!(site.url("b", "/inputs")));
    assert_eq!(world.run(&["--json", "execute", &far]).failure().0, "POLICY_DENIED");
}

#[test]
fn code_in_a_worker_needs_eval_for_its_own_site() {
    let (world, site) = (World::new().with("TABWIRE_POLICY", "guarded"), FixtureSite::start());
    world.run(&["allow", &site.url("a", ""), "--act", "--eval", "--carry", "--without-terminal"]).succeeded();
    world.run(&["allow", &site.url("b", ""), "--act", "--without-terminal"]).succeeded();
    let at_worker = format!(
        "await page.goto({});\nconst [w] = await Promise.all([page.waitForEvent('worker'), \
         page.setContent('<iframe src=\"{}\"></iframe>')]);\n",
        json!(site.url("a", "/plain")),
        site.url("b", "/worker/dedicated")
    );
    let read = "const seen = await w.evaluate('self.location.href')";
    let refused = world.run(&["--json", "execute", &format!("{at_worker}{read}")]);
    assert_eq!(refused.failure(), ("POLICY_DENIED".to_owned(), 3), "{refused:?}");
    let error = refused.json()["error"].to_string();
    assert!(error.contains("b.localhost") && error.contains("execute:3:"), "{error}");
    world.run(&["allow", &site.url("b", ""), "--act", "--eval", "--without-terminal"]).succeeded();
    // Code that comes before the worker has started waits for it. Several times, since it came before only sometimes.
    let code = format!(
        "const all = []; for (let i = 0; i < 4; i++) {{ {at_worker}{read}; all.push(seen) }} all.join()"
    );
    let seen = world.run(&["execute", &code]).succeeded();
    assert_eq!(seen.text().matches("/worker/dedicated.js").count(), 4, "{seen:?}");
    // The engine stays attached to the frame and its worker while they are there.
    world.run(&["close"]).succeeded();
}

#[test]
fn session_actions_are_not_for_scripts() {
    let world = World::new();
    let code = "[typeof tabwire.session_stop, typeof tabwire.close, typeof tabwire.open].join()";
    let outcome = world.run(&["execute", code]).succeeded();
    assert_eq!(outcome.text(), "undefined,undefined,undefined");
}
