// Frames of pages, in Playwright's form.

/** What is known of each page's frames: `[{id, parent, name, url}]`, parents first, and the objects by id. */
const framesByPage = new WeakMap();

function frameTable(page) {
  if (!framesByPage.has(page)) framesByPage.set(page, { list: [], objects: new Map() });
  return framesByPage.get(page);
}

/** Takes the frames that a result lists. */
function updateFrames(page, list) {
  frameTable(page).list = list;
}

/** The object of a frame; the main frame for null. */
function frameById(page, id) {
  const table = frameTable(page);
  const main = table.list.find((one) => one.parent === undefined)?.id ?? null;
  const key = id === null || id === main ? "main" : id;
  if (!table.objects.has(key)) table.objects.set(key, new Frame(page, key === "main" ? null : id));
  return table.objects.get(key);
}

class Frame extends Finder {
  #page;
  #id;

  constructor(page, id) {
    super();
    this.#page = page;
    this.#id = id;
  }

  get facts() {
    const { list } = frameTable(this.#page);
    return this.#id === null ? list.find((one) => one.parent === undefined) : list.find((one) => one.id === this.#id);
  }

  get isMain() {
    return this.#id === null;
  }

  get timeouts() {
    return this.#page.timeouts;
  }

  [describeSymbol]() {
    return `Frame { name: ${quoteText(this.name())}, url: ${quoteText(this.url())} }`;
  }

  /** The steps that lead into this frame. */
  get steps() {
    return this.isMain ? [] : [{ frameId: this.#id }];
  }

  chain(steps, text) {
    return new Locator(this.#page, [...this.steps, ...steps], text);
  }

  page() {
    return this.#page;
  }

  name() {
    return this.facts?.name ?? "";
  }

  url() {
    return this.isMain ? this.#page.url() : this.facts?.url ?? "";
  }

  isDetached() {
    return this.isMain ? this.#page.isClosed() : this.facts === undefined;
  }

  parentFrame() {
    const { facts } = this;
    return this.isMain || facts === undefined ? null : frameById(this.#page, facts.parent);
  }

  childFrames() {
    const own = this.facts?.id;
    return frameTable(this.#page).list.filter((one) => one.parent !== undefined && one.parent === own).map((one) => frameById(this.#page, one.id));
  }

  /** The parameter that runs a function in this frame. */
  get frameParams() {
    return this.isMain ? {} : { frame: this.#id };
  }

  get ownPage() {
    return this.#page;
  }

  get kind() {
    return "frame";
  }

  async evaluate(expression, argument, options) {
    const { exposeFunctions } = evaluateOptions(options);
    return evaluateIn(this.#page, expression, argument, this.frameParams, { title: "frame.evaluate", exposeFunctions });
  }

  async evaluateHandle(expression, argument, options) {
    const { exposeFunctions } = evaluateOptions(options);
    return handleIn(this.#page, expression, argument, this.frameParams, { title: "frame.evaluateHandle", exposeFunctions });
  }

  title() {
    return this.evaluate(() => document.title);
  }

  async goto(url, options = {}) {
    if (this.isMain) return this.#page.goto(url, options);
    const timeout = timeoutOf(this.#page, options, "navigation");
    const watch = watchNavigation(this.#page, this);
    try {
      const state = checkedLoadState(options.waitUntil ?? "load", "frame.goto", "waitUntil");
      const address = String(withBase(this.#page, String(url)));
      const params = { frame: this.#id, url: address, referer: checkedReferer(this.#page, options.referer, "frame.goto", address) };
      const end = host.now() + timeout;
      await this.#page.call("frame_goto", withoutUndefined(params), { title: "frame.goto", timeout, log: `navigating to "${url}", waiting until "${state}"` });
      await this.waitForLoadState(state, { timeout: Math.max(1, end - host.now()), title: "frame.goto", whole: timeout });
      return await watch.response();
    } finally {
      watch.end();
    }
  }

  async waitForLoadState(state = "load", options = {}) {
    if (this.isMain) return this.#page.waitForLoadState(state, options);
    const title = options.title ?? "frame.waitForLoadState";
    if (checkedLoadState(state, title, "state") === "commit") return;
    const timeout = timeoutOf(this.#page, options, "navigation");
    const end = host.now() + timeout;
    const isReached = async () => {
      if (this.isDetached()) throw new Error(`${title}: Frame was detached`);
      const ready = await this.evaluate(() => document.readyState).catch(() => "loading");
      return ready === "complete" || (state === "domcontentloaded" && ready === "interactive");
    };
    await poll(title, timeout, isReached, () => `waiting for the state "${state}"`);
    if (state === "networkidle") await waitForIdle(this.#page, { frame: this.#id }, { title, timeout: Math.max(1, end - host.now()), whole: options.whole ?? timeout });
  }

  async waitForURL(url, options = {}) {
    if (this.isMain) return this.#page.waitForURL(url, options);
    const matches = urlMatcher(url, this.#page);
    await poll("frame.waitForURL", timeoutOf(this.#page, options, "navigation"), async () => matches(await this.evaluate(() => location.href).catch(() => "about:blank")), () => `waiting for navigation to ${showMatch(url)}`);
    await this.waitForLoadState(options.waitUntil ?? "load", options);
  }

  async waitForSelector(selector, options) {
    return waitForHandle(this.locator(selector), options, "frame.waitForSelector");
  }

  waitForTimeout(time) {
    return this.#page.waitForTimeout(time);
  }

  waitForNavigation(options) {
    return waitForNavigated(this.#page, this, "frame.waitForNavigation", options);
  }

  async frameElement() {
    if (this.isDetached()) throw new Error("frame.frameElement: Frame has been detached.");
    const { result } = await this.#page.call("frame_element", { frame: this.#id ?? this.facts?.id ?? "" }, { title: "frame.frameElement" });
    return elementHandleOf(this.#page, result);
  }

  async $(selector, { strict = false } = {}) {
    return firstHandle(strict ? this.locator(selector) : this.locator(selector).first(), "frame.$", strict);
  }

  async $$(selector) {
    return this.locator(selector).elementHandles();
  }

  async $eval(selector, expression, argument, options) {
    evaluateOptions(options);
    return evaluateFirst(this.locator(selector), selector, expression, argument, "frame.$eval");
  }

  async $$eval(selector, expression, argument, options) {
    evaluateOptions(options);
    return this.locator(selector).evaluateAll(expression, argument);
  }

  dragAndDrop(source, target, options) {
    return this.locator(source).dragTo(this.locator(target), options);
  }
}

for (const method of ["click", "dblclick", "hover", "tap", "fill", "type", "press", "check", "uncheck", "setChecked", "selectOption", "focus", "textContent", "innerText", "innerHTML", "getAttribute", "inputValue", "isVisible", "isHidden", "isEnabled", "isDisabled", "isEditable", "isChecked", "setInputFiles", "dispatchEvent"]) {
  defineProperty(Frame.prototype, method, {
    configurable: true,
    writable: true,
    value(selector, ...rest) {
      return this.locator(selector).as("frame", rest.at(-1)?.strict === true)[method](...rest);
    },
  });
}

const framesOfPage = {
  mainFrame() {
    return frameById(this, null);
  },
  frames() {
    const { list } = frameTable(this);
    return list.length === 0 ? [this.mainFrame()] : list.map((one) => frameById(this, one.id));
  },
  frame(wanted) {
    const { name, url } = typeof wanted === "string" ? { name: wanted } : wanted;
    if (name === undefined && url === undefined) throw new Error("page.frame: Either name or url matcher should be specified");
    const matches = url === undefined ? null : urlMatcher(url, this);
    return this.frames().find((frame) => (name === undefined ? matches(frame.url()) : frame.name() === name)) ?? null;
  },
  workers() {
    return [...workersOf(this).values()];
  },
};
for (const [name, value] of entries(framesOfPage)) defineProperty(Page.prototype, name, { value, writable: true, configurable: true });

const framesOfElement = {
  /** The frame that the element belongs to; null for an element of no document that is shown. */
  async ownerFrame() {
    const kept = await this.evaluateHandle((node) => {
      const owner = node.nodeType === Node.DOCUMENT_NODE ? node : node.ownerDocument;
      return owner === document || owner.defaultView === null ? owner.defaultView && document.documentElement : owner.defaultView.frameElement;
    });
    const element = kept.asElement();
    if (element === null) return null;
    const isFrame = await element.evaluate((node) => node.localName === "iframe" || node.localName === "frame");
    return isFrame ? element.contentFrame() : frameById(this.handlePage, element.handleFacts.frame);
  },
  /** The frame that the element embeds; null for any other element. */
  async contentFrame() {
    const page = this.handlePage;
    const { result } = await page.call("frame_element", { target: this.located.target }, { title: "elementHandle.contentFrame" });
    return result.frame === null ? null : frameById(page, result.frame);
  },
};
for (const [name, value] of entries(framesOfElement)) defineProperty(ElementHandle.prototype, name, { value, writable: true, configurable: true });

/** Reports the frames below a frame as detached, the innermost first. */
function detachBelow(page, table, above) {
  for (const { id } of table.list.filter((one) => one.parent === above)) {
    detachBelow(page, table, id);
    const frame = frameById(page, id);
    table.list = table.list.filter((one) => one.id !== id);
    page.emit("framedetached", frame);
  }
}

function dispatchFrame(page, name, { frame: id, parent, name: title, url }) {
  const table = frameTable(page);
  const known = table.list.find((one) => one.id === id);
  const above = parent === null ? undefined : parent;
  // A new document has none of the frames of the one before.
  if (name === "framenavigated" && title !== undefined) detachBelow(page, table, id);
  if (name === "framedetached" && known === undefined && table.list.length > 0) return;
  if (name === "frameattached") {
    if (known === undefined) table.list.push({ id, parent: above, name: "", url: "" });
  } else if (name === "framenavigated") {
    // Only a new document has a name.
    const facts = { ...withoutUndefined({ name: title, url }), isSameDocument: title === undefined };
    if (known === undefined) table.list.push({ id, parent: above, name: "", url: "", ...facts });
    else assign(known, facts);
  }
  const frame = frameById(page, id);
  if (name === "framedetached") {
    const gone = new Set([id]);
    for (const one of table.list) if (gone.has(one.parent)) gone.add(one.id);
    table.list = table.list.filter((one) => !gone.has(one.id));
  }
  page.emit(name, frame);
}
