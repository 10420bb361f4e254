// Runs suites against one stock Chromium: alone to prove the suites, together for the baseline to beat.
//
//   node against-stock-chromium.mjs --site <fixture-site program> --suites playwright,playwright
//     [--seeds 1,2] [--operations 200]
//
// The suites run at the same time, one seed each. Prints one JSON line per suite.

import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readArguments } from './shared/command-line.mjs';
import { firstLine, startStockChromium } from './shared/stock-chromium.mjs';

const settings = readArguments({ seeds: '1,2,3,4', operations: '200', suites: 'playwright' }, ['site']);
const folder = dirname(fileURLToPath(import.meta.url));

function runSuite(suite, seed, endpoint, sitePort) {
  const script = suite === 'raw' ? 'raw-cdp.mjs' : `${suite}/suite.mjs`;
  const words = [join(folder, script), '--endpoint', endpoint, '--site-port', sitePort, '--seed', seed, '--operations', settings.operations];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (data) => { output += data; });
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, last: output.trim().split('\n').pop() })));
}

const site = spawn(settings.site, [], { stdio: ['pipe', 'pipe', 'inherit'] });
const sitePort = await firstLine(site.stdout, /"port":(\d+)/);
const browser = await startStockChromium();
try {
  const seeds = settings.seeds.split(',');
  const runs = settings.suites.split(',').map((suite, index) => runSuite(suite, seeds[index % seeds.length], browser.endpoint, sitePort));
  for (const { code, last } of await Promise.all(runs)) {
    console.log(last);
    if (code !== 0) process.exitCode = 1;
  }
} finally {
  await browser.stop();
  site.stdin.end();
}
