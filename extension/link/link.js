// The connection to the daemon: connecting, the handshake, heartbeats, reconnecting. Events wait in the outbox while it is
// down.

import { execute, isOrdered } from "./command.js";
import * as debuggee from "../tabs/debuggee.js";
import { note } from "../ui/log.js";
import * as notifications from "./notifications.js";
import * as outbox from "./outbox.js";
import * as pairing from "./pairing.js";
import * as sharing from "../tabs/sharing.js";
import * as tabs from "../tabs/tabs.js";

const PROTOCOL = 1;
/** Chrome stops a worker after 30 s without messages; ping frames do not count. */
const HEARTBEAT_MS = 20_000;
const DIAL_DEADLINE_MS = 5_000;
/** Limits for a peer that has not proved the key yet: its only message is short. */
const UNPROVED_LENGTH = 64 * 1024;
const UNPROVED_MESSAGES = 4;
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
async function dial({ port, key }) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/extension`);
  const messages = inbox(socket);
  try {
    const names = { install: await pairing.installId(), ours: pairing.randomHex(32) };
    await messages.opened;
    socket.send(JSON.stringify({ hello: await hello(names) }));
    const { challenge } = await messages.next();
    const nonces = { ...names, theirs: String(challenge?.nonce) };
    // Another process may listen on the port: send nothing more until it proves the key.
    if (!pairing.isSame(challenge?.proof, await pairing.proof(key, "daemon", nonces))) throw new Error("no proof");
    messages.trust();
    socket.send(JSON.stringify({ proof: await pairing.proof(key, "extension", nonces) }));
    const { welcome, rejected } = await messages.next();
    // The peer knows the key, so its message can be shown to the user.
    await chrome.storage.session.set({ rejection: rejected?.message ?? null });
    if (!welcome) throw new Error("rejected");
    await opened(socket, messages, welcome);
    return true;
  } catch {
    socket.close();
    return false;
  }
}

async function hello({ install, ours }) {
  const brands = navigator.userAgentData?.brands ?? [];
  const version = /Chrom(?:e|ium)\/([\d.]+)/.exec(navigator.userAgent)?.[1] ?? "0";
  const names = brands.map((brand) => brand.brand).filter((name) => !/not.?a.?brand/i.test(name.replace(/[^a-z]/gi, "")));
  return {
    protocol: PROTOCOL,
    version: chrome.runtime.getManifest().version,
    install,
    nonce: ours,
    browser: { product: `Chrome/${version}`, name: names.find((name) => name !== "Chromium") ?? "Chromium", agent: navigator.userAgent },
  };
}

/** Messages of a socket one by one, each with a deadline, until `handTo` passes them to a receiver. */
function inbox(socket) {
  const held = [];
  let wanted = null;
  let take = null;
  let ended = false;
  let isTrusted = false;
  const deliver = (text) => {
    if (!isTrusted && (text.length > UNPROVED_LENGTH || held.length >= UNPROVED_MESSAGES)) socket.close();
    else if (take) take(text);
    else if (wanted) wanted(text);
    else held.push(text);
  };
  socket.addEventListener("message", (event) => deliver(event.data));
  const within = (promise) => {
    let timer;
    const late = new Promise((_, reject) => (timer = setTimeout(() => reject(new Error("too late")), DIAL_DEADLINE_MS)));
    return Promise.race([promise, late]).finally(() => clearTimeout(timer));
  };
  const closed = new Promise((_, reject) => {
    for (const name of ["close", "error"]) {
      socket.addEventListener(name, () => {
        ended = true;
        reject(new Error(name));
      });
    }
  });
  closed.catch(() => {});
  return {
    opened: within(Promise.race([new Promise((resolve) => socket.addEventListener("open", resolve)), closed])),
    async next() {
      const text = held.length > 0 ? held.shift() : await within(Promise.race([new Promise((resolve) => (wanted = resolve)), closed]));
      wanted = null;
      return JSON.parse(text);
    },
    trust: () => (isTrusted = true),
    handTo(receiver) {
      take = receiver;
      for (const text of held.splice(0)) receiver(text);
    },
    isEnded: () => ended,
  };
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
  const run = await pairing.runId();
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
