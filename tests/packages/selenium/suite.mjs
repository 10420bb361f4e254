// Selenium with WebDriver BiDi, through chromedriver and the given browser: two sessions at once, each with its own pages.
//
//   node suite.mjs --executable PATH --chromedriver PATH --site-port N [--profile DIRECTORY]
//
// Prints one line of JSON: {"checks": NUMBER, "failures": [...]}.

import { Builder, By, until } from 'selenium-webdriver';
import chrome from 'selenium-webdriver/chrome.js';
import BrowsingContext from 'selenium-webdriver/bidi/browsingContext.js';
import LogInspector from 'selenium-webdriver/bidi/logInspector.js';
import { Checks, readArguments, within } from '../shared/checks.mjs';

const settings = readArguments(['executable', 'chromedriver', 'site-port'], { profile: '' });
const checks = new Checks();
const page = (host, path) => `http://${host}.localhost:${settings['site-port']}${path}`;

async function start() {
  const options = new chrome.Options().setBinaryPath(settings.executable).addArguments('--headless=new', '--no-sandbox').enableBidi();
  if (settings.profile) options.addArguments(`--user-data-dir=${settings.profile}`);
  const builder = new Builder().forBrowser('chrome').setChromeOptions(options);
  return within('start', builder.setChromeService(new chrome.ServiceBuilder(settings.chromedriver)).build());
}

/** One user's work; `host` is its site, on which the other never is. */
async function work(driver, host) {
  const logs = await within('log inspector', LogInspector(driver));
  const logged = [];
  await logs.onConsoleEntry((entry) => logged.push(entry.text));
  const context = await within('context', BrowsingContext(driver, { browsingContextId: await driver.getWindowHandle() }));
  await within('navigate over BiDi', context.navigate(page(host, '/plain'), 'complete'));
  checks.equal(`${host}: title`, await driver.getTitle(), 'Plain page');
  await driver.executeScript('console.log(arguments[0])', `from ${host}`);
  await driver.wait(async () => logged.length > 0, 10_000, 'no console entry over BiDi');
  checks.equal(`${host}: console entries`, logged, [`from ${host}`]);
  await within('load', driver.get(page(host, '/form')));
  const field = await driver.wait(until.elementLocated(By.css('#notes')), 10_000);
  await field.click();
  await field.sendKeys(`typed by ${host}`);
  checks.equal(`${host}: value`, await driver.executeScript('return document.querySelector("#notes").value'), `typed by ${host}`);
  const tree = await within('tree', context.getTopLevelContexts());
  checks.equal(`${host}: pages`, tree.map((one) => new URL(one.url).host.split('.')[0]), [host]);
  await driver.switchTo().newWindow('tab');
  await within('second tab', driver.get(page(host, '/table')));
  checks.equal(`${host}: windows`, (await driver.getAllWindowHandles()).length, 2);
  await logs.close();
}

// One after the other: on one profile, chromedriver finds the port in a file of that profile.
const drivers = [await start(), await start()];
try {
  await Promise.all([work(drivers[0], 'a'), work(drivers[1], 'b')]);
} catch (error) {
  checks.fail('work', error);
} finally {
  await Promise.all(drivers.map((driver) => driver.quit().catch((error) => checks.fail('quit', error))));
}
checks.print();
