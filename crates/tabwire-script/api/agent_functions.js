// Functions for agents, besides Playwright's: the page in few words, refs, logs, help.

const HELP = {
  "": `Topics: help('locators'), help('actions'), help('expect'), help('helpers'), help('limits').
Globals: page, context, browser, expect, state, tabwire, console, args, snapshot(), refToLocator(), pageMarkdown(),
cleanHTML(), getLogs(), clearLogs(), waitForPageLoad(), setTimeout, URL, TextEncoder.`,
  locators: `page.getByRole('button', { name: 'Pay' }), getByText, getByLabel, getByPlaceholder, getByAltText, getByTitle,
getByTestId, locator('css'), locator('text=Pay'), locator('xpath=//a'), locator('aria-ref=e12'), frameLocator('iframe').
.first() .last() .nth(1) .filter({ hasText, has }) .and() .or(). Locators are strict: an action needs one match.`,
  actions: `await locator.click() dblclick() hover() fill('x') press('Enter') check() selectOption('x') dragTo(other)
textContent() innerText() inputValue() getAttribute('href') isVisible() count() all() allTextContents() boundingBox()
evaluate((e) => e.id) screenshot() waitFor({ state }). page.goto(url) reload() goBack() title() url() evaluate(fn, arg)
waitForURL('**/done') waitForSelector() keyboard.press() mouse.click(x, y). tabwire.<action>({ ... }) for every action.`,
  expect: `await expect(locator).toBeVisible() toHaveText() toContainText() toHaveValue() toHaveCount() toBeChecked() .not;
await expect(page).toHaveURL() toHaveTitle(); expect(value).toBe() toEqual() toContain(); expect.poll(), expect.soft().`,
  helpers: `snapshot({ search, interactive, delta }) is the page as short lines with refs; refToLocator('e12') is a locator;
pageMarkdown() is the text as Markdown; cleanHTML(selector); getLogs({ search, limit }) are console messages of the page.`,
  limits: `30 s by default (timeout_ms), 128 MiB of memory, 64 calls at once, 10,000 calls a run, 1 MiB of console output.
Variables and state live until reset; after a kill the part of state that is JSON is kept.`,
};

const helpers = {
  help: (topic = "") => HELP[topic] ?? HELP[""],
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
    const lines = (result.messages ?? result.entries ?? []).map((one) => `[${one.level}] ${one.text}`);
    return search === undefined ? lines : lines.filter((line) => (search instanceof RegExp ? search.test(line) : line.includes(search)));
  },
  clearLogs: async ({ page = currentPage() } = {}) => void (await page.call("console", { clear: true }, { title: "clearLogs" })),
  waitForPageLoad: ({ page = currentPage(), timeout } = {}) => page.waitForLoadState("load", { timeout }),
};
