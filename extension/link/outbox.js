// Outgoing messages: responses first, then events in order. A burst of events is sent as one frame with a line per event,
// because each websocket message is expensive. The queue is bounded: when it is full, droppable events are dropped, and a
// tab that still floods it is detached.

/** The limit of bytes buffered in the socket itself, because later messages cannot overtake them. */
const AHEAD_BYTES = 64 * 1024;
/** Above this, droppable events are dropped. */
const ROOM_BYTES = 4 * 1024 * 1024;
/** Above this, the tab of the event is detached. */
const CEILING_BYTES = 32 * 1024 * 1024;
/** The delay before a full socket is tried again. */
const RETRY_MS = 2;
/** How long events of a burst are gathered, and how many events in that time are not a burst yet. */
const GATHER_MS = 4;
const FEW_EVENTS = 8;

let socket = null;
/** Queued messages, from `next` on: text, its tab, and its socket if it may go to no other. */
let waiting = [];
let next = 0;
let bytes = 0;
let dropped = 0;
let sentDropped = 0;
let retry = null;
let gathering = null;
let few = 0;
let onFlooding = () => {};

/** Total of dropped events. */
export const droppedEvents = () => dropped;

/** Calls back with a tab that floods the connection. */
export function onFlood(watcher) {
  onFlooding = watcher;
}

/** Sends on this socket from now on; `first` goes before all queued messages. */
export function open(to, first) {
  socket = to;
  socket.send(JSON.stringify(first));
  pump();
}

/** Queues events until the next socket. */
export function close() {
  socket = null;
}

/** Sends a message at once: after the gathered events if they fit, else before all queued ones. */
export function sendFirst(message, to = socket) {
  if (to?.readyState !== WebSocket.OPEN) return;
  if (to === socket && next < waiting.length && bytes < AHEAD_BYTES) pump();
  to.send(JSON.stringify(message));
}

/** Queues a message behind all others, for this socket only. */
export function sendInOrder(message, to) {
  push({ text: JSON.stringify(message), to });
}

/** Sends an event now, or on the next socket. */
export function sendEvent(event) {
  const tab = event.event === "cdp" ? event.tab : undefined;
  push({ text: JSON.stringify(event), tab });
  if (bytes > CEILING_BYTES && tab !== undefined) giveUp(tab);
}

/** Sends an event, or drops it when the queue is full. */
export function sendIfRoom(event) {
  if (socket === null || bytes + socket.bufferedAmount > ROOM_BYTES) dropped += 1;
  else push({ text: JSON.stringify(event), tab: event.tab });
}

function push(one) {
  waiting.push(one);
  bytes += one.text.length;
  if (gathering === null) gatherAfter(FEW_EVENTS);
  few -= 1;
  if (few >= 0 && retry === null) pump();
}

/** Gathers the events of the next few milliseconds, except for the first `count`. */
function gatherAfter(count) {
  few = count;
  gathering = setTimeout(() => {
    gathering = null;
    // Without a connection all messages wait for the next one.
    if (next === waiting.length || socket === null) return;
    if (retry === null) pump();
    // The burst continues until one interval passes without events.
    gatherAfter(0);
  }, GATHER_MS);
}

const hasRoom = () => socket?.readyState === WebSocket.OPEN && socket.bufferedAmount < AHEAD_BYTES;

/** Sends queued messages while there is room. */
function pump() {
  clearTimeout(retry);
  retry = null;
  while (next < waiting.length && hasRoom()) sendTogether();
  if (next < waiting.length) {
    if (socket !== null) retry = setTimeout(pump, RETRY_MS);
    return;
  }
  waiting = [];
  next = 0;
  if (dropped !== sentDropped && hasRoom()) sendHeartbeat();
}

/** Sends one frame with as many messages as fit. */
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

/** Sends a heartbeat with the total of dropped events. */
export function sendHeartbeat() {
  sentDropped = dropped;
  sendFirst({ event: "heartbeat", data: { dropped_events: dropped } });
}

function giveUp(tab) {
  waiting = waiting.slice(next).filter((one) => one.tab !== tab);
  next = 0;
  bytes = waiting.reduce((sum, one) => sum + one.text.length, 0);
  onFlooding(tab);
}
