// A small runner for files that import `@playwright/test`: tests run in order, each in a browser context of its own.

const TEST_TIMEOUT = 30000;
const HOOK_KINDS = ["beforeAll", "afterAll", "beforeEach", "afterEach"];

/** Thrown by `test.skip()` within a test. */
class SkippedTest extends Error {}

function makeSuite(title, parent, mode) {
  const suite = { title, parent, mode, entries: [], conditions: [], options: {}, timeout: undefined, retries: undefined, isSerial: false };
  for (const kind of HOOK_KINDS) suite[kind] = [];
  return suite;
}

let rootSuite = makeSuite("", null, "run");
let openSuite = rootSuite;
/** The facts of the test that runs, or null. */
let runningTest = null;

/** The suites around a test or suite, the outermost first. */
function suitesOf({ parent }) {
  return parent === null ? [] : [...suitesOf(parent), parent];
}

/** The value of a suite's setting that the innermost suite has. */
function settingOf(suites, name) {
  return suites.map((suite) => suite[name]).findLast((value) => value !== undefined);
}

/** The tests of a file, once its code has run. Null without tests. */
function startTests() {
  const root = rootSuite;
  [rootSuite, openSuite] = [makeSuite("", null, "run"), null];
  openSuite = rootSuite;
  return root.entries.length === 0 ? null : runTests(root);
}

function testsOf(suite) {
  return suite.entries.flatMap((one) => (one.entries === undefined ? [one] : testsOf(one)));
}

async function runTests(root) {
  const all = testsOf(root);
  const isOnly = (one) => one.mode === "only" || suitesOf(one).some((suite) => suite.mode === "only");
  const chosen = new Set(all.some(isOnly) ? all.filter(isOnly) : all);
  const counts = { failed: 0, passed: 0, skipped: 0 };
  const workerFixtures = new Map();
  await runSuite(root, { chosen, counts, workerFixtures });
  for (const { end } of [...workerFixtures.values()].reverse()) await countFailure(counts, "fixtures", end);
  const skipped = counts.skipped === 0 ? "" : `, ${counts.skipped} skipped`;
  host.console("log", `\n  ${counts.failed} failed, ${counts.passed} passed${skipped}`);
  if (counts.failed > 0) throw new Error(`${counts.failed} tests failed`);
}

/** Runs what follows the tests. Its failure counts as one of a test. */
async function countFailure(counts, title, body) {
  try {
    await body();
  } catch (error) {
    counts.failed++;
    host.console("log", `  ✘  ${title}`);
    host.console("error", inspect(error));
  }
}

async function runSuite(suite, work) {
  let hasFailed = false;
  for (const one of suite.entries) {
    if (one.entries !== undefined) {
      await runSuite(one, work);
      continue;
    }
    if (!work.chosen.has(one)) continue;
    const isAfterFailure = hasFailed && suite.isSerial;
    const outcome = isAfterFailure ? "skipped" : await runWithRetries(one, work);
    if (isAfterFailure) host.console("log", `  -  ${titleOf(one)}`);
    work.counts[outcome]++;
    hasFailed ||= outcome === "failed";
  }
  if (!suite.hasBegun) return;
  const fixtures = new Fixtures(fixtureTable([...suitesOf(suite), suite], builtInFixtures), work.workerFixtures, null);
  for (const { hook } of suite.afterAll) {
    await countFailure(work.counts, `${titleOf(suite)} afterAll hook`.trim(), async () => withinTime({ timeout: TEST_TIMEOUT }, "\"afterAll\" hook", async () => hook(await fixtures.given(hook, "afterAll"))));
  }
}

function titleOf(one) {
  return [...suitesOf(one), one].map(({ title }) => title).filter((title) => title !== "").join(" › ");
}

/** Runs a test until it passes or has no retries left. Returns how it ended. */
async function runWithRetries(one, work) {
  const suites = suitesOf(one);
  const retries = settingOf(suites, "retries") ?? 0;
  for (let retry = 0; ; retry++) {
    const started = host.now();
    const info = new TestInfo(one, retry, settingOf(suites, "timeout") ?? TEST_TIMEOUT);
    const errors = await runTest(one, info, work);
    const isSkipped = info.expectedStatus === "skipped";
    const isRight = isSkipped || (errors.length > 0) === (info.expectedStatus === "failed");
    const again = !isRight && retry < retries;
    const time = isSkipped ? "" : ` (${Math.round(host.now() - started)}ms)${again ? `, retry ${retry + 1}` : ""}`;
    host.console("log", `  ${isSkipped ? "-" : isRight ? "✓" : "✘"}  ${titleOf(one)}${time}`);
    if (!isRight) for (const error of errors.length > 0 ? errors : [new Error("Expected to fail, but passed.")]) host.console("error", inspect(error));
    if (!again) return isSkipped ? "skipped" : isRight ? "passed" : "failed";
  }
}

/** Runs a test with its hooks and fixtures. Returns its errors. */
async function runTest(one, info, work) {
  const suites = suitesOf(one);
  if (one.mode === "skip" || suites.some((suite) => suite.mode === "skip")) {
    info.expectedStatus = "skipped";
    return [];
  }
  if (one.mode === "fail") info.expectedStatus = "failed";
  runningTest = info;
  softErrors.length = 0;
  const { errors } = info;
  const fixtures = new Fixtures(fixtureTable(suites, one.table), work.workerFixtures, info);
  const attempt = async (what, body) => {
    try {
      await withinTime(info, what, body);
    } catch (error) {
      if (error instanceof SkippedTest) info.expectedStatus = "skipped";
      else errors.push(error);
    }
  };
  await attempt("Test", async () => {
    for (const suite of suites) for (const { kind, condition, reason } of suite.conditions) if (await condition(await fixtures.given(condition, "test.skip"))) info.mark(kind, true, reason);
    await runBeforeAll(suites, work);
    await fixtures.startAutomatic();
    for (const suite of suites) for (const { hook } of suite.beforeEach) await hook(await fixtures.given(hook, "beforeEach"), info);
    await one.body(await fixtures.given(one.body, "test"), info);
  });
  info.status = info.expectedStatus === "skipped" ? "skipped" : errors.length + softErrors.length > 0 ? "failed" : "passed";
  for (const suite of [...suites].reverse()) for (const { hook } of suite.afterEach) await attempt("\"afterEach\" hook", async () => hook(await fixtures.given(hook, "afterEach"), info));
  await attempt("Fixtures", () => fixtures.end());
  errors.push(...softErrors.splice(0));
  runningTest = null;
  return info.expectedStatus === "skipped" ? [] : errors;
}

/** Runs the hooks that stand before all tests of suites, once. A failure of one fails each test. */
async function runBeforeAll(suites, work) {
  for (const [at, suite] of suites.entries()) {
    if (suite.failure !== undefined) throw suite.failure;
    if (suite.hasBegun) continue;
    suite.hasBegun = true;
    const fixtures = new Fixtures(fixtureTable(suites.slice(0, at + 1), builtInFixtures), work.workerFixtures, null);
    try {
      for (const { hook } of suite.beforeAll) await hook(await fixtures.given(hook, "beforeAll"), runningTest);
    } catch (error) {
      suite.failure = error;
      throw error;
    }
  }
}

/** Runs a function within the time of a test. When the time is over, its open calls are rejected. */
function withinTime(info, what, body) {
  const started = host.now();
  return new Promise((resolve, reject) => {
    let timer;
    const settle = (end) => (value) => {
      timers.delete(timer);
      end(value);
    };
    const expire = () => {
      const message = `${what} timeout of ${info.timeout}ms exceeded.`;
      settle(reject)(new Error(message));
      rejectCalls(message);
    };
    info.rearm = () => {
      timers.delete(timer);
      if (info.timeout > 0) timer = addTimer(expire, Math.max(0, started + info.timeout - host.now()), [], false);
    };
    info.rearm();
    Promise.resolve().then(body).then(settle(resolve), settle(reject));
  });
}

/** What a test knows about itself. */
class TestInfo {
  #one;

  constructor(one, retry, timeout) {
    this.#one = one;
    this.retry = retry;
    this.timeout = timeout;
    this.title = one.title;
    this.titlePath = [...suitesOf(one), one].map(({ title }) => title).filter((title) => title !== "");
    this.expectedStatus = "passed";
    this.status = "passed";
    this.errors = [];
    this.annotations = [...(one.annotations ?? [])];
    defineProperty(this, "rearm", { value: () => {}, writable: true });
  }

  get tags() {
    return this.#one.tags;
  }

  get error() {
    return this.errors[0];
  }

  setTimeout(timeout) {
    this.timeout = timeout;
    this.rearm();
  }

  /** Skips the test, expects it to fail, or gives it more time. */
  mark(kind, condition, reason) {
    if (!condition) return;
    this.annotations.push({ type: kind, description: reason });
    if (kind === "slow") this.setTimeout(this.timeout * 3);
    else if (kind === "fail") this.expectedStatus = "failed";
    else throw new SkippedTest(reason ?? "skipped");
  }

  skip(condition = true, reason) {
    this.mark("skip", condition, reason);
  }

  fixme(condition = true, reason) {
    this.mark("fixme", condition, reason);
  }

  fail(condition = true, reason) {
    this.mark("fail", condition, reason);
  }

  slow(condition = true, reason) {
    this.mark("slow", condition, reason);
  }
}

/** `test.skip()` and the like: declare a test, mark the suite, or mark the test that runs. */
function modifier(kind, table) {
  return (...given) => {
    if (typeof given[0] === "string" && typeof given.at(-1) === "function") return addTest(kind === "fixme" ? "skip" : kind, table, given);
    const [condition = true, reason] = given;
    if (runningTest !== null) return runningTest.mark(kind, condition, reason);
    if (typeof condition === "function") openSuite.conditions.push({ kind, condition, reason });
    else if (!condition) return undefined;
    else if (kind === "skip" || kind === "fixme") openSuite.mode = "skip";
    else openSuite.conditions.push({ kind, condition: () => true, reason });
    return undefined;
  };
}

function needsDeclaring(what) {
  if (runningTest !== null) throw new Error(`${what} can only be called outside of tests.`);
}

function addTest(mode, table, given) {
  needsDeclaring("test()");
  const [title, body, details] = [String(given[0]), given.at(-1), given.length > 2 ? given[1] : {}];
  if (typeof body !== "function") throw new Error(`test: the test "${title}" has no function.`);
  const annotations = [details.annotation ?? []].flat();
  const tags = [details.tag ?? []].flat();
  openSuite.entries.push({ title, body, mode, table, parent: openSuite, annotations, tags });
}

function addSuite(mode, given, changes = {}) {
  needsDeclaring("test.describe()");
  const title = typeof given[0] === "string" ? given[0] : "";
  const suite = Object.assign(makeSuite(title, openSuite, mode), changes);
  openSuite.entries.push(suite);
  openSuite = suite;
  try {
    given.at(-1)();
  } finally {
    openSuite = suite.parent;
  }
}

function configureSuite({ mode, timeout, retries } = {}) {
  if (mode !== undefined) openSuite.isSerial = mode === "serial";
  Object.assign(openSuite, withoutUndefined({ timeout, retries }));
}

/** `test` with the fixtures of a table. */
function makeTest(table) {
  const test = (...given) => addTest("run", table, given);
  test.only = (...given) => addTest("only", table, given);
  for (const kind of ["skip", "fixme", "fail", "slow"]) test[kind] = modifier(kind, table);
  test.describe = (...given) => addSuite("run", given);
  test.describe.only = (...given) => addSuite("only", given);
  test.describe.skip = (...given) => addSuite("skip", given);
  test.describe.fixme = test.describe.skip;
  test.describe.serial = (...given) => addSuite("run", given, { isSerial: true });
  test.describe.serial.only = (...given) => addSuite("only", given, { isSerial: true });
  test.describe.parallel = test.describe;
  test.describe.configure = configureSuite;
  for (const kind of HOOK_KINDS) {
    test[kind] = (...given) => {
      needsDeclaring(`test.${kind}()`);
      openSuite[kind].push({ hook: given.at(-1) });
    };
  }
  test.step = async (title, body) => body({ skip: () => {}, attach: async () => {} });
  test.setTimeout = (timeout) => {
    if (runningTest !== null) runningTest.setTimeout(timeout);
    else openSuite.timeout = timeout;
  };
  test.use = (options) => {
    needsDeclaring("test.use()");
    checkUse(options, table);
    openSuite.options = { ...openSuite.options, ...options };
  };
  test.extend = (fixtures) => makeTest(extendTable(table, fixtures));
  test.info = () => {
    if (runningTest === null) throw new Error("test.info() can only be called while test is running");
    return runningTest;
  };
  test.expect = expect;
  return test;
}

const testModule = {
  get test() {
    return (this.made ??= makeTest(builtInFixtures));
  },
  expect,
  defineConfig: (config) => config,
};
