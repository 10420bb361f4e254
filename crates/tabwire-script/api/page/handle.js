// Handles: objects of the page that a script keeps, and elements of one document.

/** Numbers of handles that are no longer needed; the next call releases them. */
const releasedHandles = [];

/** An object of the page. */
class JSHandle {
  #page;
  #facts;
  #isDisposed = false;

  /** `facts` are `{ id, preview, frame, ref }`, or `{ value }` for a value without an object. */
  constructor(page, facts) {
    this.#page = page;
    this.#facts = facts;
  }

  get handlePage() {
    return this.#page;
  }

  get handleFacts() {
    return this.#facts;
  }

  /** How `evaluate` names the object. */
  get reference() {
    if (this.#isDisposed) throw new Error("JSHandle is disposed!");
    return this.#facts.id === undefined ? this.#facts.ref : String(this.#facts.id);
  }

  get isPlainValue() {
    return "value" in this.#facts;
  }

  [describeSymbol]() {
    return this.toString();
  }

  toString() {
    if (this.isPlainValue) return display(this.#facts.value);
    return this.#facts.ref === undefined ? (this.#facts.preview ?? "JSHandle@object") : `JSHandle@${this.#facts.preview ?? "node"}`;
  }

  #params(title) {
    if (this.#isDisposed) throw withMessage(new Error(""), title, "JSHandle is disposed!");
    return this.isPlainValue ? {} : { this: this.reference };
  }

  async evaluate(expression, argument, { exposeFunctions } = {}) {
    const title = `${this.kind}.evaluate`;
    if (this.isPlainValue) return evaluateIn(this.#page, pairSource(expression), [this.#facts.value, argument], this.#frame(), { title, isFunction: true });
    return evaluateIn(this.#page, expression, argument, this.#params(title), { title, exposeFunctions });
  }

  async evaluateHandle(expression, argument, { exposeFunctions } = {}) {
    const title = `${this.kind}.evaluateHandle`;
    if (this.isPlainValue) return handleIn(this.#page, pairSource(expression), [this.#facts.value, argument], this.#frame(), { title, isFunction: true });
    return handleIn(this.#page, expression, argument, this.#params(title), { title, exposeFunctions });
  }

  #frame() {
    const { frame, worker } = this.#facts;
    return withoutUndefined({ frame: worker === undefined ? frame : undefined, worker });
  }

  get kind() {
    return "jsHandle";
  }

  async getProperty(name) {
    const params = { ...this.#params("jsHandle.getProperty"), as_is: true };
    return handleIn(this.#page, "(object, name) => object[name]", name, params, { title: "jsHandle.getProperty", isFunction: true });
  }

  async getProperties() {
    const names = await evaluateIn(this.#page, "(object) => Object.keys(Object(object))", undefined, this.#params("jsHandle.getProperties"), { title: "jsHandle.getProperties", isFunction: true });
    const found = new Map();
    for (const name of names) found.set(name, await this.getProperty(name));
    return found;
  }

  async jsonValue() {
    if (this.isPlainValue) return this.#facts.value;
    return evaluateIn(this.#page, "(object) => object", undefined, this.#params("jsHandle.jsonValue"), { title: "jsHandle.jsonValue", isFunction: true });
  }

  asElement() {
    return null;
  }

  async dispose() {
    if (!this.#isDisposed && this.#facts.id !== undefined) releasedHandles.push(this.#facts.id);
    this.#isDisposed = true;
  }

  async [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]() {
    await this.dispose();
  }
}

/** The source of a function that takes the value and the argument as a pair. */
function pairSource(expression) {
  return `([value, argument]) => (${sourceOf(expression)})(value, argument)`;
}

/** An element of one document. */
class ElementHandle extends JSHandle {
  #locator = null;

  get kind() {
    return "elementHandle";
  }

  /** The locator of this one element, for actions. */
  get located() {
    this.#locator ??= new Locator(this.handlePage, [{ ref: this.handleFacts.ref }], this.toString(), "elementHandle");
    return this.#locator;
  }

  asElement() {
    return this;
  }

  page() {
    return this.handlePage;
  }

  get target() {
    return this.located.target;
  }

  async $(selector) {
    return firstHandle(this.located.locator(selector), "elementHandle.$");
  }

  async $$(selector) {
    return this.located.locator(selector).elementHandles();
  }

  $eval(selector, expression, argument) {
    return evaluateFirst(this.located.locator(selector), selector, expression, argument, "elementHandle.$eval");
  }

  $$eval(selector, expression, argument) {
    return this.located.locator(selector).evaluateAll(expression, argument);
  }

  async waitForSelector(selector, options) {
    return waitForHandle(this.located.locator(selector), options, "elementHandle.waitForSelector");
  }

  async waitForElementState(state, options = {}) {
    if (state === "stable") return void (await this.located.act("waitForElementState", "ready", { purpose: "stable" }, options));
    return void (await this.located.act("waitForElementState", "wait_for", { state }, options));
  }

  type(text, options) {
    return this.located.pressSequentially(text, { ...options, method: "type" });
  }

  async isVisible() {
    return this.located.isVisible();
  }
}

for (const method of ["click", "dblclick", "hover", "tap", "fill", "press", "check", "uncheck", "setChecked", "selectOption", "selectText", "focus", "scrollIntoViewIfNeeded", "setInputFiles", "screenshot", "dispatchEvent", "textContent", "innerText", "innerHTML", "inputValue", "getAttribute", "boundingBox", "isHidden", "isEnabled", "isDisabled", "isEditable", "isChecked"]) {
  defineProperty(ElementHandle.prototype, method, {
    configurable: true,
    writable: true,
    value(...given) {
      return this.located[method](...given);
    },
  });
}

/** The handle of what `evaluate` kept. */
function toHandle(page, result, { frame, worker }) {
  const { handle, value } = result;
  if (handle === undefined) return new JSHandle(page, { value: decodeValue(value, page), frame, worker });
  return handle.ref === undefined ? new JSHandle(page, handle) : new ElementHandle(page, handle);
}

/** The handle of the first match, or null. */
async function firstHandle(locator, title, isStrict = false) {
  try {
    const { result } = await locator.page().call("query", { target: locator.target, facts: ["html"], refs: true, now: true, first: !isStrict }, { title, timeout: locator.hasFrame ? FRAME_NOW : undefined, locator });
    return result.elements.length === 0 ? null : elementHandleOf(locator.page(), result.elements[0]);
  } catch (error) {
    if (locator.hasFrame && error.failure?.details?.frame === true && WAITED_FOR.has(error.code)) return null;
    throw error;
  }
}

function elementHandleOf(page, { ref, html }) {
  return new ElementHandle(page, { ref, preview: html });
}

/** Runs a function with the first match, which must be there now. */
async function evaluateFirst(locator, selector, expression, argument, title) {
  try {
    return await evaluateIn(locator.page(), expression, argument, { target: locator.first().target, now: true }, { title, timeout: locator.hasFrame ? FRAME_NOW : undefined });
  } catch (error) {
    if (error.code !== "SELECTOR_NOT_FOUND" && error.failure?.details?.frame !== true) throw error;
    throw withMessage(new Error(""), title, `Failed to find element matching selector "${selector}"`);
  }
}

async function waitForHandle(locator, { state = "visible", timeout, strict = false, ...rest } = {}, title) {
  if (rest.visibility !== undefined) throw new Error("options.visibility is not supported, did you mean options.state?");
  if (rest.waitFor !== undefined && rest.waitFor !== "visible") throw new Error("options.waitFor is not supported, did you mean options.state?");
  if (!["attached", "detached", "visible", "hidden"].includes(state)) throw new Error(`state: expected one of (attached|detached|visible|hidden)`);
  const located = strict ? locator : locator.firstAs(locator.text);
  const [of, method] = title.split(".");
  await located.act(method, "wait_for", { state }, { timeout, of });
  if (state === "hidden" || state === "detached") return null;
  return located.elementHandle({ timeout, of, method });
}

/** Runs a function in the page. Functions travel as their source. */
async function evaluateIn(page, expression, argument, params, options) {
  const { result } = await evaluateCall(page, expression, argument, params, options);
  return decodeValue(result.value, page);
}

/** Runs a function in the page and keeps what it returns. */
async function handleIn(page, expression, argument, params, options) {
  const { result } = await evaluateCall(page, expression, argument, { ...params, keep: true }, options);
  return toHandle(page, result, params);
}

/** How many functions scripts have passed to pages. */
let passedFunctions = 0;

/** Runs a function in the page. With `exposeFunctions`, the page can call functions in the argument. */
async function evaluateWithFunctions(page, expression, argument, params, options) {
  const handles = assign([], { functions: [], firstFunction: passedFunctions });
  const data = encodeValue(argument, new Map(), handles, options.title);
  passedFunctions += handles.functions.length;
  for (const [at, given] of handles.functions.entries()) await exposeBinding(page, "evaluate", `__tabwire_function_${handles.firstFunction + at}`, (source, ...values) => given(...values));
  return evaluateCall(page, expression, argument, params, { ...options, exposeFunctions: false, encoded: { data, handles } });
}

/** The options of a function in the page. A second argument in their place is refused. */
function evaluateOptions(given) {
  if (given === undefined || (given !== null && typeof given === "object" && Object.keys(given).every((name) => ["exposeFunctions", "timeout", "signal"].includes(name)))) return given ?? {};
  throw new Error("Too many arguments. If you need to pass more than 1 argument to the function wrap them in an object.");
}

function evaluateCall(page, expression, argument, params, options) {
  if (options.exposeFunctions === true) return evaluateWithFunctions(page, expression, argument, params, options);
  const handles = options.encoded?.handles ?? [];
  const data = options.encoded?.data ?? encodeValue(argument, new Map(), handles, options.title);
  const isFunction = typeof expression === "function" || options.isFunction === true;
  const release = releasedHandles.splice(0);
  const given = { expression: isFunction ? sourceOf(expression) : String(expression), is_function: isFunction, argument: stringify(data), ...params };
  if (handles.length > 0) given.handles = [...handles];
  if (release.length > 0) given.release = release;
  return page.call("evaluate", given, { ...options, timeout: options.timeout === undefined && options.locator === undefined ? NO_TIMEOUT : timeoutOf(page, options) });
}

function sourceOf(expression) {
  return typeof expression === "function" ? functionSource(expression) : String(expression);
}

/** The source of a function as an expression; a method `f() {}` needs the word `function`. */
function functionSource(given) {
  const source = Function.prototype.toString.call(given);
  if (/\[native code\]\s*\}$/.test(source)) throw new Error("Passed function is not well-serializable!");
  if (/^(async\s+)?function\b|^(async\s*)?\(|^(async\s+)?[\w$]+\s*=>|^class\b/.test(source)) return source;
  return source.startsWith("async ") ? `async function ${source.slice(6)}` : `function ${source}`;
}
