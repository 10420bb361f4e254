// What the worker knows of its pairing, beside port and key: side panels need none of it.

import { randomHex } from "./pairing.js";

/** Pairs by hand, where there is no native host; `null` removes the pairing. */
export async function setManual(manual) {
  if (manual === null) await chrome.storage.local.remove("manual");
  else await chrome.storage.local.set({ manual });
  await chrome.storage.session.remove("pairing");
}

/**
 * The result of the last request to the native host. `state` is "found", "not_running" (no daemon), "no_key", "refused",
 * "missing" (the host did not respond) or "unknown" (not requested yet); `message` is the reason.
 */
export async function hostState() {
  const { host } = await chrome.storage.session.get({ host: { state: "unknown", message: "not requested yet" } });
  return host;
}

/** The id of this run of the browser. */
export async function runId() {
  const { run } = await chrome.storage.session.get("run");
  if (run) return run;
  const made = randomHex(16);
  await chrome.storage.session.set({ run: made });
  return made;
}
