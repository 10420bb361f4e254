// Connecting to the daemon: the websocket, and the handshake in which both sides prove the key. Used by the worker and by
// side panels.

import * as pairing from "./pairing.js";

const PROTOCOL = 1;
const DIAL_DEADLINE_MS = 5_000;
/** Limits for a peer that has not proved the key yet: its only message is short. */
const UNPROVED_LENGTH = 64 * 1024;
const UNPROVED_MESSAGES = 4;

/**
 * Connects for a purpose, "browser" or "panel". Returns the socket, its messages, and `welcome` or `rejected`; throws when
 * the peer does not know the key.
 */
export async function connect({ port, key }, purpose) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/extension`);
  const messages = inbox(socket);
  try {
    const names = { install: await pairing.installId(), ours: pairing.randomHex(32), purpose };
    await messages.opened;
    socket.send(JSON.stringify({ hello: hello(names) }));
    const { challenge } = await messages.next();
    const nonces = { ...names, theirs: String(challenge?.nonce) };
    // Another process may listen on the port: send nothing more until it proves the key.
    if (!pairing.isSame(challenge?.proof, await pairing.proof(key, "daemon", nonces))) throw new Error("no proof");
    messages.trust();
    socket.send(JSON.stringify({ proof: await pairing.proof(key, "extension", nonces) }));
    const { welcome, rejected } = await messages.next();
    return { socket, messages, welcome: welcome ?? null, rejected: rejected ?? null };
  } catch (error) {
    socket.close();
    throw error;
  }
}

function hello({ install, ours, purpose }) {
  const brands = navigator.userAgentData?.brands ?? [];
  const version = /Chrom(?:e|ium)\/([\d.]+)/.exec(navigator.userAgent)?.[1] ?? "0";
  const names = brands.map((brand) => brand.brand).filter((name) => !/not.?a.?brand/i.test(name.replace(/[^a-z]/gi, "")));
  return {
    protocol: PROTOCOL,
    version: chrome.runtime.getManifest().version,
    install,
    nonce: ours,
    browser: { product: `Chrome/${version}`, name: names.find((name) => name !== "Chromium") ?? "Chromium", agent: navigator.userAgent },
    // An older daemon knows no other purpose than "browser" and no such member.
    ...(purpose === "browser" ? {} : { purpose }),
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
