// Runs a short script of a stock client, and reports how far it came and the errors.
//
//   node guarded-client.mjs --client playwright|puppeteer --endpoint <ws address> --allowed URL --denied URL
//
// Prints one line of JSON: {"stage": "done" or where it failed, "error": the error message, ...}. Every step
// has a timeout.

import { chromium } from 'playwright-core';
import puppeteer from 'puppeteer-core';
import { readArguments } from './shared/command-line.mjs';

const settings = readArguments({}, ['client', 'endpoint', 'allowed', 'denied']);
const timeout = 15_000;

/** A promise, or an error that names what took too long. */
function inTime(what, promise) {
  const late = new Promise((_, fail) => {
    setTimeout(() => fail(new Error(`HUNG: ${what}`)), timeout + 5_000).unref();
  });
  return Promise.race([promise, late]);
}

async function connect() {
  if (settings.client === 'playwright') {
    const browser = await chromium.connectOverCDP(settings.endpoint, { timeout });
    return { browser, newPage: async () => browser.contexts()[0].newPage(), close: () => browser.close() };
  }
  const browser = await puppeteer.connect({ browserWSEndpoint: settings.endpoint, protocolTimeout: timeout });
  return { browser, newPage: () => browser.newPage(), close: () => browser.disconnect() };
}

const report = { stage: 'connect' };
try {
  const client = await inTime('connect', connect());
  report.stage = 'page';
  const page = await inTime('page', client.newPage());
  report.stage = 'allowed';
  await inTime('allowed', page.goto(settings.allowed, { timeout }));
  report.text = await inTime('text', page.evaluate(() => document.body.innerText));
  report.stage = 'denied';
  try {
    await inTime('denied', page.goto(settings.denied, { timeout }));
    report.leaked = await inTime('leak', page.evaluate(() => document.body.innerText));
  } catch (error) {
    report.refusal = String(error.message ?? error);
  }
  report.stage = 'done';
  await inTime('close', client.close());
} catch (error) {
  report.error = String(error.message ?? error);
}
console.log(JSON.stringify(report));
process.exit(0);
