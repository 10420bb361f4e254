// What one Playwright operation works in: a context, the site, and the pages it owns.
// Pages that this client did not open are recorded as foreign.

export class PlaywrightWorld {
  constructor({ kind, context, sitePort, random, folder, serviceWorkers }) {
    Object.assign(this, { kind, context, sitePort, random, folder, serviceWorkers });
    this.announced = new Set();
    this.claimed = new Set();
    this.open = [];
    this.tokens = 0;
    context.on('page', (page) => this.announced.add(page));
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
    this.claimed.add(page);
    this.open.push(page);
    return page;
  }

  /** Keeps a page open for the whole run. */
  keep(page) {
    this.open = this.open.filter((each) => each !== page);
    return page;
  }

  /** URLs of announced pages that this client did not open. */
  foreignPages() {
    return [...this.announced].filter((page) => !this.claimed.has(page)).map((page) => page.url());
  }
}
