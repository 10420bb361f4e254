// The browser context and browser of the session, and the tabs that belong to them.

const DEFAULT_TIMEOUT = 30000;

/** Default timeouts of a page or context. A page without its own has those of its context. */
class TimeoutSettings {
  #parent;
  #action;
  #navigation;

  constructor(parent = () => undefined) {
    this.#parent = parent;
  }

  get action() {
    return this.#action ?? this.#parent()?.action ?? DEFAULT_TIMEOUT;
  }

  set action(timeout) {
    this.#action = timeout;
  }

  get navigation() {
    return this.#navigation ?? this.#action ?? this.#parent()?.navigation ?? DEFAULT_TIMEOUT;
  }

  set navigation(timeout) {
    this.#navigation = timeout;
  }
}

function pageOf(tab) {
  pagesByTab[tab] ??= new Page(tab);
  return pagesByTab[tab];
}

/** Takes the tabs that a result lists. */
function updateTabs(list) {
  const known = new Set(tabs.map((one) => one.tab));
  tabs = list;
  mayWantFewer = true;
  for (const tab of known) if (!list.some((one) => one.tab === tab)) pagesByTab[tab]?.closed();
  for (const one of list) {
    if (known.size === 0 || known.has(one.tab)) continue;
    const page = pageOf(one.tab);
    contextOf(page).emit("page", page);
    if (one.opener !== undefined) pagesByTab[one.opener]?.emit("popup", page);
  }
}

/** Contexts that the script has made, by id. */
const contextsById = new Map();

/** The context of a page. */
function contextOf(page) {
  const id = tabs.find((one) => one.tab === page.tab)?.context;
  return (id === undefined ? undefined : contextsById.get(id)) ?? browserContext;
}

/** The size of pages in new contexts, as Playwright has it. */
const DEFAULT_VIEWPORT = freeze({ width: 1280, height: 720 });

/** The options of a new context. One with a value is there, but has only that value. */
const CONTEXT_OPTIONS = {
  __proto__: null,
  acceptDownloads: true,
  baseURL: undefined,
  bypassCSP: false,
  colorScheme: undefined,
  contrast: undefined,
  device: undefined,
  deviceScaleFactor: undefined,
  extraHTTPHeaders: undefined,
  forcedColors: undefined,
  geolocation: undefined,
  hasTouch: undefined,
  httpCredentials: undefined,
  ignoreHTTPSErrors: false,
  isMobile: undefined,
  javaScriptEnabled: true,
  locale: undefined,
  offline: undefined,
  permissions: undefined,
  reducedMotion: undefined,
  serviceWorkers: "allow",
  storageState: undefined,
  strictSelectors: false,
  timezoneId: undefined,
  userAgent: undefined,
  viewport: undefined,
};

/** Refuses options that have no effect here. */
function checkContextOptions(options, title) {
  for (const [name, value] of entries(options)) {
    if (value === undefined) continue;
    if (!(name in CONTEXT_OPTIONS)) throw new Error(`${title}: the option \`${name}\` is not there.`);
    const only = CONTEXT_OPTIONS[name];
    if (only !== undefined && value !== only) throw new Error(`${title}: the option \`${name}\` can only be ${stringify(only)} here.`);
  }
}

/** `devices["iPhone 15"]`: the options of a device, which the daemon knows by its name. */
const devices = new Proxy(freeze({}), {
  get: (none, name) => (typeof name === "string" ? freeze({ device: name }) : undefined),
});

/** Options of a context that every new page gets. */
function emulation({ device, viewport, deviceScaleFactor, isMobile, hasTouch, userAgent, locale, timezoneId, colorScheme, reducedMotion, forcedColors, contrast, geolocation } = {}) {
  const needsSize = viewport !== null && (device === undefined || viewport !== undefined);
  const { width, height } = viewport ?? DEFAULT_VIEWPORT;
  return withoutUndefined({
    device,
    viewport: needsSize ? `${width}x${height}` : undefined,
    scale: deviceScaleFactor,
    mobile: isMobile === true ? true : undefined,
    touch: hasTouch === undefined ? undefined : hasTouch ? "on" : "off",
    user_agent: userAgent,
    locale,
    timezone: timezoneId,
    color_scheme: colorScheme ?? undefined,
    reduced_motion: reducedMotion ?? undefined,
    forced_colors: forcedColors ?? undefined,
    contrast: contrast ?? undefined,
    geolocation: geolocation ? `${geolocation.latitude},${geolocation.longitude}` : undefined,
  });
}

class BrowserContext {
  #id;
  #options;
  #isClosed = false;
  /** Cookies for the first page: a context without pages has nowhere to put them. */
  #waitingCookies = [];
  #initScripts = [];
  #headers = null;
  #isOffline = false;
  /** Sites that have the permissions of its options. */
  #granted = new Set();

  constructor(id = null, options = {}) {
    this.#id = id;
    this.#options = options;
    this.#waitingCookies = options.storageState?.cookies ?? [];
    this.#headers = options.extraHTTPHeaders ?? null;
    this.#isOffline = options.offline === true;
    defineProperty(this, "timeouts", { value: new TimeoutSettings() });
  }

  /** What relative URLs of its pages start from. */
  get baseURL() {
    return this.#options.baseURL;
  }

  /** Grants the context's permissions to the site of a URL, before a page goes there. Null when there is nothing to grant. */
  grantTo(page, url) {
    const { permissions = [] } = this.#options;
    const origin = /^https?:\/\/[^/?#]+/i.exec(url)?.[0];
    if (permissions.length === 0 || origin === undefined || this.#granted.has(origin)) return null;
    this.#granted.add(origin);
    return page.call("emulate", { grant: permissions, origin }, { title: "page.goto" });
  }

  /** Whether it is the session's own context. */
  get isOwn() {
    return this.#id === null;
  }

  #tabs() {
    return tabs.filter((one) => (one.context !== undefined && contextsById.has(one.context) ? one.context : null) === this.#id);
  }

  pages() {
    return this.#tabs().map((one) => pageOf(one.tab));
  }

  /** Runs an action in a tab of this context. */
  #call(method, action, params) {
    if (this.#isClosed) throw new Error(`browserContext.${method}: Target page, context or browser has been closed`);
    return callAction(action, params, { title: `browserContext.${method}`, tab: this.isOwn ? null : this.#tabs()[0]?.tab });
  }

  async newPage() {
    if (this.isOwn) {
      const { result } = await callAction("tab_new", {}, { title: "browserContext.newPage", timeout: 30000 });
      return pageOf(result.tab);
    }
    if (this.#isClosed) throw new Error("browserContext.newPage: Target page, context or browser has been closed");
    const { result } = await callAction("context_page", { context: this.#id }, { title: "browserContext.newPage", timeout: 30000 });
    const page = pageOf(result.page);
    await this.#prepare(page);
    return page;
  }

  /** Applies the context's options to a new page. */
  async #prepare(page) {
    const wanted = emulation(this.#options);
    if (Object.keys(wanted).length > 0) await page.call("emulate", wanted, { title: "browserContext.newPage" });
    if (wanted.viewport !== undefined) page.noteSize(this.#options.viewport ?? DEFAULT_VIEWPORT);
    if (this.#options.httpCredentials !== undefined) {
      const { username, password, origin } = this.#options.httpCredentials;
      await page.call("http_auth", withoutUndefined({ user: username, password, origin }), { title: "browserContext.newPage" });
    }
    if (this.#headers !== null) await page.setExtraHTTPHeaders(this.#headers);
    if (this.#isOffline) await page.call("offline", { state: "on" }, { title: "browserContext.newPage" });
    if (this.#waitingCookies.length > 0) await this.addCookies(this.#waitingCookies.splice(0));
    for (const { origin, localStorage } of this.#options.storageState?.origins ?? []) {
      await page.addInitScript(([site, items]) => {
        if (location.origin === site && window.localStorage.length === 0) for (const { name, value } of items) window.localStorage.setItem(name, value);
      }, [origin, localStorage]);
    }
    for (const [script, argument] of this.#initScripts) await page.addInitScript(script, argument);
  }

  browser() {
    return sessionBrowser;
  }

  async cookies(urls = []) {
    if (!this.isOwn && this.#tabs().length === 0) return [...this.#waitingCookies];
    const list = Array.isArray(urls) ? urls : [urls];
    const found = [];
    for (const url of list.length === 0 ? [undefined] : list) {
      const { result } = await this.#call("cookies", "cookies", withoutUndefined({ verb: "list", values: true, all: url === undefined, url }));
      for (const cookie of result.cookies ?? []) {
        const { name, value = "", domain, path, expires = -1, http_only: httpOnly = false, secure = false, same_site: sameSite } = cookie;
        const word = { strict: "Strict", lax: "Lax", none: "None" }[String(sameSite ?? "lax").toLowerCase()] ?? "Lax";
        if (!found.some((one) => one.name === name && one.domain === domain && one.path === path)) found.push({ name, value, domain, path, expires, httpOnly, secure, sameSite: word });
      }
    }
    return found;
  }

  async addCookies(cookies) {
    if (!this.isOwn && this.#tabs().length === 0) return void this.#waitingCookies.push(...cookies);
    for (const { name, value, url, domain, path, expires, httpOnly, secure, sameSite } of cookies) {
      const params = { verb: "set", name, value, url, domain, path, expires: expires === -1 ? undefined : expires, http_only: httpOnly, secure, same_site: sameSite?.toLowerCase() };
      await this.#call("addCookies", "cookies", withoutUndefined(params));
    }
  }

  async clearCookies({ name, domain, path } = {}) {
    this.#waitingCookies = [];
    if (!this.isOwn && this.#tabs().length === 0) return;
    if (name === undefined && domain === undefined && path === undefined) return void (await this.#call("clearCookies", "cookies", { verb: "clear", all: true }));
    const fits = (wanted, value) => wanted === undefined || (wanted instanceof RegExp ? wanted.test(value) : wanted === value);
    const kept = (await this.cookies()).filter((one) => !(fits(name, one.name) && fits(domain, one.domain) && fits(path, one.path)));
    await this.#call("clearCookies", "cookies", { verb: "clear", all: true });
    await this.addCookies(kept);
  }

  /** Cookies, and the local storage of the sites that the context's pages show. */
  async storageState({ path } = {}) {
    const origins = [];
    for (const page of this.pages()) {
      const origin = await page.evaluate(() => location.origin).catch(() => "null");
      if (!origin.startsWith("http") || origins.some((one) => one.origin === origin)) continue;
      const localStorage = await page.evaluate(() => Object.entries({ ...window.localStorage }).map(([name, value]) => ({ name, value })));
      if (localStorage.length > 0) origins.push({ origin, localStorage });
    }
    if (path !== undefined) throw new Error("browserContext.storageState: files are written with tabwire.state({ verb: 'save', path })");
    return { cookies: await this.cookies(), origins };
  }

  async setOffline(offline) {
    this.#isOffline = offline;
    for (const page of this.pages()) await page.call("offline", { state: offline ? "on" : "off" }, { title: "browserContext.setOffline" });
  }

  async grantPermissions(permissions, { origin } = {}) {
    await this.#call("grantPermissions", "emulate", withoutUndefined({ grant: permissions, origin }));
  }

  async clearPermissions() {
    await this.#call("clearPermissions", "emulate", { reset_permissions: true });
  }

  async setGeolocation(place) {
    for (const page of this.pages()) await page.call("emulate", { geolocation: `${place.latitude},${place.longitude}` }, { title: "browserContext.setGeolocation" });
    this.#options = { ...this.#options, geolocation: place };
  }

  async setExtraHTTPHeaders(headers) {
    this.#headers = headers;
    for (const page of this.pages()) await page.setExtraHTTPHeaders(headers);
  }

  async addInitScript(script, argument) {
    if (!this.isOwn) this.#initScripts.push([script, argument]);
    const pages = this.pages();
    for (const page of this.isOwn && pages.length === 0 ? [currentPage()] : pages) await page.addInitScript(script, argument);
  }

  setDefaultTimeout(timeout) {
    this.timeouts.action = timeout;
  }

  setDefaultNavigationTimeout(timeout) {
    this.timeouts.navigation = timeout;
  }

  backgroundPages() {
    return [];
  }

  serviceWorkers() {
    return [];
  }

  /** Closes a context of the script with its pages. The session's own context stays. */
  async close() {
    if (this.isOwn || this.#isClosed) return;
    await callAction("context_close", { context: this.#id }, { title: "browserContext.close" });
    this.#isClosed = true;
    this.emit("close", this);
    contextsById.delete(this.#id);
  }
}

class Browser {
  contexts() {
    return [browserContext, ...contextsById.values()];
  }

  /** A context with cookies and storage of its own, until it is closed or the script is reset. */
  async newContext(options = {}) {
    checkContextOptions(options, "browser.newContext");
    if (typeof options.storageState === "string") {
      const { result } = await callAction("file_read", { path: options.storageState }, { title: "browser.newContext" });
      options = { ...options, storageState: parse(ScriptBuffer.from(result.base64, "base64").toString()) };
    }
    const { result } = await callAction("context_new", {}, { title: "browser.newContext", timeout: 30000 });
    const made = new BrowserContext(result.context, options);
    contextsById.set(result.context, made);
    return made;
  }

  /** A page in a context of its own, which ends with it; without options a page of the session's context. */
  async newPage(options) {
    if (options === undefined) return browserContext.newPage();
    const context = await this.newContext(options);
    try {
      const page = await context.newPage();
      defineProperty(page, "ownContext", { value: context });
      return page;
    } catch (error) {
      await context.close();
      throw error;
    }
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

  async close() {
    for (const context of [...contextsById.values()]) await context.close();
  }
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
  devices,
  errors: { TimeoutError },
  request: { newContext: async (options) => new APIRequestContext(() => currentPage(), options) },
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
