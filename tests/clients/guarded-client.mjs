// Does one small thing with a stock client, and says how far it came and what it was told.
//
//   node guarded-client.mjs --client playwright|puppeteer --endpoint <ws address> --allowed URL --denied URL
//
// Writes one line of JSON: {"stage": "done" | where it failed, "error": what it was told, ...}. Never takes long.

import { chromium } from 'playwright-core';
import puppeteer from 'puppeteer-core';
import { readArguments } from './command-line.mjs';

const settings = readArguments({}, ['client', 'endpoint', 'allowed', 'denied']);
const patience = 15_000;

/** A promise, or an error that names what took too long. */
function inTime(what, promise) {
  const late = new Promise((_, fail) => {
    setTimeout(() => fail(new Error(`HUNG: ${what}`)), patience + 5_000).unref();
  });
  return Promise.race([promise, late]);
}

async function connect() {
  if (settings.client === 'playwright') {
    const browser = await chromium.connectOverCDP(settings.endpoint, { timeout: patience });
    return { browser, newPage: async () => browser.contexts()[0].newPage(), close: () => browser.close() };
  }
  const browser = await puppeteer.connect({ browserWSEndpoint: settings.endpoint, protocolTimeout: patience });
  return { browser, newPage: () => browser.newPage(), close: () => browser.disconnect() };
}

const told = { stage: 'connect' };
try {
  const client = await inTime('connect', connect());
  told.stage = 'page';
  const page = await inTime('page', client.newPage());
  told.stage = 'allowed';
  await inTime('allowed', page.goto(settings.allowed, { timeout: patience }));
  told.text = await inTime('text', page.evaluate(() => document.body.innerText));
  told.stage = 'denied';
  try {
    await inTime('denied', page.goto(settings.denied, { timeout: patience }));
    told.leaked = await inTime('leak', page.evaluate(() => document.body.innerText));
  } catch (error) {
    told.refusal = String(error.message ?? error);
  }
  told.stage = 'done';
  await inTime('close', client.close());
} catch (error) {
  told.error = String(error.message ?? error);
}
console.log(JSON.stringify(told));
process.exit(0);
