// Drives the command line of Tabwire: change reports with `--snapshot`, else full snapshots.

import { readTabwire } from '../formats/tabwire.mjs';
import { Meter, run, shown } from './command.mjs';

/** The command line of each action. Options come first: `press` and `select` take everything after their arguments as values. */
const COMMANDS = {
  click: (a) => ['click', ...(a.button ? ['--button', a.button] : []), ...(a.at ? ['--position', a.at.join(',')] : []), ...modifiers(a), a.ref],
  dblclick: (a) => ['dblclick', a.ref],
  fill: (a) => ['fill', a.ref, a.text],
  fillForm: (a) => ['fill-form', ...a.fields.flatMap(({ ref, value }) => ['--field', `${ref}=${value}`])],
  type: (a) => ['type', ...(a.ref ? ['--target', a.ref] : []), a.text],
  press: (a) => ['press', ...(a.ref ? ['--target', a.ref] : []), ...a.keys],
  select: (a) => ['select', a.ref, ...a.options],
  check: (a) => [a.on === false ? 'uncheck' : 'check', a.ref],
  hover: (a) => ['hover', a.ref],
  drag: (a) => ['drag', a.ref, ...(a.by ? ['--by', a.by.join(',')] : [a.to])],
  upload: (a) => ['upload', a.file, '--to', a.ref],
  dialog: (a) => ['dialog', a.accept ? 'accept' : 'dismiss', ...(a.text ? ['--text', a.text] : [])],
  scroll: (a) => ['scroll', ...(a.ref ? ['--target', a.ref] : []), '--to', 'bottom'],
  paste: (a) => ['clipboard', 'paste', ...(a.ref ? ['--target', a.ref] : [])],
  back: () => ['back'],
};

/** Actions without a change report. */
const SILENT = new Set(['upload', 'back']);

const URL_LINE = /^(?:url: |<page [0-9a-f]+> |\S+:\d+ +)(http[^\s#]+)/m;
const TAB_ID = /\b\w+:\w+:\d+\b(?=\s|$)/;

const modifiers = (a) => (a.modifiers ?? []).flatMap((key) => ['--modifier', key.toLowerCase()]);

export class Tabwire {
  name = 'tabwire';
  meter = new Meter();
  /** Printed lines that name a tab. */
  #tabLines = [];
  /** The URL that was printed last, without its fragment. */
  #url = '';

  constructor({ program, directory }) {
    this.program = program;
    this.options = { cwd: directory, env: { ...process.env, TABWIRE_HOME: `${directory}/home`, TABWIRE_PORT: '0' } };
  }

  async start() {
    const begun = await run(this.program, ['open', 'about:blank'], this.options);
    if (begun.code !== 0) throw new Error(begun.text);
  }

  async reset() {
    this.meter = new Meter();
    this.#tabLines = [];
    const { text } = await run(this.program, ['tabs-list'], this.options);
    const ids = text.split('\n').map((line) => TAB_ID.exec(line)?.[0]).filter(Boolean);
    for (const id of ids.slice(1)) await run(this.program, ['tab-close', id], this.options);
    if (ids.length > 1) await run(this.program, ['tab-select', ids[0]], this.options);
    await run(this.program, ['dialog', 'dismiss'], this.options);
    await run(this.program, ['navigate', 'about:blank'], this.options);
  }

  async stop() {
    await run(this.program, ['daemon', 'stop'], this.options);
  }

  async #call(args, known) {
    const { code, text } = await run(this.program, args, this.options);
    this.meter.count(shown('tabwire', args), text);
    this.#tabLines.push(...text.split('\n').filter((line) => TAB_ID.test(line)));
    // A URL that differs only in its fragment is the same document: refs stay.
    const url = URL_LINE.exec(text)?.[1] ?? this.#url;
    const isElsewhere = url !== this.#url;
    this.#url = url;
    return { ok: code === 0, text, tree: readTabwire(text, known), isElsewhere };
  }

  open(url) {
    return this.#call(['open', url], null);
  }

  /** The changes when the page was seen before, else all of it. */
  look(known) {
    return this.#call(known ? ['snapshot', '--delta'] : ['snapshot'], known);
  }

  act(action, look, known) {
    const args = COMMANDS[action.kind](action);
    if (look && !SILENT.has(action.kind)) args.splice(action.kind === 'dialog' ? args.length : 1, 0, '--snapshot');
    return this.#call(args, known);
  }

  waitFor(text) {
    return this.#call(['wait-for', '--text', text, '--timeout', '5s'], null);
  }

  /** Searches what a snapshot left out; only where it says that it left something out. */
  async search(text, seen) {
    return /\(\d[\d,]* more/.test(seen) ? this.#call(['find', text], null) : null;
  }

  readText() {
    return this.#call(['get-text'], null);
  }

  async clipboard() {
    return this.#call(['clipboard', 'read'], null);
  }

  textTarget(text) {
    return `text="${text}"`;
  }

  /** Selects the tab that the last result reports as new, else one whose line in an earlier output fits, else from the list. */
  async selectTab(pattern, last) {
    const known = () => this.#tabLines.findLast((line) => pattern.test(line));
    const reported = /^new tab: (\S+)/m.exec(last)?.[1];
    if (!reported && !known()) await this.#call(['tabs-list'], null);
    const id = reported ?? TAB_ID.exec(known() ?? '')?.[0];
    return id ? this.#call(['tab-select', '--snapshot', id], null) : { ok: false, text: 'no such tab', tree: null };
  }
}
