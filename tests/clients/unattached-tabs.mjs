// Uses existing tabs without navigating them first. Pauses after connecting, so that its parent can count
// attaches.
//
//   node unattached-tabs.mjs --endpoint <ws or http address> --site-port N --client playwright|puppeteer --tabs N
//
// The tabs: one on /frames/mix, one on /frames, the others on /plain. Exit code 0 only if everything passed.

import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';
import puppeteer from 'puppeteer-core';
import { readArguments } from './shared/command-line.mjs';
import { websocketAddress } from './shared/devtools-endpoint.mjs';
import { OperationRunner } from './shared/operation-runner.mjs';
import { SeededRandom } from './shared/seeded-random.mjs';

/** Whether the user opened the page: the session's own tab is empty. */
const isShared = (page) => !['', ':', 'about:blank'].includes(page.url());

const settings = readArguments({ tabs: '1', client: 'playwright' }, ['endpoint', 'site-port']);
const runner = new OperationRunner(settings.client, new SeededRandom(1));

/** The same operations in both clients. */
const CLIENTS = {
  async playwright(endpoint) {
    const browser = await chromium.connectOverCDP(endpoint, { timeout: 20_000 });
    const pages = browser.contexts()[0].pages();
    for (const page of pages) page.setDefaultTimeout(9_000);
    return {
      pages,
      click: (page) => page.getByRole('button', { name: 'Count' }).click(),
      text: (page, selector) => page.locator(selector).textContent(),
      inFrame: (page, frame, selector) => page.frameLocator(frame).locator(selector).textContent(),
      press: async (page) => {
        const inner = page.frameLocator('#middle').frameLocator('#inner');
        const before = Number(await inner.locator('#pressed').textContent());
        await inner.locator('#press').click();
        return Number(await inner.locator('#pressed').textContent()) - before;
      },
      end: () => browser.close(),
    };
  },
  async puppeteer(endpoint) {
    const browser = await puppeteer.connect({ browserWSEndpoint: await websocketAddress(endpoint), defaultViewport: null });
    const pages = await browser.pages();
    for (const page of pages) page.setDefaultTimeout(9_000);
    const frameIn = async (parent, selector) => (await parent.waitForSelector(selector)).contentFrame();
    const text = (frame, selector) => frame.$eval(selector, (element) => element.textContent);
    return {
      pages,
      click: (page) => page.locator('::-p-aria(Count)').click(),
      text,
      inFrame: async (page, selector, inner) => {
        const frame = await frameIn(page, selector);
        return (await frame.waitForSelector(inner)).evaluate((element) => element.textContent);
      },
      press: async (page) => {
        const inner = await frameIn(await frameIn(page, '#middle'), '#inner');
        await inner.waitForSelector('#press');
        const before = Number(await text(inner, '#pressed'));
        await inner.locator('#press').click();
        return Number(await text(inner, '#pressed')) - before;
      },
      end: () => browser.disconnect(),
    };
  },
};

/** The frames of /frames/mix: in the process of the page, in other processes, and one nested. */
const FORMS = ['blank', 'blob', 'closed', 'cross', 'data', 'invisible', 'object', 'same', 'sandbox', 'shadow', 'sibling', 'srcdoc', 'tiny', 'wrapped'];

const client = await CLIENTS[settings.client](settings.endpoint);
const on = (path) => client.pages.filter((page) => isShared(page) && new URL(page.url()).pathname === path);

try {
  await runner.run('every tab is there', '-', () => {
    const shared = client.pages.filter(isShared);
    assert.equal(shared.length, Number(settings.tabs));
    assert.equal(on('/plain').length, shared.length - 2);
  });
  await runner.pause();
  const [plain, other] = on('/plain');
  await runner.run('evaluate', '-', async () => {
    assert.equal(await plain.evaluate(() => document.title), 'Plain page');
    assert.equal(await plain.evaluate((number) => number + 1, 41), 42);
    assert.equal(await plain.title(), 'Plain page');
  });
  await runner.run('click and read', '-', async () => {
    await client.click(other);
    assert.equal(await client.text(other, '#output'), '1');
  });
  await runner.run('every frame is known with the first response', '-', async () => {
    const [page] = on('/frames/mix');
    assert.equal(await page.evaluate(() => document.title), 'Frames of every kind');
    const heading = (frame) => frame.evaluate(() => document.querySelector('h3')?.textContent ?? '');
    const frames = page.frames().filter((frame) => !/denied|hang|srcdoc$|name=lazy/.test(frame.url()));
    const headings = await Promise.all(frames.map(heading));
    const forms = headings.filter((text) => text.startsWith('Form ')).map((text) => text.slice(5));
    assert.deepEqual(forms.sort(), FORMS.filter((name) => name !== 'srcdoc'));
  });
  await runner.run('a frame of the same process', '-', async () => {
    assert.equal(await client.inFrame(on('/frames/mix')[0], '#same', 'h3'), 'Form same');
    assert.equal(await client.inFrame(on('/frames/mix')[0], '#srcdoc', 'h3'), 'Form srcdoc');
  });
  await runner.run('frames of three processes', '-', async () => {
    assert.equal(await client.press(on('/frames')[0]), 1);
  });
  await runner.pause();
  await runner.run('go elsewhere', '-', async () => {
    await plain.goto(`http://b.localhost:${settings['site-port']}/form`);
    assert.equal(await client.text(plain, 'h1'), 'Form');
  });
} catch (error) {
  runner.fail('suite', '-', error);
} finally {
  await client.end();
}
runner.finish();
