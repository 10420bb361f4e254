// Functions for agents, besides Playwright's: the page in few words, refs, logs, help.

const HELP = {
  "": `Topics: help('locators'), 'input', 'reading', 'navigation', 'expect', 'network', 'tabs', 'files', 'helpers', 'actions',
'modules', 'skills', 'errors', 'limits'.
Globals: page, context, browser, expect, state, tabwire, fs, console, args, executeSignal, snapshot(), refToLocator(),
pageMarkdown(), cleanHTML(), getLogs(), clearLogs(), waitForPageLoad(), screenshotWithAccessibilityLabels(), secret(),
skills(), help(), setTimeout, URL, TextEncoder, structuredClone, crypto.randomUUID().`,
  locators: `page.getByRole('button', { name: 'Pay' }), getByText, getByLabel, getByPlaceholder, getByAltText, getByTitle,
getByTestId, locator('css'), locator('text=Pay'), locator('xpath=//a'), locator('aria-ref=e12'), frameLocator('iframe').
.first() .last() .nth(1) .filter({ hasText, has, visible }) .and() .or(). Locators are strict: an action needs one match.`,
  input: `await locator.click({ button, modifiers, position, force }) dblclick() hover() tap() fill('x') clear() press('Enter')
pressSequentially('x') check() uncheck() setChecked(true) selectOption('x') dragTo(other) setInputFiles('a.txt') focus()
blur() selectText(). page.keyboard.press('Control+A'), page.mouse.click(x, y). They wait until the element can be acted on,
not for what follows: use expect or waitFor.`,
  reading: `await locator.textContent() innerText() innerHTML() inputValue() getAttribute('href') isVisible() isChecked() count()
all() allTextContents() boundingBox() evaluate((element, arg) => ..., arg) evaluateAll((list) => ...) screenshot().
page.title() url() content() evaluate(fn, arg) $eval(selector, fn).`,
  navigation: `await page.goto(url, { waitUntil: 'load' }) reload() goBack() goForward() waitForURL('**/done')
waitForLoadState('networkidle') waitForSelector('css') waitForFunction(fn) waitForTimeout(ms) setContent(html).`,
  expect: `await expect(locator).toBeVisible() toBeHidden() toBeEnabled() toBeChecked() toHaveText() toContainText() toHaveValue()
toHaveCount() toHaveAttribute() toHaveClass() toHaveCSS(), .not; await expect(page).toHaveURL() toHaveTitle();
expect(value).toBe() toEqual() toContain() toMatch(); expect.poll(() => value).toBe(), expect(fn).toPass(), expect.soft().`,
  network: `await page.route('**/api/*', (route) => route.fulfill({ json })) or route.continue({ headers }), route.abort(), route.fallback();
const response = await page.waitForResponse('**/api/*'); response.json(), response.request().postData(). page.on('request', fn).
await page.request.get(url) and fetch(url) send requests with the browser's cookies. tabwire.requests({ url }) lists requests, tabwire.request({ number }) shows one with its body,
tabwire.route({ url, body, status, abort }) changes responses, tabwire.unroute({ all: true }) ends that.`,
  tabs: `page is the client's tab. await browser.newContext({ viewport, locale, baseURL }) has cookies of its own. context.pages(), await context.newPage(), page.close(), page.bringToFront(),
const popup = await page.waitForEvent('popup'). state keeps pages between runs. page.on('dialog', (d) => d.accept()).`,
  files: `await fs.readFile('a.csv', 'utf8') and fs.writeFile('b.json', text), below the session's roots. In a guarded session reading
needs the upload grant of the page's site, writing the download grant. Only files that the session wrote are replaced.`,
  helpers: `snapshot({ search, interactive, delta, full }) is the page as short lines with refs; delta shows what changed since the last
call. refToLocator('e12') is a locator. pageMarkdown() is the text as Markdown; cleanHTML(selector) short HTML.
getLogs({ search, limit }) and clearLogs() are console messages of the page. screenshotWithAccessibilityLabels() marks elements
with refs. fill(secret('shop')) fills in a saved password, which the script never has.`,
  actions: () => `tabwire.<action>(params, { tab, timeout }) for every action; each waits until the page has settled:
${Object.keys(tabwire).join(" ")}. Parameters: \`tabwire types\`, or call one with { help: 1 } to see them in the error.`,
  modules: `import { chromium } from 'playwright'; import { test, expect } from '@playwright/test'; import { tabwire } from 'tabwire';
import { x } from 'tabwire:name' is a skill. Files of \`tabwire run\` import files beside them. Nothing else can be imported.`,
  skills: () => knownSkills.length === 0
    ? "There are no skills. A skill is scripts/NAME/index.ts with a SKILL.md in Tabwire's configuration directory."
    : knownSkills.map((skill) => `tabwire:${skill.name}: ${skill.description}`).join("\n"),
  errors: `Errors are Playwright's, with the line of code. error.code is Tabwire's code: SELECTOR_NOT_FOUND, NOT_ACTIONABLE, TIMEOUT,
POLICY_DENIED (do not work around it: show its remedy to the user), DIALOG_OPEN. error.failure is the whole failure.`,
  limits: `30 s by default (timeout_ms, at most 10 minutes), 128 MiB of memory, 64 calls at once, 10,000 calls a run, 8 images, 1 MiB of
console output. Variables and state live until reset; after a kill the part of state that is JSON is kept. No files, network
or processes but through this API. Intl and Temporal are not there.`,
};

/** The user's skills: name, description and explanation. */
let knownSkills = [];

/** Explains a topic, or a skill. */
function help(topic = "") {
  const skill = knownSkills.find((one) => one.name === topic || `tabwire:${one.name}` === topic);
  if (skill !== undefined) return skill.text === "" ? skill.description : skill.text;
  const text = Object.hasOwn(HELP, topic) ? HELP[topic] : null;
  if (text === null) return `There is no topic ${inspect(topic)}.\n${HELP[""]}`;
  return typeof text === "function" ? text() : text;
}

/** Files below the session's roots, through the daemon. */
const scriptFiles = {
  async readFile(path, options) {
    const { result } = await callAction("file_read", { path: String(path) }, { title: "fs.readFile" });
    const bytes = fromBase64(result.base64);
    const encoding = typeof options === "string" ? options : options?.encoding;
    if (encoding === undefined || encoding === null) return bytes;
    if (!/^utf-?8$/i.test(encoding)) throw new TypeError(`fs.readFile: the encoding ${encoding} is not known; use "utf8".`);
    return new ScriptTextDecoder().decode(bytes);
  },
  async writeFile(path, content) {
    const bytes = ArrayBuffer.isView(content) ? new Uint8Array(content.buffer, content.byteOffset, content.byteLength) : new ScriptTextEncoder().encode(String(content));
    const { result } = await callAction("file_write", { path: String(path), base64: toBase64(bytes) }, { title: "fs.writeFile" });
    return result.path;
  },
};

const helpers = {
  help,
  skills: () => knownSkills.map(({ name, description }) => ({ name, description })),
  fs: scriptFiles,
  /** Stands for a saved password. The daemon fills it in, and only on the origin that it was saved for. */
  secret: (name) => `{secret:${String(name)}}`,
  /** A screenshot with a mark on each interactive element, and the list of the marks with refs. */
  screenshotWithAccessibilityLabels: async ({ page = currentPage(), fullPage = false } = {}) => {
    const { result } = await page.call("screenshot", { annotate: true, full_page: fullPage }, { title: "screenshotWithAccessibilityLabels" });
    host.image(result.path);
    const labels = (result.annotations ?? []).map((one) => `[${one.ref}] ${one.role ?? ""} ${one.name === undefined || one.name === "" ? "" : stringify(one.name)}`.trim()).join("\n");
    return { path: result.path, width: result.width, height: result.height, labels };
  },
  /** The page as short lines with refs. */
  snapshot: async ({ page = currentPage(), search, interactive = false, delta = false, full = false } = {}) => {
    if (search !== undefined) {
      const isPattern = search instanceof RegExp;
      const { result } = await page.call("find", { text: isPattern ? search.source : String(search), regex: isPattern }, { title: "snapshot", text: true });
      return result;
    }
    const { result } = await page.call("snapshot", { interactive, delta, full }, { title: "snapshot", text: true });
    return result;
  },
  refToLocator: (reference, page = currentPage()) => new Locator(page, [{ ref: String(reference).replace(/^@/, "") }], `locator('aria-ref=${reference}')`),
  pageMarkdown: async ({ page = currentPage() } = {}) => (await page.call("read_as_markdown", {}, { title: "pageMarkdown", text: true })).result,
  cleanHTML: async (selector, { page = currentPage() } = {}) => {
    const target = selector === undefined ? {} : { target: (selector instanceof Locator ? selector : page.locator(selector)).target };
    return (await page.call("get_html", { clean: true, ...target }, { title: "cleanHTML", text: true })).result;
  },
  getLogs: async ({ page = currentPage(), search, limit } = {}) => {
    const { result } = await page.call("console", withoutUndefined({ all: true, limit }), { title: "getLogs" });
    const lines = result.lines.map((one) => `[${one.level}] ${one.text}`);
    return search === undefined ? lines : lines.filter((line) => (search instanceof RegExp ? search.test(line) : line.includes(search)));
  },
  clearLogs: async ({ page = currentPage() } = {}) => void (await page.call("console", { clear: true }, { title: "clearLogs" })),
  getCDPSession: ({ page = currentPage() } = {}) => newCDPSession(page, "getCDPSession"),
  waitForPageLoad: ({ page = currentPage(), timeout } = {}) => page.waitForLoadState("load", { timeout }),
};
