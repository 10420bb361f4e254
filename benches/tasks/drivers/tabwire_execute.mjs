// Drives Tabwire by scripts: actions without a look are kept, and run with the next look in one `execute`.

import { readTabwire } from '../formats/tabwire.mjs';
import { Meter, run, shown } from './command.mjs';
import { Tabwire } from './tabwire.mjs';

/** The call of each action in a script. */
const CALLS = {
  click: (a) => call('click', { target: a.ref, button: a.button, position: a.at, modifiers: a.modifiers?.map((key) => key.toLowerCase()) }),
  dblclick: (a) => call('dblclick', { target: a.ref }),
  fill: (a) => call('fill', { target: a.ref, value: a.text }),
  fillForm: (a) => call('fill_form', { form: JSON.stringify(Object.fromEntries(a.fields.map(({ ref, value }) => [ref, value]))) }),
  type: (a) => call('type', { target: a.ref, text: a.text }),
  press: (a) => call('press', { target: a.ref, keys: a.keys }),
  select: (a) => call('select', { target: a.ref, options: a.options }),
  check: (a) => call(a.on === false ? 'uncheck' : 'check', { target: a.ref }),
  hover: (a) => call('hover', { target: a.ref }),
  drag: (a) => call('drag', { target: a.ref, to: a.by ? undefined : a.to, by: a.by }),
  upload: (a) => call('upload', { files: [a.file], target: a.ref }),
  dialog: (a) => `page.once('dialog', (dialog) => dialog.${a.accept ? `accept(${JSON.stringify(a.text)})` : 'dismiss()'});`,
  scroll: (a) => call('scroll', { target: a.ref, to: 'bottom' }),
  paste: (a) => call('clipboard', { what: 'paste', target: a.ref }),
  back: () => call('back', {}),
};

const call = (action, params) => `console.log(await tabwire.${action}(${JSON.stringify(params)}, { text: true }));`;

/** Prints the page between the lines that mark page text elsewhere, so that a reader finds it. */
const LOOK = (options) => `console.log(\`<page 0>\\n\${await snapshot(${options})}\\n</page 0>\`);`;

export class TabwireExecute extends Tabwire {
  name = 'tabwire execute';
  #kept = [];

  async reset() {
    this.#kept = [];
    await super.reset();
  }

  /** Runs what was kept and this code. */
  async #execute(code, known) {
    const script = [...this.#kept.splice(0), code].join('\n');
    const args = ['execute', script];
    const { code: exit, text } = await run(this.program, args, this.options);
    this.meter.count(shown('tabwire', args), text);
    return { ok: exit === 0, text, tree: readTabwire(text, known), isElsewhere: /^navigated|^url: /m.test(text) };
  }

  open(url) {
    return this.#execute(`await page.goto(${JSON.stringify(url)}); ${LOOK('')}`, null);
  }

  look(known) {
    return this.#execute(LOOK(known ? '{ delta: true }' : ''), known);
  }

  act(action, look, known) {
    const code = CALLS[action.kind](action);
    if (action.kind === 'dialog') {
      // A script listens before the action that opens the dialog.
      this.#kept.splice(-1, 0, code);
      return { ok: true, text: '', tree: null, isElsewhere: false };
    }
    if (look) return this.#execute(`${code}\n${LOOK(known ? '{ delta: true }' : '')}`, known);
    this.#kept.push(code);
    return { ok: true, text: '', tree: null, isElsewhere: false };
  }

  async flush() {
    if (this.#kept.length > 0) await this.#execute('', null);
  }

  waitFor(text) {
    return this.#execute(call('wait_for', { text }), null);
  }

  async search(text, seen) {
    return /\(\d[\d,]* more/.test(seen) ? this.#execute(LOOK(`{ search: ${JSON.stringify(text)} }`), null) : null;
  }

  readText() {
    return this.#execute(call('get_text', {}), null);
  }

  clipboard() {
    return this.#execute(call('clipboard', { what: 'read' }), null);
  }

  async selectTab(pattern, last) {
    await this.flush();
    return super.selectTab(pattern, last);
  }
}
