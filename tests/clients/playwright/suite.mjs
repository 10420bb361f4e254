// Drives a CDP endpoint with stock Playwright: mixed operations in an own and in the default context.
//
//   node playwright/suite.mjs --endpoint <ws or http address> --site-port N
//     [--operations 200] [--seed 1] [--contexts own,default] [--pause-at K] [--part 1/1] [--service-workers shown|hidden]
//     [--only WORD,WORD] [--skip WORDS]
//
// Exit code 0 only if every operation passed and nothing of another client was ever seen.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { readArguments } from '../shared/command-line.mjs';
import { OperationRunner } from '../shared/operation-runner.mjs';
import { networkOperations, openPersistentPage, recheckPersistentPage } from './network-operations.mjs';
import { pageOperations } from './page-operations.mjs';
import { PlaywrightWorld } from './world.mjs';
import { SeededRandom } from '../shared/seeded-random.mjs';

const settings = readArguments(
  { operations: '200', seed: '1', contexts: 'own,default', 'pause-at': '0', 'service-workers': 'shown', part: '1/1', skip: '', only: '' },
  ['endpoint', 'site-port'],
);
const random = new SeededRandom(Number(settings.seed));
const runner = new OperationRunner('playwright', random);
const folder = await mkdtemp(join(tmpdir(), 'playwright-suite-'));
const browser = await chromium.connectOverCDP(settings.endpoint, { timeout: 20_000 });

/** The user's own browser shows no service workers, and Chrome lets an extension attach to a popup when its first request may be on its way. `--only` runs the operations whose name contains one of its words. */
function isWanted({ name, needsServiceWorkers, needsPausedPopups }) {
  if (settings.skip !== '' && name.includes(settings.skip)) return false;
  return settings.only.split(',').some((word) => name.includes(word)) && (settings['service-workers'] === 'shown' || !(needsServiceWorkers || needsPausedPopups));
}

function worldOf(kind, context) {
  return new PlaywrightWorld({ kind, context, sitePort: settings['site-port'], random, folder, serviceWorkers: settings['service-workers'] });
}

try {
  const kinds = settings.contexts.split(',');
  const worlds = [];
  if (kinds.includes('default')) worlds.push(worldOf('default', browser.contexts()[0]));
  if (kinds.includes('own')) worlds.push(worldOf('own', await browser.newContext()));
  for (const world of worlds) {
    world.others = worlds.filter((other) => other !== world);
    await runner.run('settings are made', world.kind, () => openPersistentPage(world));
  }
  await runner.runMany({
    operations: [...pageOperations, ...networkOperations].filter(isWanted),
    worlds,
    count: Number(settings.operations),
    recheck: recheckPersistentPage,
    pauseAt: Number(settings['pause-at']),
    part: settings.part,
  });
  const expected = kinds.includes('own') ? 2 : 1;
  if (browser.contexts().length !== expected) {
    runner.foreign('foreign-context', '-', `${browser.contexts().length} contexts, expected ${expected}`);
  }
  for (const world of worlds) {
    for (const address of world.foreignPages()) runner.foreign('foreign-page', world.kind, address);
    await world.persistent?.close().catch(() => {});
    if (world.kind === 'own') await world.context.close();
  }
} catch (error) {
  runner.fail('suite', '-', error);
} finally {
  await browser.close().catch(() => {});
  await rm(folder, { recursive: true, force: true });
}
runner.finish();
