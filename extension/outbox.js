// What is said on the line: answers at once, events in their order behind them. Few events go at once; those of a flood
// are gathered and go together, as lines of one message, because each message costs more than what it says.
// What waits is bounded: when much does, the few events that nothing is built on are left out, and a tab that floods the
// line all the same is let go of. Knows nothing of dialling, nor of what is said.

/** What may lie in the socket itself, where nothing overtakes it. */
const AHEAD_BYTES = 64 * 1024;
/** Above this, what may be left out is left out. */
const ROOM_BYTES = 4 * 1024 * 1024;
/** Above this, the tab that is told of is let go of; nothing else may be left out. */
const CEILING_BYTES = 32 * 1024 * 1024;
/** How long until a socket that was full is looked at again. */
const LOOK_MS = 2;
/** How long the events of a flood are gathered, and how many in that time are none yet. */
const GATHER_MS = 4;
const FEW_EVENTS = 8;

let socket = null;
/** What waits, from `next` on: text, the tab it is about, and the socket it is for, if it is for no other. */
let waiting = [];
let next = 0;
let bytes = 0;
let left = 0;
let toldLeft = 0;
let look = null;
let gathering = null;
let few = 0;
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

/** Says something now: behind what is gathered if that fits, or else before all that waits. */
export function sayFirst(message, to = socket) {
  if (to?.readyState !== WebSocket.OPEN) return;
  if (to === socket && next < waiting.length && bytes < AHEAD_BYTES) pump();
  to.send(JSON.stringify(message));
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
  waiting.push(one);
  bytes += one.text.length;
  if (gathering === null) gatherAfter(FEW_EVENTS);
  few -= 1;
  if (few >= 0 && look === null) pump();
}

/** Gathers what comes in the next moment, except for the first few. */
function gatherAfter(count) {
  few = count;
  gathering = setTimeout(() => {
    gathering = null;
    // Without a line all of it waits for the next one.
    if (next === waiting.length || socket === null) return;
    if (look === null) pump();
    // It was a flood, so it goes on being one until a moment passes with nothing to tell.
    gatherAfter(0);
  }, GATHER_MS);
}

const hasRoom = () => socket?.readyState === WebSocket.OPEN && socket.bufferedAmount < AHEAD_BYTES;

/** Says what waits, as far as there is room. */
function pump() {
  clearTimeout(look);
  look = null;
  while (next < waiting.length && hasRoom()) sendTogether();
  if (next < waiting.length) {
    if (socket !== null) look = setTimeout(pump, LOOK_MS);
    return;
  }
  waiting = [];
  next = 0;
  if (left !== toldLeft && hasRoom()) tellLeftOut();
}

/** Says as much in one message as may lie in the socket. */
function sendTogether() {
  const lines = [];
  let size = 0;
  while (next < waiting.length && size < AHEAD_BYTES) {
    const { text, to } = waiting[next];
    next += 1;
    size += text.length;
    if (to === undefined || to === socket) lines.push(text);
  }
  bytes -= size;
  if (lines.length > 0) socket.send(lines.join("\n"));
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
