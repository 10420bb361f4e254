// Makes a tab that the debugger is on safe against blocked sites before anybody else may use it: no service worker
// answers for it, nothing is under way that began before the network rules held, and no frame of a blocked site is in it.
// Knows nothing of who drives the tab.

import * as sites from "./sites.js";

/** How often, and how long apart, a page that still loads is looked at; after that its loading is stopped. */
const LOADING_LOOKS = 100;
const LOADING_PAUSE_MS = 50;

const BLOCKED_FRAME = {
  code: "POLICY_DENIED",
  message: "The user keeps everybody out of a site in this browser that is in this tab, or in a frame of its page.",
};

/** Why a tab must not be driven, or nothing once it is safe. */
export async function shield(tab) {
  if (!sites.hasAny()) return null;
  await bypassWorkers({ tabId: tab });
  // A page that was loaded ahead of its use comes up without a request.
  await chrome.debugger.sendCommand({ tabId: tab }, "Page.setPrerenderingAllowed", { isAllowed: false }).catch(() => {});
  await awaitLoaded(tab);
  return (await hasBlockedFrame(tab)) ? BLOCKED_FRAME : null;
}

/** The same for a frame in a process of its own; what comes up in it before is found by its address. */
export function shieldChild(tab, { sessionId, targetInfo }) {
  if (!sites.hasAny() || targetInfo?.type !== "iframe") return;
  bypassWorkers({ tabId: tab, sessionId }).catch(() => {});
}

/** A service worker can answer for its site without a request that network rules see. */
async function bypassWorkers(source) {
  await Promise.all([
    chrome.debugger.sendCommand(source, "Network.enable"),
    chrome.debugger.sendCommand(source, "Network.setBypassServiceWorker", { bypass: true }),
  ]);
}

/** Waits until nothing loads that began before the network rules held. */
async function awaitLoaded(tab) {
  for (let look = 0; look < LOADING_LOOKS; look += 1) {
    if ((await chrome.tabs.get(tab)).status !== "loading") return;
    await new Promise((resolve) => setTimeout(resolve, LOADING_PAUSE_MS));
  }
  await chrome.debugger.sendCommand({ tabId: tab }, "Page.stopLoading");
}

/** Whether a frame, in whichever process, is at a blocked site, or is empty and belongs to one that made it. */
async function hasBlockedFrame(tab) {
  const frames = (await chrome.webNavigation.getAllFrames({ tabId: tab })) ?? [];
  // What was not loaded has the address that it was to be loaded from.
  if (frames.some(({ url, errorOccurred }) => !errorOccurred && sites.isBlocked(url))) return true;
  const { frameTree } = await chrome.debugger.sendCommand({ tabId: tab }, "Page.getFrameTree");
  const inherited = await Promise.all(framesIn(frameTree).map((frame) => inheritsBlocked(tab, frame)));
  return inherited.includes(true);
}

const framesIn = ({ frame, childFrames = [] }) => [frame, ...childFrames.flatMap(framesIn)];

/** Whether a frame has an address that says nothing, such as about:blank, and the origin of a blocked site that made it. */
export async function inheritsBlocked(tab, frame) {
  if (!sites.hasAny() || /^https?:/.test(frame?.url ?? "")) return false;
  const asked = chrome.debugger.sendCommand({ tabId: tab }, "Storage.getStorageKeyForFrame", { frameId: frame?.id });
  // A frame that has no storage has an origin of its own, which is no site's.
  const { storageKey } = await asked.catch(() => ({ storageKey: "" }));
  return sites.isBlocked(storageKey.split("^", 1)[0]);
}
