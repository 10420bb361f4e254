// Operations whose results depend on the browser only. The same list runs on a browser launched directly and
// on one launched through a shim; each operation returns a value to compare. It gets a new page, unless it is marked
// with ON_ANY_PAGE: then it may get the page of the operation before.

const ON_ANY_PAGE = true;

const PATHS = ['/plain', '/form', '/frames', '/dialogs', '/popup', '/media', '/table', '/shadow', '/inputs', '/checks',
  '/selects', '/article'];

const FACTS = ['navigator.userAgent', 'navigator.webdriver', 'navigator.languages.join()', 'navigator.platform',
  'devicePixelRatio', 'innerWidth + "x" + innerHeight', 'screen.width + "x" + screen.height', 'Notification.permission',
  'navigator.plugins.length', 'typeof chrome', 'document.visibilityState', 'document.hasFocus()',
  'Intl.DateTimeFormat().resolvedOptions().timeZone', 'matchMedia("(pointer: fine)").matches'];

const summary = '({ title: document.title, path: location.pathname, links: document.links.length, '
  + 'forms: document.forms.length, elements: document.querySelectorAll("*").length })';

/** Operations that both libraries have under the same names. */
function common(address) {
  return [
    ...PATHS.map((path) => [`read ${path}`, async (page) => { await page.goto(address('a', path)); return page.evaluate(summary); }, ON_ANY_PAGE]),
    ...FACTS.map((fact) => [`fact ${fact}`, async (page) => { await page.goto(address('a', '/plain')); return page.evaluate(fact); }, ON_ANY_PAGE]),
    ['status of a page', async (page) => (await page.goto(address('a', '/plain'))).status()],
    ['status of nothing', async (page) => (await page.goto(address('a', '/nowhere'))).status()],
    ['redirect', async (page) => { await page.goto(address('a', '/redirect')); return new URL(page.url()).pathname; }],
    ['no such host', async (page) => page.goto('http://missing.invalid/').then(() => 'loaded', (error) => /ERR_[A-Z_]+/.exec(error.message)?.[0])],
    ['content', async (page) => { await page.setContent('<b>x</b>'); return page.content(); }],
    ['click', async (page) => { await page.goto(address('a', '/plain')); await page.click('button'); return page.evaluate('document.body.innerText.length > 0'); }],
    ['type', async (page) => { await page.goto(address('a', '/form')); await page.type('#notes', 'Ab1'); return page.evaluate('document.querySelector("#notes").value'); }],
    ['frames', async (page) => { await page.goto(address('a', '/frames')); return page.frames().length; }],
    ['error in a page', async (page) => page.evaluate('(() => { throw new TypeError("inside"); })()').catch((error) => /inside/.test(error.message))],
    ['a promise', async (page) => page.evaluate('new Promise((resolve) => setTimeout(() => resolve([1, { a: null }]), 5))')],
    ['a megabyte', async (page) => page.evaluate('"x".repeat(1 << 20).length')],
    ['screenshot', async (page) => { await page.goto(address('a', '/plain')); const shot = Buffer.from(await page.screenshot()); return [shot.readUInt32BE(16), shot.readUInt32BE(20)]; }],
    ['a dialog', async (page) => {
      const seen = new Promise((resolve) => page.once('dialog', async (dialog) => { await dialog.accept('typed'); resolve([dialog.type(), dialog.message()]); }));
      const response = await page.evaluate('prompt("why?", "d")');
      return [response, ...await seen];
    }],
    ['console', async (page) => {
      const seen = new Promise((resolve) => page.once('console', (message) => resolve([message.type(), message.text()])));
      await page.evaluate('console.warn("a", 1)');
      return seen;
    }],
    ['a popup', async (page) => {
      await page.goto(address('a', '/plain'));
      const opened = new Promise((resolve) => page.once('popup', resolve));
      await page.evaluate('void open("/form")');
      const popup = await opened;
      await popup.waitForSelector('h1');
      const title = await popup.title();
      await popup.close();
      return title;
    }],
    ['storage', async (page) => { await page.goto(address('a', '/plain')); return page.evaluate('localStorage.setItem("k", "v"), localStorage.getItem("k")'); }],
    ['a worker', async (page) => page.evaluate('new Promise((resolve) => { const worker = new Worker(URL.createObjectURL(new Blob(["postMessage(6*7)"]))); worker.onmessage = (event) => resolve(event.data); })')],
    ['closed pages', async (page) => { await page.close(); return page.isClosed(); }],
  ];
}

export function playwrightOperations(address) {
  return [
    ...common(address),
    ['timezone and locale', async (page) => {
      const context = await page.context().browser().newContext({ timezoneId: 'Asia/Tokyo', locale: 'de-DE', colorScheme: 'dark' });
      const other = await context.newPage();
      const seen = await other.evaluate('[Intl.DateTimeFormat().resolvedOptions().timeZone, navigator.language, matchMedia("(prefers-color-scheme: dark)").matches]');
      await context.close();
      return seen;
    }],
    ['cookies', async (page) => {
      await page.context().addCookies([{ name: 'n', value: 'v', url: address('a', '/') }]);
      return (await page.context().cookies(address('a', '/'))).map(({ name, value }) => ({ name, value }));
    }],
    ['route', async (page) => {
      await page.route('**/plain', (route) => route.fulfill({ body: '<title>made up</title>', contentType: 'text/html' }));
      await page.goto(address('a', '/plain'));
      return page.title();
    }],
    ['roles', async (page) => { await page.goto(address('a', '/form')); return page.locator('form').first().ariaSnapshot(); }],
    ['fill', async (page) => { await page.goto(address('a', '/form')); await page.getByLabel('Name').fill('x'); return page.getByLabel('Name').inputValue(); }],
    ['requests', async (page) => {
      const seen = [];
      page.on('request', (request) => seen.push(request.resourceType()));
      await page.goto(address('a', '/plain'), { waitUntil: 'load' });
      return seen.filter((type) => type === 'document');
    }],
    ['the first request of a popup', async (page) => {
      await page.goto(address('a', '/plain'));
      const asked = page.context().waitForEvent('request', (request) => request.url().endsWith('/form'));
      await page.evaluate('void open("/form")');
      return (await asked).isNavigationRequest();
    }],
    ['contexts are apart', async (page) => {
      await page.goto(address('a', '/plain'));
      await page.evaluate('document.cookie = "mine=1"');
      const other = await page.context().browser().newContext();
      const cookies = await other.cookies();
      await other.close();
      return cookies;
    }],
    ['pdf', async (page) => (await page.pdf()).subarray(0, 5).toString()],
  ];
}

export function puppeteerOperations(address) {
  return [
    ...common(address),
    ['accessibility', async (page) => { await page.goto(address('a', '/plain')); return (await page.accessibility.snapshot()).role; }],
    ['viewport', async (page) => { await page.setViewport({ width: 500, height: 400 }); return page.evaluate('innerWidth + "x" + innerHeight'); }],
    ['interception', async (page) => {
      await page.setRequestInterception(true);
      page.on('request', (request) => request.respond({ body: '<title>made up</title>', contentType: 'text/html' }));
      await page.goto(address('a', '/plain'));
      return page.title();
    }],
    ['metrics', async (page) => typeof (await page.metrics()).Nodes],
    ['contexts', async (page) => {
      const context = await page.browser().createBrowserContext();
      const other = await context.newPage();
      const count = (await context.pages()).length;
      await other.close();
      await context.close();
      return [count, page.browser().browserContexts().length];
    }],
    // Parts of the browser's own interface are targets of type `other`, which Tabwire shows to no client.
    ['targets', async (page) => page.browser().targets().map((target) => target.type()).filter((type) => type !== 'other').sort()],
    ['a session of its own', async (page) => {
      const session = await page.createCDPSession();
      const { result } = await session.send('Runtime.evaluate', { expression: '6 * 7' });
      await session.detach();
      return result.value;
    }],
    ['version', async (page) => page.browser().version()],
  ];
}
