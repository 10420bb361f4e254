// Pages, in Playwright's form. A page is a tab of the session.

/** Pages by tab id, so that the same tab is the same object. */
const pagesByTab = { __proto__: null };
/** The session's tabs, as the last result listed them. */
let tabs = [];

class Page extends Finder {
  #tab;
  #isClosed = false;

  constructor(tab) {
    super();
    this.#tab = tab;
    defineProperty(this, "timeouts", { value: new TimeoutSettings(() => contextOf(this).timeouts) });
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
  async call(action, params, { title, timeout, locator, text = false, whole = timeout, log, isTrial = false } = {}) {
    const error = new Error("");
    if (this.#isClosed) throw withMessage(error, title, "Target page, context or browser has been closed");
    if (params.force !== true && hasLocatorHandlers(this, action)) return this.#callHandled(action, params, { title, timeout, locator, text, whole, log, isTrial });
    const response = await callAction(action, params, { title, timeout: timeout ?? DEFAULT_TIMEOUT, tab: this.#tab, locator, text, whole, log, isTrial });
    this.#note(response);
    return response;
  }

  /** Runs an action in parts, and the handlers of overlays before each. */
  async #callHandled(action, params, options) {
    const timeout = options.timeout ?? DEFAULT_TIMEOUT;
    const end = host.now() + timeout;
    for (;;) {
      await runLocatorHandlers(this, options.title, end, timeout);
      const left = Math.max(1, end - host.now());
      try {
        const response = await callAction(action, params, { ...options, timeout: Math.min(left, HANDLER_WAIT), tab: this.#tab, whole: options.whole ?? timeout });
        this.#note(response);
        if (response.result?.pass !== false || host.now() >= end) return response;
      } catch (error) {
        if (!WAITED_FOR.has(error.code) || host.now() >= end) throw error;
      }
    }
  }

  /** Makes a tab this page's, if it has none. */
  adopt(tab) {
    this.#note({ tab });
  }

  #note({ tab }) {
    if (this.#tab !== null || tab === undefined) return;
    this.#tab = tab;
    pagesByTab[tab] ??= this;
  }

  context() {
    return contextOf(this);
  }

  url() {
    return (this.#tab === null ? tabs.find((one) => one.current) : tabs.find((one) => one.tab === this.#tab))?.url ?? "about:blank";
  }

  isClosed() {
    return this.#isClosed || (this.#tab !== null && tabs.length > 0 && !tabs.some((one) => one.tab === this.#tab));
  }

  /** The page that opened this one. */
  async opener() {
    const opener = tabs.find((one) => one.tab === this.#tab)?.opener;
    const page = opener === undefined ? null : pagesByTab[opener] ?? null;
    return page === null || page.isClosed() ? null : page;
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
    const title = `page.${method}`;
    const state = checkedLoadState(waitUntil, title, "waitUntil");
    const log = params.url === undefined ? undefined : `navigating to "${params.url}", waiting until "${state}"`;
    const watch = watchNavigation(this, this.mainFrame(), action !== "navigate");
    const whole = timeoutOf(this, { timeout }, "navigation");
    const end = host.now() + whole;
    try {
      const { result } = await this.call(action, { ...params, wait_until: withoutIdle(state) }, { title, timeout: whole, log });
      if (state === "networkidle") await waitForIdle(this, {}, { title, timeout: Math.max(1, end - host.now()), whole, log });
      if (this.url().startsWith("data:")) return null;
      return result.status === undefined ? await watch.response() : await navigationResponse(this);
    } finally {
      watch.end();
    }
  }

  async goto(url, options = {}) {
    const address = String(withBase(this, String(url)));
    const params = { url: /^(data:|[a-z]+:\/\/[^\s/]+\/)/i.test(address) ? address.replaceAll(" ", "%20") : address };
    const granting = this.context().grantTo(this, address);
    // An `await` loses the place of the call, which errors show.
    if (granting !== null) await granting;
    return this.#navigate("goto", "navigate", withoutUndefined({ ...params, referer: checkedReferer(this, options.referer, "page.goto", params.url) }), options);
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

  async evaluate(expression, argument, options) {
    const { exposeFunctions } = evaluateOptions(options);
    return evaluateIn(this, expression, argument, {}, { title: "page.evaluate", exposeFunctions });
  }

  async evaluateHandle(expression, argument, options) {
    const { exposeFunctions } = evaluateOptions(options);
    return handleIn(this, expression, argument, {}, { title: "page.evaluateHandle", exposeFunctions });
  }

  async $(selector, { strict = false } = {}) {
    return firstHandle(strict ? this.locator(selector) : this.locator(selector).first(), "page.$", strict);
  }

  async $$(selector) {
    return this.locator(selector).elementHandles();
  }

  async $eval(selector, expression, argument, options) {
    evaluateOptions(options);
    return evaluateFirst(this.locator(selector), selector, expression, argument, "page.$eval");
  }

  async $$eval(selector, expression, argument, options) {
    evaluateOptions(options);
    return this.locator(selector).evaluateAll(expression, argument);
  }

  async waitForSelector(selector, options) {
    return waitForHandle(this.locator(selector), options, "page.waitForSelector");
  }

  async waitForTimeout(time) {
    await new Promise((resolve) => addTimer(resolve, time, [], false));
  }

  async waitForLoadState(state = "load", { title = "page.waitForLoadState", ...options } = {}) {
    const wanted = checkedLoadState(state, title, "state");
    const timeout = timeoutOf(this, options, "navigation");
    const end = host.now() + timeout;
    const whole = options.whole ?? timeout;
    await this.call("wait_for", { load: withoutIdle(wanted) }, { title, timeout, whole });
    if (wanted === "networkidle") await waitForIdle(this, {}, { title, timeout: Math.max(1, end - host.now()), whole });
  }

  async waitForURL(url, options = {}) {
    const matches = urlMatcher(url, this);
    await poll(`page.waitForURL`, timeoutOf(this, options, "navigation"), async () => matches(await currentUrl(this)), () => `waiting for navigation to ${showMatch(url)}; the page is at ${this.url()}`);
    if ((options.waitUntil ?? "load") !== "commit") await this.waitForLoadState(options.waitUntil ?? "load", options);
  }

  waitForNavigation(options = {}) {
    return waitForNavigated(this, this.mainFrame(), "page.waitForNavigation", options);
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
    this.noteSize({ width, height });
  }

  noteSize({ width, height }) {
    defineProperty(this, "size", { value: { width, height }, configurable: true });
  }

  viewportSize() {
    return this.size ?? null;
  }

  async emulateMedia({ colorScheme, media, reducedMotion, forcedColors, contrast } = {}) {
    const title = "page.emulateMedia";
    const read = (name, value, allowed, none) => {
      if (value === null) return "off";
      if (value !== undefined && !allowed.includes(value)) throw new Error(`${title}: ${name}: expected one of (${[...allowed, "no-override"].join("|")})`);
      return none.includes(value) ? "off" : value;
    };
    const params = {
      color_scheme: read("colorScheme", colorScheme, ["dark", "light", "no-preference"], ["no-preference"]),
      media: read("media", media, ["screen", "print"], []),
      reduced_motion: read("reducedMotion", reducedMotion, ["reduce", "no-preference"], []),
      forced_colors: read("forcedColors", forcedColors, ["active", "none"], []),
      contrast: read("contrast", contrast, ["no-preference", "more"], []),
    };
    await this.call("emulate", withoutUndefined(params), { title });
  }

  async setExtraHTTPHeaders(headers) {
    for (const [name, value] of entries(headers)) if (typeof value !== "string") throw new Error(`page.setExtraHTTPHeaders: Expected value of header "${name}" to be String, but "${typeof value}" is found.`);
    defineProperty(this, "addedHeaders", { value: headersObject(entries(headers)), configurable: true });
    await this.call("headers", { clear: true, headers: entries(headers).map(([name, value]) => `${name}: ${value}`) }, { title: "page.setExtraHTTPHeaders" });
  }

  async addInitScript(script, argument, { exposeFunctions = false } = {}) {
    const title = "page.addInitScript";
    if (exposeFunctions && typeof script !== "function") throw new Error(`${title}: Passing functions requires the init script to be a function`);
    const source = typeof script === "function" ? await initSource(this, script, argument, exposeFunctions) : typeof script === "string" ? script : script?.content;
    if (source === undefined && script?.path === undefined) throw new Error(`${title}: Either path or content property must be present`);
    if (script !== null && typeof script === "object" && argument !== undefined) throw new Error(`${title}: Cannot evaluate a string with arguments`);
    const given = source === undefined ? { file: String(script.path) } : { script: source };
    const { result } = await this.call("init_script", { verb: "add", ...given }, { title });
    const dispose = async () => void (await this.call("init_script", { verb: "remove", script: result.id }, { title: `${title}.dispose` }));
    return { dispose, [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]: dispose };
  }

  async bringToFront() {
    await this.call("tab_select", { id: this.#tab, foreground: true }, { title: "page.bringToFront" });
  }

  async close() {
    if (this.#isClosed) return;
    if (this.ownContext !== undefined) return this.ownContext.close();
    await this.call("tab_close", { id: this.#tab }, { title: "page.close" });
    this.closed();
  }

  /** The tab is gone. */
  closed() {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.emit("close", this);
  }

  async dragAndDrop(source, target, options) {
    return this.locator(source).dragTo(this.locator(target), options);
  }

  async pause() {}
}

/** `page.click(selector)` and the like are `page.locator(selector).first().click()`, or strict when asked. */
for (const method of ["click", "dblclick", "hover", "tap", "fill", "type", "press", "check", "uncheck", "setChecked", "selectOption", "focus", "textContent", "innerText", "innerHTML", "getAttribute", "inputValue", "isVisible", "isHidden", "isEnabled", "isDisabled", "isEditable", "isChecked", "setInputFiles", "dispatchEvent"]) {
  defineProperty(Page.prototype, method, {
    configurable: true,
    writable: true,
    value(selector, ...rest) {
      const isStrict = rest.at(-1)?.strict === true;
      return this.locator(selector).as("page", isStrict)[method](...rest);
    },
  });
}

/** The source of an init script. Functions in the argument become functions of the page that call the script's. */
async function initSource(page, script, argument, exposeFunctions) {
  if (!exposeFunctions) return `(${functionSource(script)})(${argument === undefined ? "undefined" : stringify(argument)})`;
  const names = [];
  const marked = stringify(argument, (key, value) => (typeof value === "function" ? { __tabwire_function: names.push(value) - 1 + passedFunctions } : value));
  const first = passedFunctions;
  passedFunctions += names.length;
  for (const [at, given] of names.entries()) await exposeBinding(page, "addInitScript", `__tabwire_function_${first + at}`, (source, ...values) => given(...values));
  return `(${functionSource(script)})(JSON.parse(${stringify(marked)}, (key, value) => (value && value.__tabwire_function !== undefined ? globalThis["__tabwire_function_" + value.__tabwire_function] : value)))`;
}

function withoutUndefined(params) {
  return Object.fromEntries(entries(params).filter(([, value]) => value !== undefined));
}

/** Notes the requests that navigate a frame, if asked for. */
function watchNavigation(page, frame, isOn = true) {
  let last = null;
  const note = (request) => {
    if (request.isNavigationRequest() && request.frame() === frame) last = request;
  };
  if (isOn) page.on("request", note);
  return { response: async () => (last === null ? null : last.response()), end: () => isOn && page.off("request", note) };
}

/** Waits until a frame shows another document or address. */
async function waitForNavigated(page, frame, title, { url, waitUntil = "load", timeout: given } = {}) {
  const timeout = timeoutOf(page, { timeout: given }, "navigation");
  const end = host.now() + timeout;
  const state = checkedLoadState(waitUntil, title, "waitUntil");
  const matches = url === undefined ? () => true : urlMatcher(url, page);
  const watch = watchNavigation(page, frame);
  const seen = [];
  const what = `navigation${url === undefined ? "" : ` to ${typeof url === "string" ? stringify(url) : showMatch(url)}`} until "${state}"`;
  try {
    const isMeant = (one) => {
      if (one !== frame) return false;
      if (seen.length < 20) seen.push(one.url());
      return matches(one.url());
    };
    try {
      await waitForEvent(page, title, "framenavigated", { timeout, predicate: isMeant }, what);
    } catch (error) {
      if (!(error instanceof TimeoutError)) throw error;
      throw withMessage(error, title, [`Timeout ${timeout}ms exceeded.`, `  - waiting for ${what}`, ...seen.map((one) => `    - navigated to "${one}"`)].join("\n"));
    }
    const isSameDocument = frame.facts?.isSameDocument === true;
    if (!isSameDocument && state !== "commit") await frame.waitForLoadState(state, { timeout: Math.max(1, end - host.now()), title });
    return isSameDocument ? null : await watch.response();
  } finally {
    watch.end();
  }
}

/** The load state that comes before a wait for the network. */
function withoutIdle(state) {
  return state === "networkidle" ? "load" : state;
}

/** Waits until a frame and those in it send no requests. */
async function waitForIdle(page, params, options) {
  await page.call("network_idle", params, options);
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

/** A URL or glob as seen from the `baseURL` of a page's context. */
function withBase(page, wanted) {
  const context = page instanceof Page ? page.context() : page;
  const base = context?.baseURL;
  if (base === undefined || typeof wanted !== "string" || /^(\*|[a-z][a-z0-9+.-]*:)/i.test(wanted)) return wanted;
  const { origin, pathname } = new ScriptURL(base);
  if (wanted.startsWith("/")) return `${origin}${wanted}`;
  return `${origin}${pathname.slice(0, pathname.lastIndexOf("/") + 1)}${wanted.replace(/^\.\//, "")}`;
}

/** The referer of a navigation. One that the added headers have too must be the same. */
function checkedReferer(page, referer, title, url) {
  if (referer === undefined) return undefined;
  const given = page.addedHeaders?.referer;
  if (given !== undefined && given !== referer) throw new Error(`${title}: "referer" is already specified as extra HTTP header\nCall log:\n  - navigating to "${url}"`);
  return String(referer);
}

/** A test of a URL: text or glob, pattern, or function. Text is seen from the `baseURL` of the page or context. */
function urlMatcher(given, owner = null) {
  const wanted = withBase(owner, given);
  if (typeof wanted === "function") return (url) => wanted(new ScriptURL(url));
  if (wanted instanceof RegExp) {
    // A pattern with `g` or `y` would go on where it stopped.
    const pattern = new RegExp(wanted.source, wanted.flags.replace(/[gy]/g, ""));
    return (url) => pattern.test(url);
  }
  const pattern = globPattern(String(wanted));
  return (url) => url === wanted || url === `${wanted}/` || pattern.test(url);
}

/** `**` is anything, `*` anything but a slash, `{a,b}` a choice. */
function globPattern(glob) {
  let source = "";
  let depth = 0;
  for (let at = 0; at < glob.length; at++) {
    const letter = glob[at];
    if (letter === "\\" && at + 1 < glob.length) source += glob[++at].replace(/[.+*?^${}()|[\]\\]/, "\\$&");
    else if (letter === "*" && glob[at + 1] === "*") {
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
  if (depth > 0) throw new Error(`Failed to parse glob "${glob}": unmatched '{'`);
  return new RegExp(`^${source}$`);
}

/** Checks the options of a screenshot, as Playwright does. */
function checkScreenshot({ type, quality, clip, fullPage }, title) {
  const check = (condition, problem) => {
    if (!condition) throw new Error(`${title}: ${problem}`);
  };
  check(type === undefined || ["png", "jpeg", "webp"].includes(type), `type: expected one of (png|jpeg|webp)`);
  if (quality !== undefined) {
    check(type === "jpeg" || type === "webp", `options.quality is unsupported for the ${type ?? "png"} screenshots`);
    check(typeof quality === "number", `Expected options.quality to be a number but found ${typeof quality}`);
    check(Number.isInteger(quality), "Expected options.quality to be an integer");
    check(quality >= 0 && quality <= 100, `Expected options.quality to be between 0 and 100 (inclusive), got ${quality}`);
  }
  if (clip === undefined) return;
  for (const side of ["width", "height"]) {
    check(clip[side] !== 0, `Expected options.clip.${side} not to be 0.`);
    check(clip[side] > 0, `Expected options.clip.${side} to be greater than 0.`);
  }
  check(fullPage !== true || clip !== undefined, "options.clip and options.fullPage are exclusive");
}

/** A colour as red, green, blue and opacity. */
function colorBytes(color) {
  const hex = /^#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/i.exec(color)?.[1];
  if (hex === undefined) throw new Error(`maskColor: expected a colour as #rgb or #rrggbb, got ${color}`);
  const long = hex.length < 5 ? Array.from(hex, (digit) => digit + digit).join("") : hex;
  return [0, 2, 4, 6].map((at) => (at < long.length ? Number.parseInt(long.slice(at, at + 2), 16) : 255));
}

/** Takes a screenshot; returns its bytes. The path and size of the file are properties of the result. */
async function takeScreenshot(page, params, options, title, locator = null) {
  const mimeType = options.type !== undefined || options.path === undefined || !/\.[a-z]+$/i.test(options.path) ? "image/png" : mimeTypeOf(options.path);
  if (!mimeType.startsWith("image/")) throw new Error(`${title}: path: unsupported mime type "${mimeType}"`);
  const type = options.type ?? /\.(png|jpe?g|webp)$/i.exec(options.path ?? "")?.[1].toLowerCase().replace("jpg", "jpeg");
  checkScreenshot({ ...options, type }, title);
  const { path, fullPage, quality, timeout, clip, mask, maskColor, style, animations, caret, omitBackground, scale } = options;
  const asked = withoutUndefined({
    output: path, full_page: fullPage === true, format: type, quality: type === "webp" ? undefined : quality, style,
    clip: clip && [clip.x, clip.y, clip.width, clip.height], mask: mask?.map((one) => one.target), mask_color: maskColor && colorBytes(maskColor),
    stop_animations: animations === "disabled", show_caret: caret === "initial", omit_background: omitBackground === true && type !== "jpeg", css_scale: scale === "css",
  });
  const { result } = await page.call("script_screenshot", { ...params, ...asked, force: path !== undefined }, { title, timeout: timeoutOf(page, { timeout }), locator });
  host.image(result.path);
  const bytes = ScriptBuffer.from(result.base64, "base64");
  const facts = { path: result.path, width: result.width, height: result.height };
  for (const [name, value] of entries(facts)) defineProperty(bytes, name, { value, configurable: true });
  defineProperty(bytes, describeSymbol, { value: () => inspect(facts), configurable: true });
  defineProperty(bytes, "toJSON", { value: () => facts, configurable: true });
  return bytes;
}
