// The commands of the daemon, one row each. Every command gets exactly one response, even after an exception.

import * as debuggee from "../tabs/debuggee.js";
import { keepAttached } from "../tabs/pointing.js";
import { cancel, locate } from "../tabs/downloads.js";
import * as tabs from "../tabs/tabs.js";

const COMMANDS = {
  probe: async () => ({}),
  tabs: async () => ({ tabs: await tabs.list() }),
  open: () => tabs.open(),
  close: ({ tab }) => tabs.close(tab).then(() => ({})),
  activate: ({ tab }) => tabs.activate(tab).then(() => ({})),
  attach: ({ tab }) => {
    keepAttached(tab);
    return debuggee.attach(tab);
  },
  detach: ({ tab }) => debuggee.detach(tab),
  send: (wanted) => debuggee.send(wanted),
  settle: (wanted) => debuggee.settle(wanted),
  download: (wanted) => locate(wanted),
  cancel_download: (wanted) => cancel(wanted),
};

/** Commands whose response comes after all older events; other responses overtake queued events. */
const ORDERED = new Set(["attach", "settle"]);

export const isOrdered = ({ command: name }) => ORDERED.has(name);

/** Executes a command; the response goes to `reply`. */
export function execute({ id, command: name, params: wanted }, reply) {
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : null;
  if (command === null) {
    reply({ id, error: { code: "UNKNOWN_METHOD", message: `This extension does not know \`${name}\`.` } });
    return;
  }
  try {
    command(wanted ?? {}).then(
      (result) => reply({ id, result: result ?? {} }),
      (error) => reply({ id, error: failureOf(error) }),
    );
  } catch (error) {
    reply({ id, error: failureOf(error) });
  }
}

function failureOf(error) {
  if (typeof error?.code === "string") return { code: error.code, message: String(error.message), number: error.number };
  return { code: "INTERNAL", message: String(error?.message ?? error) };
}
