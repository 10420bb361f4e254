// Stagehand over CDP, without a model: its context, pages and locators.
//
//   node suite.mjs --endpoint URL --site-port N --host NAME
//
// Connects, prints {"connected": true} and waits for a line, so that two suites work at the same time. Prints
// {"checks": NUMBER, "failures": [...]} at its end.

import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Stagehand } from '@browserbasehq/stagehand';
import { Checks, readArguments, within } from '../shared/checks.mjs';

const settings = readArguments(['endpoint', 'site-port', 'host']);
const { host } = settings;
const checks = new Checks();
const page = (path) => `http://${host}.localhost:${settings['site-port']}${path}`;
// How often the counter is clicked: another number for each host.
const clicks = 1 + host.charCodeAt(0) - 'a'.charCodeAt(0);

async function work({ context }) {
  checks.equal(`${host}: own pages`, context.pages().length, 1);
  const [first] = context.pages();
  for (const turn of [0, 1, 2]) {
    await within('load', first.goto(page(`/plain?${turn}`)));
    checks.equal(`${host}: title`, await first.title(), 'Plain page');
    for (let each = 0; each < clicks; each += 1) await within('click', first.locator('#count').click());
    checks.equal(`${host}: clicks`, await first.locator('#output').textContent(), String(clicks));
    checks.equal(`${host}: url`, first.url(), page(`/plain?${turn}`));
  }
  const second = await within('second page', context.newPage(page('/form')));
  await within('fill', second.locator('#notes').fill(`typed by ${host}`));
  checks.equal(`${host}: value`, await second.locator('#notes').inputValue(), `typed by ${host}`);
  const hosts = context.pages().map((one) => new URL(one.url()).hostname.split('.')[0]);
  checks.equal(`${host}: pages`, hosts, [host, host]);
}

const stagehand = new Stagehand({
  env: 'LOCAL', localBrowserLaunchOptions: { cdpUrl: settings.endpoint }, verbose: 0, disablePino: true, disableAPI: true,
});
try {
  await within('connect', stagehand.init());
  console.log(JSON.stringify({ connected: true }));
  await once(createInterface({ input: process.stdin }), 'line');
  await work(stagehand);
} catch (error) {
  checks.fail(`${host}: work`, error);
} finally {
  await within('close', stagehand.close()).catch((error) => checks.fail(`${host}: close`, error));
}
checks.print();
process.exit(0);
