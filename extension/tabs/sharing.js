// Which tabs agents may use: shared tabs and tabs opened for an agent, or every ordinary tab. The state is in storage; the
// copy in memory lets commands be checked without waiting.

import * as sites from "../policy/sites.js";

/** URLs that extensions can debug, and stores, which they cannot. */
const ORDINARY = /^(https?:|data:|blob:|about:blank)/;
const STORES = /^https:\/\/(chromewebstore\.google\.com|chrome\.google\.com\/webstore|microsoftedge\.microsoft\.com\/addons)/;

/** Messages for clients while automation is paused. */
const PAUSES = {
  asked: "The user has paused automation in this browser.",
  cancelled: "The user pressed Cancel on the browser's debugging bar. Automation is paused until they press Resume in Tabwire's popup.",
};

const pauseOf = (why) => (Object.hasOwn(PAUSES, why) ? why : why ? "asked" : false);

let state = null;
let loading = null;
const watchers = [];
/** Tabs that a command is about to bring to the front, with the time of the command. */
const commanded = new Map();
const COMMANDED_MS = 5_000;

/** Reads the stored state. Must finish before anything below is called. */
export function load() {
  loading ??= read();
  return loading;
}

async function read() {
  const kept = await chrome.storage.local.get({ mode: "shared", paused: false });
  const { shared, openers, touched } = await chrome.storage.session.get({ shared: {}, openers: {}, touched: [] });
  const files = await chrome.extension.isAllowedFileSchemeAccess();
  const [tabs] = await Promise.all([chrome.tabs.query({}), sites.load()]);
  const urls = new Map(tabs.map((tab) => [tab.id, tab.url || tab.pendingUrl || ""]));
  const byTab = (kept) => new Map(Object.entries(kept).map(([tab, value]) => [Number(tab), value]));
  state = { mode: kept.mode, paused: pauseOf(kept.paused), shared: byTab(shared), openers: byTab(openers), touched: new Set(touched), files, urls };
}

export const isLoaded = () => state !== null;
export const mode = () => state.mode;
/** Why automation is paused: "asked" (in the popup) or "cancelled" (on Chrome's debugging bar); false when it is not. */
export const paused = () => state.paused;
export const isPaused = () => state.paused !== false;
/** Whether Chrome lets this extension debug `file:` pages. */
export const mayEnterFiles = () => state.files;
/** Who shared a tab: "user", "agent", or nothing. */
export const sharedBy = (tab) => state.shared.get(tab);
/** The tab whose page opened a tab. */
export const openerOf = (tab) => state.openers.get(tab);
export const sharedTabs = () => [...state.shared.keys()];

/** Whether Chrome keeps extensions out of this URL. */
export function isRestricted(url) {
  if (!url) return false;
  if (isOwnPage(url)) return true;
  if (url.startsWith("file:")) return !state.files;
  return !ORDINARY.test(url) || STORES.test(url);
}

/** Stores the URL of a tab. */
export const setUrl = (tab, url) => state.urls.set(tab, url);
export const removeUrl = (tab) => state.urls.delete(tab);

/** The port of the daemon, once it is known. */
let daemonPort = null;
const LOOPBACK = /^(?:(?:.*\.)?localhost|127\.[\d.]+|\[::1\]|0\.0\.0\.0)\.?$/;

export const setDaemonPort = (port) => (daemonPort = port);

/** Whether a URL is a page of Tabwire itself, the demo page aside. Its dashboard can grant, so no agent may use it. */
export function isOwnPage(url) {
  if (daemonPort === null || !url.startsWith("http:")) return false;
  const { hostname, port, pathname } = new URL(url);
  return Number(port) === daemonPort && LOOPBACK.test(hostname) && pathname !== "/demo";
}

const isBlocked = (tab) => sites.isBlocked(state.urls.get(tab) ?? "") || isOwnPage(state.urls.get(tab) ?? "");

export const BLOCKED_TAB = { code: "POLICY_DENIED", message: "The user blocks this tab's site in this browser." };

/** The error for a tab at a blocked site, or null. */
export const siteDenial = (tab) => (isBlocked(tab) ? BLOCKED_TAB : null);

/** Whether the daemon may see and use a tab. */
export const isAccessible = (tab) => !isPaused() && (state.mode === "all" || state.shared.has(tab)) && !isBlocked(tab);

/** The error while paused, or null. */
export const pauseDenial = () => (isPaused() ? { code: "POLICY_DENIED", message: PAUSES[state.paused] } : null);

/** The error for a tab that must not be used, or null. */
export function denial(tab) {
  if (!Number.isSafeInteger(tab)) return { code: "BAD_ARGS", message: "`tab` must be a tab id." };
  if (isPaused()) return pauseDenial();
  if (isBlocked(tab)) return BLOCKED_TAB;
  if (!isAccessible(tab)) return { code: "POLICY_DENIED", message: "The user has not shared this tab." };
  return null;
}

export async function share(tab, by) {
  // A tab that was opened for the agent stays one that the agent may close.
  if (state.shared.get(tab) === by || state.shared.get(tab) === "agent") return;
  state.shared.set(tab, by);
  await keepShared();
}

/** Shares a tab that a page of a shared tab opened, as an agent's tab. */
export async function sharePopup(tab, opener) {
  state.openers.set(tab, opener);
  await share(tab, "agent");
}

/** A command brings a tab to the front: the activation that follows is not the user's. */
export const expectActivation = (tab) => commanded.set(tab, Date.now());

/** A tab was activated. A tab of an agent that the user activated is left to the user when the agent ends. */
export async function onActivated(tab) {
  const since = commanded.get(tab) ?? 0;
  commanded.delete(tab);
  if (Date.now() - since < COMMANDED_MS || state.shared.get(tab) !== "agent" || state.touched.has(tab)) return;
  state.touched.add(tab);
  await chrome.storage.session.set({ touched: [...state.touched] });
}

/** Whether the user has used a tab that was opened for an agent. */
export const isTouched = (tab) => state.touched.has(tab);

export async function unshare(tab) {
  state.openers.delete(tab);
  if (state.touched.delete(tab)) await chrome.storage.session.set({ touched: [...state.touched] });
  if (!state.shared.delete(tab)) return;
  await keepShared();
}

export async function setMode(wanted) {
  state.mode = wanted === "all" ? "all" : "shared";
  await chrome.storage.local.set({ mode: state.mode });
  notifyWatchers();
}

/** Pauses automation for a reason, or resumes it. */
export async function setPaused(why) {
  state.paused = pauseOf(why);
  await chrome.storage.local.set({ paused: state.paused });
  notifyWatchers();
}

/** Calls back after each change. */
export function onChange(watcher) {
  watchers.push(watcher);
}

async function keepShared() {
  const { shared, openers } = state;
  await chrome.storage.session.set({ shared: Object.fromEntries(shared), openers: Object.fromEntries(openers) });
  notifyWatchers();
}

function notifyWatchers() {
  for (const watcher of watchers) watcher();
}
