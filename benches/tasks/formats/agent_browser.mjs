// Reads the text of `agent-browser snapshot`.

import { Entry } from '../agent/tree.mjs';

/** The tree of a snapshot. */
export function readAgentBrowser(text) {
  const root = new Entry('page');
  const stack = [root];
  for (const line of text.split('\n')) {
    const found = /^( *)- (\S+)(?: "((?:\\.|[^"\\])*)")?(.*)$/.exec(line);
    if (!found) continue;
    const [, indent, role, name, rest] = found;
    stack.length = Math.min(stack.length, indent.length / 2 + 1);
    const ref = /\bref=(e\d+)/.exec(rest)?.[1] ?? null;
    const value = /(?:\]|^)[^\]]*?: (.*)$/.exec(rest)?.[1];
    const details = value === undefined ? rest : `${rest} value=${JSON.stringify(value)}`;
    stack.push(stack.at(-1).add(new Entry(role, (name ?? '').replace(/\\(.)/g, '$1'), ref, details)));
  }
  return root;
}
