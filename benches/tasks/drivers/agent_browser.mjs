// Drives the command line of agent-browser: an action, then `snapshot` when the script needs to see the page.

import { readAgentBrowser } from '../formats/agent_browser.mjs';
import { Meter, run, shown } from './command.mjs';

/** A ref of a snapshot, or a selector as it is. */
const name = (target) => (/^e\d+$/.test(target) ? `@${target}` : target);

const COMMANDS = {
  dblclick: (a) => [['dblclick', name(a.ref)]],
  fill: (a) => [['fill', name(a.ref), a.text]],
  fillForm: (a) => a.fields.map(fieldCommand),
  type: (a) => [a.ref ? ['type', name(a.ref), a.text] : ['keyboard', 'type', a.text]],
  press: (a) => [...(a.ref ? [['focus', name(a.ref)]] : []), ...a.keys.map((key) => ['press', key])],
  select: (a) => [['select', name(a.ref), ...a.options]],
  check: (a) => [[a.on === false ? 'uncheck' : 'check', name(a.ref)]],
  hover: (a) => [['hover', name(a.ref)]],
  upload: (a, directory) => [['upload', name(a.ref), `${directory}/${a.file}`]],
  dialog: (a) => [['dialog', a.accept ? 'accept' : 'dismiss', ...(a.text ? [a.text] : [])]],
  paste: (a) => [...(a.ref ? [['focus', name(a.ref)]] : []), ['clipboard', 'paste']],
  back: () => [['back']],
};

function fieldCommand({ ref, value, role }) {
  if (role === 'combobox') return ['select', name(ref), value];
  return typeof value === 'boolean' ? [value ? 'check' : 'uncheck', name(ref)] : ['fill', name(ref), value];
}

export class AgentBrowser {
  meter = new Meter();
  #tabLines = [];

  constructor({ program, directory, browser, interactive }) {
    this.name = interactive ? 'agent-browser -i' : 'agent-browser';
    this.program = program;
    this.snapshot = interactive ? ['snapshot', '-i'] : ['snapshot'];
    this.interactive = interactive;
    this.directory = directory;
    const session = interactive ? 'tasks-i' : 'tasks';
    const settings = { HOME: directory, AGENT_BROWSER_SESSION: session, AGENT_BROWSER_EXECUTABLE_PATH: browser, AGENT_BROWSER_ARGS: '--no-sandbox', AGENT_BROWSER_DEFAULT_TIMEOUT: '10000' };
    this.options = { cwd: directory, env: { ...process.env, ...settings } };
  }

  async start() {
    const begun = await run(this.program, ['open', 'about:blank'], this.options);
    if (begun.code !== 0) throw new Error(begun.text);
  }

  async reset() {
    this.meter = new Meter();
    this.#tabLines = [];
    await run(this.program, ['dialog', 'dismiss'], this.options);
    const { text } = await run(this.program, ['tab', 'list'], this.options);
    const ids = [...text.matchAll(/\b(t\d+)\b/g)].map((found) => found[1]);
    for (const id of ids.slice(1)) await run(this.program, ['tab', 'close', id], this.options);
    await run(this.program, ['open', 'about:blank'], this.options);
  }

  async stop() {
    await run(this.program, ['close'], this.options);
  }

  async #call(args) {
    const { code, text } = await run(this.program, args, this.options);
    this.meter.count(shown('agent-browser', args), text);
    return { ok: code === 0, text, tree: args[0] === 'snapshot' && code === 0 ? readAgentBrowser(text) : null };
  }

  open(url) {
    return this.#call(['open', url]);
  }

  look() {
    return this.#call(this.snapshot);
  }

  async act(action, _look) {
    const commands = COMMANDS[action.kind]?.(action, this.directory);
    if (!commands) return this[`_${action.kind}`](action);
    let result;
    for (const command of commands) {
      result = await this.#call(command);
      if (!result.ok) break;
    }
    return result;
  }

  /** Clicks with another button or at a point go through the mouse. */
  async _click({ ref, button, at, modifiers }) {
    if (modifiers) return { ok: false, text: 'agent-browser holds no keys during a click', tree: null };
    if (!button && !at) return this.#call(['click', name(ref)]);
    const box = await this.#box(ref);
    if (!box) return { ok: false, text: 'no box', tree: null };
    const [x, y] = at ? [box.x + at[0], box.y + at[1]] : [box.x + box.width / 2, box.y + box.height / 2];
    await this.#call(['mouse', 'move', String(Math.round(x)), String(Math.round(y))]);
    await this.#call(['mouse', 'down', button ?? 'left']);
    return this.#call(['mouse', 'up', button ?? 'left']);
  }

  async _drag({ ref, to, by }) {
    if (!by) return this.#call(['drag', name(ref), name(to)]);
    const box = await this.#box(ref);
    if (!box) return { ok: false, text: 'no box', tree: null };
    const [x, y] = [Math.round(box.x + box.width / 2), Math.round(box.y + box.height / 2)];
    await this.#call(['mouse', 'move', String(x), String(y)]);
    await this.#call(['mouse', 'down']);
    await this.#call(['mouse', 'move', String(x + by[0]), String(y + by[1]), '--steps', '10']);
    return this.#call(['mouse', 'up']);
  }

  _scroll({ ref }) {
    return this.#call(['scroll', 'down', '10000', ...(ref ? ['--selector', name(ref)] : [])]);
  }

  async #box(ref) {
    const { ok, text } = await this.#call(['get', 'box', name(ref)]);
    if (!ok) return null;
    const number = (key) => Number(new RegExp(`${key}["']?\\s*[:=]\\s*([\\d.-]+)`).exec(text)?.[1]);
    return { x: number('x'), y: number('y'), width: number('width'), height: number('height') };
  }

  waitFor(text) {
    return this.#call(['wait', '--text', text]);
  }

  /** A snapshot of interactive elements leaves the text out: the full one has it. */
  async search() {
    return this.interactive ? this.#call(['snapshot']) : null;
  }

  readText() {
    return this.#call(['read']);
  }

  clipboard() {
    return this.#call(['clipboard', 'read']);
  }

  textTarget(text) {
    return `xpath=//*[normalize-space(text())="${text}" or @aria-label="${text}"]`;
  }

  /** Selects a tab by its id in the list of tabs, which stays the same. */
  async selectTab(pattern) {
    const known = () => this.#tabLines.find((line) => pattern.test(line));
    if (!known()) this.#tabLines = (await this.#call(['tab', 'list'])).text.split('\n');
    const id = /\b(t\d+)\b/.exec(known() ?? '')?.[1];
    return id ? this.#call(['tab', id]) : { ok: false, text: 'no such tab', tree: null };
  }
}
