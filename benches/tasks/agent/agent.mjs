// The scripted agent: it reads printed snapshots, finds elements by role and name, acts by ref and reads the results.

import { Entry, match, matches } from './tree.mjs';

/** A script that cannot go on. */
export class Stuck extends Error {}

export class Agent {
  #driver;
  #tree = null;
  /** Everything printed since the page was last seen, for reading texts. */
  #seen = '';
  #last = '';
  /** Whether an action followed the last look. */
  #isStale = true;
  /** Whether the last look printed only changes. */
  #isReport = false;
  /** How often an element had no ref and was named by its text. */
  textTargets = 0;

  constructor(driver) {
    this.#driver = driver;
  }

  async open(url) {
    await this.#take(await this.#driver.open(url));
  }

  #take(result) {
    this.#last = result.text;
    if (result.tree) {
      this.#isReport = result.tree === this.#tree;
      this.#tree = result.tree;
      this.#seen = result.text;
      this.#isStale = false;
    } else if (result.isElsewhere) {
      this.#tree = null;
    }
    return result;
  }

  /** Makes sure that the known tree is the page of now; `whole` takes all of it again. */
  async look({ whole = false } = {}) {
    if (whole || this.#isStale || !this.#tree) this.#take(await this.#driver.look(whole ? null : this.#tree));
    return this.#tree ?? new Entry('page');
  }

  /** The entry that a query means: in what is known, else in a new look, else by a search; null without one. */
  async maybe(query) {
    if (query.ref) return query;
    const known = this.#tree && !query.fresh && match(this.#tree, query);
    if (known) return known;
    const seen = match(await this.look(), query);
    if (seen) return seen;
    // A report of changes can leave out the text that tells rows apart.
    if (query.near && this.#isReport) {
      const whole = match(await this.look({ whole: true }), query);
      if (whole) return whole;
    }
    const word = query.near ?? query.name;
    const searched = typeof word === 'string' && await this.#driver.search(word, this.#seen);
    return (searched?.tree && match(searched.tree, query)) || this.#byText(query, searched?.tree || this.#tree);
  }

  /** A text that is printed without a ref: the tool can be given the text itself, as the snapshot shows it. */
  #byText({ name, near, text = true }, tree) {
    if (!text || typeof name !== 'string' || near !== undefined || !tree) return null;
    const isPrinted = [...tree.walk()].some((entry) => !entry.ref && entry.name.trim() === name);
    return isPrinted ? this.text(name) : null;
  }

  /** A target by its text, for an element that no ref means. */
  text(name) {
    this.textTargets += 1;
    return { ref: this.#driver.textTarget(name), role: 'text', name };
  }

  async find(query) {
    const found = await this.maybe(query);
    if (found) return found;
    const word = query.near ?? query.name;
    if (typeof word === 'string' && (await this.#driver.waitFor(word)).ok) {
      this.#isStale = true;
      const later = await this.maybe({ ...query, fresh: true });
      if (later) return later;
    }
    throw new Stuck(`not in the snapshot: ${describe(query)}`);
  }

  /** All entries that fit a query, in a look that is of now. */
  async all(query) {
    return matches(await this.look(), query);
  }

  /** The first match of a pattern in what is printed, else in a new look, else in the page's text. */
  async read(pattern, { fresh = false } = {}) {
    const inTree = () => this.#tree && pattern.exec(this.#tree.text);
    const found = (!fresh || !this.#isStale) && (inTree() || pattern.exec(this.#last) || pattern.exec(this.#seen));
    if (found) return found;
    await this.look();
    const seen = inTree() || pattern.exec(this.#seen);
    if (seen) return seen;
    this.#seen += `\n${(await this.#driver.readText()).text}`;
    const text = pattern.exec(this.#seen);
    if (text) return text;
    throw new Stuck(`not printed: ${pattern}`);
  }

  /** What `read` gives, or an empty list. */
  async tryRead(pattern, { fresh = false } = {}) {
    if (fresh) await this.look();
    return (this.#tree && pattern.exec(this.#tree.text)) || pattern.exec(this.#last) || [];
  }

  /** Whether a text is printed of the page of now. */
  async has(text) {
    await this.look();
    if (this.#last.includes(text) || this.#tree?.text.includes(text)) return true;
    const searched = await this.#driver.search(text, this.#seen);
    return Boolean(searched?.tree?.text.includes(text));
  }

  /** Whether a text comes to the page. */
  async waitsFor(text) {
    const result = this.#take(await this.#driver.waitFor(text));
    this.#isStale = true;
    return result.ok;
  }

  /** Waits until a text is on the page, when it is not in what was printed last. */
  async waitFor(text) {
    if (!this.#isStale && this.#tree?.text.includes(text)) return;
    if (this.#last.includes(text)) return;
    const result = await this.#driver.waitFor(text);
    this.#isStale = true;
    if (!result.ok) throw new Stuck(`never there: ${text}`);
  }

  /** Runs an action. When it fails, looks at the page and tries once more with the entry that fits then. */
  async #act(action, query, { look = false, retry = true } = {}) {
    const entry = query ? await this.find(query) : null;
    const result = this.#take(await this.#driver.act({ ...action, ...(entry && { ref: entry.ref }) }, look, this.#tree));
    if (!result.tree) this.#isStale = true;
    if (!result.ok) {
      if (!retry) throw new Stuck(`failed: ${action.kind} ${describe(query ?? {})}: ${result.text.split('\n')[0]}`);
      return this.#act(action, query?.ref ? query : query && { ...query, fresh: true }, { look, retry: false });
    }
    if (look) await this.look();
    return result;
  }

  click(query, { look, ...rest } = {}) {
    return this.#act({ kind: 'click', ...rest }, query, { look });
  }

  dblclick(query, options) {
    return this.#act({ kind: 'dblclick' }, query, options);
  }

  fill(query, text, options) {
    return this.#act({ kind: 'fill', text }, query, options);
  }

  /** Fills several fields in as few calls as the tool can. */
  async fillForm(pairs, options) {
    const fields = [];
    for (const [query, value] of pairs) {
      const entry = await this.find(query);
      fields.push({ ref: entry.ref, role: entry.role, value });
    }
    return this.#act({ kind: 'fillForm', fields }, null, options);
  }

  type(query, text, options) {
    return this.#act({ kind: 'type', text }, query, options);
  }

  press(keys, { on = null, ...options } = {}) {
    return this.#act({ kind: 'press', keys: [keys].flat() }, on, options);
  }

  select(query, choice, options) {
    return this.#act({ kind: 'select', options: [choice].flat() }, query, options);
  }

  check(query, on = true, options) {
    return this.#act({ kind: 'check', on }, query, options);
  }

  hover(query, options) {
    return this.#act({ kind: 'hover' }, query, options);
  }

  async drag(query, target, options) {
    const to = (await this.find(target)).ref;
    return this.#act({ kind: 'drag', to }, query, options);
  }

  dragBy(query, by, options) {
    return this.#act({ kind: 'drag', by }, query, options);
  }

  upload(query, file, options) {
    return this.#act({ kind: 'upload', file }, query, options);
  }

  dialog(accept, { text, ...options } = {}) {
    return this.#act({ kind: 'dialog', accept, text }, null, options);
  }

  /** Responds to a further dialog when the last result names one. */
  async dialogIfReported(accept) {
    if (!/dialog|alert/i.test(this.#last)) await this.look();
    return /dialog_open|dialog:|alert|did not finish/i.test(this.#last) ? this.dialog(accept) : null;
  }

  scroll(query, options) {
    return this.#act({ kind: 'scroll' }, query, options);
  }

  paste(query, options) {
    return this.#act({ kind: 'paste' }, query, options);
  }

  back(options) {
    return this.#act({ kind: 'back' }, null, options);
  }

  async clipboard() {
    return (await this.#driver.clipboard()).text;
  }

  /** Makes the tab whose title or URL fits the current one and looks at it. */
  async selectTab(pattern) {
    const result = await this.#driver.selectTab(pattern, this.#last);
    if (!result.ok) throw new Stuck(`no tab fits ${pattern}`);
    this.#tree = null;
    this.#isStale = true;
    this.#take(result);
    await this.look();
  }

  /** What the last call printed. */
  get last() {
    return this.#last;
  }
}

function describe(query) {
  const near = query.near ? ` near "${query.near}"` : '';
  return `${query.role ?? 'element'} ${query.name ?? ''}${near}${query.nth ? ` number ${query.nth}` : ''}`;
}
