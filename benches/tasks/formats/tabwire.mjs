// Reads the text of `tabwire snapshot`, `find` and the change reports of `--snapshot`.

import { Entry } from '../agent/tree.mjs';

const FENCE = /^<page ([0-9a-f]+)>/;

/** The lines between the fence lines, or null when there is no fence. */
export function fenced(text) {
  const lines = text.split('\n');
  const first = lines.findIndex((line) => FENCE.test(line));
  if (first < 0) return null;
  const end = `</page ${FENCE.exec(lines[first])[1]}>`;
  const last = lines.indexOf(end, first);
  return lines.slice(first + 1, last < 0 ? undefined : last);
}

/** The tree of a snapshot: `known` with the changes when the text is a change report, else a new tree; null without one. */
export function readTabwire(text, known) {
  const lines = fenced(text);
  if (lines === null) return null;
  if (lines.some((line) => line.startsWith('(nothing changed'))) return known;
  const at = lines.findIndex((line) => line.startsWith('(changes since'));
  if (at >= 0) return applyChanges(known ?? new Entry('page'), lines.slice(at + 1));
  if (!lines.some((line) => /^\s*- /.test(line))) return null;
  return build(lines);
}

function build(lines) {
  const root = new Entry('page');
  const stack = [root];
  for (const line of lines) {
    const found = /^( *)- (.*)$/.exec(line);
    if (!found) continue;
    const depth = found[1].length / 2;
    stack.length = Math.min(stack.length, depth + 1);
    const parent = stack.at(-1);
    readItems(found[2], parent);
    stack.push(parent.children.at(-1));
  }
  return root;
}

function applyChanges(root, lines) {
  const stack = [root];
  for (const line of lines) {
    const found = /^([ ~+-]) ( *)(.*)$/.exec(line);
    if (!found) continue;
    const [, mark, indent, content] = found;
    stack.length = Math.min(stack.length, indent.length / 2 + 1);
    const parent = stack.at(-1);
    const holder = new Entry(parent.role);
    readItems(content.replace(/ \(with \d+ inside\)$/, ''), holder);
    const read = holder.children.at(-1);
    if (!read) continue;
    const old = mark === '+' ? null : findOld(root, parent, read);
    if (mark === '-') {
      if (old) old.parent.children.splice(old.parent.children.indexOf(old), 1);
      continue;
    }
    stack.push(old ? update(old, read, mark) : place(parent, holder));
  }
  return root;
}

function findOld(root, parent, read) {
  if (read.ref) return [...root.walk()].find((entry) => entry.ref === read.ref) ?? null;
  const sameRole = parent.children.filter((entry) => entry.role === read.role);
  const sameName = sameRole.find((entry) => entry.name === read.name);
  return sameName ?? (sameRole.length === 1 ? sameRole[0] : null);
}

function update(old, read, mark) {
  if (mark === '~') {
    old.name = read.name;
    old.details = read.details;
    if (read.children.length > 0) {
      old.children = [];
      for (const child of read.children) old.add(child);
    }
  }
  return old;
}

function place(parent, holder) {
  for (const child of holder.children) parent.add(child);
  return parent.children.at(-1);
}

/** Reads the items of one line into a parent. */
function readItems(text, parent) {
  let rest = text;
  let role = parent.role === 'row' ? 'cell' : 'text';
  let target = parent;
  let cell = null;
  while (rest) {
    if (rest.startsWith('(')) {
      target.add(new Entry('note', rest));
      return;
    }
    const head = /^([a-z][a-z0-9-]*)?(?: ?"((?:\\.|[^"\\])*)")?(?: ?\[(e\d+)\])?/.exec(rest);
    if (head[0] === '') return;
    rest = rest.slice(head[0].length);
    role = head[1] ?? role;
    const tail = /^(?:"(?:\\.|[^"\\])*"|(?!, | \| |:(?: |$)).)*/.exec(rest)[0];
    rest = rest.slice(tail.length);
    const entry = new Entry(role, (head[2] ?? '').replace(/\\(.)/g, '$1'), head[3] ?? null, tail);
    (cell ?? target).add(entry);
    if (rest.startsWith(':')) {
      rest = rest.slice(2);
      target = entry;
      cell = null;
      role = entry.role === 'row' ? 'cell' : 'text';
    } else if (rest.startsWith(' | ')) {
      rest = rest.slice(3);
      cell = null;
      role = 'cell';
    } else {
      rest = rest.slice(2);
      cell ??= entry.role === 'cell' ? entry : null;
    }
  }
}
