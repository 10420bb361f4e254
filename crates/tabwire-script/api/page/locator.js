// Locators: found anew for every action, and strict, as in Playwright.

const NO_TIMEOUT = 600000;
/** How long one wait in a frame takes. The frame may be replaced meanwhile, so it is looked up again then. */
const FRAME_WAIT = 500;
/** How long a frame is looked for when a method does not wait for elements. */
const FRAME_NOW = 200;

function timeoutOf(page, options, kind = "action") {
  const timeout = options?.timeout ?? page.timeouts[kind];
  return timeout === 0 ? NO_TIMEOUT : timeout;
}

class Locator extends Finder {
  #page;

  /** `owner` names the object whose method is called, in errors: `locator`, `page`, `frame`, `elementHandle`. */
  constructor(page, steps, text, owner = "locator") {
    super();
    this.#page = page;
    defineProperty(this, "steps", { value: freeze(steps) });
    defineProperty(this, "text", { value: text });
    defineProperty(this, "owner", { value: owner });
  }

  page() {
    return this.#page;
  }

  chain(steps, text) {
    return new Locator(this.#page, [...this.steps, ...steps], `${this.text}.${text}`);
  }

  /** The same elements, as another object's method names them in errors. */
  as(owner, isStrict = true) {
    return new Locator(this.#page, isStrict ? this.steps : [...this.steps, { nth: 0 }], this.text, owner);
  }

  toString() {
    return this.text;
  }

  [describeSymbol]() {
    return this.text;
  }

  get target() {
    const [only] = this.steps;
    return this.owner === "locator" && this.steps.length === 1 && only.ref !== undefined ? only.ref : `chain=${stringify(this.steps)}`;
  }

  first() {
    return this.chain([{ nth: 0 }], "first()");
  }

  last() {
    return this.chain([{ nth: -1 }], "last()");
  }

  /** The first match, as errors of `waitForSelector` name it. */
  firstAs(text) {
    return new Locator(this.#page, [...this.steps, { nth: 0 }], text, this.owner);
  }

  nth(index) {
    if (this.steps.at(-1)?.isCapture === true) return this.chain([{ problem: "Can't query n-th element in a request with the capture." }], `nth(${index})`);
    return this.chain([{ nth: index }], `nth(${index})`);
  }

  /** The steps of a locator that is combined with this one: without the frame that both are in. */
  #beside(other, text) {
    const last = other.steps.findLastIndex((step) => step.frame === true);
    if (last < 0) return other.steps;
    if (stringify(this.steps.slice(0, last + 1)) === stringify(other.steps.slice(0, last + 1))) return other.steps.slice(last + 1);
    return [{ problem: `Frame locators are not allowed inside composite locators, while querying "${this.text}.${text}"` }];
  }

  filter({ hasText, hasNotText, has, hasNot, visible } = {}) {
    for (const [name, inner] of entries({ has, hasNot })) {
      if (inner !== undefined && (inner.page() !== this.#page || inner.frameId !== this.frameId)) throw new Error(`Inner "${name}" locator must belong to the same frame.`);
    }
    const filter = {};
    if (hasText !== undefined) filter.hasText = toMatch(hasText);
    if (hasNotText !== undefined) filter.hasNotText = toMatch(hasNotText);
    const below = ({ steps }) => steps.filter((step) => step.frameId === undefined);
    if (has !== undefined) filter.has = below(has);
    if (hasNot !== undefined) filter.hasNot = below(hasNot);
    if (visible !== undefined) filter.visible = visible;
    return this.chain([{ filter }], `filter(${showOptions({ hasText, hasNotText, has, hasNot, visible })})`);
  }

  and(other) {
    const text = `and(${other})`;
    return this.chain([{ and: this.#beside(other, text) }], text);
  }

  or(other) {
    const text = `or(${other})`;
    return this.chain([{ or: this.#beside(other, text) }], text);
  }

  contentFrame() {
    return new FrameLocator(this, `${this.text}.contentFrame()`);
  }

  describe(description) {
    const made = new Locator(this.#page, this.steps, description, this.owner);
    defineProperty(made, "given", { value: description });
    return made;
  }

  description() {
    return this.given ?? null;
  }

  /** Runs an action on the one element. */
  act(method, action, params, options) {
    const title = `${options?.of ?? this.owner}.${options?.method ?? method}`;
    if (options?.signal?.aborted) return Promise.reject(abortedCall(new Error(""), title, options.signal.reason));
    return withSignal(this.#act(title, action, params, { ...options, isTrial: action === "ready" && options?.trial === true }), options?.signal, title, new Error(""));
  }

  /** Runs the action; again when the document was replaced before the element was found. */
  async #act(title, action, params, options) {
    const timeout = timeoutOf(this.#page, options);
    const end = host.now() + timeout;
    const given = { target: this.target, ...params };
    // A wait is split, so that the end of the frame is seen.
    const isWaiting = action === "wait_for" && (this.hasFrame || this.frameId !== undefined);
    for (let left = timeout; ; left = end - host.now()) {
      try {
        return await this.#page.call(action, given, { title, timeout: isWaiting ? Math.min(left, FRAME_WAIT) : left, locator: this, whole: timeout, isTrial: options.isTrial });
      } catch (error) {
        const isAbsent = isWaiting && (error.code === "TIMEOUT" || error.code === "SELECTOR_NOT_FOUND");
        if (isAbsent && error.failure.details?.frame === true && (params.state === "hidden" || params.state === "detached")) return null;
        if (error.message.includes("Frame was detached")) throw error;
        if ((isAbsent || error.code === "TARGET_GONE") && (await this.#isFrameGone())) throw withMessage(error, title, "Frame was detached");
        const isAgain = isAbsent || (error.code === "TARGET_GONE" && this.owner !== "elementHandle" && !this.#page.isClosed());
        if (!isAgain || host.now() >= end) throw error;
        if (!isAbsent) await pause(20);
      }
    }
  }

  /** Whether the frame that it was made in is gone. A result lists the frames. */
  async #isFrameGone() {
    if (this.frameId === undefined || this.#page.isClosed()) return false;
    await currentUrl(this.#page).catch(() => {});
    return frameById(this.#page, this.frameId).isDetached();
  }

  /** The frame that it was made in; undefined for the main frame. */
  get frameId() {
    return this.steps[0]?.frameId;
  }

  /** Whether the element is in a frame that the locator names. */
  get hasFrame() {
    return this.steps.some((step) => step.frame === true);
  }

  async #facts(method, facts, options, params = {}) {
    const isNow = (params.all === true || params.now === true) && this.hasFrame;
    try {
      const { result } = await this.act(method, "query", { facts, ...params }, isNow ? { ...options, timeout: FRAME_NOW } : options);
      return result;
    } catch (error) {
      if (isNow && error.failure?.details?.frame === true && WAITED_FOR.has(error.code)) return { total: 0, elements: [] };
      throw error;
    }
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
    return clickLocated(this, "click", options, options.clickCount ?? 1);
  }

  async dblclick(options = {}) {
    return clickLocated(this, "dblclick", options, 2);
  }

  /** An action at the point of the element that is no click. */
  async #point(method, purpose, options) {
    const { position, force, modifiers, trial = false } = options;
    const place = withoutUndefined({ position: position && [position.x, position.y], force });
    const isStill = isWithoutScroll(options);
    if (trial) return void (await this.act(method, "ready", { purpose, ...place, no_scroll: isStill }, options));
    if (isStill && method === "hover") {
      const { result } = await this.act(method, "ready", { purpose, ...place, no_scroll: true }, options);
      return this.#page.mouse.move(result.x, result.y);
    }
    const held = modifiers === undefined ? this.#page.keyboard.modifiers : modifierNames(modifiers);
    return void (await this.act(method, method, { ...place, modifiers: held }, options));
  }

  async hover(options = {}) {
    return this.#point("hover", "hover", options);
  }

  async tap(options = {}) {
    return this.#point("tap", "click", options);
  }

  async fill(value, options = {}) {
    if (typeof value !== "string") throw new Error(`${this.owner}.fill: value: expected string, got ${typeof value}`);
    return void (await this.act("fill", "fill", { value }, options));
  }

  clear(options = {}) {
    return this.fill("", { ...options, method: "clear" });
  }

  async pressSequentially(text, options = {}) {
    const title = `${this.owner}.${options.method ?? "pressSequentially"}`;
    await this.act(options.method ?? "pressSequentially", "ready", { purpose: "focus", reset: true }, options);
    await this.#page.keyboard.type(text, { delay: options.delay, title, timeout: timeoutOf(this.#page, options) });
  }

  type(text, options) {
    return this.pressSequentially(text, { ...options, method: "type" });
  }

  async press(key, options = {}) {
    await this.act("press", "ready", { purpose: "focus", reset: true }, options);
    await this.#page.keyboard.press(key, { delay: options.delay, title: `${this.owner}.press`, timeout: timeoutOf(this.#page, options) });
  }

  async #check(method, options) {
    const { position, force, trial = false } = options;
    if (trial) return void (await this.act(method, "ready", withoutUndefined({ purpose: "check", position: position && [position.x, position.y], force }), options));
    const isWanted = method === "setChecked" ? options.checked : method === "check";
    if (position !== undefined) return this.#checkAt(method, isWanted, options);
    return void (await this.act(method, isWanted ? "check" : "uncheck", { force: force === true }, options));
  }

  /** Clicks a point of a checkbox, if its state is not the wanted one. */
  async #checkAt(method, isWanted, options) {
    const isChecked = () => this.#fact(method, "checked", { timeout: options.timeout });
    if ((await isChecked()) === isWanted) return;
    await clickLocated(this, method, options, 1);
    if ((await isChecked()) !== isWanted) throw new Error(`${this.owner}.${method}: Clicking the checkbox did not change its state`);
  }

  async check(options = {}) {
    return this.#check("check", options);
  }

  async uncheck(options = {}) {
    return this.#check("uncheck", options);
  }

  async setChecked(checked, options = {}) {
    return this.#check("setChecked", { ...options, checked });
  }

  async selectOption(values, options = {}) {
    return selectOptions(this, values, options);
  }

  async focus(options = {}) {
    return void (await this.act("focus", "focus", {}, options));
  }

  async blur(options = {}) {
    return evaluateIn(this.#page, (element) => element.blur(), undefined, { target: this.target }, { ...options, title: `${this.owner}.blur`, locator: this });
  }

  async selectText(options = {}) {
    await this.act("selectText", "ready", { purpose: "text", force: options.force === true }, options);
    return evaluateIn(this.#page, (given) => {
      const element = given.closest("label")?.control ?? given;
      if (element.localName === "input" || element.localName === "textarea") {
        element.select();
        element.focus();
        return;
      }
      const range = element.ownerDocument.createRange();
      range.selectNodeContents(element);
      const selection = element.ownerDocument.defaultView.getSelection();
      selection.removeAllRanges();
      selection.addRange(range);
    }, undefined, { target: this.target }, { ...options, title: `${this.owner}.selectText`, locator: this });
  }

  async scrollIntoViewIfNeeded(options = {}) {
    await this.act("scrollIntoViewIfNeeded", "ready", { purpose: "reveal" }, options);
    return void (await this.act("scrollIntoViewIfNeeded", "scroll", {}, options));
  }

  async dragTo(target, options = {}) {
    const place = (point) => (point === undefined ? {} : { position: [point.x, point.y] });
    if (options.trial === true) {
      await this.act("dragTo", "ready", withoutUndefined({ purpose: "hover", force: options.force, ...place(options.sourcePosition) }), options);
      return void (await target.act("dragTo", "ready", withoutUndefined({ purpose: "hover", force: options.force, ...place(options.targetPosition) }), options));
    }
    const params = withoutUndefined({ to: target.target, force: options.force, steps: options.steps });
    if (options.sourcePosition) params.position = [options.sourcePosition.x, options.sourcePosition.y];
    if (options.targetPosition) params.to_position = [options.targetPosition.x, options.targetPosition.y];
    return void (await this.act("dragTo", "drag", params, options));
  }

  /** Drops files and data on the element, as if dragged from outside of the browser. */
  async drop({ files, data } = {}, options = {}) {
    const title = `${this.owner}.drop`;
    if (files === undefined && data === undefined) throw new Error(`${title}: At least one of "files" or "data" must be specified`);
    const sent = [];
    for (const file of files === undefined ? [] : Array.isArray(files) ? files : [files]) {
      if (typeof file !== "string") sent.push({ name: file.name, type: file.mimeType ?? "", bytes: toBase64(bytesOf(file.buffer)) });
      else sent.push({ name: file.split("/").at(-1), type: mimeTypeOf(file), bytes: (await callAction("file_read", { path: file }, { title })).result.base64 });
    }
    const { result } = await this.act("drop", "ready", withoutUndefined({ purpose: "hover", position: options.position && [options.position.x, options.position.y] }), options);
    const isTaken = await evaluateIn(this.#page, dropInPage, { files: sent, data: data ?? {}, x: result.x, y: result.y }, { target: this.target }, { ...options, title, locator: this });
    if (!isTaken) throw new Error(`${title}: Drop target did not accept the drop`);
  }

  async setInputFiles(files, options = {}) {
    return void (await this.act("setInputFiles", "set_files", fileParams(files), options));
  }

  async screenshot(options = {}) {
    return takeScreenshot(this.#page, { target: this.target }, options, `${this.owner}.screenshot`, this);
  }

  async waitFor({ state = "visible", timeout } = {}) {
    await this.act("waitFor", "wait_for", { state }, { timeout });
  }

  async dispatchEvent(type, init = {}, options = {}) {
    return evaluateIn(this.#page, (element, [name, data]) => {
      const kinds = [
        [/^(auxclick|click|dblclick|mouse(down|enter|leave|move|out|over|up|wheel))$/, "MouseEvent"],
        [/^key(down|press|up)$|^textInput$/, "KeyboardEvent"],
        [/^touch/, "TouchEvent"],
        [/^(pointer|gotpointer|lostpointer)/, "PointerEvent"],
        [/^(focus|blur)/, "FocusEvent"],
        [/^(drag|drop)/, "DragEvent"],
        [/^wheel$/, "WheelEvent"],
        [/^deviceorientation/, "DeviceOrientationEvent"],
        [/^devicemotion$/, "DeviceMotionEvent"],
      ];
      const kind = kinds.find(([pattern]) => pattern.test(name))?.[1] ?? "Event";
      const given = { bubbles: true, cancelable: true, composed: true, ...data };
      if (kind === "TouchEvent") for (const list of ["touches", "targetTouches", "changedTouches"]) if (given[list]) given[list] = given[list].map((touch) => (touch instanceof Touch ? touch : new Touch({ ...touch, target: touch.target ?? element })));
      const View = element.ownerDocument.defaultView ?? window;
      element.dispatchEvent(new View[kind](name, given));
    }, [type, init], { target: this.target }, { ...options, title: `${this.owner}.dispatchEvent`, locator: this });
  }

  evaluate(expression, argument, options = {}) {
    return evaluateIn(this.#page, expression, argument, { target: this.target }, { ...options, title: `${this.owner}.evaluate`, locator: this });
  }

  evaluateHandle(expression, argument, options = {}) {
    return handleIn(this.#page, expression, argument, { target: this.target }, { ...options, title: `${this.owner}.evaluateHandle`, locator: this });
  }

  async evaluateAll(expression, argument) {
    if (this.hasFrame && (await this.count()) === 0) return evaluateIn(this.#page, pairSource(expression), [[], argument], {}, { title: `${this.owner}.evaluateAll`, isFunction: true });
    return evaluateIn(this.#page, expression, argument, { target: this.target, all: true }, { title: `${this.owner}.evaluateAll`, locator: this });
  }

  /** Waits until a function of the element returns something true. */
  async waitForFunction(expression, argument, options = {}) {
    const title = `${this.owner}.waitForFunction`;
    const { signal } = options;
    const error = new TimeoutError("");
    if (signal?.aborted) throw abortedCall(new Error(""), title, signal.reason);
    const timeout = timeoutOf(this.#page, options);
    const end = host.now() + timeout;
    const until = async () => {
      for (let wait = 20; ; wait = Math.min(wait * 2, 100)) {
        const left = Math.max(1, end - host.now());
        if (signal?.aborted) return;
        const { result } = await evaluateCall(this.#page, expression, argument, { target: this.target }, { title, timeout: left, locator: this, whole: timeout });
        if (decodeValue(result.value)) return;
        if (host.now() >= end) throw withMessage(error, title, `Timeout ${timeout}ms exceeded.\nCall log:\n  - waiting for ${this}`);
        await pause(Math.min(wait, left));
      }
    };
    return withSignal(until(), signal, title, new Error(""));
  }

  async elementHandle(options = {}) {
    const { elements } = await this.#facts("elementHandle", ["html"], options, { refs: true });
    return elementHandleOf(this.#page, elements[0]);
  }

  async elementHandles() {
    const { elements } = await this.#facts("elementHandles", ["html"], {}, { all: true, refs: true });
    return elements.map((one) => elementHandleOf(this.#page, one));
  }

  async highlight() {}
}

/** Runs in the page: drags files and data over the element and drops them. */
function dropInPage(element, { files, data, x, y }) {
  const transfer = new DataTransfer();
  for (const { name, type, bytes } of files) transfer.items.add(new File([Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0))], name, { type }));
  for (const [type, text] of Object.entries(data)) transfer.setData(type, text);
  const send = (type) => element.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, composed: true, clientX: x, clientY: y, dataTransfer: transfer }));
  send("dragenter");
  const isTaken = !send("dragover");
  send(isTaken ? "drop" : "dragleave");
  return isTaken;
}

/** Selects options of a drop-down: by value, label, index or handle. Returns the values that are selected then. */
async function selectOptions(locator, values, options) {
  const page = locator.page();
  const title = `${locator.owner}.selectOption`;
  const list = (Array.isArray(values) ? values : values === null ? [] : [values]);
  for (const [at, one] of list.entries()) {
    if (one === null) throw new Error(`${title}: options[${at}]: expected object, got null`);
    if (one instanceof JSHandle || typeof one === "string") continue;
    if (typeof one !== "object") throw new Error(`${title}: options[${at}]: expected object, got ${typeof one}`);
    for (const name of ["value", "label"]) if (one[name] !== undefined && typeof one[name] !== "string") throw new Error(`${title}: options[${at}].${name}: expected string, got ${typeof one[name]}`);
    if (one.index !== undefined && typeof one.index !== "number") throw new Error(`${title}: options[${at}].index: expected integer, got ${typeof one.index}`);
  }
  const wanted = list.map((one) => (typeof one === "string" ? { either: one } : one instanceof ElementHandle ? { ref: one.handleFacts.ref } : one));
  const timeout = timeoutOf(page, options);
  const end = host.now() + timeout;
  for (let wait = 20; ; wait = Math.min(wait * 2, 200)) {
    const left = Math.max(1, end - host.now());
    const { result } = await locator.act("selectOption", "pick_options", { options: stringify(wanted), force: options.force === true }, { ...options, timeout: left });
    const { values: chosen, problem, isDisabled } = result;
    if (Array.isArray(chosen)) return chosen;
    if (problem !== undefined) throw withMessage(new Error(""), title, problem);
    const reason = isDisabled === true ? "option being selected is not enabled" : "did not find some options";
    if (host.now() >= end) throw withMessage(new TimeoutError(""), title, `Timeout ${timeout}ms exceeded.\nCall log:\n  - waiting for ${locator}\n    - ${reason}`);
    await pause(Math.min(wait, Math.max(1, end - host.now())));
  }
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
    return this.#owner.first().contentFrame();
  }

  last() {
    return this.#owner.last().contentFrame();
  }

  nth(index) {
    return this.#owner.nth(index).contentFrame();
  }
}
