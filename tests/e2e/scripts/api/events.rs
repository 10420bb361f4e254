//! Events of pages and contexts, dialogs, file choosers, downloads and requests.

use crate::scripts::{check_lines, execute, on_page};
use crate::support::fixture_site::FixtureSite;
use crate::support::world::World;

/// Code that goes to a page of the site.
fn at(site: &FixtureSite, path: &str) -> String {
    format!("const site = '{}'; await page.goto(site + '{path}');", site.page(""))
}

#[test]
fn pages_report_console_errors_frames_and_popups() {
    let (world, site) = (World::new(), FixtureSite::start());
    let count = "{ let n = 0; const f = () => n++; page.on('console', f); page.once('console', f);";
    check_lines(
        &world,
        &at(&site, "/plain"),
        &[
            (
                "{ const [m] = await Promise.all([page.waitForEvent('console'), page.evaluate(() => console.warn('a', 1, {b: 2}))]); return [m.type(), m.text(), await m.args()[1].jsonValue(), m.page() === page] }",
                r#"["warning","a 1 {b: 2}",1,true]"#,
            ),
            (
                &format!(
                    "{count} await page.evaluate(() => {{ console.log(1); console.log(2) }}); page.off('console', f); await page.evaluate(() => console.log(3)); return [n, page.listenerCount('console')] }}"
                ),
                "[3,0]",
            ),
            (
                "{ const [e] = await Promise.all([page.waitForEvent('pageerror'), page.evaluate(() => { setTimeout(() => { throw new TypeError('oops') }) })]); return [e.name, e.message, e.stack.includes('oops')] }",
                r#"["TypeError","oops",true]"#,
            ),
            (
                "{ const seen = []; for (const name of ['load', 'domcontentloaded', 'framenavigated']) page.on(name, () => seen.push(name)); await page.reload(); page.removeAllListeners(); return seen }",
                r#"["framenavigated","domcontentloaded","load"]"#,
            ),
            (
                "{ const seen = []; page.on('frameattached', (f) => seen.push('attached')); page.on('framedetached', (f) => seen.push(f.isDetached())); await page.evaluate(() => { const f = document.createElement('iframe'); document.body.append(f); f.remove() }); page.removeAllListeners(); return seen }",
                r#"["attached",true]"#,
            ),
            (
                "{ const [popup, same] = await Promise.all([page.waitForEvent('popup'), context.waitForEvent('page'), page.evaluate(() => void window.open('/plain?popup'))]); await popup.waitForURL('**/plain?popup'); const closed = popup.waitForEvent('close'); await popup.close(); await closed; return [popup === same, popup.isClosed(), context.pages().length] }",
                "[true,true,1]",
            ),
            (
                "page.waitForEvent('console', { timeout: 50 })",
                r#"FAILED page.waitForEvent: Timeout 50ms exceeded while waiting for event "console""#,
            ),
            (
                "{ const wait = page.waitForEvent('console', (m) => m.text() === 'x'); await page.evaluate(() => { console.log('y'); console.log('x') }); return (await wait).text() }",
                r#""x""#,
            ),
            (
                "{ const [w] = await Promise.all([page.waitForEvent('worker'), page.evaluate(() => new Promise((ready) => { globalThis.w = new Worker(URL.createObjectURL(new Blob(['self.n = 2; postMessage(0)']))); globalThis.w.onmessage = () => ready(0) }))]); const [m] = await Promise.all([w.waitForEvent('console'), w.evaluate((by) => { console.log('n is', self.n * by, { a: 'x' }) }, 21)]); const h = await w.evaluateHandle(() => ({ b: [self.n] })); const seen = [m.text(), m.worker() === w, await m.args()[2].jsonValue(), await h.jsonValue(), await (await h.getProperty('b')).evaluate((b) => b.length)]; await Promise.all([w.waitForEvent('close'), page.evaluate(() => globalThis.w.terminate())]); return [...seen, await w.evaluate('1').catch((e) => e.message.split('\\n')[0])] }",
                r#"["n is 42 {a: x}",true,{"a":"x"},{"b":[2]},1,"worker.evaluate: Target page, context or browser has been closed"]"#,
            ),
            (
                "{ const [e] = await Promise.all([page.waitForEvent('pageerror'), page.evaluate(() => { new Worker(URL.createObjectURL(new Blob(['setTimeout(() => { throw new Error(\"in the worker\") })']))) })]); return e.message }",
                r#""in the worker""#,
            ),
            (
                "{ const [m] = await Promise.all([page.waitForEvent('console'), page.evaluate(() => { const l = []; l[1] = 1; l[4] = null; console.log(l, { a: 'b', c: [1] }, window, document.body) })]); return [m.text(), await m.args()[1].jsonValue()] }",
                r#"["[empty, 1, empty x 2, null] {a: b, c: Array(1)} Window body","Object"]"#,
            ),
            (
                "{ const [m] = await Promise.all([page.waitForEvent('console'), page.evaluate(() => fetch('/status?code=404').then(() => 0))]); return [m.type(), m.text().includes('404')] }",
                "[\"error\",true]",
            ),
            (
                "{ const [w] = await Promise.all([page.waitForEvent('worker'), page.evaluate(() => { globalThis.w = new Worker(URL.createObjectURL(new Blob(['1']))) })]); const seen = [w.url().startsWith('blob:'), page.workers().length]; await page.evaluate(() => globalThis.w.terminate()); return seen }",
                "[true,1]",
            ),
            (
                "{ const end = new Promise((done) => page.once('websocket', (s) => { const seen = [s.url().startsWith('ws:')]; s.on('framesent', (f) => seen.push(f.payload)); s.on('framereceived', (f) => seen.push(f.payload)); s.on('close', () => done([...seen, s.isClosed()])) })); await page.evaluate(() => { const s = new WebSocket('/websocket/echo'); s.onopen = () => s.send('hi'); s.onmessage = () => s.close() }); return end }",
                r#"[true,"hi","hi",true]"#,
            ),
        ],
    );
    // The engine stays attached to workers that still run.
    world.run(&["close"]).succeeded();
}

#[test]
fn dialogs_file_choosers_and_downloads_can_be_handled() {
    let (world, site) = (World::new().with_whole_chromium(), FixtureSite::start());
    let start = at(&site, "/plain")
        + "await page.setContent('<input type=file id=one><input type=file id=many multiple><a id=save href=/download/report.txt>x</a>');";
    check_lines(
        &world,
        &start,
        &[
            (
                "{ page.once('dialog', (d) => d.accept('Ann')); return page.evaluate(() => prompt('Name?', 'x')) }",
                r#""Ann""#,
            ),
            (
                "{ let seen; page.once('dialog', async (d) => { seen = [d.type(), d.message(), d.defaultValue()]; await d.dismiss() }); const value = await page.evaluate(() => prompt('Name?', 'x')); return [seen, value] }",
                r#"[["prompt","Name?","x"],null]"#,
            ),
            ("page.evaluate(() => [confirm('Sure?'), alert('x') === undefined])", "[false,true]"),
            (
                "{ const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.locator('#many').click()]); await chooser.setFiles([{ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('one') }, { name: 'b.txt', mimeType: 'text/plain', buffer: Buffer.from('two') }]); return [chooser.isMultiple(), await page.evaluate(async () => Promise.all([...many.files].map(async (f) => f.name + f.type + await f.text())))] }",
                r#"[true,["a.txttext/plainone","b.txttext/plaintwo"]]"#,
            ),
            (
                "{ await page.setInputFiles('#one', { name: 'c.bin', mimeType: 'x/y', buffer: Buffer.from([1, 255]) }); return page.evaluate(async () => [one.files[0].name, ...new Uint8Array(await one.files[0].arrayBuffer())]) }",
                r#"["c.bin",1,255]"#,
            ),
            ("{ await page.setInputFiles('#one', []); return page.evaluate(() => one.files.length) }", "0"),
            (
                "{ const [d] = await Promise.all([page.waitForEvent('download'), page.click('#save')]); await d.saveAs('saved.txt'); return [d.suggestedFilename(), d.url().endsWith('/download/report.txt'), await d.failure(), (await d.path()).endsWith('saved.txt')] }",
                r#"["report.txt",true,null,true]"#,
            ),
            ("Buffer.concat([Buffer.from('YQ==', 'base64'), Buffer.from('b')]).toString('hex')", r#""6162""#),
        ],
    );
}

#[test]
fn dialogs_without_a_listener_are_dismissed_and_reported() {
    let world = World::new();
    let code = on_page("await page.click('#ask'); await expect(page).toHaveTitle('no');");
    let outcome = world.run(&["execute", &code]).succeeded();
    assert!(
        outcome.stderr.contains("Dismissed a dialog without a listener: confirm 'Sure?'"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn requests_and_responses_can_be_waited_for_and_read() {
    let (world, site) = (World::new(), FixtureSite::start());
    check_lines(
        &world,
        &at(&site, "/plain"),
        &[
            (
                "{ const r = await page.goto(site + '/api/echo?value=1'); return [r.status(), r.ok(), await r.text(), r.request().method(), r.headers()['content-type'], r.request().isNavigationRequest(), r.frame() === page.mainFrame()] }",
                r#"[200,true,"echo 1","GET","text/plain; charset=utf-8",true,true]"#,
            ),
            (
                "{ const [q] = await Promise.all([page.waitForRequest('**/echo'), page.evaluate(() => fetch('/echo', { method: 'POST', body: '{\"a\":1}', headers: { 'X-A': 'b' } }).then((r) => r.text()).then(() => 0))]); return [q.method(), q.postDataJSON(), q.headers()['x-a'], q.resourceType(), q.failure(), (await q.allHeaders())['x-a'], new URL(q.url()).pathname] }",
                r#"["POST",{"a":1},"b","fetch",null,"b","/echo"]"#,
            ),
            (
                "{ const [r] = await Promise.all([page.waitForResponse((r) => r.url().includes('data-1') && r.status() === 200), page.evaluate(() => fetch('/resources/data-1.json').then((r) => r.text()).then(() => 0))]); return [(await r.body()).length > 0, typeof (await r.json()), r.statusText(), await r.finished(), (await r.request().response()) === r, r.request().timing().responseStart >= 0, (await r.serverAddr()).port > 0] }",
                r#"[true,"object","OK",null,true,true,true]"#,
            ),
            (
                "{ const [r] = await Promise.all([page.waitForResponse(/plain$/), page.evaluate(() => fetch('/redirect').then((r) => r.text()).then(() => 0))]); const from = r.request().redirectedFrom(); return [new URL(from.url()).pathname, from.redirectedTo() === r.request(), (await from.response()).status()] }",
                r#"["/redirect",true,302]"#,
            ),
            (
                "{ const [q] = await Promise.all([page.waitForEvent('requestfailed'), page.evaluate(() => fetch('/hang/up').catch(() => 0))]); return q.failure().errorText.startsWith('net::') }",
                "true",
            ),
            (
                "{ const [q] = await Promise.all([context.waitForEvent('requestfinished'), page.evaluate(() => fetch('/plain').then((r) => r.text()).then(() => 0))]); return (await q.sizes()).responseBodySize > 0 }",
                "true",
            ),
            (
                "page.waitForRequest('**/never', { timeout: 30 })",
                r#"FAILED page.waitForRequest: Timeout 30ms exceeded while waiting for event "request""#,
            ),
        ],
    );
}

#[test]
fn listeners_live_on_between_runs_but_do_not_act() {
    let (world, site) = (World::new(), FixtureSite::start());
    execute(
        &world,
        &(at(&site, "/plain")
            + "state.seen = []; state.refused = ''; page.on('console', async (m) => { state.seen.push(m.text() + await page.title()); await page.evaluate('1').catch((e) => { state.refused = e.message }) }); page.on('dialog', (d) => d.accept()); await page.route('**/mocked', (r) => r.fulfill({ body: 'mocked' }));"),
    );
    world.run(&["eval", "console.log('later')"]).succeeded();
    assert_eq!(world.run(&["eval", "confirm('?')"]).succeeded().text(), "true");
    assert_eq!(world.run(&["eval", "fetch('/mocked').then((r) => r.text())"]).succeeded().text(), "mocked");
    let code = "await expect.poll(() => state.refused).toContain('between two runs'); state.seen";
    let seen = execute(&world, code);
    assert!(seen.contains("later"), "{seen}");
    world.run(&["reset"]).succeeded();
    assert!(
        world.run(&["eval", "fetch('/mocked').then((r) => r.status)"]).succeeded().text().contains("404")
    );
}

#[test]
fn a_request_goes_on_when_its_question_finds_the_queue_full() {
    let (world, site) = (World::new(), FixtureSite::start());
    // The script is busy while thousands of events and a question arrive for it.
    let code = format!(
        "await page.goto({}); let lines = 0; page.on('console', () => lines++); \
         await page.route('**/api/echo*', (route) => route.continue()); \
         await page.evaluate(() => setTimeout(() => {{ for (let i = 0; i < 8000; i++) console.log(i); fetch('/api/echo?value=1').then(() => {{ document.title = 'served' }}); fetch('/api/echo?value=2') }}, 50)); \
         const until = Date.now() + 2500; while (Date.now() < until); \
         await page.waitForFunction(() => document.title === 'served', undefined, {{ timeout: 15000 }}); lines > 0",
        serde_json::json!(site.page("/plain"))
    );
    let outcome = world.run(&["execute", &code]).succeeded();
    assert_eq!(outcome.text(), "true");
    assert!(outcome.stderr.contains("events were dropped"), "{}", outcome.stderr);
}
