// The environment of a Puppeteer operation: a browser context, the site, and the pages it owns.

export class PuppeteerWorld {
  constructor({ kind, browser, context, sitePort, random, folder, serviceWorkers }) {
    Object.assign(this, { kind, browser, context, sitePort, random, folder, serviceWorkers });
    this.claimed = new Set();
    this.open = [];
    this.tokens = 0;
  }

  /** Runs an operation and closes whatever it left open. */
  async perform(operation) {
    try {
      await operation.run(this);
    } finally {
      const left = this.open.splice(0);
      await Promise.all(left.map((page) => page.close().catch(() => {})));
    }
  }

  address(name, path) {
    return `http://${name}.localhost:${this.sitePort}${path}`;
  }

  /** A word no other run, client or operation uses. */
  token() {
    return `${this.kind}-${process.pid}-${++this.tokens}`;
  }

  /** Opens a page of ours, on a path of site `a` if given. */
  async page(path) {
    const page = this.claim(await this.context.newPage());
    page.setDefaultTimeout(9_000);
    if (path) await page.goto(this.address('a', path));
    return page;
  }

  claim(page) {
    this.claimed.add(page.target());
    this.open.push(page);
    return page;
  }

  /** Keeps a page open for the whole run. */
  keep(page) {
    this.open = this.open.filter((each) => each !== page);
    return page;
  }
}

/** The text of an element. */
export const textOf = (page, selector) => page.$eval(selector, (element) => element.textContent);

/** Waits until an element has exactly this text. */
export const waitForText = (page, selector, expected) => page.waitForFunction(
  (wanted, text) => document.querySelector(wanted)?.textContent === text, {}, selector, expected);

/** The next event of this name, or a failure at the deadline. */
export function nextEvent(emitter, name, milliseconds = 8_000) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no ${name} after ${milliseconds} ms`)), milliseconds);
    emitter.once(name, (value) => { clearTimeout(timer); resolve(value); });
  });
}
