// Takes the first page of the first context, as many frameworks do, and prints what it finds.
//
//   node first-page.mjs --endpoint <ws or http address> --site-port N --client playwright|puppeteer|browser-url
//     [--path /plain] [--frames 0]
//
// Prints {"pages": [urls]} after connecting. With --path it loads that path in the first page, and with --frames it waits
// for animation frames. Then prints {"paused"}, waits for a line, prints {"url", "title", "frames"}, and disconnects.

import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';
import puppeteer from 'puppeteer-core';
import { readArguments } from './shared/command-line.mjs';
import { websocketAddress } from './shared/devtools-endpoint.mjs';

const settings = readArguments({ client: 'playwright', path: '', frames: '0' }, ['endpoint', 'site-port']);
const MILLISECONDS = 15_000;

const CLIENTS = {
  async playwright(endpoint) {
    const browser = await chromium.connectOverCDP(endpoint, { timeout: MILLISECONDS });
    return { pages: browser.contexts()[0].pages(), end: () => browser.close() };
  },
  async puppeteer(endpoint) {
    const browser = await puppeteer.connect({ browserWSEndpoint: await websocketAddress(endpoint), defaultViewport: null });
    return { pages: await browser.pages(), end: () => browser.disconnect() };
  },
  async 'browser-url'(endpoint) {
    const browser = await puppeteer.connect({ browserURL: endpoint, defaultViewport: null });
    return { pages: await browser.pages(), end: () => browser.disconnect() };
  },
};

const print = (line) => console.log(JSON.stringify(line));
const client = await CLIENTS[settings.client](settings.endpoint);
print({ pages: client.pages.map((page) => page.url()) });
const [page] = client.pages;
page?.setDefaultTimeout(MILLISECONDS);
if (settings.path) await page.goto(`http://a.localhost:${settings['site-port']}${settings.path}`);
print({ paused: true });
await once(createInterface({ input: process.stdin }), 'line');
let frames = 0;
if (Number(settings.frames) > 0) {
  const drawn = page.evaluate(async (count) => {
    for (let each = 0; each < count; each += 1) await new Promise((resolve) => requestAnimationFrame(resolve));
    return count;
  }, Number(settings.frames));
  const late = new Promise((resolve) => setTimeout(resolve, MILLISECONDS, -1));
  frames = await Promise.race([drawn, late]);
}
if (settings.path) print({ url: page.url(), title: await page.title(), frames });
await client.end();
process.exit(0);
