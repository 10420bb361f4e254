// The browser context and browser of the session, and the tabs that belong to them.

function pageOf(tab) {
  pagesByTab[tab] ??= new Page(tab);
  return pagesByTab[tab];
}

/** Takes the tabs that a result lists. */
function updateTabs(list) {
  const known = new Set(tabs.map((one) => one.tab));
  tabs = list;
  for (const one of list) {
    if (known.size === 0 || known.has(one.tab)) continue;
    const page = pageOf(one.tab);
    browserContext.emit("page", page);
    if (one.opener !== undefined) pagesByTab[one.opener]?.emit("popup", page);
  }
}

/** Waits for a tab that is new and passes the test. */
async function waitForTab(title, fits, predicate, timeout) {
  const before = new Set(tabs.map((one) => one.tab));
  let found = null;
  await poll(title, timeout, async () => {
    await callAction("tabs_list", {}, { title });
    for (const one of tabs) if (!before.has(one.tab) && fits(one) && predicate(pageOf(one.tab))) found = pageOf(one.tab);
    return found !== null;
  }, () => "waiting for a new page");
  return found;
}

class BrowserContext {
  #listeners = {};

  pages() {
    return tabs.map((one) => pageOf(one.tab));
  }

  async newPage() {
    const { result } = await callAction("tab_new", {}, { title: "browserContext.newPage", timeout: 30000 });
    return pageOf(result.tab);
  }

  browser() {
    return sessionBrowser;
  }

  on(event, listener) {
    (this.#listeners[event] ??= []).push(listener);
    return this;
  }

  off(event, listener) {
    this.#listeners[event] = (this.#listeners[event] ?? []).filter((one) => one !== listener);
    return this;
  }

  once(event, listener) {
    const once = (value) => {
      this.off(event, once);
      listener(value);
    };
    return this.on(event, once);
  }

  emit(event, value) {
    for (const listener of [...(this.#listeners[event] ?? [])]) listener(value);
  }

  waitForEvent(event, options = {}) {
    const { predicate = () => true, timeout = 30000 } = typeof options === "function" ? { predicate: options } : options;
    if (event !== "page") throw new Error(`browserContext.waitForEvent: the event "${event}" is not supported`);
    return waitForTab("browserContext.waitForEvent", () => true, predicate, timeout);
  }

  async cookies(urls = []) {
    const list = Array.isArray(urls) ? urls : [urls];
    const { result } = await callAction("cookies", withoutUndefined({ verb: "list", values: true, all: list.length === 0, url: list[0] }), { title: "browserContext.cookies" });
    return result.cookies ?? [];
  }

  async addCookies(cookies) {
    for (const { name, value, url, domain, path, expires, httpOnly, secure, sameSite } of cookies) {
      const params = { verb: "set", name, value, url, domain, path, expires: expires === -1 ? undefined : expires, http_only: httpOnly, secure, same_site: sameSite?.toLowerCase() };
      await callAction("cookies", withoutUndefined(params), { title: "browserContext.addCookies" });
    }
  }

  async clearCookies() {
    await callAction("cookies", { verb: "clear", all: true }, { title: "browserContext.clearCookies" });
  }

  async setOffline(offline) {
    await callAction("offline", { state: offline ? "on" : "off" }, { title: "browserContext.setOffline" });
  }

  async grantPermissions(permissions, { origin } = {}) {
    await callAction("emulate", withoutUndefined({ grant: permissions, origin }), { title: "browserContext.grantPermissions" });
  }

  async clearPermissions() {
    await callAction("emulate", { reset_permissions: true }, { title: "browserContext.clearPermissions" });
  }

  async setGeolocation(place) {
    await callAction("emulate", { geolocation: `${place.latitude},${place.longitude}` }, { title: "browserContext.setGeolocation" });
  }

  async setExtraHTTPHeaders(headers) {
    await currentPage().setExtraHTTPHeaders(headers);
  }

  async addInitScript(script, argument) {
    await currentPage().addInitScript(script, argument);
  }

  setDefaultTimeout(timeout) {
    defaultTimeouts.action = timeout;
  }

  setDefaultNavigationTimeout(timeout) {
    defaultTimeouts.navigation = timeout;
  }

  async close() {}
}

class Browser {
  contexts() {
    return [browserContext];
  }

  async newContext() {
    return browserContext;
  }

  newPage() {
    return browserContext.newPage();
  }

  isConnected() {
    return true;
  }

  browserType() {
    return chromium;
  }

  version() {
    return "chromium";
  }

  async close() {}
}

const browserContext = new BrowserContext();
const sessionBrowser = new Browser();

/** `launch()` gives the session's browser: a script starts none. */
const chromium = {
  name: () => "chromium",
  launch: async () => sessionBrowser,
  connect: async () => sessionBrowser,
  connectOverCDP: async () => sessionBrowser,
  launchPersistentContext: async () => browserContext,
};

let firstPage = null;

/** The page that `page` stands for: the tab of the call, the client's current tab, or one that is opened on first use. */
function currentPage() {
  const tab = run.tab ?? tabs.find((one) => one.current)?.tab ?? null;
  if (tab !== null) return pageOf(tab);
  firstPage = firstPage === null || firstPage.tab !== null ? new Page(null) : firstPage;
  return firstPage;
}

function scriptGlobals() {
  return { page: currentPage(), context: browserContext, browser: sessionBrowser, expect, ...helpers };
}

function dispatchEvent() {}

/** Writes a page in `state` as its tab id. */
function stateReplacer(key, value) {
  return value instanceof Page ? { $page: value.tab } : value;
}

function reviveState(state) {
  return parse(stringify(state), (key, value) => (value !== null && typeof value === "object" && typeof value.$page === "string" ? pageOf(value.$page) : value));
}

const playwrightModule = {
  chromium,
  firefox: chromium,
  webkit: chromium,
  devices: {},
  errors: { TimeoutError },
  request: {},
  selectors: {
    setTestIdAttribute: (name) => {
      testIdAttribute = name;
    },
  },
};

const builtInModules = {
  playwright: playwrightModule,
  get test() {
    return testModule;
  },
  get tabwire() {
    return { tabwire, expect };
  },
};
