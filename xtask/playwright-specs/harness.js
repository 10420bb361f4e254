// What both runs of a spec share: `test`, fixtures, the test server as specs see it, and the order of a run. One run is in
// Node with the stock client (`stock.mjs`), the other in the process of a script (`child.js`).

class SkipError extends Error {}

const SUITE = () => ({ title: "", tests: [], before: [], after: [], beforeAll: [], marks: [] });

/** Makes `test`, which collects the tests of a file. */
function makeTest() {
  const root = SUITE();
  const path = [root];
  const tests = [];
  let current = null;
  const add = (title, rest, mark) => tests.push({ title: [...path.slice(1).map((suite) => suite.title), title].join(" › "), body: rest.at(-1), suites: [...path], mark });
  const test = (title, ...rest) => add(title, rest, null);
  /** `skip()`, `skip(condition)`, `skip(({ browserName }) => condition)` and `skip("title", body)`. */
  const marker = (kind) => (first = true, ...rest) => {
    if (typeof first === "string") return add(first, rest, kind);
    if (current === null) return path.at(-1).marks.push({ kind, condition: first });
    if (first && kind === "fail") current.isExpectedToFail = true;
    else if (first) throw new SkipError(kind);
  };
  test.skip = marker("skip");
  test.fixme = marker("skip");
  test.fail = marker("fail");
  test.only = test;
  test.slow = () => {};
  test.setTimeout = () => {};
  test.use = () => {};
  test.step = async (title, body) => body();
  test.info = () => current.info;
  test.beforeEach = (hook) => path.at(-1).before.push(hook);
  test.afterEach = (hook) => path.at(-1).after.push(hook);
  test.beforeAll = (hook) => path.at(-1).beforeAll.push(hook);
  test.afterAll = () => {};
  test.describe = (title, ...rest) => {
    path.push({ ...SUITE(), title: typeof title === "string" ? title : "" });
    (typeof title === "function" ? title : rest.at(-1))();
    path.pop();
  };
  test.describe.configure = () => {};
  test.describe.serial = test.describe;
  test.extend = () => test;
  test.setCurrent = (one) => (current = one);
  return { test, tests };
}

/** Fixtures that are the same for every test. */
const FIXTURES = {
  browserName: "chromium",
  isAndroid: false,
  isElectron: false,
  electronMajorVersion: 0,
  isBidi: false,
  isWebView2: false,
  isHeadlessShell: false,
  isFrozenWebkit: false,
  isMac: false,
  isLinux: true,
  isWindows: false,
  macVersion: 0,
  platform: "linux",
  headless: true,
  channel: undefined,
  mode: "default",
  trace: "off",
  video: "off",
  nodeVersion: { major: 22, minor: 0, patch: 0 },
  rewriteAndroidLoopbackURL: (url) => url,
};

/** The test server as specs use it. `serveFile` sends an asset of the checkout. */
class SpecServer {
  #serve;

  constructor(port, protocol, serve) {
    this.#serve = serve;
    this.PORT = port;
    this.PREFIX = `${protocol}://localhost:${port}`;
    this.CROSS_PROCESS_PREFIX = `${protocol}://127.0.0.1:${port}`;
    this.EMPTY_PAGE = `${this.PREFIX}/empty.html`;
    this.HOST = `localhost:${port}`;
    this.HOSTNAME = "localhost";
    this.HELLO_WORLD = `${this.PREFIX}/hello-world`;
    this.clear();
  }

  clear() {
    for (const { reject } of Object.values(this.subscribers ?? {})) reject(new Error("The request was not received before the test finished."));
    this.routes = {};
    this.auths = {};
    this.policies = {};
    this.headers = {};
    this.zipped = {};
    this.subscribers = {};
  }

  setRoute(path, handler) {
    this.routes[path] = handler;
  }

  setRedirect(from, to) {
    this.setRoute(from, (request, response) => {
      response.writeHead(302, { ...this.headers[request.url], location: to });
      response.end();
    });
  }

  setContent(path, content, type) {
    this.setRoute(path, (request, response) => {
      response.writeHead(200, { "Content-Type": type });
      response.end(type === "text/html" ? `<!DOCTYPE html>${content}` : content);
    });
  }

  setAuth(path, username, password) {
    this.auths[path] = `${username}:${password}`;
  }

  setCSP(path, policy) {
    this.policies[path] = policy;
  }

  setExtraHeaders(path, headers) {
    this.headers[path] = headers;
  }

  enableGzip(path) {
    this.zipped[path] = true;
  }

  waitForRequest(path) {
    const known = this.subscribers[path];
    if (known !== undefined) return known.promise;
    const made = {};
    made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }));
    made.promise.catch(() => {});
    this.subscribers[path] = made;
    return made.promise;
  }

  handle(request, response) {
    const path = request.url.replace(/#.*$/, "");
    const [name] = path.split("?");
    const wanted = this.auths[path];
    if (wanted !== undefined && atob((request.headers.authorization ?? "").split(" ")[1] ?? "") !== wanted) {
      response.writeHead(401, { "WWW-Authenticate": 'Basic realm="Secure Area"' });
      return response.end("HTTP Error 401 Unauthorized: Access is denied");
    }
    this.subscribers[path]?.resolve(request);
    delete this.subscribers[path];
    const handler = this.routes[path];
    if (handler !== undefined) return handler(request, response);
    this.serveFile(request, response, undefined, name);
  }

  serveFile(request, response, file, name = request.url.split(/[?#]/)[0]) {
    const headers = { ...this.headers[name] };
    if (this.policies[name] !== undefined) headers["Content-Security-Policy"] = this.policies[name];
    this.#serve(request, response, { file, headers, isZipped: this.zipped[name] === true });
  }
}

/** Functions that specs import from the checkout's `config/utils`. */
function specUtils(expect) {
  const frames = (target) => target.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve()))));
  const rafraf = async (target, count = 1) => {
    for (let at = 0; at < count; at++) await frames(target);
  };
  return {
    rafraf,
    attachFrame: async (page, id, url) => {
      const handle = await page.evaluateHandle(async ([name, address]) => {
        const frame = Object.assign(document.createElement("iframe"), { src: address, id: name });
        document.body.append(frame);
        await new Promise((resolve) => (frame.onload = resolve));
        return frame;
      }, [id, url]);
      return handle.asElement().contentFrame();
    },
    detachFrame: (page, id) => page.evaluate((name) => document.getElementById(name).remove(), id),
    verifyViewport: async (page, width, height) => {
      expect(page.viewportSize().width).toBe(width);
      expect(page.viewportSize().height).toBe(height);
      expect(await page.evaluate("window.innerWidth")).toBe(width);
      expect(await page.evaluate("window.innerHeight")).toBe(height);
    },
    expectedSSLError: () => /net::(ERR_CERT_AUTHORITY_INVALID|ERR_CERT_INVALID)/,
    chromiumVersionLessThan: (left, right) => Number.parseInt(left, 10) < Number.parseInt(right, 10),
    isBidiChannel: () => false,
    suppressCertificateWarning: () => {},
    waitForTestLog: (page, prefix) => new Promise((resolve) => page.on("console", (message) => message.text().startsWith(prefix) && resolve(JSON.parse(message.text().slice(prefix.length))))),
    ensureSomeFrames: async (page) => {
      await rafraf(page, 100);
      await page.screenshot();
    },
    roundBox: (box) => Object.fromEntries(["x", "y", "width", "height"].map((name) => [name, Math.round(box[name])])),
    unshift: (text) => {
      const lines = text.split("\n").filter((line) => line.trim() !== "");
      const indent = Math.min(...lines.map((line) => line.length - line.trimStart().length));
      return lines.map((line) => line.slice(indent)).join("\n");
    },
    stripAnsi: (text) => text.replace(/\u001b\[[0-9;]*m/g, ""),
    kTargetClosedErrorMessage: "Target page, context or browser has been closed",
  };
}

/** `expect` with the one matcher that the specs add. */
function extendExpect(expect) {
  return expect.extend({
    toContainYaml(received, wanted) {
      const lines = wanted.split("\n").filter((line) => line.trim() !== "");
      const indent = Math.min(...lines.map((line) => line.length - line.trimStart().length));
      const text = lines.map((line) => line.slice(indent)).join("\n");
      return { pass: received.includes(text), message: () => `expected to contain:\n${text}\nreceived:\n${received}` };
    },
  });
}

/**
 * Runs the tests of a file in order. `side` makes and closes pages, and resets the servers.
 * `report({ id, status, error, ms })` gets each result: passed, failed, skipped.
 */
async function runSpec(file, tests, test, side, { filter, limit, only, done = new Set() }, report) {
  const counts = {};
  for (const one of tests) {
    const name = `${file} › ${one.title}`;
    counts[name] = (counts[name] ?? 0) + 1;
    const id = counts[name] === 1 ? name : `${name} #${counts[name]}`;
    if (filter !== "" && !id.includes(filter)) continue;
    if (done.has(id) || (only !== null && !only.has(id))) continue;
    const started = Date.now();
    const outcome = await runOne(one, test, side, limit, file);
    report({ id, ms: Date.now() - started, ...outcome });
  }
}

async function runOne(one, test, side, limit, file) {
  const fixtures = { ...FIXTURES, ...side.fixtures };
  const marks = one.suites.flatMap((suite) => suite.marks).filter(({ condition }) => (typeof condition === "function" ? condition(fixtures) : condition));
  if (one.mark === "skip" || marks.some((mark) => mark.kind === "skip")) return { status: "skipped" };
  const state = { isExpectedToFail: one.mark === "fail" || marks.some((mark) => mark.kind === "fail"), info: side.testInfo(file, one.title) };
  test.setCurrent(state);
  let error = null;
  let page = null;
  let timer;
  const body = async () => {
    page = await side.newPage();
    Object.assign(fixtures, page);
    for (const suite of one.suites) for (const hook of suite.beforeAll.splice(0)) await hook(fixtures, state.info);
    for (const suite of one.suites) for (const hook of suite.before) await hook(fixtures, state.info);
    await one.body(fixtures, state.info);
    for (const suite of one.suites) for (const hook of suite.after) await hook(fixtures, state.info);
    side.check?.();
  };
  const limited = new Promise((resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`the test took longer than ${limit} ms`)), limit);
  });
  try {
    const running = body();
    running.catch(() => {});
    await Promise.race([running, limited]);
  } catch (thrown) {
    error = thrown;
  }
  clearTimeout(timer);
  test.setCurrent(null);
  await side.end(page).catch(() => {});
  if (error instanceof SkipError) return { status: "skipped" };
  if (state.isExpectedToFail) return error === null ? { status: "failed", error: "expected to fail" } : { status: "passed" };
  return error === null ? { status: "passed" } : { status: "failed", error: String(error?.stack && error?.message ? `${error.name}: ${error.message}\n${error.stack}` : error).slice(0, 3000) };
}
