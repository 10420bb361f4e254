// The content of pages and frames: markup, script and style tags, waiting for a function.

const LOAD_STATES = ["load", "domcontentloaded", "networkidle", "commit"];

/** A load state by its name; `networkidle0` and the like are from another API. */
function checkedLoadState(value, title, name) {
  if (value === "networkidle0") return "networkidle";
  if (!LOAD_STATES.includes(value)) throw new Error(`${title}: ${name}: expected one of (load|domcontentloaded|networkidle|commit)`);
  return value;
}

/** Methods of pages and frames that are made of `evaluate`. */
const contentMethods = {
  async content() {
    return this.evaluate(() => {
      let text = "";
      if (document.doctype) text = new XMLSerializer().serializeToString(document.doctype);
      if (document.documentElement) text += document.documentElement.outerHTML;
      return text;
    });
  },

  async setContent(html, options = {}) {
    const title = `${this.kind ?? "page"}.setContent`;
    const state = checkedLoadState(options.waitUntil ?? "load", title, "waitUntil");
    const timeout = timeoutOf(this.ownPage ?? this, options, "navigation");
    const end = host.now() + timeout;
    await evaluateCall(this.ownPage ?? this, (text) => {
      window.stop();
      document.open();
      document.write(text);
      document.close();
    }, html, this.frameParams ?? {}, { title, timeout });
    if (state !== "commit") await this.waitForLoadState(state, { timeout: Math.max(1, end - host.now()), title, whole: timeout });
  },

  addScriptTag(options = {}) {
    if (options.url === undefined && options.path === undefined && options.content === undefined) throw new Error("Provide an object with a `url`, `path` or `content` property");
    return addTag(this, "addScriptTag", async ({ url, content, type }) => {
      const tag = document.createElement("script");
      if (type) tag.type = type;
      if (url !== undefined) {
        tag.src = url;
        const loaded = new Promise((resolve, reject) => {
          tag.onload = resolve;
          tag.onerror = (event) => reject(typeof event === "string" ? new Error(event) : new Error(`Failed to load script at ${tag.src}`));
        });
        document.head.appendChild(tag);
        await loaded;
        return tag;
      }
      tag.type = type || "text/javascript";
      tag.text = content;
      let problem = null;
      tag.onerror = (event) => (problem = event);
      document.head.appendChild(tag);
      if (problem) throw problem;
      return tag;
    }, withoutUndefined({ url: options.url, content: options.content, type: options.type }), options);
  },

  addStyleTag(options = {}) {
    if (options.url === undefined && options.path === undefined && options.content === undefined) throw new Error("Provide an object with a `url`, `path` or `content` property");
    return addTag(this, "addStyleTag", async ({ url, content }) => {
      if (url !== undefined) {
        const link = document.createElement("link");
        link.rel = "stylesheet";
        link.href = url;
        const loaded = new Promise((resolve, reject) => {
          link.onload = resolve;
          link.onerror = () => reject(new Error(`Failed to load stylesheet at ${link.href}`));
        });
        document.head.appendChild(link);
        await loaded;
        return link;
      }
      const style = document.createElement("style");
      style.type = "text/css";
      style.appendChild(document.createTextNode(content));
      const loaded = new Promise((resolve, reject) => {
        style.onload = resolve;
        style.onerror = reject;
      });
      document.head.appendChild(style);
      await loaded;
      return style;
    }, withoutUndefined({ url: options.url, content: options.content }), options);
  },

  async waitForFunction(expression, argument, options = {}) {
    return waitForValue(this, expression, argument, options, `${this.kind ?? "page"}.waitForFunction`);
  },
};
for (const owner of [Page, Frame]) for (const [name, value] of entries(contentMethods)) defineProperty(owner.prototype, name, { value, writable: true, configurable: true });

async function addTag(target, method, make, facts, options) {
  const title = `${target.kind ?? "page"}.${method}`;
  if (options.path !== undefined) facts.content = `${await readScriptFile(options.path, title)}${method === "addScriptTag" ? `\n//# sourceURL=${options.path}` : `\n/*# sourceURL=${options.path}*/`}`;
  // A policy of the page that blocks the tag is reported on the console only.
  const source = `(${sourceOf(watchPolicy)})(${stringify(facts)}, ${sourceOf(make)})`;
  return handleIn(target.ownPage ?? target, source, undefined, target.frameParams ?? {}, { title });
}

/** The text of a file below the session's roots. */
async function readScriptFile(path, title) {
  const { result } = await callAction("file_read", { path: String(path) }, { title });
  return new ScriptTextDecoder().decode(fromBase64(result.base64));
}

/** Runs in the page: makes the tag, and fails when the page's content security policy blocks it. */
function watchPolicy(facts, make) {
  return new Promise((resolve, reject) => {
    const onBlocked = (event) => setTimeout(() => reject(new Error(`${event.violatedDirective} blocked by Content Security Policy`)));
    document.addEventListener("securitypolicyviolation", onBlocked);
    const end = () => document.removeEventListener("securitypolicyviolation", onBlocked);
    Promise.resolve(make(facts)).then((tag) => (end(), resolve(tag)), (error) => (end(), reject(error)));
  });
}

const TIMED_OUT = "tabwire: the function was not true in time";

/** Runs in the page: calls the function until its value is true. */
function pollFunction([given, source, polling, timeout, timedOut, isFunction]) {
  const value = () => {
    const made = (0, globalThis.eval)(source);
    return isFunction || typeof made === "function" ? made(given) : made;
  };
  const until = performance.now() + timeout;
  return new Promise((resolve, reject) => {
    const turn = async () => {
      try {
        const now = await value();
        if (now) return resolve(now);
      } catch (error) {
        return reject(error);
      }
      if (performance.now() >= until) return reject(new Error(timedOut));
      if (polling === "raf") requestAnimationFrame(turn);
      else setTimeout(turn, polling);
    };
    void turn();
  });
}

/** Waits in the page until a function returns something true, across navigations. Returns the value as a handle. */
async function waitForValue(target, expression, argument, { polling = "raf", timeout: given, signal } = {}, title, params = {}) {
  const error = new TimeoutError("");
  if (typeof polling === "string" && polling !== "raf") throw new Error(`${title}: Unknown polling option: ${polling}`);
  if (typeof polling === "number" && polling <= 0) throw new Error(`${title}: Cannot poll with non-positive interval: ${polling}`);
  const page = target.ownPage ?? target;
  const timeout = timeoutOf(page, { timeout: given });
  const end = host.now() + timeout;
  const isFunction = typeof expression === "function";
  const source = isFunction ? `(${sourceOf(expression)})` : String(expression);
  for (;;) {
    const left = end - host.now();
    if (left <= 0) throw withMessage(error, title, `Timeout ${timeout}ms exceeded.`);
    try {
      return await withSignal(handleIn(page, pollFunction, [argument, source, polling, left, TIMED_OUT, isFunction], { ...(target.frameParams ?? {}), ...params }, { title, timeout: left + 2000 }), signal, title, new Error(""));
    } catch (failed) {
      if (failed.message.includes(TIMED_OUT) || failed.code === "TIMEOUT") throw withMessage(error, title, `Timeout ${timeout}ms exceeded.`);
      if (failed.code !== "TARGET_GONE" || page.isClosed() || failed.message.includes("Frame was detached")) throw failed;
      await pause(20);
    }
  }
}
