// Drives @playwright/mcp: an action, then the snapshot file that its result links to when the script needs to see the page.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { readPlaywright } from '../formats/playwright.mjs';
import { Meter } from './command.mjs';
import { McpClient } from './mcp_client.mjs';

const LINK = /\[Snapshot\]\((.+?)\)/;

const CALLS = {
  click: (a) => [['browser_click', { target: a.ref, ...(a.button && { button: a.button }), ...(a.modifiers && { modifiers: a.modifiers }) }]],
  dblclick: (a) => [['browser_click', { target: a.ref, doubleClick: true }]],
  fill: (a) => [['browser_type', { target: a.ref, text: a.text }]],
  fillForm: (a) => [['browser_fill_form', { fields: a.fields.map(field) }]],
  press: (a) => [...(a.ref ? [['browser_click', { target: a.ref }]] : []), ...a.keys.map((key) => ['browser_press_key', { key }])],
  select: (a) => [['browser_select_option', { target: a.ref, values: a.options }]],
  hover: (a) => [['browser_hover', { target: a.ref }]],
  upload: (a, directory) => [['browser_click', { target: a.ref }], ['browser_file_upload', { paths: [join(directory, a.file)] }]],
  dialog: (a) => [['browser_handle_dialog', { accept: a.accept, ...(a.text && { promptText: a.text }) }]],
  check: (a) => [['browser_click', { target: a.ref }]],
  scroll: (a) => (a.ref ? [code(`await page.locator('aria-ref=${a.ref}').evaluate(e => e.scrollTo(0, e.scrollHeight))`)] : [['browser_press_key', { key: 'End' }]]),
  paste: (a) => [...(a.ref ? [['browser_click', { target: a.ref }]] : []), ['browser_press_key', { key: 'ControlOrMeta+v' }]],
  back: () => [['browser_navigate_back', {}]],
};

function field({ ref, value, role }) {
  const type = typeof value === 'boolean' ? 'checkbox' : role === 'combobox' ? 'combobox' : 'textbox';
  return { target: ref, name: 'field', type, value: String(value) };
}

const code = (body) => ['browser_run_code_unsafe', { code: `async page => { ${body} }` }];

/** Points and distances have no tool in the default set: they go through Playwright code. */
function pointCalls(action) {
  const box = `const b = await page.locator('aria-ref=${action.ref}').boundingBox()`;
  if (action.kind === 'click' && action.at) {
    return [code(`${box}; await page.mouse.click(b.x + ${action.at[0]}, b.y + ${action.at[1]})`)];
  }
  const middle = 'const x = b.x + b.width / 2, y = b.y + b.height / 2; await page.mouse.move(x, y); await page.mouse.down()';
  return [code(`${box}; ${middle}; await page.mouse.move(x + ${action.by[0]}, y + ${action.by[1]}, { steps: 10 }); await page.mouse.up()`)];
}

export class PlaywrightMcp {
  name = 'playwright-mcp';
  meter = new Meter();
  #link = null;
  #tabLines = [];

  constructor({ script, directory, browser }) {
    const args = ['--headless', '--isolated', '--no-sandbox', '--browser', 'chromium', '--executable-path', browser];
    this.launch = [process.execPath, [script, ...args], { cwd: directory, env: { ...process.env, HOME: directory } }];
    this.directory = directory;
  }

  async start() {
    this.client = await McpClient.start(...this.launch);
    await this.client.call('browser_navigate', { url: 'about:blank' });
  }

  async reset() {
    this.meter = new Meter();
    this.#link = null;
    this.#tabLines = [];
    await this.client.call('browser_handle_dialog', { accept: false });
    await this.client.call('browser_close', {});
    await this.client.call('browser_navigate', { url: 'about:blank' });
  }

  async stop() {
    await this.client.call('browser_close', {});
    await this.client.stop();
  }

  async #call(tool, args) {
    const { ok, text } = await this.client.call(tool, args);
    this.meter.count(`${tool} ${JSON.stringify(args)}`, text);
    this.#link = LINK.exec(text)?.[1] ?? null;
    const tabLines = text.split('\n').filter((line) => /^- \d+:/.test(line));
    if (tabLines.length > 0) this.#tabLines = tabLines;
    const inline = /```yaml\n([\s\S]*?)```/.exec(text)?.[1];
    return { ok, text, tree: inline === undefined ? null : readPlaywright(inline) };
  }

  open(url) {
    return this.#call('browser_navigate', { url });
  }

  /** Reads the file of the last result when it has one: it is shorter than a new snapshot. */
  async look() {
    const link = this.#link;
    this.#link = null;
    if (!link) return this.#call('browser_snapshot', {});
    const text = await readFile(join(this.directory, link), 'utf8');
    this.meter.count(`read ${link}`, text);
    return { ok: true, text, tree: readPlaywright(text) };
  }

  async act(action) {
    let calls;
    if (action.at || action.by) calls = pointCalls(action);
    else if (action.kind === 'drag') calls = [['browser_drag', { startTarget: action.ref, endTarget: action.to }]];
    else if (action.kind === 'type') calls = this.#typing(action);
    else calls = CALLS[action.kind](action, this.directory);
    let result;
    for (const [tool, args] of calls) {
      result = await this.#call(tool, args);
      if (!result.ok) break;
    }
    return result;
  }

  #typing({ ref, text }) {
    if (ref) return [['browser_type', { target: ref, text, slowly: true }]];
    return [...text].map((key) => ['browser_press_key', { key: key === ' ' ? 'Space' : key }]);
  }

  async waitFor(text) {
    return this.#call('browser_wait_for', { text });
  }

  async search() {
    return null;
  }

  readText() {
    return this.#call('browser_evaluate', { function: '() => document.body.innerText' });
  }

  clipboard() {
    return this.#call('browser_evaluate', { function: '() => navigator.clipboard.readText()' });
  }

  textTarget(text) {
    return `text="${text}"`;
  }

  /** Selects a tab by its index in the list that results with several tabs print. */
  async selectTab(pattern) {
    const known = () => this.#tabLines.find((line) => pattern.test(line));
    if (!known()) await this.#call('browser_tabs', { action: 'list' });
    const index = /^- (\d+):/.exec(known() ?? '')?.[1];
    if (index === undefined) return { ok: false, text: 'no such tab', tree: null };
    return this.#call('browser_tabs', { action: 'select', index: Number(index) });
  }
}
