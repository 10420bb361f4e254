// Listeners of pages, contexts and their parts, and the events that the daemon reports.

/** Events that belong together: objects of one are made from the facts of the others. */
const REQUEST_EVENTS = ["request", "response", "requestfinished", "requestfailed"];
const FRAME_EVENTS = ["frameattached", "framenavigated", "framedetached"];
const REPORTED_EVENTS = ["console", "pageerror", "dialog", "crash", "load", "domcontentloaded", "download", "filechooser", "websocket", "worker"];

/** How many listeners each event has, and the events that the daemon was asked for. */
const listenerCounts = { __proto__: null };
let askedEvents = "";
/** How many functions pages can call. */
let bindingCount = 0;
/** Whether fewer events may be wanted than the daemon was asked for. */
let mayWantFewer = false;

function listenersOf(emitter, event) {
  if (!Object.hasOwn(emitter, "eventListeners")) defineProperty(emitter, "eventListeners", { value: { __proto__: null } });
  return (emitter.eventListeners[event] ??= []);
}

/** Whether a script still listens to anything, so that its calls between two runs make sense. */
function hasListeners() {
  return askedEvents !== "" || routeCount > 0;
}

/** Asks the daemon for the events that have listeners. */
function askForEvents(tabs = []) {
  const wanted = new Set();
  for (const name in listenerCounts) {
    if (listenerCounts[name] <= 0) continue;
    if (REQUEST_EVENTS.includes(name)) REQUEST_EVENTS.forEach((one) => wanted.add(one));
    else if (FRAME_EVENTS.includes(name)) FRAME_EVENTS.forEach((one) => wanted.add(one));
    else if (REPORTED_EVENTS.includes(name)) wanted.add(name);
  }
  if (bindingCount > 0) wanted.add("binding");
  // A socket or worker that the script got reports its end, and what comes for listeners that are added later.
  if (run.isActive) {
    for (const tab in pagesByTab) {
      if (pagesByTab[tab].isClosed()) continue;
      if (socketsOf(pagesByTab[tab]).size > 0) wanted.add("websocket");
      if (workersOf(pagesByTab[tab]).size > 0) wanted.add("worker");
    }
  }
  const names = [...wanted].sort();
  if (names.join() === askedEvents && tabs.length === 0) return;
  askedEvents = names.join();
  host.listen(names, tabs);
}

/**
 * Tells the daemon which events are no longer wanted. Called when no job of the script is left: a listener that is
 * removed and replaced by another one meanwhile, as after `once()`, misses nothing.
 */
function dropUnwantedEvents() {
  if (!mayWantFewer) return;
  mayWantFewer = false;
  askForEvents();
}

/** The reported event that makes another one. */
function reportedName(emitter, event) {
  if (emitter instanceof ScriptWebSocket) return "websocket";
  if (emitter instanceof ScriptWorker) return event === "console" ? "console" : "worker";
  if (event === "dialogclosed") return "dialog";
  return event === "weberror" ? "pageerror" : event;
}

function countListener(emitter, event, change) {
  const name = reportedName(emitter, event);
  listenerCounts[name] = (listenerCounts[name] ?? 0) + change;
  if (change > 0) askForEvents(typeof emitter.tab === "string" ? [emitter.tab] : []);
  else mayWantFewer = true;
}

/** Adds `on`, `once`, `off` and the like to a class. */
function withEvents(Class, kind) {
  const methods = {
    on(event, listener) {
      if (typeof listener !== "function") throw new TypeError(`${kind}.on: the listener must be a function`);
      listenersOf(this, event).push({ listener, call: listener });
      countListener(this, event, 1);
      return this;
    },
    prependListener(event, listener) {
      listenersOf(this, event).unshift({ listener, call: listener });
      countListener(this, event, 1);
      return this;
    },
    once(event, listener) {
      const entry = { listener, call: null };
      entry.call = (value) => {
        removeEntry(this, event, entry);
        return listener(value);
      };
      listenersOf(this, event).push(entry);
      countListener(this, event, 1);
      return this;
    },
    off(event, listener) {
      const entry = listenersOf(this, event).findLast((one) => one.listener === listener);
      if (entry !== undefined) removeEntry(this, event, entry);
      return this;
    },
    removeAllListeners(event) {
      for (const name of event === undefined ? Object.keys(this.eventListeners ?? {}) : [event]) {
        for (const entry of [...listenersOf(this, name)]) removeEntry(this, name, entry);
      }
      return this;
    },
    listenerCount(event) {
      return listenersOf(this, event).length;
    },
    emit(event, value) {
      const entries = [...listenersOf(this, event)];
      for (const { call } of entries) callListener(call, value, `${kind}.on('${event}')`);
      return entries.length > 0;
    },
    waitForEvent(event, options = {}) {
      return waitForEvent(this, `${kind}.waitForEvent`, event, options);
    },
  };
  methods.addListener = methods.on;
  methods.removeListener = methods.off;
  for (const [name, value] of entries(methods)) defineProperty(Class.prototype, name, { value, writable: true, configurable: true });
}

function removeEntry(emitter, event, entry) {
  const list = listenersOf(emitter, event);
  const at = list.indexOf(entry);
  if (at < 0) return;
  list.splice(at, 1);
  countListener(emitter, event, -1);
}

/** Removes the listeners of a socket or worker that has ended: nothing is reported about it any more. */
function endListeners(emitter) {
  emitter.removeAllListeners();
  mayWantFewer = true;
}

/** Calls a listener. What it throws is reported, since no caller waits for it. */
function callListener(call, value, title) {
  const report = (error) => host.console("error", `${title}: a listener failed: ${inspect(error)}`);
  try {
    const result = call(value);
    if (result !== null && typeof result === "object" && typeof result.then === "function") result.then(undefined, report);
  } catch (error) {
    report(error);
  }
}

/** Waits for an event that passes a test. The end of the page ends the wait. */
function waitForEvent(emitter, title, event, options = {}, what = null) {
  const { predicate, timeout, signal } = typeof options === "function" ? { predicate: options } : options;
  const error = new Error("");
  if (signal?.aborted) return Promise.reject(abortedCall(error, title, signal.reason));
  const limit = timeout === 0 ? NO_TIMEOUT : timeout ?? emitter.timeouts?.action ?? DEFAULT_TIMEOUT;
  return new Promise((resolve, reject) => {
    const end = (settle, value) => {
      timers.delete(timer);
      signal?.removeEventListener("abort", aborted);
      emitter.off(event, listener);
      if (event !== "close") emitter.off("close", closed);
      emitter.off("crash", crashed);
      settle(value);
    };
    const fail = (message) => end(reject, withMessage(error, title, message));
    const timer = addTimer(() => {
      Object.setPrototypeOf(error, TimeoutError.prototype);
      fail(`Timeout ${limit}ms exceeded while waiting for event "${event}"${what === null ? "" : `\n  - waiting for ${what}`}`);
    }, limit, [], false);
    const listener = async (value) => {
      try {
        if (predicate === undefined || (await predicate(value))) end(resolve, value);
      } catch (thrown) {
        end(reject, thrown);
      }
    };
    const aborted = () => end(reject, abortedCall(error, title, signal.reason));
    signal?.addEventListener("abort", aborted);
    const closed = () => fail("Target page, context or browser has been closed");
    const crashed = () => fail("Page crashed");
    emitter.on(event, listener);
    if (event !== "close") emitter.on("close", closed);
    if (event !== "crash") emitter.on("crash", crashed);
  });
}

/** The page of a reported event. The first event of a tab that the script opened by using `page` makes it that page's. */
function pageOfEvent(tab) {
  if (pagesByTab[tab] === undefined && firstPage !== null && firstPage.tab === null) firstPage.adopt(tab);
  return pageOf(tab);
}

/** What the daemon reports, by name. */
function dispatchEvent(name, facts) {
  if (name === "tabs") return void updateTabs(facts);
  if (name === "cdp") return void cdpSessions.get(facts.session)?.emit(facts.method, facts.params);
  const page = pageOfEvent(facts.tab);
  const data = facts.data ?? {};
  switch (name) {
    case "console":
      return void dispatchConsole(page, data);
    case "pageerror": {
      const error = pageError(data);
      page.emit("pageerror", error);
      return void page.context().emit("weberror", { error: () => error, page: () => page });
    }
    case "dialog":
      return void handleDialog(page, data);
    case "crash":
    case "load":
    case "domcontentloaded":
      return void page.emit(name, page);
    case "download":
      return void emitBoth(page, "download", new Download(page, data));
    case "filechooser":
      return void page.emit("filechooser", new FileChooser(page, data));
    case "worker":
      return void dispatchWorker(page, data);
    case "websocket":
      return void dispatchSocket(page, data);
    case "route":
      return void handleRoute(page, data, facts.question);
    case "binding":
      return void callBinding(page, data);
    default:
      if (REQUEST_EVENTS.includes(name)) dispatchRequest(page, name, data);
      else if (FRAME_EVENTS.includes(name)) dispatchFrame(page, name, data);
  }
}

/** A console message is an event of its worker, page and context. */
function dispatchConsole(page, data) {
  const worker = workersOf(page).get(data.worker) ?? null;
  const message = new ConsoleMessage(page, data, worker);
  worker?.emit("console", message);
  emitBoth(page, "console", message);
}

/** Events of a page that its context has too. */
function emitBoth(page, event, value) {
  page.emit(event, value);
  page.context().emit(event, value);
}

function pageError({ name, message, stack, text, frames }) {
  if (message === null || message === undefined) return describedError(String(text ?? ""), frames ?? []);
  const prefix = name === null || name === undefined ? "" : `${name}: `;
  // The description of an error is its stack, which begins with name and message.
  const first = stack === null || stack === undefined ? String(message) : stack.split("\n    at ")[0];
  const error = new Error(first.startsWith(prefix) ? first.slice(prefix.length) : first);
  error.name = name ?? (stack ? "Error" : "");
  error.stack = stack ?? "";
  return error;
}

/** An error of which only the browser's sentence is known: `Uncaught TypeError: oops`. */
function describedError(text, frames) {
  const [, sentence] = /^Uncaught (?:\(in promise\) )?(.*)$/s.exec(text) ?? [null, text];
  const [, name, message] = /^(\w*Error): (.*)$/s.exec(sentence) ?? [null, "", sentence];
  const error = new Error(message);
  error.name = name;
  error.stack = [sentence, ...frames.map((one) => `    at ${one.functionName ? `${one.functionName} (${one.url}:${one.lineNumber + 1}:${one.columnNumber + 1})` : `${one.url}:${one.lineNumber + 1}:${one.columnNumber + 1}`}`)].join("\n");
  return error;
}

/** The facts that the daemon reported about an object of a page. */
const factsSymbol = Symbol("facts");

/** What a page reported: a console message, a dialog, a file chooser, a download. */
class PageReport {
  #page;

  constructor(page, facts) {
    this.#page = page;
    defineProperty(this, factsSymbol, { value: facts });
  }

  page() {
    return this.#page;
  }
}

class ConsoleMessage extends PageReport {
  #worker;

  constructor(page, facts, worker = null) {
    super(page, facts);
    this.#worker = worker;
  }

  type() {
    return this[factsSymbol].type;
  }

  text() {
    const { args, text } = this[factsSymbol];
    return args.some((one) => one.type === "object" || one.type === "function") ? args.map(shownArgument).join(" ") : text;
  }

  /** The arguments. The value of an object is that of its preview, or its description if it has more than a preview shows. */
  args() {
    return this[factsSymbol].args.map((one) => ({ jsonValue: async () => argumentValue(one), toString: () => shownArgument(one), asElement: () => null, dispose: async () => {} }));
  }

  location() {
    const [, url, line, column] = /^(.*):(\d+):(\d+)$/s.exec(this[factsSymbol].location ?? "") ?? [null, "", 1, 1];
    const [lineNumber, columnNumber] = [Number(line) - 1, Number(column) - 1];
    return { url, line: lineNumber, column: columnNumber, lineNumber, columnNumber };
  }

  /** When the page wrote it, in milliseconds since 1970. */
  timestamp() {
    return this[factsSymbol].timestamp ?? 0;
  }

  /** The worker that wrote it. */
  worker() {
    return this.#worker;
  }

  [describeSymbol]() {
    return `ConsoleMessage { ${this.type()}: ${quoteText(this.text())} }`;
  }
}

/** An argument of a console message, as Playwright writes it: `{a: 1}`, `[1, 2]`. */
function shownArgument(one) {
  if (one.type === "undefined") return "undefined";
  if (one.value !== null && one.value !== undefined) return String(one.value);
  if (one.unserializable) return one.unserializable;
  if (one.subtype === "null") return "null";
  const properties = one.preview?.properties ?? [];
  if (one.text === "Object" && one.preview) return `{${properties.map(({ name, value }) => `${name}: ${value}`).join(", ")}}`;
  if (one.subtype === "array" && one.preview) return shownList(properties);
  return String(one.text ?? one.type);
}

/** A list whose missing elements are counted: `[1, empty x 8, 2]`. */
function shownList(properties) {
  const parts = [];
  let next = 0;
  for (const { name, value } of properties) {
    if (!/^\d+$/.test(name)) continue;
    const missing = Number(name) - next;
    if (missing > 0) parts.push(missing === 1 ? "empty" : `empty x ${missing}`);
    parts.push(value);
    next = Number(name) + 1;
  }
  return `[${parts.join(", ")}]`;
}

/** The value of an argument of a console message. */
function argumentValue(one) {
  if (one.type === "undefined") return undefined;
  if (one.value !== null && one.value !== undefined) return one.value;
  if (one.unserializable) return one.type === "bigint" ? BigInt(one.unserializable.slice(0, -1)) : Number(one.unserializable);
  if (one.subtype === "null") return null;
  const isPlain = one.preview && !one.preview.overflow && (one.subtype === "array" || one.text === "Object");
  const values = isPlain ? one.preview.properties.map((property) => [property.name, previewValue(property)]) : [[null, missingValue]];
  if (values.some(([, value]) => value === missingValue)) return one.text;
  if (one.subtype !== "array") return Object.fromEntries(values);
  const list = [];
  for (const [name, value] of values) list[name] = value;
  return list;
}

const missingValue = Symbol("missing");

/** The value of a property in a preview, which cuts long texts and leaves out what is inside of objects. */
function previewValue({ type, subtype, value }) {
  if (type === "string" && value.length < 100) return value;
  if (type === "number") return Number(value);
  if (type === "boolean") return value === "true";
  if (type === "undefined") return undefined;
  return type === "object" && subtype === "null" ? null : missingValue;
}

class Dialog extends PageReport {
  #isHandled = false;

  type() {
    return this[factsSymbol].type ?? "alert";
  }

  message() {
    return this[factsSymbol].message ?? "";
  }

  defaultValue() {
    return this[factsSymbol].default_value ?? "";
  }

  async #close(title, params) {
    if (this.#isHandled) throw new Error(`dialog.${title}: Cannot ${title} dialog which is already handled!`);
    this.#isHandled = true;
    await callAction("dialog", params, { title: `dialog.${title}`, tab: this.page().tab });
    emitBoth(this.page(), "dialogclosed", this);
  }

  async accept(text) {
    await this.#close("accept", text === undefined || this.type() !== "prompt" ? { answer: "accept" } : { answer: "accept", text: String(text) });
  }

  async dismiss() {
    await this.#close("dismiss", { answer: "dismiss" });
  }
}

/** Gives a dialog to its listeners. Without one it is closed, since the page waits for it. */
function handleDialog(page, facts) {
  const dialog = new Dialog(page, facts);
  const hasListener = page.emit("dialog", dialog);
  if (page.context().emit("dialog", dialog) || hasListener) return;
  const isLeaving = dialog.type() === "beforeunload";
  host.console("warn", `${isLeaving ? "Accepted" : "Dismissed"} a dialog without a listener: ${dialog.type()} ${quoteText(dialog.message())}`);
  // The page may be gone by now.
  (isLeaving ? dialog.accept() : dialog.dismiss()).catch(() => {});
}

class FileChooser extends PageReport {
  isMultiple() {
    return this[factsSymbol].multiple === true;
  }

  async setFiles(files, options = {}) {
    const params = fileParams(files);
    await this.page().call("set_files", params, { title: "fileChooser.setFiles", timeout: timeoutOf(this.page(), options) });
  }
}

class Download extends PageReport {
  async #do(method, verb, params = {}) {
    const { result } = await this.page().call("script_download", { guid: this[factsSymbol].guid, verb, ...params }, { title: `download.${method}`, timeout: NO_TIMEOUT });
    return result;
  }

  suggestedFilename() {
    return this[factsSymbol].name;
  }

  url() {
    return this[factsSymbol].url;
  }

  async path() {
    const { path, failure } = await this.#do("path", "wait");
    if (failure !== null) throw new Error(`download.path: ${failure}`);
    return path;
  }

  async failure() {
    return (await this.#do("failure", "wait")).failure;
  }

  async saveAs(path) {
    await this.#do("saveAs", "save", { path: String(path) });
  }

  async cancel() {
    await this.#do("cancel", "cancel");
  }

  async delete() {
    await this.#do("delete", "delete");
  }

  [describeSymbol]() {
    return `Download { ${quoteText(this.suggestedFilename())} }`;
  }
}

class ScriptWorker {
  #page;
  #id;
  #url;

  constructor(page, id, url) {
    this.#page = page;
    this.#id = id;
    this.#url = url;
  }

  url() {
    return this.#url;
  }

  async evaluate(expression, argument) {
    return evaluateIn(this.#page, expression, argument, { worker: this.#id }, { title: "worker.evaluate" });
  }

  async evaluateHandle(expression, argument) {
    return handleIn(this.#page, expression, argument, { worker: this.#id }, { title: "worker.evaluateHandle" });
  }
}
withEvents(ScriptWorker, "worker");
defineProperty(ScriptWorker, "name", { value: "Worker" });

/** The workers of each page, by their id. */
const workersByPage = new WeakMap();

function workersOf(page) {
  if (!workersByPage.has(page)) workersByPage.set(page, new Map());
  return workersByPage.get(page);
}

function dispatchWorker(page, { worker: id, url, start }) {
  const known = workersOf(page);
  if (start) {
    known.set(id, new ScriptWorker(page, id, url));
    page.emit("worker", known.get(id));
  } else {
    const worker = known.get(id);
    if (worker === undefined) return;
    worker.emit("close", worker);
    known.delete(id);
    endListeners(worker);
  }
}
