// The line to the daemon: dialling, the proof on both sides, the heartbeat, dialling again. Knows nothing of what is
// said on it once it is open. What is to be told while the line is down waits in the outbox.

import { carryOut, isInTurn } from "./command.js";
import * as debuggee from "./debuggee.js";
import { note } from "./log.js";
import * as news from "./news.js";
import * as outbox from "./outbox.js";
import * as pairing from "./pairing.js";
import * as sharing from "./sharing.js";
import * as tabs from "./tabs.js";

const PROTOCOL = 1;
/** Chrome ends a worker that has been quiet for 30 s; only messages count, no ping frames. */
const PULSE_MS = 20_000;
const DIAL_DEADLINE_MS = 5_000;
/** What may be sent by a peer that has not shown that it knows the key: one short message is all it has to say. */
const UNPROVED_LENGTH = 64 * 1024;
const UNPROVED_MESSAGES = 4;
/** How long to wait before dialling again while the worker lives; after that the alarm does it. */
const PAUSES_MS = [250, 1_000, 3_000, 10_000];

let line = null;
let dialling = null;
let failures = 0;
const watchers = [];

/** Whether the daemon is there and has proved itself. */
export const isOpen = () => line !== null;
export const daemon = () => line?.daemon ?? null;
export const leftOut = outbox.leftOut;

export function onChange(watcher) {
  watchers.push(watcher);
}

/** Sees to it that there is a line, if there can be one. */
export function ensure() {
  if (line !== null) return Promise.resolve();
  dialling ??= dialUntilDone().finally(() => (dialling = null));
  return dialling;
}

/** Ends the line and dials with what is known now. */
export async function renew() {
  line?.socket.close();
  line = null;
  outbox.close();
  failures = 0;
  await news.forget();
  await ensure();
}

async function dialUntilDone() {
  try {
    const known = await pairing.find();
    // A dial that fails may mean another port or another key: both are read again, then it is tried once more.
    if (known !== null && (await dial(known))) return;
    const anew = await pairing.readAgain();
    const differs = anew !== null && (anew.port !== known?.port || anew.key !== known?.key);
    if (differs && (await dial(anew))) return;
  } finally {
    tellWatchers();
  }
  if (failures === 0) note("Tabwire does not answer; it is dialled again now and then.");
  const pause = PAUSES_MS[Math.min(failures, PAUSES_MS.length - 1)];
  failures += 1;
  if (failures <= PAUSES_MS.length) setTimeout(ensure, pause);
}

/** Dials, proves and is proved to; says whether the line is open. */
async function dial({ port, key }) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/extension`);
  const messages = inbox(socket);
  try {
    const names = { install: await pairing.installId(), ours: pairing.randomHex(32) };
    await messages.opened;
    socket.send(JSON.stringify({ hello: await hello(names) }));
    const { challenge } = await messages.next();
    const nonces = { ...names, theirs: String(challenge?.nonce) };
    // Whoever listens on that port is told nothing more unless it knows the key.
    if (!pairing.isSame(challenge?.proof, await pairing.proof(key, "daemon", nonces))) throw new Error("no proof");
    messages.trust();
    socket.send(JSON.stringify({ proof: await pairing.proof(key, "extension", nonces) }));
    const { welcome, goodbye } = await messages.next();
    // From one that knows the key: why it does not let us in is for the user to read.
    await chrome.storage.session.set({ goodbye: goodbye?.message ?? null });
    if (!welcome) throw new Error("not welcome");
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

/** Messages of a socket one by one, each with a deadline, until they are handed to `take`. */
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
  const state = await present();
  if (messages.isEnded()) throw new Error("closed");
  const pulse = setInterval(outbox.tellLeftOut, PULSE_MS);
  line = { socket, daemon: welcome };
  failures = 0;
  socket.addEventListener("close", () => {
    clearInterval(pulse);
    if (line?.socket !== socket) return;
    line = null;
    outbox.close();
    note("The line to Tabwire broke; it is dialled again.");
    news.forget();
    tellWatchers();
    ensure();
  });
  note(`Connected to Tabwire ${welcome.version} on port ${new URL(socket.url).port}.`);
  outbox.open(socket, state);
  messages.handTo((text) => receive(socket, text));
  tellWatchers();
}

/** How this browser stands, told first on every new line. */
async function present() {
  const run = await pairing.runId();
  const whyPaused = () => sharing.pauseObjection()?.message;
  let pause, list;
  // What the user says meanwhile must not be told with tabs of before.
  do {
    pause = whyPaused();
    list = await tabs.list();
  } while (pause !== whyPaused());
  const standing = { run, mode: sharing.mode(), paused: pause !== undefined, pause, tabs: list, attached: debuggee.attachedTabs() };
  return { event: "present", with: standing };
}

/** Tells the daemon anew how this browser stands, after the user changed what is shared. */
export async function tellPresent() {
  if (line !== null) outbox.tell(await present());
}

function receive(socket, text) {
  let message;
  try {
    message = JSON.parse(text);
  } catch {
    return;
  }
  if (message?.tell === "news") news.take(message.with);
  if (typeof message?.id !== "number") return;
  const say = isInTurn(message) ? outbox.sayInTurn : outbox.sayFirst;
  carryOut(message, (answer) => say(answer, socket));
}

/** Tells the daemon something, now or as soon as there is a line. */
export function tell(event) {
  outbox.tell(event);
  if (line === null) ensure();
}

/** Tells it only if there is room. */
export const tellIfRoom = outbox.tellIfRoom;

function tellWatchers() {
  for (const watcher of watchers) watcher();
}
