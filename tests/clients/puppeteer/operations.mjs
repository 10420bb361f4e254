// Puppeteer operations: each is a name and a function of a world; it returns nothing or throws.

import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { nextEvent, textOf, waitForText } from './world.mjs';

const PERSISTENT_VIEWPORT = { width: 777, height: 555 };

/** Downloads into its own folder through a browser-level CDP session. */
async function download(world, selector, name, content) {
  const page = await world.page('/downloads');
  const downloadPath = join(world.folder, world.token());
  await mkdir(downloadPath);
  const session = await world.browser.target().createCDPSession();
  try {
    const browserContextId = world.context.id;
    await session.send('Browser.setDownloadBehavior', { behavior: 'allow', browserContextId, downloadPath, eventsEnabled: true });
    let guid;
    const done = new Promise((resolve) => session.on('Browser.downloadProgress', (event) => {
      if (event.guid === guid && event.state !== 'inProgress') resolve(event.state);
    }));
    const begun = nextEvent(session, 'Browser.downloadWillBegin');
    session.once('Browser.downloadWillBegin', (event) => { guid = event.guid; });
    await Promise.all([begun, page.click(selector)]);
    assert.equal(await done, 'completed');
    assert.equal(await readFile(join(downloadPath, name), 'utf8'), content);
    await session.send('Browser.setDownloadBehavior', { behavior: 'default', browserContextId });
  } finally {
    await session.detach();
  }
}

async function intercepted(world, decide) {
  const page = await world.page('/requests');
  await page.setRequestInterception(true);
  page.on('request', (request) => (/api\/|image\.svg/.test(request.url()) ? decide(request) : request.continue()));
  return page;
}

export const operations = [
  { name: 'navigate', async run(world) {
    const page = await world.page('/plain');
    assert.equal(await page.title(), 'Plain page');
    await page.goto(world.address('b', '/form'));
    await page.goBack();
    assert.equal(await textOf(page, '#heading'), 'Plain heading');
  } },
  { name: 'evaluate', async run(world) {
    const page = await world.page('/plain');
    const token = world.token();
    assert.deepEqual(await page.evaluate((word) => ({ word }), token), { word: token });
    await assert.rejects(page.evaluate(() => { throw new Error('thrown inside'); }), /thrown inside/);
    assert.equal((await page.evaluate(() => 'x'.repeat(1_048_576))).length, 1_048_576);
  } },
  { name: 'evaluate in parallel', async run(world) {
    const page = await world.page('/plain');
    const numbers = Array.from({ length: 20 }, (_, index) => index);
    assert.deepEqual(await Promise.all(numbers.map((number) => page.evaluate((value) => value + 1, number))), numbers.map((n) => n + 1));
  } },
  { name: 'pages in parallel', async run(world) {
    const pages = await Promise.all(['/plain', '/form', '/media'].map((path) => world.page(path)));
    assert.deepEqual(await Promise.all(pages.map((page) => page.title())), ['Plain page', 'Form', 'Media readout']);
  } },
  { name: 'click and type', async run(world) {
    const page = await world.page('/form');
    const token = world.token();
    await page.type('#name', token);
    await page.select('#colour', 'green');
    await page.click('#agree');
    await Promise.all([page.waitForNavigation(), page.click('#submit')]);
    assert.ok((await textOf(page, '#fields')).includes(`name=${token}`));
  } },
  { name: 'set content', async run(world) {
    const page = await world.page();
    await page.setContent('<p id="made">made</p>');
    assert.equal(await textOf(page, '#made'), 'made');
  } },
  { name: 'early script and exposed function', async run(world) {
    const page = await world.page();
    await page.evaluateOnNewDocument(() => { window.early = 'early'; });
    await page.exposeFunction('report', (value) => `${value} reported`);
    await page.goto(world.address('a', '/plain'));
    assert.equal(await page.evaluate(() => window.report(window.early)), 'early reported');
  } },
  { name: 'frames across sites', async run(world) {
    const page = await world.page('/frames');
    const inner = await page.waitForFrame((frame) => frame.url().includes('c.localhost'));
    await inner.waitForSelector('#press');
    assert.equal(page.frames().length, 3);
    // Chromium sends clicks to a frame of another process by where it was drawn last: the first may go elsewhere.
    for (let clicks = 0; clicks < 3 && (await textOf(inner, '#pressed')) !== '1'; clicks += 1) await inner.click('#press');
    assert.equal(await textOf(inner, '#pressed'), '1');
    assert.equal(await inner.evaluate(() => location.hostname), 'c.localhost');
  } },
  { name: 'dedicated worker', async run(world) {
    const page = await world.page();
    const [worker] = await Promise.all([nextEvent(page, 'workercreated'), page.goto(world.address('a', '/worker/dedicated'))]);
    await waitForText(page, '#answer', '42');
    assert.deepEqual(await worker.evaluate(() => self.seen), [21]);
  } },
  { name: 'shared worker', async run(world) {
    const path = `/worker/shared?name=${world.token()}`;
    await waitForText(await world.page(path), '#answer', 'hello 1');
    await waitForText(await world.page(path), '#answer', 'hello 2');
  } },
  { name: 'service worker', async run(world) {
    const scope = `/worker/${world.token()}/`;
    const page = await world.page(`/worker/service?scope=${scope}`);
    await waitForText(page, '#answer', 'ping pong');
    if (world.serviceWorkers === 'shown') await world.browser.waitForTarget((target) => target.type() === 'service_worker' && target.browserContext() === world.context, { timeout: 5_000 });
    await page.goto(world.address('a', `${scope}from-worker`));
    assert.equal(await textOf(page, 'body'), 'made by the service worker');
    await page.evaluate(async () => (await navigator.serviceWorker.getRegistration()).unregister());
  } },
  { name: 'popup with opener', async run(world) {
    const page = await world.page('/popup');
    const [popup] = await Promise.all([nextEvent(page, 'popup'), page.click('#with-opener')]);
    world.claim(popup);
    await waitForText(popup, '#opener', 'opener');
    assert.equal(popup.target().opener(), page.target());
  } },
  { name: 'popup without opener', async run(world) {
    const page = await world.page('/popup');
    const isNew = (target) => target.type() === 'page' && target.browserContext() === world.context && target.url().includes('without-opener');
    const [target] = await Promise.all([world.browser.waitForTarget(isNew, { timeout: 8_000 }), page.click('#without-opener')]);
    const popup = world.claim(await target.page());
    await waitForText(popup, '#opener', 'no opener');
  } },
  { name: 'popup of a popup', async run(world) {
    const page = await world.page('/popup');
    const [first] = await Promise.all([nextEvent(page, 'popup'), page.click('#chain')]);
    world.claim(first);
    await first.waitForSelector('#with-opener');
    const [second] = await Promise.all([nextEvent(first, 'popup'), first.click('#with-opener')]);
    world.claim(second);
    await waitForText(second, '#opener', 'opener');
  } },
  { name: 'dialogs', async run(world) {
    const page = await world.page('/dialogs');
    page.on('dialog', (dialog) => (dialog.type() === 'confirm' ? dialog.dismiss() : dialog.accept('typed')));
    for (const [button, expected] of [['#alert', 'alerted'], ['#confirm', 'dismissed'], ['#prompt', 'prompted typed']]) {
      await page.click(button);
      assert.equal(await textOf(page, '#output'), expected);
    }
  } },
  { name: 'dialog before leaving', async run(world) {
    const page = await world.page('/dialogs');
    await page.click('#guard');
    const [dialog] = await Promise.all([nextEvent(page, 'dialog'), page.close({ runBeforeUnload: true })]);
    assert.equal(dialog.type(), 'beforeunload');
    await Promise.all([nextEvent(page, 'close'), dialog.accept()]);
  } },
  { name: 'interception responses', async run(world) {
    const token = world.token();
    const page = await intercepted(world, (request) => request.respond({ status: 203, body: token }));
    assert.equal(await page.evaluate(() => viaFetch('x')), `203 ${token}`);
  } },
  { name: 'interception aborts', async run(world) {
    const page = await intercepted(world, (request) => request.abort());
    assert.equal(await page.evaluate(() => viaXhr('x')), 'xhr failed');
    assert.equal(await page.evaluate(() => viaImage()), 'image failed');
  } },
  { name: 'interception continues', async run(world) {
    const token = world.token();
    const page = await intercepted(world, (request) => request.continue({ headers: { ...request.headers(), 'x-added': token } }));
    assert.equal(await page.evaluate(() => fetch('/api/headers').then((response) => response.text())), token);
  } },
  { name: 'download by content-disposition', run: (world) => download(world, '#disposition', 'report.txt', 'report content\n') },
  { name: 'download of a blob', run: (world) => download(world, '#blob', 'blob.txt', 'blob content\n') },
  { name: 'upload into a field and through a chooser', async run(world) {
    const page = await world.page('/files');
    const name = `${world.token()}.txt`;
    const path = join(world.folder, name);
    await writeFile(path, 'given');
    const shows = (line) => page.waitForFunction((wanted) => document.querySelector('#log').textContent.includes(wanted), {}, line);
    await (await page.$('#one')).uploadFile(path);
    await shows(`one: ${name} 5 "given"`);
    const [chooser] = await Promise.all([page.waitForFileChooser(), page.click('#open')]);
    await chooser.accept([path]);
    await shows(`open: ${name} 5 "given"`);
  } },
  { name: 'server-sent events', async run(world) {
    const page = await world.page('/events');
    await page.waitForFunction(() => document.querySelector('#output').textContent.includes('1 2 3 4 5'));
  } },
  { name: 'cookies', async run(world) {
    const name = world.token();
    await world.context.setCookie({ name, value: 'set', domain: 'a.localhost', path: '/' });
    const page = await world.page('/cookie/show');
    assert.ok((await textOf(page, 'body')).includes(`${name}=set`));
    for (const other of world.others) {
      assert.ok(!(await other.context.cookies()).some((cookie) => cookie.name === name), 'a cookie reached another context');
    }
    const own = (await world.context.cookies()).filter((cookie) => cookie.name === name);
    await world.context.deleteCookie(...own);
  } },
  { name: 'console', async run(world) {
    const page = await world.page();
    const lines = [];
    page.on('console', (message) => lines.push(message.text()));
    const rejected = nextEvent(page, 'pageerror');
    await page.goto(world.address('a', '/console'));
    assert.match((await rejected).message, /rejected on purpose/);
    for (const line of ['info line', 'warning line', 'error line']) assert.ok(lines.includes(line), `${line} is missing in ${lines}`);
  } },
  { name: 'media and viewport', async run(world) {
    const page = await world.page('/media');
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }]);
    await page.setViewport({ width: 640, height: 480 });
    const read = await page.evaluate(() => window.readMedia());
    assert.deepEqual([read.scheme, read.width, read.height], ['dark', 640, 480]);
  } },
  { name: 'own cdp session', async run(world) {
    const page = await world.page('/plain');
    const session = await page.createCDPSession();
    const { result } = await session.send('Runtime.evaluate', { expression: 'document.title' });
    assert.equal(result.value, 'Plain page');
    await session.detach();
  } },
  { name: 'screenshot', async run(world) {
    const page = await world.page('/bench');
    assert.equal(Buffer.from(await page.screenshot()).subarray(1, 4).toString(), 'PNG');
  } },
];

/** Opens the page whose settings must hold for the whole run. */
export async function openPersistentPage(world) {
  const page = world.keep(await world.page('/media'));
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }, { name: 'prefers-reduced-motion', value: 'reduce' }]);
  await page.setViewport(PERSISTENT_VIEWPORT);
  world.persistent = page;
}

/** Checks those settings, and every other time that they survive a reload. */
export async function recheckPersistentPage(world) {
  if (world.random.below(2) === 0) await world.persistent.reload();
  const { scheme, motion, width, height } = await world.persistent.evaluate(() => window.readMedia());
  assert.deepEqual({ scheme, motion, width, height }, { scheme: 'dark', motion: 'reduce', ...PERSISTENT_VIEWPORT });
}
