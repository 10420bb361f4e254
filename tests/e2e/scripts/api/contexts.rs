//! Browser contexts of scripts.

use serde_json::json;

use crate::mcp::client::McpClient;
use crate::scripts::{check_lines, execute};
use crate::support::fixture_site::FixtureSite;
use crate::support::world::World;

#[test]
fn contexts_have_their_own_cookies_and_end_with_the_script() {
    let (world, site) = (World::new(), FixtureSite::start());
    let start = format!(
        "const site = '{}'; await page.goto(site + '/plain'); await context.addCookies([{{ name: 'own', value: '1', url: site }}]); \
         globalThis.other = await browser.newContext({{ extraHTTPHeaders: {{ 'x-added': 'yes' }}, viewport: {{ width: 500, height: 400 }} }});",
        site.page("")
    );
    check_lines(
        &world,
        &start,
        &[
            (
                "{ globalThis.p = await other.newPage(); await p.goto(site + '/plain'); return [p.context() === other, page.context() === context, other.pages().length, context.pages().length, browser.contexts().length, p.viewportSize().width] }",
                "[true,true,1,1,2,500]",
            ),
            (
                "[await page.evaluate(() => document.cookie), await p.evaluate(() => document.cookie)]",
                r#"["own=1",""]"#,
            ),
            (
                "{ await other.addCookies([{ name: 'a', value: 'b', url: site, httpOnly: true }]); return [(await other.cookies()).map((c) => [c.name, c.value, c.httpOnly]), (await context.cookies()).map((c) => c.name), await (await other.request.get(site + '/cookie/show')).text()] }",
                r#"[[["a","b",true]],["own"],"a=b"]"#,
            ),
            ("{ const r = await p.goto(site + '/api/headers'); return r.text() }", r#""yes""#),
            (
                "{ await p.goto(site + '/plain'); await p.evaluate(() => localStorage.setItem('k', 'v')); const s = await other.storageState(); return [s.cookies.map((c) => c.name), s.origins[0].localStorage] }",
                r#"[["a"],[{"name":"k","value":"v"}]]"#,
            ),
            (
                "{ await other.setOffline(true); const failed = await p.evaluate(() => fetch('/plain').then(() => 'ok', () => 'off')); await other.setOffline(false); return failed }",
                r#""off""#,
            ),
            ("{ await other.clearCookies(); return other.cookies() }", "[]"),
            (
                "{ const closed = p.waitForEvent('close'); await other.close(); await closed; return [p.isClosed(), browser.contexts().length, await other.newPage().catch((e) => e.message.includes('closed'))] }",
                "[true,1,true]",
            ),
            (
                "{ await context.grantPermissions(['geolocation']); await context.setGeolocation({ latitude: 1, longitude: 2 }); return page.evaluate(() => new Promise((done) => navigator.geolocation.getCurrentPosition((p) => done([p.coords.latitude, p.coords.longitude]), (e) => done(e.message)))) }",
                "[1,2]",
            ),
            (
                "{ await context.setExtraHTTPHeaders({ 'x-added': 'own' }); return (await page.goto(site + '/api/headers')).text() }",
                r#""own""#,
            ),
            (
                "{ const c = await browser.newContext({ storageState: { cookies: [{ name: 's', value: 't', url: site }], origins: [] } }); const q = await c.newPage(); await q.goto(site + '/plain'); return q.evaluate(() => document.cookie) }",
                r#""s=t""#,
            ),
        ],
    );
    assert_eq!(execute(&world, "context.pages().length + browser.contexts().length"), "3");
    world.run(&["reset"]).succeeded();
    let tabs = || world.json(&["tabs"])["result"]["tabs"].as_array().map_or(0, Vec::len);
    crate::support::wait::eventually("the context has ended", 10, || tabs() == 1);
}

#[test]
fn cdp_sessions_pass_the_guard_of_cdp_clients() {
    let (world, site) = (World::new(), FixtureSite::start());
    let start =
        format!("await page.goto('{}'); const cdp = await context.newCDPSession(page);", site.page("/plain"));
    check_lines(
        &world,
        &start,
        &[
            (
                "{ const { result } = await cdp.send('Runtime.evaluate', { expression: '6 * 7' }); return result.value }",
                "42",
            ),
            (
                "{ await cdp.send('Network.enable'); const seen = new Promise((done) => cdp.once('Network.requestWillBeSent', done)); await page.evaluate(() => fetch('/plain').then(() => 0)); return (await seen).request.url.endsWith('/plain') }",
                "true",
            ),
            (
                "cdp.send('Target.getTargets')",
                "FAILED cdpSession.send: `Target.getTargets` is not available to scripts: their CDP sessions are those of pages.",
            ),
            (
                "cdp.send('No.such')",
                "FAILED cdpSession.send: Protocol error (No.such): 'No.such' wasn't found",
            ),
            (
                "{ const crashed = page.waitForEvent('crash'); cdp.send('Page.crash').catch(() => {}); return (await crashed) === page }",
                "true",
            ),
            (
                "{ await cdp.detach(); return cdp.send('Page.enable').catch((e) => e.message) }",
                r#""cdpSession.send: Session is already detached""#,
            ),
        ],
    );
    world.run(&["allow", &site.page(""), "--without-terminal", "--act", "--eval"]).succeeded();
    let mut client = McpClient::start(&world, &["--tools", "execute", "--session", "guarded"]);
    let code = json!({"code": format!("{start}; 1")});
    let failure = client.failure("execute", code.clone());
    assert!(failure.starts_with("POLICY_DENIED: ") && failure.contains("--cdp"), "{failure}");
    world.run(&["allow", &site.page(""), "--without-terminal", "--act", "--eval", "--cdp"]).succeeded();
    assert!(client.text("execute", code).contains('1'));
}
