//! Navigations of scripts: referer, load states, `commit`, and navigations that supersede each other.

use crate::scripts::check_lines;
use crate::support::fixture_site::FixtureSite;
use crate::support::world::World;

#[test]
fn navigations_have_a_referer_and_wait_for_the_state_that_is_asked_for() {
    let (world, site) = (World::new(), FixtureSite::start());
    let start = format!(
        "const site = '{}'; await page.goto(site + '/plain');
         const late = () => page.route('**/late-*', async (route) => {{ await new Promise((r) => setTimeout(r, 700)); globalThis.served = (globalThis.served ?? 0) + 1; await route.fulfill({{ body: 'late' }}); }});",
        site.page("")
    );
    check_lines(
        &world,
        &start,
        &[
            (
                "{ const r = await page.goto(site + '/plain?r', { referer: 'http://other.example/from?x' }); return [r.request().headers().referer, await page.evaluate(() => document.referrer)] }",
                r#"["http://other.example/from?x","http://other.example/from?x"]"#,
            ),
            (
                "{ await page.setExtraHTTPHeaders({ referer: 'http://one.example/' }); const e = await page.goto(site + '/plain', { referer: 'http://two.example/' }).catch((x) => x.message); await page.setExtraHTTPHeaders({}); return e.replace(site, '') }",
                r#""page.goto: \"referer\" is already specified as extra HTTP header\nCall log:\n  - navigating to \"/plain\"""#,
            ),
            (
                "{ await page.setContent('<iframe src=about:blank></iframe>'); const frame = page.frames()[1]; await frame.goto(site + '/plain?f', { referer: 'http://other.example/' }); return frame.evaluate(() => document.referrer) }",
                r#""http://other.example/""#,
            ),
            // `commit` does not wait for the body of the document.
            (
                "{ await page.route('**/plain?slow', async (route) => { await route.fulfill({ contentType: 'text/html', body: '<title>Committed</title><img src=/late-image>' }) }); await late(); globalThis.served = 0; const r = await page.goto(site + '/plain?slow', { waitUntil: 'commit' }); const before = globalThis.served; await page.waitForLoadState('load'); return [r.status(), before, globalThis.served] }",
                "[200,0,1]",
            ),
            (
                "{ globalThis.served = 0; const asked = page.waitForRequest('**/late-page'); const first = page.goto(site + '/late-page').catch((e) => e.message.includes('interrupted') || e.message.includes('ERR_ABORTED') || e.message); await asked; const second = await page.goto(site + '/plain?second'); await expect.poll(() => globalThis.served).toBe(1); return [await first, second.status(), page.url().endsWith('?second')] }",
                "[true,200,true]",
            ),
            (
                "{ globalThis.served = 0; await page.goto(site + '/plain'); await page.setContent('<script>fetch(\"/late-a\")</script>', { waitUntil: 'networkidle' }); return globalThis.served }",
                "1",
            ),
            (
                "{ globalThis.served = 0; await page.setContent('<iframe></iframe>'); const frame = page.frames()[1]; await frame.goto(site + '/plain?idle'); await frame.evaluate(() => void fetch('/late-b')); await frame.waitForLoadState('networkidle'); return globalThis.served }",
                "1",
            ),
            (
                "{ globalThis.served = 0; await page.route('**/plain?outer', (route) => route.fulfill({ contentType: 'text/html', body: '<iframe src=/plain?inner></iframe><script>fetch(\"/late-c\")</script>' })); await page.goto(site + '/plain?outer', { waitUntil: 'networkidle' }); return [globalThis.served, page.frames().length] }",
                "[1,2]",
            ),
            (
                "{ const frame = (await page.goto(site + '/plain?outer'), page.frames()[1]); const e = await frame.waitForLoadState('soon').catch((x) => x); return e.message }",
                r#""frame.waitForLoadState: state: expected one of (load|domcontentloaded|networkidle|commit)""#,
            ),
        ],
    );
}
