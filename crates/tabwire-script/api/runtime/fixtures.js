// Fixtures of tests: what `async ({ page }) => ...` names, made on first use and ended after the test.

/** Makes what a table says about a fixture. `below` is the fixture that it replaces. */
function fixtureOf(given, below) {
  const hasSettings = Array.isArray(given) && given.length === 2 && given[1] !== null && typeof given[1] === "object" && ["scope", "auto", "option", "timeout", "box", "title"].some((name) => name in given[1]);
  const [value, settings] = hasSettings ? given : [given, {}];
  return { value, below, scope: settings.scope ?? below?.scope ?? "test", isAutomatic: settings.auto ?? below?.isAutomatic ?? false };
}

function extendTable(table, fixtures) {
  const made = { __proto__: null, ...table };
  for (const [name, given] of entries(fixtures)) made[name] = fixtureOf(given, table[name]);
  return made;
}

/** A table with what `test.use()` says in suites. */
function fixtureTable(suites, table) {
  return suites.reduce((made, suite) => (Object.keys(suite.options).length === 0 ? made : extendTable(made, suite.options)), table);
}

function checkUse(options, table) {
  for (const name of Object.keys(options)) {
    if (!(name in table)) throw new Error(`test.use: there is no option or fixture \`${name}\`.`);
  }
}

/** The names that a function takes out of its first parameter. */
function fixtureNames(body, what) {
  const source = String(body).replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, "");
  const first = /^\s*(?:async\b\s*)?(?:function\s*\*?\s*[\w$]*\s*)?(?:[\w$]+\s*)?\(?\s*(\{[^}]*\}|[\w$]*)/.exec(source)?.[1] ?? "";
  if (body.length === 0 && first === "") return [];
  if (!first.startsWith("{")) {
    if (first === "") return [];
    throw new Error(`${what}: First argument must use the object destructuring pattern: ${first}`);
  }
  return first.slice(1, -1).split(",").map((part) => part.split(/[:=]/)[0].trim()).filter((name) => name !== "");
}

/** The fixtures of one test, or of the hooks of a suite. */
class Fixtures {
  #table;
  #worker;
  #info;
  #made = new Map();

  constructor(table, worker, info) {
    this.#table = table;
    this.#worker = worker;
    this.#info = info;
  }

  /** The fixtures that a function names. */
  async given(body, what, owner = null) {
    const values = {};
    for (const name of fixtureNames(body, what)) {
      const fixture = owner !== null && owner.name === name ? owner.fixture.below : this.#table[name];
      if (fixture === undefined) throw new Error(`${what} has unknown parameter "${name}".`);
      values[name] = await this.#value(name, fixture, what);
    }
    return values;
  }

  async #value(name, fixture, what) {
    const isWorker = fixture.scope === "worker";
    if (!isWorker && this.#info === null) throw new Error(`"${name}" fixtures are not supported in "${what}" since they are created on a per-test basis.`);
    const made = isWorker ? this.#worker : this.#made;
    if (!made.has(fixture)) made.set(fixture, await this.#start(name, fixture));
    return made.get(fixture).value;
  }

  async #start(name, fixture) {
    if (typeof fixture.value !== "function") return { value: fixture.value, end: async () => {} };
    const context = fixture.value[optionsSymbol] === true ? await this.#contextOptions() : await this.given(fixture.value, `Fixture "${name}"`, { name, fixture });
    return useFixture(name, fixture.value, context, this.#info);
  }

  /** The options of a browser context that are set. */
  async #contextOptions() {
    const options = {};
    for (const name of Object.keys(CONTEXT_OPTIONS)) {
      if (name in this.#table) options[name] = await this.#value(name, this.#table[name], "context");
    }
    for (const name of ["actionTimeout", "navigationTimeout", "contextOptions"]) options[name] = await this.#value(name, this.#table[name], "context");
    return options;
  }

  async startAutomatic() {
    for (const [name, fixture] of entries(this.#table)) if (fixture.isAutomatic) await this.#value(name, fixture, "test");
  }

  /** Ends the fixtures of a test, the last first. */
  async end() {
    for (const { end } of [...this.#made.values()].reverse()) await end();
    this.#made.clear();
  }
}

/** Runs a fixture's function until it gives its value; the rest of the function runs at the end. */
function useFixture(name, body, given, info) {
  return new Promise((resolve, reject) => {
    let release;
    let isReady = false;
    const released = new Promise((done) => {
      release = done;
    });
    const use = (value) => {
      isReady = true;
      resolve({ value, end: () => (release(), running) });
      return released;
    };
    const running = Promise.resolve().then(() => body(given, use, info));
    running.then(() => isReady || reject(new Error(`Fixture "${name}" did not call use().`)), reject);
  });
}

/** Marks the fixture that gets the options of the context. */
const optionsSymbol = Symbol("options");

/** A new context for a test. A browser that has only one context gives a new page in that one. */
async function contextFixture({ actionTimeout, navigationTimeout, contextOptions, ...options }, use) {
  let made = browserContext;
  try {
    made = await sessionBrowser.newContext({ ...withoutUndefined(options), ...contextOptions });
  } catch (error) {
    const isAsked = Object.values({ ...options, ...contextOptions }).some((value) => value !== undefined);
    if (error.code !== "CDP_ERROR" || isAsked) throw error;
  }
  if (actionTimeout > 0) made.setDefaultTimeout(actionTimeout);
  if (navigationTimeout > 0) made.setDefaultNavigationTimeout(navigationTimeout);
  await use(made);
  await made.close();
}
contextFixture[optionsSymbol] = true;

const ofWorker = (value) => ({ value, scope: "worker", isAutomatic: false });

/** The fixtures and options of `test`. */
const builtInFixtures = {
  __proto__: null,
  ...Object.fromEntries(Object.keys(CONTEXT_OPTIONS).map((name) => [name, fixtureOf(undefined)])),
  browserName: ofWorker("chromium"),
  playwright: ofWorker(playwrightModule),
  browser: ofWorker(sessionBrowser),
  actionTimeout: fixtureOf(0),
  navigationTimeout: fixtureOf(0),
  contextOptions: fixtureOf({}),
  context: fixtureOf(contextFixture),
  page: fixtureOf(async ({ context }, use) => {
    const page = await context.newPage();
    await use(page);
    if (!page.isClosed()) await page.close();
  }),
  request: fixtureOf(async ({ page, baseURL, extraHTTPHeaders }, use) => use(new APIRequestContext(() => page, { baseURL, extraHTTPHeaders }))),
};
