// Keyboard and mouse of a page. Held keys and buttons are kept here; the engine sends the events.

const MODIFIER_KEYS = { Alt: "alt", AltLeft: "alt", AltRight: "alt", Control: "control", ControlLeft: "control", ControlRight: "control", Meta: "meta", MetaLeft: "meta", MetaRight: "meta", Shift: "shift", ShiftLeft: "shift", ShiftRight: "shift", ControlOrMeta: "control" };

/** Names of modifiers as the engine has them. */
function modifierNames(given = []) {
  return given.map((key) => {
    const name = MODIFIER_KEYS[key];
    if (name === undefined) throw new Error(`modifiers: expected one of (Alt|Control|ControlOrMeta|Meta|Shift), got ${key}`);
    return name;
  });
}

/** Splits `Control+Shift+a`; a `+` alone or at the end is the key itself. */
function splitKeys(text) {
  const keys = [];
  let part = "";
  for (const letter of text) {
    if (letter === "+" && part !== "") {
      keys.push(part);
      part = "";
    } else part += letter;
  }
  keys.push(part);
  return keys;
}

const pause = (time) => new Promise((resolve) => addTimer(resolve, time, [], false));

class Keyboard {
  #page;
  #held = new Set();
  #pressed = new Set();

  constructor(page) {
    this.#page = page;
  }

  /** Modifiers that are held, for clicks. */
  get modifiers() {
    return [...new Set([...this.#held].map((key) => MODIFIER_KEYS[key]))];
  }

  async #send(events, title, options) {
    await this.#page.call("input", { events: stringify(events) }, { title, ...options });
  }

  /** The event that presses a key. */
  #down(key) {
    if (MODIFIER_KEYS[key] !== undefined) this.#held.add(key);
    const repeat = this.#pressed.has(key);
    this.#pressed.add(key);
    return { type: "key_down", key, modifiers: this.modifiers, repeat };
  }

  #up(key) {
    this.#held.delete(key);
    this.#pressed.delete(key);
    return { type: "key_up", key, modifiers: this.modifiers };
  }

  async down(key, title = "keyboard.down") {
    const wasHeld = this.#held.has(key);
    try {
      await this.#send([this.#down(key)], title);
    } catch (error) {
      if (!wasHeld) this.#held.delete(key);
      this.#pressed.delete(key);
      throw error;
    }
  }

  async up(key, title = "keyboard.up") {
    await this.#send([this.#up(key)], title);
  }

  async press(given, { delay = 0, title = "keyboard.press", timeout } = {}) {
    const keys = splitKeys(given === "\n" || given === "\r" ? "Enter" : given);
    const key = keys.pop();
    const modifiers = keys.map((one) => (one === "ControlOrMeta" ? "Control" : one));
    const before = modifiers.map((one) => this.#down(one));
    const down = [...before, this.#down(key === "ControlOrMeta" ? "Control" : key)];
    const up = [this.#up(key === "ControlOrMeta" ? "Control" : key), ...modifiers.reverse().map((one) => this.#up(one))];
    if (delay === 0) return this.#send([...down, ...up], title, { timeout });
    await this.#send(down, title, { timeout });
    await pause(delay);
    await this.#send(up, title, { timeout });
  }

  async type(text, { delay = 0, title = "keyboard.type", timeout } = {}) {
    if (typeof text !== "string") throw new Error(`${title}: text: expected string, got ${typeof text}`);
    if (delay === 0) {
      for (const part of text.match(/[\s\S]{1,500}/gu) ?? []) await this.#send([{ type: "type", text: part, modifiers: this.modifiers }], title, { timeout });
      return;
    }
    for (const letter of text) {
      await this.#send([{ type: "type", text: letter, modifiers: this.modifiers }], title, { timeout });
      await pause(delay);
    }
  }

  async insertText(text) {
    await this.#send([{ type: "insert", text }], "keyboard.insertText");
  }
}

class Mouse {
  #page;
  #place = { x: 0, y: 0 };

  constructor(page) {
    this.#page = page;
  }

  get #modifiers() {
    return this.#page.keyboard.modifiers;
  }

  async #send(events, title, options) {
    await this.#page.call("input", { events: stringify(events) }, { title: `mouse.${title}`, ...options });
  }

  #moves(x, y, steps = 1) {
    const from = this.#place;
    this.#place = { x, y };
    const at = (step) => ({ type: "move", x: from.x + ((x - from.x) * step) / steps, y: from.y + ((y - from.y) * step) / steps, modifiers: this.#modifiers });
    return Array.from({ length: steps }, (_, step) => at(step + 1));
  }

  /** Where a click left the mouse. */
  setPlace(place) {
    this.#place = place;
  }

  async move(x, y, { steps = 1 } = {}) {
    const events = this.#moves(x, y, steps);
    for (let at = 0; at < events.length; at += 500) await this.#send(events.slice(at, at + 500), "move");
  }

  async down({ button = "left", clickCount = 1 } = {}) {
    await this.#send([{ type: "down", button, count: clickCount, modifiers: this.#modifiers }], "down");
  }

  async up({ button = "left", clickCount = 1 } = {}) {
    await this.#send([{ type: "up", button, count: clickCount, modifiers: this.#modifiers }], "up");
  }

  async click(x, y, { button = "left", clickCount = 1, delay = 0, steps = 1, modifiers = this.#modifiers, title = "click" } = {}) {
    const start = this.#moves(x, y, steps).map((event) => ({ ...event, modifiers }));
    const turns = Array.from({ length: clickCount }, (_, at) => [{ type: "down", button, count: at + 1, modifiers }, { type: "up", button, count: at + 1, modifiers }]);
    if (delay === 0) return this.#send([...start, ...turns.flat()], title);
    await this.#send(start, title);
    for (const [at, [down, up]] of turns.entries()) {
      await this.#send([down], title);
      await pause(delay);
      await this.#send([up], title);
      if (at < turns.length - 1) await pause(delay);
    }
  }

  async dblclick(x, y, options = {}) {
    await this.click(x, y, { ...options, clickCount: 2 });
  }

  async wheel(deltaX, deltaY) {
    await this.#send([{ type: "wheel", x: deltaX, y: deltaY, modifiers: this.#modifiers }], "wheel");
  }
}

/** Whether an action must not scroll: `scroll: "none"`. */
function isWithoutScroll({ scroll }) {
  if (scroll !== undefined && scroll !== "auto" && scroll !== "none") throw new Error(`scroll: expected one of (auto|none)`);
  return scroll === "none";
}

/** Clicks the one element of a locator: by the engine, or event by event where time passes between them. */
async function clickLocated(locator, method, options, count) {
  const page = locator.page();
  const { button, modifiers, position, force, delay = 0, trial = false, steps } = options;
  const held = modifiers === undefined ? page.keyboard.modifiers : modifierNames(modifiers);
  const isStill = isWithoutScroll(options);
  const ready = withoutUndefined({ purpose: "click", position: position && [position.x, position.y], force, no_scroll: isStill });
  if (trial) return void (await locator.act(method, "ready", ready, options));
  if (delay === 0 && count >= 1 && count <= 3 && steps === undefined && !isStill) {
    const params = withoutUndefined({ button, count, modifiers: held, position: position && [position.x, position.y], force });
    return void (await locator.act(method, "click", params, options));
  }
  const { result } = await locator.act(method, "ready", ready, options);
  await page.mouse.click(result.x, result.y, { button, clickCount: count, delay, steps, modifiers: held, title: method });
}
