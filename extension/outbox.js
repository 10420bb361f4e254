// What is said on the line: answers at once, events in their order behind them. What waits is bounded: when much does,
// the few events that nothing is built on are left out, and a tab that floods the line all the same is let go of. Knows
// nothing of dialling, nor of what is said.

/** What may lie in the socket itself, where nothing overtakes it. */
const AHEAD_BYTES = 64 * 1024;
/** Above this, what may be left out is left out. */
const ROOM_BYTES = 4 * 1024 * 1024;
/** Above this, the tab that is told of is let go of; nothing else may be left out. */
const CEILING_BYTES = 32 * 1024 * 1024;
/** How long until a socket that was full is looked at again. */
const LOOK_MS = 2;

let socket = null;
/** What waits, from `next` on: text, the tab it is about, and the socket it is for, if it is for no other. */
let waiting = [];
let next = 0;
let bytes = 0;
let left = 0;
let toldLeft = 0;
let look = null;
let letGo = () => {};

/** How many events were left out. */
export const leftOut = () => left;

/** Calls back with a tab that floods the line. */
export function onFlood(watcher) {
  letGo = watcher;
}

/** From now on it is said there; `first` comes before all that waits. */
export function open(to, first) {
  socket = to;
  socket.send(JSON.stringify(first));
  pump();
}

/** Nothing is said until there is another line; events wait. */
export function close() {
  socket = null;
}

/** Says something now, before all that waits. */
export function sayFirst(message, to = socket) {
  if (to?.readyState === WebSocket.OPEN) to.send(JSON.stringify(message));
}

/** Says something after all that waits, on this line or not at all. */
export function sayInTurn(message, to) {
  push({ text: JSON.stringify(message), to });
}

/** Tells of an event, now or as soon as there is a line. */
export function tell(event) {
  const tab = event.event === "cdp" ? event.tab : undefined;
  push({ text: JSON.stringify(event), tab });
  if (bytes > CEILING_BYTES && tab !== undefined) giveUp(tab);
}

/** Tells of it only if there is room. */
export function tellIfRoom(event) {
  if (socket === null || bytes + socket.bufferedAmount > ROOM_BYTES) left += 1;
  else push({ text: JSON.stringify(event), tab: event.tab });
}

function push(one) {
  if (next === waiting.length && hasRoom()) return send(one);
  waiting.push(one);
  bytes += one.text.length;
  look ??= setTimeout(pump, LOOK_MS);
}

const hasRoom = () => socket?.readyState === WebSocket.OPEN && socket.bufferedAmount < AHEAD_BYTES;

function send({ text, to }) {
  if (to === undefined || to === socket) socket.send(text);
}

function pump() {
  clearTimeout(look);
  look = null;
  while (next < waiting.length && hasRoom()) {
    const one = waiting[next];
    next += 1;
    bytes -= one.text.length;
    send(one);
  }
  if (next < waiting.length) {
    if (socket !== null) look = setTimeout(pump, LOOK_MS);
    return;
  }
  waiting = [];
  next = 0;
  if (left !== toldLeft && hasRoom()) tellLeftOut();
}

/** A sign of life, and what was left out so far. */
export function tellLeftOut() {
  toldLeft = left;
  sayFirst({ event: "pulse", with: { left_out: left } });
}

function giveUp(tab) {
  waiting = waiting.slice(next).filter((one) => one.tab !== tab);
  next = 0;
  bytes = waiting.reduce((sum, one) => sum + one.text.length, 0);
  letGo(tab);
}
