// Playwright operations on the network and on settings: interception, downloads, cookies, console, media.
// Each is a name and a function of a world; it returns nothing or throws.

import assert from 'node:assert/strict';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';

const PERSISTENT_VIEWPORT = { width: 777, height: 555 };

async function download(world, selector, name, content) {
  const page = await world.page('/downloads');
  const [file] = await Promise.all([page.waitForEvent('download'), page.locator(selector).click()]);
  assert.equal(file.suggestedFilename(), name);
  const path = join(world.folder, `${world.token()}-${name}`);
  await file.saveAs(path);
  assert.equal(await readFile(path, 'utf8'), content);
  await rm(path);
}

/** Requests that the client answers itself, by the last part of their path. */
const WORKER_FILES = {
  'main.js': ['text/javascript', "importScripts('imported.js'); self.fetched = fetch('data').then((response) => response.text())"],
  'imported.js': ['text/javascript', 'self.imported = 1'],
  data: ['text/plain', 'made by the client'],
};

export const networkOperations = [
  { name: 'first request of a popup', needsPausedPopups: true, async run(world) {
    const page = await world.page('/popup');
    const [button, mark] = world.random.pick([['#blank-link', 'blank-link'], ['#without-opener', 'without-opener'], ['#with-opener', 'with-opener']]);
    const isFirst = (request) => request.url().endsWith(`/popup/child?${mark}`);
    const [request, popup] = await Promise.all([
      world.context.waitForEvent('request', { predicate: isFirst, timeout: 9_000 }),
      world.context.waitForEvent('page'),
      page.locator(button).click(),
    ]);
    world.claim(popup);
    assert.equal((await request.response()).status(), 200);
    assert.equal(request.isNavigationRequest(), true);
  } },
  { name: 'route the first request of a popup', needsPausedPopups: true, async run(world) {
    const page = await world.page('/popup');
    const token = world.token();
    const body = `<title>${token}</title>`;
    await world.context.route('**/popup/child?blank-link', (route) => route.fulfill({ contentType: 'text/html', body }));
    const [popup] = await Promise.all([world.context.waitForEvent('page'), page.locator('#blank-link').click()]);
    world.claim(popup);
    await popup.waitForLoadState();
    assert.equal(await popup.title(), token);
    await world.context.unroute('**/popup/child?blank-link');
  } },
  { name: 'requests of a service worker', needsServiceWorkers: true, async run(world) {
    const page = await world.page('/plain');
    const folder = `/worker/${world.token()}/`;
    const nameOf = (request) => request.url().split('/').pop();
    const isOurs = (url) => url.pathname.startsWith(folder);
    const [reported, routed] = [new Set(), new Set()];
    const report = (request) => { if (isOurs(new URL(request.url()))) reported.add(`${nameOf(request)} ${request.serviceWorker() !== null}`); };
    world.context.on('request', report);
    await world.context.route(isOurs, (route) => {
      routed.add(nameOf(route.request()));
      const [contentType, body] = WORKER_FILES[nameOf(route.request())];
      return route.fulfill({ contentType, body });
    });
    const [worker] = await Promise.all([
      world.context.waitForEvent('serviceworker', { predicate: (worker) => isOurs(new URL(worker.url())), timeout: 9_000 }),
      page.evaluate((script) => navigator.serviceWorker.register(script).then(() => null), `${folder}main.js`),
    ]);
    assert.deepEqual(await worker.evaluate(async () => [self.imported, await self.fetched]), [1, 'made by the client']);
    assert.deepEqual([...routed].sort(), ['data', 'imported.js', 'main.js']);
    assert.deepEqual([...reported].sort(), ['data true', 'imported.js true', 'main.js true']);
    await world.context.unroute(isOurs);
    world.context.off('request', report);
    await page.evaluate(async (scope) => (await navigator.serviceWorker.getRegistration(scope)).unregister(), folder);
  } },
  { name: 'route fulfil', async run(world) {
    const page = await world.page('/requests');
    const token = world.token();
    await page.route('**/api/echo*', (route) => route.fulfill({ status: 203, body: token }));
    assert.equal(await page.evaluate(() => viaFetch('x')), `203 ${token}`);
    assert.equal(await page.evaluate(() => viaXhr('x')), `203 ${token}`);
    await page.unroute('**/api/echo*');
    assert.equal(await page.evaluate((word) => viaFetch(word), token), `200 echo ${token}`);
  } },
  { name: 'route abort', async run(world) {
    const page = await world.page('/requests');
    await page.route(/image\.svg|api\/echo/, (route) => route.abort());
    assert.equal(await page.evaluate(() => viaImage()), 'image failed');
    assert.equal(await page.evaluate(() => viaFetch('x')), 'fetch failed');
  } },
  { name: 'route continue with a header', async run(world) {
    const page = await world.page('/requests');
    const token = world.token();
    await page.route('**/api/headers', (route) => route.continue({ headers: { ...route.request().headers(), 'x-added': token } }));
    assert.equal(await page.evaluate(() => fetch('/api/headers').then((response) => response.text())), token);
  } },
  { name: 'route fetch and change', async run(world) {
    const page = await world.page('/requests');
    await page.route('**/api/echo*', async (route) => {
      // The fetch is made by this process, which does not resolve *.localhost by itself.
      const response = await route.fetch({ url: route.request().url().replace('a.localhost', '127.0.0.1') });
      await route.fulfill({ response, body: `${await response.text()} changed` });
    });
    assert.equal(await page.evaluate(() => viaFetch('x')), '200 echo x changed');
  } },
  { name: 'route inside frames', async run(world) {
    const page = await world.page();
    await page.route('**/frames/inner', (route) => route.fulfill({ contentType: 'text/html', body: '<p id="press">replaced</p>' }));
    await page.goto(world.address('a', '/frames'));
    const inner = page.frameLocator('#middle').frameLocator('#inner');
    assert.equal(await inner.locator('#press').textContent(), 'replaced');
  } },
  { name: 'requests are reported', async run(world) {
    const page = await world.page('/requests');
    const token = world.token();
    const [request, response] = await Promise.all([
      page.waitForRequest((each) => each.url().includes(token)),
      page.waitForResponse((each) => each.url().includes(token)),
      page.evaluate((word) => viaFetch(word), token),
    ]);
    assert.equal(request.method(), 'GET');
    assert.equal(await response.text(), `echo ${token}`);
    assert.equal(await response.headerValue('x-fixture'), 'real');
  } },
  { name: 'slow response', async run(world) {
    const page = await world.page('/slow?milliseconds=200');
    assert.equal(await page.locator('#text').textContent(), 'slow response');
  } },
  { name: 'navigation timeout', async run(world) {
    const page = await world.page();
    await assert.rejects(page.goto(world.address('a', '/slow?milliseconds=3000'), { timeout: 200 }), /Timeout/);
    await page.goto(world.address('a', '/plain'));
    assert.equal(await page.title(), 'Plain page');
  } },
  { name: 'server-sent events', async run(world) {
    const page = await world.page('/events');
    await page.locator('#output', { hasText: '1 2 3 4 5' }).waitFor();
  } },
  { name: 'websocket', async run(world) {
    const page = await world.page();
    const [socket] = await Promise.all([page.waitForEvent('websocket'), page.goto(world.address('a', '/websocket'))]);
    assert.ok(socket.url().endsWith('/websocket/echo'));
    await page.locator('#output', { hasText: 'echo hello' }).waitFor();
  } },
  { name: 'download by content-disposition', run: (world) => download(world, '#disposition', 'report.txt', 'report content\n') },
  { name: 'download by attribute', run: (world) => download(world, '#attribute', 'renamed.txt', 'plain content\n') },
  { name: 'download of a blob', run: (world) => download(world, '#blob', 'blob.txt', 'blob content\n') },
  { name: 'download of a megabyte', run: (world) => download(world, '#large', 'large.bin', '0'.repeat(1_048_576)) },
  { name: 'cookies', async run(world) {
    const name = world.token();
    await world.context.addCookies([{ name, value: 'set', url: world.address('a', '/') }]);
    const page = await world.page('/cookie/show');
    assert.ok((await page.locator('body').textContent()).includes(`${name}=set`));
    await page.goto(world.address('a', `/cookie/set?name=${name}&value=changed`));
    const cookies = await world.context.cookies(world.address('a', '/'));
    assert.equal(cookies.find((cookie) => cookie.name === name)?.value, 'changed');
    for (const other of world.others) {
      const foreign = await other.context.cookies(world.address('a', '/'));
      assert.ok(!foreign.some((cookie) => cookie.name === name), 'a cookie reached another context');
    }
    await world.context.clearCookies({ name });
  } },
  { name: 'console', async run(world) {
    const page = await world.page();
    const lines = [];
    page.on('console', (message) => lines.push(`${message.type()} ${message.text()}`));
    const rejected = page.waitForEvent('pageerror');
    await page.goto(world.address('a', '/console'));
    assert.match((await rejected).message, /rejected on purpose/);
    for (const line of ['info info line', 'warning warning line', 'error error line', 'debug debug line']) {
      assert.ok(lines.includes(line), `${line} is missing in ${lines}`);
    }
  } },
  { name: 'console flood', async run(world) {
    const page = await world.page('/flood');
    let lines = 0;
    page.on('console', (message) => { if (message.text().startsWith('flood')) lines++; });
    await page.evaluate(() => window.flood({ lines: 500, requests: 20, bytes: 200 }));
    await page.locator('#output', { hasText: 'done 500 20' }).waitFor();
    assert.equal(lines, 500);
  } },
  { name: 'media and viewport', async run(world) {
    const page = await world.page('/media');
    const colorScheme = world.random.pick(['dark', 'light']);
    await page.emulateMedia({ colorScheme, media: 'print' });
    await page.setViewportSize({ width: 640, height: 480 });
    const read = await page.evaluate(() => window.readMedia());
    assert.deepEqual([read.scheme, read.medium, read.width, read.height], [colorScheme, 'print', 640, 480]);
  } },
  { name: 'extra headers', async run(world) {
    const page = await world.page();
    const token = world.token();
    await page.setExtraHTTPHeaders({ 'x-added': token });
    await page.goto(world.address('a', '/api/headers'));
    assert.equal(await page.locator('body').textContent(), token);
  } },
  { name: 'own cdp session', async run(world) {
    const page = await world.page('/plain');
    const session = await world.context.newCDPSession(page);
    const { result } = await session.send('Runtime.evaluate', { expression: 'document.title' });
    assert.equal(result.value, 'Plain page');
    await session.detach();
    assert.equal(await page.title(), 'Plain page');
  } },
];

/** Opens the page whose settings must hold for the whole run. */
export async function openPersistentPage(world) {
  const page = world.keep(await world.page('/media'));
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
  await page.setViewportSize(PERSISTENT_VIEWPORT);
  world.persistent = page;
}

/** Checks those settings, and every other time that they survive a reload. */
export async function recheckPersistentPage(world) {
  if (world.random.below(2) === 0) await world.persistent.reload();
  const { scheme, motion, width, height } = await world.persistent.evaluate(() => window.readMedia());
  assert.deepEqual({ scheme, motion, width, height }, { scheme: 'dark', motion: 'reduce', ...PERSISTENT_VIEWPORT });
}
