// Pages, in Playwright's form. A page is a tab of the session.

/** Pages by tab id, so that the same tab is the same object. */
const pagesByTab = { __proto__: null };
/** The session's tabs, as the last result listed them. */
let tabs = [];

const defaultTimeouts = { action: 30000, navigation: 30000 };

class Page extends Finder {
  #tab;
  #isClosed = false;
  #listeners = {};

  constructor(tab) {
    super();
    this.#tab = tab;
    this.timeouts = { __proto__: defaultTimeouts };
    defineProperty(this, "timeouts", { enumerable: false });
    this.keyboard = new Keyboard(this);
    this.mouse = new Mouse(this);
    this.touchscreen = { tap: (x, y) => this.mouse.click(x, y) };
  }

  get tab() {
    return this.#tab;
  }

  [describeSymbol]() {
    return `Page { tab: ${this.#tab === null ? "none yet" : quoteText(this.#tab)}, url: ${quoteText(this.url())} }`;
  }

  chain(steps, text) {
    return new Locator(this, steps, text);
  }

  /** Runs an action in this tab. */
  async call(action, params, { title, timeout, locator, text = false, isRetry = false } = {}) {
    const error = new Error("");
    if (this.#isClosed) throw withMessage(error, title, "Target page, context or browser has been closed");
    try {
      const response = await callAction(action, params, { title, timeout: timeout ?? this.timeouts.action, tab: this.#tab, locator, text });
      this.#note(response);
      if (response.result?.dialog) await this.#handleDialog(response.result.dialog);
      return response;
    } catch (failed) {
      if (failed.code !== "DIALOG_OPEN" || isRetry) throw failed;
      await this.#handleDialog(failed.failure.details ?? {});
      return this.call(action, params, { title, timeout, locator, text, isRetry: true });
    }
  }

  #note({ tab }) {
    if (this.#tab !== null || tab === undefined) return;
    this.#tab = tab;
    pagesByTab[tab] ??= this;
  }

  async #handleDialog(facts) {
    const listeners = this.#listeners.dialog ?? [];
    const dialog = new Dialog(this, facts);
    if (listeners.length === 0) return dialog.dismiss();
    for (const listener of [...listeners]) await listener(dialog);
  }

  on(event, listener) {
    (this.#listeners[event] ??= []).push(listener);
    return this;
  }

  addListener(event, listener) {
    return this.on(event, listener);
  }

  once(event, listener) {
    const once = (value) => {
      this.off(event, once);
      return listener(value);
    };
    return this.on(event, once);
  }

  off(event, listener) {
    this.#listeners[event] = (this.#listeners[event] ?? []).filter((one) => one !== listener);
    return this;
  }

  removeListener(event, listener) {
    return this.off(event, listener);
  }

  emit(event, value) {
    for (const listener of [...(this.#listeners[event] ?? [])]) listener(value);
  }

  context() {
    return browserContext;
  }

  url() {
    return (this.#tab === null ? tabs.find((one) => one.current) : tabs.find((one) => one.tab === this.#tab))?.url ?? "about:blank";
  }

  isClosed() {
    return this.#isClosed || (this.#tab !== null && tabs.length > 0 && !tabs.some((one) => one.tab === this.#tab));
  }

  mainFrame() {
    return this;
  }

  frames() {
    return [this];
  }

  video() {
    return null;
  }

  setDefaultTimeout(timeout) {
    this.timeouts.action = timeout;
  }

  setDefaultNavigationTimeout(timeout) {
    this.timeouts.navigation = timeout;
  }

  async #navigate(method, action, params, { waitUntil = "load", timeout } = {}) {
    const options = { title: `page.${method}`, timeout: timeoutOf(this, { timeout }, "navigation") };
    const { result } = await this.call(action, { ...params, wait_until: waitUntil }, options);
    return result.status === undefined ? null : new NavigationResponse(result);
  }

  goto(url, options) {
    return this.#navigate("goto", "navigate", { url: String(url) }, options);
  }

  reload(options) {
    return this.#navigate("reload", "reload", {}, options);
  }

  async #history(method, action, options) {
    try {
      return await this.#navigate(method, action, {}, options);
    } catch (error) {
      if (error.code === "BAD_ARGS" || error.code === "NOT_ACTIONABLE") return null;
      throw error;
    }
  }

  goBack(options) {
    return this.#history("goBack", "back", options);
  }

  goForward(options) {
    return this.#history("goForward", "forward", options);
  }

  async title() {
    return (await this.call("get", { what: "title" }, { title: "page.title" })).result.value;
  }

  content() {
    return evaluateIn(this, () => (document.doctype ? new XMLSerializer().serializeToString(document.doctype) : "") + document.documentElement.outerHTML, undefined, {}, { title: "page.content" });
  }

  async setContent(html, options = {}) {
    await evaluateIn(this, (text) => {
      document.open();
      document.write(text);
      document.close();
    }, html, {}, { ...options, title: "page.setContent" });
    await this.waitForLoadState(options.waitUntil ?? "load", options);
  }

  evaluate(expression, argument) {
    return evaluateIn(this, expression, argument, {}, { title: "page.evaluate" });
  }

  async evaluateHandle(expression, argument) {
    const value = await this.evaluate(expression, argument);
    return { jsonValue: async () => value, asElement: () => null, dispose: async () => {} };
  }

  $(selector) {
    return firstHandle(this.locator(selector));
  }

  $$(selector) {
    return this.locator(selector).elementHandles();
  }

  $eval(selector, expression, argument) {
    return this.locator(selector).first().evaluate(expression, argument);
  }

  $$eval(selector, expression, argument) {
    return this.locator(selector).evaluateAll(expression, argument);
  }

  async waitForSelector(selector, { state = "visible", timeout, strict = false } = {}) {
    const located = strict ? this.locator(selector) : this.locator(selector).first();
    await located.act("waitForSelector", "wait_for", { state }, { timeout, of: "page" });
    return state === "hidden" || state === "detached" ? null : located.elementHandle();
  }

  async waitForTimeout(time) {
    await new Promise((resolve) => addTimer(resolve, time, [], false));
  }

  async waitForLoadState(state = "load", options = {}) {
    await this.call("wait_for", { load: state }, { title: "page.waitForLoadState", timeout: timeoutOf(this, options, "navigation") });
  }

  async waitForURL(url, options = {}) {
    const matches = urlMatcher(url);
    await poll(`page.waitForURL`, timeoutOf(this, options, "navigation"), async () => matches(await currentUrl(this)), () => `waiting for navigation to ${showMatch(url)}; the page is at ${this.url()}`);
    if ((options.waitUntil ?? "load") !== "commit") await this.waitForLoadState(options.waitUntil ?? "load", options);
  }

  async waitForFunction(expression, argument, options = {}) {
    let value;
    await poll("page.waitForFunction", timeoutOf(this, options), async () => (value = await this.evaluate(expression, argument)), () => "waiting for the function to return a truthy value");
    return { jsonValue: async () => value };
  }

  async waitForNavigation(options = {}) {
    const before = await currentUrl(this);
    await poll("page.waitForNavigation", timeoutOf(this, options, "navigation"), async () => (await currentUrl(this)) !== before, () => "waiting for navigation");
    await this.waitForLoadState(options.waitUntil ?? "load", options);
    return null;
  }

  waitForEvent(event, options = {}) {
    const { predicate = () => true, timeout } = typeof options === "function" ? { predicate: options } : options;
    if (event === "popup") return waitForTab("page.waitForEvent", (one) => one.opener === this.tab, predicate, timeoutOf(this, { timeout }));
    if (event === "download") return this.#waitForDownload(timeout);
    const title = "page.waitForEvent";
    return new Promise((resolve, reject) => {
      const timer = addTimer(() => {
        this.off(event, listener);
        reject(assign(new TimeoutError(`${title}: Timeout ${timeoutOf(this, { timeout })}ms exceeded while waiting for event "${event}"`)));
      }, timeoutOf(this, { timeout }), [], false);
      const listener = (value) => {
        if (!predicate(value)) return;
        timers.delete(timer);
        this.off(event, listener);
        resolve(value);
      };
      this.on(event, listener);
    });
  }

  async #waitForDownload(timeout) {
    const { result } = await this.call("wait_for", { download: true }, { title: "page.waitForEvent", timeout: timeoutOf(this, { timeout }) });
    return new Download(result);
  }

  screenshot(options = {}) {
    return takeScreenshot(this, {}, options, "page.screenshot");
  }

  async pdf({ path, landscape, printBackground, scale, pageRanges, format } = {}) {
    const params = { output: path, landscape: landscape === true, background: printBackground === true, scale, pages: pageRanges, paper: format?.toLowerCase() };
    return (await this.call("pdf", withoutUndefined(params), { title: "page.pdf" })).result.path;
  }

  async setViewportSize({ width, height }) {
    await this.call("emulate", { viewport: `${width}x${height}` }, { title: "page.setViewportSize" });
    this.size = { width, height };
    defineProperty(this, "size", { enumerable: false });
  }

  viewportSize() {
    return this.size ?? null;
  }

  async emulateMedia({ colorScheme, media, reducedMotion, forcedColors } = {}) {
    const params = { color_scheme: colorScheme, media, reduced_motion: reducedMotion, forced_colors: forcedColors };
    await this.call("emulate", withoutUndefined(params), { title: "page.emulateMedia" });
  }

  async setExtraHTTPHeaders(headers) {
    await this.call("headers", { headers: entries(headers).map(([name, value]) => `${name}: ${value}`) }, { title: "page.setExtraHTTPHeaders" });
  }

  async addInitScript(script, argument) {
    const source = typeof script === "function" ? `(${functionSource(script)})(${stringify(argument)})` : typeof script === "string" ? script : script.content;
    await this.call("init_script", { verb: "add", script: source }, { title: "page.addInitScript" });
  }

  async addScriptTag({ content, url } = {}) {
    await this.evaluate(([text, address]) => new Promise((resolve, reject) => {
      const tag = document.createElement("script");
      if (address) Object.assign(tag, { src: address, onload: resolve, onerror: () => reject(new Error(`Failed to load script at ${address}`)) });
      else tag.text = text;
      document.head.append(tag);
      if (!address) resolve();
    }), [content ?? "", url ?? ""]);
  }

  async addStyleTag({ content } = {}) {
    await this.evaluate((text) => document.head.append(Object.assign(document.createElement("style"), { textContent: text })), content);
  }

  async bringToFront() {
    await this.call("tab_select", { id: this.#tab, foreground: true }, { title: "page.bringToFront" });
  }

  async close() {
    if (this.#isClosed) return;
    await this.call("tab_close", { id: this.#tab }, { title: "page.close" });
    this.#isClosed = true;
    this.emit("close", this);
  }

  async dragAndDrop(source, target, options) {
    return this.locator(source).dragTo(this.locator(target), options);
  }

  async pause() {}
}

/** `page.click(selector)` and the like are `page.locator(selector).click()`. */
for (const method of ["click", "dblclick", "hover", "tap", "fill", "type", "press", "check", "uncheck", "setChecked", "selectOption", "focus", "textContent", "innerText", "innerHTML", "getAttribute", "inputValue", "isVisible", "isHidden", "isEnabled", "isDisabled", "isEditable", "isChecked", "setInputFiles", "dispatchEvent"]) {
  defineProperty(Page.prototype, method, {
    configurable: true,
    writable: true,
    value(selector, ...rest) {
      return this.locator(selector)[method](...rest);
    },
  });
}

class NavigationResponse {
  #facts;

  constructor(facts) {
    this.#facts = facts;
  }

  url() {
    return this.#facts.url;
  }

  status() {
    return this.#facts.status;
  }

  ok() {
    return this.#facts.status === 0 || (this.#facts.status >= 200 && this.#facts.status <= 299);
  }
}

class Dialog {
  #page;
  #facts;

  constructor(page, facts) {
    this.#page = page;
    this.#facts = facts;
  }

  page() {
    return this.#page;
  }

  type() {
    return this.#facts.type ?? this.#facts.kind ?? "alert";
  }

  message() {
    return this.#facts.message ?? "";
  }

  defaultValue() {
    return this.#facts.default_text ?? this.#facts.default ?? "";
  }

  async accept(text) {
    await callAction("dialog", text === undefined ? { answer: "accept" } : { answer: "accept", text }, { title: "dialog.accept", tab: this.#page.tab });
  }

  async dismiss() {
    await callAction("dialog", { answer: "dismiss" }, { title: "dialog.dismiss", tab: this.#page.tab });
  }
}

class Download {
  #facts;

  constructor(facts) {
    this.#facts = facts;
  }

  suggestedFilename() {
    return this.#facts.name ?? String(this.#facts.path ?? "").split("/").at(-1);
  }

  url() {
    return this.#facts.url ?? "";
  }

  async path() {
    return this.#facts.path ?? null;
  }
}

function withoutUndefined(params) {
  return Object.fromEntries(entries(params).filter(([, value]) => value !== undefined));
}

/** Tries until the function returns something truthy. */
async function poll(title, timeout, attempt, describe) {
  const error = new TimeoutError("");
  const end = host.now() + timeout;
  for (let wait = 10; ; wait = Math.min(wait * 2, 200)) {
    if (await attempt()) return;
    if (host.now() >= end) throw withMessage(error, title, `Timeout ${timeout}ms exceeded.\nCall log:\n  - ${describe()}`);
    await new Promise((resolve) => addTimer(resolve, Math.min(wait, Math.max(0, end - host.now())), [], false));
  }
}

async function currentUrl(page) {
  return (await page.call("get", { what: "url" }, { title: "page.url" })).result.value;
}

/** A test of a URL: text or glob, pattern, or function. */
function urlMatcher(wanted) {
  if (typeof wanted === "function") return (url) => wanted(new ScriptURL(url));
  if (wanted instanceof RegExp) return (url) => wanted.test(url);
  const pattern = globPattern(String(wanted));
  return (url) => url === wanted || url === `${wanted}/` || pattern.test(url);
}

/** `**` is anything, `*` anything but a slash, `{a,b}` a choice. */
function globPattern(glob) {
  let source = "";
  let depth = 0;
  for (let at = 0; at < glob.length; at++) {
    const letter = glob[at];
    if (letter === "*" && glob[at + 1] === "*") {
      source += ".*";
      at += glob[at + 2] === "/" ? 2 : 1;
    } else if (letter === "*") source += "[^/]*";
    else if (letter === "{") {
      depth++;
      source += "(?:";
    } else if (letter === "}" && depth > 0) {
      depth--;
      source += ")";
    } else if (letter === "," && depth > 0) source += "|";
    else source += letter.replace(/[.+?^${}()|[\]\\]/, "\\$&");
  }
  return new RegExp(`^${source}$`);
}

/** Takes a screenshot; returns its bytes as text of base64 where they are asked for, else the path of the file. */
async function takeScreenshot(page, params, options, title) {
  const { path, fullPage, type, quality, timeout } = options;
  const asked = withoutUndefined({ output: path, full_page: fullPage, format: type === "jpg" ? "jpeg" : type, quality, original: true });
  const { result } = await page.call("screenshot", { ...params, ...asked }, { title, timeout: timeoutOf(page, { timeout }) });
  host.image(result.path);
  return { path: result.path, width: result.width, height: result.height };
}
