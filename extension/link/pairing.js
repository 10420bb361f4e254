// The daemon that this browser is paired with: port, pairing key, and proofs of the key. The key comes from the native host
// or from the user and is never sent.

const HOST = "dev.tabwire.host";
const encoder = new TextEncoder();

/** Port and key as last read; `null` without a pairing. In memory storage only, unless the user typed them. */
export async function find() {
  const { pairing } = await chrome.storage.session.get("pairing");
  return pairing ?? readAgain();
}

/** Reads port and key again: the daemon may have a new port, and after a rotation a new key. */
export async function readAgain() {
  const received = await requestPairing();
  const pairing = received ?? (await chrome.storage.local.get("manual")).manual ?? null;
  if (pairing === null) await chrome.storage.session.remove("pairing");
  else await chrome.storage.session.set({ pairing });
  return pairing;
}

const setHostState = (state, message = "") => chrome.storage.session.set({ host: { state, message } });

async function requestPairing() {
  try {
    const response = await chrome.runtime.sendNativeMessage(HOST, { ask: "pairing" });
    const usable = Number.isInteger(response?.port) && /^[0-9a-f]{64}$/.test(response?.key ?? "");
    if (usable) await setHostState("found");
    else await setHostState(String(response?.state ?? "missing"), String(response?.message ?? "it returned no pairing"));
    return usable ? { port: response.port, key: response.key } : null;
  } catch (error) {
    await setHostState("missing", String(error?.message ?? error));
    return null;
  }
}

/** The id of this installation, one per browser profile. */
export async function installId() {
  const { install } = await chrome.storage.local.get("install");
  if (install) return install;
  const made = randomHex(16);
  await chrome.storage.local.set({ install: made });
  return made;
}

export function randomHex(bytes) {
  return toHex(crypto.getRandomValues(new Uint8Array(bytes)));
}

/** The proof that `side` ("daemon" or "extension") knows the key, for a connection of a purpose ("browser" or "panel"). */
export async function proof(key, side, { install, ours, theirs, purpose = "browser" }) {
  const bytes = Uint8Array.from(key.match(/../g), (pair) => Number.parseInt(pair, 16));
  const usable = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const text = [side, install, ours, theirs, ...(purpose === "browser" ? [] : [purpose])].join("\n");
  return toHex(new Uint8Array(await crypto.subtle.sign("HMAC", usable, encoder.encode(text))));
}

/** Compares two proofs in constant time. */
export function isSame(one, other) {
  if (typeof one !== "string" || typeof other !== "string" || one.length !== other.length) return false;
  let difference = 0;
  for (let at = 0; at < one.length; at += 1) difference |= one.charCodeAt(at) ^ other.charCodeAt(at);
  return difference === 0;
}

function toHex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
