//! Routes: functions of a script that decide about requests, and functions that pages can call.

use crate::mcp::client::McpClient;
use crate::scripts::check_lines;
use crate::support::fixture_site::FixtureSite;
use crate::support::world::World;
use serde_json::json;

#[test]
fn scripts_decide_about_requests() {
    let (world, site) = (World::new(), FixtureSite::start());
    let start = format!(
        "const site = '{}'; await page.goto(site + '/plain'); \
         const get = (path, init) => page.evaluate(([p, i]) => fetch(p, i).then(async (r) => [r.status, await r.text()]), [path, init]);",
        site.page("")
    );
    check_lines(
        &world,
        &start,
        &[
            (
                "{ await page.route('**/api/mock', (route) => route.fulfill({ status: 201, json: { a: 1 }, headers: { 'x-b': 'c' } })); return get('/api/mock') }",
                r#"[201,"{\"a\":1}"]"#,
            ),
            (
                "{ await page.route(/api.gone/, (route) => route.abort()); return get('/api/gone').catch((e) => e.message.includes('Failed to fetch')) }",
                "true",
            ),
            (
                "{ await page.route('**/echo', (route, request) => route.continue({ method: 'PUT', postData: 'changed', headers: { ...request.headers(), 'x-new': 'y' } })); const r = JSON.parse((await get('/echo'))[1]); return [r.method, r.body, JSON.stringify(r).includes('x-new')] }",
                r#"["PUT","changed",true]"#,
            ),
            (
                "{ const seen = []; await context.route('**/api/echo*', (route) => { seen.push('context'); return route.continue() }); await page.route('**/api/echo*', (route) => { seen.push('page'); return route.fallback() }); const r = await get('/api/echo?value=7'); return [seen, r[1]] }",
                r#"[["page","context"],"echo 7"]"#,
            ),
            (
                "{ await page.route('**/plain?f', async (route) => { const r = await route.fetch(); await route.fulfill({ response: r, body: (await r.text()).replace(/<title>.*?<.title>/, '<title>Edited</title>') }) }); await page.goto(site + '/plain?f'); return page.title() }",
                r#""Edited""#,
            ),
            (
                "{ await page.goto(site + '/plain'); await page.unrouteAll(); await context.unroute('**/api/echo*'); return (await get('/api/mock'))[0] }",
                "404",
            ),
            (
                "{ let n = 0; await page.route('**/api/*', (route) => { n++; return route.fulfill({ body: 'once' }) }, { times: 1 }); return [(await get('/api/x'))[1], (await get('/api/x'))[0], n] }",
                r#"["once",404,1]"#,
            ),
            (
                "{ await page.route('**/api/z', async (route) => { await route.fulfill({ body: '' }); await route.continue().catch((e) => { globalThis.twice = e.message }) }); await get('/api/z'); await expect.poll(() => globalThis.twice).toContain('already handled'); return 'ok' }",
                r#""ok""#,
            ),
            (
                "{ await page.exposeFunction('add', (a, b) => a + b); await page.exposeBinding('where', ({ page: p, frame }) => p === page && frame === page.mainFrame()); return page.evaluate(async () => [await add(1, 2), await where()]) }",
                "[3,true]",
            ),
            (
                "{ await page.exposeFunction('fails', () => { throw new Error('inside') }); return page.evaluate(() => fails().catch((e) => e.message)) }",
                r#""inside""#,
            ),
            ("{ await page.reload(); return page.evaluate(() => add(3, 4)) }", "7"),
            (
                "{ const given = await page.exposeFunction('late', () => 1); const before = await page.evaluate(() => late()); await given.dispose(); const now = await page.evaluate(() => typeof late); await page.reload(); return [before, now, await page.evaluate(() => late().catch((e) => e.message))] }",
                r#"[1,"undefined","Function \"late\" is not exposed any more"]"#,
            ),
            (
                "{ const at = []; await page.route('**/api/one', (route) => { at.push(1); return route.fulfill({ status: 430, body: '' }) }); await page.route('**/api/two', (route) => { at.push(2); return route.fallback({ url: site + '/api/one' }) }); return [await get('/api/two'), at] }",
                r#"[[430,""],[2,1]]"#,
            ),
            (
                "{ const at = []; const late = (route) => { at.push('late'); return route.fallback() }; await page.route('**/api/three', late, { times: 1 }); await page.route('**/api/three', async (route) => { at.push('first'); await page.unroute('**/api/three', late); return route.fulfill({ body: '' }).then(() => 0) }); await get('/api/three'); return at }",
                r#"["first"]"#,
            ),
            (
                "{ await page.unrouteAll(); await page.evaluate(() => { document.cookie = 'own=1' }); await page.route('**/echo', (route, request) => route.continue({ headers: { cookie: 'forged=1', 'x-more': request.headers().accept ? 'y' : 'n' } })); const r = JSON.stringify(JSON.parse((await get('/echo'))[1])); return [r.includes('forged'), r.includes('own=1'), r.includes('x-more')] }",
                "[false,true,true]",
            ),
            (
                "{ await page.unrouteAll(); let n = 0; await page.route(/api.g$/g, (route) => { n++; return route.fulfill({ body: 'g' }) }); await page.route('**/api/q\\?x', (route) => route.fulfill({ body: 'q' })); return [(await get('/api/g'))[1], (await get('/api/g'))[1], n, (await get('/api/q?x'))[1]] }",
                r#"["g","g",2,"q"]"#,
            ),
            (
                "{ await page.unrouteAll(); await page.route('**/api/e', async (route) => { try { await route.fulfill({ response: {} }) } catch { await route.fulfill({ body: 'after' }) } }); const seen = []; page.on('request', (r) => seen.push(r.url())); await page.evaluate(() => { new Image().src = 'data:image/gif;base64,R0lGODlhAQABAAAAACw=' }); const r = await get('/api/e'); page.removeAllListeners(); return [r[1], seen.some((url) => url.startsWith('data:'))] }",
                r#"["after",false]"#,
            ),
            (
                "{ await page.setContent('<div id=o style=\"position:fixed;inset:0\"><button id=c onclick=\"o.remove()\">Close</button></div><button id=b onclick=\"document.title=1\">B</button>'); await page.addLocatorHandler(page.locator('#o'), () => page.click('#c')); await page.click('#b'); return page.title() }",
                r#""1""#,
            ),
        ],
    );
}

#[test]
fn routes_and_events_of_a_guarded_client_stay_within_its_grants() {
    let (world, site) = (World::new(), FixtureSite::start());
    world.run(&["allow", &site.page(""), "--without-terminal", "--act", "--eval"]).succeeded();
    let mut client = McpClient::start(&world, &["--tools", "execute", "--timeout", "30s"]);
    let secret = site.url("b", "/policy/secret-data?token=canary");
    let code = format!(
        "state.urls = []; page.on('request', (r) => state.urls.push(r.url())); \
         await page.route('**/*', (route, r) => {{ state.urls.push(r.url()); return route.continue() }}); \
         await page.goto({}); await page.evaluate((u) => {{ new Image().src = u }}, {}); \
         await page.evaluate(() => fetch('/plain').then(() => 0)); state.urls.join(' ')",
        json!(site.page("/plain")),
        json!(secret)
    );
    let text = client.text("execute", json!({"code": code}));
    assert!(text.contains("a.localhost") && !text.contains("canary"), "{text}");
    assert!(text.contains("withheld"), "{text}");
    let allowed = format!("await (await page.request.get({})).text()", json!(site.page("/api/echo?value=1")));
    assert!(client.text("execute", json!({"code": allowed})).contains("echo 1"));
    let denied = format!("await page.request.get({})", json!(secret));
    let failure = client.failure("execute", json!({"code": denied}));
    assert!(failure.starts_with("POLICY_DENIED: "), "{failure}");
    let redirect = format!("{}?to={}", site.page("/redirect/to"), secret.replace('?', "%3F"));
    let failure = client.failure("execute", json!({"code": format!("await fetch({})", json!(redirect))}));
    assert!(failure.starts_with("POLICY_DENIED: "), "{failure}");
    assert_eq!(site.request_count("/policy/secret-data"), 1, "only the page's own image was requested");
}

#[test]
fn a_route_applies_to_the_first_page_and_allows_requests_to_other_sites() {
    let world = World::new();
    check_lines(
        &world,
        "await page.route('http://*.test/**', (route, request) => route.fulfill({ body: `<title>${request.method()}</title>`, contentType: 'text/html' }));",
        &[
            ("{ await page.goto('http://a.test/'); return page.title() }", r#""GET""#),
            (
                "page.evaluate(() => fetch('http://b.test/x', { method: 'PUT', headers: { a: 'b' } }).then((r) => r.text()))",
                r#""<title>PUT</title>""#,
            ),
        ],
    );
}
