// Playwright operations on documents: navigation, evaluation, frames, workers, popups, dialogs, input.
// Each is a name and a function of a world; it returns nothing or throws.

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const text = (page, selector) => page.locator(selector).textContent();

export const pageOperations = [
  { name: 'navigate', async run(world) {
    const page = await world.page('/plain');
    assert.equal(await page.title(), 'Plain page');
    await page.goto(world.address('b', '/form'));
    assert.equal(await text(page, 'h1'), 'Form');
  } },
  { name: 'history', async run(world) {
    // Within one document: a page that comes back from the back-forward cache never fires `load` for
    // Playwright, which expects browsers it did not start to have that cache switched off.
    const page = await world.page('/plain');
    await page.getByRole('link', { name: 'Anchor' }).click();
    await page.waitForURL('**/plain#text');
    await page.goBack();
    assert.ok(page.url().endsWith('/plain'));
    await page.goForward();
    await page.reload();
    assert.ok(page.url().endsWith('/plain#text'));
  } },
  { name: 'redirect and status', async run(world) {
    const page = await world.page();
    const response = await page.goto(world.address('a', '/redirect'));
    assert.equal(response.status(), 200);
    assert.ok(page.url().endsWith('/plain'));
    assert.equal((await page.goto(world.address('a', '/nowhere'))).status(), 404);
  } },
  { name: 'evaluate', async run(world) {
    const page = await world.page('/plain');
    const token = world.token();
    assert.deepEqual(await page.evaluate((word) => ({ word, list: [1, 2, null] }), token), { word: token, list: [1, 2, null] });
    await assert.rejects(page.evaluate(() => { throw new Error('thrown inside'); }), /thrown inside/);
    const handle = await page.evaluateHandle(() => document.body);
    assert.equal(await handle.evaluate((body) => body.tagName), 'BODY');
  } },
  { name: 'evaluate a megabyte', async run(world) {
    const page = await world.page('/plain');
    const text = await page.evaluate((word) => word.repeat(65_536), '0123456789abcdef');
    assert.equal(text.length, 1_048_576);
  } },
  { name: 'evaluate in parallel', async run(world) {
    const page = await world.page('/plain');
    const numbers = Array.from({ length: 20 }, (_, index) => index);
    const responses = await Promise.all(numbers.map((number) => page.evaluate((value) => value * 2, number)));
    assert.deepEqual(responses, numbers.map((number) => number * 2));
  } },
  { name: 'pages in parallel', async run(world) {
    const pages = await Promise.all(['/plain', '/form', '/media'].map((path) => world.page(path)));
    const titles = await Promise.all(pages.map((page) => page.title()));
    assert.deepEqual(titles, ['Plain page', 'Form', 'Media readout']);
  } },
  { name: 'close while evaluating', async run(world) {
    const page = await world.page('/plain');
    const endless = page.evaluate(() => new Promise(() => {}));
    const rejected = assert.rejects(endless, /closed/);
    await page.close();
    await rejected;
  } },
  { name: 'click and count', async run(world) {
    const page = await world.page('/plain');
    const times = 1 + world.random.below(4);
    for (let time = 0; time < times; time++) await page.getByRole('button', { name: 'Count' }).click();
    assert.equal(await text(page, '#output'), String(times));
  } },
  { name: 'fill and submit a form', async run(world) {
    const page = await world.page('/form');
    const token = world.token();
    await page.getByLabel('Name').fill(token);
    await page.locator('#notes').pressSequentially('typed');
    await page.locator('#colour').selectOption('green');
    await page.locator('#agree').check();
    await page.locator('#big').check();
    await page.locator('#submit').click();
    await page.waitForURL('**/form/submit');
    const fields = await text(page, '#fields');
    for (const part of [`name=${token}`, 'colour=green', 'agree=yes', 'size=big', 'notes=typed']) {
      assert.ok(fields.includes(part), `${part} is missing in ${fields}`);
    }
  } },
  { name: 'set content', async run(world) {
    const page = await world.page();
    const token = world.token();
    await page.setContent(`<p id="made">${token}</p>`);
    assert.equal(await text(page, '#made'), token);
  } },
  { name: 'init script', async run(world) {
    const page = await world.page();
    const token = world.token();
    await page.addInitScript((word) => { window.early = word; }, token);
    await page.goto(world.address('a', '/frames'));
    await page.frameLocator('#middle').frameLocator('#inner').locator('#press').waitFor();
    const seen = await Promise.all(page.frames().map((frame) => frame.evaluate(() => window.early)));
    assert.deepEqual(seen, [token, token, token]);
  } },
  { name: 'exposed binding', async run(world) {
    const page = await world.page();
    const token = world.token();
    const calls = [];
    await page.exposeBinding('report', (source, value) => { calls.push(value); return `${value} reported`; });
    await page.goto(world.address('a', '/plain'));
    assert.equal(await page.evaluate((word) => window.report(word), token), `${token} reported`);
    assert.deepEqual(calls, [token]);
  } },
  { name: 'frames across sites', async run(world) {
    const page = await world.page('/frames');
    const inner = page.frameLocator('#middle').frameLocator('#inner');
    await inner.locator('#press').click();
    assert.equal(await inner.locator('#pressed').textContent(), '1');
    assert.equal(page.frames().length, 3);
    const hosts = await Promise.all(page.frames().map((frame) => frame.evaluate(() => location.hostname)));
    assert.deepEqual(hosts, ['a.localhost', 'b.localhost', 'c.localhost']);
  } },
  { name: 'frame navigates to another site', async run(world) {
    const page = await world.page('/frames');
    await page.frameLocator('#middle').frameLocator('#inner').locator('#press').waitFor();
    const frame = page.frame({ name: 'inner' });
    await frame.goto(world.address('a', '/plain'));
    assert.equal(await frame.locator('#heading').textContent(), 'Plain heading');
  } },
  { name: 'dedicated worker', async run(world) {
    const page = await world.page();
    const [worker] = await Promise.all([page.waitForEvent('worker'), page.goto(world.address('a', '/worker/dedicated'))]);
    await page.locator('#answer', { hasText: '42' }).waitFor();
    assert.deepEqual(await worker.evaluate(() => self.seen), [21]);
  } },
  { name: 'shared worker', async run(world) {
    const path = `/worker/shared?name=${world.token()}`;
    const first = await world.page(path);
    await first.locator('#answer', { hasText: 'hello 1' }).waitFor();
    const second = await world.page(path);
    await second.locator('#answer', { hasText: 'hello 2' }).waitFor();
  } },
  { name: 'service worker', async run(world) {
    const scope = `/worker/${world.token()}/`;
    const page = await world.page(`/worker/service?scope=${scope}`);
    await page.locator('#answer', { hasText: 'ping pong' }).waitFor();
    const isOurs = async (worker) => (await worker.evaluate(() => self.registration.scope).catch(() => '')).endsWith(scope);
    const known = await Promise.all(world.context.serviceWorkers().map(isOurs));
    if (world.serviceWorkers === 'shown' && !known.includes(true)) await world.context.waitForEvent('serviceworker', { predicate: isOurs, timeout: 5_000 });
    await page.goto(world.address('a', `${scope}from-worker`));
    assert.equal(await text(page, 'body'), 'made by the service worker');
    await page.evaluate(async () => (await navigator.serviceWorker.getRegistration()).unregister());
  } },
  { name: 'popup with opener', async run(world) {
    const page = await world.page('/popup');
    const button = world.random.pick(['#with-opener', '#blank-link-opener', '#other-site']);
    const [popup] = await Promise.all([page.waitForEvent('popup'), page.locator(button).click()]);
    world.claim(popup);
    await popup.locator('#opener', { hasText: 'opener' }).waitFor();
    assert.equal(await text(popup, '#opener'), 'opener');
    assert.equal(await popup.opener(), page);
  } },
  { name: 'popup without opener', async run(world) {
    const page = await world.page('/popup');
    const button = world.random.pick(['#without-opener', '#blank-link']);
    const [popup] = await Promise.all([world.context.waitForEvent('page'), page.locator(button).click()]);
    world.claim(popup);
    await popup.waitForURL('**/popup/child?*');
    assert.equal(await text(popup, '#opener'), 'no opener');
  } },
  { name: 'popup of a popup', async run(world) {
    const page = await world.page('/popup');
    const [first] = await Promise.all([page.waitForEvent('popup'), page.locator('#chain').click()]);
    world.claim(first);
    const [second] = await Promise.all([first.waitForEvent('popup'), first.locator('#with-opener').click()]);
    world.claim(second);
    await Promise.all([second.waitForEvent('close'), second.locator('#close').click()]);
    assert.equal(await first.title(), 'Popup opener');
  } },
  { name: 'blank popup written by its opener', async run(world) {
    const page = await world.page('/popup');
    const [popup] = await Promise.all([page.waitForEvent('popup'), page.locator('#blank').click()]);
    world.claim(popup);
    await page.evaluate(() => { window.popup.document.body.textContent = 'written'; });
    assert.equal(await text(popup, 'body'), 'written');
  } },
  { name: 'dialogs', async run(world) {
    const page = await world.page('/dialogs');
    const seen = [];
    page.on('dialog', (dialog) => {
      seen.push(`${dialog.type()} ${dialog.message()}`);
      return dialog.type() === 'confirm' ? dialog.dismiss() : dialog.accept('typed');
    });
    for (const [button, expected] of [['#alert', 'alerted'], ['#confirm', 'dismissed'], ['#prompt', 'prompted typed']]) {
      await page.locator(button).click();
      assert.equal(await text(page, '#output'), expected);
    }
    assert.deepEqual(seen, ['alert alert text', 'confirm confirm text', 'prompt prompt text']);
  } },
  { name: 'dialog before leaving', async run(world) {
    const page = await world.page('/dialogs');
    await page.locator('#guard').click();
    const [dialog] = await Promise.all([page.waitForEvent('dialog'), page.close({ runBeforeUnload: true })]);
    assert.equal(dialog.type(), 'beforeunload');
    await Promise.all([page.waitForEvent('close'), dialog.accept()]);
  } },
  { name: 'upload into a field and through a chooser', async run(world) {
    const page = await world.page('/files');
    const name = `${world.token()}.txt`;
    const path = join(world.folder, name);
    await writeFile(path, 'given');
    await page.locator('#one').setInputFiles(path);
    await page.locator('#log', { hasText: `one: ${name} 5 "given"` }).waitFor();
    const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.locator('#open').click()]);
    await chooser.setFiles(path);
    await page.locator('#log', { hasText: `open: ${name} 5 "given"` }).waitFor();
  } },
  { name: 'screenshot', async run(world) {
    const page = await world.page('/bench');
    const image = await page.screenshot();
    assert.equal(image.subarray(1, 4).toString(), 'PNG');
  } },
  { name: 'locators on a large page', async run(world) {
    const page = await world.page('/bench');
    assert.equal(await page.getByRole('button').count(), 90);
    const number = 1 + world.random.below(90);
    await page.getByRole('button', { name: `Button ${number}`, exact: true }).click();
    assert.equal(await page.title(), `Button ${number}`);
  } },
];
