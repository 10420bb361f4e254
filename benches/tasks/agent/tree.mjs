// The elements that a printed snapshot shows, as a tree, and the search in it.

/** One printed element, or one printed text. */
export class Entry {
  constructor(role, name = '', ref = null, details = '') {
    this.role = role;
    this.name = name;
    this.ref = ref;
    this.details = details;
    this.children = [];
    this.parent = null;
  }

  add(child) {
    child.parent = this;
    this.children.push(child);
    return child;
  }

  /** The field's value as printed, or null. */
  get value() {
    const found = /(?:^| )value="((?:\\.|[^"\\])*)"/.exec(this.details);
    return found ? found[1].replace(/\\(.)/g, '$1') : null;
  }

  /** Its name and everything printed below it, in order. */
  get text() {
    const parts = [this.name, this.value ?? '', ...this.children.map((child) => child.text)];
    return parts.filter(Boolean).join(' ').replace(/\s+/g, ' ').trim();
  }

  * walk() {
    yield this;
    for (const child of this.children) yield* child.walk();
  }
}

const tidy = (text) => text.replace(/\s+/g, ' ').trim();

/** How well an entry fits a query; 0 is no fit, a larger number is a better fit. */
function fit(entry, query) {
  if (!entry.ref || (query.only && !query.only(entry))) return 0;
  const roles = query.role === undefined ? null : [query.role].flat();
  const sameRole = roles === null || roles.includes(entry.role);
  if (query.name === undefined) return sameRole ? 3 : 0;
  if (query.strict && !sameRole) return 0;
  if (query.name instanceof RegExp) {
    if (!query.name.test(entry.name) && !query.name.test(entry.text)) return 0;
    return sameRole ? 2 : 1;
  }
  const wanted = tidy(query.name);
  if (tidy(entry.name) === wanted) return sameRole ? 7 : 5;
  if (entry.text === wanted) return sameRole ? 6 : 4;
  const isShort = entry.text.length <= 3 * wanted.length + 20;
  return sameRole && isShort && entry.text.toLowerCase().includes(wanted.toLowerCase()) ? 3 : 0;
}

/** Leaves out containers of other entries that fit as well: the inner one is meant. */
function innermost(entries) {
  const outer = new Set();
  for (const entry of entries) {
    for (let part = entry.parent; part; part = part.parent) outer.add(part);
  }
  return entries.filter((entry) => !outer.has(entry));
}

/** The size of the smallest part of the tree that holds both the entry and the text, and the place of the text in it. */
function closeness(entry, { near, before }, order) {
  for (let part = entry; part; part = part.parent) {
    const hits = [...part.walk()].filter((other) => tidy(`${other.name} ${other.value ?? ''}`).includes(tidy(near)));
    if (hits.length > 0) {
      const here = order.get(entry);
      const distances = hits.map((hit) => (before ? order.get(hit) - here : here - order.get(hit)));
      const gaps = distances.map((distance) => (distance >= 0 ? distance : 10_000 - distance));
      return { size: [...part.walk()].length, gap: Math.min(...gaps) };
    }
  }
  return null;
}

/**
 * Entries in the order of their distance to a text, which they follow or, with `before`, precede. With `nth` they are
 * those that follow the text, in reading order.
 */
function nearest(entries, query, order) {
  const { nth } = query;
  const ranked = entries.map((entry) => ({ entry, rank: closeness(entry, query, order) })).filter(({ rank }) => rank);
  ranked.sort((a, b) => a.rank.size - b.rank.size || a.rank.gap - b.rank.gap);
  if (nth === undefined) return ranked.map(({ entry }) => entry);
  const inside = ranked.filter(({ rank }) => rank.size === ranked[0].rank.size);
  const after = inside.filter(({ rank }) => rank.gap < 10_000);
  return (after.length > 0 ? after : inside).map(({ entry }) => entry).sort((a, b) => order.get(a) - order.get(b));
}

/** All entries that fit best, in reading order; with `near`, those nearest to that text come first. */
export function matches(root, query) {
  const order = new Map([...root.walk()].map((entry, index) => [entry, index]));
  const fitting = [...order.keys()].map((entry) => [fit(entry, query), entry]).filter(([score]) => score > 0);
  const best = Math.max(0, ...fitting.map(([score]) => score));
  const found = innermost(fitting.filter(([score]) => score === best).map(([, entry]) => entry));
  return query.near === undefined ? found : nearest(found, query, order);
}

/** The entry that a query means, or null. */
export function match(root, query) {
  const found = matches(root, query);
  const nth = query.nth ?? 1;
  return found[nth < 0 ? found.length + nth : nth - 1] ?? null;
}
