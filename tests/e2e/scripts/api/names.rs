//! Names of the API that no other test uses, one by one, on the fixture site. Few processes: each table is one run.

use crate::scripts::check_lines;
use crate::support::fixture_site::FixtureSite;
use crate::support::world::World;

/// Elements for the tables, in a document of the fixture site.
const ELEMENTS: &str = r#"await page.setContent(`<style>body{margin:0} #box{width:50px;height:20px} .far{display:block;margin-top:3000px}</style>
<h1 id=title class="big red" title=Hint>Items</h1><ul id=list aria-label=Fruits><li>Apple</li><li>Pear</li></ul>
<input id=name value=Ann aria-description=First><input id=off disabled><input id=ro readonly value=r><input id=tick type=checkbox checked>
<select id=many multiple><option selected>a</option><option selected>b</option></select>
<input id=bad aria-invalid=true aria-errormessage=why><p id=why>Wrong</p><div id=box tabindex=0>Box</div><div id=empty></div>
<div id=source draggable=true>Drag</div><div id=zone ondragover=event.preventDefault() ondrop="event.preventDefault();this.textContent=event.dataTransfer.getData('text/plain')||event.dataTransfer.files[0].name">Drop</div>
<button id=twice ondblclick="this.textContent='twice'">Two</button><a id=link href=/u>Link</a><b class=far id=far>Far</b>`);"#;

/// A page of the site with the elements.
fn on_elements(site: &FixtureSite) -> String {
    format!("const site = '{}'; await page.goto(site + '/plain'); {ELEMENTS}", site.page(""))
}

/// Code with names of locators and handles, and what it prints.
const LOCATOR_NAMES: &[(&str, &str)] = &[
    ("page.locator('li').allInnerTexts()", r#"["Apple","Pear"]"#),
    ("String(page.locator('li').describe('fruits'))", r#""fruits""#),
    (
        "{ const { width, height } = await page.locator('#box').boundingBox(); return [width, height] }",
        "[50,20]",
    ),
    (
        "Promise.all(['#name', '#off', '#ro'].map(async (s) => [await page.locator(s).isEnabled(), await page.locator(s).isDisabled(), await page.locator(s).isEditable()]))",
        "[[true,false,true],[false,true,false],[true,false,false]]",
    ),
    (
        "Promise.all([page.isEnabled('#off'), page.isDisabled('#off'), page.isEditable('#name')])",
        "[false,true,true]",
    ),
    (
        "{ await page.locator('#twice').dblclick(); return page.locator('#twice').textContent() }",
        r#""twice""#,
    ),
    (
        "{ await page.locator('#tick').uncheck(); const was = await page.isChecked('#tick'); await page.check('#tick'); await page.uncheck('#tick'); return [was, await page.isChecked('#tick')] }",
        "[false,false]",
    ),
    ("{ await page.locator('#name').pressSequentially('x'); return page.inputValue('#name') }", r#""xAnn""#),
    (
        "{ await page.locator('#name').selectText(); await page.keyboard.insertText('ü'); return page.inputValue('#name') }",
        r#""ü""#,
    ),
    (
        "{ await page.locator('#box').focus(); const at = () => page.evaluate(() => document.activeElement.id); const before = await at(); await page.locator('#box').blur(); return [before, await at()] }",
        r#"["box",""]"#,
    ),
    (
        "{ await page.locator('#far').scrollIntoViewIfNeeded(); const far = await page.evaluate(() => scrollY > 1000); await page.evaluate(() => scrollTo(0, 0)); return far }",
        "true",
    ),
    (
        "{ await page.locator('#zone').drop({ data: { 'text/plain': 'dropped' } }); return page.textContent('#zone') }",
        r#""dropped""#,
    ),
    (
        "{ await page.locator('#zone').drop({ files: { name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('a') } }); return page.textContent('#zone') }",
        r#""a.txt""#,
    ),
    (
        "page.locator('#box').drop({ data: { 'text/plain': 'x' } })",
        "FAILED locator.drop: Drop target did not accept the drop",
    ),
    (
        "{ await page.locator('#source').dragTo(page.locator('#zone')); await page.dragAndDrop('#source', '#zone'); return true }",
        "true",
    ),
    (
        "{ await page.locator('#box').tap(); await page.tap('#box'); await page.touchscreen.tap(1, 1); await page.mouse.dblclick(1, 1); return true }",
        "true",
    ),
    (
        "{ await page.mouse.wheel(0, 300); await page.waitForFunction(() => scrollY > 0); await page.evaluate(() => scrollTo(0, 0)); return true }",
        "true",
    ),
    (
        "{ const h = await page.locator('li').first().elementHandle(); const all = await page.locator('li').elementHandles(); return [await h.textContent(), all.length, (await page.$$('li')).length, (await (await page.$('#list')).$$('li')).length] }",
        r#"["Apple",2,2,2]"#,
    ),
    (
        "{ const h = await page.locator('#list').evaluateHandle((e) => ({ a: 1, e })); const e = (await h.getProperty('e')).asElement(); const names = [...(await h.getProperties()).keys()]; const inner = await e.evaluateHandle((x) => x.children.length); await h.dispose(); return [names, await e.getAttribute('id'), await inner.jsonValue()] }",
        r#"[["a","e"],"list",2]"#,
    ),
    (
        "{ const h = await page.waitForSelector('#list'); const li = await h.waitForSelector('li'); await h.waitForElementState('visible'); await h.waitForElementState('stable'); return [await li.textContent(), (await li.ownerFrame()) === page.mainFrame()] }",
        r#"["Apple",true]"#,
    ),
    (
        "{ await page.locator('#list').waitForFunction((e, n) => e.children.length === n, 2); return page.locator('#list').waitForFunction(() => false, undefined, { timeout: 50 }) }",
        "FAILED locator.waitForFunction: Timeout 50ms exceeded.",
    ),
    (
        "page.locator('#list').ariaSnapshot()",
        r#""- list \"Fruits\":\n  - listitem: Apple\n  - listitem: Pear""#,
    ),
    ("page.locator('#link').ariaSnapshotJSON()", r#"[{"role":"link","name":"Link","url":"/u"}]"#),
    (
        "{ const text = await page.ariaSnapshot({ mode: 'ai' }); const ref = /heading \"Items\" .*\\[ref=(e\\d+)\\]/.exec(text)[1]; return [(await page.ariaSnapshotJSON()).length > 3, await page.locator(`aria-ref=${ref}`).textContent()] }",
        r#"[true,"Items"]"#,
    ),
    ("page.locator('#title').highlight()", "undefined"),
    (
        "Promise.all(['role=heading[name^=\"It\"][level=1]', 'role=heading[name=\"items\" i]', 'role=heading[name=\"items\"]', 'role=list[name*=\"uit\"]', 'role=textbox[description=\"First\"]'].map((s) => page.locator(s).count()))",
        "[1,1,0,1,1]",
    ),
    (
        "Promise.all([page.getByRole('textbox', { description: 'first' }).count(), page.getByRole('textbox', { description: 'first', exact: true }).count()])",
        "[1,0]",
    ),
    (
        "page.locator('role=heading[level=\"x\"]').count()",
        "FAILED locator.count: \"level\" attribute must be compared to a number",
    ),
    (
        "page.locator('role=button[level=1]').count()",
        "FAILED locator.count: \"level\" attribute is only supported for roles: \"heading\", \"listitem\", \"row\", \"treeitem\"",
    ),
    (
        "page.locator('*css=ul >> li').nth(1).count()",
        "FAILED locator.count: Can't query n-th element in a request with the capture.",
    ),
    (
        "Promise.all([page.locator('b:below(#title)').count(), page.locator('h1:above(#far)').count(), page.locator('#off:right-of(#name)').count(), page.locator('#name:left-of(#off)').count(), page.locator('#off:near(#name)').count()])",
        "[1,1,1,1,1]",
    ),
    (
        "{ await page.evaluate(async (give) => { document.title = await give('a') }, (text) => `${text}b`, { exposeFunctions: true }); return page.title() }",
        r#""ab""#,
    ),
    (
        "{ const image = await page.screenshot({ clip: { x: 0, y: 0, width: 40, height: 30 }, mask: [page.locator('#title')], maskColor: '#00ff00', animations: 'disabled' }); return [image instanceof Buffer, image.subarray(1, 4).toString(), image.width, image.height] }",
        r#"[true,"PNG",40,30]"#,
    ),
    (
        "page.screenshot({ clip: { x: 9000, y: 0, width: 4, height: 4 } })",
        "FAILED page.screenshot: Clipped area is either empty or outside the resulting image",
    ),
    (
        "{ const h = (await page.$('h1')); await h.evaluate((e) => e.remove()); return h.click({ timeout: 500 }) }",
        "FAILED elementHandle.click: Element is not attached to the DOM",
    ),
    (
        "{ await page.setContent('<div id=host>light</div><div role=option id=own onclick=\"this.ariaChecked=true\">Own</div>'); await page.check('#own'); return page.getAttribute('#own', 'aria-checked') }",
        r#""true""#,
    ),
    (
        "{ await page.setContent('<div>a</div><p>b</p><div title=c></div>'); const e = await page.locator('div').click().catch((x) => x); return e.message.split('\\n').slice(1, 3).map((line) => line.trim()) }",
        r#"["1) <div>a</div> aka getByText('a')","2) <div title=\"c\"></div> aka getByTitle('c')"]"#,
    ),
];

#[test]
fn every_name_of_locators_and_handles_works() {
    let (world, site) = (World::new(), FixtureSite::start());
    check_lines(&world, &on_elements(&site), LOCATOR_NAMES);
}

/// The same for pages, requests and contexts.
const PAGE_NAMES: &[(&str, &str)] = &[
    (
        "{ page.setDefaultTimeout(60); page.setDefaultNavigationTimeout(20000); const e = await page.click('#none').catch((x) => x); page.setDefaultTimeout(30000); return e.message.split('\\n')[0] }",
        r#""page.click: Timeout 60ms exceeded.""#,
    ),
    (
        "{ const other = await browser.newContext(); other.setDefaultTimeout(40); other.setDefaultNavigationTimeout(20000); const p = await other.newPage(); const e = await p.click('#none').catch((x) => x); await other.close(); return [e.message.split('\\n')[0], await page.locator('li').count()] }",
        r#"["page.click: Timeout 40ms exceeded.",2]"#,
    ),
    (
        "{ await page.localStorage.setItem('a', '1'); await page.sessionStorage.setItem('b', '2'); const seen = [await page.localStorage.getItem('a'), await page.localStorage.items(), await page.sessionStorage.items()]; await page.localStorage.removeItem('a'); await page.sessionStorage.clear(); return [...seen, await page.localStorage.items(), await page.sessionStorage.items()] }",
        r#"["1",[{"name":"a","value":"1"}],[{"name":"b","value":"2"}],[],[]]"#,
    ),
    (
        "{ await page.evaluate(() => console.log('kept')); const texts = (await page.consoleMessages()).map((m) => m.text()); await page.clearConsoleMessages(); return [texts.includes('kept'), (await page.consoleMessages()).length] }",
        "[true,0]",
    ),
    (
        "{ const other = await context.newPage(); const of = async (options) => (await other.consoleMessages(options)).filter((m) => Math.abs(m.timestamp() - Date.now()) < 60000).map((m) => m.text()).join(); await other.goto(site + '/plain'); await other.evaluate(() => console.log('one')); await other.reload(); await other.evaluate(() => console.log('two')); const seen = [await of(), await of({ filter: 'all' })]; await other.close(); return [...seen, await page.pageErrors({ filter: 'no' }).catch((e) => e.message)] }",
        r#"["two","one,two","page.pageErrors: options.filter: expected one of (all|since-navigation)"]"#,
    ),
    (
        "{ const h = await page.evaluateHandle(() => ({ b: Promise.resolve(1) })); const b = await h.getProperty('b'); return [String(b), await b.jsonValue()] }",
        r#"["Promise",1]"#,
    ),
    (
        "{ await page.evaluate(() => void setTimeout(() => { throw new Error('late') })); await page.waitForTimeout(100); const errors = (await page.pageErrors()).map((e) => e.message); await page.clearPageErrors(); return errors }",
        r#"["late"]"#,
    ),
    (
        "{ const [m] = await Promise.all([page.waitForEvent('console'), page.evaluate(() => console.log(1))]); return [Math.abs(m.timestamp() - Date.now()) < 60000, m.location().lineNumber === m.location().line, m.worker()] }",
        "[true,true,null]",
    ),
    (
        "{ await page.addStyleTag({ content: 'h1 { color: rgb(1, 2, 3) }' }); await page.addScriptTag({ content: 'globalThis.tagged = 5' }); return [await page.$eval('h1', (e) => getComputedStyle(e).color), await page.evaluate(() => globalThis.tagged)] }",
        r#"["rgb(1, 2, 3)",5]"#,
    ),
    (
        "{ await page.setViewportSize({ width: 500, height: 400 }); await page.emulateMedia({ colorScheme: 'dark', media: 'print', reducedMotion: 'reduce', contrast: 'more' }); const seen = await page.evaluate(() => [innerWidth, matchMedia('print').matches, matchMedia('(prefers-color-scheme: dark)').matches, matchMedia('(prefers-contrast: more)').matches]); await page.emulateMedia({ colorScheme: null, media: null, reducedMotion: null, contrast: null }); return [...seen, page.viewportSize()] }",
        r#"[500,true,true,true,{"width":500,"height":400}]"#,
    ),
    (
        "page.emulateMedia({ media: 'tv' })",
        "FAILED page.emulateMedia: media: expected one of (screen|print|no-override)",
    ),
    (
        "{ const [popup] = await Promise.all([page.waitForEvent('popup'), page.evaluate(() => void window.open('/plain'))]); const same = (await popup.opener()) === page; await popup.bringToFront(); await popup.close(); await page.bringToFront(); return [same, await page.opener(), page.video()] }",
        "[true,null,null]",
    ),
    (
        "{ const script = await page.addInitScript(() => { globalThis.early = 1 }); await page.reload(); const first = await page.evaluate(() => globalThis.early); await script.dispose(); await page.reload(); return [first, await page.evaluate(() => globalThis.early ?? null)] }",
        "[1,null]",
    ),
    ("page.addInitScript({})", "FAILED page.addInitScript: Either path or content property must be present"),
    (
        "{ const seen = []; const add = (name) => () => seen.push(name); page.addListener('console', add('b')); page.prependListener('console', add('a')); const c = add('c'); page.on('console', c); page.removeListener('console', c); await page.evaluate(() => console.log(1)); page.removeAllListeners(); return seen }",
        r#"["a","b"]"#,
    ),
    (
        "{ const [request] = await Promise.all([page.waitForRequest('**/api/echo?value=1'), page.evaluate(() => fetch('/api/echo?value=1', { method: 'POST', body: 'abc' }).then((r) => r.text()))]); const response = await request.response(); return [request.existingResponse() === response, request.postDataBuffer().length, (await request.headersArray()).length > 0, await request.headerValue('none'), (await request.sizes()).requestBodySize, request.serviceWorker(), await response.httpVersion(), (await response.headersArray()).length > 0, typeof (await response.headerValue('content-type')), (await response.headerValues('content-type')).length, response.fromServiceWorker(), await response.securityDetails()] }",
        r#"[true,3,true,null,3,null,"HTTP/1.1",true,"string",1,false,null]"#,
    ),
    (
        "{ const r = await page.request.get('/plain'); const named = r.headersArray().length > 0; await expect(r).toBeOK(); await r.dispose(); await page.request.dispose(); return named }",
        "true",
    ),
    (
        "{ const missing = await page.request.get('/status?code=404'); await expect(missing).not.toBeOK(); return expect(missing).toBeOK() }",
        "FAILED expect(response).toBeOK() failed",
    ),
    (
        "{ const [response] = await Promise.all([page.waitForNavigation(), page.evaluate(() => { location.href = '/plain?n' })]); const within = page.waitForNavigation(); await page.evaluate(() => history.pushState({}, '', '/plain?m')); return [response.status(), await within, page.url().endsWith('?m')] }",
        "[200,null,true]",
    ),
    (
        "{ await page.goto(site + '/plain?1'); await page.goto(site + '/plain?2'); await page.goBack(); const back = page.url(); await page.goForward(); return [back.endsWith('?1'), page.url().endsWith('?2')] }",
        "[true,true]",
    ),
    (
        "{ const closed = []; page.on('dialogclosed', (d) => closed.push(d.message())); page.on('dialog', (d) => d.accept()); await Promise.all([page.waitForEvent('dialogclosed'), page.evaluate(() => alert('hi'))]); page.removeAllListeners(); return closed }",
        r#"["hi"]"#,
    ),
    (
        "{ await page.setContent('<button onclick=\"this.textContent=1\">Go</button><div id=over style=\"position:fixed;inset:0\" onclick=\"this.remove()\">Over</div>'); await page.addLocatorHandler(page.locator('#over'), (over) => over.click()); await page.getByRole('button').click(); await page.removeLocatorHandler(page.locator('#over')); return page.textContent('button') }",
        r#""1""#,
    ),
    (
        "{ await page.setContent('<iframe srcdoc=\"<b>x</b>\"></iframe>'); const frame = page.frames()[1]; const h = await frame.evaluateHandle(() => 5); await frame.waitForSelector('b'); await frame.waitForTimeout(1); return [await h.jsonValue(), (await frame.$$('b')).length, await page.frameLocator('iframe').locator('b').innerText(), await page.frameLocator('#none').locator('b').count()] }",
        r#"[5,1,"x",0]"#,
    ),
    (
        "{ await page.goto(site + '/plain'); await page.evaluate(() => fetch('/plain?a').then((r) => r.text())); const list = await page.requests(); return [list.map((r) => r.url().split('/').at(-1)).slice(-2), (await (await list.at(-1).response()).text()).length > 0] }",
        r#"[["plain","plain?a"],true]"#,
    ),
    ("{ const path = await page.pdf({ path: 'page.pdf' }); return path.endsWith('page.pdf') }", "true"),
    (
        "[context.backgroundPages(), context.serviceWorkers(), browser.isConnected(), typeof browser.version(), typeof page.tab, await page.pause() ?? null]",
        r#"[[],[],true,"string","string",null]"#,
    ),
    (
        "{ await context.grantPermissions(['geolocation']); await context.clearPermissions(); return true }",
        "true",
    ),
];

#[test]
fn every_name_of_pages_and_requests_works() {
    let (world, site) = (World::new(), FixtureSite::start());
    check_lines(&world, &on_elements(&site), PAGE_NAMES);
}

/// The same for `expect`.
const EXPECT_NAMES: &[(&str, &str)] = &[
    (
        "{ await at('#name').toBeEnabled(); await at('#off').toBeDisabled(); await at('#name').not.toBeFocused(); await page.focus('#name'); await at('#name').toBeFocused(); await at('#empty').toBeEmpty(); await at('#title').toBeInViewport(); await at('#far').not.toBeInViewport(); return true }",
        "true",
    ),
    (
        "{ await at('#many').toHaveValues(['a', 'b']); await at('#title').toContainClass('red'); await at('#title').toHaveId('title'); await at('#title').toHaveRole('heading'); await at('#name').toHaveAccessibleDescription('First'); await at('#bad').toHaveAccessibleErrorMessage('Wrong'); await at('#tick').toHaveJSProperty('checked', true); return true }",
        "true",
    ),
    (
        "{ await at('#list').toMatchAriaSnapshot(`\n  - list \"Fruits\":\n    - listitem: Apple\n`); await expect(page).toMatchAriaSnapshot('- heading /It.*/ [level=1]'); await at('#list').not.toMatchAriaSnapshot('- listitem: Plum', { timeout: 100 }); return true }",
        "true",
    ),
    (
        "at('#list').toMatchAriaSnapshot('- listitem: Plum', { timeout: 100 })",
        "FAILED expect(locator).toMatchAriaSnapshot(expected) failed",
    ),
    (
        "{ const e = await at('#title').toHaveText('x', { timeout: 50 }).catch((x) => x); return e.matcherResult.ariaSnapshot }",
        r#""- heading \"Items\" [level=1]""#,
    ),
    (
        "{ expect(1.001).toBeCloseTo(1); expect(1).toBeDefined(); expect(0).toBeFalsy(); expect(2).toBeGreaterThan(1); expect(2).toBeGreaterThanOrEqual(2); expect([]).toBeInstanceOf(Array); expect(1).toBeLessThan(2); expect(1).toBeLessThanOrEqual(1); expect(NaN).toBeNaN(); expect(null).toBeNull(); expect(1).toBeTruthy(); expect(undefined).toBeUndefined(); return true }",
        "true",
    ),
    (
        "{ expect([{ a: 1 }]).toContainEqual({ a: 1 }); expect([1]).toHaveLength(1); expect({ a: { b: 2 } }).toHaveProperty('a.b', 2); expect({ a: 1, b: 2 }).toMatchObject({ a: 1 }); expect({ a: 1 }).toStrictEqual({ a: 1 }); expect(() => { throw new Error('x') }).toThrowError('x'); await expect(Promise.resolve(1)).resolves.toBe(1); await expect(Promise.reject(new Error('y'))).rejects.toThrow('y'); return true }",
        "true",
    ),
    (
        "{ expect({ a: 1, b: 'xy', c: [1, 2], d: 1.001, e: [1, 1] }).toEqual({ a: expect.anything(), b: expect.stringContaining('x'), c: expect.arrayContaining([2]), d: expect.closeTo(1), e: expect.arrayOf(1) }); expect({ a: 'xy', b: 1 }).toEqual(expect.objectContaining({ a: expect.stringMatching(/^x/) })); return typeof expect.getState() }",
        r#""object""#,
    ),
    (
        "{ expect.extend({ toBeOne(value) { return { pass: value === 1, message: () => 'not one' } } }); expect(1).toBeOne(); expect.soft(1).toBe(1); expect.configure({ timeout: 5000 }); return true }",
        "true",
    ),
];

#[test]
fn every_name_of_expect_works() {
    let (world, site) = (World::new(), FixtureSite::start());
    let start = format!("{} const at = (s) => expect(page.locator(s));", on_elements(&site));
    check_lines(&world, &start, EXPECT_NAMES);
}
