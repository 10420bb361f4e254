// WebdriverIO, which uses WebDriver BiDi by default, through chromedriver and the given browser: two sessions at once.
//
//   node suite.mjs --executable PATH --chromedriver PATH --site-port N
//
// Prints one line of JSON: {"checks": NUMBER, "failures": [...]}.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { remote } from 'webdriverio';
import { Checks, readArguments, within } from '../shared/checks.mjs';

const settings = readArguments(['executable', 'chromedriver', 'site-port']);
const checks = new Checks();
const page = (host, path) => `http://${host}.localhost:${settings['site-port']}${path}`;

/** Starts chromedriver on a free port, and waits until it says which. */
async function startChromedriver() {
  const child = spawn(settings.chromedriver, ['--port=0'], { stdio: ['ignore', 'pipe', 'ignore'] });
  const port = await within('chromedriver', new Promise((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const match = /successfully on port (\d+)/.exec(line);
      if (match) resolve(Number(match[1]));
    });
  }));
  return { child, port };
}

function start(port) {
  return within('start', remote({
    hostname: '127.0.0.1',
    port,
    logLevel: 'error',
    capabilities: {
      browserName: 'chrome',
      'goog:chromeOptions': { binary: settings.executable, args: ['--headless=new', '--no-sandbox'] },
    },
  }));
}

/** One user's work; `host` is its site, on which the other never is. */
async function work(browser, host) {
  checks.equal(`${host}: BiDi`, browser.isBidi, true);
  const logged = [];
  await browser.sessionSubscribe({ events: ['log.entryAdded'] });
  browser.on('log.entryAdded', (entry) => logged.push(entry.text));
  await within('load', browser.url(page(host, '/plain')));
  checks.equal(`${host}: title`, await browser.getTitle(), 'Plain page');
  await browser.execute((text) => console.log(text), `from ${host}`);
  await browser.waitUntil(async () => logged.length > 0, { timeout: 10_000, timeoutMsg: 'no console entry over BiDi' });
  checks.equal(`${host}: console entries`, logged.filter((text) => text.startsWith('from ')), [`from ${host}`]);
  await within('form', browser.url(page(host, '/form')));
  const field = browser.$('#notes');
  await field.click();
  await field.setValue(`typed by ${host}`);
  checks.equal(`${host}: value`, await field.getValue(), `typed by ${host}`);
  const { contexts } = await within('tree', browser.browsingContextGetTree({}));
  checks.equal(`${host}: pages`, contexts.map(({ url }) => new URL(url).host.split('.')[0]), [host]);
}

const driver = await startChromedriver();
let browsers = [];
try {
  browsers = await Promise.all([start(driver.port), start(driver.port)]);
  await Promise.all([work(browsers[0], 'a'), work(browsers[1], 'b')]);
} catch (error) {
  checks.fail('work', error);
} finally {
  await Promise.all(browsers.map((browser) => within('quit', browser.deleteSession()).catch((error) => checks.fail('quit', error))));
  driver.child.kill('SIGTERM');
}
checks.print();
process.exit();
