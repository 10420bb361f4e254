// The daemon that this browser is paired with: port, pairing key, and proofs of the key. The key comes from the native host
// or from the user and is never sent.

const HOST = "dev.tabwire.host";
const encoder = new TextEncoder();

/** Port and key as last read; `null` when there are none. Kept in memory storage only, unless the user typed them. */
export async function find() {
  const { pairing } = await chrome.storage.session.get("pairing");
  return pairing ?? readAgain();
}

/** Reads port and key anew: the daemon may have another port, and after a rotation another key. */
export async function readAgain() {
  const told = await askHost();
  const pairing = told ?? (await chrome.storage.local.get("manual")).manual ?? null;
  if (pairing === null) await chrome.storage.session.remove("pairing");
  else await chrome.storage.session.set({ pairing });
  return pairing;
}

/** Pairs by hand, where there is no native host; `null` forgets it. */
export async function setManual(manual) {
  if (manual === null) await chrome.storage.local.remove("manual");
  else await chrome.storage.local.set({ manual });
  await chrome.storage.session.remove("pairing");
}

/** How the native host was last found: "found", or why not. */
export async function hostState() {
  const { host } = await chrome.storage.session.get({ host: "not asked yet" });
  return host;
}

async function askHost() {
  try {
    const told = await chrome.runtime.sendNativeMessage(HOST, { ask: "pairing" });
    const usable = Number.isInteger(told?.port) && /^[0-9a-f]{64}$/.test(told?.key ?? "");
    await chrome.storage.session.set({ host: usable ? "found" : String(told?.message ?? "it gave no pairing") });
    return usable ? { port: told.port, key: told.key } : null;
  } catch (error) {
    await chrome.storage.session.set({ host: String(error?.message ?? error) });
    return null;
  }
}

/** Tells this profile from every other, for as long as the extension is installed. */
export async function installId() {
  const { install } = await chrome.storage.local.get("install");
  if (install) return install;
  const made = randomHex(16);
  await chrome.storage.local.set({ install: made });
  return made;
}

/** Tells this run of the browser from every other. */
export async function runId() {
  const { run } = await chrome.storage.session.get("run");
  if (run) return run;
  const made = randomHex(16);
  await chrome.storage.session.set({ run: made });
  return made;
}

export function randomHex(bytes) {
  return toHex(crypto.getRandomValues(new Uint8Array(bytes)));
}

/** What `side` ("daemon" or "extension") shows to prove that it knows the key. */
export async function proof(key, side, { install, ours, theirs }) {
  const bytes = Uint8Array.from(key.match(/../g), (pair) => Number.parseInt(pair, 16));
  const usable = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const text = [side, install, ours, theirs].join("\n");
  return toHex(new Uint8Array(await crypto.subtle.sign("HMAC", usable, encoder.encode(text))));
}

/** Compares two proofs without telling by the time it takes where they differ. */
export function isSame(one, other) {
  if (typeof one !== "string" || typeof other !== "string" || one.length !== other.length) return false;
  let difference = 0;
  for (let at = 0; at < one.length; at += 1) difference |= one.charCodeAt(at) ^ other.charCodeAt(at);
  return difference === 0;
}

function toHex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
