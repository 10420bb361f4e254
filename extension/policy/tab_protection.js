// Protects an attached tab from blocked sites before any command reaches it: service workers are bypassed, loads that
// began before the network rules are complete, and no frame shows a blocked site.

import * as sites from "./sites.js";

/** How often, and how long apart, a loading page is polled; after that, loading is stopped. */
const LOADING_POLLS = 100;
const LOADING_PAUSE_MS = 50;

const BLOCKED_FRAME = {
  code: "POLICY_DENIED",
  message: "The user blocks a site in this browser that this tab, or a frame of its page, shows.",
};

/** Protects a tab; the error when it shows a blocked site, or null. */
export async function protect(tab) {
  if (!sites.hasAny()) return null;
  await bypassWorkers({ tabId: tab });
  // A prerendered page appears without a request that network rules could block.
  await chrome.debugger.sendCommand({ tabId: tab }, "Page.setPrerenderingAllowed", { isAllowed: false }).catch(() => {});
  await awaitLoaded(tab);
  return (await hasBlockedFrame(tab)) ? BLOCKED_FRAME : null;
}

/** The same for an out-of-process frame; documents that it loaded before are found by their URL. */
export function protectChild(tab, { sessionId, targetInfo }) {
  if (!sites.hasAny() || targetInfo?.type !== "iframe") return;
  bypassWorkers({ tabId: tab, sessionId }).catch(() => {});
}

/** A service worker can respond for its site without a request that network rules see. */
async function bypassWorkers(source) {
  await Promise.all([
    chrome.debugger.sendCommand(source, "Network.enable"),
    chrome.debugger.sendCommand(source, "Network.setBypassServiceWorker", { bypass: true }),
  ]);
}

/** Waits until all loads that began before the network rules are complete. */
async function awaitLoaded(tab) {
  for (let poll = 0; poll < LOADING_POLLS; poll += 1) {
    if ((await chrome.tabs.get(tab)).status !== "loading") return;
    await new Promise((resolve) => setTimeout(resolve, LOADING_PAUSE_MS));
  }
  await chrome.debugger.sendCommand({ tabId: tab }, "Page.stopLoading");
}

/** Whether a frame in any process shows a blocked site, or is empty and inherits the origin of one. */
async function hasBlockedFrame(tab) {
  const frames = (await chrome.webNavigation.getAllFrames({ tabId: tab })) ?? [];
  // A frame that failed to load has the URL of the failed load.
  if (frames.some(({ url, errorOccurred }) => !errorOccurred && sites.isBlocked(url))) return true;
  const { frameTree } = await chrome.debugger.sendCommand({ tabId: tab }, "Page.getFrameTree");
  const inherited = await Promise.all(framesIn(frameTree).map((frame) => inheritsBlocked(tab, frame)));
  return inherited.includes(true);
}

const framesIn = ({ frame, childFrames = [] }) => [frame, ...childFrames.flatMap(framesIn)];

/** Whether a frame has a URL without an origin, such as about:blank, and inherits the origin of a blocked site. */
export async function inheritsBlocked(tab, frame) {
  if (!sites.hasAny() || /^https?:/.test(frame?.url ?? "")) return false;
  const asked = chrome.debugger.sendCommand({ tabId: tab }, "Storage.getStorageKeyForFrame", { frameId: frame?.id });
  // A frame without storage has an opaque origin, which belongs to no site.
  const { storageKey } = await asked.catch(() => ({ storageKey: "" }));
  return sites.isBlocked(storageKey.split("^", 1)[0]);
}
