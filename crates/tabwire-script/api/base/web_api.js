// What scripts expect of their environment besides the language: timers, console, URL, text encoding.

const MOST_TIMERS = 10000;
const timers = new Map();
let lastTimer = 0;

function addTimer(callback, delay, args, isRepeated) {
  if (typeof callback !== "function") throw new TypeError("The callback of a timer must be a function.");
  if (timers.size >= MOST_TIMERS) throw new RangeError(`A script has at most ${MOST_TIMERS} timers.`);
  const wait = Math.min(Math.max(Number(delay) || 0, isRepeated ? 1 : 0), 2147483647);
  const id = ++lastTimer;
  timers.set(id, { id, due: host.now() + wait, wait, callback, args, isRepeated });
  return id;
}

function nextTimer() {
  let due = null;
  for (const timer of timers.values()) if (due === null || timer.due < due) due = timer.due;
  return due;
}

/** Runs the timers that are due, in the order of their time. */
function fireTimers(now) {
  const due = [...timers.values()].filter((timer) => timer.due <= now).sort((a, b) => a.due - b.due || a.id - b.id);
  for (const timer of due) {
    if (!timers.has(timer.id)) continue;
    if (timer.isRepeated) timer.due = now + timer.wait;
    else timers.delete(timer.id);
    try {
      timer.callback(...timer.args);
    } catch (error) {
      host.console("error", `A timer failed: ${inspect(error)}`);
    }
  }
}

const consoleCounts = new Map();
let consoleIndent = "";

function print(level, values) {
  const text = formatLine(values);
  host.console(level, consoleIndent === "" ? text : consoleIndent + text.replaceAll("\n", `\n${consoleIndent}`));
}

const scriptConsole = {
  log: (...values) => print("log", values),
  info: (...values) => print("info", values),
  warn: (...values) => print("warn", values),
  error: (...values) => print("error", values),
  debug: (...values) => print("debug", values),
  trace: (...values) => print("debug", ["Trace:", ...values]),
  dir: (value) => print("log", [value]),
  table: (value) => print("log", [value]),
  assert: (condition, ...values) => condition || print("error", ["Assertion failed:", ...values]),
  count: (label = "default") => {
    consoleCounts.set(label, (consoleCounts.get(label) ?? 0) + 1);
    print("log", [`${label}: ${consoleCounts.get(label)}`]);
  },
  group: (...values) => {
    if (values.length > 0) print("log", values);
    consoleIndent += "  ";
  },
  groupEnd: () => {
    consoleIndent = consoleIndent.slice(2);
  },
  time: (label = "default") => consoleCounts.set(`time ${label}`, host.now()),
  timeEnd: (label = "default") => print("log", [`${label}: ${(host.now() - (consoleCounts.get(`time ${label}`) ?? host.now())).toFixed(1)} ms`]),
};

const URL_PARTS = ["href", "origin", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash"];

class ScriptURL {
  #parts;
  #query = null;

  constructor(url, base) {
    const parts = host.parseUrl(String(url), base === undefined ? null : String(base));
    if (parts == null) throw new TypeError(`Invalid URL: ${String(url)}`);
    this.#parts = parts;
  }

  static canParse(url, base) {
    return host.parseUrl(String(url), base === undefined ? null : String(base)) != null;
  }

  static parse(url, base) {
    return ScriptURL.canParse(url, base) ? new ScriptURL(url, base) : null;
  }

  static {
    URL_PARTS.forEach((part, at) => {
      defineProperty(ScriptURL.prototype, part, {
        enumerable: true,
        configurable: true,
        get() {
          return this.#parts[at];
        },
        set(value) {
          this.#parts = host.setUrlPart(this.#parts[0], part, String(value)) ?? this.#parts;
          this.#query?.reset(this.#parts[9]);
        },
      });
    });
  }

  get searchParams() {
    this.#query ??= new ScriptURLSearchParams(this.#parts[9], (text) => {
      this.#parts = host.setUrlPart(this.#parts[0], "search", text) ?? this.#parts;
    });
    return this.#query;
  }

  toString() {
    return this.#parts[0];
  }

  toJSON() {
    return this.#parts[0];
  }
}
defineProperty(ScriptURL, "name", { value: "URL" });

class ScriptURLSearchParams {
  #pairs = [];
  #changed;

  constructor(init = "", changed = null) {
    this.#changed = changed;
    if (typeof init === "object" && init !== null) {
      const pairs = typeof init[Symbol.iterator] === "function" ? init : entries(init);
      for (const [name, value] of pairs) this.#pairs.push([String(name), String(value)]);
    } else this.reset(String(init));
  }

  reset(text) {
    const decode = (part) => {
      try {
        return decodeURIComponent(part.replaceAll("+", " "));
      } catch {
        return part;
      }
    };
    const pieces = text.replace(/^\?/, "").split("&").filter((piece) => piece !== "");
    this.#pairs = pieces.map((piece) => {
      const at = piece.indexOf("=");
      return at < 0 ? [decode(piece), ""] : [decode(piece.slice(0, at)), decode(piece.slice(at + 1))];
    });
  }

  #update() {
    this.#changed?.(this.toString());
  }

  get(name) {
    return this.#pairs.find(([key]) => key === name)?.[1] ?? null;
  }

  getAll(name) {
    return this.#pairs.filter(([key]) => key === name).map(([, value]) => value);
  }

  has(name) {
    return this.#pairs.some(([key]) => key === name);
  }

  set(name, value) {
    const at = this.#pairs.findIndex(([key]) => key === name);
    this.#pairs = this.#pairs.filter(([key], index) => key !== name || index === at);
    if (at < 0) this.#pairs.push([String(name), String(value)]);
    else this.#pairs[at][1] = String(value);
    this.#update();
  }

  append(name, value) {
    this.#pairs.push([String(name), String(value)]);
    this.#update();
  }

  delete(name) {
    this.#pairs = this.#pairs.filter(([key]) => key !== name);
    this.#update();
  }

  sort() {
    this.#pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    this.#update();
  }

  get size() {
    return this.#pairs.length;
  }

  forEach(callback) {
    for (const [name, value] of this.#pairs) callback(value, name, this);
  }

  *[Symbol.iterator]() {
    for (const [name, value] of this.#pairs) yield [name, value];
  }

  entries() {
    return this[Symbol.iterator]();
  }

  *keys() {
    for (const [name] of this.#pairs) yield name;
  }

  *values() {
    for (const [, value] of this.#pairs) yield value;
  }

  toString() {
    const encode = (text) => encodeURIComponent(text).replaceAll("%20", "+").replace(/[!'()~]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`);
    return this.#pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join("&");
  }
}
defineProperty(ScriptURLSearchParams, "name", { value: "URLSearchParams" });

class ScriptTextEncoder {
  get encoding() {
    return "utf-8";
  }

  encode(text = "") {
    const bytes = [];
    for (const letter of String(text)) {
      const code = letter.codePointAt(0);
      if (code < 0x80) bytes.push(code);
      else if (code < 0x800) bytes.push(0xc0 | (code >> 6), 0x80 | (code & 63));
      else if (code < 0x10000) {
        const plain = code >= 0xd800 && code <= 0xdfff ? 0xfffd : code;
        bytes.push(0xe0 | (plain >> 12), 0x80 | ((plain >> 6) & 63), 0x80 | (plain & 63));
      } else bytes.push(0xf0 | (code >> 18), 0x80 | ((code >> 12) & 63), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
    }
    return new Uint8Array(bytes);
  }
}
defineProperty(ScriptTextEncoder, "name", { value: "TextEncoder" });

class ScriptTextDecoder {
  get encoding() {
    return "utf-8";
  }

  decode(input = new Uint8Array()) {
    const bytes = input instanceof ArrayBuffer ? new Uint8Array(input) : new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
    let text = "";
    for (let at = bytes.length >= 3 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0; at < bytes.length; ) {
      const first = bytes[at++];
      const more = first < 0x80 ? 0 : first >= 0xc2 && first < 0xe0 ? 1 : first >= 0xe0 && first < 0xf0 ? 2 : first >= 0xf0 && first < 0xf5 ? 3 : -1;
      if (more === 0) {
        text += String.fromCharCode(first);
        continue;
      }
      let code = more === 1 ? first & 31 : more === 2 ? first & 15 : first & 7;
      let read = 0;
      while (more > 0 && read < more && (bytes[at] & 0xc0) === 0x80) {
        code = (code << 6) | (bytes[at++] & 63);
        read++;
      }
      const isValid = more > 0 && read === more && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) && code >= [0, 0x80, 0x800, 0x10000][more];
      text += isValid ? String.fromCodePoint(code) : "\ufffd";
    }
    return text;
  }
}
defineProperty(ScriptTextDecoder, "name", { value: "TextDecoder" });

const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

function toBase64(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length; at += 3) {
    const group = (bytes[at] << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    const letters = [18, 12, 6, 0].map((shift) => BASE64[(group >> shift) & 63]);
    text += letters.slice(0, Math.min(bytes.length - at, 3) + 1).join("").padEnd(4, "=");
  }
  return text;
}

function fromBase64(text) {
  const clean = text.replace(/[\s=]/g, "").replaceAll("-", "+").replaceAll("_", "/");
  const bytes = new Uint8Array(Math.floor((clean.length * 3) / 4));
  let group = 0;
  let bits = 0;
  let at = 0;
  for (const letter of clean) {
    const value = BASE64.indexOf(letter);
    if (value < 0) throw new TypeError("The text is not base64.");
    group = ((group << 6) | value) & 0xffffff;
    bits += 6;
    if (bits >= 8) bytes[at++] = (group >> (bits -= 8)) & 255;
  }
  return bytes.subarray(0, at);
}

function randomUUID() {
  const bytes = Array.from(host.random(16));
  bytes[6] = (bytes[6] & 15) | 64;
  bytes[8] = (bytes[8] & 63) | 128;
  const digits = bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

const webGlobals = {
  console: scriptConsole,
  setTimeout: (callback, delay, ...args) => addTimer(callback, delay, args, false),
  setInterval: (callback, delay, ...args) => addTimer(callback, delay, args, true),
  setImmediate: (callback, ...args) => addTimer(callback, 0, args, false),
  clearTimeout: (id) => void timers.delete(id),
  clearInterval: (id) => void timers.delete(id),
  clearImmediate: (id) => void timers.delete(id),
  URL: ScriptURL,
  URLSearchParams: ScriptURLSearchParams,
  TextEncoder: ScriptTextEncoder,
  TextDecoder: ScriptTextDecoder,
  btoa: (text) => toBase64(Uint8Array.from(String(text), (letter) => letter.charCodeAt(0))),
  atob: (text) => String.fromCharCode(...fromBase64(String(text))),
  structuredClone: (value) => decodeValue(parse(stringify(encodeValue(value)))),
  crypto: { randomUUID, getRandomValues: (array) => (array.set(host.random(array.length)), array) },
};
