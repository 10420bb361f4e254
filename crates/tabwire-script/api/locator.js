// Locators: found anew for every action, and strict, as in Playwright.

const NO_TIMEOUT = 600000;

function timeoutOf(page, options, kind = "action") {
  const timeout = options?.timeout ?? page.timeouts[kind] ?? page.timeouts.action ?? 30000;
  return timeout === 0 ? NO_TIMEOUT : timeout;
}

class Locator extends Finder {
  #page;

  constructor(page, steps, text) {
    super();
    this.#page = page;
    defineProperty(this, "steps", { value: freeze(steps) });
    defineProperty(this, "text", { value: text });
  }

  page() {
    return this.#page;
  }

  chain(steps, text) {
    return new Locator(this.#page, [...this.steps, ...steps], `${this.text}.${text}`);
  }

  toString() {
    return this.text;
  }

  [describeSymbol]() {
    return this.text;
  }

  get target() {
    const [only] = this.steps;
    return this.steps.length === 1 && only.ref !== undefined ? only.ref : `chain=${stringify(this.steps)}`;
  }

  first() {
    return this.chain([{ nth: 0 }], "first()");
  }

  last() {
    return this.chain([{ nth: -1 }], "last()");
  }

  nth(index) {
    return this.chain([{ nth: index }], `nth(${index})`);
  }

  filter({ hasText, hasNotText, has, hasNot, visible } = {}) {
    const filter = {};
    if (hasText !== undefined) filter.hasText = toMatch(hasText);
    if (hasNotText !== undefined) filter.hasNotText = toMatch(hasNotText);
    if (has !== undefined) filter.has = has.steps;
    if (hasNot !== undefined) filter.hasNot = hasNot.steps;
    if (visible !== undefined) filter.visible = visible;
    return this.chain([{ filter }], `filter(${showOptions({ hasText, hasNotText, has, hasNot, visible })})`);
  }

  and(other) {
    return this.chain([{ and: other.steps }], `and(${other})`);
  }

  or(other) {
    return this.chain([{ or: other.steps }], `or(${other})`);
  }

  contentFrame() {
    return new FrameLocator(this, `${this.text}.contentFrame()`);
  }

  describe() {
    return this;
  }

  /** Runs an action on the one element. */
  act(method, action, params, options) {
    return this.#page.call(action, { target: this.target, ...params }, { title: `${options?.of ?? "locator"}.${method}`, timeout: timeoutOf(this.#page, options), locator: this });
  }

  async #facts(method, facts, options, params = {}) {
    const { result } = await this.act(method, "query", { facts, ...params }, options);
    return result;
  }

  async #fact(method, fact, options, params) {
    const { elements } = await this.#facts(method, [fact], options, params);
    return elements[0]?.[fact];
  }

  async #all(method, fact) {
    const { elements } = await this.#facts(method, [fact], {}, { all: true });
    return elements.map((one) => one[fact]);
  }

  async count() {
    return (await this.#facts("count", [], {}, { all: true })).total;
  }

  async all() {
    const count = await this.count();
    return Array.from({ length: count }, (_, at) => this.nth(at));
  }

  allTextContents() {
    return this.#all("allTextContents", "text_content");
  }

  allInnerTexts() {
    return this.#all("allInnerTexts", "inner_text");
  }

  textContent(options) {
    return this.#fact("textContent", "text_content", options);
  }

  innerText(options) {
    return this.#fact("innerText", "inner_text", options);
  }

  innerHTML(options) {
    return this.#fact("innerHTML", "inner_html", options);
  }

  inputValue(options) {
    return this.#fact("inputValue", "input_value", options);
  }

  getAttribute(name, options) {
    return this.#fact("getAttribute", "attribute", options, { name });
  }

  boundingBox(options) {
    return this.#fact("boundingBox", "box", options);
  }

  isEnabled(options) {
    return this.#fact("isEnabled", "enabled", options);
  }

  isDisabled(options) {
    return this.#fact("isDisabled", "disabled", options);
  }

  isEditable(options) {
    return this.#fact("isEditable", "editable", options);
  }

  isChecked(options) {
    return this.#fact("isChecked", "checked", options);
  }

  async isVisible() {
    return (await this.#fact("isVisible", "visible", {}, { now: true })) ?? false;
  }

  async isHidden() {
    return !(await this.isVisible());
  }

  async click(options = {}) {
    return void (await this.act("click", options.trial ? "query" : "click", options.trial ? {} : pointing(options), options));
  }

  async dblclick(options = {}) {
    const { count: _, ...params } = pointing(options);
    return void (await this.act("dblclick", "dblclick", params, options));
  }

  async hover(options = {}) {
    const { count: _, button: __, ...params } = pointing(options);
    return void (await this.act("hover", "hover", params, options));
  }

  async tap(options = {}) {
    const { count: _, button: __, ...params } = pointing(options);
    return void (await this.act("tap", "tap", params, options));
  }

  async fill(value, options = {}) {
    if (typeof value !== "string") throw new TypeError(`${options.of ?? "locator"}.fill: value: expected string, got ${typeof value}`);
    return void (await this.act("fill", "fill", { value }, options));
  }

  clear(options = {}) {
    return this.fill("", options);
  }

  async pressSequentially(text, options = {}) {
    return void (await this.act("pressSequentially", "type", { text, slowly: (options.delay ?? 0) > 0 }, options));
  }

  type(text, options) {
    return this.pressSequentially(text, options);
  }

  async press(key, options = {}) {
    return void (await this.act("press", "press", { keys: [key] }, options));
  }

  async check(options = {}) {
    return void (await this.act("check", "check", { force: options.force === true }, options));
  }

  async uncheck(options = {}) {
    return void (await this.act("uncheck", "uncheck", { force: options.force === true }, options));
  }

  setChecked(checked, options) {
    return checked ? this.check(options) : this.uncheck(options);
  }

  async selectOption(values, options = {}) {
    const list = (Array.isArray(values) ? values : [values]).filter((value) => value !== null);
    const [first] = list;
    const by = typeof first === "object" ? Object.keys(first)[0] : undefined;
    const names = list.map((value) => (typeof value === "object" ? String(Object.values(value)[0]) : String(value)));
    await this.act("selectOption", "select", by === undefined ? { options: names } : { options: names, by }, options);
    return this.evaluate((select) => Array.from(select.selectedOptions, (option) => option.value));
  }

  async focus(options = {}) {
    return void (await this.act("focus", "focus", {}, options));
  }

  blur() {
    return this.evaluate((element) => element.blur());
  }

  selectText() {
    return this.evaluate((element) => (element.select ? element.select() : getSelection().selectAllChildren(element)));
  }

  async scrollIntoViewIfNeeded(options = {}) {
    return void (await this.act("scrollIntoViewIfNeeded", "scroll", {}, options));
  }

  async dragTo(target, options = {}) {
    const params = { to: target.target };
    if (options.sourcePosition) params.position = [options.sourcePosition.x, options.sourcePosition.y];
    if (options.targetPosition) params.to_position = [options.targetPosition.x, options.targetPosition.y];
    return void (await this.act("dragTo", "drag", params, options));
  }

  async setInputFiles(files, options = {}) {
    const list = Array.isArray(files) ? files : [files];
    if (list.some((file) => typeof file !== "string")) throw new Error("locator.setInputFiles: files from memory are not supported; give paths below the session's roots");
    return void (await this.act("setInputFiles", "upload", { files: list, any_kind: true }, options));
  }

  async screenshot(options = {}) {
    return takeScreenshot(this.#page, { target: this.target }, options, "locator.screenshot");
  }

  async waitFor({ state = "visible", timeout } = {}) {
    await this.act("waitFor", "wait_for", { state }, { timeout });
  }

  async dispatchEvent(type, init = {}) {
    return this.evaluate((element, [name, data]) => {
      const Kind = /^(click|dblclick|mouse)/.test(name) ? MouseEvent : /^key/.test(name) ? KeyboardEvent : /^drag|^drop/.test(name) ? DragEvent : /^(input|beforeinput)/.test(name) ? InputEvent : /^focus|^blur/.test(name) ? FocusEvent : Event;
      element.dispatchEvent(new Kind(name, { bubbles: true, cancelable: true, composed: true, ...data }));
    }, [type, init]);
  }

  evaluate(expression, argument, options = {}) {
    return evaluateIn(this.#page, expression, argument, { target: this.target }, { ...options, title: "locator.evaluate", locator: this });
  }

  evaluateAll(expression, argument) {
    return evaluateIn(this.#page, expression, argument, { target: this.target, all: true }, { title: "locator.evaluateAll", locator: this });
  }

  async elementHandle(options = {}) {
    const { elements } = await this.#facts("elementHandle", [], options, { refs: true });
    return new ElementHandle(this.#page, elements[0].ref);
  }

  async elementHandles() {
    const { elements } = await this.#facts("elementHandles", [], {}, { all: true, refs: true });
    return elements.map((one) => new ElementHandle(this.#page, one.ref));
  }

  async ariaSnapshot() {
    const { result } = await this.#page.call("snapshot", { within: this.target, full: true }, { title: "locator.ariaSnapshot", text: true, locator: this });
    return result;
  }

  async highlight() {}
}

/** An element of one document, by its ref. */
class ElementHandle extends Locator {
  constructor(page, reference) {
    super(page, [{ ref: reference }], `elementHandle(${reference})`);
    defineProperty(this, "reference", { value: reference });
  }

  async $(selector) {
    return firstHandle(this.locator(selector));
  }

  async $$(selector) {
    return this.locator(selector).elementHandles();
  }

  asElement() {
    return this;
  }

  async dispose() {}
}

/** The handle of the first match, or null. */
async function firstHandle(locator) {
  const { result } = await locator.page().call("query", { target: locator.target, refs: true, now: true, first: true }, { title: "page.$" });
  return result.elements.length === 0 ? null : new ElementHandle(locator.page(), result.elements[0].ref);
}

/** The options of a click as parameters of the action. */
function pointing({ button, clickCount, modifiers, position, force } = {}) {
  const params = {};
  if (button !== undefined) params.button = button;
  if (clickCount !== undefined) params.count = clickCount;
  if (modifiers !== undefined) params.modifiers = modifiers.map((key) => (key === "ControlOrMeta" ? "control" : key.toLowerCase()));
  if (position !== undefined) params.position = [position.x, position.y];
  if (force !== undefined) params.force = force;
  return params;
}

/** Runs a function in the page. Functions travel as their source. */
async function evaluateIn(page, expression, argument, params, options) {
  const source = typeof expression === "function" ? functionSource(expression) : String(expression);
  const { result } = await page.call("evaluate", { expression: source, argument: stringify(encodeValue(argument)), ...params }, { ...options, timeout: timeoutOf(page, options) });
  return decodeValue(result.value);
}

/** The source of a function as an expression; a method `f() {}` needs the word `function`. */
function functionSource(given) {
  const source = Function.prototype.toString.call(given);
  if (/^(async\s+)?function\b|^(async\s*)?\(|^(async\s+)?[\w$]+\s*=>/.test(source)) return source;
  return source.startsWith("async ") ? `async function ${source.slice(6)}` : `function ${source}`;
}

/** The inside of a frame: locators below it enter the frame first. */
class FrameLocator extends Finder {
  #owner;
  #text;

  constructor(owner, text) {
    super();
    this.#owner = owner;
    this.#text = text;
  }

  chain(steps, text) {
    return new Locator(this.#owner.page(), [...this.#owner.steps, { frame: true }, ...steps], `${this.#text}.${text}`);
  }

  owner() {
    return this.#owner;
  }

  first() {
    return new FrameLocator(this.#owner.first(), `${this.#text}.first()`);
  }

  last() {
    return new FrameLocator(this.#owner.last(), `${this.#text}.last()`);
  }

  nth(index) {
    return new FrameLocator(this.#owner.nth(index), `${this.#text}.nth(${index})`);
  }
}
