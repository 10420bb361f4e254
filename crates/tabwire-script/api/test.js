// A small runner for files that import `@playwright/test`: tests run in order, in the session's browser.

const suites = [{ title: "", tests: [], before: [], after: [], beforeAll: [], afterAll: [] }];
const suitePath = [suites[0]];

function addTest(title, body, kind = "run") {
  suitePath.at(-1).tests.push({ title: [...suitePath.slice(1).map((suite) => suite.title), title].join(" › "), body, kind, suites: [...suitePath] });
  if (!isScheduled) {
    isScheduled = true;
    pendingTests = Promise.resolve().then(runTests);
  }
}

let isScheduled = false;
/** The run of the file's tests, which the run of the file waits for. */
let pendingTests = null;

function describeSuite(title, body) {
  const suite = { title, tests: [], before: [], after: [], beforeAll: [], afterAll: [] };
  suites.push(suite);
  suitePath.push(suite);
  body();
  suitePath.pop();
}

async function runTests() {
  let failed = 0;
  const all = suites.flatMap((suite) => suite.tests);
  const only = all.filter((one) => one.kind === "only");
  for (const one of only.length > 0 ? only : all) {
    if (one.kind === "skip") {
      host.console("log", `  -  ${one.title}`);
      continue;
    }
    const started = host.now();
    const error = await runTest(one);
    const time = `(${Math.round(host.now() - started)}ms)`;
    host.console("log", `  ${error === null ? "✓" : "✘"}  ${one.title} ${time}`);
    if (error !== null) {
      failed++;
      host.console("error", inspect(error));
    }
  }
  host.console("log", `\n  ${failed} failed, ${(only.length > 0 ? only : all).length - failed} passed`);
  if (failed > 0) throw new Error(`${failed} tests failed`);
}

async function runTest(one) {
  const fixtures = { page: currentPage(), context: browserContext, browser: sessionBrowser, request: {} };
  const hooks = (kind) => one.suites.flatMap((suite) => suite[kind]);
  softErrors.length = 0;
  let error = null;
  try {
    for (const suite of one.suites) for (const hook of suite.beforeAll.splice(0)) await hook(fixtures);
    for (const hook of hooks("before")) await hook(fixtures);
    await one.body(fixtures, { title: one.title });
  } catch (thrown) {
    error = thrown;
  }
  try {
    for (const hook of hooks("after")) await hook(fixtures);
  } catch (thrown) {
    error ??= thrown;
  }
  return error ?? softErrors[0] ?? null;
}

const test = (title, ...rest) => addTest(title, rest.at(-1));
test.skip = (title, ...rest) => typeof title === "string" && addTest(title, rest.at(-1), "skip");
test.fixme = test.skip;
test.only = (title, ...rest) => addTest(title, rest.at(-1), "only");
test.describe = (title, ...rest) => describeSuite(title, rest.at(-1));
test.describe.skip = () => {};
test.describe.configure = () => {};
test.beforeEach = (hook) => suitePath.at(-1).before.push(hook);
test.afterEach = (hook) => suitePath.at(-1).after.push(hook);
test.beforeAll = (hook) => suitePath.at(-1).beforeAll.push(hook);
test.afterAll = (hook) => suitePath.at(-1).afterAll.push(hook);
test.step = async (title, body) => body();
test.setTimeout = () => {};
test.slow = () => {};
test.use = () => {};
test.extend = () => test;
test.expect = expect;

const testModule = { test, expect, defineConfig: (config) => config };
