//! Frames of pages as objects.

use crate::scripts::check_lines;
use crate::support::fixture_site::FixtureSite;
use crate::support::world::World;

#[test]
fn frames_are_found_and_used() {
    let (world, site) = (World::new(), FixtureSite::start());
    let start = format!(
        "const site = '{}'; await page.goto(site + '/frames'); \
         const inner = () => page.frame({{ url: /frames.inner/ }}); await expect.poll(() => inner() !== null).toBe(true);",
        site.page("")
    );
    check_lines(
        &world,
        &start,
        &[
            (
                "[page.frames().length >= 3, page.mainFrame().url() === page.url(), page.mainFrame().parentFrame(), page.frames()[0] === page.mainFrame()]",
                "[true,true,null,true]",
            ),
            (
                "{ const f = inner(); return [new URL(f.url()).hostname, f.parentFrame().childFrames().includes(f), f.page() === page, f.isDetached()] }",
                r#"["c.localhost",true,true,false]"#,
            ),
            ("inner().evaluate((x) => location.hostname + x, '!')", r#""c.localhost!""#),
            ("inner().evaluate('location.hostname')", r#""c.localhost""#),
            (
                "{ const f = inner(); await f.waitForLoadState(); return [await f.title() !== undefined, (await f.content()).startsWith('<!'), await f.locator('body').count(), await f.$eval('body', (b) => b.localName)] }",
                r#"[true,true,1,"body"]"#,
            ),
            (
                "{ const e = await inner().frameElement(); return [await e.evaluate((e) => e.localName), (await e.contentFrame()) === inner()] }",
                r#"["iframe",true]"#,
            ),
            (
                "{ await page.setContent('<iframe name=one srcdoc=\"<button>B</button>\"></iframe>'); const f = page.frame('one'); await f.getByRole('button').waitFor(); await f.goto(site + '/plain'); await f.waitForURL('**/plain'); return [f.name(), await f.waitForFunction(() => document.readyState).then((h) => h.jsonValue())] }",
                r#"["one","complete"]"#,
            ),
            (
                "{ const f = page.frame('one'); await page.evaluate(() => document.querySelector('iframe').remove()); await expect.poll(async () => { await page.title(); return f.isDetached() }).toBe(true); return f.evaluate('1') }",
                "FAILED frame.evaluate: Frame was detached",
            ),
        ],
    );
}
