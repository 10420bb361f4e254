// Reads the YAML snapshots of @playwright/mcp.

import { Entry } from '../agent/tree.mjs';

/** The tree of a snapshot. */
export function readPlaywright(text) {
  const root = new Entry('page');
  const stack = [root];
  for (const line of text.split('\n')) {
    const found = /^( *)- (.*)$/.exec(line);
    if (!found) continue;
    stack.length = Math.min(stack.length, found[1].length / 2 + 1);
    const parent = stack.at(-1);
    const entry = readItem(found[2], parent);
    if (entry) stack.push(parent.add(entry));
  }
  return root;
}

function readItem(content, parent) {
  const [key, value] = splitKey(content);
  if (key.startsWith('/')) {
    parent.details += ` ${key}="${value ?? ''}"`;
    return null;
  }
  if (key === 'text') return new Entry('text', value ?? '');
  const found = /^(\S+)(?: "((?:\\.|[^"\\])*)")?(?: \/(.*?)\/)?(.*)$/.exec(key);
  const [, role, name, , rest] = found;
  const ref = /\[ref=([a-z0-9]+)\]/.exec(rest)?.[1] ?? null;
  const entry = new Entry(role, (name ?? '').replace(/\\(.)/g, '$1'), ref, rest);
  if (value) {
    const isField = /^(textbox|searchbox|spinbutton|slider|combobox)$/.test(role);
    if (isField) entry.details += ` value=${JSON.stringify(value)}`;
    else entry.add(new Entry('text', value));
  }
  return entry;
}

/** Splits `key: value` of YAML, where either part may be quoted. */
function splitKey(content) {
  if (content.startsWith("'")) {
    const found = /^'((?:''|[^'])*)'(?:: ?(.*))?$/.exec(content);
    return found ? [found[1].replaceAll("''", "'"), unquote(found[2])] : [content, undefined];
  }
  const found = /^((?:"(?:\\.|[^"\\])*"|[^":]|:(?! |$))*):(?: (.*))?$/.exec(content);
  return found ? [found[1], unquote(found[2])] : [content, undefined];
}

function unquote(value) {
  if (!value) return value;
  if (value.startsWith('"')) {
    try {
      return JSON.parse(value);
    } catch {
      return value.slice(1, -1);
    }
  }
  return value.startsWith("'") ? value.slice(1, -1).replaceAll("''", "'") : value;
}
