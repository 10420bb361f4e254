// Events, routes and functions of pages and contexts, and what runs before actions.

withEvents(Page, "page");
withEvents(BrowserContext, "browserContext");
withEvents(Browser, "browser");

/** A URL or pattern in messages, cut when it is long. */
function shownUrl(wanted) {
  const text = typeof wanted === "string" ? stringify(wanted.length > 50 ? `${wanted.slice(0, 49)}…` : wanted) : String(wanted);
  return text;
}

const waitsOfPage = {
  waitForRequest(wanted, options = {}) {
    return waitForEvent(this, `${eventKind(this)}.waitForRequest`, "request", { ...options, predicate: networkMatcher(wanted, this) }, typeof wanted === "function" ? "a request" : `request ${shownUrl(wanted)}`);
  },
  waitForResponse(wanted, options = {}) {
    return waitForEvent(this, `${eventKind(this)}.waitForResponse`, "response", { ...options, predicate: networkMatcher(wanted, this) }, typeof wanted === "function" ? "a response" : `response ${shownUrl(wanted)}`);
  },
};
for (const [Class, methods] of [[Page, ariaOfPage], [Locator, ariaOfLocator]]) {
  for (const [name, value] of entries(methods)) defineProperty(Class.prototype, name, { value, writable: true, configurable: true });
}

/** `page.localStorage` and `page.sessionStorage`: the items of the page's site. */
class PageStorage {
  #page;
  #area;

  constructor(page, area) {
    this.#page = page;
    this.#area = area;
  }

  #run(method, ...given) {
    const work = ([area, name, values]) => {
      const store = globalThis[area];
      if (name === "items") return Object.keys(store).map((key) => ({ name: key, value: store.getItem(key) }));
      return store[name](...values);
    };
    return evaluateIn(this.#page, work, [this.#area, method, given], {}, { title: `page.${this.#area}.${method}` });
  }

  items() {
    return this.#run("items");
  }

  getItem(name) {
    return this.#run("getItem", name);
  }

  async setItem(name, value) {
    await this.#run("setItem", name, value);
  }

  async removeItem(name) {
    await this.#run("removeItem", name);
  }

  async clear() {
    await this.#run("clear");
  }
}
for (const area of ["localStorage", "sessionStorage"]) {
  defineProperty(Page.prototype, area, { configurable: true, get() { return new PageStorage(this, area); } });
}

/** Requests, console messages and errors that the page has kept. */
const keptOfPage = {
  requests() {
    return newestRequests(this);
  },
  async consoleMessages(options) {
    const lines = await keptLines(this, "page.consoleMessages", options);
    return lines.filter((one) => one.level !== "exception").map((one) => new ConsoleMessage(this, { type: one.level, text: one.text, location: one.location, args: [], timestamp: one.time }));
  },
  async clearConsoleMessages() {
    await this.call("console", { clear: true }, { title: "page.clearConsoleMessages" });
  },
  async pageErrors(options) {
    const lines = await keptLines(this, "page.pageErrors", options);
    return lines.filter((one) => one.level === "exception").map((one) => describedError(one.text.split("\n    at ")[0], []));
  },
  async clearPageErrors() {
    await this.call("console", { clear: true }, { title: "page.clearPageErrors" });
  },
};
for (const [name, value] of entries(keptOfPage)) defineProperty(Page.prototype, name, { value, writable: true, configurable: true });

async function keptLines(page, title, { filter = "since-navigation" } = {}) {
  if (!["all", "since-navigation"].includes(filter)) throw new Error(`${title}: options.filter: expected one of (all|since-navigation)`);
  return (await page.call("kept_console", { all: filter === "all" }, { title })).result.lines;
}

for (const [name, value] of entries(waitsOfPage)) defineProperty(Page.prototype, name, { value, writable: true, configurable: true });

/** Functions that pages can call, by page or context. */
function bindingsOf(owner) {
  if (!Object.hasOwn(owner, "exposedFunctions")) defineProperty(owner, "exposedFunctions", { value: { __proto__: null } });
  return owner.exposedFunctions;
}

async function exposeBinding(owner, method, name, callback) {
  const title = `${eventKind(owner)}.${method}`;
  if (bindingsOf(owner)[name] !== undefined) throw new Error(`${title}: Function "${name}" has been already registered`);
  bindingsOf(owner)[name] = callback;
  bindingCount++;
  askForEvents();
  const pages = owner instanceof BrowserContext ? owner.pages() : [owner];
  for (const page of pages.length === 0 ? [currentPage()] : pages) await page.call("expose_binding", { name }, { title });
  if (owner instanceof BrowserContext) owner.on("page", (page) => page.call("expose_binding", { name }, { title }).catch(() => {}));
  const dispose = () => removeBinding(owner, name, `${title}.dispose`);
  return { dispose, [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]: dispose };
}

/** Takes a function from the documents that are there. Calls of later documents fail with an error. */
async function removeBinding(owner, name, title) {
  delete bindingsOf(owner)[name];
  for (const page of owner instanceof BrowserContext ? owner.pages() : [owner]) {
    for (const frame of page.frames()) {
      // A frame that is gone has no function either.
      await evaluateIn(page, (own) => delete globalThis[own], name, frame.frameParams, { title }).catch(() => {});
    }
  }
}

const exposing = {
  exposeBinding(name, callback) {
    return exposeBinding(this, "exposeBinding", name, callback);
  },
  exposeFunction(name, callback) {
    return exposeBinding(this, "exposeFunction", name, (source, ...values) => callback(...values));
  },
};
for (const Class of [Page, BrowserContext]) {
  for (const [name, value] of entries(exposing)) defineProperty(Class.prototype, name, { value, writable: true, configurable: true });
}

/** A page calls a function of the script. */
async function callBinding(page, { name, payload, frame }) {
  const callback = bindingsOf(page)[name] ?? bindingsOf(page.context())[name];
  let call;
  try {
    call = parse(payload);
  } catch {
    return;
  }
  if (typeof call.id !== "number") return;
  let isError = false;
  let value;
  try {
    if (callback === undefined) throw new Error(`Function "${name}" is not exposed any more`);
    // A page can change how its arrays are written.
    if (!Array.isArray(call.values?.a)) throw new Error("serializedArgs is not an array. This can happen when Array.prototype.toJSON is defined incorrectly");
    value = await callback({ page, frame: frameById(page, frame), context: page.context() }, ...decodeValue(call.values, page));
  } catch (error) {
    isError = true;
    value = error;
  }
  let data;
  try {
    data = encodeValue(value);
  } catch (error) {
    isError = true;
    data = encodeValue(error);
  }
  const params = { frame: frame ?? "", name, call: call.id, is_error: isError, value: stringify(data) };
  // The page may be gone by now.
  await page.call("binding_result", params, { title: name }).catch(() => {});
}

/** Actions before which handlers of overlays run. */
const HANDLED_ACTIONS = new Set(["click", "dblclick", "hover", "tap", "fill", "type", "press", "check", "uncheck", "select", "drag", "set_files", "upload", "focus", "ready", "expect", "wait_for"]);
const locatorHandlers = new WeakMap();

/** How long an action waits until overlays are looked for again. */
const HANDLER_WAIT = 500;

function hasLocatorHandlers(page, action) {
  return HANDLED_ACTIONS.has(action) && (locatorHandlers.get(page) ?? []).some((entry) => !entry.isRunning);
}

/** Runs the handlers whose locators are visible, until none is. */
async function runLocatorHandlers(page, title, end, timeout) {
  const handlers = locatorHandlers.get(page) ?? [];
  for (const entry of [...handlers]) {
    if (entry.isRunning || !(await entry.locator.isVisible())) continue;
    entry.isRunning = true;
    const left = () => Math.max(1, end - host.now());
    try {
      if (--entry.left <= 0) handlers.splice(handlers.indexOf(entry), 1);
      const late = pause(left()).then(() => {
        throw Object.setPrototypeOf(new Error(`${title}: Timeout ${timeout}ms exceeded.\nCall log:\n  - found ${entry.locator}, intercepting action to run the handler`), TimeoutError.prototype);
      });
      late.catch(() => {});
      await Promise.race([entry.handler(entry.locator), late]);
      if (!entry.noWaitAfter) {
        await entry.locator.waitFor({ state: "hidden", timeout: left() }).catch((error) => {
          throw withMessage(error, undefined, `${title}: Timeout ${timeout}ms exceeded.\nCall log:\n  - locator handler has finished, waiting for ${entry.locator} to be hidden`);
        });
      }
    } finally {
      entry.isRunning = false;
    }
  }
}

const handling = {
  async addLocatorHandler(locator, handler, { times = Infinity, noWaitAfter = false } = {}) {
    if (!locatorHandlers.has(this)) locatorHandlers.set(this, []);
    locatorHandlers.get(this).push({ locator, handler, left: times, noWaitAfter, isRunning: false });
  },
  async removeLocatorHandler(locator) {
    const handlers = locatorHandlers.get(this) ?? [];
    handlers.splice(0, handlers.length, ...handlers.filter((one) => String(one.locator) !== String(locator)));
  },
};
for (const [name, value] of entries(handling)) defineProperty(Page.prototype, name, { value, writable: true, configurable: true });

/** `page.request` and `context.request`: requests with the cookies of the browser. */
defineProperty(Page.prototype, "request", {
  configurable: true,
  get() {
    return new APIRequestContext(() => this);
  },
});
defineProperty(BrowserContext.prototype, "request", {
  configurable: true,
  get() {
    return new APIRequestContext(() => this.pages()[0] ?? currentPage());
  },
});

defineProperty(BrowserContext.prototype, "newCDPSession", {
  configurable: true,
  writable: true,
  value(target) {
    return newCDPSession(target instanceof Frame ? target.page() : target, "browserContext.newCDPSession");
  },
});
