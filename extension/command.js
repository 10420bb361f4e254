// What the daemon may ask for: one row each. Whatever happens, a command gets exactly one answer and nothing is thrown.

import * as debuggee from "./debuggee.js";
import { cancel, locate } from "./downloads.js";
import * as tabs from "./tabs.js";

const COMMANDS = {
  probe: async () => ({}),
  tabs: async () => ({ tabs: await tabs.list() }),
  open: () => tabs.open(),
  close: ({ tab }) => tabs.close(tab).then(() => ({})),
  activate: ({ tab }) => tabs.activate(tab).then(() => ({})),
  attach: ({ tab }) => debuggee.attach(tab),
  detach: ({ tab }) => debuggee.detach(tab),
  send: (wanted) => debuggee.send(wanted),
  settle: (wanted) => debuggee.settle(wanted),
  download: (wanted) => locate(wanted),
  cancel_download: (wanted) => cancel(wanted),
};

/** What is answered after all events that are older; every other answer goes before those that wait. */
const IN_TURN = new Set(["attach", "settle"]);

export const isInTurn = ({ do: name }) => IN_TURN.has(name);

/** Carries a command out; the answer goes to `reply`. */
export function carryOut({ id, do: name, with: wanted }, reply) {
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : null;
  if (command === null) {
    reply({ id, failed: { code: "UNKNOWN_METHOD", message: `This extension does not know \`${name}\`.` } });
    return;
  }
  try {
    command(wanted ?? {}).then(
      (ok) => reply({ id, ok: ok ?? {} }),
      (error) => reply({ id, failed: failureOf(error) }),
    );
  } catch (error) {
    reply({ id, failed: failureOf(error) });
  }
}

function failureOf(error) {
  if (typeof error?.code === "string") return { code: error.code, message: String(error.message), number: error.number };
  return { code: "INTERNAL", message: String(error?.message ?? error) };
}
