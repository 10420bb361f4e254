// The connection to the daemon: connecting, the handshake, heartbeats, reconnecting. Events wait in the outbox while it is
// down.

import { execute, isOrdered } from "./command.js";
import { connect } from "./dial.js";
import * as debuggee from "../tabs/debuggee.js";
import { note } from "../ui/log.js";
import * as notifications from "./notifications.js";
import * as outbox from "./outbox.js";
import * as pairing from "./pairing.js";
import { runId } from "./pairing_state.js";
import * as sharing from "../tabs/sharing.js";
import * as tabs from "../tabs/tabs.js";

/** Chrome stops a worker after 30 s without messages; ping frames do not count. */
const HEARTBEAT_MS = 20_000;
/** Delays before reconnecting while the worker lives; after that the alarm reconnects. */
const PAUSES_MS = [250, 1_000, 3_000, 10_000];

let line = null;
let dialling = null;
let failures = 0;
const watchers = [];

/** Whether the daemon is connected and has proved the key. */
export const isOpen = () => line !== null;
export const daemon = () => line?.daemon ?? null;
export const droppedEvents = outbox.droppedEvents;

export function onChange(watcher) {
  watchers.push(watcher);
}

/** Connects, unless connected. */
export function ensure() {
  if (line !== null) return Promise.resolve();
  dialling ??= dialUntilDone().finally(() => (dialling = null));
  return dialling;
}

/** Reconnects with the current port and key. */
export async function renew() {
  line?.socket.close();
  line = null;
  outbox.close();
  failures = 0;
  await notifications.forget();
  await ensure();
}

async function dialUntilDone() {
  try {
    const known = await pairing.find();
    // A failed connection may mean a new port or a new key: read both again, then retry once.
    if (known !== null && (await dial(known))) return;
    const anew = await pairing.readAgain();
    const differs = anew !== null && (anew.port !== known?.port || anew.key !== known?.key);
    if (differs && (await dial(anew))) return;
  } finally {
    notifyWatchers();
  }
  if (failures === 0) note("Tabwire does not respond. Reconnecting.");
  const pause = PAUSES_MS[Math.min(failures, PAUSES_MS.length - 1)];
  failures += 1;
  if (failures <= PAUSES_MS.length) setTimeout(ensure, pause);
}

/** Connects and runs the handshake; returns whether the connection is open. */
async function dial(known) {
  try {
    const { socket, messages, welcome, rejected } = await connect(known, "browser");
    // The peer knows the key, so its message can be shown to the user.
    await chrome.storage.session.set({ rejection: rejected?.message ?? null });
    if (!welcome) {
      socket.close();
      return false;
    }
    sharing.setDaemonPort(known.port);
    await opened(socket, messages, welcome).catch((error) => {
      socket.close();
      throw error;
    });
    return true;
  } catch {
    return false;
  }
}

async function opened(socket, messages, welcome) {
  await Promise.all([sharing.load(), debuggee.load()]);
  const state = await stateEvent();
  if (messages.isEnded()) throw new Error("closed");
  const heartbeat = setInterval(outbox.sendHeartbeat, HEARTBEAT_MS);
  line = { socket, daemon: welcome };
  failures = 0;
  socket.addEventListener("close", () => {
    clearInterval(heartbeat);
    if (line?.socket !== socket) return;
    line = null;
    outbox.close();
    note("The connection to Tabwire broke. Reconnecting.");
    notifications.forget();
    notifyWatchers();
    ensure();
  });
  note(`Connected to Tabwire ${welcome.version} on port ${new URL(socket.url).port}.`);
  outbox.open(socket, state);
  messages.handTo((text) => receive(socket, text));
  notifyWatchers();
}

/** The `state` event, sent first on every connection. */
async function stateEvent() {
  const run = await runId();
  const pauseMessage = () => sharing.pauseDenial()?.message;
  let pause, list;
  // The user may pause or resume while the tabs are listed: list them again.
  do {
    pause = pauseMessage();
    list = await tabs.list();
  } while (pause !== pauseMessage());
  const currentState = { run, mode: sharing.mode(), paused: pause !== undefined, pause, tabs: list, attached: debuggee.attachedTabs() };
  return { event: "state", data: currentState };
}

/** Sends the state again after the user changed what is shared. */
export async function sendState() {
  if (line !== null) outbox.sendEvent(await stateEvent());
}

function receive(socket, text) {
  let message;
  try {
    message = JSON.parse(text);
  } catch {
    return;
  }
  if (message?.notify === "state") notifications.take(message.data);
  if (typeof message?.id !== "number") return;
  const send = isOrdered(message) ? outbox.sendInOrder : outbox.sendFirst;
  execute(message, (response) => send(response, socket));
}

/** Sends an event now, or after reconnecting. */
export function sendEvent(event) {
  outbox.sendEvent(event);
  if (line === null) ensure();
}

/** Sends an event only if there is room. */
export const sendIfRoom = outbox.sendIfRoom;

function notifyWatchers() {
  for (const watcher of watchers) watcher();
}
