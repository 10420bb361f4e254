// Drives a CDP endpoint with stock Puppeteer: mixed operations in an own and in the default context.
//
//   node puppeteer/suite.mjs --endpoint <ws or http address> --site-port N
//     [--operations 200] [--seed 1] [--contexts own,default] [--pause-at K] [--part 1/1] [--service-workers shown|hidden]
//
// Exit code 0 only if every operation passed and nothing of another client was ever seen.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import puppeteer from 'puppeteer-core';
import { readArguments } from '../shared/command-line.mjs';
import { websocketAddress } from '../shared/devtools-endpoint.mjs';
import { OperationRunner } from '../shared/operation-runner.mjs';
import { openPersistentPage, operations, recheckPersistentPage } from './operations.mjs';
import { PuppeteerWorld } from './world.mjs';
import { SeededRandom } from '../shared/seeded-random.mjs';

const settings = readArguments(
  { operations: '200', seed: '1', contexts: 'own,default', 'pause-at': '0', 'service-workers': 'shown', part: '1/1' },
  ['endpoint', 'site-port'],
);
const random = new SeededRandom(Number(settings.seed));
const runner = new OperationRunner('puppeteer', random);
const folder = await mkdtemp(join(tmpdir(), 'puppeteer-suite-'));
const browser = await puppeteer.connect({ browserWSEndpoint: await websocketAddress(settings.endpoint), defaultViewport: null });
const announced = new Set();
browser.on('targetcreated', (target) => { if (target.type() === 'page') announced.add(target); });

function worldOf(kind, context) {
  return new PuppeteerWorld({ kind, browser, context, sitePort: settings['site-port'], random, folder, serviceWorkers: settings['service-workers'] });
}

try {
  const kinds = settings.contexts.split(',');
  const worlds = [];
  if (kinds.includes('default')) worlds.push(worldOf('default', browser.defaultBrowserContext()));
  if (kinds.includes('own')) worlds.push(worldOf('own', await browser.createBrowserContext()));
  for (const world of worlds) {
    world.others = worlds.filter((other) => other !== world);
    await runner.run('settings are made', world.kind, () => openPersistentPage(world));
  }
  await runner.runMany({
    operations,
    worlds,
    count: Number(settings.operations),
    recheck: recheckPersistentPage,
    pauseAt: Number(settings['pause-at']),
    part: settings.part,
  });
  const expected = kinds.includes('own') ? 2 : 1;
  if (browser.browserContexts().length !== expected) {
    runner.foreign('foreign-context', '-', `${browser.browserContexts().length} contexts, expected ${expected}`);
  }
  const claimed = new Set(worlds.flatMap((world) => [...world.claimed]));
  for (const target of announced) {
    if (!claimed.has(target)) runner.foreign('foreign-page', '-', target.url());
  }
  for (const world of worlds) {
    await world.persistent?.close().catch(() => {});
    if (world.kind === 'own') await world.context.close();
  }
} catch (error) {
  runner.fail('suite', '-', error);
} finally {
  await browser.disconnect();
  await rm(folder, { recursive: true, force: true });
}
runner.finish();
