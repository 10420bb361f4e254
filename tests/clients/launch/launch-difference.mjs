// Launches two browsers with the same library, one directly and one through a shim, runs the same operations on both, and
// prints where they differ.
//
//   node launch/launch-difference.mjs --tool playwright|puppeteer --site-port N --direct PATH --shim PATH

import { readArguments } from '../shared/command-line.mjs';
import { playwrightOperations, puppeteerOperations } from './launch-operations.mjs';

const settings = readArguments({}, ['tool', 'site-port', 'direct', 'shim']);
const STEP_MILLISECONDS = 15_000;
const address = (name, path) => `http://${name}.localhost:${settings['site-port']}${path}`;

async function launch(executablePath) {
  if (settings.tool === 'playwright') {
    const { chromium } = await import('playwright-core');
    const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
    const newPage = async () => (await browser.newContext()).newPage();
    return { browser, operations: playwrightOperations(address), newPage, close: (page) => page.context().close() };
  }
  const { default: puppeteer } = await import('puppeteer-core');
  const browser = await puppeteer.launch({ executablePath, args: ['--no-sandbox'], pipe: true });
  return { browser, operations: puppeteerOperations(address), newPage: () => browser.newPage(), close: (page) => page.close() };
}

/** Runs an operation. `browser.page` is the page of the operation before, if that was marked as usable on any page. */
async function perform(browser, [, operation, onAnyPage]) {
  let timer;
  const late = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error('no end')), STEP_MILLISECONDS); });
  if (browser.page && !onAnyPage) await browser.close(browser.page).catch(() => {});
  const page = (onAnyPage && browser.page) || await browser.newPage();
  browser.page = onAnyPage ? page : undefined;
  try {
    return JSON.stringify(await Promise.race([operation(page), late])) ?? 'undefined';
  } catch (error) {
    return `threw ${String(error?.message ?? error).split('\n')[0]}`;
  } finally {
    clearTimeout(timer);
    if (!onAnyPage) await browser.close(page).catch(() => {});
  }
}

const direct = await launch(settings.direct);
const shim = await launch(settings['shim']);
const [differences, failures] = [[], []];
for (const [index, operation] of direct.operations.entries()) {
  const [name] = operation;
  const [one, other] = await Promise.all([perform(direct, operation), perform(shim, shim.operations[index])]);
  if (one !== other) differences.push({ name, direct: one.slice(0, 300), shim: other.slice(0, 300) });
  // An operation that fails is counted, although it may fail in the same way on both.
  if (one.startsWith('threw')) failures.push({ name, one });
}
const versions = [await direct.browser.version(), await shim.browser.version()];
await Promise.all([direct.browser.close(), shim.browser.close()]);
console.log(JSON.stringify({ operations: direct.operations.length, differences, failures, versions }));
