//! Options of methods, one by one, on the fixture site. Few processes: each table is one run.

use crate::scripts::check_lines;
use crate::support::fixture_site::FixtureSite;
use crate::support::world::World;

/// Elements that note the events that they get, as `seen`.
const ELEMENTS: &str = r#"const fresh = () => page.setContent(`<style>body{margin:0;width:300px} #b{position:absolute;left:10px;top:10px;width:100px;height:40px} #covered,#cover{position:absolute;left:10px;top:60px;width:100px;height:40px} input,select,p{position:absolute;left:150px} #tick{top:0;margin:0;width:40px;height:40px} #name{top:50px} #many{top:80px} #source,#zone{position:absolute;left:10px;top:120px;width:40px;height:40px;background:red} #zone{left:200px;background:blue} #far{position:absolute;top:2000px}</style>
<button id=b>B</button><button id=covered>C</button><div id=cover></div><input type=checkbox id=tick><input id=name><select id=many multiple><option value=a>Apple</option><option value=b>Pear</option></select>
<div id=source></div><div id=zone></div><p id=hidden hidden>Hidden</p><p id=shown style="top:110px">Shown</p><b id=far>Far</b>
<script>window.seen = []; for (const kind of ['mousemove', 'mousedown', 'mouseup', 'click', 'dblclick', 'contextmenu', 'keydown', 'keyup', 'touchstart']) addEventListener(kind, (e) => seen.push({ kind, id: e.target.id, x: e.offsetX, y: e.offsetY, shift: e.shiftKey, alt: e.altKey, button: e.button, key: e.key, at: performance.now() }), true)</script>`);
const seen = (kind) => page.evaluate((k) => seen.splice(0).filter((e) => k === undefined || e.kind === k), kind);
const gap = async (first, second) => { const all = await seen(); return all.find((e) => e.kind === second).at - all.find((e) => e.kind === first).at };
await fresh();"#;

fn on_elements(site: &FixtureSite) -> String {
    format!("const site = '{}'; await page.goto(site + '/plain'); {ELEMENTS}", site.page(""))
}

/// Options of the mouse and the keyboard.
const INPUT: &[(&str, &str)] = &[
    (
        "{ await page.locator('#b').click({ delay: 60 }); return (await gap('mousedown', 'mouseup')) >= 50 }",
        "true",
    ),
    (
        "{ await page.locator('#b').click({ modifiers: ['Shift', 'Alt'], position: { x: 3, y: 4 } }); const [e] = await seen('click'); return [e.shift, e.alt, e.x, e.y] }",
        "[true,true,3,4]",
    ),
    (
        "{ await page.click('#b', { button: 'right' }); const right = (await seen('contextmenu')).length; await page.click('#b', { clickCount: 2 }); return [right, (await seen('dblclick')).length] }",
        "[1,1]",
    ),
    (
        "{ const e = await page.click('#covered', { timeout: 300 }).catch((x) => x.name); await seen(); await page.click('#covered', { force: true }); return [e, (await seen('click'))[0].id] }",
        r#"["TimeoutError","cover"]"#,
    ),
    ("{ await page.click('#b', { trial: true }); return seen('click') }", "[]"),
    (
        "{ await page.locator('#b').click({ steps: 4, position: { x: 50, y: 20 } }); return (await seen('mousemove')).length >= 1 }",
        "true",
    ),
    (
        "{ await page.mouse.move(0, 0); await seen(); await page.locator('#b').hover({ position: { x: 7, y: 8 }, modifiers: ['Alt'] }); const e = (await seen('mousemove')).at(-1); await page.hover('#covered', { trial: true, force: true }); return [e.x, e.y, e.alt] }",
        "[7,8,true]",
    ),
    (
        "{ await page.locator('#b').dblclick({ delay: 20, position: { x: 5, y: 5 }, modifiers: ['Shift'] }); const [e] = await seen('dblclick'); await page.dblclick('#b', { trial: true }); return [e.x, e.shift, (await seen('dblclick')).length] }",
        "[5,true,0]",
    ),
    (
        "{ await page.locator('#b').tap({ position: { x: 9, y: 9 }, modifiers: ['Alt'] }); const [e] = await seen('touchstart'); await page.tap('#b', { trial: true }); return [e.alt, (await seen('touchstart')).length] }",
        "[true,0]",
    ),
    (
        "{ const box = page.locator('#tick'); await box.check({ position: { x: 5, y: 6 } }); const [e] = await seen('click'); await box.check({ position: { x: 5, y: 6 } }); const again = (await seen('click')).length; await box.setChecked(false, { position: { x: 1, y: 1 } }); return [e.x, e.y, again, await box.isChecked()] }",
        "[5,6,0,false]",
    ),
    (
        "{ await page.check('#tick', { trial: true }); const was = await page.isChecked('#tick'); await page.check('#tick', { force: true }); await page.setChecked('#tick', true); await page.uncheck('#tick', { trial: true }); const is = await page.isChecked('#tick'); await page.uncheck('#tick', { force: true }); return [was, is, await page.isChecked('#tick')] }",
        "[false,true,false]",
    ),
    (
        "{ await page.locator('#name').press('a', { delay: 60 }); const press = await gap('keydown', 'keyup'); await page.locator('#name').pressSequentially('bc', { delay: 40 }); const keys = await seen('keydown'); await page.type('#name', 'd', { delay: 1 }); return [press >= 50, keys[1].at - keys[0].at >= 30, await page.inputValue('#name')] }",
        r#"[true,true,"abcd"]"#,
    ),
    (
        "{ await page.fill('#name', 'x', { timeout: 5000 }); await page.press('#name', 'Backspace'); await page.locator('#name').fill('y', { force: true }); return page.inputValue('#name') }",
        r#""y""#,
    ),
    (
        "[await page.selectOption('#many', [{ label: 'Pear' }, { index: 0 }]), await page.locator('#many').selectOption({ value: 'b' }, { force: true }), await page.locator('#many').selectOption('Apple', { timeout: 5000 })]",
        r#"[["a","b"],["b"],["a"]]"#,
    ),
    (
        "{ await page.mouse.move(10, 0); await seen(); await page.mouse.move(50, 0, { steps: 5 }); const moves = (await seen('mousemove')).length; await page.mouse.move(20, 20); await page.mouse.down({ button: 'left' }); await page.mouse.up(); await page.mouse.click(20, 20, { delay: 5, clickCount: 2, button: 'left' }); await page.mouse.dblclick(20, 20, { delay: 1 }); return [moves, (await seen('dblclick')).length] }",
        "[5,2]",
    ),
    (
        "{ await page.focus('#name'); await page.fill('#name', ''); await seen(); await page.keyboard.down('Shift'); await page.keyboard.press('a'); await page.keyboard.up('Shift'); await page.keyboard.press('b', { delay: 30 }); await page.keyboard.type('cd', { delay: 5 }); await page.keyboard.insertText('e'); return [await page.inputValue('#name'), (await seen('keydown'))[1].shift] }",
        r#"["Abcde",true]"#,
    ),
    (
        "{ await seen(); await page.locator('#source').dragTo(page.locator('#zone'), { trial: true }); const trial = (await seen('mousedown')).length; await page.locator('#source').dragTo(page.locator('#zone'), { sourcePosition: { x: 4, y: 5 }, targetPosition: { x: 6, y: 7 }, steps: 3 }); const all = await seen(); const [down] = all.filter((e) => e.kind === 'mousedown'); const [up] = all.filter((e) => e.kind === 'mouseup'); return [trial, down.id, down.x, down.y, up.id, up.x, up.y] }",
        r#"[0,"source",4,5,"zone",6,7]"#,
    ),
    (
        "{ const moves = async (steps) => { await fresh(); await page.mouse.move(0, 0); await seen(); await page.locator('#source').dragTo(page.locator('#zone'), { steps }); return (await seen('mousemove')).length }; return (await moves(20)) - (await moves(1)) > 10 }",
        "true",
    ),
    (
        "{ await page.evaluate(() => { const over = document.createElement('div'); over.style = 'position:fixed;inset:0'; over.id = 'over'; document.body.append(over) }); const e = await page.locator('#source').dragTo(page.locator('#zone'), { timeout: 300 }).catch((x) => x.name); await seen(); await page.dragAndDrop('#source', '#zone', { force: true }); const [down] = await seen('mousedown'); await page.evaluate(() => document.getElementById('over').remove()); return [e, down.id] }",
        r#"["TimeoutError","over"]"#,
    ),
];

#[test]
fn options_of_mouse_and_keyboard_work() {
    let (world, site) = (World::new(), FixtureSite::start());
    check_lines(&world, &on_elements(&site), INPUT);
}

/// Options of waits, locators, navigations and screenshots, and forms of methods that frames and pages have.
const OTHERS: &[(&str, &str)] = &[
    (
        "{ await page.locator('#shown').waitFor({ state: 'visible' }); await page.locator('#hidden').waitFor({ state: 'hidden' }); await page.locator('#hidden').waitFor({ state: 'attached' }); await page.locator('#none').waitFor({ state: 'detached' }); return page.locator('#shown').waitFor({ state: 'hidden', timeout: 50 }) }",
        "FAILED locator.waitFor: Timeout 50ms exceeded.",
    ),
    (
        "[await page.waitForSelector('#none', { state: 'detached' }), (await page.waitForSelector('#hidden', { state: 'attached' })) !== null]",
        "[null,true]",
    ),
    (
        "[await page.locator('p').filter({ visible: true }).count(), await page.locator('p').filter({ hasText: 'Hid' }).count(), await page.locator('p').filter({ hasNotText: 'Hid' }).count(), await page.locator('select').filter({ has: page.locator('option') }).count(), await page.locator('p').filter({ hasNot: page.locator('b') }).count(), await page.locator('p', { hasText: 'Shown' }).count()]",
        "[1,1,1,1,2,1]",
    ),
    (
        "{ await page.setContent('<button aria-pressed=true>Go on</button><button disabled>Go</button><h2>Go</h2><details open><summary>More</summary></details><label>Name <input placeholder=\"Your name\"></label><img alt=Cat title=\"A cat\"><i data-testid=t>go</i><b hidden role=note>Note</b><div role=listbox><div role=option aria-selected=true>One</div></div><input type=checkbox checked>'); return Promise.all([page.getByRole('button', { name: 'go' }), page.getByRole('button', { name: 'Go', exact: true }), page.getByRole('button', { pressed: true }), page.getByRole('button', { disabled: true }), page.getByRole('heading', { level: 2 }), page.getByRole('note', { includeHidden: true }), page.getByRole('option', { selected: true }), page.getByRole('checkbox', { checked: true }), page.getByText('go', { exact: true }), page.getByLabel('Name'), page.getByPlaceholder('your', { exact: true }), page.getByAltText('cat'), page.getByTitle('A cat', { exact: true }), page.getByTestId('t')].map((one) => one.count())) }",
        "[2,1,1,1,1,1,1,1,1,1,0,1,1,1]",
    ),
    (
        "{ await page.setContent('<p id=p>Some <b>Text</b></p><p id=gone hidden></p>'); const p = expect(page.locator('#p')); await p.toHaveText('some text', { ignoreCase: true, timeout: 1000 }); await p.toContainText('TEXT', { ignoreCase: true, useInnerText: true }); await expect(page.locator('#gone')).toBeVisible({ visible: false }); await p.toBeInViewport({ ratio: 0.5 }); await p.toBeAttached({ attached: true }); return true }",
        "true",
    ),
    (
        "{ await page.setContent('<div>one <span>two</span> <button>three</button></div><span>four</span><button>five</button><iframe></iframe>'); const inner = page.locator('div').locator(page.locator('button').or(page.locator('span'))); const first = page.locator('div').locator(page.locator('span').first()); let refused; try { page.locator('div', { has: page.frames()[1].locator('span') }) } catch (error) { refused = error.message } return [await inner.allTextContents(), await first.count(), refused] }",
        r#"[["two","three"],1,"Inner \"has\" locator must belong to the same frame."]"#,
    ),
    (
        "{ const r = await page.goto(site + '/plain?w', { waitUntil: 'domcontentloaded', timeout: 5000 }); await page.reload({ waitUntil: 'networkidle' }); await page.waitForURL('**/plain?w', { waitUntil: 'commit' }); await page.goto(site + '/plain?v'); const back = await page.goBack({ waitUntil: 'load' }); await page.goForward({ waitUntil: 'commit' }); await page.setContent('<p>x</p>', { waitUntil: 'domcontentloaded' }); return [r.status(), back.status()] }",
        "[200,200]",
    ),
    (
        "{ await page.setViewportSize({ width: 300, height: 200 }); await fresh(); const part = await page.screenshot(); const whole = await page.screenshot({ fullPage: true, path: 'whole.png', omitBackground: true, scale: 'css', animations: 'disabled', caret: 'initial' }); const jpeg = await page.locator('#b').screenshot({ type: 'jpeg', quality: 50, timeout: 5000 }); return [part.height, whole.height > 1900, whole.path.endsWith('whole.png'), jpeg[0] === 255, jpeg.width] }",
        "[200,true,true,true,100]",
    ),
    (
        "{ const b = page.locator('#b').describe('the button'); return [b.description(), page.locator('#b').description(), page.frameLocator('iframe').owner().toString(), context.browser() === browser, page.context().browser().contexts().length] }",
        r#"["the button",null,"locator('iframe')",true,1]"#,
    ),
    (
        "[await page.getAttribute('#b', 'id'), await page.isVisible('#shown'), await page.isHidden('#hidden'), await page.innerHTML('#shown'), await page.innerText('#shown'), await page.textContent('#hidden'), await page.dispatchEvent('#b', 'click', { detail: 3 }) ?? null, (await seen('click')).length]",
        r#"["b",true,true,"Shown","Shown","Hidden",null,1]"#,
    ),
    (
        "{ const [request] = await Promise.all([page.waitForRequest('**/api/echo'), page.evaluate(() => fetch('/api/echo', { method: 'POST', body: '{\"a\":1}' }).then(() => 0))]); return [request.postData(), request.postDataJSON().a, request.method(), request.isNavigationRequest(), request.resourceType()] }",
        r#"["{\"a\":1}",1,"POST",false,"fetch"]"#,
    ),
    (
        "{ const bytes = [0, 255, 128, 10, 195, 40]; const [request] = await Promise.all([page.waitForRequest('**/api/echo'), page.evaluate((b) => fetch('/api/echo', { method: 'POST', body: new Uint8Array(b) }).then(() => 0), bytes)]); return [...request.postDataBuffer()] }",
        "[0,255,128,10,195,40]",
    ),
    (
        "{ let got; await page.route('**/api/bytes', async (route) => { got = [...route.request().postDataBuffer()]; const r = await route.fetch({ url: site + '/echo' }); await route.fulfill({ response: r }) }); await page.evaluate(() => fetch('/api/bytes', { method: 'POST', body: new Uint8Array([254, 1, 0]) }).then(() => 0)); await page.unrouteAll(); return got }",
        "[254,1,0]",
    ),
    (
        "{ await page.setContent('<iframe srcdoc=\"<button id=b onclick=this.textContent=1>x</button><input id=i><input id=c type=checkbox><select><option>a<option>b</select><p>Text</p>\"></iframe>'); const f = page.frames()[1]; await f.click('#b'); await f.fill('#i', 'v'); await f.type('#i', 'w'); await f.press('#i', 'End'); await f.check('#c'); const is = await f.isChecked('#c'); await f.uncheck('#c'); await f.setChecked('#c', true); await f.dblclick('#b'); await f.hover('#b'); await f.tap('#b'); await f.focus('#i'); await f.dispatchEvent('#b', 'click'); return [await f.textContent('#b'), await f.inputValue('#i'), is, await f.selectOption('select', 'b'), await f.innerText('p'), await f.innerHTML('p'), await f.getAttribute('#c', 'type'), await f.isVisible('p'), await f.isHidden('p'), await f.isEnabled('#i'), await f.isDisabled('#i'), await f.isEditable('#i'), await f.title(), (await f.content()).includes('Text'), f.name(), f.isDetached(), f.childFrames().length, f.parentFrame() === page.mainFrame(), f.page() === page, await (await f.frameElement()).getAttribute('id')] }",
        r#"["1","vw",true,["b"],"Text","Text","checkbox",true,false,true,false,true,"",true,"",false,0,true,true,null]"#,
    ),
    (
        "{ const f = page.frames()[1]; await f.setContent('<p>New</p>'); await f.addScriptTag({ content: 'globalThis.tag = 1' }); await f.addStyleTag({ content: 'p { color: rgb(1, 1, 1) }' }); await f.waitForFunction(() => globalThis.tag === 1); await f.waitForLoadState(); return [await f.$eval('p', (e) => e.textContent), await f.$$eval('p', (all) => all.length), await f.getByText('New').count(), await f.locator('p').count(), await (await f.$('p')).innerText(), (await f.evaluate(() => 2))] }",
        r#"["New",1,1,1,"New",2]"#,
    ),
    (
        "{ await page.goto(site + '/plain'); await page.evaluate(() => { const a = document.createElement('a'); a.href = URL.createObjectURL(new Blob(['x'])); a.download = 'a.txt'; a.textContent = 'Get'; document.body.append(a) }); const [download] = await Promise.all([page.waitForEvent('download'), page.getByText('Get').click()]); await download.cancel(); return [download.suggestedFilename(), download.page() === page] }",
        r#"["a.txt",true]"#,
    ),
    (
        "{ const [download] = await Promise.all([page.waitForEvent('download', { predicate: (d) => d.url().startsWith('blob:'), timeout: 5000 }), page.getByText('Get').click()]); const got = [typeof (await download.path()), await download.failure()]; await download.delete(); return got }",
        r#"["string",null]"#,
    ),
    (
        "{ const answers = [await page.request.put(site + '/echo', { data: 'a' }), await page.request.patch(site + '/echo', { data: { b: 1 } }), await page.request.delete(site + '/echo')]; return Promise.all(answers.map(async (one) => (await one.json()).method)) }",
        r#"["PUT","PATCH","DELETE"]"#,
    ),
    (
        "{ await page.setContent('<button aria-expanded=true>Menu</button>'); await page.emulateMedia({ forcedColors: 'active' }); const forced = await page.evaluate(() => matchMedia('(forced-colors: active)').matches); await page.emulateMedia({ forcedColors: null }); await page.evaluate(() => setTimeout(() => { globalThis.late = 1 }, 50)); await page.waitForFunction(() => globalThis.late === 1, undefined, { polling: 20 }); const shot = await page.screenshot({ style: 'button { display: none }' }); return [forced, await page.getByRole('button', { expanded: true }).count(), shot.length > 0] }",
        "[true,1,true]",
    ),
    (
        "{ const cdp = await getCDPSession({ page }); const { result } = await cdp.send('Runtime.evaluate', { expression: '1 + 1' }); await cdp.detach(); return result.value }",
        "2",
    ),
    (
        "{ await page.setContent('<div id=over style=\"position:fixed;inset:0\" onclick=\"this.remove()\">Over</div><button onclick=\"this.textContent=1\">Go</button>'); await page.addLocatorHandler(page.locator('#over'), (over) => over.click(), { times: 1, noWaitAfter: true }); await page.getByRole('button').click(); return page.textContent('button') }",
        r#""1""#,
    ),
];

#[test]
fn options_and_forms_of_other_methods_work() {
    let (world, site) = (World::new(), FixtureSite::start());
    check_lines(&world, &on_elements(&site), OTHERS);
}

/// Options of `newContext`: those that the browser can have, and those that are refused.
const CONTEXTS: &[(&str, &str)] = &[
    (
        "{ const c = await browser.newContext({ baseURL: site, deviceScaleFactor: 2, isMobile: true, hasTouch: true, colorScheme: 'dark', contrast: 'more', locale: 'de-DE', timezoneId: 'Asia/Tokyo', userAgent: 'Own/1' }); const p = await c.newPage(); await p.goto('/plain?base'); const got = await p.evaluate(() => [location.pathname + location.search, devicePixelRatio, navigator.maxTouchPoints > 0, matchMedia('(prefers-color-scheme: dark)').matches, matchMedia('(prefers-contrast: more)').matches, navigator.language, Intl.DateTimeFormat().resolvedOptions().timeZone, navigator.userAgent]); await p.waitForURL('/plain?base'); await expect(p).toHaveURL('/plain?base'); await c.close(); return [...got, p.viewportSize()] }",
        r#"["/plain?base",2,true,true,true,"de-DE","Asia/Tokyo","Own/1",{"width":1280,"height":720}]"#,
    ),
    (
        "{ const { devices } = await import('playwright'); const c = await browser.newContext({ ...devices['iPhone 15'] }); const p = await c.newPage(); await p.goto(site + '/plain'); const got = await p.evaluate(() => [screen.width, devicePixelRatio, navigator.userAgent.includes('iPhone')]); await c.close(); return got }",
        "[393,3,true]",
    ),
    (
        "{ const c = await browser.newContext({ geolocation: { latitude: 3, longitude: 4 }, offline: true, permissions: ['geolocation'] }); const p = await c.newPage(); const e = await p.goto(site + '/plain').catch((x) => x.message.includes('ERR_INTERNET_DISCONNECTED')); await c.setOffline(false); await p.goto(site + '/plain'); const place = await p.evaluate(() => new Promise((done) => navigator.geolocation.getCurrentPosition((g) => done(g.coords.latitude), (x) => done(x.message)))); await c.close(); return [e, place] }",
        "[true,3]",
    ),
    (
        "{ const c = await browser.newContext({ viewport: null }); const p = await c.newPage(); await c.close(); return p.viewportSize() }",
        "null",
    ),
    (
        "browser.newContext({ bypassCSP: true })",
        "FAILED browser.newContext: the option `bypassCSP` can only be false here.",
    ),
    (
        "browser.newContext({ ignoreHTTPSErrors: true })",
        "FAILED browser.newContext: the option `ignoreHTTPSErrors` can only be false here.",
    ),
    (
        "browser.newContext({ javaScriptEnabled: false })",
        "FAILED browser.newContext: the option `javaScriptEnabled` can only be true here.",
    ),
    (
        "browser.newContext({ recordVideo: { dir: 'v' } })",
        "FAILED browser.newContext: the option `recordVideo` is not there.",
    ),
    (
        "{ const p = await browser.newPage({ viewport: { width: 300, height: 200 } }); const size = await p.evaluate(() => innerWidth); await p.close(); return [size, browser.contexts().length] }",
        "[300,1]",
    ),
    (
        "{ const p = await browser.newPage({ ...(await import('playwright')).devices['No phone'] }).catch((e) => e.message.split('\\n')[0]); return p }",
        r#""browserContext.newPage: There is no device \"No phone\".""#,
    ),
];

#[test]
fn options_of_contexts_work_or_are_refused() {
    let (world, site) = (World::new(), FixtureSite::start());
    check_lines(&world, &on_elements(&site), CONTEXTS);
}

#[test]
fn http_credentials_are_sent_to_the_site_that_asks() {
    let (world, site) = (World::new(), FixtureSite::start());
    let start = format!("const site = '{}';", site.page(""));
    let lines = [
        (
            "{ const c = await browser.newContext({ httpCredentials: { username: 'alice', password: 'secret' } }); const p = await c.newPage(); const status = (await p.goto(site + '/auth/basic')).status(); await c.close(); return status }",
            "200",
        ),
        (
            "{ const c = await browser.newContext(); const p = await c.newPage(); const status = await p.goto(site + '/auth/basic').then((r) => r.status(), (e) => e.message.includes('ERR_INVALID_AUTH_CREDENTIALS') ? 401 : e.message); await c.close(); return status }",
            "401",
        ),
    ];
    check_lines(&world, &start, &lines);
}
