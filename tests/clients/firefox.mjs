// Drives a Firefox session with stock Playwright over the DevTools protocol, step by step.
//
//   node firefox.mjs --endpoint WS --site-port N
//
// Prints one line per step, {"step", "ok", "message"?}, and exits with 0 whatever happened: the caller compares the steps
// with the list of those that work.

import { chromium } from 'playwright-core';
import { readArguments } from './shared/command-line.mjs';

const settings = readArguments({}, ['endpoint', 'site-port']);
const MILLISECONDS = 10_000;
const at = (path, site = 'a') => `http://${site}.localhost:${settings['site-port']}${path}`;

function check(actual, expected) {
  const [found, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (found !== wanted) throw new Error(`${found} instead of ${wanted}`);
}

async function step(name, run) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no end after ${2 * MILLISECONDS} ms`)), 2 * MILLISECONDS);
  });
  try {
    const result = await Promise.race([run(), late]);
    console.log(JSON.stringify({ step: name, ok: true }));
    return result;
  } catch (error) {
    console.log(JSON.stringify({ step: name, ok: false, message: String(error?.message ?? error).slice(0, 600) }));
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

const isPng = (bytes) => check(Buffer.from(bytes).subarray(1, 4).toString(), 'PNG');
const FORM = `data:text/html,<title>Start</title><input id=name><button onclick="document.title = document.querySelector('input').value">Go</button>
  <select id=choice><option>one<option>two</select><input type=checkbox id=box><a href="about:blank">Away</a>`;

async function withPlaywright() {
  const browser = await step('connect', () => chromium.connectOverCDP(settings.endpoint, { timeout: MILLISECONDS }));
  if (!browser) return;
  const page = await step('first page', async () => browser.contexts()[0].pages()[0] ?? browser.contexts()[0].newPage());
  if (!page) return;
  page.setDefaultTimeout(MILLISECONDS);
  await step('navigate', async () => {
    const response = await page.goto(at('/plain'));
    check([response.status(), await page.title()], [200, 'Plain page']);
  });
  await step('reload', async () => check((await page.reload()).status(), 200));
  await step('evaluate', async () => {
    check(await page.evaluate(() => ({ sum: 1 + 1, list: [1, null, 'x'] })), { sum: 2, list: [1, null, 'x'] });
  });
  await step('evaluate with an argument', async () => check(await page.evaluate((value) => value.a + 1, { a: 2 }), 3));
  await step('handles', async () => {
    const handle = await page.evaluateHandle(() => document.body);
    check(await handle.evaluate((body) => body.tagName), 'BODY');
    await handle.dispose();
  });
  await page.goto(FORM).catch(() => {});
  await step('fill', async () => {
    await page.locator('#name').fill('typed');
    check(await page.locator('#name').inputValue(), 'typed');
  });
  await step('click', async () => {
    await page.getByRole('button', { name: 'Go' }).click();
    check(await page.title(), 'typed');
  });
  await step('type with the keyboard', async () => {
    await page.locator('#name').press('End');
    await page.keyboard.type(' more');
    check(await page.locator('#name').inputValue(), 'typed more');
  });
  await step('select and check', async () => {
    await page.locator('#choice').selectOption('two');
    await page.locator('#box').check();
    check([await page.locator('#choice').inputValue(), await page.locator('#box').isChecked()], ['two', true]);
  });
  await step('screenshot', async () => isPng(await page.screenshot()));
  await step('screenshot of an element', async () => isPng(await page.locator('button').screenshot()));
  await step('screenshot of the whole page', async () => isPng(await page.screenshot({ fullPage: true })));
  await step('route', async () => {
    await page.route('**/made-up', (route) => route.fulfill({ status: 201, body: 'made up' }));
    await page.goto(at('/plain'));
    check(await page.evaluate(async () => (await fetch('/made-up')).text()), 'made up');
    await page.unroute('**/made-up');
  });
  await step('route: abort', async () => {
    await page.route('**/gone', (route) => route.abort());
    check(await page.evaluate(async () => fetch('/gone').then(() => 'sent', () => 'failed')), 'failed');
    await page.unroute('**/gone');
  });
  await step('route: continue', async () => {
    await page.route('**/plain', (route) => route.continue());
    check((await page.goto(at('/plain'))).status(), 200);
    await page.unroute('**/plain');
  });
  await step('response body', async () => {
    const [response] = await Promise.all([page.waitForResponse('**/plain'), page.goto(at('/plain'))]);
    check((await response.text()).includes('Plain page'), true);
  });
  await step('console', async () => {
    const [message] = await Promise.all([page.waitForEvent('console'), page.evaluate(() => console.log('said', 1))]);
    check(message.text(), 'said 1');
  });
  await step('dialog', async () => {
    page.once('dialog', (dialog) => dialog.accept('yes'));
    check(await page.evaluate(() => prompt('sure?')), 'yes');
  });
  await step('init script', async () => {
    await page.addInitScript(() => { globalThis.before = 'there'; });
    await page.goto(at('/plain'));
    check(await page.evaluate(() => globalThis.before), 'there');
  });
  await step('exposed function', async () => {
    await page.exposeFunction('twice', (value) => value * 2);
    check(await page.evaluate(() => globalThis.twice(4)), 8);
  });
  await step('frames', async () => {
    await page.goto(at('/framed?of=b'));
    const frame = page.frameLocator('iframe').first();
    check((await frame.locator('body').innerText()).length > 0, true);
  });
  await step('click in a frame', async () => {
    const inner = '<button onclick="this.textContent = `Pressed`">Inner</button>';
    await page.goto('data:text/html,<iframe style="margin: 60px; border: 9px solid; padding: 4px"></iframe>');
    await page.locator('iframe').evaluate((frame, html) => { frame.srcdoc = html; }, inner);
    const button = page.frameLocator('iframe').locator('button');
    await button.click();
    check(await button.innerText(), 'Pressed');
  });
  await step('set content', async () => {
    await page.goto(at('/plain'));
    await page.setContent('<p>set</p>', { timeout: 3000 });
    check(await page.locator('p').innerText(), 'set');
  });
  await step('file', async () => {
    await page.goto('data:text/html,<input type=file id=f>');
    await page.locator('#f').setInputFiles({ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('content') });
    check(await page.evaluate(() => document.querySelector('#f').files[0].text()), 'content');
  });
  await step('viewport', async () => {
    await page.setViewportSize({ width: 640, height: 480 });
    check(await page.evaluate(() => [innerWidth, innerHeight]), [640, 480]);
  });
  await step('popup', async () => {
    await page.goto(at('/plain'));
    const [popup] = await Promise.all([page.waitForEvent('popup'), page.evaluate(() => { open('/form'); })]);
    await popup.waitForLoadState();
    check(await popup.title(), 'Form');
    await popup.close();
  });
  await step('second page', async () => {
    const second = await browser.contexts()[0].newPage();
    await second.goto(at('/form'));
    check(await second.title(), 'Form');
    await second.close();
  });
  await step('own context', async () => {
    const context = await browser.newContext();
    const own = await context.newPage();
    await own.goto(at('/plain'));
    await context.addCookies([{ name: 'k', value: 'v', url: at('/') }]);
    check((await context.cookies()).map((cookie) => cookie.name), ['k']);
    await context.close();
  });
  await step('pdf', async () => check((await page.pdf()).subarray(0, 4).toString(), '%PDF'));
  await step('back', async () => {
    await page.goto(at('/plain'));
    await page.goto(at('/form'));
    await page.goBack();
    check(await page.title(), 'Plain page');
  });
  await step('disconnect', () => browser.close());
}

await withPlaywright();
process.exit(0);
